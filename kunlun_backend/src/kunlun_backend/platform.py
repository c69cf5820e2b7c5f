"""Entry point `sglang.srt.platforms`: is there a Kunlun runtime, and which class speaks for it.

`activate()` runs in every process before SGLang decides anything. On a host without the runtime it
answers None and costs one look for a module; the class itself stands in `srt_platform`.
"""

from __future__ import annotations

from kunlun_backend import sdk


def activate() -> str | None:
    """The platform's class as a dotted name, or None where there is no Kunlun runtime."""
    if not sdk.available():
        return None
    if sdk.device_type() == "cpu":
        from kunlun_backend import compat

        compat.run_as_cpu_engine()
    return "kunlun_backend.srt_platform.KunlunSRTPlatform"
