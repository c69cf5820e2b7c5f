"""Launch commands against releases: flags, their values, environment variables."""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from typing import NamedTuple

from sglang_contracts.errors import nearest as alike
from sglang_contracts.plugin.ir.nodes import Attr, Call, Import, Text
from sglang_contracts.plugin.ir.records import File, UseKind
from sglang_contracts.surface.catalog import Catalog
from sglang_contracts.surface.model import Flag
from sglang_contracts.surface.parsers import OF_SERVER
from sglang_contracts.surface.surface import Surface
from sglang_contracts.verify.answers.outcome import Status
from sglang_contracts.verify.answers.spans import nearest, start
from sglang_contracts.verify.findings.finding import Finding, Location, Severity, Suggestion
from sglang_contracts.verify.rules.cause import Cause
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

TAKES = "it takes {choices}"
OR = " or "


class Given(NamedTuple):
    """A flag or variable somewhere in a plugin."""

    name: str
    value: str | None
    location: Location
    program: str = OF_SERVER
    """Of a flag: the program it is given to."""
    keyword: bool = False
    """Given to a constructor, where the call itself tells whether there is such a thing."""

    @property
    def bare(self) -> Given:
        """The same without its value."""
        return self._replace(value=None)

    @property
    def is_flag(self) -> bool:
        """Whether it is a flag."""
        return self.name.startswith("--")


_MADE_OF_ARGUMENTS = frozenset({"ServerArgs", "Engine"})
"""What of SGLang's takes server arguments by keyword."""


def by_keyword(file: File) -> list[Given]:
    """Constant server arguments that calls are given whichever release it is."""
    found = []
    for use in file.uses:
        node = file.nodes[use.node]
        if use.kind is not UseKind.CALL or type(node) is not Call or use.guard:
            continue
        callee = file.nodes[node.callee]
        module = file.nodes[callee.base] if type(callee) is Attr else callee
        if not isinstance(callee, (Attr, Import)) or type(module) is not Import:
            continue
        if callee.name not in _MADE_OF_ARGUMENTS:
            continue
        for keyword, value in file.forms[node.form].keywords.items():
            held = file.nodes[value]
            if type(held) is Text:
                flag = "--" + keyword.replace("_", "-")
                place = Location(file.path, use.line, use.column)
                found.append(Given(flag, held.text, place, keyword=True))
    return found


class _FlagTable:
    """The flags of a program in one release, also by how they begin."""

    def __init__(self, surface: Surface, program: str) -> None:
        self.surface = surface
        self.flags = surface.flags_of(program)
        self._names = sorted(self.flags)

    def find(self, name: str) -> tuple[str, Flag] | None:
        """The module and the flag that a spelling means; argparse takes a clear beginning."""
        found = self.flags.get(name)
        if found is not None:
            return found
        longer: dict[str, tuple[str, Flag]] = {}
        for index in range(bisect.bisect_left(self._names, name), len(self._names)):
            full = self._names[index]
            if not full.startswith(name) or len(longer) > 1:
                break
            module, flag = self.flags[full]
            longer[flag.dest or flag.names[0]] = (module, flag)
        return next(iter(longer.values())) if len(longer) == 1 else None

    def choices(self, name: str) -> tuple[str, ...] | None:
        """Values that a flag accepts; None where any is, or the text does not tell."""
        found = self.flags.get(name)
        if found is None or not found[1].choices:
            return None
        return self.surface.strings(found[0], found[1].choices)


class Launches:
    """Findings on launch commands, release by release."""

    def __init__(self, catalog: Catalog, replacements: Replacements) -> None:
        self.catalog = catalog
        self.replacements = replacements
        self.releases = catalog.releases
        self._states: dict[tuple[str, str, str | None], list[tuple[Status, str]]] = {}
        self._tables: dict[tuple[int, str], _FlagTable] = {}

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
        if given.name not in table.flags:
            return Status.UNKNOWN, ""  # argparse takes an unambiguous beginning
        value = given.value
        if value is not None and value and not value.startswith(("$", "{", "<")):
            choices = table.choices(given.name)
            if choices and value not in choices and not found[1].nargs:
                return Status.BROKEN, "value"
        return Status.OK, ""

    def states(self, given: Given) -> list[tuple[Status, str]]:
        """The same over all releases."""
        key = (given.program, given.name, given.value)
        held = self._states.get(key)
        if held is None:
            held = self._states[key] = [
                self.state(index, given) for index in range(len(self.releases))
            ]
        return held

    def table(self, index: int, program: str) -> _FlagTable:
        """The flags of a program in a release, put together once for all launch words."""
        key = (index, program)
        if key not in self._tables:
            self._tables[key] = _FlagTable(self.catalog.surface(self.releases[index]), program)
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
                made = self._unknown(each, index)
            if made is not None:
                found.append(made)
        return found

    def _one(self, given: Given, index: int) -> Finding | None:
        states = self.states(given)
        status, what = states[index]
        if status is not Status.BROKEN or (given.keyword and what != "value"):
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

    def _unknown(self, given: Given, index: int) -> Finding | None:
        """A flag, value or variable that no recorded release knows: a slip of the pen, mostly."""
        states = self.states(given)
        status, what = states[index]
        if status is not Status.BROKEN:
            return None
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
                return None  # a list that plugins add to
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
