"""Places of a plugin that a contract's clause may hit: found once, by names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from sglang_contracts.contract.model import Clause, Contract, Kind, On, Role
from sglang_contracts.plugin.ir.nodes import (
    Attr,
    Call,
    Dotted,
    Import,
    Item,
    LocalClass,
    Partial,
    PluginName,
    Select,
    Self,
    Tried,
)
from sglang_contracts.plugin.ir.records import File, Use, UseKind

if TYPE_CHECKING:
    from sglang_contracts.verify.values.evaluator import Evaluator


class Candidate(NamedTuple):
    """A place of the plugin that a clause may hit."""

    clause: int
    file: int
    kind: str
    """``use``, ``method``, ``class``."""
    number: int
    name: str = ""


def clauses_of(contracts: Sequence[Contract]) -> tuple[Clause, ...]:
    """The clauses that speak of the plugin's side."""
    return tuple(
        clause
        for contract in contracts
        for clause in contract.clauses
        if clause.kind in (Kind.BEHAVIOUR, Kind.OBLIGATION)
    )


def last(symbol: str) -> str:
    """The last name of a spelling: ``key`` of a registry, ``NAME`` of a variable."""
    bare = symbol.removesuffix(".__init__").removesuffix(".__setattr__")
    if bare.startswith(("flag:", "env:")):
        return bare.partition(":")[2]
    bare = bare.partition("[")[0].partition("(")[0]
    return bare.replace(":", ".").rsplit(".", 1)[-1]


def candidates(evaluator: Evaluator, clauses: Sequence[Clause]) -> list[Candidate]:
    """Places of a plugin that clauses may hit, by names alone: no release is looked at."""
    mentions = [set(file.mentions.get(-1, ())) | set(file.strings) for file in evaluator.files]
    dotted = [
        {
            part
            for node in file.nodes
            if type(node) is Dotted
            for part in node.text.replace(":", ".").split(".")
        }
        for file in evaluator.files
    ]
    derived = [
        (index, qual)
        for index, file in enumerate(evaluator.files)
        for qual in file.classes
        if evaluator.index.may_derive(index, qual)
    ]
    launched: dict[str, list[tuple[int, int]]] = {}
    for index, file in enumerate(evaluator.files):
        for at, use in enumerate(file.uses):
            if use.kind in (UseKind.FLAG, UseKind.ENVIRONMENT):
                launched.setdefault(use.name, []).append((index, at))
    found: list[Candidate] = []
    for number, clause in enumerate(clauses):
        on = clause.on
        if clause.kind is Kind.OBLIGATION or (on and on.role is Role.SUBCLASSER):
            found += [Candidate(number, index, "class", 0, qual) for index, qual in derived]
            continue
        if on is None:
            continue
        name = last(on.symbol)
        if on.role is Role.LAUNCHER or on.symbol.startswith("env:"):
            found += [Candidate(number, index, "use", at) for index, at in launched.get(name, ())]
            continue
        for index, file in enumerate(evaluator.files):
            if on.symbol.startswith("flag:"):
                found += _namespace(number, index, file, on)
                continue
            if (name not in mentions[index] and name not in dotted[index]) and (
                not (set(on.reads) | set(on.writes)) & mentions[index]
                and not (on.role is Role.WRITER and "*" in on.writes)
            ):
                continue
            found += _in_file(number, index, file, on, name)
    return found


def _namespace(number: int, index: int, file: File, on: On) -> list[Candidate]:
    """Reads of an old ``dest`` in a file that parses SGLang's own flags."""
    if "add_cli_args" not in file.mentions.get(-1, ()):
        return []
    found = []
    for at, use in enumerate(file.uses):
        node = file.nodes[use.node]
        if use.kind not in (UseKind.READ, UseKind.PROBE) or type(node) is not Attr:
            continue
        if node.name in on.reads:
            found.append(Candidate(number, index, "use", at))
    return found


def _in_file(number: int, index: int, file: File, on: On, name: str) -> list[Candidate]:
    found: list[Candidate] = []
    kinds = {
        Role.CALLER: (UseKind.CALL,),
        Role.READER: (UseKind.READ, UseKind.PROBE),
        Role.WRITER: (UseKind.WRITE,),
        Role.REGISTRAR: (UseKind.REGISTER,),
        Role.INSPECTOR: (UseKind.IMPORT, UseKind.READ),
        Role.IMPORTER: (UseKind.IMPORT, UseKind.DOTTED, UseKind.HOOK),
        Role.OVERRIDER: (UseKind.HOOK, UseKind.WRITE),
    }.get(on.role, ())
    for at, use in enumerate(file.uses):
        if use.kind not in kinds:
            continue
        if _names(file, use, on, name):
            found.append(Candidate(number, index, "use", at))
    if on.role is Role.OVERRIDER:
        for qual, record in file.classes.items():
            if record.bases and (name in record.methods):
                found.append(
                    Candidate(number, index, "method", record.methods[name], f"{qual}.{name}")
                )
    return found


def _names(file: File, use: Use, on: On, name: str) -> bool:
    """Whether a use names what a clause is about."""
    node = file.nodes[use.node]
    if use.kind is UseKind.CALL and isinstance(node, (Call, Partial)):
        node = file.nodes[node.callee]
    if type(node) is Attr:
        if on.role is Role.WRITER:
            if "*" in on.writes:  # what a class writes on itself is no one else's
                return not isinstance(file.nodes[node.base], (Self, LocalClass))
            return node.name in on.writes or (not on.writes and node.name == name)
        if on.role is Role.READER and on.reads:
            return node.name in on.reads
        return node.name == name
    if type(node) is Import:
        return name in (node.name, node.module.rsplit(".", 1)[-1])
    if type(node) is Dotted:
        return last(node.text) == name
    return isinstance(node, (PluginName, Tried, Select, Item))
