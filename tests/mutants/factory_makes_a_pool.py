"""The registered factory makes something else."""

import dataclasses

NAME = "The registered factory makes something else"
KILLED_BY = "attention-registry.backend-is-registered"
RELEASES = ">=0.5.11"


def make(reference):
    def mutant():
        from sglang.srt.layers.attention import attention_registry

        for entry in reference.register:
            entry()
        name = reference.settings.attention_backend
        attention_registry.ATTENTION_BACKENDS[name] = lambda runner: runner.token_to_kv_pool

    return dataclasses.replace(reference, register=(mutant,))
