"""The platform hands out SGLang's own allocator, the capabilities name the plugin's."""

import dataclasses

from sglang_contracts.suite.served import platform_class

NAME = "The platform hands out SGLang's own allocator, the capabilities name the plugin's"
KILLED_BY = "plugin.serves-what-it-declares"
RELEASES = ">=0.5.11"


def make(reference):
    class Mutant(platform_class(reference)):
        def get_paged_allocator_cls(self):
            from sglang.srt.mem_cache.allocator import PagedTokenToKVPoolAllocator

            return PagedTokenToKVPoolAllocator

    return dataclasses.replace(reference, platform=Mutant)
