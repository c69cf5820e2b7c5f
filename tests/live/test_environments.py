"""The tox environments that are generated, and the matrix for CI."""

import json
import subprocess
import sys

import pytest

from sglang_contracts.live import environments

RELEASES = """
[[release]]
version = "0.5.9"
[[release]]
version = "0.5.10"
[[release]]
version = "0.5.9.post1"
sha256 = "x"
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "matrix").mkdir()
    (tmp_path / "matrix" / "releases.toml").write_text(RELEASES)
    return tmp_path


def test_releases_come_ascending_by_version_not_by_text(project):
    assert environments.releases(project) == ("0.5.9", "0.5.9.post1", "0.5.10")


def test_without_a_list_the_spread_is_offered(tmp_path):
    assert environments.releases(tmp_path) == environments.SPREAD


def test_labels_tell_the_spread_and_the_minors():
    assert environments.labels("0.5.9") == ("live", "all")
    assert environments.labels("0.5.10") == ("all",)
    assert environments.labels("0.5.9.post1") == ()


def test_a_matrix_lists_the_environments_of_a_label(project):
    found = environments.matrix("live", project)
    assert found == {"include": [{"release": "0.5.9", "tox": "sglang-0.5.9", "python": "3.11"}]}
    assert len(environments.matrix("all", project)["include"]) == 2
    assert len(environments.matrix("recorded", project)["include"]) == 3


def test_every_release_of_the_spread_is_recorded():
    assert set(environments.SPREAD) <= set(environments.releases())


def test_the_script_runs_by_its_path_alone():
    done = subprocess.run(
        [sys.executable, environments.__file__, "matrix"], capture_output=True, check=True
    )
    assert json.loads(done.stdout) == environments.matrix("live")


def test_one_process_at_a_time_holds_the_lock(tmp_path):
    lock, order = tmp_path / "sub" / "lock", tmp_path / "order"
    code = f"""
from pathlib import Path
from sglang_contracts.live.environments import locked
with locked(Path({str(lock)!r})):
    with open({str(order)!r}, "a") as file:
        file.write("in ")
        file.flush()
        file.write("out ")
"""
    started = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(3)]
    assert [process.wait() for process in started] == [0, 0, 0]
    assert order.read_text() == "in out " * 3


def test_requirements_are_pinned_and_name_no_build_of_torch():
    file = environments.PROJECT / "matrix" / "live-requirements.txt"
    lines = [line for line in file.read_text().splitlines() if not line.startswith("#")]
    assert all("==" in line for line in lines)
    (torch,) = [line for line in lines if line.startswith("torch==")]
    assert "+" not in torch
