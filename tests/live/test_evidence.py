"""What evidence says of a clause: each verdict is given, and given for the right reason."""

import json

import msgspec
import pytest

from sglang_contracts.contract import (
    Clause,
    Contract,
    Kind,
    On,
    Returns,
    Role,
    Shown,
    Variant,
    load_contracts,
)
from sglang_contracts.errors import ContractsError
from sglang_contracts.live import evidence
from sglang_contracts.live.environments import PROJECT, SPREAD
from sglang_contracts.live.evidence import Status, values

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
BATCHES = "sglang.srt.model_executor.forward_batch_info:ForwardBatch"
POOL = "sglang.srt.mem_cache.memory_pool:MHATokenToKVPool"
FOUND = {
    "kind": "object",
    "on": "batch",
    "class": BATCHES,
    "bases": [],
    "members": {BATCHES: {"spec_info": ": Optional[SpecInput]", "can_run_tbo": "property"}},
    "own": [],
    "fields": {},
}
OBJECT = {
    "kind": "object",
    "on": "backend",
    "class": "plugin.backend:Backend",
    "bases": [BACKEND],
    "members": {
        "plugin.backend:Backend": {"forward_decode": "(q, k)", "support_triton": "()"},
        BACKEND: {
            "forward_decode": "(q, k, save_kv_cache=)",
            "forward_mixed": "(q, k)",
            "support_triton": "()",
            "verify_mask": "property",
            "needs_cpu": "attribute",
        },
    },
    "own": ["token_to_kv_pool", "page_size"],
    "fields": {
        "token_to_kv_pool": {"type": "object", "class": "m:Pool"},
        "page_size": {"type": "int", "value": 16},
        "needs_cpu": {"type": "bool", "value": True},
        "stream": {"type": "none"},
    },
}
BY_SGLANG, BY_PLUGIN = "sglang.srt.layers.radix_attention:120", "plugin.backend:7"
CALL = {
    "kind": "call",
    "on": "backend",
    "name": "forward_decode",
    "args": [TENSOR, TENSOR],
    "kwargs": {"save_kv_cache": {"type": "bool", "value": True}},
    "returns": TENSOR,
    "by": BY_SGLANG,
}
VOUCHED = {**CALL, "name": "support_triton", "args": [], "kwargs": {}, "by": BY_PLUGIN}
READS = [
    {"kind": "read", "on": "backend", "name": name, "by": by, "value": value}
    for name, by, value in (
        ("token_to_kv_pool", BY_SGLANG, {"type": "object", "class": "m:Pool"}),
        ("page_size", BY_PLUGIN, {"type": "int", "value": 16}),
        ("max_context_len", BY_SGLANG, {"type": "missing"}),
    )
]


