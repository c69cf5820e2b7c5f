"""The tracer notes what is done to an object, and changes nothing about it."""

import enum
import functools
import json
from dataclasses import dataclass

import pytest

from sglang_contracts.live import facts, trace


class Base:
    def size(self, extra=0):
        return 3 + extra

    @property
    def free(self):
        return self.size()


Base.__module__ = "sglang.srt.pool"


class Pool(Base):
    def __init__(self):
        self.page_size = 16

    def alloc(self, count, *, zero=False):
        return list(range(count)) if self.page_size else None


class Mode(enum.Enum):
    EXTEND = 1


@dataclass
class Batch:
    forward_mode: Mode = Mode.EXTEND
    batch_size: int = 2
    spec_info: object = None


@pytest.fixture
def traced(tmp_path):
    pool, tracer = Pool(), trace.Tracer(tmp_path)
    tracer.watch("allocator", pool)

    def lines(kind):
        text = next(tmp_path.glob("trace-*.jsonl")).read_text()
        return [each for each in map(json.loads, text.splitlines()) if each["kind"] == kind]

    return pool, lines, tracer


def test_a_watched_object_answers_as_before(traced):
    pool, _, _ = traced
    assert pool.alloc(2) == [0, 1]
    assert pool.free == 3
    assert isinstance(pool, Pool)
    assert pool.page_size == 16


def test_a_call_is_noted_with_arguments_result_and_caller(traced):
    pool, lines, _ = traced
    pool.alloc(2, zero=True)
    (call,) = [line for line in lines("call") if line["name"] == "alloc"]
    assert call["args"] == [{"type": "int", "value": 2}]
    assert call["kwargs"] == {"zero": {"type": "bool", "value": True}}
    assert call["returns"] == {"type": "list", "length": 2}
    assert call["by"].startswith(f"{__name__}:")


def test_what_an_object_does_to_itself_is_marked(traced):
    pool, lines, _ = traced
    pool.alloc(1)
    (read,) = [line for line in lines("read") if line["name"] == "page_size"]
    assert read["by"].startswith("self ")


def test_equal_calls_are_one_observation(traced):
    pool, lines, _ = traced
    for _ in range(3):
        pool.alloc(2)
    assert len([line for line in lines("call") if line["name"] == "alloc"]) == 1


def test_each_class_of_an_object_is_described_by_what_it_defines(traced):
    _, lines, _ = traced
    (found,) = lines("object")
    assert found["class"].endswith(":Pool")
    pool, base = (found["members"][name] for name in (found["class"], *found["bases"]))
    assert (base["size"], base["free"]) == ("(extra=)", "property")
    assert pool["alloc"] == "(count, *, zero=)"
    assert "size" not in pool


def test_what_the_plugins_code_sets_is_told(traced):
    """``page_size`` is assigned in this very module, which is no part of SGLang.

    Other test modules are as well: the name that is not told is one that none of them assigns.
    """
    _, lines, _ = traced
    (found,) = lines("object")
    assert "page_size" in found["own"]
    assert "assigned_by_no_test" not in found["own"]


def test_what_is_asked_for_and_is_not_there_is_noted(traced):
    pool, lines, _ = traced
    assert not hasattr(pool, "swa_loc")
    (read,) = [line for line in lines("read") if line["name"] == "swa_loc"]
    assert read["value"] == {"type": "missing"}


def test_a_property_is_not_called_to_describe_an_object():
    class Guarded(Base):
        flag = True

        @property
        def late(self):
            raise AssertionError("it was called")

    assert facts.fields(Guarded()) == {"flag": {"type": "bool", "value": True}}


def test_an_object_is_noted_with_what_it_was_made_with(tmp_path):
    tracer = trace.Tracer(tmp_path)

    class ReqToTokenPool:
        def __init__(self, size, *, device):
            self.size = size
            self.clear()

        def clear(self):
            self.free = []

    trace._announce(ReqToTokenPool, tracer.made)
    pool = ReqToTokenPool(4, device="cpu")
    tracer.watch("request_pool", pool)
    tracer.tell("request_pool", pool)
    tracer.tell("request_pool", pool)
    made, cleared, told = map(
        json.loads, next(tmp_path.glob("trace-*.jsonl")).read_text().splitlines()
    )
    assert (made["on"], made["name"]) == ("request_pool", "ReqToTokenPool.__init__")
    assert made["kwargs"] == {"device": {"type": "str", "value": "cpu"}}
    assert cleared["name"] == "clear"
    assert told["fields"]["size"] == {"type": "int", "value": 4}


