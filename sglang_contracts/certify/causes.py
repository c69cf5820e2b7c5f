"""Why checks did not come out well: each cause once, with what to do next.

One line of a plugin, or one gap of a fake, may fail dozens of checks; who reads a certificate wants
to see that line, how much it costs, and what to do about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sglang_contracts.certify.certificate import Certificate, Outcome
from sglang_contracts.suite.verdict import EXCEPTIONS, PASSED

_BAD = ("fail", "error", "expected")
"""Outcomes that have a cause, the worst first."""

_WHY = "\nwhy it matters:"
_RULE = re.compile(r"^(?:[^\s:]+:\d+: )?([a-z]+(?:-[a-z]+)+): (?:sglang|flag|env)\b", re.MULTILINE)
"""A finding of the static check, as the check of level 0 words it: place, rule, symbol."""


@dataclass(frozen=True)
class Cause:
    """One reason why checks failed, or could not be told.

    Attributes:
        outcome: Of its checks: ``fail``, ``error`` or ``expected``.
        line: What it is, in a line.
        checks: Those it is the reason for, as they stand in the certificate.
    """

    outcome: str
    line: str
    checks: tuple[Outcome, ...]

    @property
    def first(self) -> Outcome:
        """The check that shows it."""
        return self.checks[0]


def counted(number: int, noun: str = "check") -> str:
    """``1 check``, ``2 checks``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def causes(certificate: Certificate) -> list[Cause]:
    """Each cause once: failures first, then what fails most."""
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for each in certificate.checks:
        if each.outcome in _BAD:
            told = each.message.partition(_WHY)[0].strip()
            groups.setdefault((each.outcome, each.cause or told or each.id), []).append(each)
    found = [
        Cause(outcome, _line(checks), tuple(checks)) for (outcome, _), checks in groups.items()
    ]
    return sorted(found, key=lambda cause: (_BAD.index(cause.outcome), -len(cause.checks)))


def _line(checks: list[Outcome]) -> str:
    first = checks[0]
    told = first.cause or first.message.strip().partition("\n")[0] or first.reason or first.title
    return told if checks[1:] or first.cause else f"{first.id}: {told}"


def rules_of(cause: Cause) -> tuple[str, ...]:
    """Rules of the static check that its message names: ``explain RULE`` says more on each."""
    return tuple(dict.fromkeys(_RULE.findall(cause.first.message)))


def next_steps(certificate: Certificate) -> Iterator[str]:
    """What to do next, a sentence each, the first thing first."""
    name, sglang = certificate.plugin.name, certificate.sglang
    asked = f"fake:{sglang.release}" if sglang.kind == "fake" else sglang.release
    found = causes(certificate)
    if certificate.irregular:
        yield (
            "find what writes among the results, or replaces functions of the suite: until it "
            "stops, nothing is shown"
        )
    failing = [cause for cause in found if cause.outcome == "fail"]
    if failing:
        all_of_them = sum(len(cause.checks) for cause in failing)
        many = f" ({counted(len(failing[0].checks))} of {all_of_them})" if failing[1:] else ""
        yield f"mend this first{many}: {failing[0].line}"
    for rule in dict.fromkeys(rule for cause in failing for rule in rules_of(cause)):
        yield f"read why, and how to mend it: sglang-contracts explain {rule}"
    yield from _of_the_untold(certificate, found, asked)
    if certificate.not_exercised:
        yield "declare in the plugin's capabilities what it serves, nothing else"
    if certificate.verdict in (PASSED, EXCEPTIONS) and sglang.kind == "fake":
        yield (
            f"try it on the real release: sglang-contracts certify {name} --sglang {sglang.release}"
        )
    if certificate.verdict == PASSED:
        yield (
            "whoever receives it runs: sglang-contracts certify --verify certificate.json "
            f"--require-passed --require-level {certificate.level_reached} --require-profile "
            f"{certificate.profile} --require-release {sglang.release} --require-plugin {name}"
        )


def _of_the_untold(certificate: Certificate, found: list[Cause], asked: str) -> Iterator[str]:
    name, release = certificate.plugin.name, certificate.sglang.release
    untold = [cause for cause in found if cause.outcome == "error"]
    gaps = [cause for cause in untold if cause.first.cause]
    if gaps:
        number = sum(len(cause.checks) for cause in gaps)
        yield (
            f"ask the real release what a fake cannot tell ({counted(number)}): python -m pip "
            f"install 'sglang=={release}' && sglang-contracts certify {name} --sglang {release}"
        )
    for cause in untold:
        if not cause.first.cause:
            yield (
                f"run alone what could not be told: python -m pytest --pyargs "
                f"sglang_contracts.suite --sglang-plugin {name} --sglang {asked} -k "
                f"'{cause.first.id}'"
            )
            break
    expected = sum(len(cause.checks) for cause in found if cause.outcome == "expected")
    if expected:
        yield (
            f"mend what is expected to fail ({counted(expected)}), and take its entries out of the "
            "settings: whoever requires a pass refuses it"
        )
    if certificate.not_run:
        yield (
            f"have it run to its end ({counted(len(certificate.not_run))} did not run): "
            "what ended it stands beside them"
        )
