"""Every clause is true of every release, with sharp bounds; a bound off by one is noticed."""

from __future__ import annotations

import re
from collections import defaultdict

import msgspec
import pytest

from sglang_contracts import paths
from sglang_contracts.contract import Range, load_contracts
from sglang_contracts.contract.model import Kind, Replacement, Variant
from sglang_contracts.errors import ContractsError
from sglang_contracts.surface import load_catalog
from sglang_contracts.surface.spelling import look_up
from sglang_contracts.verify.clauses.mining import obligations
from sglang_contracts.verify.clauses.propose import write_proposals
from sglang_contracts.verify.clauses.verify_clauses import (
    CHECKED,
    Facts,
    check_clause,
    verify_contracts,
)


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


@pytest.fixture(scope="module")
def contracts():
    return load_contracts()


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SGLANG_CONTRACTS_CACHE", str(tmp_path / "cache"))


def test_all_contracts_hold_in_all_releases(catalog, contracts, own_cache):
    report = verify_contracts(contracts, catalog, catalog.releases)
    wrong = [
        (each.release, finding.clause, finding.detail)
        for each in report.releases
        for finding in each.findings
    ]
    assert wrong == []
    planned = sum(clause.kind in CHECKED for each in contracts for clause in each.clauses)
    assert report.facts["clauses"] == planned > 3000
    assert report.facts["checked"] == planned * len(catalog.releases)
    assert len(catalog.releases) >= 62


def test_releases_in_a_row_are_answered_as_each_alone(catalog, contracts, own_cache):
    """A clause is asked again only where something changed: that must not hide what is wrong."""
    releases = catalog.releases[-12:]

    def wrong(number, clause):
        if number % 20 == 0:  # up to the middle, whatever is true
            return msgspec.structs.replace(clause, sglang=(f"<{releases[7]}",))
        if number % 20 == 1:
            gone = Replacement("sglang.srt.nowhere:Nothing", (f"<{releases[9]}",))
            return msgspec.structs.replace(clause, replaced_by=(gone,))
        if number % 4 == 2 and clause.parameters:
            nobody = Variant((f">={releases[5]}",), ("nobody",))
            return msgspec.structs.replace(clause, parameters=(nobody,))
        return clause

    broken = [
        msgspec.structs.replace(
            contract, clauses=tuple(map(wrong, range(len(contract.clauses)), contract.clauses))
        )
        for contract in contracts
        if contract.id in ("forward-batch", "attention-backend", "kv-pool-mha")
    ]
    together = verify_contracts(broken, catalog, releases)
    for report in together.releases:
        alone = verify_contracts(broken, catalog, [report.release]).releases[0]
        assert report.findings == alone.findings
    rules = {each.rule for report in together.releases for each in report.findings}
    assert rules == {"clause-bounds", "clause-signature", "clause-replacement"}


def test_a_kept_answer_is_the_same_answer(catalog, contracts, own_cache):
    first = verify_contracts(contracts[:2], catalog, catalog.releases[-3:])
    assert verify_contracts(contracts[:2], catalog, catalog.releases[-3:]) == first