def test_what_this_projects_own_builder_makes_is_not_watched(tmp_path):
    tracer = trace.Tracer(tmp_path)

    class ReqToTokenPool:
        def __init__(self, size): ...

    trace._announce(ReqToTokenPool, tracer.made)
    builder = {"__name__": "sglang_contracts.live.build", "make": ReqToTokenPool}
    exec("pool = make(4)", builder)
    assert type(builder["pool"]) is ReqToTokenPool
    assert next(tmp_path.glob("trace-*.jsonl")).read_text() == ""


def test_watching_twice_records_once(traced):
    pool, lines, tracer = traced
    tracer.watch("allocator", pool)
    pool.alloc(5)
    assert len(lines("call")) == 1


def test_a_batch_is_noted_as_its_reader_gets_it_with_the_scheduled_mode(traced):
    _, lines, tracer = traced
    tracer.scheduled = "MIXED"
    tracer.batch("init_forward_metadata", Batch())
    (found,) = lines("batch")
    assert (found["mode"], found["scheduled"]) == ("EXTEND", "MIXED")
    assert found["fields"]["batch_size"] == {"type": "int", "value": 2}
    assert found["fields"]["spec_info"] == {"type": "none"}


@pytest.mark.parametrize(
    ("value", "described"),
    [
        (None, {"type": "none"}),
        (True, {"type": "bool", "value": True}),
        (1.5, {"type": "float"}),
        ([1, 2], {"type": "list", "length": 2, "values": [1, 2]}),
        (
            [[1], [2]],
            {"type": "list", "length": 2, "items": {"type": "list", "length": 1, "values": [1]}},
        ),
        ({"a": 1}, {"type": "dict", "length": 1}),
        (Mode.EXTEND, {"type": "enum", "class": f"{__name__}:Mode", "value": "EXTEND"}),
        (len, {"type": "callable", "class": "builtins:builtin_function_or_method"}),
    ],
)
def test_a_value_is_described_never_kept(value, described):
    assert facts.describe(value) == described


def test_a_tensor_is_described_by_dtype_shape_and_device():
    torch = pytest.importorskip("torch", reason="describes tensors: pip install .[suite]")
    small = facts.describe(torch.tensor([[1, 2]], dtype=torch.int32))
    assert small == {
        "type": "tensor",
        "dtype": "int32",
        "shape": [1, 2],
        "device": "cpu",
        "values": [[1, 2]],
    }
    assert "values" not in facts.describe(torch.zeros(2))
    assert "values" not in facts.describe(torch.zeros(1000, dtype=torch.int64))


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda a, b=1: 0, ["a", "b="]),
        (lambda a, /, b, *, c, d=2: 0, ["a", "/", "b", "*", "c", "d="]),
        (lambda *a, b, **c: 0, ["*a", "b", "**c"]),
        (lambda: 0, []),
    ],
)
def test_parameters_are_spelled_as_contracts_do(function, text):
    assert facts.canonical(function, member=False) == text


def test_a_method_is_seen_through_what_decorates_it():
    class Kind:
        @functools.lru_cache
        @staticmethod
        def cached(name): ...

        @classmethod
        def made(cls, name): ...

        def plain(self, name): ...

    assert {facts.member(Kind, name) for name in ("cached", "made", "plain")} == {"(name)"}


def test_symbols_are_looked_up_in_imported_modules_alone(monkeypatch):
    import sys
    import types

    module = types.ModuleType("sglang.here")
    module.Table, module.Kind, module.make = {"triton": 1}, Pool, lambda a, *, b=1: 0
    module.Letters = enum.Enum("Letters", ["A"])
    module.hooked = lambda a: 0  # of this module: something put in SGLang's place
    module.make.__module__ = module.__name__
    monkeypatch.setitem(sys.modules, "sglang.here", module)
    found = facts.present(
        [
            'sglang.here:Table["triton"]',
            'sglang.here:Table["gone"]',
            "sglang.here:Kind.alloc",
            "sglang.here:Kind.gone",
            "sglang.here:Letters.A",
            "sglang.here:Letters.B",
            "sglang.here:make",
            "sglang.here:hooked",
            "sglang.elsewhere:X",
            "json:dumps",
        ]
    )
    assert found == {
        "sglang.here": {
            'Table["triton"]': "key",
            "Kind.alloc": "(count, *, zero=)",
            "Letters.A": "member",
            "make": "(a, *, b=)",
        }
    }
