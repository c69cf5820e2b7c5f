"""Slow first tokens, and logs full of compilations: which kernels run, and where they are kept."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path

from sglang_contracts.doctor.diagnosis import Status, check
from sglang_contracts.doctor.host import Host
from sglang_contracts.serving.kernel_log import kernel_name, served
from sglang_contracts.serving.metrics import parse

COMPILES = r"(?i)\b(?:compil\w+|autotun\w+|building)\b.*\bkernel|\bkernel\w*\b.*\bcompil\w+"
"""Lines of a log that tell of a compilation, where the plugin declares no other."""

READY = re.compile(r"The server is fired up|Uvicorn running on|Application startup complete")
FEW = 3
"""Compilations after the start that are none: a shape that comes for the first time."""

SLOW = frozenset({"nfs", "nfs4", "cifs", "fuse.sshfs", "9p", "overlay", "tmpfs"})
"""File systems that are slow, or empty after the next start."""


@check(
    "kernels.cache-folder",
    symptom="the log is full of kernel compilations",
    title="the folder of compiled kernels is there, writable by this user alone, and filled",
    mend="name a folder on a local disk in the plugin's variable; mode 700, of the serving user; "
    "it is filled after the first start",
)
def cache_folder(host: Host) -> tuple[Status, Sequence[str]]:
    """Look at the folder that the plugin declares."""
    variable, usual = host.said("kernel-cache-variable"), host.said("kernel-cache")
    named = host.environment.get(str(variable), "") if variable else ""
    if not named and not usual:
        return Status.UNKNOWN, [
            "the plugin declares no folder (kernel-cache, kernel-cache-variable)"
        ]
    folder = Path(named or str(usual)).expanduser()
    if not folder.is_dir():
        return Status.FOUND, [f"{folder} does not exist"]
    said = [str(folder)]
    wrong = []
    if not os.access(folder, os.W_OK | os.X_OK):
        wrong.append(f"{folder} cannot be written by this user")
    if folder.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        wrong.append(f"{folder} can be written by others: they can run code here")
    kind = file_system(folder)
    if kind in SLOW:
        wrong.append(f"{folder} is on {kind}: slow, or empty after the next start")
    if not wrong and not any(folder.iterdir()):
        return Status.FOUND, [f"{folder} is empty: nothing has been kept by a start yet"]
    return (Status.FOUND, wrong) if wrong else (Status.OK, said)


def file_system(folder: Path, mounts: Path = Path("/proc/mounts")) -> str:
    """The kind of file system that a folder is on; empty: it cannot be told."""
    place, best, kind = str(folder.resolve()), "", ""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    for line in lines:
        parts = line.split()
        if len(parts) < 3:
            continue
        at = parts[1].rstrip("/") or "/"
        inside = place == at or place.startswith(at.rstrip("/") + "/")
        if inside and len(at) >= len(best):
            best, kind = at, parts[2]
    return kind


@check(
    "kernels.cache-is-effective",
    symptom="the log is full of kernel compilations",
    title="once the server serves, it compiles no kernels",
    mend="see kernels.cache-folder: its permission and place; a second start compiles nothing",
)
def cache_is_effective(host: Host) -> tuple[Status, Sequence[str]]:
    """Count compilations in the log after the start."""
    if host.log is None:
        return Status.UNKNOWN, ["no log was given (--log FILE)"]
    pattern = re.compile(str(host.said("compiles") or COMPILES))
    start = next((at for at, line in enumerate(host.log) if READY.search(line)), 0)
    lines = [line.strip()[:160] for line in host.log[start:] if pattern.search(line)]
    if len(lines) > FEW:
        return Status.FOUND, [f"{len(lines)} compilations after the start", lines[0], lines[-1]]
    return Status.OK, [f"{len(lines)} compilations after the start"]


@check(
    "kernels.are-the-declared-ones",
    symptom="the first token is very slow",
    title="prefill and decode run on the kernels that the plugin declares, not on a fall-back",
    mend="look why the fused kernel is not taken: dtype, head size, page size, a missing operator, "
    "a --quantization without one",
)
def are_the_declared_ones(host: Host) -> tuple[Status, Sequence[str]]:
    """Look in the log, or on ``/metrics``, which kernels served."""
    declared = {
        mode: {kernel_name(each) for each in host.declared("kernels", path) or ()}
        for mode, path in (("EXTEND", "prefill"), ("DECODE", "decode"))
    }
    if not any(declared.values()):
        return Status.UNKNOWN, ["the plugin declares no kernels of prefill and decode"]
    ran = {(each.mode, each.kernel) for each in served(host.log or ())} | _counted(host)
    if not ran:
        return Status.UNKNOWN, [
            "neither a log (--log) nor a server (--server) tells which kernels ran"
        ]
    wrong = [
        f"{mode} ran on {kernel}; declared: {', '.join(sorted(declared[mode]))}"
        for mode, kernel in sorted(ran)
        if declared.get(mode) and kernel not in declared[mode]
    ]
    right = [f"{mode} ran on {kernel}" for mode, kernel in sorted(ran)]
    return (Status.FOUND, wrong) if wrong else (Status.OK, right)


def _counted(host: Host) -> set[tuple[str, str]]:
    """Modes and kernels that the server counts."""
    name = host.declared("service", "kernel-metric")
    if host.client is None or not name:
        return set()
    page = parse(host.client.request("GET", "/metrics").body.decode("utf-8", "replace"))
    return {(each.labels.get("mode", ""), each.labels.get("kernel", "")) for each in page.of(name)}
