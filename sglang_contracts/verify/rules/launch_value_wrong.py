"""Values of launch flags that a release does not take, and flags that it is about to drop."""

from __future__ import annotations

import functools
import re
import sys
from importlib.resources import files

import msgspec

from sglang_contracts.plugin import launch
from sglang_contracts.surface.model import Flag
from sglang_contracts.verify.findings.finding import Severity
from sglang_contracts.verify.rules.cause import Cause
from sglang_contracts.verify.rules.rule import ALONE, Edit, Rule

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SERVER_ARG_VALUE = Rule(
    id="server-arg-value",
    what="{name} is not taken any more",
    early="{name} is not taken yet",
    never="{name} needs a look",
    fix="use {to}",
    page="launch_value_wrong.toml",
    severity=Severity.ERROR,
    role="launch",
    absent=False,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=False,
)
SERVER_ARG_DEPRECATED = Rule(
    id="server-arg-deprecated",
    what="server argument {name} is deprecated",
    fix="use {to}",
    page="launch_value_wrong.toml",
    severity=Severity.NOTE,
    role="launch",
    absent=False,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=False,
)

NUMBER, WHOLE = "it takes a number", "it takes a whole number"
TAKES_ONE, TAKES_NONE = "it takes a value", "it takes no value"
_NO_VALUE_ACTIONS = ("store_true", "store_false", "store_const", "count", "help", "version")
_SWITCHES = ("BooleanOptionalAction", "StoreTrue", "StoreConst", "DeprecatedAction")
_WHOLE = re.compile(r"\s*[+-]?\d+(?:_\d+)*\s*\Z")
_PLACEHOLDER = re.compile(r"[A-Z][A-Z_]*\Z|\.\.\.|\u2026|\[|N\d?\Z")
"""What documents write where a value stands."""


class Range(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The values of numbers that a server can start with, whatever its parser says."""

    flags: tuple[str, ...]
    says: str
    """What it takes, in words."""
    over: float | None = None
    below: float | None = None
    at_least: float | None = None
    at_most: float | None = None

    def has(self, number: float) -> bool:
        """Whether a number is in it."""
        return (
            (self.over is None or number > self.over)
            and (self.below is None or number < self.below)
            and (self.at_least is None or number >= self.at_least)
            and (self.at_most is None or number <= self.at_most)
        )


@functools.cache
def ranges() -> dict[str, Range]:
    """Flag → its range; read from ``number_ranges.toml``."""
    text = files(launch).joinpath("number_ranges.toml").read_text(encoding="utf-8")
    listed = msgspec.convert(tomllib.loads(text)["range"], list[Range])
    return {flag: each for each in listed for flag in each.flags}


def arity(flag: Flag) -> tuple[int, int]:
    """How many values a flag takes: at least, at most (2: any number)."""
    if flag.nargs and flag.nargs != "None":
        return {"?": (0, 1), "*": (0, 2), "+": (1, 2), "0": (0, 0)}.get(flag.nargs, (1, 2))
    action = flag.action.rpartition(".")[2]
    switch = action in _NO_VALUE_ACTIONS or any(each in action for each in _SWITCHES)
    # ``nargs=None`` makes a switch of SGLang's own that takes a value after all.
    return (0, 0) if switch and flag.nargs != "None" else (1, 1)


def problem(flag: Flag, value: str | None) -> str:
    """What is wrong with a flag's value; empty: nothing that the text tells.

    Args:
        flag: As the release registers it.
        value: What it is given; None: nothing, empty: something that cannot be told.
    """
    least, most = arity(flag)
    if value is None:
        return TAKES_ONE if least else ""
    if most == 0:
        return TAKES_NONE
    if not value or _PLACEHOLDER.match(value):
        return ""
    if flag.type == "int" and not _WHOLE.match(value):
        return WHOLE
    if flag.type in ("int", "float"):
        try:
            number = float(value)
        except ValueError:
            return NUMBER
        wanted = next((ranges()[name] for name in flag.names if name in ranges()), None)
        if wanted is not None and not wanted.has(number):
            return wanted.says
    return ""


CAUSE = Cause(
    detects={},  # launch commands are looked at by themselves
    failures=(),
    rules=(SERVER_ARG_VALUE, SERVER_ARG_DEPRECATED),
)
