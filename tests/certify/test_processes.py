"""The processes that share a run: all that they tell is heard, and nothing of them stays."""

import os
import time

import pytest

from sglang_contracts.certify import leftovers
from sglang_contracts.certify.output import Kept
from sglang_contracts.certify.processes import Limits, Part, run
from sglang_contracts.certify.share import Share
from sglang_contracts.errors import ContractsError

PLAN = ("a.1", "a.2", "a.3", "a.4", "a.5")
WRITES = """
import os, pathlib, subprocess, sys, threading, time
from sglang_contracts.suite.channel import opened

def pytest_addoption(parser):
    parser.addoption("--sglang-checks")

def pytest_collection_finish(session):
    ids = open(session.config.getoption("--sglang-checks")).read().split()
    channel = opened()
    channel.send({"planned": ids})
    print("it was", *ids, flush=True)
    for each in ids:
        token = channel.token({"began": each})
        exec(os.environ.get("IN_" + each.replace(".", "_"), ""))
        result = {"id": each, "level": 1, "title": "It holds", "outcome": "pass"}
        channel.send({"result": result, "token": token})
    channel.send({"finished": {}, "token": channel.token({"closing": True})})
    exec(os.environ.get("AT_THE_END", ""))
"""


@pytest.fixture
def started(tmp_path, monkeypatch):
    """Runs the plan; ``doing`` says what happens in a check. Gives the parts and every line."""
    (tmp_path / "writes.py").write_text(WRITES)
    (tmp_path / "test_nothing.py").write_text("def test_nothing(): pass\n")
    nothing = str(tmp_path / "test_nothing.py")
    arguments = ["-q", "-s", "-p", "writes", "-p", "no:cacheprovider", f"--rootdir={tmp_path}"]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *_path()]))
    lines = []

    def start(jobs=1, limits=None, **doing):
        for name, code in doing.items():
            monkeypatch.setenv(name, code)
        home = tmp_path / "home"
        home.mkdir()
        limits = limits or Limits(600)
        return run([*arguments, nothing], PLAN, jobs, home, limits, lines.append), lines

    return start


def _path():
    return [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]


def done(parts):
    return sorted(id for part in parts for id in part.share.results)


def test_every_line_of_every_process_is_told_once(started):
    parts, lines = started(3)
    assert sorted(line["result"]["id"] for line in lines if "result" in line) == [*PLAN]
    shares = [["a.1", "a.4"], ["a.2", "a.5"], ["a.3"]]
    assert [part.share.first("planned") for part in parts] == shares
    assert [
        f"it was {' '.join(ids)}" in p.said() for p, ids in zip(parts, shares, strict=True)
    ] == [True] * 3
    assert all(part.ended.startswith("its process ended with status 0") for part in parts)
    assert not any(part.share.notes or part.ended_early or part.lingered for part in parts)


def test_there_are_no_more_processes_than_checks(started):
    parts, _ = started(9)
    assert len(parts) == 5


def test_one_that_ends_in_a_check_loses_that_check_alone(started):
    parts, _ = started(2, IN_a_2="os._exit(9)", IN_a_3="os.kill(os.getpid(), 11)")
    assert done(parts) == ["a.1", "a.4", "a.5"]
    early = {part.share.running: part for part in parts if part.ended_early}
    assert early["a.2"].ended == "its process ended with status 9, during a.2"
    assert early["a.3"].ended == "its process was ended by signal 11 (SIGSEGV), during a.3"
    assert "test_nothing" not in early["a.3"].said()
    assert [part.starts for part in parts if not part.ended_early] == [2, 2]


def test_one_that_ends_in_every_check_is_not_started_for_ever(started, monkeypatch):
    monkeypatch.setattr("sglang_contracts.certify.processes._MOST_STARTS", 3)
    parts, _ = started(**{f"IN_{id.replace('.', '_')}": "os._exit(0)" for id in PLAN})
    assert len(parts) == 3
    assert parts[-1].share.left() == ["a.4", "a.5"]


def test_one_that_hangs_is_ended_after_the_time_that_all_have(started):
    parts, _ = started(2, Limits(8), IN_a_1="time.sleep(6000)")
    assert "was ended after 8 s, during a.1" in parts[0].ended
    assert parts[0].late
    assert not parts[0].ended_early
    assert all(part.process.returncode is not None for part in parts)


