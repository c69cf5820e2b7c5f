"""Launch commands against releases: flags, their values, environment variables."""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from typing import NamedTuple

from sglang_contracts.errors import nearest as alike
from sglang_contracts.plugin.ir.nodes import Attr, Call, Import, Text
from sglang_contracts.plugin.ir.records import File, UseKind
from sglang_contracts.surface.catalog import Catalog
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
    keyword: bool = False
    """Given to a constructor, where the call itself tells whether there is such a thing."""


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
    """The flags of one release, and those of the server by how they begin."""

    def __init__(self, surface: Surface) -> None:
        self.flags = surface.flags()
        self._server = {
            name: flag.dest or flag.names[0] for name, flag in surface.server_flags().items()
        }
        self._names = sorted(self._server)

    def longer(self, beginning: str) -> set[str]:
        """What the server's flags that begin so set; two at most, which is ambiguous already."""
        found: set[str] = set()
        for index in range(bisect.bisect_left(self._names, beginning), len(self._names)):
            if not self._names[index].startswith(beginning) or len(found) > 1:
                break
            found.add(self._server[self._names[index]])
        return found


class Launches:
    """Findings on launch commands, release by release."""

    def __init__(self, catalog: Catalog, replacements: Replacements) -> None:
        self.catalog = catalog
        self.replacements = replacements
        self.releases = catalog.releases
        self._states: dict[tuple[str, str, str | None], list[tuple[Status, str]]] = {}
        self._tables: list[_FlagTable] = []

    def state(self, index: int, name: str, value: str | None) -> tuple[Status, str]:
        """Whether a release (by index) knows a flag (and takes its value) or a variable."""
        if not name.startswith("--"):
            surface = self.catalog.surface(self.releases[index])
            known = name in surface.environment() or _renamed(surface, name)
            return (Status.OK, "") if known else (Status.BROKEN, "environment")
        table = self._table(index)
        flag = table.flags.get(name)
        if flag is None:
            if len(table.longer(name)) == 1:
                return Status.UNKNOWN, ""  # argparse takes an unambiguous beginning
            return Status.BROKEN, "flag"
        if value is not None and value and not value.startswith(("$", "{", "<")):
            choices = self.catalog.surface(self.releases[index]).flag_choices(name)
            if choices and value not in choices and not flag.nargs:
                return Status.BROKEN, "value"
        return Status.OK, ""

    def states(self, name: str, value: str | None) -> list[tuple[Status, str]]:
        """The same over all releases."""
        key = ("flag", name, value)
        held = self._states.get(key)
        if held is None:
            held = self._states[key] = [
                self.state(index, name, value) for index in range(len(self.releases))
            ]
        return held

    def _table(self, index: int) -> _FlagTable:
        """The flags of a release, put together once for all launch words."""
        if not self._tables:
            self._tables = [_FlagTable(self.catalog.surface(each)) for each in self.releases]
        return self._tables[index]

    def known(self, name: str) -> bool:
        """Whether any recorded release has such a flag or variable."""
        return any(status is Status.OK for status, _ in self.states(name, None))

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
        states = self.states(given.name, given.value)
        status, what = states[index]
        if status is not Status.BROKEN or (given.keyword and what != "value"):
            return None
        if what == "value":
            # A release that computes its choices takes any value as far as its text tells. Only one
            # that lists the value knows it: a plugin registers backends of its own under new names.
            states = [
                state
                if state[0] is Status.BROKEN or self._lists(at, given.name, given.value)
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
        states = self.states(given.name, given.value)
        status, what = states[index]
        if status is not Status.BROKEN:
            return None
        if what == "value":
            listed = any(
                self._lists(at, given.name, given.value) for at in range(len(self.releases))
            )
        else:
            listed = any(each is Status.OK for each, _ in states)
        if listed:
            return None
        surface = self.catalog.surface(self.releases[index])
        symbol, severity, detail = f"flag:{given.name}", Severity.ERROR, ""
        if what == "environment":
            near = alike(given.name, surface.environment(), 1)
            if not near or not given.name.startswith(("SGLANG_", "SGL_")):
                return None  # whose it is cannot be told
            symbol, severity = f"env:{given.name}", Severity.WARNING
        elif what == "value":
            symbol = f"flag:{given.name}({given.value})"
            flag = surface.flags()[given.name]
            choices = surface.flag_choices(given.name) or ()
            near = alike(given.value or "", choices, 3)
            detail = "" if near else TAKES.format(choices=", ".join(choices[:12]))
            if not flag.choices.startswith(("[", "(")) and not near:
                return None  # a list that plugins add to
        else:
            full = [each for each in surface.server_flags() if each.startswith(given.name)]
            near = full[:3] or _like(given.name, surface.server_flags())
        return Finding(
            ENV_REMOVED.id if what == "environment" else SERVER_ARG_REMOVED.id,
            severity,
            symbol,
            (given.location,),
            suggestion=Suggestion(near[0], "similar-name", OR.join(near[1:])) if near else None,
            role="launch",
            detail=detail,
        )

    def _lists(self, index: int, name: str, value: str | None) -> bool:
        """Whether a release (by index) lists a value among a flag's choices."""
        choices = self.catalog.surface(self.releases[index]).flag_choices(name)
        return choices is not None and value in choices


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
