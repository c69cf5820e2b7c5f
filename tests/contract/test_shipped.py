"""The contracts that are shipped: what must hold of all of them, and the moves they must know."""

from pathlib import Path

import pytest

from sglang_contracts.contract import Kind, Range, Role, load_contracts
from sglang_contracts.surface import load_catalog
from sglang_contracts.surface.spelling import look_up

CONTRACTS = load_contracts(Path(__file__).parents[2] / "contracts")
CLAUSES = {clause.id: clause for contract in CONTRACTS for clause in contract.clauses}
CATALOG = load_catalog()
M = "sglang.srt."
FAMILIES = {
    "forward-batch",
    "forward-modes",
    "attention-backend",
    "kv-pool-mha",
    "kv-pool-mla",
    "kv-allocator",
    "kv-allocator-paged",
    "req-to-token-pool",
    "prefix-cache",
    "platform",
    "plugin-loading",
    "model-runner",
    "sampling",
    "logits-output",
    "graph-capture",
    "fused-op",
    "quantization",
    "communication",
    "memory-planning",
    "service-extension",
    "server-arguments",
}

GOLDEN = [
    (
        "kv-pool-mla/NSATokenToKVPool",
        "0.5.13",
        M + "mem_cache.memory_pool:DSATokenToKVPool",
    ),
    (
        "forward-batch/token_to_kv_pool",
        "0.5.13",
        M + "model_executor.forward_context:get_token_to_kv_pool",
    ),
    (
        "attention-backend/init_forward_metadata_capture_cuda_graph",
        "0.5.13",
        M + "layers.attention.base_attn_backend:AttentionBackend.init_forward_metadata_out_graph",
    ),
    (
        "attention-backend/init_forward_metadata_replay_cuda_graph",
        "0.5.13",
        M + "layers.attention.base_attn_backend:AttentionBackend.init_forward_metadata_out_graph",
    ),
    (
        "graph-capture/cuda_graph_runner:CudaGraphRunner",
        "0.5.14",
        M + "model_executor.runner:DecodeCudaGraphRunner",
    ),
    (
        "kernel-modules/layers.attention.fla.chunk",
        "0.5.16",
        "sglang.kernels.ops.attention.fla.chunk",
    ),
    (
        "kernel-modules/layers.attention.mamba.causal_conv1d_triton",
        "0.5.16",
        "sglang.kernels.ops.mamba.causal_conv1d_triton",
    ),
]


def previous(release: str) -> str:
    return CATALOG.releases[CATALOG.releases.index(release) - 1]


def test_every_family_has_its_contract():
    assert not FAMILIES - {contract.id for contract in CONTRACTS}


@pytest.mark.parametrize(("clause", "release", "use"), GOLDEN, ids=lambda value: str(value)[-40:])
def test_the_great_moves_are_told_with_the_first_release_and_what_to_use(clause, release, use):
    found = CLAUSES[clause]
    assert found.holds_in(previous(release))
    assert not found.holds_in(release)
    replacement = found.replacement(release)
    assert replacement is not None
    assert replacement.use == use


def test_a_pool_is_told_of_the_write_record_and_its_callers_are_left_alone():
    notes = [
        clause
        for clause in CLAUSES.values()
        if clause.on is not None
        and clause.on.symbol == M + "mem_cache.memory_pool:MHATokenToKVPool.set_kv_buffer"
    ]
    assert [note.on and note.on.role for note in notes] == [Role.OVERRIDER]
    assert not notes[0].holds_in("0.5.13.post1")
    assert notes[0].holds_in("0.5.14")


def test_sglang_reads_the_pools_off_the_backend_since_they_left_the_batch():
    for name in ("token_to_kv_pool", "req_to_token_pool"):
        clause = CLAUSES[f"attention-backend/{name}"]
        assert clause.kind is Kind.OBLIGATION
        assert not clause.optional
        assert not clause.holds_in("0.5.12.post1")
        assert clause.holds_in("0.5.13")


def test_every_replacement_is_there_in_every_release_it_is_said_to_be_for():
    wrong = []
    for clause in CLAUSES.values():
        for each in clause.replaced_by:
            for release in Range.of(each.sglang).select(CATALOG.releases):
                if clause.holds_in(release):
                    continue
                if look_up(CATALOG.surface(release), each.use) is None:
                    wrong.append((clause.id, release, each.use))
                    break
    assert wrong == []


def test_every_change_of_meaning_is_on_a_symbol_that_some_release_has():
    wrong = []
    for clause in CLAUSES.values():
        if clause.on is None:
            continue
        symbol = clause.on.symbol
        if not any(look_up(CATALOG.surface(release), symbol) for release in CATALOG.releases):
            wrong.append((clause.id, symbol))
    assert wrong == []


def test_every_change_of_meaning_says_what_to_do():
    assert [
        clause.id for clause in CLAUSES.values() if clause.on is not None and not clause.use
    ] == []


def test_every_range_is_bounded_by_recorded_releases():
    known = set(CATALOG.releases) | {"0.4.6"}
    for clause in CLAUSES.values():
        assert set(clause.range.bounds()) <= known, clause.id
