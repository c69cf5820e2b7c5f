"""A certificate's run once more: the one proof that whoever receives it can make alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sglang_contracts.certify.certificate import Certificate
from sglang_contracts.certify.run import Order, Progress, certify

_MOST = 5


def repeat(
    certificate: Certificate,
    config: Path | None = None,
    timeout: float = 3600.0,
    jobs: int = 0,
    progress: Progress | None = None,
) -> list[str]:
    """Run what a certificate says that it has run; sentences on what came out otherwise.

    Raises:
        ContractsError: It could not be run here.
    """
    sglang = certificate.sglang
    order = Order(
        certificate.plugin.name,
        f"fake:{sglang.release}" if sglang.kind == "fake" else sglang.release,
        certificate.level_asked,
        certificate.profile,
        certificate.seed,
        config,
        timeout=timeout,
        jobs=jobs,
    )
    again = certify(order, progress)
    if again.outcomes == certificate.outcomes:
        return []
    return [
        f"run again, it comes to something else: {each}"
        for each in _differences(certificate, again)
    ]


def _differences(stated: Certificate, found: Certificate) -> Iterator[str]:
    if stated.plugin.version != found.plugin.version:
        yield f"version {stated.plugin.version} is {found.plugin.version} here"
    if stated.verdict != found.verdict or stated.level_reached != found.level_reached:
        yield (
            f"{stated.verdict}, level {stated.level_reached} there; {found.verdict}, level "
            f"{found.level_reached} here"
        )
    there = {each.id: each.outcome for each in stated.checks}
    here = {each.id: each.outcome for each in found.checks}
    other = [id for id in {**there, **here} if there.get(id) != here.get(id)]
    for id in other[:_MOST]:
        yield f"{id}: {there.get(id, 'not run')} there, {here.get(id, 'not run')} here"
    if other[_MOST:]:
        yield f"and {len(other) - _MOST} checks more"
    if not other and stated.exercised != found.exercised:
        yield "other dtypes, page sizes or forward modes were exercised"
    elif not other:
        yield "its checks exercised other cells, or others did not run"
