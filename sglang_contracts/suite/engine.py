"""Runs checks and says how each came out. It knows none of them by name."""

from __future__ import annotations

import time
import traceback
from collections.abc import Sequence

import msgspec

from sglang_contracts.fakes.gaps import gap
from sglang_contracts.plugin.reading.settings import ExpectedFailure
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.expected import applies, judged
from sglang_contracts.suite.registry import Check
from sglang_contracts.suite.result import Result
from sglang_contracts.suite.snippet import snippet
from sglang_contracts.suite.violation import Inapplicable, SubjectError, Violation, is_ctrl_c


def run_check(check: Check, context: Context, expected: Sequence[ExpectedFailure] = ()) -> Result:
    """Run one check.

    Args:
        check: Which.
        context: Its surroundings.
        expected: The plugin's expected failures; those of this check and release count.

    Returns:
        Its result; nothing is raised but what ends the process.
    """
    entry = next((e for e in expected if e.check == check.id and applies(e, context.release)), None)
    context.shrink = entry is None
    context.failing, context.cells_used, context.skips = None, [], []
    begin = time.perf_counter()
    result = _run(check, context)
    if entry is not None:
        result = judged(result, entry)
    return msgspec.structs.replace(
        result,
        seconds=round(time.perf_counter() - begin, 3),
        cells=tuple(context.cells_used),
        omitted=tuple(context.skips),
        clauses=check.clauses,
    )


def _run(check: Check, context: Context) -> Result:
    base = Result(check.id, check.level, check.title, "pass")
    missing = [need for need in check.needs if not context.subject.capabilities.declares(need)]
    if missing:
        wanted = " and ".join(f"'{need}'" for need in missing)
        return msgspec.structs.replace(
            base, outcome="skip", reason=f"the plugin does not declare {wanted}"
        )
    try:
        check.run(context)
    except Inapplicable as reason:
        return msgspec.structs.replace(base, outcome="skip", reason=reason.reason)
    except (Violation, SubjectError) as error:
        raised = error.cause if isinstance(error, SubjectError) else error
        lacking = gap(raised)
        if lacking:
            return _not_told(base, lacking, context)
        crashed = isinstance(error, SubjectError)
        told = str(error) if isinstance(error, SubjectError) else error.message
        return msgspec.structs.replace(
            base,
            outcome="fail",
            message=_with_why(told, check),
            cause=error.why() if isinstance(error, SubjectError) else "",
            crash=crashed and not check.forbids_raising,
            reproduction=snippet(check, context),
        )
    except BaseException as error:
        if is_ctrl_c(error):
            raise
        lacking = gap(error)
        if lacking:
            return _not_told(base, lacking, context)
        return msgspec.structs.replace(base, outcome="error", message=_told(error))
    return base


def _not_told(base: Result, lacking: str, context: Context) -> Result:
    """A fake's gap: nothing is known of the plugin, and the real release is to be asked."""
    subject, release = context.subject, context.release
    tests = subject.parts.get("tests")
    if tests is not None:
        command = f"python -m pytest {tests} --sglang {release}"
    else:
        command = f"sglang-contracts certify {subject.name} --sglang {release}"
    return msgspec.structs.replace(
        base,
        outcome="error",
        cause=lacking,
        message=f"{lacking}: what the plugin makes of it cannot be told here.\n"
        f"Try it on the real release: python -m pip install 'sglang=={release}' && {command}",
    )


def _with_why(message: str, check: Check) -> str:
    return f"{message}\nwhy it matters: {check.why}" if check.why else message


def _told(error: BaseException) -> str:
    lines = traceback.format_exception(type(error), error, error.__traceback__)
    return "".join(lines[-4:]).strip()
