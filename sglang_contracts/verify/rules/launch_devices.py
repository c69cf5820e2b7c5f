"""What ``--device`` takes, and how the device of an out-of-tree plugin is chosen instead."""

from __future__ import annotations

PLATFORMS = "sglang.srt.platforms"
"""The module with which a release finds platforms of plugins (0.5.11 on)."""
DEVICES = frozenset(
    {
        *("cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga"),
        *("maia", "xla", "lazy", "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone"),
        *("npu", "musa", "rocm"),
    }
)
"""Types of device that torch knows, and those that SGLang itself brings in."""
BY_PLATFORM = (
    "torch knows no such device and the server dies; leave --device out: the platform of an "
    "installed plugin is found by its entry point, and SGLANG_PLATFORM={name} picks one of several"
)
NO_PLATFORM = (
    "torch knows no such device and the server dies; this release finds no platforms of plugins "
    "(0.5.11 does, by SGLANG_PLATFORM): leave --device out or give the type that the vendor's "
    "torch stands in for (cuda, cpu), and let the plugin register its backend when it is imported"
)
