"""Level 1: what a plugin costs on a host without its runtime."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

from sglang_contracts.live.differences import symbol
from sglang_contracts.subprocesses import python
from sglang_contracts.suite.checks.platforms import without_runtime
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.served import BACKENDS, HOOKS
from sglang_contracts.suite.subject import Subject
from sglang_contracts.suite.violation import Inapplicable, SubjectError, expect

_TIMEOUT = 60.0
MODULES = 20
"""Modules beside its own, Python's and those that are there already which a plugin may import."""
_WRITING = ("open", "os.mkdir", "os.rename", "os.remove", "os.symlink")
_STARTING = ("subprocess.Popen", "os.fork", "os.posix_spawn", "socket.connect", "socket.bind")


@check(
    "platform.declining-costs-nothing",
    1,
    "Where the runtime is missing, the entry points leave nothing behind: no threads, variables, "
    "files, processes, hooks, backends or patches, and few modules",
    clauses=("plugin-loading/plugins:load_plugins",),
    forbids_raising=True,
    why="It lies on build hosts and beside other cards: there it must be as if it were not.",
)
def _declining(context: Context) -> None:
    subject = context.subject
    if not context.builder.differences.has_platforms:
        raise Inapplicable(f"SGLang {context.release} has no plugins: they start with 0.5.11")
    if subject.activate is None:
        raise Inapplicable("the plugin has no platform entry point")
    if not subject.capabilities.runtime_modules:
        raise Inapplicable("the plugin does not declare 'runtime-modules': always active")
    if "fork" not in multiprocessing.get_all_start_methods():
        raise Inapplicable("this system cannot fork: the suite's own process would be changed")
    found = _in_a_child(context)
    if isinstance(found, str):
        raise SubjectError("the entry points without the runtime", RuntimeError(found))
    for what, names in found.items():
        expect(
            not names,
            f"without the runtime the entry points leave {len(names)} {what}: "
            f"{', '.join(names[:5])}",
        )


def _in_a_child(context: Context) -> Any:
    """What they leave behind in a forked process: kind → names; a text where they raise."""
    mine, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(
        target=_watch, args=(context, theirs), daemon=True
    )
    process.start()
    theirs.close()
    try:
        return mine.recv() if mine.poll(_TIMEOUT) else f"no answer within {_TIMEOUT:.0f} s"
    except EOFError:
        return "the process has ended"
    finally:
        process.kill()
        process.join()
        mine.close()


def _watch(context: Context, pipe: Any) -> None:
    try:
        pipe.send(_left_behind(context))
    except BaseException as error:
        pipe.send(f"{type(error).__name__}: {error}")
    finally:
        pipe.close()
        os._exit(0)  # a forked child must not run the parent's exit handlers


def _left_behind(context: Context) -> dict[str, list[str]]:
    subject = context.subject
    own = {entry.__qualname__.partition(" = ")[2].partition(".")[0] for entry in subject.register}
    own |= {str(getattr(subject.activate, "__qualname__", "")).partition(" = ")[2].split(".")[0]}
    own = {name.partition(":")[0] for name in own if name}
    with without_runtime(subject):
        for name in [name for name in sys.modules if name.partition(".")[0] in own]:
            del sys.modules[name]  # as in a process that has not seen the plugin yet
        hooks, backends = symbol(HOOKS), symbol(BACKENDS)
        hooks._hooks.clear()
        offered = set(backends)
        before = set(sys.modules), dict(os.environ), set(threading.enumerate())
        faces = _faces()
        with _audited() as (written, begun):
            if subject.activate is not None:
                subject.activate()
            for entry in subject.register:
                entry()
        known = own | set(sys.stdlib_module_names)
        modules = sorted(
            name for name in set(sys.modules) - before[0] if name.partition(".")[0] not in known
        )
        changed = {n for n in {*before[1], *os.environ} if before[1].get(n) != os.environ.get(n)}
        return {
            "variables of the environment": sorted(changed),
            "threads": [thread.name for thread in set(threading.enumerate()) - before[2]],
            "files": written,
            "processes or connections": begun,
            "hooks": sorted(hooks._hooks),
            "attention backends": sorted(set(backends) - offered),
            "patches of other packages": sorted(
                name for name, value in _faces().items() if faces.get(name, value) is not value
            ),
            "modules": modules if len(modules) > MODULES else _fresh_modules(subject, own),
        }


_ENTRY = """
import importlib, sys
blocked, own, target = sys.argv[1].split(","), sys.argv[2].split(","), sys.argv[3]
for name in blocked:
    sys.modules[name] = None
before = set(sys.modules)
module, _, function = target.partition(":")
try:
    getattr(importlib.import_module(module), function)()
except ImportError:
    sys.exit()  # it wants SGLang, which is there on a host that lists platforms
known = set(own) | set(sys.stdlib_module_names)
print(*sorted(n for n in set(sys.modules) - before if n.partition(".")[0] not in known))
"""


def _fresh_modules(subject: Subject, own: set[str]) -> list[str]:
    """Modules that the platform's entry point imports in a process that has imported nothing."""
    target = str(getattr(subject.activate, "__qualname__", "")).partition(" = ")[2]
    if ":" not in target:
        return []
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    found = subject.capabilities
    for name in found.runtime_environment:
        environment.pop(name, None)
    done = subprocess.run(  # noqa: S603 - this Python, the plugin's own entry point
        python("-c", _ENTRY, ",".join(found.runtime_modules), ",".join(own), target),
        capture_output=True,
        text=True,
        timeout=_TIMEOUT,
        env=environment,
        check=False,
    )
    modules = done.stdout.split()
    return modules if len(modules) > MODULES else []


def _faces() -> dict[str, Any]:
    """What may be patched: the functions and classes of torch and of the SGLang modules there."""
    found: dict[str, Any] = {}
    for name, module in list(sys.modules.items()):
        if name in ("torch", "builtins", "os") or name.startswith("sglang."):
            for key, value in list(getattr(module, "__dict__", {}).items()):
                if callable(value):
                    found[f"{name}.{key}"] = value
    return found


@contextlib.contextmanager
def _audited() -> Iterator[tuple[list[str], list[str]]]:
    """Files that are written and processes that are begun, by Python's audit events."""
    written: list[str] = []
    begun: list[str] = []
    listening = True

    def hear(event: str, args: tuple[Any, ...]) -> None:
        if not listening:
            return
        if event in _STARTING:
            begun.append(event)
        elif event in _WRITING and not (event == "open" and not _writes(args)):
            path = str(args[0])
            if "__pycache__" not in path and path != os.devnull:
                written.append(path)

    sys.addaudithook(hear)
    try:
        yield written, begun
    finally:
        listening = False


def _writes(args: tuple[Any, ...]) -> bool:
    mode, flags = args[1], args[2]
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
