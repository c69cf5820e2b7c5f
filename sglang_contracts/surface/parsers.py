"""Which command-line flags a program of SGLang's takes: those that its own parser registers."""

from __future__ import annotations

from collections.abc import Iterable

from sglang_contracts.surface.changes import DIFFUSION, SERVER
from sglang_contracts.surface.model import Flag

OF_SERVER = "sglang.launch_server"
"""The program whose parser is the server's alone."""
OF_DIFFUSION = "sglang.multimodal_gen"
"""The diffusion server, and ``sglang generate``."""
_BESIDE: dict[str, tuple[str, ...]] = {
    OF_SERVER: (),
    "sglang.bench_one_batch": ("sglang.bench_one_batch", "sglang.benchmark.one_batch"),
    "sglang.bench_offline_throughput": (
        "sglang.bench_offline_throughput",
        "sglang.benchmark.offline_throughput",
    ),
    "sglang.compile_deep_gemm": ("sglang.compile_deep_gemm",),
}
"""Programs that parse the server's arguments → the modules that register more of them."""


def flags_of(program: str, registered: Iterable[tuple[str, Flag]]) -> dict[str, tuple[str, Flag]]:
    """A program's flags by each of their spellings, each with the module that registers it.

    Args:
        program: A module that is started with ``python -m``.
        registered: Every flag of a release, with its module.

    Returns:
        Empty for a program whose parser is not known. Where the server and the program register the
        same flag, the server's.
    """
    base = DIFFUSION if program == OF_DIFFUSION else SERVER
    beside = () if program == OF_DIFFUSION else _BESIDE.get(program)
    if beside is None:
        return {}
    found: dict[str, tuple[str, Flag]] = {}
    for module, flag in registered:
        ours = module.startswith(base)
        if ours or module in beside:
            for name in _spellings(flag):
                if name not in found or ours:
                    found[name] = (module, flag)
    return found


def _spellings(flag: Flag) -> list[str]:
    """All of a flag's names; ``BooleanOptionalAction`` makes a ``--no-x`` of each ``--x``."""
    names = list(flag.names)
    if flag.action.endswith("BooleanOptionalAction"):
        names += [f"--no-{name[2:]}" for name in flag.names if name.startswith("--")]
    return names
