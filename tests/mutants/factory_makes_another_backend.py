"""The registered factory makes a subclass of the backend that the capabilities name."""

import dataclasses

NAME = "The registered factory makes a subclass of the backend that the capabilities name"
KILLED_BY = "plugin.serves-what-it-declares"
RELEASES = ">=0.5.11"


def make(reference):
    def mutant():
        from sglang.srt.layers.attention import attention_registry

        for entry in reference.register:
            entry()
        name = reference.settings.attention_backend
        factory = attention_registry.ATTENTION_BACKENDS[name]

        def make_other(runner):
            made = factory(runner)
            made.__class__ = type("Other", (type(made),), {})
            return made

        attention_registry.ATTENTION_BACKENDS[name] = make_other

    return dataclasses.replace(reference, register=(mutant,))
