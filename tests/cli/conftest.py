"""A command line run in this process, on engines that answer what a test wants."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from sglang_contracts.cli import main
from sglang_contracts.verify.commands import check as uses
from sglang_contracts.verify.findings.finding import (
    Finding,
    Location,
    PluginInfo,
    ReleaseReport,
    Report,
    Severity,
    Suggestion,
    Verdict,
)

RELEASES = ("0.5.12", "0.5.12.post1", "0.5.13", "0.5.16")
SYMBOL = "sglang.srt.model_executor.forward_batch_info:ForwardBatch.token_to_kv_pool"


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command: ``run("check", ".")``."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("SGLANG_CONTRACTS_DEBUG", raising=False)

    def command(*arguments: object) -> Ran:
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return command


class FakeCatalog:
    """Only what the command line itself asks of a catalog."""

    releases = RELEASES
    damaged = ()


def lost(line: int = 2) -> Finding:
    return Finding(
        "field-removed",
        Severity.ERROR,
        SYMBOL,
        (Location("plugin.py", line),),
        "0.5.12.post1",
        "0.5.13",
        Suggestion("sglang.srt.model_executor.forward_context:get_token_to_kv_pool", "contract"),
    )


def answer(releases, command="check", findings=None) -> Report:
    """Broken from 0.5.13 on."""
    found = (lost(),) if findings is None else tuple(findings)
    entries = []
    for release in releases:
        broken = RELEASES.index(release) >= 2
        verdict = Verdict.BROKEN if broken and found else Verdict.COMPATIBLE
        entries.append(ReleaseReport(release, verdict, found if broken else ()))
    return Report(command, tuple(entries), PluginInfo("p", "1.0", "p"))


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """A plugin with one use, and an engine that says it breaks in 0.5.13."""
    root = tmp_path / "plugin"
    root.mkdir()
    (root / "plugin.py").write_text("def f(forward_batch):\n    forward_batch.token_to_kv_pool\n")
    monkeypatch.setenv("SGLANG_CONTRACTS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("sglang_contracts.surface.load_catalog", FakeCatalog)
    monkeypatch.setattr(
        uses, "check_plugin", lambda where, catalog, releases, **_: answer(releases)
    )
    return root
