"""The text of ``explain``: a symbol's life, a clause, a contract, a rule, or the list of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sglang_contracts.report.options import Options
from sglang_contracts.report.style import Paint, table, wrapped
from sglang_contracts.report.words import printable, short
from sglang_contracts.verify.findings.finding import Report

Facts = Mapping[str, Any]


def text(report: Report, options: Options) -> str:
    """The page."""
    kind = str(report.facts.get("kind"))
    return "\n".join(_PAGES[kind](report.facts, options))


def markdown(report: Report, options: Options) -> str:
    """The same, as a fenced block below a heading: its columns mean something."""
    name = report.facts.get("name") or report.facts.get("id") or "sglang-contracts"
    body = text(report, Options(width=options.width, verbose=options.verbose))
    return f"## `{name}`\n\n```text\n{body}\n```\n"


def _symbol(facts: Facts, options: Options) -> list[str]:
    paint = Paint(options.color)
    lines = [paint(str(facts["name"]), "bold")]
    spans = [
        each["first"] if each["first"] == each["last"] else f"{each['first']} ... {each['last']}"
        for each in facts["intervals"]
    ]
    state = "there still" if facts["alive"] else f"gone since {facts['gone_since']}"
    lines += wrapped(f"in {', '.join(spans)}; {state}", options.width, "  ")
    for each in facts["replaced_by"]:
        when = f" in {' or '.join(each['sglang'])}" if each["sglang"] else ""
        note = f" ({each['note']})" if each["note"] else ""
        said = f"replaced{when} by {each['use']}{note} [{each['evidence']}]"
        lines += [paint(line, "cyan") for line in wrapped(printable(said), options.width, "  ")]
    shown = facts["forms"] if options.verbose or len(facts["forms"]) <= 3 else facts["forms"][-3:]
    if facts["forms"]:
        left_out = len(facts["forms"]) - len(shown)
        more = f" ({left_out} earlier ones with --verbose)" if left_out else ""
        lines.append(f"  forms{more}:")
    written = str(facts["name"])
    for each in shown:
        elsewhere = f"  as {each['defined']}" if each["defined"] not in ("", written) else ""
        lines += wrapped(
            printable(f"since {each['since']}: {_form(written, each['text'])}{elsewhere}"),
            options.width,
            "    ",
        )
    if facts["clauses"]:
        lines.append("  clauses:")
        for clause in facts["clauses"]:
            lines += _clause_lines(clause, options, "    ")
    return lines


def _form(written: str, text: str) -> str:
    """A shape behind the name it belongs to: ``name: int = 0``, ``name(a, b)``."""
    if ":" not in written or written.startswith(("flag:", "env:")):
        return text
    last = short(written).rpartition(".")[2]
    return f"{last}{text}" if text.startswith((":", "(")) else f"{last} {text}"


def _clause_lines(clause: Facts, options: Options, indent: str) -> list[str]:
    paint = Paint(options.color)
    head = f"{clause['id']} ({clause['clause_kind']}, {clause['range']})"
    lines = [paint(line, "bold") for line in wrapped(head, options.width, indent)]
    told = list(clause["says"])
    for each in clause["replaced_by"]:
        when = f" in {' or '.join(each['sglang'])}" if each["sglang"] else ""
        note = f" ({each['note']})" if each["note"] else ""
        told.append(f"replaced{when} by {each['use']}{note}")
    told += [str(clause["note"])] if clause["note"] else []
    told += [f"source: {clause['source']}"] if clause["source"] else []
    for each in told:
        lines += wrapped(printable(str(each)), options.width, indent + "  ")
    return lines


def _clause(facts: Facts, options: Options) -> list[str]:
    lines = _clause_lines(facts, options, "")
    sides = f"provided by {facts['provider']}, relied on by {facts['consumer']}"
    lines += wrapped(sides, options.width, "  ")
    for symbol in facts["symbols"]:
        lines += wrapped(f"symbol: {symbol}", options.width, "  ")
    return [*lines, f"  {facts['file']}:{facts['line']}"]


def _contract(facts: Facts, options: Options) -> list[str]:
    paint = Paint(options.color)
    lines = [paint(f"{facts['id']}: {facts['title']}", "bold")]
    lines += wrapped(
        f"provided by {facts['provider']}, relied on by {facts['consumer']}", options.width, "  "
    )
    for target in facts["targets"]:
        lines += wrapped(f"target: {target}", options.width, "  ")
    if facts["known_as"]:
        lines += wrapped(f"known as: {', '.join(facts['known_as'])}", options.width, "  ")
    changed = f"changed last: {facts['last_change']}" if facts["last_change"] else ""
    for text in (facts["purpose"], changed, facts["note"]):
        if text:
            lines += wrapped(printable(str(text)), options.width, "  ")
    rows = [(c["id"].partition("/")[2], c["clause_kind"], c["range"]) for c in facts["clauses"]]
    return [*lines, "  clauses:", *(f"    {row}" for row in table(rows))]


def _rule(facts: Facts, options: Options) -> list[str]:
    paint = Paint(options.color)
    lines = [paint(str(facts["name"]), "bold"), *wrapped(facts["title"], options.width, "  "), ""]
    lines += wrapped(facts["why"], options.width, "  ")
    lines += ["", "  reported:", *_code(facts["broken"], paint, "red")]
    lines += ["", "  mended:", *_code(facts["fixed"], paint, "green")]
    lines += ["", *wrapped(facts["fix"], options.width, "  ")]
    silence = f"# sglang-contracts: ignore[{facts['name']}] reason"
    return [*lines, "", *wrapped(f"To silence one place: {silence}", options.width, "  ")]


def _silence(facts: Facts, options: Options) -> list[str]:
    paint = Paint(options.color)
    head = f"{facts['title']}: it is {facts['effect']}"
    lines = [paint(str(facts["name"]), "bold"), *wrapped(head, options.width, "  "), ""]
    lines += wrapped(f"{facts['why']} It rests on the {facts['rests']}.", options.width, "  ")
    lines += ["", f"  {facts['effect']}:", *_code(facts["quiet"], paint, "green")]
    return [*lines, "", "  reported all the same:", *_code(facts["told"], paint, "red")]


def _code(block: str, paint: Paint, style: str) -> list[str]:
    return [paint(f"    {line}", style) for line in block.splitlines()]


def _list(facts: Facts, options: Options) -> list[str]:
    lines = []
    for heading in ("rules", "silences", "contracts"):
        lines.append(f"{heading}:")
        rows = [(each["name"], each["title"]) for each in facts[heading]]
        lines += [f"  {row}" for row in table(rows)]
    return lines


_PAGES: Mapping[str, Callable[[Facts, Options], list[str]]] = {
    "symbol": _symbol,
    "clause": _clause,
    "contract": _contract,
    "rule": _rule,
    "silence": _silence,
    "list": _list,
}
