"""A fake has what the release has and says of the rest who has it and what to use."""

import dataclasses
import enum
import importlib
import inspect
import os
import pickle

import pytest
from sglang_contracts.fakes.values import Evaluator, NoValueError, Unknown

from sglang_contracts import fakes
from sglang_contracts.surface import load_catalog
from sglang_contracts.surface.model import Condition, Kind

LONG = os.environ.get("SGLANG_CONTRACTS_PROFILE") == "release"
BATCH = "sglang.srt.model_executor.forward_batch_info"
POOLS = "sglang.srt.mem_cache.memory_pool"
RELEASES = load_catalog().releases
WHOLE = ("0.4.6", "0.5.3", "0.5.12.post1", "0.5.16", "0.5.23")
SPREAD = RELEASES if LONG else WHOLE
NEAR = ("sglang.srt.mem_cache", "sglang.srt.model_executor", "sglang.srt.platforms")


@pytest.mark.parametrize("release", SPREAD)
def test_every_recorded_module_and_name_is_there(release):
    with fakes.install(release) as placed:
        for name in sorted(placed.fake.surface.module_names()):
            module = importlib.import_module(name)
            if (LONG and release in WHOLE) or name.startswith(NEAR):
                for each in placed.fake.names(name):
                    if placed.fake.surface.top(name, each) is not None:
                        getattr(module, each)


@pytest.mark.parametrize("release", SPREAD)
def test_signatures_fields_and_members_are_the_recorded_ones(release):
    fake = fakes.load(release)
    surface = fake.surface
    batch = surface.find(BATCH, "ForwardBatch")
    made = {each.name for each in dataclasses.fields(fake.get(f"{BATCH}:ForwardBatch"))}
    # A base that is no dataclass itself gives none of its annotations.
    nodes = [each.node for each in surface.mro(batch) if each.node.kind & Kind.DATACLASS]
    declared = {n: a for node in nodes for n, a in node.attributes.items() if a.annotation}
    assert made == {n for n, a in declared.items() if not a.on_self}
    for name in ("MHATokenToKVPool", "ReqToTokenPool"):
        wanted = surface.constructor(surface.find(POOLS, name))
        found = inspect.signature(fake.get(f"{POOLS}:{name}").__init__).parameters
        assert list(found) == [each.name for each in wanted.parameters]
        for each in wanted.parameters:
            assert (found[each.name].default is inspect.Parameter.empty) == (not each.default)
    mode = surface.find(BATCH, "ForwardMode")
    members = {n for n, a in mode.node.attributes.items() if a.value and not a.annotation}
    cls = fake.get(f"{BATCH}:ForwardMode")
    assert issubclass(cls, enum.IntEnum)
    assert set(cls.__members__) == members


def test_a_field_that_is_gone_names_its_releases_and_its_replacement(fake):
    batch = fake.get(f"{BATCH}:ForwardBatch")(*[None] * 7)
    assert not hasattr(batch, "token_to_kv_pool")
    with pytest.raises(AttributeError) as caught:
        _ = batch.token_to_kv_pool
    text = str(caught.value)
    assert "'ForwardBatch' object has no attribute 'token_to_kv_pool'" in text
    assert "0.4.6 … 0.5.12.post1" in text
    assert "forward_context:get_token_to_kv_pool" in text


def test_an_enum_member_that_is_gone_says_so(fake):
    with pytest.raises(AttributeError, match=r"0\.4\.6 … 0\.5\.13"):
        _ = fake.get(f"{BATCH}:ForwardMode").DRAFT_EXTEND
    with pytest.raises(AttributeError, match=r"is_draft_extend.*these have it"):
        fake.get(f"{BATCH}:ForwardMode").DECODE.is_draft_extend()


@pytest.mark.parametrize("fake", ["0.5.12"], indirect=True)
def test_an_import_of_what_is_not_there_yet_says_since_when(fake):
    with pytest.raises(ImportError, match=r"cannot import name 'KVWriteLoc'.*0\.5\.14") as caught:
        exec(f"from {POOLS} import KVWriteLoc")
    assert not isinstance(caught.value, ModuleNotFoundError)
    with pytest.raises(ModuleNotFoundError, match=r"0\.5\.13 …"):
        importlib.import_module("sglang.srt.model_executor.forward_context")


def test_a_call_that_does_not_fit_says_what_fits(fake):
    cls = fake.get(f"{POOLS}:MHATokenToKVPool")
    with pytest.raises(
        TypeError, match=r"unexpected keyword argument 'allocation_label'.*0\.5\.17"
    ):
        cls(1, 1, None, 1, 1, 1, "cpu", False, allocation_label="x")
    with pytest.raises(TypeError, match=r"missing 7 required.*in SGLang 0\.5\.16 it is"):
        cls(1)
    with pytest.raises(TypeError, match=r"'attn_backend'.*0\.5\.12"):
        fake.get(f"{BATCH}:ForwardBatch")(attn_backend=None)


