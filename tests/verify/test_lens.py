"""An answer is worked out again exactly where something that it stands on has changed."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from sglang_contracts.surface import Catalog
from sglang_contracts.surface.model import Class
from sglang_contracts.surface.record import record
from sglang_contracts.verify.answers.lens import Lens

POOL = "sglang.srt.pool"
USER = "sglang.srt.user"
FILES = {
    "srt/pool.py": """
LIMIT = 4
class Base:
    def free(self, index): return index
class Pool(Base):
    size: int = 0
    def get(self, index): return index
    def put(self, index, value): pass
class Other:
    def get(self): return None
def make(): return Pool()
""",
    "srt/user.py": "from sglang.srt.pool import Pool\ndef use(pool): return pool.get(1)\n",
    "srt/folder/inside.py": "X = 1\n",
}
MoveTo = Callable[..., Lens]


@pytest.fixture
def lens_over(tmp_path: Path) -> MoveTo:
    """``lens_over({"srt/pool.py": ("old", "new")})``: a lens on 0.5.1; 0.5.2 has the new texts."""

    def make(changes: dict[str, tuple[str, str]], base: dict[str, str] = FILES, **new: str) -> Lens:
        catalog = Catalog(tmp_path / "shipped", tmp_path / "user")
        for version in ("0.5.1", "0.5.2"):
            files = dict(base)
            if version == "0.5.2":
                for name, (old, new_text) in changes.items():
                    assert old in files[name]
                    files[name] = files[name].replace(old, new_text)
                files |= {f"srt/{name}.py": text for name, text in new.items()}
            wheel = tmp_path / f"sglang-{version}-py3-none-any.whl"
            with zipfile.ZipFile(wheel, "w") as archive:
                for name, text in files.items():
                    if text:
                        archive.writestr(f"sglang/{name}", text)
            record(str(wheel), catalog)
            catalog = Catalog(tmp_path / "shipped", tmp_path / "user")
        return Lens(catalog, "0.5.1")

    return make


QUESTIONS: dict[str, Callable[[Lens], object]] = {
    "get": lambda lens: _member(lens, "Pool", "get"),
    "put": lambda lens: _member(lens, "Pool", "put"),
    "free": lambda lens: _member(lens, "Pool", "free"),
    "names": lambda lens: sorted(lens.member_names(_class(lens, "Pool"))),
    "other": lambda lens: _member(lens, "Other", "get"),
    "limit": lambda lens: _node(lens, f"{POOL}:LIMIT"),
    "make": lambda lens: _node(lens, f"{POOL}:make"),
    "absent": lambda lens: lens.parse(f"{POOL}:absent") is not None,
    "by import": lambda lens: str(lens.parse(f"{USER}:Pool")),
    "calls": lambda lens: [call.positional for _, call in lens.callers("get")],
    "folder": lambda lens: lens.has_module("sglang.srt.folder"),
    "gone": lambda lens: lens.has_module("sglang.srt.later"),
    "number": lambda lens: (lens.touch("release"), lens.release)[1],
}


def _class(lens: Lens, name: str) -> object:
    found = lens.parse(f"{POOL}:{name}")
    assert found is not None
    assert isinstance(found.node, Class)
    return found


def _member(lens: Lens, owner: str, name: str) -> object:
    found = lens.member(_class(lens, owner), name)  # type: ignore[arg-type]
    return found and (found.name, found.node)


def _node(lens: Lens, spelling: str) -> object:
    found = lens.parse(spelling)
    return found and found.node


CHANGES: dict[str, tuple[dict[str, tuple[str, str]], dict[str, str], set[str]]] = {
    "nothing but lines": ({"srt/pool.py": ("LIMIT", "\n\nLIMIT")}, {}, set()),
    "a member": ({"srt/pool.py": ("def get(self, index)", "def get(self, i)")}, {}, {"get"}),
    "an inherited member": ({"srt/pool.py": ("free(self, index)", "free(self, i)")}, {}, {"free"}),
    "a member gone": (
        {"srt/pool.py": ("    def put(self, index, value): pass\n", "")},
        {},
        {"put", "names"},
    ),
    "a member more": (
        {"srt/pool.py": ("    size: int = 0\n", "    size: int = 0\n    more: int = 0\n")},
        {},
        {"names"},
    ),
    "a base": (
        {"srt/pool.py": ("class Pool(Base)", "class Pool")},
        {},
        {"get", "put", "free", "names", "by import"},
    ),
    "a member of another class": ({"srt/pool.py": ("get(self):", "get(me):")}, {}, {"other"}),
    "a value": ({"srt/pool.py": ("LIMIT = 4", "LIMIT = 5")}, {}, {"limit"}),
    "a name more": ({"srt/pool.py": ("LIMIT = 4", "LIMIT = 4\nabsent = 1")}, {}, {"absent"}),
    "a call": ({"srt/user.py": ("get(1)", "get(1, 2)")}, {}, {"calls"}),
    "a folder gone": ({"srt/folder/inside.py": ("X = 1\n", "")}, {}, {"folder"}),
    "a module more": ({}, {"later": "X = 1\n"}, {"gone"}),
    "a class that is a function": (
        {
            "srt/pool.py": (
                "class Other:\n    def get(self): return None\n",
                "def Other(): return 1\n",
            )
        },
        {},
        {"other"},
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_changed_is_asked_again_and_nothing_else(change: str, lens_over: MoveTo) -> None:
    changes, new, expected = CHANGES[change]
    lens = lens_over(changes, **new)
    asked: list[str] = []

    def ask(name: str) -> object:
        def work() -> object:
            asked.append(name)
            return QUESTIONS[name](lens)

        return lens.once(("question", name), work)

    for name in QUESTIONS:
        ask(name)
    asked.clear()
    lens.move("0.5.2")
    fresh = Lens(lens.catalog, "0.5.2")
    for name in QUESTIONS:
        if name != "other" or change != "a class that is a function":
            assert ask(name) == QUESTIONS[name](fresh), name
        else:
            with pytest.raises(AssertionError):
                ask(name)
    assert set(asked) == expected | {"number"}


def test_an_answer_that_stands_on_answers_is_forgotten_with_them(lens_over: MoveTo) -> None:
    lens = lens_over({"srt/pool.py": ("LIMIT = 4", "LIMIT = 5")})

    def inner() -> object:
        return lens.once("inner", lambda: _node(lens, f"{POOL}:LIMIT"))

    before = lens.once("outer", inner)
    _, names = lens.track(inner)
    assert names == {"inner"}  # not what lies below
    changed = lens.move("0.5.2")
    assert {(POOL, "LIMIT"), "inner", "outer"} <= changed
    assert lens.once("outer", inner) != before


def test_a_view_held_by_somebody_shows_the_release_at_hand(lens_over: MoveTo) -> None:
    lens = lens_over({"srt/pool.py": ("def get(self, index)", "def get(self, i)")})
    module = lens.module(POOL)
    assert module is not None
    pool = module.classes["Pool"]
    assert pool.methods["get"].parameters[1].name == "index"
    lens.move("0.5.2")
    assert pool.methods["get"].parameters[1].name == "i"
    assert lens.module(POOL) is module


def test_moving_back_gives_the_first_answers(lens_over: MoveTo) -> None:
    lens = lens_over({"srt/pool.py": ("def get(self, index)", "def get(self, i)")})
    first = {name: QUESTIONS[name](lens) for name in QUESTIONS}
    lens.move("0.5.2")
    second = {name: QUESTIONS[name](lens) for name in QUESTIONS}
    assert second != first
    lens.move("0.5.1")
    assert {name: QUESTIONS[name](lens) for name in QUESTIONS} == first


def test_a_class_that_is_assembled_stands_on_all_of_its_parts(lens_over: MoveTo) -> None:
    assembled = {
        "srt/server_args.py": """
import msgspec
from sglang.srt.arg_groups.fields.device import Device
class ServerArgs:
    def own(self): ...
ServerArgs = msgspec.defstruct("ServerArgs", [], namespace={})
""",
        "srt/arg_groups/fields/__init__.py": "",
        "srt/arg_groups/fields/device.py": """
class Device:
    _NS_PATH = "device"
    device: str = "cpu"
""",
    }
    lens = lens_over(
        {"srt/arg_groups/fields/device.py": ('device: str = "cpu"', 'place: str = "cpu"')},
        assembled,
    )

    def has(name: str) -> bool:
        spelling = f"sglang.srt.server_args:ServerArgs.{name}"
        return lens.once(("has", name), lambda: lens.parse(spelling) is not None)

    assert (has("device"), has("place"), has("own")) == (True, False, True)
    lens.move("0.5.2")
    assert (has("device"), has("place"), has("own")) == (False, True, True)
