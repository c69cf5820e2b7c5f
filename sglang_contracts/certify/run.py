"""Runs the suite in processes of its own and writes down what came out."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from sglang_contracts.certify.leftovers import memory_to_be_had
from sglang_contracts.certify.outside import surroundings
from sglang_contracts.certify.plan import declared, levels, planned
from sglang_contracts.certify.processes import Limits, Part, ended_by_signals, run
from sglang_contracts.errors import ContractsError
from sglang_contracts.files import scratch_folder
from sglang_contracts.suite.result import Result
from sglang_contracts.suite.session import FAKE, load_plugin
from sglang_contracts.suite.verdict import mostly_skipped, reached, unexercised, verdict

if TYPE_CHECKING:
    from sglang_contracts.serving.report import Report
    from sglang_contracts.suite.subject import Subject

TIMEOUT = 3600.0
"""Seconds after which a run is ended: a backend that hangs must not hang its CI."""

SERVING = 5
"""The level that asks a server, started for it."""

_NOT_PLANNED = "its processes ended well, but had not planned them"

_MOST_JOBS = 4
"""Each process imports torch: more of them cost more than they save."""

_SHARE_OF_MEMORY = 0.75
"""Of what is free at the start."""

_LEAST_MEMORY = 4 << 30
"""What torch and a real SGLang take in each of a few processes."""

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
        memory: Bytes that they may take together; 0: most of what is free.
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
    memory: int = 0


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
    if order.level >= SERVING and _kind(order) == "fake":
        raise ContractsError(
            f"level {SERVING} asks a server, and a fake of SGLang serves nothing",
            "use --sglang installed, or --level 4",
        )
    subject = load_plugin(order.plugin, order.config)
    files = plugin_files(order.plugin)
    contracts: list[str] = []

    def meanwhile() -> None:
        contracts.append(_contracts_digest(release))
        levels()

    with ended_by_signals(), scratch_folder() as home:
        # Of the suite, not of what the run says that it planned: a plan cut short is not a pass.
        plan, here = planned(order.level), planned(min(order.level, SERVING - 1))
        telling = _Telling(progress, len(plan))
        limits = Limits(order.timeout, order.memory or _memory())
        parts = run(
            _arguments(order, home), here, _jobs(order), home, limits, telling.hear, meanwhile
        )
        _refuse_what_was_not_run(parts)
        finished = [part.share.first("finished") or {} for part in parts]
        beside = surroundings(
            order.plugin,
            {file for each in finished for file in each.get("loaded", ())},
            {file for each in finished for file in each.get("before", ())},
            order.config,
            home,
        )
        served = _serve(order, subject, home, telling) if order.level >= SERVING else None
    found = [*_all_results(parts), *(served.checks if served is not None else ())]
    results = _of_the_plan(plan, found)
    used = set().union(*(part.share.used for part in parts))
    last = {part.number: part for part in parts}.values()
    why = [each.ended for each in last if each.share.left()]
    why += [served.ended] if served is not None and served.ended else []
    ended = "; ".join(why or [_NOT_PLANNED])
    irregular = tuple(dict.fromkeys(_irregular(parts)))
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
            environment=environment(subject.settings.combination),
            dependencies=beside.dependencies,
            outside=dict(beside.outside),
            capabilities=next((dict(e.get("capabilities", {})) for e in finished if e), {}),
            profile=order.profile,
            seed=order.seed,
            level_asked=order.level,
            level_reached=-1 if missing or irregular else reached(results, order.level),
            mostly_skipped=mostly_skipped(results),
            verdict=verdict(results, missing, open_points, irregular),
            planned=plan,
            not_run=missing,
            ended=ended if missing else "",
            irregular=irregular,
            remarks=tuple(_remarks(parts)),
            checks=tuple(_outcome(result) for result in results),
            exercised=tuple(sorted(used)),
            not_exercised=tuple(open_points),
            serving=_said_of(served),
            outcomes="",
            digest="",
        )
    )


def _serve(order: Order, subject: Subject, home: Path, telling: _Telling) -> Report:
    """Level 5: a server of its own, asked by this process, which imports nothing of the plugin."""
    from sglang_contracts.serving import plugin as plugins
    from sglang_contracts.serving.registry import checks
    from sglang_contracts.serving.report import report
    from sglang_contracts.serving.run import run as ask
    from sglang_contracts.serving.session import EXTENTS

    with plugins.opened(subject, home) as session:
        session.extent = EXTENTS[order.profile]
        _ = session.info  # for the report, while it is sure to answer
        ran = ask(session, checks(), lambda _, __, result: telling.take(result))
        return report(session, ran, order.profile)


def _said_of(served: Report | None) -> dict[str, Any]:
    """What a certificate keeps of a serving report beside its checks."""
    if served is None:
        return {}
    kept: dict[str, Any] = msgspec.to_builtins(served)
    return {name: kept[name] for name in ("server", "measured", "plots")}


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
        result.cause,
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
    # What is printed or logged goes to the parent, which keeps a part: there may be no end of it.
    parts += ["-p", "no:logging", "-s"]
    parts += ["-p", "no:cacheprovider", "-q", "--import-mode=importlib", "-W", "ignore"]
    parts += ["--assert=plain"]  # nothing here is told by an assert: no import need be looked at
    parts += ["--pyargs", "sglang_contracts.suite", "--sglang-plugin", order.plugin]
    parts += ["--sglang", order.sglang, "--sglang-level", str(min(order.level, SERVING - 1))]
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


def _memory() -> int:
    """Bytes that a run may take: a backend that fills the memory must not take others along."""
    free = memory_to_be_had()
    return max(int(free * _SHARE_OF_MEMORY), _LEAST_MEMORY) if free else 0


class _Telling:
    """Tells of each result of all processes as it comes."""

    def __init__(self, progress: Progress | None, planned: int) -> None:
        self._done, self._planned, self._progress = 0, planned, progress

    def hear(self, line: Any) -> None:
        """Take a line of one of the processes."""
        if "result" in line:
            self.take(msgspec.convert(line["result"], Result))

    def take(self, result: Result) -> None:
        """Take a result."""
        if self._progress is not None:
            self._done += 1
            self._progress(self._done, self._planned, result)


def _all_results(parts: Sequence[Part]) -> list[Result]:
    """What they told; of a check that its process did not live to tell, that."""
    found = [result for part in parts for result in part.share.results.values()]
    for part in parts:
        id = part.share.running
        if id and part.ended_early:
            (level, title), said = declared()[id], part.said().strip()
            message = f"{part.ended}: whose fault that is cannot be told" + (
                f"; it said\n{_tail(said)}" if said else ""
            )
            found.append(Result(id, level, title, "error", message=message))
    return found


def _irregular(parts: Sequence[Part]) -> Iterator[str]:
    """Sentences on what makes the results worth nothing."""
    for part in parts:
        yield from part.share.notes
        altered = (part.share.first("finished") or {}).get("altered", ())
        if altered:
            names = ", ".join(altered[:3])
            more = f" and {len(altered) - 3} more" if altered[3:] else ""
            yield f"functions of the suite were replaced while it ran: {names}{more}"


def _remarks(parts: Sequence[Part]) -> Iterator[str]:
    """Sentences on processes that did not end by themselves."""
    lingering = [part for part in parts if part.lingered]
    if lingering:
        threads = {
            name
            for part in lingering
            for name in (part.share.first("finished") or {}).get("threads", ())
        }
        told = f": threads that are no daemons still ran ({', '.join(sorted(threads))})"
        yield (
            "a process did not end by itself after its checks, and was ended"
            f"{told if threads else ': what is run at its exit hangs'}"
        )


def _refuse_what_was_not_run(parts: Sequence[Part]) -> None:
    """Raise where nothing was learnt of the plugin, or a share of the plan is not even known."""
    for part in parts:
        stopped = part.share.first("stopped")
        if stopped is not None:
            raise ContractsError(stopped["message"], stopped["hint"])
    silent = [p for p in parts if p.starts == 1 and p.share.first("planned") is None]
    if not silent and not any(part.share.reached or part.share.running for part in parts):
        silent = list(parts)
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
