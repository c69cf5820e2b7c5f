"""The plugin serves pages of 256 slots and no others."""

import dataclasses

NAME = "The plugin serves pages of 256 slots and no others"
FAMILIES = (
    "attention-backend.prefill-eq",
    "attention-backend.decode-eq",
    "attention-backend.prefix-is",
    "attention-backend.results-are",
    "attention-backend.free-slots",
    "allocator.",
    "kv-pool.",
    "decode.allocates",
    "graph.replay-",
)


def make(reference):
    capabilities = dataclasses.replace(reference.capabilities, page_sizes=(256,))
    return dataclasses.replace(reference, capabilities=capabilities)
