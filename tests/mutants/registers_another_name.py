"""The backend is registered under another name than the settings say."""

import dataclasses

NAME = "The backend is registered under another name than the settings say"
KILLED_BY = "attention-registry.backend-is-registered"
RELEASES = ">=0.5.11"


def make(reference):
    def mutant():
        from sglang.srt.layers.attention import attention_registry

        for entry in reference.register:
            entry()
        name = reference.settings.attention_backend
        backends = attention_registry.ATTENTION_BACKENDS
        backends[name + "_attn"] = backends.pop(name)

    return dataclasses.replace(reference, register=(mutant,))
