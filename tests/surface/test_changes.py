"""What a pack says has changed is what has changed."""

from __future__ import annotations

import random

import msgspec
import pytest

from sglang_contracts.errors import ContractsError
from sglang_contracts.surface import load_catalog
from sglang_contracts.surface.catalog import Catalog
from sglang_contracts.surface.changes import changes
from sglang_contracts.surface.frames import encode
from sglang_contracts.surface.lazy import read_module
from sglang_contracts.surface.model import Function, Module
from sglang_contracts.surface.record import record

OLD = """
import os
LIMIT = 1
class Kept:
    a: int = 0
    def f(self, x): ...
class Lost: ...
def same(): ...
"""


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("LIMIT = 1", "\n\nLIMIT = 1", None),
        ("LIMIT = 1", "LIMIT = 2", {"LIMIT"}),
        ("LIMIT = 1", "LIMIT = 1\nMORE = 2", {"MORE", "*"}),
        ("import os", "import os as system", {"os", "system", "*"}),
        ("import os", "from os import *", {"os", "*", ""}),
        ("class Kept:", "class Kept(Lost):", {"Kept"}),
        ("def f(self, x)", "def f(self, y)", {"Kept.f"}),
        ("a: int = 0", "a: int = 0\n    b: int = 0", {"Kept.b", "Kept.*"}),
        ("a: int = 0", "b: int = 0", {"Kept.a", "Kept.b", "Kept.*"}),
        ("class Lost: ...\n", "", {"Lost", "*"}),
        ("class Lost: ...", "def Lost(): ...", {"Lost", "*"}),
    ],
)
def test_a_module_names_what_differs(old, new, names, make_wheel, tmp_path):
    assert old in OLD
    for version, text in (("0.5.1", OLD), ("0.5.2", OLD.replace(old, new))):
        catalog = Catalog(tmp_path / "shipped", tmp_path / "user")
        record(str(make_wheel(version, {"srt/m.py": text})), catalog)
    catalog = Catalog(tmp_path / "shipped", tmp_path / "user")
    found = catalog.difference("0.5.1", "0.5.2", {"m:sglang.srt.m"})
    assert found == ({} if names is None else {"m:sglang.srt.m": tuple(sorted(names))})
    assert catalog.difference("0.5.2", "0.5.1", {"m:sglang.srt.m"}) == found


def test_a_flag_and_a_call_are_named(make_wheel, tmp_path):
    text = "parser.add_argument('--{}')\ndef go(): ...\ngo({})\n"
    files = {"0.5.1": text.format("one", ""), "0.5.2": text.format("two", "1")}
    for version, source in files.items():
        catalog = Catalog(tmp_path / "shipped", tmp_path / "user")
        record(str(make_wheel(version, {"srt/m.py": source})), catalog)
    changed = Catalog(tmp_path / "shipped", tmp_path / "user").pack("0.5.2").changes()
    assert changed["flags"] == ("--one", "--two")
    assert [names for frame, names in changed.items() if frame.startswith("c:")] == [("go",)]


def test_releases_far_apart_are_compared_frame_by_frame():
    catalog = load_catalog()
    frames = {f"m:{name}" for name in catalog.surface("0.5.20").module_names()}
    chosen = set(random.Random(5).sample(sorted(frames), 40)) | {"flags", "c:3"}
    apart = catalog.difference("0.5.16", "0.5.20", chosen)
    for frame in chosen:
        was, now = catalog.locate("0.5.16", frame), catalog.locate("0.5.20", frame)
        assert (frame in apart) == (was != now)
        if was is None and now is not None:
            assert apart[frame] is None


@pytest.mark.parametrize("release", ["0.4.7", "0.5.9", "0.5.20", "0.5.23"])
def test_the_shipped_packs_say_what_their_frames_say(release):
    catalog = load_catalog()
    pack = catalog.pack(release)
    listed = pack.changes()
    for frame in pack.where:
        was = catalog.locate(pack.header.base, frame)
        if was is None:
            assert frame not in listed
        else:
            now = catalog.raw((release, frame))
            assert listed[frame] == changes(frame, catalog.raw(was), now, ContractsError)


def test_a_damaged_list_is_said_with_its_file(make_wheel, tmp_path):
    for version in ("0.5.1", "0.5.2"):
        catalog = Catalog(tmp_path / "shipped", tmp_path / "user")
        text = OLD if version == "0.5.1" else OLD.replace("LIMIT = 1", "LIMIT = 2")
        record(str(make_wheel(version, {"srt/m.py": text})), catalog)
    catalog = Catalog(tmp_path / "shipped", tmp_path / "user")
    pack = catalog.pack("0.5.2")
    pack.header = msgspec.structs.replace(pack.header, changes=b"\xc1")
    with pytest.raises(ContractsError, match="list of changes is damaged") as raised:
        catalog.difference("0.5.1", "0.5.2", {"m:sglang.srt.m"})
    assert "0.5.2.surface" in raised.value.message
    assert "record 0.5.2" in raised.value.hint


def test_a_damaged_definition_is_said_when_it_is_asked_for():
    raw = encode(Module(functions={"good": Function(returns="int")})).replace(b"int", b"\xa3in")
    module = read_module(raw, lambda why: ContractsError(f"corrupt: {why}"))
    assert "good" in module.functions
    with pytest.raises(ContractsError, match="corrupt: good"):
        module.functions["good"]


@pytest.mark.parametrize("frame", ["m:sglang.srt.pool", "flags", "c:1"])
@pytest.mark.parametrize("damaged", [b"", b"\xc1", b"\x01", b"\x81\xa1"])
def test_what_cannot_be_compared_is_said_as_damage(frame, damaged):
    whole = changes(frame, _EMPTY[frame[:2]], _EMPTY[frame[:2]], ContractsError)
    assert whole == ()
    with pytest.raises(ContractsError):
        changes(frame, _EMPTY[frame[:2]], damaged, ContractsError)


_EMPTY = {"m:": encode(Module()), "fl": encode([]), "c:": encode({})}
