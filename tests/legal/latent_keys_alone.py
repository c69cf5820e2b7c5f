"""The plugin serves pools of latent keys (MLA) and no others."""

import dataclasses

NAME = "The plugin serves pools of latent keys (MLA) and no others"
FAMILIES = (
    "attention-backend.",
    "latent-attention.",
    "kv-pool.",
    "graph.replay-",
    "decode.",
    "text.",
)


def make(reference):
    capabilities = dataclasses.replace(reference.capabilities, pool_kinds=("mla",))
    return dataclasses.replace(reference, capabilities=capabilities)
