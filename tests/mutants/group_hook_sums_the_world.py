"""The hook on the group's all_reduce sums over the world."""

import dataclasses

NAME = "The hook on the group's all_reduce sums over the world"
KILLED_BY = "hooks.group-all-reduce-sums-its-ranks"
RELEASES = ">=0.5.11"


def make(reference):
    def mutant():
        from sglang.srt.plugins.hook_registry import HookRegistry

        for entry in reference.register:
            entry()
        target = "sglang.srt.distributed.parallel_state.GroupCoordinator.all_reduce"
        for kind, hook, source in list(HookRegistry._hooks.get(target, ())):

            def changed(original, coordinator, tensor, hook=hook):
                import torch.distributed as distributed

                coordinator.device_group = distributed.group.WORLD
                return hook(original, coordinator, tensor)

            HookRegistry._hooks[target] = [(kind, changed, source)]

    return dataclasses.replace(reference, register=(mutant,))
