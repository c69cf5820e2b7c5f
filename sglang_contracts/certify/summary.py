"""A certificate in a few lines of text, for a terminal or a CI log."""

from __future__ import annotations

from collections.abc import Iterator

from sglang_contracts.certify.causes import Cause, causes, counted, next_steps
from sglang_contracts.certify.certificate import Certificate
from sglang_contracts.suite.registry import LEVELS

_MOST_IDS = 6


def lines(certificate: Certificate, quiet: bool) -> Iterator[str]:
    """The lines: causes first, then each with its first check, levels, verdict and what to do.

    Args:
        certificate: Which.
        quiet: Leave out what was skipped, and what to do with a certificate that passed.
    """
    found = causes(certificate)
    yield from _table(found)
    if not quiet:
        yield from _skips(certificate)
    for cause in found:
        yield from _told(cause)
    yield from _levels(certificate)
    for sentence in (*certificate.irregular, *certificate.remarks):
        yield f"note: {sentence}"
    for point in certificate.not_exercised:
        yield f"declared and not exercised: {point}"
    if certificate.not_run:
        first, rest = certificate.not_run[0], len(certificate.not_run) - 1
        more = f" and {rest} more" if rest else ""
        yield f"planned and not run: {first}{more}; {certificate.ended}"
    if not quiet or certificate.verdict != "passed":
        for step in next_steps(certificate):
            yield f"next: {step}"
    yield _verdict(certificate)


def _table(found: list[Cause]) -> Iterator[str]:
    """How many checks each cause costs; nothing where the details say the same in a line."""
    if not found:
        return
    yield "causes:"
    for cause in found:
        yield f"  {cause.outcome:8} {counted(len(cause.checks)):>10}  {cause.line}"


def _skips(certificate: Certificate) -> Iterator[str]:
    """Each reason once, with the checks that it holds for."""
    reasons: dict[str, list[str]] = {}
    for each in certificate.checks:
        if each.outcome == "skip":
            reasons.setdefault(each.reason, []).append(each.id)
    for reason, ids in reasons.items():
        many = f"{len(ids)} checks: " if ids[1:] else ""
        yield f"skip: {many}{', '.join(ids)}: {reason}"


def _told(cause: Cause) -> Iterator[str]:
    """A cause by its first check; the others that it fails by name."""
    first = cause.first
    yield f"{cause.outcome}: {first.id}: {first.title}"
    for text in (first.reason, first.message):
        if text:
            yield "  " + text.replace("\n", "\n  ")
    if first.reproduction:
        snippet = first.reproduction.replace("\n", "\n    ")
        yield f"  reproduce:\n    {snippet}"
    others = [each.id for each in cause.checks[1:]]
    if others:
        more = f" and {len(others) - _MOST_IDS} more" if others[_MOST_IDS:] else ""
        yield f"  for the same reason: {', '.join(others[:_MOST_IDS])}{more}"


def _levels(certificate: Certificate) -> Iterator[str]:
    for level in range(certificate.level_asked + 1):
        mine = [each for each in certificate.checks if each.level == level]
        fine = sum(each.outcome == "pass" for each in mine)
        skipped = sum(each.outcome == "skip" for each in mine)
        more = f", {skipped} skipped" if skipped else ""
        name = LEVELS[level].partition(":")[0]
        if level in certificate.mostly_skipped:
            more += ": little was shown"
        verb = "holds" if len(mine) == 1 else "hold"
        yield f"level {level} {name}: {fine} of {counted(len(mine))} {verb}{more}"


def _verdict(certificate: Certificate) -> str:
    plugin, release = certificate.plugin, certificate.sglang.release
    kind = "fake " if certificate.sglang.kind == "fake" else ""
    reached = certificate.level_reached
    return (
        f"{plugin.name} {plugin.version} on {kind}SGLang {release}: {certificate.verdict}, "
        + (f"level {reached} reached" if reached >= 0 else "no level reached")
        + _on_little(certificate)
    )


def _on_little(certificate: Certificate) -> str:
    """Says so where a level that was reached was mostly skipped."""
    thin = [level for level in certificate.mostly_skipped if level <= certificate.level_reached]
    if not thin:
        return ""
    named = " and ".join(map(str, thin))
    return f" (most checks of level{'s' if thin[1:] else ''} {named} were skipped: see the reasons)"
