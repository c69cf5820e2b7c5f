"""What is suggested for moves that every Kunlun-like backend has met: the right thing first."""

from __future__ import annotations

from pathlib import Path

import pytest

from sglang_contracts.contract import load_contracts
from sglang_contracts.surface import load_catalog
from sglang_contracts.verify import check_plugin
from sglang_contracts.verify.clauses.diff import diff

ATTENTION = "sglang.srt.layers.attention"
EXECUTOR = "sglang.srt.model_executor"
POOL = "sglang.srt.mem_cache.memory_pool"
MOVES = [
    (f"from {POOL} import NSATokenToKVPool", "0.5.13", f"{POOL}:DSATokenToKVPool"),
    (
        f"from {POOL} import NSATokenToKVPool\nNSATokenToKVPool.set_kv_buffer = print",
        "0.5.13",
        f"{POOL}:DSATokenToKVPool",
    ),
    (
        f"from {EXECUTOR}.forward_batch_info import ForwardBatch\n"
        "def f(b: ForwardBatch):\n    return b.token_to_kv_pool",
        "0.5.13",
        f"{EXECUTOR}.forward_context:get_token_to_kv_pool",
    ),
    (
        f"from {EXECUTOR}.cuda_graph_runner import CudaGraphRunner",
        "0.5.14",
        f"{EXECUTOR}.runner:DecodeCudaGraphRunner",
    ),
    (f"import {EXECUTOR}.cuda_graph_runner", "0.5.14", f"{EXECUTOR}.runner"),
    (
        f"from {POOL} import MHATokenToKVPool\n"
        "def f(p: MHATokenToKVPool, a, b, c, d):\n"
        "    p.set_kv_buffer(layer=a, loc=b, cache_k=c, cache_v=d)",
        "0.5.14",
        "set_kv_buffer(loc_info)",
    ),
    (
        f"from {ATTENTION}.fla.chunk import chunk_gated_delta_rule",
        "0.5.16",
        "sglang.kernels.ops.attention.fla.chunk:chunk_gated_delta_rule",
    ),
    (f"import {ATTENTION}.fla.chunk", "0.5.16", "sglang.kernels.ops.attention.fla.chunk"),
    (
        f"from {ATTENTION}.mamba.causal_conv1d_triton import causal_conv1d_fn",
        "0.5.16",
        "sglang.kernels.ops.mamba.causal_conv1d_triton:causal_conv1d_fn",
    ),
]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SGLANG_CONTRACTS_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize(("text", "release", "symbol"), MOVES)
def test_the_golden_moves_are_suggested_first(
    text: str, release: str, symbol: str, tmp_path: Path
) -> None:
    root = tmp_path / "plugin"
    root.mkdir()
    (root / "plugin.py").write_text(text + "\n")
    found = check_plugin(root, load_catalog(), [release]).releases[0].findings
    assert [f.suggestion.symbol for f in found if f.suggestion][:1] == [symbol]


def test_diff_of_what_a_plugin_uses_says_what_to_use_instead() -> None:
    names = [f"{POOL}:NSATokenToKVPool", f"{EXECUTOR}.cuda_graph_runner", "env:NO_SUCH"]
    report = diff(load_contracts(), load_catalog(), "0.5.12", "0.5.16", symbols=names)
    told = {f.symbol: f.suggestion.symbol for f in report.releases[0].findings if f.suggestion}
    assert told == {names[0]: f"{POOL}:DSATokenToKVPool", names[1]: f"{EXECUTOR}.runner"}
