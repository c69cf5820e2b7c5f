"""Reports made by hand: one for each status that a reporter can meet."""

from __future__ import annotations

import pytest

from sglang_contracts.verify.findings.finding import (
    Finding,
    Location,
    Note,
    PluginInfo,
    ReleaseReport,
    Report,
    Severity,
    Suggestion,
    Verdict,
)

FORWARD_BATCH = "sglang.srt.model_executor.forward_batch_info:ForwardBatch"
CONTEXT = "sglang.srt.model_executor.forward_context"


def lost_field(lines=(145, 151, 163, 170, 188, 201, 214, 230, 247, 260)) -> Finding:
    """The break that the project was started from, at ten places."""
    return Finding(
        rule="field-removed",
        severity=Severity.ERROR,
        symbol=f"{FORWARD_BATCH}.token_to_kv_pool",
        locations=tuple(Location("impl/attention_backend.py", line) for line in lines),
        last_ok="0.5.12.post1",
        first_broken="0.5.13",
        suggestion=Suggestion(
            f"{CONTEXT}:get_token_to_kv_pool",
            "contract",
            "or the pool the backend keeps from its model runner",
        ),
    )


def guarded() -> Finding:
    return Finding(
        rule="module-removed",
        severity=Severity.NOTE,
        symbol="sglang.srt.layers.attention.fla.chunk",
        locations=(Location("impl/fla.py", 3),),
        last_ok="0.5.15.post1",
        first_broken="0.5.16",
        role="guard",
    )


def awkward() -> Finding:
    """Characters that every format has to escape."""
    return Finding(
        rule="registry-removed",
        severity=Severity.WARNING,
        symbol='sglang.srt.layers.attention.attention_registry:BACKENDS["a<b>&|%"]',
        locations=(Location("odd, name:x/ä b.py", 7, 3),),
        last_ok="0.5.15.post1",
        first_broken="0.5.16",
        detail="100 % `gone`\nreally | <script>alert(1)</script> \x07",
        by_name=True,
    )


def orphan() -> Finding:
    """A finding without a place."""
    return Finding(
        rule="env-removed", severity=Severity.ERROR, symbol="env:SGLANG_OLD", last_ok="0.5.12"
    )


PLUGIN = PluginInfo("kunlun-like", "0.3.1", "plugins/kunlun")

REPORTS = {
    "compatible": Report(
        "check", (ReleaseReport("0.5.12", Verdict.COMPATIBLE),), PLUGIN, facts={"files": 3}
    ),
    "broken": Report(
        "check",
        (
            ReleaseReport("0.5.12", Verdict.COMPATIBLE),
            ReleaseReport("0.5.13", Verdict.BROKEN, (lost_field(),)),
            ReleaseReport("0.5.15", Verdict.BROKEN, (lost_field(), orphan())),
            ReleaseReport("0.5.16", Verdict.BROKEN, (awkward(), guarded(), lost_field(), orphan())),
        ),
        PLUGIN,
        notes=(
            Note("skipped: not Python", Location("impl/bad.py", 4)),
            Note("accepted finding matches nothing", None, "remove the entry", True),
        ),
    ),
    "unknown": Report("check", (ReleaseReport("0.5.16", Verdict.UNKNOWN),), PLUGIN),
    "notes-only": Report(
        "check", (ReleaseReport("0.5.16", Verdict.COMPATIBLE, (guarded(),)),), PLUGIN
    ),
    "hidden": Report(
        "check",
        (ReleaseReport("0.5.16", Verdict.BROKEN),),
        PLUGIN,
        facts={"hidden": {"in the baseline": 2}},
    ),
    "empty": Report("check"),
}


@pytest.fixture(params=sorted(REPORTS))
def any_report(request: pytest.FixtureRequest) -> Report:
    """Each of them in turn."""
    return REPORTS[request.param]


@pytest.fixture
def reports() -> dict[str, Report]:
    """All of them by status."""
    return REPORTS
