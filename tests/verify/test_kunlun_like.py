"""The break this project was started from: ten reads of a field that left the batch."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sglang_contracts.surface import load_catalog
from sglang_contracts.verify import check_plugin
from sglang_contracts.verify.findings.finding import Severity

SOURCE = Path(__file__).with_name("kunlun_like.py")
FIELD = "sglang.srt.model_executor.forward_batch_info:ForwardBatch.token_to_kv_pool"


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SGLANG_CONTRACTS_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "plugin"
    folder.mkdir()
    shutil.copy(SOURCE, folder / "backend.py")
    return folder


def sites() -> list[int]:
    lines = SOURCE.read_text().splitlines()
    return [at for at, line in enumerate(lines, 1) if "forward_batch.token_to_kv_pool" in line]


def test_all_ten_lines_the_first_broken_release_and_the_replacement_are_named(
    plugin: Path,
) -> None:
    assert len(sites()) == 10
    report = check_plugin(plugin, load_catalog(), ["0.5.12.post1", "0.5.16"])
    before, after = report.releases
    assert [f.symbol for f in before.findings if f.severity is Severity.ERROR] == []
    [finding] = [f for f in after.findings if f.symbol == FIELD]
    assert finding.rule == "field-removed"
    assert [place.line for place in finding.locations] == sites()
    assert (finding.last_ok, finding.first_broken) == ("0.5.12.post1", "0.5.13")
    assert finding.suggestion is not None
    assert "get_token_to_kv_pool" in finding.suggestion.symbol
    assert not finding.by_name


def test_the_text_fits_in_twelve_lines(plugin: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from sglang_contracts.cli import main

    assert main(["check", str(plugin), "--release", "0.5.16"]) == 1
    output = capsys.readouterr().out
    assert len(output.splitlines()) <= 12, output
    for line in sites():
        assert str(line) in output