def test_a_type_error_from_inside_is_left_alone(fake):
    hooks = fake.get("sglang.srt.plugins.hook_registry:HookRegistry")
    with pytest.raises(TypeError) as caught:
        hooks.register("a.b", int)
    assert type(caught.value) is TypeError


def test_what_is_not_contracted_fails_on_use_by_name(fake):
    scheduler = fake.get("sglang.srt.managers.scheduler:Scheduler")
    assert inspect.isclass(scheduler)
    with pytest.raises(
        fakes.FakeError, match=r"scheduler:Scheduler\.get_next_batch_to_run.*0\.5\.16"
    ):
        scheduler.get_next_batch_to_run(object(), None, None)
    arguments = inspect.signature(scheduler.__init__).parameters
    values = {n: None for n, p in arguments.items() if p.default is p.empty and n != "self"}
    with pytest.raises(fakes.FakeError, match=r"Scheduler\.__init__"):
        scheduler(**values)


@pytest.mark.parametrize("fake", ["0.5.20"], indirect=True)
def test_what_is_retired_imports_and_raises(fake):
    from sglang.srt.server_args import get_global_server_args

    with pytest.raises(RuntimeError, match="retired"):
        get_global_server_args()


def test_reexports_stars_and_aliases_are_the_same_object(fake):
    one = fake.get("sglang.srt.mem_cache.allocator:PagedTokenToKVPoolAllocator")
    assert one is fake.get("sglang.srt.mem_cache.allocator.paged:PagedTokenToKVPoolAllocator")
    assert one.__module__ == "sglang.srt.mem_cache.allocator.paged"
    space = {}
    exec("from sglang.srt.mem_cache.allocator import *", space)
    assert space["PagedTokenToKVPoolAllocator"] is one


def test_constants_and_listings_have_their_values(fake):
    assert fake.get("sglang.srt.plugins:PLATFORM_PLUGINS_GROUP") == "sglang.srt.platforms"
    choices = fake.get("sglang.srt.server_args:ATTENTION_BACKEND_CHOICES")
    assert {"triton", "torch_native"} <= set(choices)


def test_what_is_unknown_may_be_held_but_not_used():
    held = Unknown("m:name", "0.5.16", "compute()")
    assert repr(held) == "<shape of m:name of SGLang 0.5.16>"
    for use in (
        bool,
        len,
        iter,
        int,
        lambda h: h(),
        lambda h: h.x,
        lambda h: h[0],
        lambda h: h + 1,
    ):
        with pytest.raises(fakes.FakeError, match=r"m:name.*compute\(\)"):
            use(held)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 << 4", 16),
        ("[*(1, 2), x]", [1, 2, 7]),
        ("{'a': -1, **{'b': not x}}", {"a": -1, "b": False}),
        ("x if x > 3 and x in (7, 8) else None", 7),
        ("'a,b'.split(',')[1]", "b"),
    ],
)
def test_harmless_expressions_have_values(text, value):
    assert Evaluator(lambda name: {"x": 7}[name])(text) == value


@pytest.mark.parametrize(
    "text",
    ["open('x')", "x.__class__", "print()", "(lambda: 1)()", "f'{x}'", "torch.zeros(…)", "1 / 0"],
)
def test_others_have_none(text):
    def lookup(name):
        if name in ("open", "print"):
            return {"open": open, "print": print}[name]
        raise NoValueError(name)

    with pytest.raises(NoValueError):
        Evaluator(lookup)(text, {"x": 7})


def test_the_text_of_a_probe_is_not_worked_out(fake, monkeypatch):
    monkeypatch.setattr(type(fake), "advise", lambda *_: pytest.fail("a probe paid for its text"))
    assert not hasattr(fake.get(f"{BATCH}:ForwardMode"), "NO_SUCH_MODE")
    assert getattr(fake.module(POOLS), "no_such_name", 3) == 3


def test_names_for_type_checkers_only_are_not_there(fake):
    record = fake.surface.module(BATCH)
    hidden = [n for n, i in record.imports.items() if i.condition & Condition.TYPE_CHECKING]
    assert hidden
    assert not any(hasattr(fake.module(BATCH), name) for name in hidden)


def test_enum_members_survive_pickling(fake):
    from sglang.srt.model_executor.forward_batch_info import ForwardMode

    assert pickle.loads(pickle.dumps(ForwardMode.DECODE)) is ForwardMode.DECODE