@pytest.mark.parametrize(
    "code",
    [
        "threading.Thread(target=time.sleep, args=(6000,)).start()",
        "import atexit; atexit.register(time.sleep, 6000)",
    ],
)
def test_one_that_does_not_end_after_its_checks_is_ended_and_they_count(started, code):
    begin = time.monotonic()
    parts, _ = started(limits=Limits(600, closing=0.5), AT_THE_END=code)
    assert time.monotonic() - begin < 300
    assert done(parts) == [*PLAN]
    assert parts[0].lingered
    assert "did not end by itself after its checks, and was ended" in parts[0].ended


def test_an_output_without_end_is_kept_in_part(started):
    prints = "print('first'); [print('x' * 1000) for _ in range(20000)]; print('last')"
    parts, _ = started(IN_a_1=prints)
    said = parts[0].said()
    assert len(said) < 200_000
    assert "first" in said
    assert "bytes left out" in said
    assert done(parts) == [*PLAN]


STARTS = """
import subprocess
for session in (False, True):
    # Its parent ends at once: it is nobody's child.
    inner = "import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', 'import time;"
    inner += f" time.sleep(6000)'], start_new_session={session}, stdout=2).pid)"
    told = subprocess.run([sys.executable, "-c", inner], stdout=-1, start_new_session=session)
    with open(NOTE, "a") as note:
        note.write(told.stdout.decode())
child = subprocess.Popen(["sleep", "6000"], start_new_session=True, env={})
with open(NOTE, "a") as note:
    note.write(f"{child.pid}\\n")
"""


@pytest.mark.skipif(not leftovers._PROC.is_dir(), reason="this system has no /proc")
def test_what_it_has_started_ends_with_it_also_in_a_session_of_its_own(started, tmp_path):
    note = tmp_path / "pids"
    started(limits=Limits(600, closing=0.5), IN_a_1=f"NOTE = {str(note)!r}\n{STARTS}")
    pids = [int(line) for line in note.read_text().split()]
    assert len(pids) == 3
    assert [pid for pid in pids if leftovers._born(pid) and leftovers._state(pid) != "Z"] == []


@pytest.mark.skipif(not leftovers.memory_of([os.getpid()]), reason="memory cannot be told here")
def test_one_that_fills_the_memory_is_ended_and_the_others_are_not(started):
    limits = Limits(600, memory=400 << 20)
    fills = "kept = []\nwhile True: kept.append(bytearray(8 << 20)); time.sleep(0.01)"
    parts, _ = started(1, limits, IN_a_3=fills)
    assert done(parts) == ["a.1", "a.2", "a.4", "a.5"]
    (early,) = [part for part in parts if part.ended_early]
    assert "GB of memory, during a.3" in early.ended


def part_of(share, said="", ended="it ended"):
    kept = Kept()
    kept.add(said.encode())
    return Part(None, share, kept, leftovers.Family(""), 1, ended=ended)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([{"stopped": {"message": "no such release", "hint": "record it"}}], "no such release"),
        ([], "the suite could not be run: it ended"),
        ([{"planned": ["a.b"]}], "the suite could not be run: it ended"),
    ],
)
def test_what_says_nothing_on_the_plugin_is_no_verdict(lines, words):
    from sglang_contracts.certify.run import _refuse_what_was_not_run

    with pytest.raises(ContractsError, match=words):
        _refuse_what_was_not_run([part_of(Share(["a.b"], lines=lines))])


def test_a_share_whose_plan_is_not_known_is_no_verdict_either():
    from sglang_contracts.certify.run import _refuse_what_was_not_run

    fine = Share(["a.b"], lines=[{"planned": ["a.b"]}, {"finished": {}}])
    parts = [part_of(fine), part_of(Share(["a.c"]), "out of memory\n", "the other ended")]
    _refuse_what_was_not_run(parts[:1])
    with pytest.raises(ContractsError, match="the other ended") as caught:
        _refuse_what_was_not_run(parts)
    assert "out of memory" in caught.value.hint
