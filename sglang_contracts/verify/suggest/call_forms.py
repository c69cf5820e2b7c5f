"""What a call, a flag or a variable has to be instead."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sglang_contracts.surface.catalog import Catalog
from sglang_contracts.surface.model import Function, Parameter, Role
from sglang_contracts.surface.surface import Surface
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.findings.finding import Suggestion
from sglang_contracts.verify.suggest.likeness import closest, likeness, neighbours
from sglang_contracts.verify.values.signature_fit import text as signature_text

if TYPE_CHECKING:
    from sglang_contracts.contract import Clause, Contract

_CALLED = re.compile(r"((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)\(")

_FLAG = re.compile(r"--[a-z][\w-]+")

Contracted = Callable[[str, str], "Suggestion | None"]
"""(symbol, release) → what a contract says replaces it."""


def said_by(contracts: Sequence[Contract]) -> Contracted:
    """Look-up of what contracts say replaces a symbol in a release."""
    table: dict[str, list[Clause]] = {}
    for contract in contracts:
        for clause in contract.clauses:
            if clause.replaced_by:
                for symbol in clause.symbols:
                    table.setdefault(symbol, []).append(clause)

    def look(symbol: str, release: str) -> Suggestion | None:
        for clause in table.get(symbol, ()):
            said = clause.replacement(release)
            if said is not None:
                return Suggestion(said.use, "contract", note=said.note)
        return None

    return look


class Forms:
    """Suggestions on signatures, results, flags and variables."""

    def __init__(self, catalog: Catalog, contracted: Contracted | None = None) -> None:
        self.catalog = catalog
        self.contracted = contracted

    def contract(self, symbol: str, release: str) -> Suggestion | None:
        """What a contract says replaces a symbol in a release."""
        return self.contracted(symbol, release) if self.contracted is not None else None

    def of_call(
        self, symbol: Symbol, parameter: str, new: str, surface: Surface
    ) -> Suggestion | None:
        """For a call or an override that does not fit: the form that does."""
        said = self.contract(symbol.name, new)
        parameters = self.parameters(symbol, surface)
        short = symbol.qual.removesuffix(".__init__").rsplit(".", 1)[-1]
        if parameters is None:
            return said
        full = signature_text(short, parameters)
        names = [each.name for each in parameters]
        if parameter in names:
            return Suggestion(f"{short}({parameter})", "signature", note=full)
        return said or Suggestion(short, "signature", note=full)

    @staticmethod
    def parameters(symbol: Symbol, surface: Surface) -> Sequence[Parameter] | None:
        """The signature of a function or class of a release."""
        if symbol.kind == "class":
            constructor = surface.constructor(symbol)
            return constructor.parameters[1:] if constructor is not None else None
        if isinstance(symbol.node, Function):
            skip = symbol.owner is not None and not symbol.node.role & Role.STATIC
            return symbol.node.parameters[1:] if skip else symbol.node.parameters
        return None

    def of_keyword(
        self, symbol: Symbol, keyword: str, old: Symbol | None, before: Surface, after: Surface
    ) -> Suggestion | None:
        """For a keyword that is no longer taken: the parameter that took its place."""
        owner = symbol.name.removesuffix(".__init__")
        for name in (f"{owner}.{keyword}", f"{symbol.name}({keyword})"):
            said = self.contract(name, after.release)
            if said is not None:
                return said
        now = self.parameters(symbol, after) or ()
        was = (self.parameters(old, before) if old is not None else None) or ()
        had = [each.name for each in was]
        has = [each.name for each in now]
        added = [each for each in now if each.name not in had and each.name != "self"]
        gone = [each.name for each in was if each.name not in has]
        best: tuple[float, str] | None = None
        lost = next((each for each in was if each.name == keyword), None)
        for each in added:
            score = likeness(keyword, each.name)
            if lost is not None and lost.annotation and lost.annotation == each.annotation:
                score += 0.2
            if (keyword in had and each.name in has) and (neighbours(had, keyword, has, each.name)):
                score += 0.35 if len(gone) <= 3 else 0.15
            if score >= 0.5 and (best is None or score > best[0]):
                best = (score, each.name)
        if best is not None:
            short = symbol.qual.removesuffix(".__init__").rsplit(".", 1)[-1]
            if symbol.kind == "class":
                return Suggestion(f"{short}.{best[1]}", "same-position", note=f"{owner}.{best[1]}")
            return Suggestion(f"{short}({best[1]})", "same-position")
        return None

    def of_message(self, symbol: Symbol, new: str, surface: Surface) -> Suggestion | None:
        """For a retired function: what its own message says to use."""
        said = self.contract(symbol.name, new)
        node = symbol.node
        message = node.message if isinstance(node, Function) else ""
        for match in _CALLED.finditer(message):
            name = match.group(1)
            if name.rsplit(".", 1)[-1] == symbol.qual.rsplit(".", 1)[-1]:
                continue
            return Suggestion(name, "upstream-message", note=_short(message))
        for match in re.finditer(r"(?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*", message):
            return Suggestion(match.group(0), "upstream-message", note=_short(message))
        return said

    def of_return(self, symbol: Symbol, position: int, surface: Surface) -> Suggestion | None:
        """For a result of another shape: what it holds now."""
        node = symbol.node
        if not isinstance(node, Function):
            return None
        short = symbol.qual.rsplit(".", 1)[-1]
        for each in surface.annotation_type(symbol.module, node.returns) if node.returns else ():
            members = list(surface.fields(each))
            if members:
                chosen = members[min(position, len(members) - 1)]
                name = each.qual.rsplit(".", 1)[-1]
                return Suggestion(
                    f"{name}.{chosen}", "same-position", note=f"{short}() returns {each.name}"
                )
            return Suggestion(each.name, "signature", note=f"{short}() returns it")
        if node.result and "," in node.result:
            return Suggestion(
                node.result.strip("()"), "upstream-body", note=f"{short}() returns these"
            )
        if node.returns:
            return Suggestion(short, "signature", note=f"returns {node.returns}")
        return None

    def of_flag(self, flag: str, releases: Sequence[str], at: int) -> Suggestion | None:
        """For a flag: what its own help said while it was deprecated, else a new one like it."""
        new = releases[at]
        said = self.contract(f"flag:{flag}", new)
        if said is not None:
            return said
        after = self.catalog.surface(new).flags()
        for index in range(at - 1, -1, -1):
            before = self.catalog.surface(releases[index]).flags()
            old = before.get(flag)
            if old is None:
                continue
            for match in _FLAG.finditer(old.deprecated):
                if match.group(0) != flag and match.group(0) in after:
                    return Suggestion(
                        match.group(0), "upstream-message", note=_short(old.deprecated)
                    )
            if old.dest:
                for name, each in after.items():
                    if each.dest == old.dest and name != flag:
                        return Suggestion(each.names[0], "alias")
            best = closest(flag, [name for name in after if name not in before], 0.62)
            if best is None:
                best = closest(flag, list(after), 0.8)
            return Suggestion(best, "similar-name") if best else None
        return None

    def of_value(self, flag: str, value: str, old: str, new: str) -> Suggestion | None:
        """For a value that a flag accepts no more."""
        said = self.contract(f"flag:{flag}({value})", new)
        if said is not None:
            return said
        had = self.catalog.surface(old).flag_choices(flag) or ()
        has = self.catalog.surface(new).flag_choices(flag) or ()
        added = [each for each in has if each not in had]
        gone = [each for each in had if each not in has]
        best = closest(value, added, 0.3)
        if best is None and added and value in gone:
            # choices keep their order: counted from the end, what is new stands for what is gone
            from_end = len(gone) - gone.index(value)
            best = added[max(len(added) - from_end, 0)]
        if best is not None:
            return Suggestion(best, "same-position", note=f"{flag} {best}")
        alike = closest(value, list(has), 0.75)  # stood beside it before: no successor by its place
        return Suggestion(alike, "similar-name", note=f"{flag} {alike}") if alike else None

    def of_variable(self, name: str, old: str, new: str) -> Suggestion | None:
        """For an environment variable."""
        said = self.contract(f"env:{name}", new)
        if said is not None:
            return said
        before = self.catalog.surface(old).environment()
        after = self.catalog.surface(new).environment()
        if before.get(name):
            return Suggestion(before[name], "upstream-message")
        best = closest(name, [each for each in after if each not in before], 0.75)
        return Suggestion(best, "similar-name") if best else None


def _short(message: str) -> str:
    return textwrap.shorten(message, 160, placeholder=" ...")