@pytest.fixture
def seen(tmp_path):
    lines = [BATCH, FOUND, OBJECT, CALL, VOUCHED, *READS]
    (tmp_path / "trace-1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return evidence.distil("0.5.16", [({"page_size": 16}, tmp_path)], {}, {"Hq": 4})


def verdict(seen, owner, /, **clause):
    symbols = (f"{owner}.{clause['name']}",)
    made = Clause(**{"id": "c/x", "owner": (owner,), "symbols": symbols, **clause})
    contract = Contract(
        id="c", title="", provider="sglang", consumer="backend", targets=(owner,), clauses=(made,)
    )
    (found,) = evidence.confirm(contract, seen)
    return found


def field(seen, name, **stated):
    return verdict(seen, BATCHES, kind=Kind.FIELD, name=name, **stated)


def always(value):
    return (Variant((), value),)


def test_a_field_with_the_stated_dtype_and_shape_is_confirmed_in_its_modes(seen):
    found = field(seen, "seq_lens", dtype=always(("int64",)), shape=always(("B",)))
    assert (found.status, found.modes) == (Status.SEEN, ("extend", "mixed"))


def test_another_dtype_contradicts(seen):
    found = field(seen, "seq_lens", dtype=always(("int32",)))
    assert found.status is Status.CONTRADICTED
    assert found.detail == "dtype int64, stated int32"


def test_a_tensor_on_the_card_contradicts_the_host():
    clause = Clause(id="c/x", kind=Kind.FIELD, name="x", device="host")
    assert evidence.mismatch(clause, TENSOR, "0.5.16", {}) == ""
    on_card = {**TENSOR, "device": "kunlun"}
    assert evidence.mismatch(clause, on_card, "0.5.16", {}) == "on kunlun, stated host"


def test_another_shape_contradicts_with_the_sizes(seen):
    found = field(seen, "out_cache_loc", shape=always(("B",)))
    assert found.status is Status.CONTRADICTED
    assert "found 36" in found.detail


def test_tokens_are_counted_by_the_slots_written(seen):
    assert field(seen, "out_cache_loc", shape=always(("T",))).status is Status.SEEN


def test_a_field_that_is_always_none_confirms_that_it_is_there(seen):
    assert field(seen, "spec_info").status is Status.PRESENT


@pytest.mark.parametrize(
    "stated",
    [{"dtype": ("int64",)}, {"shape": ("B",)}, {"type": "int"}],
    ids=lambda stated: next(iter(stated)),
)
def test_what_is_stated_of_a_value_is_not_confirmed_by_none(seen, stated):
    found = field(seen, "spec_info", **{key: always(value) for key, value in stated.items()})
    assert (found.status, found.status.confirmed) == (Status.DECLARED, False)
    assert field(seen, "spec_info", device="host").status is Status.DECLARED


def test_none_is_a_value_of_an_optional_type_that_the_running_class_annotates(seen):
    right = field(seen, "spec_info", type=always("Optional[SpecInput]"))
    other = field(seen, "spec_info", type=always("Optional[SpecInfo]"))
    assert (right.status, other.status) == (Status.PRESENT, Status.DECLARED)


def test_a_type_is_confirmed_by_a_value_of_that_type_alone(seen):
    for stated, status in (
        ("int", Status.SEEN),
        ("Optional[int]", Status.SEEN),
        ("list[int]", Status.CONTRADICTED),
        ("Quantity", Status.DECLARED),  # a class of its own may be behind it: nothing is known
    ):
        assert field(seen, "batch_size", type=always(stated)).status is status


def test_none_contradicts_where_the_mode_promises_a_value(seen):
    assert field(seen, "spec_info", modes=("extend",)).status is Status.CONTRADICTED
    assert field(seen, "spec_info", modes=("extend",), optional=True).status is Status.PRESENT


def test_a_mode_that_never_ran_leaves_the_field_unexercised(seen):
    assert field(seen, "seq_lens", modes=("decode",)).status is Status.NOT_EXERCISED


def test_a_clause_of_other_releases_is_not_asked(seen):
    with pytest.raises(ValueError, match="not enough values"):
        field(seen, "seq_lens", sglang=(">=0.5.17",))


def test_a_call_with_the_stated_parameters_confirms(seen):
    stated = always(("q", "k", "save_kv_cache="))
    found = verdict(seen, BACKEND, kind=Kind.METHOD, name="forward_decode", parameters=stated)
    assert found.status is Status.SEEN


@pytest.mark.parametrize("parameters", [("q", "save_kv_cache="), ("q", "k", "v")])
def test_a_call_that_does_not_fit_contradicts(seen, parameters):
    found = verdict(
        seen, BACKEND, kind=Kind.METHOD, name="forward_decode", parameters=always(parameters)
    )
    assert found.status is Status.CONTRADICTED


def method(seen, name, parameters, **more):
    stated = always(parameters)
    return verdict(seen, BACKEND, kind=Kind.METHOD, name=name, parameters=stated, **more)


def test_a_method_nobody_called_is_confirmed_by_the_parameters_it_has(seen):
    assert method(seen, "forward_mixed", ("q", "k")).status is Status.PRESENT
    assert method(seen, "forward_mixed", ("q",)).status is Status.CONTRADICTED
    assert method(seen, "forward_late", ("q",)).status is Status.NOT_EXERCISED


def test_a_result_is_confirmed_by_a_result_alone(seen):
    int64, float32 = (Returns(dtype=(dtype,), shape=("B",)) for dtype in ("int64", "float32"))
    called = ("q", "k", "save_kv_cache=")
    right = method(seen, "forward_decode", called, returns=always(int64))
    wrong = method(seen, "forward_decode", called, returns=always(float32))
    never = method(seen, "forward_mixed", ("q", "k"), returns=always(int64))
    of_q = method(seen, "forward_decode", called, returns=always(Returns(dtype=("q.dtype",))))
    assert (right.status, wrong.status) == (Status.SEEN, Status.CONTRADICTED)
    assert (never.status, of_q.status) == (Status.DECLARED, Status.SEEN)


def test_a_plugin_does_not_vouch_for_what_it_defines_itself(seen):
    """Its own call of its own method counts for nothing; the upstream class's parameters do."""
    found = method(seen, "support_triton", ())
    assert found.status is Status.PRESENT
    only_its_own = verdict(seen, BACKEND, kind=Kind.FIELD, name="page_size")
    assert only_its_own.status is Status.NOT_EXERCISED


def test_an_attribute_that_the_plugin_sets_is_confirmed_by_sglang_reading_it(seen):
    found = verdict(seen, BACKEND, kind=Kind.FIELD, name="token_to_kv_pool")
    assert found.status is Status.SEEN


def test_an_attribute_of_the_class_is_confirmed_by_its_value_or_its_being_there(seen):
    for name, kind, stated, status in (
        ("needs_cpu", Kind.FIELD, "bool", Status.SEEN),
        ("verify_mask", Kind.ATTRIBUTE, None, Status.PRESENT),
        ("verify_mask", Kind.ATTRIBUTE, "Optional[VerifyMask]", Status.DECLARED),
        ("stream", Kind.FIELD, None, Status.PRESENT),
        ("elsewhere", Kind.ATTRIBUTE, None, Status.NOT_EXERCISED),
    ):
        more = {"type": always(stated)} if stated else {}
        found = verdict(seen, BACKEND, kind=kind, name=name, **more)
        assert (name, found.status) == (name, status)


def test_a_dimension_may_mean_another_thing_in_another_contract(seen):
    for dims, status in (
        ({"L": 7, "c.L": 36}, Status.SEEN),
        ({"other.L": 7}, Status.SEEN),
        ({"L": 7}, Status.CONTRADICTED),
    ):
        here = msgspec.structs.replace(seen, dims=dims)
        assert field(here, "out_cache_loc", shape=always(("L",))).status is status


def test_a_subclass_is_of_the_stated_type():
    value = {"type": "object", "class": "m:KunlunPool", "bases": ["Pool", "KVCache"]}
    assert values.fits("KVCache", value)
    assert values.fits("Optional[Allocator]", value) is None


def test_an_object_of_another_class_proves_nothing(seen):
    """A paged allocator is no evidence of the plain one, though both are allocators."""
    found = verdict(seen, POOL, kind=Kind.FIELD, name="page_size")
    assert found.status is Status.NOT_EXERCISED


def test_an_obligation_is_confirmed_by_sglang_asking_for_it(seen):
    def obligation(name, **more):
        return verdict(seen, BACKEND, kind=Kind.OBLIGATION, name=name, **more).status

    assert obligation("token_to_kv_pool") is Status.SEEN
    assert obligation("page_size") is Status.NOT_EXERCISED  # the plugin alone reads it
    assert obligation("max_context_len", optional=True) is Status.SEEN
    assert obligation("max_context_len") is Status.CONTRADICTED  # it is not there, and all is well


def test_what_is_there_outside_the_range_contradicts_it(seen):
    late = {"sglang": (">=0.5.17",)}
    there = verdict(seen, BACKEND, kind=Kind.METHOD, name="forward_mixed", **late)
    assert there.status is Status.CONTRADICTED
    assert "outside" in there.detail
    with pytest.raises(ValueError, match="not enough values"):
        verdict(seen, BACKEND, kind=Kind.METHOD, name="forward_late", **late)


@pytest.mark.parametrize(("what", "wrong"), [("member", True), ("attribute", False)])
def test_only_a_member_of_an_enumeration_contradicts_a_members_range(seen, what, wrong):
    """From 0.5.4.post2 to 0.5.7 SpeculativeAlgorithm is a class that sets its names on itself."""
    member = Clause(
        id="c/A",
        kind=Kind.MEMBER,
        name="A",
        owner=("sglang.here:Letters",),
        symbols=("sglang.here:Letters.A",),
        sglang=(">=0.5.17",),
    )
    there = msgspec.structs.replace(seen, symbols={"sglang.here": {"Letters.A": what}})
    contract = Contract(id="c", title="", provider="a", consumer="b", clauses=(member,))
    assert [found.status for found in evidence.confirm(contract, there)] == (
        [Status.CONTRADICTED] if wrong else []
    )


def test_releases_in_which_it_is_lacking_are_told(seen):
    late = Clause(
        id="c/x", kind=Kind.METHOD, name="forward_late", owner=(BACKEND,), sglang=(">=0.5.17",)
    )
    elsewhere = msgspec.structs.replace(late, id="c/y", owner=(POOL,))
    contract = Contract(id="c", title="", provider="a", consumer="b", clauses=(late, elsewhere))
    rows = evidence.table(contract, [seen])
    assert [row.absent for row in rows] == [("0.5.16",), ()]


def test_a_symbol_in_the_worker_is_confirmed_and_a_member_of_a_class_only_declared(seen):
    module = {"f": "(a, b=)", "C": "class (a)", "C.m": "(x)", 'TABLE["k"]': "key"}
    there = msgspec.structs.replace(seen, symbols={"sglang.here": module})

    def status(kind, name, parameters=None, owner=()):
        return verdict(
            there,
            "",
            kind=kind,
            name=name,
            owner=owner,
            symbols=(f"sglang.here:{name}",),
            parameters=always(parameters) if parameters is not None else (),
        ).status

    assert status(Kind.FUNCTION, "f", ("a", "b=")) is Status.PRESENT
    assert status(Kind.CLASS, "C", ("a",)) is Status.PRESENT
    assert status(Kind.CLASS, "C", ("b",)) is Status.CONTRADICTED
    assert status(Kind.REGISTRY, 'TABLE["k"]') is Status.PRESENT
    assert status(Kind.METHOD, "C.m", ("x",), ("sglang.here:C",)) is Status.DECLARED
    assert status(Kind.FUNCTION, "gone") is Status.NOT_EXERCISED


@pytest.mark.parametrize(
    ("shown", "status"),
    [
        (Shown(call="forward_decode", argument="q", position=0, type="tensor"), Status.SEEN),
        (Shown(call="forward_decode", argument="q", position=0, type="list"), Status.NOT_EXERCISED),
        (Shown(call="forward_decode", keywords=("save_kv_cache",)), Status.SEEN),
        (Shown(call="forward_decode", keywords=("sinks",)), Status.NOT_EXERCISED),
        (Shown(call="forward_extend", keywords=("sinks",)), Status.NOT_EXERCISED),
        (Shown(call="support_triton", keywords=("x",)), Status.NOT_EXERCISED),  # the plugin's own
        (Shown(holds="len(seq_lens) == batch_size"), Status.SEEN),
        (Shown(holds="len(seq_lens) == 1"), Status.CONTRADICTED),
        (None, Status.NOT_EXERCISED),
    ],
)
def test_a_behaviour_is_confirmed_by_what_it_is_said_to_show_itself_by(seen, shown, status):
    on = On(symbol=f"{BACKEND}.forward_decode", role=Role.OVERRIDER)
    found = verdict(seen, BACKEND, kind=Kind.BEHAVIOUR, name="b", on=on, shown=shown)
    assert found.status is status


def test_an_invariant_is_worked_out_on_the_sampled_values(seen):
    owner = BATCHES
    for text, status in (
        ("len(seq_lens) == batch_size", Status.SEEN),
        ("sum(seq_lens) == 1", Status.CONTRADICTED),
        ("unknown == 1", Status.NOT_EXERCISED),
    ):
        found = verdict(seen, owner, kind=Kind.INVARIANT, name="i", holds=text)
        assert found.status is status


def test_a_behaviour_that_shows_itself_before_its_range_contradicts_it(seen):
    on = On(symbol=f"{BACKEND}.forward_decode", role=Role.OVERRIDER)
    shown = Shown(call="forward_decode", argument="q", position=0, type="tensor")
    late = {"sglang": (">=0.5.17",), "on": on, "shown": shown}
    found = verdict(seen, BACKEND, kind=Kind.BEHAVIOUR, name="b", **late)
    assert found.status is Status.CONTRADICTED


def test_what_is_used_without_a_clause_is_named(seen):
    used = ("forward_decode", "token_to_kv_pool")
    assert evidence.unlisted([], seen) == {"backend": used}


def test_a_file_is_read_back_as_it_was_written(seen, tmp_path):
    file = evidence.save(seen, tmp_path / "out")
    assert file.name == "0.5.16.json"
    assert evidence.load(file) == seen
    assert "secret" not in file.read_text()


def test_a_further_run_of_a_release_is_a_file_of_its_own(seen, tmp_path):
    assert evidence.save(seen, tmp_path, "latent").name == "0.5.16.latent.json"
    evidence.save(seen, tmp_path)
    later = msgspec.structs.replace(seen, release="0.5.9")
    evidence.save(later, tmp_path)
    found = evidence.load_all(tmp_path)
    assert [each.release for each in found] == ["0.5.9", "0.5.16", "0.5.16"]


def test_a_file_of_an_older_form_says_how_to_make_it_again(tmp_path):
    file = tmp_path / "0.5.16.json"
    file.write_text('{"format": 1, "release": "0.5.16"}')
    with pytest.raises(ContractsError, match="format 1"):
        evidence.load(file)


def test_a_broken_file_says_how_to_make_it_again(tmp_path):
    file = tmp_path / "0.5.16.json"
    file.write_text("{")
    with pytest.raises(ContractsError, match="no evidence file"):
        evidence.load(file)


def test_a_contradiction_is_never_outvoted(seen):
    clause = Clause(
        id="c/seq_lens",
        kind=Kind.FIELD,
        name="seq_lens",
        owner=(BATCHES,),
        dtype=(Variant(("==0.5.16",), ("int32",)), Variant((), ("int64",))),
    )
    contract = Contract(id="c", title="", provider="a", consumer="b", clauses=(clause,))
    other = msgspec.structs.replace(seen, release="0.5.17")
    (row,) = evidence.table(contract, [seen, other])
    assert row.status is Status.CONTRADICTED
    assert (row.seen, row.confirmed) == (("0.5.17",), ())
    assert [release for release, _ in row.contradicted] == ["0.5.16"]


def test_counts_put_each_clause_into_one_class(seen):
    owner = (BATCHES,)
    names = {
        "seq_lens": always(("int64",)),
        "out_cache_loc": always(("int32",)),
        "spec_info": always(("int64",)),
        "can_run_tbo": (),
        "nowhere": always(("int64",)),
    }
    clauses = tuple(
        Clause(id=f"c/{n}", kind=Kind.FIELD, name=n, owner=owner, dtype=dtype)
        for n, dtype in names.items()
    )
    later = Clause(id="c/later", kind=Kind.FIELD, name="x", owner=owner, sglang=(">=0.5.99",))
    contract = Contract(id="c", title="", provider="a", consumer="b", clauses=(*clauses, later))
    assert evidence.counts(contract, [seen]) == evidence.Counts(
        contract="c",
        asked=5,
        seen=1,
        present=1,
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
    "kv-pool-mla",
    "kv-allocator",
    "kv-allocator-paged",
    "req-to-token-pool",
)


@pytest.mark.skipif(not COMMITTED, reason="no evidence is recorded yet")
def test_nine_in_ten_clauses_of_the_backend_families_are_confirmed():
    found = evidence.load_all(COMMITTED[0].parent)
    sums = [evidence.counts(c, found) for c in load_contracts() if c.id in FAMILIES]
    assert sum(each.confirmed for each in sums) >= 0.9 * sum(each.asked for each in sums)


def test_each_release_of_the_spread_has_evidence_of_its_own_line():
    assert set(SPREAD) <= {file.stem for file in COMMITTED}


@pytest.mark.parametrize("file", COMMITTED, ids=lambda file: file.stem)
def test_sglang_itself_made_every_object_of_the_committed_evidence(file):
    """Neither this project's builder nor its tests made or touched any of them."""
    found = evidence.load(file)
    for role, each in found.objects.items():
        uses = [*each.calls.values(), *each.reads.values()]
        by = {who.removeprefix("self ") for forms in uses for form in forms for who in form.by}
        assert {who.partition(".")[0] for who in by} <= {"sglang", "kunlun_backend"}
        if role.startswith(("kv_pool", "allocator", "request_pool")):
            makers = [
                who
                for name, calls in each.calls.items()
                if name.endswith("__init__")
                for call in calls
                for who in call.by
            ]
            assert any(who.startswith("sglang.srt.") for who in makers)


def test_no_committed_evidence_tells_of_the_machine_it_was_made_on():
    for file in COMMITTED:
        text = file.read_text(encoding="utf-8")
        assert "/tmp" not in text
        assert "/work" not in text
        assert "/home" not in text
