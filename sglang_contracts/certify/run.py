"""Runs the suite in a process of its own and writes down what came out."""

from __future__ import annotations

import contextlib
import datetime
import importlib.metadata
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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
from sglang_contracts.errors import ContractsError
from sglang_contracts.suite.engine import Result
from sglang_contracts.suite.session import FAKE
from sglang_contracts.suite.subject import load_subject
from sglang_contracts.suite.verdict import mostly_skipped, reached, unexercised, verdict

TIMEOUT = 3600.0
"""Seconds after which a run is ended: a backend that hangs must not hang its CI."""


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
    """

    plugin: str
    sglang: str
    level: int = 4
    profile: str = "full"
    seed: int = 0
    config: Path | None = None
    issuer: str = ""
    timeout: float = TIMEOUT


Progress = Callable[[int, int, "Result | None"], None]


def release_of(wanted: str) -> str:
    """The release that ``--sglang`` means, as far as it can be had here.

    Raises:
        ContractsError: Another one is installed, none is, or the fake is of no recorded release.
    """
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
    subject = load_subject(order.plugin, order.config)
    files = plugin_files(order.plugin)
    with (
        tempfile.TemporaryDirectory(prefix="sglang-contracts-") as folder,
        ThreadPoolExecutor(1) as aside,
    ):
        contracts = aside.submit(_contracts_digest, release)  # while the suite runs
        lines, log, ended = _run(order, Path(folder), progress)
    planned = next((line["planned"] for line in lines if "planned" in line), None)
    finished = next((line["finished"] for line in lines if "finished" in line), None)
    results = [msgspec.convert(line["result"], Result) for line in lines if "result" in line]
    stopped = next((line["stopped"] for line in lines if "stopped" in line), None)
    if stopped is not None:
        raise ContractsError(stopped["message"], stopped["hint"])
    if planned is None or (finished is None and not results):
        said = f"it said\n{_tail(log)}" if log.strip() else "it said nothing"
        raise ContractsError(f"the suite could not be run: {ended}", said)
    used = {(m, d, int(p)) for m, d, p in (finished or {}).get("used", [])}
    done = {result.id for result in results}
    missing = tuple(each for each in planned if each not in done)
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
            sglang=Sglang(release, _kind(order), contracts.result()),
            suite=Suite(__version__, combined(suite_files())),
            environment=environment(),
            capabilities=dict((finished or {}).get("capabilities", {})),
            profile=order.profile,
            seed=order.seed,
            level_asked=order.level,
            level_reached=-1 if missing else reached(results, order.level),
            mostly_skipped=mostly_skipped(results),
            verdict=verdict(results, missing, open_points),
            planned=tuple(planned),
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


def command(order: Order, results: Path) -> list[str]:
    """The pytest command of a run."""
    parts = [sys.executable, "-m", "pytest", "-p", "sglang_contracts.suite.pytest_plugin"]
    parts += ["-p", "no:cacheprovider", "-q", "--import-mode=importlib", "-W", "ignore"]
    parts += ["--pyargs", "sglang_contracts.suite", "--sglang-plugin", order.plugin]
    parts += ["--sglang", order.sglang, "--sglang-level", str(order.level)]
    parts += ["--sglang-profile", order.profile, "--sglang-seed", str(order.seed)]
    parts += ["--sglang-results", str(results)]
    if order.config is not None:
        parts += ["--sglang-config", str(order.config.resolve())]
    return parts


def _run(order: Order, folder: Path, progress: Progress | None) -> tuple[list[Any], str, str]:
    """Run pytest in ``folder``.

    Returns:
        Every line it wrote, its output, and how it ended where that was before its time.
    """
    results, log = folder / "results.jsonl", folder / "log.txt"
    setting = dict(os.environ)
    # No plugin of the user's environment may take part in the verdict.
    setting["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    setting.pop("PYTEST_ADDOPTS", None)
    setting.setdefault("OMP_NUM_THREADS", "1")
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(  # noqa: S603 - our own suite
            command(order, results),
            cwd=folder,
            env=setting,
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        end = time.monotonic() + order.timeout
        told = 0
        try:
            while process.poll() is None:
                if time.monotonic() > end:
                    break
                time.sleep(0.1)
                told = _tell(results, told, progress)
            timed_out = process.poll() is None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # its own group: what it has left behind
            process.wait()
    _tell(results, told, progress)
    text = log.read_text(encoding="utf-8", errors="replace")
    lines = _read(results)
    if timed_out:
        how = f"it was ended after {order.timeout:.0f} s"
    else:
        how = f"its process ended with status {process.returncode}"
    return lines, text, f"{how}, {_during(lines)}"


def _during(lines: list[Any]) -> str:
    """What ran last."""
    done = {line["result"]["id"] for line in lines if "result" in line}
    begun = [line["began"] for line in lines if "began" in line]
    if not begun:
        return "before the first check: while the plugin and SGLang were loaded"
    return f"during {begun[-1]}" if begun[-1] not in done else f"after {begun[-1]}"


def _read(results: Path) -> list[Any]:
    if not results.exists():
        return []
    found = []
    for line in results.read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue  # the last line of a process that was ended
    return found


def _tell(results: Path, told: int, progress: Progress | None) -> int:
    """Report what has come since the last look; how many results have been reported."""
    if progress is None:
        return told
    lines = _read(results)
    planned = next((len(line["planned"]) for line in lines if "planned" in line), 0)
    done = [msgspec.convert(line["result"], Result) for line in lines if "result" in line]
    for index in range(told, len(done)):
        progress(index + 1, planned, done[index])
    return len(done)


def _tail(text: str, lines: int = 15) -> str:
    return "\n".join(text.strip().splitlines()[-lines:])
