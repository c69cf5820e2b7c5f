"""The registered factory makes one backend and gives it to every model runner."""

import dataclasses

NAME = "The registered factory makes one backend and gives it to every model runner"
KILLED_BY = "attention-registry.backend-is-registered"
RELEASES = ">=0.5.11"


def make(reference):
    def mutant():
        from sglang.srt.layers.attention import attention_registry

        for entry in reference.register:
            entry()
        name = reference.settings.attention_backend
        backends = attention_registry.ATTENTION_BACKENDS
        made, factory = [], backends[name]

        def first_only(runner):
            if not made:
                made.append(factory(runner))
            return made[0]

        backends[name] = first_only

    return dataclasses.replace(reference, register=(mutant,))
