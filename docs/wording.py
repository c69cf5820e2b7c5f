"""The words and tables of the generated pages on contracts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from packaging.version import Version

from sglang_contracts.contract import Clause, Contract, Kind, Replacement, Returns, Variant

T = TypeVar("T")


def cell(text: str) -> str:
    """Text as it may stand in a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, without the columns that are empty throughout."""
    rows = list(rows)
    kept = [at for at in range(len(titles)) if any(row[at] for row in rows)]
    lines = ["| " + " | ".join(titles[at] for at in kept) + " |", "|" + "---|" * len(kept)]
    lines += ["| " + " | ".join(cell(row[at]) for at in kept) + " |" for row in rows]
    return "\n".join(lines)


def lowered(text: str) -> str:
    """A title as it goes on after a colon."""
    second = text[1:2]
    return text if second.isupper() or text.startswith("SGLang") else text[:1].lower() + text[1:]


def span(parts: Sequence[str], contract: Contract | None = None) -> str:
    """A range in words: ``from 0.5.3 to before 0.5.13``; ``all``."""
    if contract is not None and tuple(parts) == contract.sglang:
        return "all"
    found = []
    for part in parts:
        low = high = exact = ""
        for piece in part.split(","):
            each = piece.strip()
            if each.startswith(">="):
                low = each[2:].strip()
            elif each.startswith("<"):
                high = each[1:].strip()
            else:
                exact = each[2:].strip()
        if exact:
            found.append(f"only {exact}")
        elif low and high:
            found.append(f"from {low} to before {high}")
        else:
            found.append(f"from {low}" if low else f"before {high}")
    return "; ".join(found) or "all"


def called(name: str, parameters: Sequence[str]) -> str:
    """A signature as Python writes it, defaults as ``…``."""
    return f"{name}({', '.join(f'{each}…' if each.endswith('=') else each for each in parameters)})"


def signatures(name: str, clause: Clause) -> str:
    """Every signature of a function, the newest first."""
    rows = list(clause.parameters)
    if not rows:
        return f"`{name}`"
    if len(rows) == 1:
        return f"`{called(name, rows[0].value)}`"
    ordered = sorted(rows, key=lambda each: Version(newest(each.sglang)), reverse=True)
    return "<br>".join(f"`{called(name, each.value)}` {span(each.sglang)}" for each in ordered)


def newest(parts: Sequence[str]) -> str:
    """The highest bound of a range; open ends lie above all."""
    ends = []
    for part in parts:
        pieces = [each.strip() for each in part.split(",")]
        high = [each[1:] for each in pieces if each.startswith("<")]
        ends.append(high[0] if high else "99999")
    return max(ends, key=Version)


def moved(old: Sequence[str], new: Sequence[str]) -> str:
    """Which parameters are new and which are gone; else the new order."""
    more = [f"`{each}`" for each in new if each not in old and each not in ("*", "/")]
    less = [f"`{each}`" for each in old if each not in new and each not in ("*", "/")]
    parts = [f"new: {', '.join(more)}"] if more else []
    parts += [f"gone: {', '.join(less)}"] if less else []
    return "; ".join(parts) or f"another order, `{called('', new)}`"


def by_release(rows: Sequence[Variant[T]], say: Callable[[T], str]) -> str:
    """A value, or one for each range."""
    return "; ".join(
        f"`{say(each.value)}`" + (f" {span(each.sglang)}" if each.sglang else "") for each in rows
    )


def listed(value: Sequence[str]) -> str:
    """Alternatives in one text."""
    return " or ".join(value)


def shape(value: Sequence[str]) -> str:
    """A shape as it is written."""
    return f"[{', '.join(value)}]"


def returns(value: Returns) -> str:
    """What a call gives."""
    parts = [listed(value.dtype)] if value.dtype else []
    parts += [shape(value.shape)] if value.shape is not None else []
    parts += [f"on {value.device}"] if value.device else []
    parts += [value.type] if value.type else []
    parts += [f"a tuple of {value.arity}"] if value.arity else []
    return " ".join(parts)


def required(clause: Clause) -> bool:
    """Whether a plugin has to provide it."""
    return clause.kind is Kind.OBLIGATION and not clause.optional


def replacement(found: Replacement | None) -> str:
    """What to use instead, with the note on it."""
    if found is None:
        return ""
    when = f" ({span(found.sglang)})" if found.sglang else ""
    return f"use `{found.use}`{when}" + (f", {found.note}" if found.note else "")


def behaviour(clause: Clause) -> str:
    """A change of meaning: on what, what it was, what it is, what to do."""
    parts = [f"`{clause.symbols[0]}`"]
    if clause.was:
        parts.append(f"was: {clause.was}")
    parts.append(f"now: {clause.now}")
    if clause.use:
        parts.append(f"do: {clause.use}")
    return "; ".join(parts) + ("" if clause.severity == "error" else f" ({clause.severity})")


def told(clause: Clause) -> str:
    """What a clause says beside its form: note, KV writes, host transfers, successors."""
    parts = [clause.note.rstrip(".")] if clause.note else []
    if clause.kind in (Kind.FUNCTION, Kind.MODULE) and clause.symbols[:-1]:
        parts.append("or at " + ", ".join(f"`{each}`" for each in clause.symbols[:-1]))
    if clause.kv_writes is not None:
        writes = clause.kv_writes
        when = f" when `{writes.when}`" if writes.when else ""
        where = f" to `{writes.loc}`" if writes.loc else ""
        parts.append(f"writes by `{writes.method}`, {writes.times} a call{where}{when}")
    if clause.host_transfers is not None:
        parts.append(f"host transfers: {clause.host_transfers or 'none'}")
    parts += [replacement(each) for each in clause.replaced_by]
    return "; ".join(parts)