def test_a_kept_answer_that_was_altered_is_worked_out_again(
    catalog, contracts, own_cache, tmp_path
):
    first = verify_contracts(contracts[:1], catalog, catalog.releases[-2:])
    (kept,) = (tmp_path / "cache" / "verify").glob("*.msgpack")
    data = kept.read_bytes()
    for position in range(0, len(data), max(1, len(data) // 40)):
        kept.write_bytes(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :])
        assert verify_contracts(contracts[:1], catalog, catalog.releases[-2:]) == first


def moved(parts, releases):
    """Every range that differs from this one by one bound moved by one release, either way."""
    for index, part in enumerate(parts):
        for match in re.finditer(r"(>=|<|==)([^,\s]+)", part):
            at = releases.index(match[2]) if match[2] in releases else -1
            for step in (-1, 1):
                if at < 0 or not 0 <= at + step < len(releases):
                    continue
                other = part[: match.start(2)] + releases[at + step] + part[match.end(2) :]
                yield (*parts[:index], other, *parts[index + 1 :])


def test_every_bound_moved_by_one_release_is_reported(catalog, contracts):
    releases = catalog.releases
    by_release = defaultdict(list)
    bounds = 0
    for contract in contracts:
        for clause in contract.clauses:
            if clause.kind not in CHECKED:
                continue
            right = Range.of(clause.sglang)
            for parts in moved(clause.sglang, releases):
                other = Range.of(parts)
                differs = [
                    each for each in releases if right.contains(each) != other.contains(each)
                ]
                assert differs, f"{clause.id}: {parts} says the same as {clause.sglang}"
                changed = msgspec.structs.replace(clause, sglang=parts)
                by_release[differs[0]].append((contract, changed))
                bounds += 1
    assert bounds > 2000
    facts = None
    missed = []
    for release in releases:
        if facts is None:
            facts = Facts(catalog, release)
        else:
            facts.move(release)
        missed += [
            (clause.id, clause.sglang)
            for contract, clause in by_release[release]
            if check_clause(contract, clause, facts) is None
            # Where a release computes a flag's choices, no text tells which values it takes.
            and not (clause.kind is Kind.FLAG_VALUE and facts.any_value(clause))
        ]
    assert missed == []


GOLDEN = [
    # The moves a tool for this field has to tell right: what went, in which release, where to.
    (
        "sglang.srt.mem_cache.memory_pool:NSATokenToKVPool",
        "0.5.13",
        "sglang.srt.mem_cache.memory_pool:DSATokenToKVPool",
    ),
    (
        "sglang.srt.model_executor.forward_batch_info:ForwardBatch.token_to_kv_pool",
        "0.5.13",
        "sglang.srt.model_executor.forward_context:get_token_to_kv_pool",
    ),
    (
        "sglang.srt.layers.attention.base_attn_backend:"
        "AttentionBackend.init_forward_metadata_capture_cuda_graph",
        "0.5.13",
        "sglang.srt.layers.attention.base_attn_backend:"
        "AttentionBackend.init_forward_metadata_out_graph",
    ),
    (
        "sglang.srt.layers.attention.base_attn_backend:"
        "AttentionBackend.init_forward_metadata_replay_cuda_graph",
        "0.5.13",
        "sglang.srt.layers.attention.base_attn_backend:"
        "AttentionBackend.init_forward_metadata_out_graph",
    ),
    (
        "sglang.srt.model_executor.cuda_graph_runner:CudaGraphRunner",
        "0.5.14",
        "sglang.srt.model_executor.runner",
    ),
    (
        "sglang.srt.mem_cache.memory_pool:MHATokenToKVPool.set_kv_buffer(loc)",
        "0.5.14",
        "loc_info",
    ),
    (
        "sglang.srt.layers.attention.fla.chunk:chunk_gated_delta_rule",
        "0.5.16",
        "sglang.kernels.ops.attention.fla.chunk:chunk_gated_delta_rule",
    ),
    (
        "sglang.srt.layers.attention.mamba.causal_conv1d_triton:causal_conv1d_fn",
        "0.5.16",
        "sglang.kernels.ops.mamba.causal_conv1d_triton:causal_conv1d_fn",
    ),
]


@pytest.mark.parametrize(("lost", "release", "instead"), GOLDEN)
def test_a_golden_move_is_told_first(lost, release, instead, catalog, contracts, tmp_path):
    before = catalog.releases[catalog.releases.index(release) - 1]
    assert look_up(catalog.surface(before), lost) is not None
    assert look_up(catalog.surface(release), lost) is None
    told = first_suggestion(lost, release, catalog, tmp_path)
    assert told is not None
    # By its full name, or as the signature to give the override.
    assert instead in told or told.startswith(instead.rpartition(".")[2]), told


def first_suggestion(lost, release, catalog, folder):
    """What `check` suggests to a plugin that uses the lost thing."""
    from sglang_contracts.verify import check_plugin

    (folder / "plugin.py").write_text(use_of(lost))
    report = check_plugin(folder, catalog, [release])
    findings = [each for each in report.releases[0].findings if each.suggestion is not None]
    assert findings, report.releases[0].findings
    return findings[0].suggestion.symbol


def use_of(lost):
    module, _, qual = lost.partition(":")
    if qual.endswith("(loc)"):
        return (
            f"from {module} import MHATokenToKVPool\n"
            "def write(pool: MHATokenToKVPool, layer, loc, k, v):\n"
            "    pool.set_kv_buffer(layer=layer, loc=loc, cache_k=k, cache_v=v)\n"
        )
    owner, _, member = qual.rpartition(".")
    if not owner:
        return f"from {module} import {member}\nx = {member}\n"
    if "graph" in member:
        return (
            f"from {module} import {owner}\n"
            f"class Mine({owner}):\n    def {member}(self, *args, **kwargs):\n        return None\n"
        )
    return f"from {module} import {owner}\ndef f(batch: {owner}):\n    return batch.{member}\n"


def test_since_0_5_13_the_pool_is_read_off_the_backend(catalog, contracts):
    stated = [
        clause
        for contract in contracts
        for clause in contract.clauses
        if clause.kind is Kind.OBLIGATION and clause.name == "token_to_kv_pool"
    ]
    assert stated
    assert not stated[0].holds_in("0.5.12.post1")
    assert stated[0].holds_in("0.5.13")
    bases = ["sglang.srt.layers.attention.base_attn_backend:AttentionBackend"]
    receivers = ["attn_backend", "get_attn_backend()"]

    def mined(release):
        return {each.name for each in obligations(catalog.surface(release), receivers, bases)}

    assert "token_to_kv_pool" in mined("0.5.13")
    assert "token_to_kv_pool" not in mined("0.5.12.post1")


def test_proposals_are_written_in_place_and_nothing_else_changes(catalog, own_cache, tmp_path):
    texts = {
        "forward-batch.toml": '\nsglang = "<0.5.13"\n',
        "inventory/forward-batch.toml": '\nsglang = ">=0.5.13"\n',
    }
    (tmp_path / "inventory").mkdir()
    for name, right in texts.items():
        text = (paths.data("contracts") / name).read_text()
        assert right in text
        (tmp_path / name).write_text(text.replace(right, '\nsglang = "<0.5.11"\n'))
    broken = load_contracts(tmp_path)
    report = verify_contracts(broken, catalog, catalog.releases)
    edited = write_proposals(broken, tmp_path, report.facts["proposals"])
    assert list(edited) == sorted(texts)
    for name in texts:
        assert (tmp_path / name).read_text() == (paths.data("contracts") / name).read_text()


def test_an_unknown_release_names_the_nearest(catalog):
    with pytest.raises(ContractsError, match=r"0\.5\.24 is not recorded; the nearest are"):
        catalog.surface("0.5.24")
