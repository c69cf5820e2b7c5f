"""Switches whose default a release turned round, where a plugin reads them unset.

SGLang names its environment variables in ``sglang.srt.environ:Envs`` with their defaults. A plugin
that reads one with a default of its own, or through ``envs``, does something else from the release
on that turned it round; nothing fails. One that only asks whether ``envs`` has it on has a way for
either answer, and goes the way that SGLang goes: of that nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sglang_contracts.plugin.ir.nodes import (
    Attr,
    Call,
    Foreign,
    Import,
    Literal,
    Node,
    Number,
    Text,
    Truth,
)
from sglang_contracts.plugin.ir.records import File, Form, Use, UseKind
from sglang_contracts.surface.catalog import Catalog
from sglang_contracts.verify.answers.spans import last_before
from sglang_contracts.verify.findings.finding import Finding, Location, Severity, Silenced
from sglang_contracts.verify.rules.cause import Cause
from sglang_contracts.verify.rules.contract_clause import BEHAVIOUR_CHANGED
from sglang_contracts.verify.silences import reasons

UNSET_ON, UNSET_OFF = "unset, it is on", "unset, it is off"


_MODULE, _TABLE, _OBJECT = "sglang.srt.environ", "Envs", "envs"
_SWITCH = re.compile(r"EnvBool\w*\((True|False)\b")
_NAME = re.compile(r"(?:SGLANG|SGL)_[A-Z][A-Z0-9_]*\Z")
_GETTERS = frozenset({"get", "getenv"})
_SETTERS = frozenset({"set", "override"})
_ON, _OFF = frozenset({"1", "true", "yes", "on"}), frozenset({"", "0", "false", "no", "off"})


class Reading(NamedTuple):
    """A place that reads a switch."""

    name: str
    own: bool | None
    """The plugin's own default; None: it takes SGLang's."""
    location: Location


class Defaults:
    """Findings on switches, release by release.

    Args:
        catalog: The recorded releases.
        files: The plugin.
    """

    def __init__(self, catalog: Catalog, files: Sequence[File]) -> None:
        self.releases = catalog.releases
        self.catalog = catalog
        found = [each for file in files for each in _readings(file)]
        places = {(each.name, each.location.file, each.location.line) for each in found}
        elsewhere = {
            use.name
            for file in files
            for use in file.uses
            if use.kind is UseKind.ENVIRONMENT and (use.name, file.path, use.line) not in places
        }
        elsewhere.update(each for file in files for each in _set_by(file))
        self.readings: list[Reading] = []
        self.of_set: list[Reading] = []
        """Of what the plugin sets somewhere: that is not left to any default."""
        for each in found:
            is_set = reasons.SET_BY_PLUGIN.holds(each.name in elsewhere)
            (self.of_set if is_set else self.readings).append(each)
        self._states: dict[str, list[bool | None]] = {}

    def at(self, index: int) -> list[Finding]:
        """Findings in one release (by index)."""
        made = (self._one(each, index) for each in self.readings)
        return [each for each in made if each is not None]

    def silenced_at(self, index: int) -> list[Silenced]:
        """What is not said in one release (by index), as the plugin sets the switch itself."""
        made = (self._one(each, index) for each in self.of_set)
        return [
            Silenced(reasons.SET_BY_PLUGIN.id, each.symbol, place)
            for each in made
            if each is not None
            for place in each.locations
        ]

    def states(self, name: str) -> list[bool | None]:
        """A switch's default in each release; None where it is none, or not known."""
        if name not in self._states:
            self._states[name] = [self._state(each, name) for each in self.releases]
        return self._states[name]

    def _state(self, release: str, name: str) -> bool | None:
        module = self.catalog.surface(release).module(_MODULE)
        table = module.classes.get(_TABLE) if module is not None else None
        held = table.attributes.get(name) if table is not None else None
        match = _SWITCH.match(held.value) if held is not None else None
        return match.group(1) == "True" if match else None

    def _one(self, reading: Reading, index: int) -> Finding | None:
        states = self.states(reading.name)
        now = states[index]
        was = (not now) if reading.own is None else reading.own
        last = last_before(bytes(state is was for state in states), index)
        if now is None or now == was or last is None:
            return None
        return Finding(
            BEHAVIOUR_CHANGED.id,
            Severity.WARNING,
            f"env:{reading.name}",
            (reading.location,),
            last_ok=self.releases[last],
            first_broken=self.releases[last + 1],
            old=UNSET_ON if was else UNSET_OFF,
            new=UNSET_ON if now else UNSET_OFF,
        )


def _readings(file: File) -> Iterator[Reading]:
    """Where a file reads switches, whichever release it is."""
    asked = {*file.tested, *(node.value for node in file.nodes if type(node) is Truth)}
    for use, callee, form in _calls(file):
        if use.guard:
            continue
        place = Location(file.path, use.line, use.column)
        name = _of_envs(file, callee)
        if name and type(callee) is Attr and callee.name == "get" and use.node not in asked:
            yield Reading(name, None, place)
        elif type(callee) is Foreign and callee.module == "os" and callee.name in _GETTERS:
            given = [file.nodes[each] for each in form.positional]
            first = given[0] if len(given) == 2 else None
            if type(first) is Text and _NAME.match(first.text):
                own = _switch(given[1])
                if own is not None:
                    yield Reading(first.text, own, place)


def _set_by(file: File) -> Iterator[str]:
    """Switches that a file sets through ``envs``."""
    for _, callee, _ in _calls(file):
        name = _of_envs(file, callee)
        if name and type(callee) is Attr and callee.name in _SETTERS:
            yield name


def _calls(file: File) -> Iterator[tuple[Use, Node, Form]]:
    """Calls whichever release it is, with what is called, and their form."""
    for use in file.uses:
        node = file.nodes[use.node]
        if use.kind is UseKind.CALL and type(node) is Call:
            yield use, file.nodes[node.callee], file.forms[node.form]


def _of_envs(file: File, callee: Node) -> str:
    """The switch of which a method of ``envs.NAME`` is called; empty for any other."""
    holder = file.nodes[callee.base] if type(callee) is Attr else None
    if type(holder) is not Attr or not _NAME.match(holder.name):
        return ""
    return holder.name if file.nodes[holder.base] == Import(_MODULE, _OBJECT) else ""


def _switch(node: Node) -> bool | None:
    """What a constant default comes to, read as a switch; None where it is none."""
    if type(node) is Literal and node.kind in ("true", "false"):
        return node.kind == "true"
    if type(node) is Text:
        bare = node.text.strip().lower()
        return True if bare in _ON else False if bare in _OFF else None
    if type(node) is Number and node.number in (0, 1):
        return bool(node.number)
    return None


CAUSE = Cause(
    detects={},  # switches are looked at over all releases at once
    failures=(),
    rules=(),  # a change of behaviour
)
