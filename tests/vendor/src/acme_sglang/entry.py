"""What SGLang's entry points name."""

import importlib.util
import os


def _driver() -> bool:
    return os.environ.get("ACME_EMULATOR") == "1" or importlib.util.find_spec("acme_driver")


def activate() -> "str | None":
    """The platform's class, on a host with the driver."""
    return "acme_sglang.device.AcmePlatform" if _driver() else None


def register() -> None:
    """Register the attention backend, on a host with the driver."""
    if not _driver():
        return
    from sglang.srt.layers.attention.attention_registry import register_attention_backend

    @register_attention_backend("acme")
    def make(runner):
        from acme_sglang.attention import AcmeAttention

        return AcmeAttention(runner)
