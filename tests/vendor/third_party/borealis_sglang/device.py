"""The platform."""

from sglang.srt.platforms.interface import PlatformEnum, SRTPlatform


class BorealisPlatform(SRTPlatform):
    """Borealis cards; the emulator computes on the host."""

    _enum = PlatformEnum.OOT
    device_name = "b200"
    device_type = "cpu"

    def init_backend(self):
        """Register what the plugin brings: SGLang calls this in every worker."""
        from sglang.srt.layers.attention.attention_registry import register_attention_backend

        from borealis_sglang import operators

        operators.define()

        @register_attention_backend("borealis_attn")
        def make(runner):
            from borealis_sglang.attention import BorealisAttention

            return BorealisAttention(runner)

    def get_default_attention_backend(self):
        return "borealis_attn"

    def get_mha_kv_pool_cls(self):
        from sglang.srt.mem_cache.memory_pool import MHATokenToKVPool

        return MHATokenToKVPool

    def get_kv_pool_cls(self, *, kind):
        return None

    def get_paged_allocator_cls(self):
        from sglang.srt.mem_cache.allocator import PagedTokenToKVPoolAllocator

        return PagedTokenToKVPoolAllocator

    def get_device_total_memory(self, device_id=0):
        return 64 << 30

    def get_available_memory(self, device_id=0):
        return 60 << 30, 64 << 30

    def get_current_memory_usage(self, device=None):
        return float(4 << 30)
