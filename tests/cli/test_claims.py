"""``check`` takes the releases that a plugin claims, and says which and from what."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sglang_contracts.cli import main

NEVER = "from sglang.srt.managers.schedule_batch import NeverThereBatch\n"
HOLDS = "from sglang.srt.managers.schedule_batch import Req\n"


@pytest.fixture
def checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Runs ``check --format json`` on a plugin with some files; gives the report."""

    def check(text: str, *args: str, **files: str):
        (tmp_path / "plugin.py").write_text(text)
        for name, each in files.items():
            (tmp_path / name.replace("_", ".")).write_text(each)
        code = main(["check", str(tmp_path), "--format", "json", *args])
        assert code in (0, 1)
        return json.loads(capsys.readouterr().out)

    return check


def project(requirement: str, settings: str = "") -> str:
    return f'[project]\nname = "p"\nversion = "1"\ndependencies = ["{requirement}"]\n{settings}'


def releases(report) -> list[str]:
    return [each["release"] for each in report["releases"]]


def notes(report) -> str:
    return "\n".join(each["text"] for each in report["notes"])


def test_the_releases_that_a_plugin_requires_are_checked_and_the_newest(checked):
    report = checked(HOLDS, pyproject_toml=project("sglang>=0.5.13,<0.5.15"))
    found = releases(report)
    assert found[0] == "0.5.13"
    assert found[-2].startswith("0.5.14")
    assert found[-1] == max(found, key=lambda each: [int(x) for x in each.split(".")[:3]])
    assert "sglang<0.5.15,>=0.5.13 (dependencies in pyproject.toml)" in notes(report)


def test_settings_come_before_the_requirement(checked):
    settings = '[tool.sglang-contracts]\nsupported = "==0.5.9"\n'
    report = checked(HOLDS, pyproject_toml=project("sglang==0.5.13", settings))
    assert releases(report)[0] == "0.5.9"
    assert "0.5.13" not in releases(report)


def test_the_command_line_comes_before_all(checked):
    report = checked(HOLDS, "--release", "0.5.9", pyproject_toml=project("sglang==0.5.13"))
    assert releases(report) == ["0.5.9"]
    assert "0.5.13" not in notes(report)


@pytest.mark.parametrize(
    ("requirement", "reason"),
    [("sglang>=77", "for-newer"), ("sglang @ git+https://example.org/sglang", "for-fork")],
)
def test_what_no_release_has_is_unknown_to_a_plugin_for_another_sglang(
    requirement, reason, checked
):
    report = checked(NEVER, "--release", "0.5.13", pyproject_toml=project(requirement))
    [entry] = report["releases"]
    assert entry["verdict"] == "unknown"
    assert [each["reason"] for each in entry["unresolved"]] == [reason]


def test_settings_may_name_a_fork(checked):
    settings = '[tool.sglang-contracts]\nfork = "github.com/example/sglang"\n'
    report = checked(NEVER, "--release", "0.5.13", pyproject_toml=settings)
    assert report["releases"][0]["verdict"] == "unknown"


def test_settings_for_a_release_to_come_are_no_error(checked):
    settings = '[tool.sglang-contracts]\nsupported = ">=77"\n'
    report = checked(NEVER, pyproject_toml=settings)
    assert [each["verdict"] for each in report["releases"]] == ["unknown"]
    assert "newer than all recorded releases" in notes(report)


def test_what_no_release_has_is_an_error_to_a_plugin_for_recorded_ones(checked):
    report = checked(NEVER, "--release", "0.5.13", pyproject_toml=project("sglang>=0.5.13"))
    assert report["releases"][0]["verdict"] == "broken"


def test_what_a_release_lost_is_an_error_to_a_plugin_for_a_fork(checked):
    text = (
        "from sglang.srt.model_executor.forward_batch_info import ForwardBatch\n\n\n"
        "def f(batch: ForwardBatch):\n    return batch.token_to_kv_pool\n"
    )
    needs = project("sglang @ git+https://example.org/sglang")
    report = checked(text, "--release", "0.5.16", pyproject_toml=needs)
    assert report["releases"][0]["verdict"] == "broken"
