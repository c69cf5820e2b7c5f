"""What evidence says of a clause: each verdict is given, and given for the right reason."""

import json

import pytest

from sglang_contracts.contract import Clause, Contract, Kind, Variant, load_contracts
from sglang_contracts.errors import ContractsError
from sglang_contracts.live import evidence
from sglang_contracts.live.environments import PROJECT
from sglang_contracts.live.evidence import Status

TENSOR = {"type": "tensor", "dtype": "int64", "shape": [3], "device": "cpu", "values": [4, 4, 37]}
BATCH = {
    "kind": "batch",
    "call": "init_forward_metadata",
    "mode": "EXTEND",
    "scheduled": "MIXED",
    "fields": {
        "batch_size": {"type": "int", "value": 3},
        "seq_lens": TENSOR,
        "extend_prefix_lens": {**TENSOR, "dtype": "int32", "values": [0, 0, 9]},
        "out_cache_loc": {**TENSOR, "shape": [36]},
        "spec_info": {"type": "none"},
        "rid": {"type": "str", "value": "secret"},
    },
}
BACKEND = "sglang.srt.layers.attention.base_attn_backend:AttentionBackend"
OBJECT = {
    "kind": "object",
    "on": "backend",
    "class": "plugin.backend:Backend",
    "bases": [BACKEND],
    "members": {"forward_mixed": "(q, k)", "verify_mask": "property"},
    "fields": {"token_to_kv_pool": {"type": "object", "class": "m:Pool"}},
}
CALL = {
    "kind": "call",
    "on": "backend",
    "name": "forward_decode",
    "args": [TENSOR, TENSOR],
    "kwargs": {"save_kv_cache": {"type": "bool", "value": True}},
    "returns": TENSOR,
    "by": "sglang.srt.layers.radix_attention:120",
}
READ = {"kind": "read", "on": "backend", "name": "needs_cpu", "by": "sglang.srt.x:1", "value": {}}


