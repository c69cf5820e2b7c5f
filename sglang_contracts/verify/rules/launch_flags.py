"""Flags of launch commands as a plugin gives them, and as a release's programs take them."""

from __future__ import annotations

import bisect
from typing import NamedTuple

from sglang_contracts.plugin.ir.nodes import Attr, Call, Import, Text
from sglang_contracts.plugin.ir.records import File, UseKind
from sglang_contracts.surface.model import Flag, Role
from sglang_contracts.surface.parsers import OF_SERVER
from sglang_contracts.surface.surface import Surface
from sglang_contracts.verify.findings.finding import Location


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
        """The same with a value that cannot be told."""
        return self._replace(value="")

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


_PARSER, _FUNCTIONS = "sglang.srt.parser", "sglang.srt.function_call.function_call_parser"
_REASONING = "list(ReasoningParser.DetectorMap.keys())"
_TOOLS = "list(FunctionCallParser.ToolCallParserEnum.keys())"
_LOCAL = {
    "reasoning_parser_choices": (
        (f"{_PARSER}.reasoning_parser", _REASONING),
        ("sglang.srt.reasoning_parser", _REASONING),
    ),
    "tool_call_parser_choices": ((_FUNCTIONS, _TOOLS),),
    "sampling_backend_choices": (("sglang.srt.arg_groups.choices", "SAMPLING_BACKEND_CHOICES"),),
}
"""Choices that the release puts in a local variable → where they come from, and as what."""


class FlagTable:
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

    def refuses(self, module: str, flag: Flag) -> bool:
        """Whether a flag is registered only to stop the launch with a message."""
        if flag.refused:
            return True
        record = self.surface.module(module) if flag.action else None
        action = record.classes.get(flag.action) if record is not None else None
        call = action.methods.get("__call__") if action is not None else None
        return call is not None and bool(call.role & Role.RETIRED)

    def choices(self, name: str) -> tuple[str, ...] | None:
        """Values that a flag accepts; None where any is, or the text does not tell."""
        found = self.flags.get(name)
        if found is None or not found[1].choices:
            return None
        written = found[1].choices
        known = self.surface.strings(found[0], written)
        if known is not None:
            return known
        first, plus, rest = written.rpartition(" + ")
        for module, text in _LOCAL.get(rest, ()):
            if self.surface.has_module(module):
                known = self.surface.strings(module, f"{first}{plus}{text}")
                if known is not None:
                    return known
        return None
