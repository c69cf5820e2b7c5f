"""Launch commands against releases: flags, their values, environment variables."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from sglang_contracts.errors import nearest as alike
from sglang_contracts.surface.catalog import Catalog
from sglang_contracts.surface.surface import Surface
from sglang_contracts.verify.answers.outcome import Status
from sglang_contracts.verify.answers.spans import nearest, start
from sglang_contracts.verify.findings.finding import Finding, Severity, Suggestion
from sglang_contracts.verify.rules.cause import Cause
from sglang_contracts.verify.rules.launch_devices import (
    BY_PLATFORM,
    DEVICES,
    NO_PLATFORM,
    PLATFORMS,
)
from sglang_contracts.verify.rules.launch_flags import FlagTable, Given
from sglang_contracts.verify.rules.launch_value_wrong import (
    SERVER_ARG_DEPRECATED,
    SERVER_ARG_VALUE,
    TAKES_NONE,
    TAKES_ONE,
    problem,
)
from sglang_contracts.verify.rules.rule import ALONE, Edit, Rule
from sglang_contracts.verify.suggest.replacements import Replacements

SERVER_ARG_REMOVED = Rule(
    id="server-arg-removed",
    what="server argument {name} is gone",
    early="server argument {name} is not there yet",
    never="no recorded release takes {name}",
    fix="use {to}",
    page="launch_word_gone.toml",
    severity=Severity.ERROR,
    role="launch",
    absent=True,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=False,
)
ENV_REMOVED = Rule(
    id="env-removed",
    what="SGLang reads the variable {name} no more",
    early="SGLang does not read the variable {name} yet",
    never="no recorded release reads the variable {name}",
    fix="set {to}",
    page="launch_word_gone.toml",
    severity=Severity.WARNING,
    role="launch",
    absent=False,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=False,
)


_PREFIX_SHIMS = frozenset({"_convert_SGL_to_SGLANG", "_handle_deprecated_envs"})
"""Functions of ``sglang.srt.environ`` that copy each ``SGL_*`` to ``SGLANG_*`` at import."""

_NO_VALUES = ("flag", "environment")
"""States that are about a word itself, whatever it is given."""
_HOLES = ("$", "{", "<")
_NAMED = re.compile(r"--[a-z][\w-]*")

TAKES = "it takes {choices}"
ONLY_WITH_A_PLUGIN = (
    "the release has no such name: only a plugin that registers it makes the server take it "
    "(--plugin PATH says whether it does)"
)
OR = " or "


class Launches:
    """Findings on launch commands, release by release."""

    def __init__(self, catalog: Catalog, replacements: Replacements) -> None:
        self.catalog = catalog
        self.replacements = replacements
        self.releases = catalog.releases
        self._states: dict[tuple[str, str, str | None], list[tuple[Status, str]]] = {}
        self._tables: dict[tuple[int, str], FlagTable] = {}

    def state(self, index: int, given: Given) -> tuple[Status, str]:
        """Whether a release (by index) knows a flag (and takes its value) or a variable."""
        if not given.is_flag:
            surface = self.catalog.surface(self.releases[index])
            known = given.name in surface.environment() or _renamed(surface, given.name)
            return (Status.OK, "") if known else (Status.BROKEN, "environment")
        table = self.table(index, given.program)
        found = table.find(given.name)
        if found is None:
            return Status.BROKEN, "flag"
        flag, value = found[1], given.value
        if table.refuses(*found):
            return Status.BROKEN, "flag"
        # argparse takes an unambiguous beginning, which another release may find ambiguous
        fine = (Status.OK if given.name in table.flags else Status.UNKNOWN, "")
        if value is not None and (not value or value.startswith(_HOLES)):
            return fine
        wrong = problem(flag, value)
        if wrong:
            return Status.BROKEN, wrong
        choices = table.choices(given.name)
        if value and choices and value not in choices and not flag.nargs:
            return Status.BROKEN, "value"
        return fine

    def states(self, given: Given) -> list[tuple[Status, str]]:
        """The same over all releases."""
        key = (given.program, given.name, given.value)
        held = self._states.get(key)
        if held is None:
            held = self._states[key] = [
                self.state(index, given) for index in range(len(self.releases))
            ]
        return held

    def table(self, index: int, program: str) -> FlagTable:
        """The flags of a program in a release, put together once for all launch words."""
        key = (index, program)
        if key not in self._tables:
            self._tables[key] = FlagTable(self.catalog.surface(self.releases[index]), program)
        return self._tables[key]

    def known(self, given: Given) -> bool:
        """Whether any recorded release has such a flag or variable."""
        return any(status is Status.OK for status, _ in self.states(given.bare))

    def at(self, given: Iterable[Given], index: int, strict: bool = False) -> list[Finding]:
        """Findings in one release (by index).

        Args:
            given: What stands in launch commands.
            index: Of the release.
            strict: Whether what no recorded release knows is a mistake; else it may be the
                plugin's own.
        """
        found = []
        for each in given:
            made = self._one(each, index)
            if made is None and strict:
                made = self._unknown(each, index) or self._device(each, index)
            made = made or self._deprecated(each, index)
            if made is not None:
                found.append(made)
        return found

    def _deprecated(self, given: Given, index: int) -> Finding | None:
        """A note on a flag that the release announces to drop, with what it says comes next."""
        first = index
        says = ""
        while first >= 0 and given.is_flag and not given.keyword:
            flag = self.table(first, given.program).flags.get(given.name)
            if flag is None or not flag[1].deprecated or flag[1].refused:
                break
            says = says or flag[1].deprecated
            first -= 1
        if not says:
            return None
        named = [each for each in _NAMED.findall(says) if each != given.name]
        suggestion = Suggestion(named[0], "upstream-message", says) if named else None
        return Finding(
            SERVER_ARG_DEPRECATED.id,
            SERVER_ARG_DEPRECATED.severity,
            f"flag:{given.name}",
            (given.location,),
            last_ok=self.releases[first] if first >= 0 else None,
            first_broken=self.releases[first + 1],
            suggestion=suggestion,
            role="launch",
            detail="" if named else says,
        )

    def _one(self, given: Given, index: int) -> Finding | None:
        states = self.states(given)
        status, what = states[index]
        if status is not Status.BROKEN or (given.keyword and what in _NO_VALUES):
            return None
        if what == "value":
            # A release that computes its choices takes any value as far as its text tells. Only one
            # that lists the value knows it: a plugin registers backends of its own under new names.
            states = [
                state
                if state[0] is Status.BROKEN or self._lists(at, given)
                else (Status.UNKNOWN, "")
                for at, state in enumerate(states)
            ]
        good = nearest(bytes(state is Status.OK for state, _ in states), index)
        if what not in _NO_VALUES and what != "value":
            return self._wrong(given, index, what, good)
        if good is None:
            return None
        if what == "environment" and good > index:
            return None  # not read yet: setting it does no harm
        first = start(bytes(state is Status.BROKEN for state, _ in states), index)
        last = self.releases[first - 1] if first > 0 else None
        new, old = self.releases[index], self.releases[good]
        if what == "environment":
            symbol, rule, severity = f"env:{given.name}", ENV_REMOVED, Severity.WARNING
            suggestion = self.replacements.of_variable(given.name, old, new)
        elif what == "value":
            symbol = f"flag:{given.name}({given.value})"
            rule, severity = SERVER_ARG_REMOVED, Severity.ERROR
            suggestion = self.replacements.of_value(given.name, given.value or "", old, new)
        else:
            symbol, rule, severity = f"flag:{given.name}", SERVER_ARG_REMOVED, Severity.ERROR
            suggestion = self.replacements.of_flag(given.name, self.releases, index)
        return Finding(
            rule.id,
            severity,
            symbol,
            (given.location,),
            last_ok=last,
            first_broken=self.releases[first],
            suggestion=suggestion,
            role="launch",
        )

    def _wrong(self, given: Given, index: int, says: str, good: int | None) -> Finding | None:
        """A value that the flag does not take; without one that does it is only told if certain."""
        if good is None and says in (TAKES_ONE, TAKES_NONE):
            return None
        last = first = None
        if good is not None:
            broken = [state[0] is Status.BROKEN for state in self.states(given)]
            begin = start(bytes(broken), index)
            first = self.releases[begin]
            last = self.releases[begin - 1] if begin > 0 else None
        return self._value(given, says, last, first)

    def _value(
        self, given: Given, says: str, last: str | None = None, first: str | None = None
    ) -> Finding:
        value = f"({given.value})" if given.value else ""
        return Finding(
            SERVER_ARG_VALUE.id,
            SERVER_ARG_VALUE.severity,
            f"flag:{given.name}{value}",
            (given.location,),
            last_ok=last,
            first_broken=first,
            role="launch",
            detail=says,
        )

    def _unknown(self, given: Given, index: int) -> Finding | None:
        """A flag, value or variable that no recorded release knows: a slip of the pen, mostly."""
        states = self.states(given)
        status, what = states[index]
        if status is not Status.BROKEN:
            return None
        if what in (TAKES_ONE, TAKES_NONE):
            return self._value(given, what)
        if what == "value":
            listed = any(self._lists(at, given) for at in range(len(self.releases)))
        else:
            listed = any(each is Status.OK for each, _ in states)
        if listed:
            return None
        table = self.table(index, given.program)
        symbol, severity, detail = f"flag:{given.name}", Severity.ERROR, ""
        if what == "environment":
            near = alike(given.name, table.surface.environment(), 1)
            if not near or not given.name.startswith(("SGLANG_", "SGL_")):
                return None  # whose it is cannot be told
            symbol, severity = f"env:{given.name}", Severity.WARNING
        elif what == "value":
            symbol = f"flag:{given.name}({given.value})"
            choices = table.choices(given.name) or ()
            near = alike(given.value or "", choices, 3)
            detail = "" if near else TAKES.format(choices=", ".join(choices[:12]))
            if not table.flags[given.name][1].choices.startswith(("[", "(")) and not near:
                return self._of_a_plugin(given)
        else:
            full = [each for each in table.flags if each.startswith(given.name)]
            near = full[:3] or _like(given.name, table.flags)
        return Finding(
            ENV_REMOVED.id if what == "environment" else SERVER_ARG_REMOVED.id,
            severity,
            symbol,
            (given.location,),
            suggestion=Suggestion(near[0], "similar-name", OR.join(near[1:])) if near else None,
            role="launch",
            detail=detail,
        )

    def _device(self, given: Given, index: int) -> Finding | None:
        """A device that torch knows no such of: how a plugin's is chosen instead."""
        device = (given.value or "").partition(":")[0]
        if given.name != "--device" or not device or device in DEVICES:
            return None
        if device.startswith(_HOLES):
            return None
        platforms = self.catalog.surface(self.releases[index]).has_module(PLATFORMS)
        return self._value(given, BY_PLATFORM.format(name=device) if platforms else NO_PLATFORM)

    def _of_a_plugin(self, given: Given) -> Finding:
        """A value of a list that plugins add to, and that no release has in it."""
        found = self._value(given, ONLY_WITH_A_PLUGIN)
        return msgspec.structs.replace(found, severity=Severity.WARNING)

    def _lists(self, index: int, given: Given) -> bool:
        """Whether a release (by index) lists a value among a flag's choices."""
        choices = self.table(index, given.program).choices(given.name)
        return choices is not None and given.value in choices


def _renamed(surface: Surface, name: str) -> bool:
    """Whether a release rewrites a variable of the old prefix to one that it reads."""
    if not name.startswith("SGL_"):
        return False
    module = surface.module("sglang.srt.environ")
    shims = module is not None and not _PREFIX_SHIMS.isdisjoint(module.functions)
    return shims and f"SGLANG_{name[4:]}" in surface.environment()


def _like(name: str, flags: Iterable[str]) -> list[str]:
    """Flags spelled alike; the dashes, which all of them begin with, make none alike."""
    bare = name.lstrip("-")
    return [f"--{each}" for each in alike(bare, (flag.lstrip("-") for flag in flags), 3)]


CAUSE = Cause(
    detects={},  # launch commands are looked at by themselves
    failures=(),
    rules=(SERVER_ARG_REMOVED, ENV_REMOVED),
)
