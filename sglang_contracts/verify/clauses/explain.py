"""What ``explain`` tells: the life of a symbol, what a clause says, what a contract is about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sglang_contracts.contract import Clause, Contract, Kind, Range
from sglang_contracts.errors import ContractsError, nearest
from sglang_contracts.surface.history import Life, life, near_misses
from sglang_contracts.verify.findings.finding import Report

if TYPE_CHECKING:
    from sglang_contracts.surface import Catalog


def explain(
    what: str, catalog: Catalog, contracts: Sequence[Contract], rules: Iterable[str] = ()
) -> Report:
    """Explain a symbol, a clause or a contract.

    Args:
        what: ``module:Qual.name`` or the same with dots only, ``flag:--x`` (or ``--x``),
            ``env:NAME``, ``contract/clause``, or a contract's id.
        catalog: All recorded releases.
        contracts: All contracts.
        rules: Names of rules, to suggest one for a misspelt word.

    Returns:
        A report whose ``facts["kind"]`` is ``symbol``, ``clause`` or ``contract``.

    Raises:
        ContractsError: There is nothing of that name; near misses are named.
    """
    by_id = {contract.id: contract for contract in contracts}
    if what in by_id:
        return Report("explain", facts=_contract_facts(by_id[what]))
    head, slash, tail = what.partition("/")
    if slash:
        return Report("explain", facts=_clause_facts(by_id, head, tail))
    name = _spelling(what, catalog)
    if name == what and ":" not in what and what.replace("-", "_").isidentifier():
        raise ContractsError(
            f"'{what}' is neither a rule, a contract nor a symbol of a recorded release",
            _did_you_mean([*nearest(what, [*by_id, *rules], 2), *_near_names(what, catalog)])
            or "sglang-contracts explain --list lists rules and contracts",
        )
    lived = life(catalog, name)
    if not lived.intervals:
        expected = _expected(what, contracts)
        if len(expected) == 1:
            return Report("explain", facts=_clause_facts(by_id, *expected[0]))
        close = ["/".join(each) for each in expected] or near_misses(catalog, name)
        raise ContractsError(
            f"no recorded release has {name}",
            _did_you_mean(close) or "a symbol is written module:Class.member",
        )
    return Report("explain", facts=_symbol_facts(lived, name, catalog, contracts))


def _expected(what: str, contracts: Sequence[Contract]) -> list[tuple[str, str]]:
    """Contract and clause that speak of something SGLang expects, and has not itself."""
    return [
        (contract.id, clause.id.partition("/")[2])
        for contract in contracts
        for clause in contract.clauses
        if any(each.endswith((f":{what}", f".{what}")) or each == what for each in clause.symbols)
    ]


def _did_you_mean(names: Sequence[str]) -> str:
    return f"did you mean {' or '.join(names[:4])}?" if names else ""


def _near_names(what: str, catalog: Catalog) -> list[str]:
    """Symbols of the newest release whose name is close to a bare word."""
    surface = catalog.surface(catalog.releases[-1])
    close = nearest(what, surface.names(), 2)
    return [
        f"{p}.{name}" if ":" in p else f"{p}:{name}" for name in close for p in surface.places(name)
    ]


def _spelling(what: str, catalog: Catalog) -> str:
    """The canonical spelling of a symbol.

    A dotted path is cut behind its longest module; ``Class.member`` alone is looked up by where
    ``Class`` is defined, in the newest release that has it.

    Raises:
        ContractsError: ``Class.member`` stands in several modules.
    """
    if what.startswith("--"):
        return f"flag:{what}"
    if ":" in what:
        return what
    if not what.startswith("sglang."):
        return _qualified(what, catalog) or what
    parts = what.split(".")
    modules = {
        ".".join(name.split(".")[:end])  # a folder without __init__.py is a module, too
        for release in catalog.releases[::-4]
        for name in catalog.surface(release).module_names()
        for end in range(1, min(name.count(".") + 2, len(parts) + 1))
    }
    for end in range(len(parts), 0, -1):
        module = ".".join(parts[:end])
        if module in modules:
            return module + (":" + ".".join(parts[end:]) if end < len(parts) else "")
    return what


def _qualified(what: str, catalog: Catalog) -> str | None:
    """``module:Class.member`` for ``Class.member``; None where no release has it."""
    first = what.partition(".")[0]
    for release in reversed(catalog.releases):
        surface = catalog.surface(release)
        found = [
            f"{place}:{what}"
            for place in surface.places(first)
            if ":" not in place and surface.find(place, what) is not None
        ]
        if len(found) > 1:
            raise ContractsError(f"'{what}' is defined in several modules", _did_you_mean(found))
        if found:
            return found[0]
    return None


def _symbol_facts(
    lived: Life, name: str, catalog: Catalog, contracts: Sequence[Contract]
) -> dict[str, object]:
    about = [
        (contract, clause)
        for contract in contracts
        for clause in contract.clauses
        if _speaks_of(clause, name, lived.forms[-1].defined)
    ]
    return {
        "kind": "symbol",
        "name": name,
        "alive": lived.alive,
        "gone_since": _gone_since(lived, catalog.releases),
        "intervals": [{"first": each.first, "last": each.last} for each in lived.intervals],
        "forms": [
            {"since": each.since, "text": each.text, "defined": each.defined}
            for each in lived.forms
        ],
        "replaced_by": [
            {
                "use": each.use,
                "sglang": list(each.sglang),
                "note": each.note,
                "evidence": "contract",
            }
            for _, clause in about
            for each in clause.replaced_by
        ],
        "clauses": [_clause(contract, clause) for contract, clause in about],
    }


def _gone_since(lived: Life, releases: Sequence[str]) -> str | None:
    """The release after the last that has it; None where the newest has it."""
    if lived.alive:
        return None
    return releases[releases.index(lived.intervals[-1].last) + 1]


def _speaks_of(clause: Clause, name: str, defined: str) -> bool:
    spellings = {name, defined} - {""}
    if spellings & set(clause.symbols):
        return True
    return clause.on is not None and clause.on.symbol in spellings


def _clause_facts(
    by_id: dict[str, Contract], contract_id: str, clause_id: str
) -> dict[str, object]:
    contract = by_id.get(contract_id)
    if contract is None:
        close = nearest(contract_id, by_id)
        raise ContractsError(
            f"there is no contract '{contract_id}'",
            _did_you_mean(close) or f"known: {', '.join(sorted(by_id))}",
        )
    clause = contract.clause(clause_id)
    if clause is None:
        names = [each.id.partition("/")[2] for each in contract.clauses]
        close = [f"{contract_id}/{name}" for name in nearest(clause_id, names)]
        raise ContractsError(
            f"contract '{contract_id}' has no clause '{clause_id}'",
            _did_you_mean(close) or f"sglang-contracts explain {contract_id} lists them",
        )
    return {"kind": "clause", **_clause(contract, clause)}


def _contract_facts(contract: Contract) -> dict[str, object]:
    return {
        "kind": "contract",
        "id": contract.id,
        "title": contract.title,
        "provider": contract.provider,
        "consumer": contract.consumer,
        "targets": list(contract.targets),
        "known_as": list(contract.known_as),
        "purpose": " ".join(contract.purpose.split()),
        "last_change": " ".join(contract.last_change.split()),
        "note": contract.note,
        "clauses": [_clause(contract, clause) for clause in contract.clauses],
    }


def _clause(contract: Contract, clause: Clause) -> dict[str, Any]:
    """A clause as plain values: what it says, for which releases, on what ground."""
    return {
        "id": clause.id,
        "clause_kind": clause.kind.value,
        "provider": contract.provider,
        "consumer": contract.consumer,
        "range": str(Range.of(clause.sglang)),
        "says": _says(clause),
        "symbols": list(clause.symbols),
        "replaced_by": [
            {"use": each.use, "sglang": list(each.sglang), "note": each.note}
            for each in clause.replaced_by
        ],
        "note": clause.note,
        "source": clause.source,
        "file": f"contracts/{contract.file_of(clause)}",
        "line": clause.line,
    }


_LISTS = frozenset({"shape", "parameters"})


def _says(clause: Clause) -> list[str]:
    """The content of a clause, one fact an item."""
    if clause.kind is Kind.INVARIANT:
        return [f"holds: {clause.holds}"]
    if clause.kind is Kind.BEHAVIOUR:
        facts = [f"was: {clause.was}", f"is: {clause.now}", f"use: {clause.use}"]
        return [fact for fact in facts if not fact.endswith(": ")]
    facts = []
    for label, variants in (
        ("dtype", clause.dtype),
        ("shape", clause.shape),
        ("type", clause.type),
        ("parameters", clause.parameters),
    ):
        for each in variants:
            value = each.value if isinstance(each.value, str) else ", ".join(each.value)
            when = f" ({Range.of(each.sglang)})" if each.sglang else ""
            facts.append(f"{label}: {f'({value})' if label in _LISTS else value}{when}")
    if clause.device:
        facts.append(f"device: {clause.device}")
    if clause.modes:
        facts.append(f"modes: {', '.join(clause.modes)}")
    if clause.optional:
        facts.append("optional")
    if clause.receivers:
        verb = "called" if clause.called else "read"
        facts.append(f"{verb} off {', '.join(clause.receivers)}")
    if clause.host_transfers is not None:
        facts.append(f"host transfers: {clause.host_transfers}")
    return facts
