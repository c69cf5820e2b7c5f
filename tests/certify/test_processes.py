"""The processes that share a run: what they write is all read, and none is lost."""

import json
import subprocess
import sys

import pytest

from sglang_contracts.certify.processes import Part, run
from sglang_contracts.errors import ContractsError

WRITES = """
import json, os, sys

def pytest_addoption(parser):
    parser.addoption("--sglang-part")
    parser.addoption("--sglang-results")

def pytest_collection_finish(session):
    mine, _, of = session.config.getoption("--sglang-part").partition("/")
    ids = [str(n) for n in range(int(mine), 6, int(of))]
    with open(session.config.getoption("--sglang-results"), "w") as file:
        for line in ({"planned": ids}, *({"result": {"id": each}} for each in ids)):
            file.write(json.dumps(line) + "\\n")
    print("it was", mine)
    if mine == os.environ.get("DIES"):
        os._exit(9)
    if mine == os.environ.get("HANGS"):
        import time
        time.sleep(6000)
"""


@pytest.fixture
def arguments(tmp_path):
    (tmp_path / "writes.py").write_text(WRITES)
    (tmp_path / "test_nothing.py").write_text("def test_nothing(): pass\n")
    nothing = str(tmp_path / "test_nothing.py")
    return ["-q", "-p", "writes", "-p", "no:cacheprovider", f"--rootdir={tmp_path}", nothing]


@pytest.fixture
def started(arguments, tmp_path, monkeypatch):
    """Runs them; gives the parts and every line that was told."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    lines = []

    def start(jobs, timeout=600):
        home = tmp_path / "home"
        home.mkdir()
        return run(arguments, jobs, home, timeout, lines.append), lines

    return start


def test_every_line_of_every_process_is_told_once(started):
    parts, lines = started(3)
    told = sorted(line["result"]["id"] for line in lines if "result" in line)
    assert told == ["1", "2", "3", "4", "5"]
    assert [part.first("planned") for part in parts] == [["1", "4"], ["2", "5"], ["3"]]
    assert ["it was" in part.said() for part in parts] == [True] * 3
    assert all(part.ended.startswith("its process ended with status 0") for part in parts)


def test_one_that_dies_does_not_take_the_others_along(started, monkeypatch):
    monkeypatch.setenv("DIES", "2")
    parts, lines = started(2)
    assert "ended with status 9" in parts[1].ended
    assert "ended with status 0" in parts[0].ended
    assert len([line for line in lines if "result" in line]) == 5


def test_one_that_hangs_is_ended_after_the_time_that_all_have(started, monkeypatch):
    monkeypatch.setenv("HANGS", "1")
    parts, _ = started(2, timeout=5)
    assert "was ended after 5 s" in parts[0].ended
    assert all(part.process.returncode is not None for part in parts)


def test_half_a_line_has_not_come_yet_and_what_is_no_line_of_ours_is_left_out(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    part = Part(process, tmp_path / "results", tmp_path / "log")
    assert list(part.read()) == []
    whole = json.dumps({"began": "a.b"}) + "\n"
    (tmp_path / "results").write_text("no json\n" + whole + whole[:5])
    assert list(part.read()) == [{"began": "a.b"}]
    assert part.place() == "during a.b"
    with part.results.open("a") as file:
        file.write(whole[5:] + json.dumps({"result": {"id": "a.b"}}) + "\n")
    assert [*map(list, part.read())] == [["began"], ["result"]]
    assert part.place() == "after a.b"
    assert not part.unfinished()


@pytest.mark.parametrize(
    "junk",
    [
        b"5",
        b"[]",
        b'"planned"',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"result": 3}',
        b'{"result": {"level": 3}}',
        b'{"planned": 5}',
        b'{"stopped": {}}',
        b'{"finished": {"used": [["extend", "float32", "many"]]}}',
    ],
)
def test_what_a_plugin_writes_among_the_results_is_left_out(tmp_path, junk):
    part = Part(None, tmp_path / "results", tmp_path / "log")
    part.results.write_bytes(junk + b'\n{"began": "a.b"}\n')
    assert list(part.read()) == [{"began": "a.b"}]
    assert part.place() == "during a.b"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([{"stopped": {"message": "no such release", "hint": "record it"}}], "no such release"),
        ([], "the suite could not be run: it ended"),
        ([{"planned": ["a.b"]}, {"began": "a.b"}], "the suite could not be run: it ended"),
    ],
)
def test_what_says_nothing_on_the_plugin_is_no_verdict(tmp_path, lines, words):
    from sglang_contracts.certify.run import _refuse_what_was_not_run

    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    log = tmp_path / "log"
    log.write_text("")
    parts = [Part(process, tmp_path / "none", log, lines, "it ended")]
    with pytest.raises(ContractsError, match=words):
        _refuse_what_was_not_run(parts)


def test_a_share_whose_plan_is_not_known_is_no_verdict_either(tmp_path):
    from sglang_contracts.certify.run import _refuse_what_was_not_run

    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    (tmp_path / "log").write_text("out of memory\n")
    fine = [{"planned": ["a.b"]}, {"result": {"id": "a.b"}}, {"finished": {}}]
    parts = [
        Part(process, tmp_path / "none", tmp_path / "log", fine, "it ended"),
        Part(process, tmp_path / "none", tmp_path / "log", [], "the other ended"),
    ]
    _refuse_what_was_not_run(parts[:1])
    with pytest.raises(ContractsError, match="the other ended") as caught:
        _refuse_what_was_not_run(parts)
    assert "out of memory" in caught.value.hint
