"""Places of a plugin that a contract's clause may hit: found once, by names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from sglang_contracts.contract.model import Clause, Contract, Kind, On, Role
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
            if node[0] == "dotted"
            for part in node[1].replace(":", ".").split(".")
        }
        for file in evaluator.files
    ]
    derived = [
        (index, qual)
        for index, file in enumerate(evaluator.files)
        for qual in file.classes
        if evaluator.may_derive(index, qual)
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
        if use.kind in (UseKind.READ, UseKind.PROBE) and file.nodes[use.node][2] in on.reads:
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
    if use.kind is UseKind.CALL:
        node = file.nodes[node[1]] if node[0] in ("call", "partial") else node
    if on.role is Role.WRITER and node[0] == "attr":
        if "*" in on.writes:  # what a class writes on itself is no one else's
            return file.nodes[node[1]][0] not in ("self", "ownclass")
        return node[2] in on.writes or (not on.writes and node[2] == name)
    if on.role is Role.READER and on.reads and node[0] == "attr":
        return node[2] in on.reads
    match node[0]:
        case "attr":
            return bool(node[2] == name)
        case "import":
            return bool(node[2] == name or node[1].rsplit(".", 1)[-1] == name)
        case "dotted":
            return bool(last(node[1]) == name)
        case "own" | "tried" | "select" | "item":
            return True
    return False