@pytest.fixture
def seen(tmp_path):
    lines = [BATCH, OBJECT, CALL, READ]
    (tmp_path / "trace-1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return evidence.distil("0.5.16", [({"page_size": 16}, tmp_path)], {}, {"Hq": 4})


def verdict(seen, owner, **clause):
    made = Clause(id="c/x", owner=(owner,), symbols=(f"{owner}.{clause['name']}",), **clause)
    contract = Contract(
        id="c", title="", provider="sglang", consumer="backend", targets=(owner,), clauses=(made,)
    )
    (found,) = evidence.confirm(contract, seen)
    return found


def field(seen, name, **stated):
    return verdict(
        seen,
        "sglang.srt.model_executor.forward_batch_info:ForwardBatch",
        kind=Kind.FIELD,
        name=name,
        **stated,
    )


def always(value):
    return (Variant((), value),)


def test_a_field_with_the_stated_dtype_and_shape_is_confirmed_in_its_modes(seen):
    found = field(seen, "seq_lens", dtype=always(("int64",)), shape=always(("B",)))
    assert (found.status, found.modes) == (Status.CONFIRMED, ("extend", "mixed"))


def test_another_dtype_contradicts(seen):
    found = field(seen, "seq_lens", dtype=always(("int32",)))
    assert found.status is Status.CONTRADICTED
    assert found.detail == "dtype int64, stated int32"


def test_another_shape_contradicts_with_the_sizes(seen):
    found = field(seen, "out_cache_loc", shape=always(("B",)))
    assert found.status is Status.CONTRADICTED
    assert "found 36" in found.detail


def test_tokens_are_counted_by_the_slots_written(seen):
    assert field(seen, "out_cache_loc", shape=always(("T",))).status is Status.CONFIRMED


def test_a_field_that_is_always_none_is_only_declared(seen):
    assert field(seen, "spec_info").status is Status.DECLARED


def test_none_contradicts_where_the_mode_promises_a_value(seen):
    assert field(seen, "spec_info", modes=("extend",)).status is Status.CONTRADICTED
    assert field(seen, "spec_info", modes=("extend",), optional=True).status is Status.DECLARED


def test_a_mode_that_never_ran_leaves_the_field_unexercised(seen):
    assert field(seen, "seq_lens", modes=("decode",)).status is Status.NOT_EXERCISED


def test_a_clause_of_other_releases_is_not_asked(seen):
    with pytest.raises(ValueError, match="not enough values"):
        field(seen, "seq_lens", sglang=(">=0.5.17",))


def test_a_call_with_the_stated_parameters_confirms(seen):
    stated = always(("q", "k", "save_kv_cache="))
    found = verdict(seen, BACKEND, kind=Kind.METHOD, name="forward_decode", parameters=stated)
    assert found.status is Status.CONFIRMED


@pytest.mark.parametrize("parameters", [("q", "save_kv_cache="), ("q", "k", "v")])
def test_a_call_that_does_not_fit_contradicts(seen, parameters):
    found = verdict(
        seen, BACKEND, kind=Kind.METHOD, name="forward_decode", parameters=always(parameters)
    )
    assert found.status is Status.CONTRADICTED


def test_a_method_nobody_called_is_declared_if_its_parameters_are_as_stated(seen):
    right = verdict(
        seen, BACKEND, kind=Kind.METHOD, name="forward_mixed", parameters=always(("q", "k"))
    )
    wrong = verdict(
        seen, BACKEND, kind=Kind.METHOD, name="forward_mixed", parameters=always(("q",))
    )
    assert (right.status, wrong.status) == (Status.DECLARED, Status.CONTRADICTED)


def test_an_attribute_that_was_read_or_has_a_value_is_confirmed(seen):
    for name in ("needs_cpu", "token_to_kv_pool"):
        found = verdict(seen, BACKEND, kind=Kind.ATTRIBUTE, name=name)
        assert found.status is Status.CONFIRMED
    unknown = verdict(seen, BACKEND, kind=Kind.ATTRIBUTE, name="elsewhere")
    assert unknown.status is Status.NOT_EXERCISED


def test_an_invariant_is_worked_out_on_the_sampled_values(seen):
    owner = "sglang.srt.model_executor.forward_batch_info:ForwardBatch"
    for text, status in (
        ("len(seq_lens) == batch_size", Status.CONFIRMED),
        ("sum(seq_lens) == 1", Status.CONTRADICTED),
        ("unknown == 1", Status.NOT_EXERCISED),
    ):
        found = verdict(seen, owner, kind=Kind.INVARIANT, name="i", holds=text)
        assert found.status is status


def test_what_is_used_without_a_clause_is_named(seen):
    assert evidence.unlisted([], seen) == {"backend": ("forward_decode", "needs_cpu")}


def test_a_file_is_read_back_as_it_was_written(seen, tmp_path):
    file = evidence.save(seen, tmp_path / "out")
    assert file.name == "0.5.16.json"
    assert evidence.load(file) == seen
    assert "secret" not in file.read_text()


def test_a_broken_file_says_how_to_make_it_again(tmp_path):
    file = tmp_path / "0.5.16.json"
    file.write_text("{}")
    with pytest.raises(ContractsError, match="no evidence file"):
        evidence.load(file)


def test_a_contradiction_is_never_outvoted(seen):
    clause = Clause(
        id="c/seq_lens",
        kind=Kind.FIELD,
        name="seq_lens",
        owner=("m:ForwardBatch",),
        dtype=(Variant(("==0.5.16",), ("int32",)), Variant((), ("int64",))),
    )
    contract = Contract(id="c", title="", provider="a", consumer="b", clauses=(clause,))
    other = evidence.Evidence(
        **{f: getattr(seen, f) for f in seen.__struct_fields__} | {"release": "0.5.17"}
    )
    (row,) = evidence.table(contract, [seen, other])
    assert row.status is Status.CONTRADICTED
    assert row.confirmed == ("0.5.17",)
    assert [release for release, _ in row.contradicted] == ["0.5.16"]


def test_counts_put_each_clause_into_one_class(seen):
    owner = ("m:ForwardBatch",)
    names = {
        "seq_lens": "int64",
        "out_cache_loc": "int32",
        "spec_info": "int64",
        "nowhere": "int64",
    }
    clauses = tuple(
        Clause(id=f"c/{n}", kind=Kind.FIELD, name=n, owner=owner, dtype=always((dtype,)))
        for n, dtype in names.items()
    )
    later = Clause(id="c/later", kind=Kind.FIELD, name="x", owner=owner, sglang=(">=0.5.99",))
    contract = Contract(id="c", title="", provider="a", consumer="b", clauses=(*clauses, later))
    assert evidence.counts(contract, [seen]) == evidence.Counts(
        contract="c",
        asked=4,
        confirmed=1,
        declared=1,
        contradicted=1,
        not_exercised=("c/nowhere",),
    )


COMMITTED = sorted((PROJECT / "matrix" / "evidence").glob("*.json"))


@pytest.mark.parametrize("file", COMMITTED, ids=lambda file: file.stem)
def test_committed_evidence_contradicts_no_contract(file):
    found = evidence.load(file)
    wrong = {
        each.clause: each.detail
        for contract in load_contracts()
        for each in evidence.confirm(contract, found)
        if each.status is Status.CONTRADICTED
    }
    assert wrong == {}
    assert evidence.unlisted(load_contracts(), found) == {}


FAMILIES = (
    "forward-batch",
    "attention-backend",
    "kv-pool-mha",
    "kv-allocator",
    "kv-allocator-paged",
    "req-to-token-pool",
)


@pytest.mark.skipif(not COMMITTED, reason="no evidence is recorded yet")
def test_nine_in_ten_clauses_of_the_backend_families_are_confirmed_or_declared():
    found = evidence.load_all(COMMITTED[0].parent)
    rows = [
        row
        for contract in load_contracts()
        if contract.id in FAMILIES
        for row in evidence.table(contract, found)
        if row.asked  # not those of releases that never ran
    ]
    present = [row for row in rows if row.confirmed or row.declared]
    assert len(present) >= 0.9 * len(rows)


def test_no_committed_evidence_tells_of_the_machine_it_was_made_on():
    for file in COMMITTED:
        text = file.read_text(encoding="utf-8")
        assert "/tmp" not in text
        assert "/work" not in text
        assert "/home" not in text
