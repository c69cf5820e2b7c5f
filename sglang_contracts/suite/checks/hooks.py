"""Level 1: the hooks that a plugin registers, and whether they fit this release."""

from __future__ import annotations

import inspect
import logging
import multiprocessing
import os
import pkgutil
from typing import Any

from sglang_contracts.live.differences import symbol
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.served import HOOKS, entered
from sglang_contracts.suite.violation import Inapplicable, expect

_TIMEOUT = 60.0


def needs_plugins(context: Context) -> None:
    """Skip the check where the release or the plugin has no general entry points."""
    if not context.builder.differences.has_platforms:
        raise Inapplicable(
            f"SGLang {context.release} loads no general plugins: they start with 0.5.11"
        )
    subject = context.subject
    if not subject.register and subject.activate is None and subject.platform is None:
        raise Inapplicable("the plugin brings no entry points: only its backend was handed over")


@check(
    "hooks.targets-exist",
    1,
    "Every hook that the plugin registers has a target in this release",
    clauses=("plugin-loading/register",),
    why="SGLang only logs a missing target: the feature is off, silently.",
)
def _targets(context: Context) -> None:
    needs_plugins(context)
    with entered(context.subject) as there:
        targets = list(there.hooks)
    missing = [target for target in targets if _resolved(target) is None]
    expect(
        not missing,
        f"{len(missing)} of {len(targets)} hooks have no target in SGLang {context.release}: "
        f"{', '.join(missing)}",
    )
    if not targets:
        raise Inapplicable("the plugin registers no hooks")


def _resolved(target: str) -> Any:
    try:
        return pkgutil.resolve_name(target)
    except Exception:  # whatever an import raises: the hook will not be applied
        return None


@check(
    "hooks.fit-their-targets",
    1,
    "Every hook takes the arguments of what it is hooked to",
    clauses=("plugin-loading/HookType",),
    why="The registry checks no signature: the first call raises, deep in a forward pass.",
)
def _fit(context: Context) -> None:
    needs_plugins(context)
    with entered(context.subject) as there:
        entries = [(t, kind, hook) for t, each in there.hooks.items() for kind, hook, _ in each]
    if not entries:
        raise Inapplicable("the plugin registers no hooks")
    for target, kind, hook in entries:
        original = _resolved(target)
        if original is None or isinstance(hook, type) or isinstance(original, type):
            continue
        try:
            wanted = inspect.signature(original)
            offered = inspect.signature(hook)
        except (TypeError, ValueError):
            continue
        extra = [object()] if kind.name in ("AROUND", "AFTER") else []
        problem = _unbound(wanted, offered, extra)
        expect(
            not problem,
            f"the {kind.name} hook on {target} cannot be called as the target is: {problem}",
        )


@check(
    "hooks.are-applied",
    1,
    "apply_hooks() applies every hook that the plugin registers",
    clauses=("plugin-loading/apply_hooks", "plugin-loading/_patched"),
    why="The registry logs what it cannot apply, and goes on without it.",
)
def _applied(context: Context) -> None:
    needs_plugins(context)
    if "fork" not in multiprocessing.get_all_start_methods():
        raise Inapplicable("this system cannot fork: hooks would be applied to the suite itself")
    with entered(context.subject) as there:
        if not there.hooks:
            raise Inapplicable("the plugin registers no hooks")
        left = _left_out()
    expect(
        left is not None,
        "apply_hooks() ended the process",
    )
    expect(
        not left,
        f"apply_hooks() has not applied {len(left or ())} of the plugin's hooks: "
        f"{', '.join(left or ())}",
    )


def _left_out() -> list[str] | None:
    """Targets that ``apply_hooks`` leaves unpatched, found out in a forked process."""
    mine, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(
        target=_apply, args=(theirs,), daemon=True
    )
    process.start()
    theirs.close()
    try:
        found: list[str] | None = mine.recv() if mine.poll(_TIMEOUT) else None
    except EOFError:
        found = None
    finally:
        process.kill()
        process.join()
        mine.close()
    return found


def _apply(pipe: Any) -> None:
    """In the child: apply, and tell what was not."""
    logging.disable(logging.CRITICAL)
    try:
        hooks = symbol(HOOKS)
        hooks._patched.clear()
        hooks.apply_hooks()
        pipe.send(sorted(set(hooks._hooks) - set(hooks._patched)))
    finally:
        pipe.close()
        os._exit(0)  # a forked child must not run the parent's exit handlers


def _unbound(wanted: inspect.Signature, offered: inspect.Signature, extra: list[Any]) -> str:
    """Why a callable with ``offered`` cannot stand in for one with ``wanted``; empty: it can."""
    positional, keywords = list(extra), {}
    for parameter in wanted.parameters.values():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            positional.append(object())
        elif parameter.kind is parameter.KEYWORD_ONLY:
            keywords[parameter.name] = object()
    try:
        offered.bind(*positional, **keywords)
    except TypeError as error:
        return str(error)
    return ""
