"""Nobody tells core that the backend has no Triton."""

import dataclasses

NAME = "Nobody tells core that the backend has no Triton"
KILLED_BY = "hooks.triton-is-answered"
RELEASES = ">=0.5.11,<0.5.22"


def make(reference):
    def mutant():
        from sglang.srt.plugins.hook_registry import HookRegistry

        for entry in reference.register:
            entry()
        HookRegistry._hooks.pop("sglang.srt.utils.common.support_triton", None)

    return dataclasses.replace(reference, register=(mutant,))
