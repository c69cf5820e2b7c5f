"""Runs the suite in processes of its own and writes down what came out."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from sglang_contracts import __version__
from sglang_contracts.certify.certificate import (
    KIND,
    NOTE,
    SCHEMA,
    Certificate,
    Issued,
    Outcome,
    Plugin,
    Sglang,
    Suite,
    sealed,
)
from sglang_contracts.certify.digests import archive_digest, combined, plugin_files, suite_files
from sglang_contracts.certify.environment import environment, issuer
from sglang_contracts.certify.plan import levels, planned
from sglang_contracts.certify.processes import Part, ended_by_signals, run
from sglang_contracts.errors import ContractsError
from sglang_contracts.files import scratch_folder
from sglang_contracts.suite.result import Result
from sglang_contracts.suite.session import FAKE, load_plugin
from sglang_contracts.suite.verdict import mostly_skipped, reached, unexercised, verdict

TIMEOUT = 3600.0
"""Seconds after which a run is ended: a backend that hangs must not hang its CI."""

_NOT_PLANNED = "its processes ended well, but had not planned them"

_MOST_JOBS = 4
"""Each process imports torch: more of them cost more than they save."""

_LONG_LEVEL = 2
"""The first level whose checks take longer than importing torch does."""


@dataclass(frozen=True)
class Order:
    """What is to be certified.

    Attributes:
        plugin: Name of the installed distribution.
        sglang: ``installed``, a version that must be installed, or ``fake:V``.
        level: Highest level to run.
        profile: ``quick`` or ``full``.
        seed: Of the drawn examples.
        config: Settings file of the plugin; None: found by itself.
        issuer: Who issues it; empty: user and host.
        timeout: Seconds.
        jobs: Processes that share the checks; 0: as many as suit the machine and what is tested.
    """

    plugin: str
    sglang: str
    level: int = 4
    profile: str = "full"
    seed: int = 0
    config: Path | None = None
    issuer: str = ""
    timeout: float = TIMEOUT
    jobs: int = 0


Progress = Callable[[int, int, "Result | None"], None]


def release_of(wanted: str) -> str:
    """The release that ``--sglang`` means, as far as it can be had here.

    Raises:
        ContractsError: Another one is installed, none is, or the fake is of no recorded release.
    """
    kind, colon, rest = wanted.partition(":")
    if colon and f"{kind}:" != FAKE:
        raise ContractsError(
            f"'{wanted}' names no SGLang", f"write --sglang {FAKE}{rest.strip() or _newest()}"
        )
    if rest == "latest":
        raise ContractsError(f"'{wanted}' names no release", f"write --sglang {FAKE}{_newest()}")
    if wanted == FAKE:
        raise ContractsError(f"'{FAKE}' names no release", f"write --sglang {FAKE}{_newest()}")
    if wanted.startswith(FAKE):
        from sglang_contracts.surface import load_catalog

        release: str = load_catalog().surface(wanted.removeprefix(FAKE)).release
        return release
    try:
        found = importlib.metadata.version("sglang")
    except importlib.metadata.PackageNotFoundError:
        fake = wanted if wanted != "installed" else _newest()
        which = f"SGLang {wanted}" if wanted != "installed" else "SGLang"
        hint = f"use --sglang {FAKE}{fake}, which needs none, or an environment with {which}"
        raise ContractsError("no SGLang is installed here", hint) from None
    if wanted not in ("installed", found):
        raise ContractsError(
            f"SGLang {found} is installed here, not {wanted}",
            f"use --sglang {found}, --sglang fake:{wanted}, or an environment with {wanted}",
        )
    return found


def _newest() -> str:
    from sglang_contracts.surface import load_catalog

    return str(load_catalog().releases[-1])


def certify(order: Order, progress: Progress | None = None) -> Certificate:
    """Run the suite and make the certificate.

    Args:
        order: What is to be certified.
        progress: Called with how many checks have run, how many are planned, and the last result.

    Raises:
        ContractsError: It could not be run: that says nothing on the plugin.
    """
    _torch_is_there()
    release = release_of(order.sglang)
    subject = load_plugin(order.plugin, order.config)
    files = plugin_files(order.plugin)
    contracts: list[str] = []

    def meanwhile() -> None:
        contracts.append(_contracts_digest(release))
        levels()

    with ended_by_signals(), scratch_folder() as home:
        telling = _Telling(progress)
        arguments = _arguments(order, home)
        parts = run(arguments, _jobs(order), home, order.timeout, telling.hear, meanwhile)
        _refuse_what_was_not_run(parts)
    # Of the suite, not of what the run says that it planned: a plan cut short is not a pass.
    plan, finished = planned(order.level), [part.first("finished") or {} for part in parts]
    results = _of_the_plan(plan, telling.results)
    used = {(m, d, int(p)) for each in finished for m, d, p in each.get("used", ())}
    ended = "; ".join([part.ended for part in parts if part.unfinished()] or [_NOT_PLANNED])
    done = {result.id for result in results}
    missing = tuple(each for each in plan if each not in done)
    open_points = unexercised(subject.capabilities, used) if order.level >= 2 else []
    return sealed(
        Certificate(
            schema=SCHEMA,
            kind=KIND,
            note=NOTE,
            issued=Issued(order.issuer or issuer(), _now()),
            plugin=Plugin(
                order.plugin,
                subject.version,
                combined(files),
                archive_digest(order.plugin),
                files,
            ),
            sglang=Sglang(release, _kind(order), contracts[0]),
            suite=Suite(__version__, combined(suite_files())),
            environment=environment(),
            capabilities=next((dict(e.get("capabilities", {})) for e in finished if e), {}),
            profile=order.profile,
            seed=order.seed,
            level_asked=order.level,
            level_reached=-1 if missing else reached(results, order.level),
            mostly_skipped=mostly_skipped(results),
            verdict=verdict(results, missing, open_points),
            planned=plan,
            not_run=missing,
            ended=ended if missing else "",
            checks=tuple(_outcome(result) for result in results),
            exercised=tuple(sorted(used)),
            not_exercised=tuple(open_points),
            digest="",
        )
    )


def _kind(order: Order) -> str:
    return "fake" if order.sglang.startswith(FAKE) else "installed"


def _outcome(result: Result) -> Outcome:
    return Outcome(
        result.id,
        result.level,
        result.title,
        result.outcome,
        result.reason,
        result.message,
        result.crash,
        result.reproduction,
        round(result.seconds * 1000),
        result.cells,
        result.omitted,
        result.clauses,
    )


def _now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _contracts_digest(release: str) -> str:
    from sglang_contracts.contract import load_contracts
    from sglang_contracts.contract.digest import digest
    from sglang_contracts.surface import load_catalog

    return digest(load_contracts(), load_catalog().surface(release))


def _torch_is_there() -> None:
    import importlib.util

    missing = [
        name
        for name in ("torch", "numpy", "pytest", "hypothesis")
        if importlib.util.find_spec(name) is None
    ]
    if missing:
        raise ContractsError(
            f"the suite needs {', '.join(missing)}",
            "python -m pip install 'sglang-contracts[suite]'",
        )


def _arguments(order: Order, home: Path) -> list[str]:
    """What pytest is given for a run in ``home``."""
    # Settings and conftest.py of a folder above, be it the virtual environment's or the temporary
    # one, would be taken for the suite's: they can leave checks out.
    settings = home / "pytest.ini"
    settings.write_text("[pytest]\n", encoding="utf-8")
    parts = ["-c", str(settings), "--rootdir", str(home), "--noconftest"]
    parts += ["-p", "sglang_contracts.suite.lifeline", "-p", "sglang_contracts.suite.pytest_plugin"]
    parts += ["-p", "no:cacheprovider", "-q", "--import-mode=importlib", "-W", "ignore"]
    parts += ["--assert=plain"]  # nothing here is told by an assert: no import need be looked at
    parts += ["--pyargs", "sglang_contracts.suite", "--sglang-plugin", order.plugin]
    parts += ["--sglang", order.sglang, "--sglang-level", str(order.level)]
    parts += ["--sglang-profile", order.profile, "--sglang-seed", str(order.seed)]
    if order.config is not None:
        parts += ["--sglang-config", str(order.config.resolve())]
    return parts


def _jobs(order: Order) -> int:
    """How many processes share the checks."""
    if order.jobs:
        return order.jobs
    return jobs_on(order.sglang) if order.level >= _LONG_LEVEL else 1


def jobs_on(sglang: str) -> int:
    """How many processes share work on an SGLang, where it is not said."""
    if not sglang.startswith(FAKE):
        return 1  # a card may be the process' own, and a real SGLang takes long to import
    if hasattr(os, "sched_getaffinity"):
        return min(_MOST_JOBS, len(os.sched_getaffinity(0)))
    return min(_MOST_JOBS, os.cpu_count() or 1)


class _Telling:
    """Collects the results of all processes, and tells of each as it comes."""

    def __init__(self, progress: Progress | None) -> None:
        self.results: list[Result] = []
        self._planned = 0
        self._progress = progress

    def hear(self, line: Any) -> None:
        """Take a line of one of the processes."""
        if "planned" in line:
            self._planned += len(line["planned"])
        elif "result" in line:
            try:
                self.results.append(msgspec.convert(line["result"], Result))
            except msgspec.ValidationError:
                return  # the plugin may write there, too: what is no result is missing
            if self._progress is not None:
                self._progress(len(self.results), self._planned, self.results[-1])


def _refuse_what_was_not_run(parts: list[Part]) -> None:
    """Raise where nothing was learnt of the plugin, or a share of the plan is not even known."""
    for part in parts:
        stopped = part.first("stopped")
        if stopped is not None:
            raise ContractsError(stopped["message"], stopped["hint"])
    silent = [part for part in parts if part.first("planned") is None]
    if not silent and not any(part.reached for part in parts):
        silent = parts
    if silent:
        text = silent[0].said()
        said = f"it said\n{_tail(text)}" if text.strip() else "it said nothing"
        raise ContractsError(f"the suite could not be run: {silent[0].ended}", said)


def _of_the_plan(plan: tuple[str, ...], results: list[Result]) -> list[Result]:
    """One result for each planned check, at the level that the suite gives it, in its order."""
    known = levels()
    found = {each.id: each for each in results if known.get(each.id) == each.level}
    return [found[id] for id in plan if id in found]


def _tail(text: str, lines: int = 15) -> str:
    return "\n".join(text.strip().splitlines()[-lines:])
