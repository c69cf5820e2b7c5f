"""An attribute that only a replaced method sets is told where SGLang reads it, and only there."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

OLD = {
    "__init__.py": "",
    "srt/keeper.py": """
        class Keeper:
            size = 1
            def __init__(self, room):
                self.room = room
                self.helped()
                self.reset()
            def helped(self):
                self.by_helper = 1
            def reset(self):
                self.held = []
                self.left_out = 1
            def match(self, key):
                return self.held, self.left_out
            def _hidden(self, key):
                return self.held
            def walk(self):
                return self._inner()
            def _inner(self):
                return self.held
        """,
    "srt/user.py": """
        def use(keeper, pool):
            keeper.match(1)
            keeper.walk()
        """,
}
MORE = "self.left_out = 1\n                "
READ = "return self.held, self.left_out"
ALONE = {
    "srt/keeper.py": OLD["srt/keeper.py"]
    .replace(MORE.strip(), MORE + "self.fresh = ()")
    .replace(READ, READ + ", self.fresh")
}
BY_INIT = {
    "srt/keeper.py": OLD["srt/keeper.py"]
    .replace("self.room = room", "self.room = room\n                self.fresh = ()")
    .replace(READ, READ + ", self.fresh")
}
DECLARED = {
    "srt/keeper.py": ALONE["srt/keeper.py"].replace("size = 1", "size = 1\n            fresh = ()")
}
SET_BY_OTHER = {
    "srt/keeper.py": ALONE["srt/keeper.py"].replace(
        "self.by_helper = 1", "self.by_helper = 1\n                self.fresh = 2"
    )
}
UNREAD = {"srt/keeper.py": ALONE["srt/keeper.py"].replace(READ + ", self.fresh", READ)}
INNER = {
    "srt/keeper.py": OLD["srt/keeper.py"]
    .replace(MORE.strip(), MORE + "self.fresh = ()")
    .replace(
        "_inner(self):\n                return self.held",
        "_inner(self):\n                return self.fresh",
    )
}
HEAD = "from sglang.srt.keeper import Keeper\n"
OWN = (
    HEAD
    + """
class Own(Keeper):
    def reset(self):
        self.left_out = 1
        self.held = [0]
"""
)
PATCH = (
    HEAD
    + """
def reset(self):
    self.left_out = 1
    self.held = [0]
Keeper.reset = reset
"""
)
INIT = (
    HEAD
    + """
class Own(Keeper):
    def __init__(self, room):
        self.room = room
        self.held = []
        self.left_out = 1
"""
)
Broken = Callable[[Mapping[str, str], Mapping[str, str], str], list[str]]
FRESH = "warning attribute-unset sglang.srt.keeper:Keeper.fresh"

TOLD = {
    "an override": (ALONE, OWN),
    "a patch": (ALONE, PATCH),
    "a constructor": (BY_INIT, INIT),
    "a reader that another method calls": (INNER, OWN),
    "a reader that is called by its override": (
        ALONE,
        OWN + "    def match(self, key):\n        return super().match(key)\n",
    ),
}
SET_BY_BOTH = {
    "srt/keeper.py": ALONE["srt/keeper.py"].replace(
        "self.room = room", "self.room = room\n                self.fresh = ()"
    )
}
SILENT = {
    "a constructor that calls its base sets it": (
        SET_BY_BOTH,
        OWN + "    def __init__(self, room):\n        super().__init__(room)\n",
    ),
    "it is declared by the class": (DECLARED, OWN),
    "another method sets it": (SET_BY_OTHER, OWN),
    "nobody reads it": (UNREAD, OWN),
    "the constructor sets it, which runs": (BY_INIT, OWN),
    "the override calls the base": (
        ALONE,
        OWN.replace("self.held = [0]", "super().reset()\n        self.held = [0]"),
    ),
    "the override calls the base by its name": (
        ALONE,
        OWN.replace("self.held = [0]", "Keeper.reset(self)"),
    ),
    "another method of the class calls the base": (
        ALONE,
        OWN + "        self._rest()\n    def _rest(self):\n        super().reset()\n",
    ),
    "the patch calls the original": (
        ALONE,
        PATCH.replace("def reset(self):", "_original = Keeper.reset\ndef reset(self):").replace(
            "self.held = [0]", "_original(self)"
        ),
    ),
    "the override sets it": (ALONE, OWN + "        self.fresh = None\n"),
    "the class sets it elsewhere": (
        ALONE,
        OWN + "    def start(self):\n        self.fresh = None\n",
    ),
    "a class below sets it": (
        ALONE,
        OWN + "class Below(Own):\n    def reset(self):\n        self.fresh = self.held = None\n",
    ),
    "the plugin sets it from outside": (
        ALONE,
        OWN + "def make(room):\n    own = Own(room)\n    own.fresh = None\n    return own\n",
    ),
    "who reads it is replaced": (
        ALONE,
        OWN + "    def match(self, key):\n        return self.held\n",
    ),
    "who calls the one that reads it is replaced": (
        INNER,
        OWN + "    def walk(self):\n        return self.held\n",
    ),
    "a class that merely has a method of that name": (
        ALONE,
        "class Own:\n    def reset(self):\n        self.held = []\n",
    ),
}


@pytest.mark.parametrize(("new", "text"), TOLD.values(), ids=TOLD.keys())
def test_what_nothing_sets_any_more_is_told(
    new: Mapping[str, str], text: str, broken_by: Broken
) -> None:
    found = broken_by(OLD, {**OLD, **new}, text)
    assert [each.rpartition(":")[0] for each in found] == [FRESH]


@pytest.mark.parametrize(("new", "text"), SILENT.values(), ids=SILENT.keys())
def test_what_is_set_or_not_read_is_not_told(
    new: Mapping[str, str], text: str, broken_by: Broken
) -> None:
    assert broken_by(OLD, {**OLD, **new}, text) == []


def test_what_was_left_out_all_along_is_not_told(broken_by: Broken) -> None:
    assert broken_by(OLD, OLD, OWN.replace("self.left_out = 1", "")) == []


def test_what_came_is_a_note_where_others_were_left_out_all_along(broken_by: Broken) -> None:
    found = broken_by(OLD, {**OLD, **ALONE}, OWN.replace("self.left_out = 1", ""))
    assert [each.partition(" ")[0] for each in found] == ["note"]
