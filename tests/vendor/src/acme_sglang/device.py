"""The platform."""

from sglang.srt.platforms.interface import PlatformEnum, SRTPlatform


class AcmePlatform(SRTPlatform):
    """Acme cards; the emulator computes on the host."""

    _enum = PlatformEnum.OOT
    device_name = "acme"
    device_type = "cpu"

    def get_default_attention_backend(self):
        return "acme"

    def get_mha_kv_pool_cls(self):
        from acme_sglang.cache import AcmeKVPool

        return AcmeKVPool

    def get_kv_pool_cls(self, *, kind):
        return self.get_mha_kv_pool_cls() if kind == "mha" else None

    def get_paged_allocator_cls(self):
        from sglang.srt.mem_cache.allocator import PagedTokenToKVPoolAllocator

        return PagedTokenToKVPoolAllocator

    def get_device_total_memory(self, device_id=0):
        return 32 << 30

    def get_available_memory(self, device_id=0):
        return 30 << 30, 32 << 30

    def get_current_memory_usage(self, device=None):
        return float(2 << 30)

    def is_pin_memory_available(self, device=None):
        return False
