"""The device is not found: which platform is there, which is chosen, and whether it activates."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from sglang_contracts import subprocesses
from sglang_contracts.doctor.diagnosis import Status, check
from sglang_contracts.doctor.host import PLATFORMS, PLUGINS, Host

PATIENCE = 120.0
"""Seconds that a platform may take to say whether it is there: it imports torch and an SDK."""

PROBE = """
import importlib.metadata, sys
(found,) = [e for e in importlib.metadata.entry_points(group=sys.argv[1])
            if (e.name, e.value) == (sys.argv[2], sys.argv[3])]
answer = found.load()()
print("\\nANSWER", "declined" if answer is None else answer)
"""

NOT_FOUND = "at start: device not found"


@check(
    "platform.one-is-chosen",
    symptom=NOT_FOUND,
    title="one platform plugin is installed, or SGLANG_PLATFORM names one that is",
    mend="install the vendor's plugin; with several of them set SGLANG_PLATFORM to one",
)
def one_is_chosen(host: Host) -> tuple[Status, Sequence[str]]:
    """Hold the variable against the entry points."""
    found = host.entry_points(PLATFORMS)
    names = [each.name for each in found]
    wanted = host.environment.get("SGLANG_PLATFORM", "")
    said = [f"{PLATFORMS}: {each.name} = {each.value}" for each in found]
    if wanted and wanted not in names:
        return Status.FOUND, [f"SGLANG_PLATFORM={wanted} names none of them", *said]
    if not found:
        return Status.FOUND, [f"no distribution has an entry point in {PLATFORMS}"]
    if names.count(wanted) > 1:
        return Status.FOUND, [f"several are called {wanted}", *said]
    if not wanted and len(found) > 1:
        return Status.FOUND, ["two platforms at once, and SGLANG_PLATFORM is not set", *said]
    return Status.OK, [*said, *([f"SGLANG_PLATFORM={wanted}"] if wanted else [])]


@check(
    "platform.activates",
    symptom=NOT_FOUND,
    title="the chosen platform activates: its driver and SDK are there",
    mend="load the driver, and install the SDK that the plugin was built for; the evidence says "
    "what it stumbled over",
)
def activates(host: Host) -> tuple[Status, Sequence[str]]:
    """Call the entry point as SGLang does, in a process of its own."""
    wanted = host.environment.get("SGLANG_PLATFORM") or host.settings.platform
    found = [each for each in host.entry_points(PLATFORMS) if wanted in ("", each.name)]
    if len(found) != 1:
        return Status.UNKNOWN, ["no single platform is chosen"]
    (entry,) = found
    try:
        done = subprocess.run(  # noqa: S603 - what SGLang would call
            subprocesses.python("-c", PROBE, PLATFORMS, entry.name, entry.value),
            env=dict(host.environment),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Status.FOUND, [f"{entry.value} gave no answer within {PATIENCE:.0f} s"]
    _, marked, answer = done.stdout.rpartition("\nANSWER ")
    last = done.stderr.strip().splitlines()[-3:]
    if not marked:
        return Status.FOUND, [f"{entry.value} ended with {done.returncode}", *last]
    if answer.strip() == "declined":
        return Status.FOUND, [f"{entry.value} declined", *last]
    return Status.OK, [f"{entry.value} gives {answer.strip()}"]


@check(
    "platform.plugins-are-loaded",
    symptom="the plugin's operators and services are not called",
    title="SGLANG_PLUGINS leaves out none of the plugin's entry points",
    mend="unset SGLANG_PLUGINS, or name in it all that the plugin needs",
)
def plugins_are_loaded(host: Host) -> tuple[Status, Sequence[str]]:
    """Hold the variable against what the plugin wants loaded."""
    names = [each.name for each in host.entry_points(PLUGINS)]
    wanted = host.settings.plugins or tuple(names)
    lost = [each for each in wanted if each not in names]
    if lost:
        return Status.FOUND, [f"not installed in {PLUGINS}: {', '.join(lost)}"]
    if "SGLANG_PLUGINS" not in host.environment:
        return Status.OK, [f"{PLUGINS}: {', '.join(names) or 'none'}"]
    allowed = {each.strip() for each in host.environment["SGLANG_PLUGINS"].split(",")}
    left = [each for each in wanted if each not in allowed]
    said = f"SGLANG_PLUGINS={host.environment['SGLANG_PLUGINS']}"
    return (Status.FOUND, [f"{said} leaves out {', '.join(left)}"]) if left else (Status.OK, [said])
