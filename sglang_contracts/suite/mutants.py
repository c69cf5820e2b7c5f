"""The proof of a suite is what it kills: runs mutants, each against the check it names.

A mutant is killed only by a violation that its own check raises. A crash in the backend, another
check's failure or an error of the suite do not count: they would be there by chance.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.specifiers import SpecifierSet

from sglang_contracts.errors import ContractsError
from sglang_contracts.suite.engine import run_check
from sglang_contracts.suite.registry import checks, find
from sglang_contracts.suite.result import Result
from sglang_contracts.suite.session import Mutant, Session, load_mutant


class Changed:
    """An object with some attributes replaced; everything else is the object's own.

    For mutants: ``Changed(layer, scaling=1.0)`` is what a backend reads instead of ``layer``.

    Args:
        target: The object.
        changes: Attribute → value.
    """

    def __init__(self, target: Any, **changes: Any) -> None:
        self.__dict__.update(changes, _target=target)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_target"], name)


@dataclass(frozen=True)
class Score:
    """What became of a mutant.

    Attributes:
        mutant: Which.
        verdict: ``killed``, ``survived``, ``crashed``, ``skipped`` or ``error``.
        detail: The first line of what its check said.
        result: The whole result; None where the mutant makes no sense in this release.
    """

    mutant: Mutant
    verdict: str
    detail: str
    result: Result | None = None


def mutant_files(folder: Path) -> tuple[Path, ...]:
    """The mutants in a folder: every ``.py`` file that does not start with ``_``.

    Raises:
        ContractsError: No such folder, or none is in it.
    """
    if not folder.is_dir():
        raise ContractsError(f"there is no folder of mutants at {folder}")
    found = tuple(
        sorted(
            path
            for path in folder.glob("*.py")
            if not path.name.startswith(("_", "test_", "conftest"))
        )
    )
    if not found:
        raise ContractsError(f"there are no mutants in {folder}", "see docs/certification.md")
    return found


def score(path: Path, session: Session, profile: str = "quick", seed: int = 0) -> Score:
    """Run one mutant against the check it names.

    Raises:
        ContractsError: The file is no mutant, or names a check that is not there.
    """
    mutant = load_mutant(path)
    check = find(mutant.killed_by)
    if mutant.releases and not SpecifierSet(mutant.releases).contains(session.release):
        return Score(mutant, "skipped", f"only in SGLang {mutant.releases}")
    result = run_check(check, session.mutated(path).context(profile, seed))
    first = (result.message or result.reason).partition("\n")[0]
    verdicts = {"pass": "survived", "skip": "skipped", "error": "error", "expected": "survived"}
    if result.outcome == "fail":
        return Score(mutant, "crashed" if result.crash else "killed", first, result)
    return Score(mutant, verdicts[result.outcome], first, result)


def run_mutants(
    files: Sequence[Path],
    session: Session,
    profile: str = "quick",
    progress: Callable[[Score], None] | None = None,
    jobs: int = 1,
) -> list[Score]:
    """Run several mutants.

    Args:
        files: Their files.
        session: The plugin that they break.
        profile: How much is tried.
        progress: Called with each score, in the files' order.
        jobs: Processes that share them.

    Raises:
        ContractsError: A file is no mutant, or one has ended the process that it ran in.
    """
    scores = []
    for each in _scored(files, session, profile, min(jobs, len(files))):
        scores.append(each)
        if progress is not None:
            progress(each)
    return scores


def _scored(files: Sequence[Path], session: Session, profile: str, jobs: int) -> Iterator[Score]:
    if jobs < 2 or not hasattr(os, "fork"):
        yield from (score(path, session, profile) for path in files)
        return
    # Forked, not started: torch, SGLang and the plugin are imported already.
    forking = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(jobs, forking, _adopt, (session, profile)) as pool:
        try:
            for path, told in zip(files, pool.map(_told, files), strict=True):
                yield Score(load_mutant(path), *told)
        except BrokenProcessPool:
            raise ContractsError(
                "a mutant has ended the process that it ran in",
                "--jobs 1 runs them one after the other in this one",
            ) from None


_adopted: list[tuple[Session, str]] = []
"""In a process that scores mutants: the session, and how much is tried."""


def _adopt(session: Session, profile: str) -> None:
    _adopted.append((session, profile))


def _told(path: Path) -> tuple[str, str, Result | None]:
    """What a score says, without the mutant: a module that only this process has imported."""
    found = score(path, *_adopted[-1])
    return found.verdict, found.detail, found.result


def idle_checks(scores: Sequence[Score]) -> list[str]:
    """Checks that no mutant names: nothing proves that they bite."""
    named = {each.mutant.killed_by for each in scores}
    return [check.id for check in checks() if check.id not in named]


def table(scores: Sequence[Score]) -> str:
    """The scores as text: a row each, and the sum."""
    width = max((len(each.mutant.path.stem) for each in scores), default=0)
    rows = [
        f"{each.verdict:9} {each.mutant.path.stem:{width}}  {each.mutant.killed_by}"
        + (f"  ({each.detail})" if each.verdict != "killed" else "")
        for each in scores
    ]
    counted = [each for each in scores if each.verdict != "skipped"]
    killed = sum(each.verdict == "killed" for each in counted)
    skipped = len(scores) - len(counted)
    more = f", {skipped} make no sense in this release" if skipped else ""
    rows.append(f"{killed} of {len(counted)} mutants killed, each by the check it names{more}")
    return "\n".join(rows)
