"""Getting wheels, and knowing which there are: with the user's own pip, its mirrors and caches."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from packaging.version import Version

from sglang_contracts import subprocesses
from sglang_contracts.errors import ContractsError

FIRST = Version("0.4.6")
"""The first release that is recorded."""

_FOREIGN = ("3.11", "3.12", "3.10", "3.13")
"""Pythons for which SGLang publishes wheels; a wheel is only read, so any of them will do."""
_PLATFORMS = ("manylinux_2_34", "manylinux_2_28", "manylinux_2_17", "manylinux2014")


def available() -> tuple[str, ...]:
    """Final and post releases from 0.4.6 on that the index has, ascending.

    Raises:
        ContractsError: pip cannot be run, or the index cannot be reached.
    """
    found: set[str] = set()
    error = ""
    for tags in ((), *(_tags(python) for python in _FOREIGN)):
        done = _pip("index", "versions", "sglang", "--disable-pip-version-check", *tags)
        match = re.search(r"^Available versions: (.*)$", done.stdout, re.MULTILINE)
        if done.returncode or not match:
            if _offline(done.stderr):
                error = _NO_INDEX
                break
            error = error or _last_line(done.stderr)
            continue
        found.update(each.strip() for each in match.group(1).split(","))
    if not found:
        raise ContractsError(
            f"the index cannot be asked for releases of sglang: {error or 'pip gave no list'}",
            "check the network and pip's index settings (pip config list)",
        )
    return tuple(sorted(filter(_is_recorded, found), key=Version))


def download(release: str, folder: Path) -> Path:
    """Fetch a release's wheel into ``folder``, whatever Python it was built for.

    Raises:
        ContractsError: The index does not have it, or cannot be reached.
    """
    folder.mkdir(parents=True, exist_ok=True)
    errors = []
    for tags in ((), *(_tags(python) for python in _FOREIGN)):
        done = _pip(
            "download",
            "--quiet",
            "--no-deps",
            "--disable-pip-version-check",
            *(tags or ("--only-binary", ":all:")),
            "--dest",
            str(folder.absolute()),
            f"sglang=={release}",
        )
        wheels = sorted(folder.glob(f"sglang-{release}-*.whl"))
        if not done.returncode and wheels:
            return wheels[0]
        if _offline(done.stderr):
            errors.append(_NO_INDEX)
            break
        errors.append(_last_line(done.stderr))
        if "No matching distribution" not in done.stderr:
            break
    raise ContractsError(
        f"pip cannot fetch the wheel of SGLang {release}: {errors[-1] or errors[0]}",
        "check the release and the network, or give a wheel: sglang-contracts record FILE.whl",
    )


_NO_INDEX = "the index cannot be reached"


def _offline(errors: str) -> bool:
    """Whether pip could not reach the index; it then says that there is no such release."""
    marks = ("connection broken by", "Failed to establish a new connection", "ConnectTimeoutError")
    return any(mark in errors for mark in marks)


def _is_recorded(text: str) -> bool:
    try:
        version = Version(text)
    except ValueError:  # InvalidVersion, or more digits than Python reads
        return False
    return version >= FIRST and not version.is_prerelease and not version.local


def _tags(python: str) -> tuple[str, ...]:
    machine = "x86_64"
    platforms = [item for name in _PLATFORMS for item in ("--platform", f"{name}_{machine}")]
    return (
        "--only-binary",
        ":all:",
        "--python-version",
        python,
        "--implementation",
        "cp",
        *platforms,
        "--platform",
        "any",
    )


def _pip(*arguments: str) -> subprocess.CompletedProcess[str]:
    # Two retries instead of pip's five: without a network those take most of a minute.
    command = subprocesses.closed_python("-m", "pip", *arguments, "--retries", "2")
    variables = subprocesses.with_absolute_paths(os.environ)
    try:
        with subprocesses.neutral_folder() as folder:
            done = subprocess.run(  # noqa: S603 - the user's own pip, by our own words
                command,
                cwd=folder,
                env=variables,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=1800,
                check=False,
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ContractsError(
            f"pip cannot be run: {error}", "install pip in this environment"
        ) from None
    if "No module named pip" in done.stderr:
        raise ContractsError(
            "this environment has no pip",
            "python -m ensurepip installs it; or give a wheel: sglang-contracts record FILE.whl",
        )
    return done


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.startswith("ERROR:")] or text.splitlines()
    return lines[-1].removeprefix("ERROR: ").strip() if lines else ""
