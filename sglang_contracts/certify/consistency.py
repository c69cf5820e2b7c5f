"""Whether a certificate can be what came out of a run: its verdict follows from its checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from sglang_contracts.certify import plan
from sglang_contracts.certify.certificate import Certificate, outcomes_of
from sglang_contracts.suite.capabilities import Capabilities
from sglang_contracts.suite.registry import LEVELS
from sglang_contracts.suite.result import OUTCOMES, Result
from sglang_contracts.suite.verdict import mostly_skipped, reached, unexercised, verdict


def contradictions(certificate: Certificate, same_suite: bool) -> list[str]:
    """Sentences on what contradicts itself; none: it may be what came out.

    Args:
        certificate: Which.
        same_suite: It was made by the suite that runs here, whose plan is known.
    """
    return [*_wrong(certificate), *(_unplanned(certificate) if same_suite else ())]


def _wrong(certificate: Certificate) -> Iterator[str]:
    results = [Result(e.id, e.level, e.title, e.outcome) for e in certificate.checks]
    odd = sorted({each.outcome for each in results} - {*OUTCOMES})
    if odd:
        yield f"there is no outcome {', '.join(map(repr, odd))}"
    if certificate.level_asked not in LEVELS:
        yield f"there is no level {certificate.level_asked}, which it says was asked for"
        return
    twice = sorted(id for id, count in Counter(e.id for e in results).items() if count > 1)
    if twice:
        yield f"checks stand in it twice: {', '.join(twice)}"
    unplanned = sorted({each.id for each in results} - {*certificate.planned})
    if unplanned:
        yield f"checks have an outcome that were not planned: {', '.join(unplanned)}"
    done = {each.id for each in results}
    missing = tuple(each for each in certificate.planned if each not in done)
    open_points = certificate.not_exercised
    if certificate.level_asked >= 2 and certificate.capabilities:  # where the run got to its end
        open_points = tuple(unexercised(_declared(certificate), certificate.exercised))
    for what, stated, follows in (
        ("planned checks that did not run", certificate.not_run, missing),
        (
            "level reached",
            certificate.level_reached,
            -1 if missing or certificate.irregular else reached(results, certificate.level_asked),
        ),
        ("mostly skipped levels", certificate.mostly_skipped, mostly_skipped(results)),
        ("declared and not exercised", certificate.not_exercised, open_points),
        (
            "verdict",
            certificate.verdict,
            verdict(results, missing, open_points, certificate.irregular),
        ),
        ("digest over its outcomes", certificate.outcomes, outcomes_of(certificate)),
    ):
        if stated != follows:
            yield f"{what}: it says {stated!r}, from its checks follows {follows!r}"


def _declared(certificate: Certificate) -> Capabilities:
    """What was to be exercised, from the capabilities as the certificate has them."""

    def stated(name: str) -> Any:
        found = certificate.capabilities.get(name, ())
        return tuple(found) if isinstance(found, (list, tuple)) else ()

    return Capabilities(
        modes=stated("modes"), dtypes=stated("dtypes"), page_sizes=stated("page-sizes")
    )


def _unplanned(certificate: Certificate) -> Iterator[str]:
    known = plan.levels()
    wanted = {*plan.planned(certificate.level_asked)}
    lost = sorted(wanted - {*certificate.planned})
    if lost:
        yield f"this suite plans {len(lost)} checks that it does not: {', '.join(lost[:5])}"
    moved = sorted(each.id for each in certificate.checks if known.get(each.id) != each.level)
    if moved:
        yield f"this suite has no such checks at their levels: {', '.join(moved[:5])}"
