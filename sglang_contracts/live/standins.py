"""What the import shim stands in for, and why: data, read by people first.

Three tables. A *stand-in* is a package that SGLang imports without a guard although nothing on a
CPU calls it. An *extension* is C++ that a module of SGLang compiles while it is imported, with the
same rules. A *patch* adds to a package that is there what an older SGLang expects of it. Each names
the releases that were seen to need it; what is not listed is never stood in for.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StandIn:
    """A package that may be missing.

    Attributes:
        package: The top-level import name.
        sglang: The releases whose unguarded imports need it (a specifier set).
        reason: Why it is not simply installed.
    """

    package: str
    sglang: str
    reason: str


@dataclass(frozen=True)
class Extension:
    """C++ that is not compiled.

    Attributes:
        name: What it is called where ``torch.utils.cpp_extension.load`` is to compile it.
        sglang: The releases that compile it at import (a specifier set).
        reason: Why nothing here needs it.
    """

    name: str
    sglang: str
    reason: str


@dataclass(frozen=True)
class Patch:
    """Something added to an installed module right after its import.

    Attributes:
        module: The module that is patched.
        sglang: The releases that need it (a specifier set).
        reason: What those releases expect that the installed version has not.
    """

    module: str
    sglang: str
    reason: str


STAND_INS: tuple[StandIn, ...] = (
    StandIn("vllm", "<0.5.8", "a CUDA build; custom ops and, on unknown devices, norms"),
    StandIn("mistral_common", "<0.5.5", "not in the pinned transformers' set; tokenizers only"),
    StandIn("flashinfer", ">=0.4.9", "CUDA kernels; imported by MoE and norm modules"),
    StandIn("sgl_kernel", ">=0.4.10,<0.5.13", "CUDA kernels of SGLang itself"),
    StandIn("soundfile", ">=0.5.11", "needs libsndfile; audio input only"),
    StandIn("torchao", "<0.5.11", "quantization; imported in a function before asking whether to"),
    StandIn("tabulate", ">=0.5.10,<0.5.21", "prints tables in tools that no test runs"),
    StandIn("cuda", ">=0.5.23", "CUDA bindings that apache-tvm-ffi imports"),
)

EXTENSIONS: tuple[Extension, ...] = (
    Extension("radix_tree_cpp", ">=0.4.10.post2,<0.5.21", "a prefix cache; off unless asked for"),
    Extension("ngram_cache_cpp", ">=0.5.3,<0.5.10", "drafts for speculative decoding"),
    Extension("hf3fs_utils", ">=0.4.10", "client of a file system; some wheels lack the source"),
)

_PAST_THE_END = (
    "its allocation kernels read past the list of free pages, which Triton's interpreter does in "
    "this process' memory: at address 0 where no page is free"
)

PATCHES: tuple[Patch, ...] = (
    Patch(
        "triton.runtime.cache",
        "<0.4.8",
        "default_cache_dir, default_dump_dir and default_override_dir left Triton with 3.4",
    ),
    Patch("torch", ">=0.4.8,<0.5.11", "torch._C._cpu._is_amx_tile_supported was renamed"),
    Patch(
        "torch.utils.cpp_extension",
        ">=0.4.10",
        "compiles at import, for up to a minute, what the table of extensions names",
    ),
    Patch(
        "torchvision.extension",
        ">=0.4.6",
        "the wheel's C extension wants CUDA libraries; its three operator schemas must exist",
    ),
    Patch("sglang.srt.mem_cache.paged_allocator", "<0.4.8", _PAST_THE_END),
    Patch("sglang.srt.mem_cache.allocator", ">=0.4.8,<0.5.13", _PAST_THE_END),
    Patch("sglang.srt.mem_cache.triton_ops.allocator", ">=0.5.13,<0.5.16", _PAST_THE_END),
    Patch("sglang.kernels.ops.memory.allocator", ">=0.5.16", _PAST_THE_END),
)

REASONS = {stand_in.package: stand_in.reason for stand_in in STAND_INS}
UNCOMPILED = {extension.name: extension.reason for extension in EXTENSIONS}
