"""A class that was a dataclass and is a Struct is told where a tool refuses it, and only there."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

OLD = {
    "__init__.py": "",
    "srt/records.py": """
        import dataclasses
        import msgspec
        class Base:
            def __init__(self):
                self.x = 1
        @dataclasses.dataclass
        class Record:
            name: str = ""
            path: str = ""
        class Plain:
            def __init__(self):
                self.name = ""
        class Message(msgspec.Struct):
            name: str = ""
        @dataclasses.dataclass
        class Kept:
            name: str = ""
        @dataclasses.dataclass
        class Roomy:
            name: str = ""
        """,
}
STRUCT = "class {}(msgspec.Struct):"
NEW = {
    **OLD,
    "srt/records.py": OLD["srt/records.py"]
    .replace("@dataclasses.dataclass\n        class Record:", STRUCT.format("Record"))
    .replace(
        'class Plain:\n            def __init__(self):\n                self.name = ""',
        STRUCT.format("Plain") + '\n            name: str = ""',
    )
    .replace(
        STRUCT.format("Message"),
        "@dataclasses.dataclass\n        class Message:",
    )
    .replace(
        "@dataclasses.dataclass\n        class Roomy:",
        "class Roomy(msgspec.Struct, dict=True):",
    ),
}
HEAD = """
import dataclasses
import msgspec
from sglang.srt.records import Kept, Message, Plain, Record, Roomy
"""
Broken = Callable[[Mapping[str, str], Mapping[str, str], str], list[str]]

TOLD = {
    "asdict": "def f(r: Record): return dataclasses.asdict(r)",
    "astuple": "def f(r: Record): return dataclasses.astuple(r)",
    "replace": "def f(r: Record): return dataclasses.replace(r, name='a')",
    "fields of the class": "NAMES = [f.name for f in dataclasses.fields(Record)]",
    "fields of an object": "def f(r: Record): return dataclasses.fields(r)",
    "imported by its own name": (
        "from dataclasses import asdict\ndef f(r: Record): return asdict(r)"
    ),
    "by another name": "import dataclasses as dc\ndef f(r: Record): return dc.asdict(r)",
    "an element": "def f(rs: list[Record]): return [dataclasses.asdict(r) for r in rs]",
    "one that is made": "def f(): return dataclasses.asdict(Record(name='a'))",
    "vars": "def f(p: Plain): return dict(vars(p))",
    "a table": "def f(p: Plain): return {**p.__dict__}",
    "its fields by their table": "def f(r: Record): return list(r.__dataclass_fields__)",
    "a Struct that is none": "def f(m: Message): return msgspec.structs.asdict(m)",
    "asked, and given all the same": (
        "def f(r: Record):\n"
        "    if dataclasses.is_dataclass(r):\n"
        "        pass\n"
        "    return dataclasses.asdict(r)"
    ),
}
SILENT = {
    "a dataclass of its own": (
        "@dataclasses.dataclass\nclass Row:\n    name: str\n"
        "def f(r: Record): return dataclasses.asdict(Row(r.name))"
    ),
    "a class that is one still": "def f(k: Kept): return dataclasses.asdict(k)",
    "what takes either": "def f(r: Record): return msgspec.to_builtins(r)",
    "an object of no known class": "def f(x): return dataclasses.asdict(x)",
    "imported, and asdict of another": (
        "def f(r: Record, x): return dataclasses.asdict(x), r.name, msgspec.json.encode(r)"
    ),
    "one that is asked first": (
        "def f(r: Record):\n"
        "    if dataclasses.is_dataclass(r):\n"
        "        return dataclasses.asdict(r)\n"
        "    return msgspec.structs.asdict(r)"
    ),
    "one that is asked whether it is a Struct": (
        "def f(r: Record):\n"
        "    if isinstance(r, msgspec.Struct):\n"
        "        return msgspec.structs.asdict(r)\n"
        "    return dataclasses.asdict(r)"
    ),
    "one whose table is asked for": (
        "def f(p: Plain):\n"
        "    if hasattr(p, '__dict__'):\n"
        "        return dict(p.__dict__)\n"
        "    return {'name': p.name}"
    ),
    "one that is tried": (
        "def f(r: Record):\n"
        "    try:\n"
        "        return dataclasses.asdict(r)\n"
        "    except TypeError:\n"
        "        return msgspec.structs.asdict(r)"
    ),
    "a Struct with a table": "def f(r: Roomy): return vars(r)",
    "the table of a class": "def f(): return vars(Record), Record.__dict__",
    "the table of a module": "import json\ndef f(): return vars(json)",
}


@pytest.mark.parametrize("text", TOLD.values(), ids=TOLD.keys())
def test_a_tool_that_refuses_the_class_is_told(text: str, broken_by: Broken) -> None:
    found = broken_by(OLD, NEW, HEAD + text)
    assert found
    assert all(each.startswith("error behaviour-changed sglang.srt.records:") for each in found)


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT.keys())
def test_what_takes_the_class_is_not_told(text: str, broken_by: Broken) -> None:
    assert not [each for each in broken_by(OLD, NEW, HEAD + text) if not each.startswith("note ")]
