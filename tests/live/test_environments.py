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


def test_who_waits_for_the_lock_is_told_so(tmp_path):
    lock = tmp_path / "lock"
    waiter = (
        "import sys\n"
        "from pathlib import Path\n"
        "from sglang_contracts.live.environments import locked\n"
        "with locked(Path(sys.argv[1])): pass"
    )
    with environments.locked(lock):
        waiting = subprocess.Popen(
            [sys.executable, "-c", waiter, str(lock)], stderr=subprocess.PIPE, text=True
        )
        said = waiting.stderr.readline()
    assert waiting.wait() == 0
    assert said == f"waiting for the process that holds {lock}\n"


@pytest.fixture
def built(tmp_path, monkeypatch):
    """A project whose base is built without pip: what was run is kept."""
    ran = []
    (tmp_path / "matrix").mkdir()
    (tmp_path / "matrix" / "live-requirements.txt").write_text("torch==2.13.0\n")

    def run(command, hint=""):
        ran.append(" ".join(map(str, command)))
        if "-r" in command:
            (environments._site(command[0].parents[1]) / "torch").mkdir(parents=True)

    monkeypatch.setattr(environments, "_run", run)
    monkeypatch.setattr(environments, "_torch_imports", lambda python: True)
    return lambda: environments.base(tmp_path / "work", tmp_path), ran


def test_the_base_is_built_once(built):
    base, ran = built
    site = base()
    before = list(ran)
    assert base() == site
    assert ran == before
    assert sum("venv" in command for command in ran) == 1


def test_a_base_whose_building_was_ended_is_built_again(built):
    base, ran = built
    (base().parents[2] / "complete").unlink()
    base()
    assert sum("venv" in command for command in ran) == 2


def test_a_base_that_has_lost_its_packages_is_built_again(built, capsys):
    base, _ = built
    (base() / "torch").rmdir()
    assert (base() / "torch").is_dir()
    assert "lost its packages" in capsys.readouterr().out


def test_an_environment_starts_with_rare_collections_and_has_the_base(tmp_path, monkeypatch):
    base, own = tmp_path / "base", tmp_path / "own"
    base.mkdir()
    own.mkdir()
    (base / "in_the_base.py").touch()
    monkeypatch.setattr(environments, "base", lambda work, project: base)
    monkeypatch.setattr(environments.sysconfig, "get_paths", lambda: {"purelib": str(own)})
    assert environments.link(tmp_path) == base
    code = f"import site; site.addsitedir({str(own)!r}); import in_the_base, gc; "
    done = subprocess.run(
        [sys.executable, "-I", "-c", code + "print(gc.get_threshold())"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "(50000, 50, 100)\n"


def test_a_package_that_pip_cannot_get_is_said_with_what_to_do(capfd):
    with pytest.raises(SystemExit, match=r"(?s)failed \(3\).*PIP_FIND_LINKS"):
        environments._run(
            [sys.executable, "-c", "raise SystemExit(3)"], "with PIP_FIND_LINKS run it again"
        )
