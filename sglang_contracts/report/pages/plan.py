"""The text of ``plan``: how a card's memory is divided, and what is of concern about it."""

from __future__ import annotations

from typing import Any

from sglang_contracts.report.options import Options
from sglang_contracts.report.style import SEVERITY_STYLE, Paint, table, wrapped
from sglang_contracts.report.text import note_lines
from sglang_contracts.verify.findings.finding import Report, Severity

_GIB, _KIB = 1 << 30, 1 << 10

_KINDS = {
    "mha": "keys and values of each head (MHA)",
    "gqa": "keys and values of shared heads (GQA)",
    "mla": "a latent (MLA)",
    "swa": "keys and values, of some layers a sliding window alone (SWA)",
}

_SENTENCES = {
    "heads-do-not-divide": "{heads:,.0f} query heads cannot be shared evenly by {ranks:.0f} cards: "
    "SGLang refuses to start; take a --tp-size that divides them",
    "weights-exceed-card": "the weights take {weights} of a card of {card}, whatever the fraction: "
    "take more cards, or a quantised model",
    "weights-do-not-fit": "the weights take {weights} of the {static} that a card's share comes "
    "to, and no page of KV cache is left: take --mem-fraction-static {least:.3f} or more, more "
    "cards, or a quantised model",
    "rest-does-not-fit": "{rest} are left for activations, graphs and collectives, less than half "
    "of the {own} that SGLang itself would leave: the first long prompt runs out of memory; take "
    "a smaller --mem-fraction-static or --chunked-prefill-size",
    "rest-is-small": "{rest} are left for activations, graphs and collectives; SGLang itself would "
    "leave {own}",
    "requests-queue": "{fit:,.0f} requests of {context:,.0f} tokens fit into the pool at once, "
    "{requests:,.0f} are wanted: the others queue, or running ones are retracted",
    "context-does-not-fit": "a text of {context:,.0f} tokens does not fit: the longest has "
    "{largest:,.0f}",
    "model-context-does-not-fit": "the model takes {context:,.0f} tokens, the pool holds "
    "{tokens:,.0f}: longer prompts are refused",
    "weights-are-estimated": "no safetensors file lies beside config.json: the weights are "
    "estimated from the shape",
}
_BYTES = frozenset({"weights", "static", "rest", "own", "card"})


def size(count: float) -> str:
    """Bytes for people."""
    if abs(count) < _GIB // 10:
        return f"{count / (1 << 20):,.1f} MiB"
    return f"{count / _GIB:,.1f} GiB"


def sentence(concern: dict[str, Any]) -> str:
    """What is of concern."""
    numbers = {
        name: size(value) if name in _BYTES else value for name, value in concern["numbers"].items()
    }
    return _SENTENCES[concern["id"]].format(**numbers)


def _rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    found, cards = facts["plan"], facts["cards"]
    fraction = f"{found['fraction']:g}"
    if found["fraction"] == found["own_fraction"]:
        fraction += ", what SGLang itself would take"
    else:
        fraction += f" (SGLang itself would take {found['own_fraction']:g})"
    rows = [
        ("model", f"{facts['model']}, {found['dtype']}, {_KINDS[found['attention']]}"),
        ("cards", f"{cards} of {size(facts['card'])}, SGLang {found['release']}"),
        ("--mem-fraction-static", fraction + _least(found)),
        ("weights", f"{size(found['weights'])}, {size(found['weights_on_card'])} on a card"),
        ("for weights and pool", f"{size(found['static'])} a card, {_all(found, cards)} in all"),
        ("KV pool", f"{size(max(0, found['pool']))} a card"),
        ("left for the rest", size(found["rest"])),
        ("a token in the pool", f"{found['kv_bytes_a_token'] / _KIB:,.1f} KiB a card"),
        ("tokens in the pool", f"{found['tokens']:,}"),
    ]
    if found["window_tokens"]:
        rows.append(("of layers with a window", f"{found['window_tokens']:,}"))
    rows.append(("largest context", f"{found['largest_context']:,} tokens"))
    each = facts["context"] or found["largest_context"]
    if found["tokens"]:
        rows.append(("at once", f"{found['requests']:,} requests of {each:,} tokens"))
    return rows


def _least(found: dict[str, Any]) -> str:
    least = found["least_fraction"]
    return f"; at least {least:g}" if least < 1 else ""


def _concerns(report: Report) -> list[dict[str, Any]]:
    found = report.facts["concerns"]
    return found if isinstance(found, list) else []


def _all(found: dict[str, Any], cards: int) -> str:
    return size(found["static"] * cards)


def text(report: Report, options: Options) -> str:
    """The page."""
    paint = Paint(options.color)
    lines = table(_rows(report.facts))
    for concern in _concerns(report):
        if concern["severity"] == "note" and options.quiet:
            continue
        said = f"{concern['severity']}: {sentence(concern)}"
        style = SEVERITY_STYLE[Severity(concern["severity"])]
        lines += [paint(line, *style) for line in wrapped(said, options.width, "  ")]
    return "\n".join([*lines, *note_lines(report, options)])


def markdown(report: Report, options: Options) -> str:
    """The page as Markdown."""
    from sglang_contracts.report.markdown import escape, notes

    lines = ["## Memory of a card", "", "| | |", "|---|---|"]
    lines += [f"| {escape(name)} | {escape(value)} |" for name, value in _rows(report.facts)]
    lines.append("")
    lines += [
        f"- **{concern['severity']}**: {escape(sentence(concern))}" for concern in _concerns(report)
    ]
    return "\n".join([*lines, "", *notes(report)])
