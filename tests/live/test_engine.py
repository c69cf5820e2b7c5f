"""The engine's process: what it is given, and that it never outlives a failure silently."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from sglang_contracts.errors import ContractsError
from sglang_contracts.live import engine, register, shim, trace
from sglang_contracts.live.engine import Answer, Group, Job

PROJECT = Path(__file__).resolve().parents[2]

FAKE = """
import os, sys
class Engine:
    def __init__(self, **settings):
        self.settings = settings
        {start}
    def generate(self, input_ids, sampling_params, return_logprob=False, logprob_start_len=-1):
        logprobs = [(None, 1), (-0.5, 2)] if return_logprob else []
        return [
            {{"output_ids": [len(ids), sampling_params["max_new_tokens"]],
              "meta_info": {{"cached_tokens": logprob_start_len, "input_token_logprobs": logprobs,
                            "output_token_logprobs": [(-0.25, 3)] if return_logprob else []}}}}
            for ids in input_ids
        ]
    def shutdown(self): ...
"""


def job(tmp_path, **more):
    groups = (Group(((1, 2), (3, 4, 5)), new_tokens=7), Group(((9,),), logprobs=True))
    return Job(tmp_path / "model", "kunlun", 16, groups, **more)


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Put an engine of our own where SGLang's is looked for."""

    def make(start="pass"):
        package = tmp_path / "packages" / "sglang" / "srt" / "entrypoints"
        package.mkdir(parents=True)
        for folder in (package, package.parent, package.parent.parent):
            (folder / "__init__.py").write_text("")
        (package / "engine.py").write_text(textwrap.dedent(FAKE).format(start=start))
        info = tmp_path / "packages" / "sglang-0.5.16.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: sglang\nVersion: 0.5.16\n")
        paths = (str(tmp_path / "packages"), str(PROJECT))
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))

    return make


def test_answers_come_back_group_by_group(tmp_path, fake):
    fake()
    result = engine.run(job(tmp_path), "0.5.16", tmp_path / "run", timeout=60)
    first, second = result.answers
    assert first == (Answer((2, 7), -1), Answer((3, 7), -1))
    assert second == (Answer((1, 8), 0, (-0.5,), (-0.25,)),)
    assert len(result.seconds) == 3


def test_a_failure_shows_the_end_of_the_log(tmp_path, fake):
    fake("print('about to fail', flush=True); raise RuntimeError('no pages left')")
    with pytest.raises(ContractsError, match=r"failed \(1\) with backend kunlun, page") as error:
        engine.run(job(tmp_path), "0.5.16", tmp_path / "run", timeout=60)
    assert "no pages left" in error.value.hint


def test_an_engine_that_does_not_answer_is_ended_with_its_children(tmp_path, fake):
    fake(
        "import subprocess, time; "
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); "
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid)); time.sleep(600)"
    )
    with pytest.raises(ContractsError, match="no answer after 6 s"):
        engine.run(job(tmp_path), "0.5.16", tmp_path / "run", timeout=6)
    assert ended(int((tmp_path / "pid").read_text()))


def ended(pid):
    """Whether a process is gone; a killed orphan may stay until it is collected, as a zombie."""
    stat = Path(f"/proc/{pid}/stat")
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
    return False


def test_an_engine_ends_with_whoever_started_it(tmp_path, fake):
    pid = tmp_path / "pid"
    fake(f"import time; open({str(pid)!r}, 'w').write(str(os.getpid())); time.sleep(600)")
    (tmp_path / "job.json").write_text(
        json.dumps({"model": "m", "backend": "b", "page_size": 1, "groups": [], "options": {}})
    )
    starter = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import subprocess, sys; subprocess.run([sys.executable, '-m',"
            f" 'sglang_contracts.live.engine', {str(tmp_path / 'job.json')!r}, 'out'],"
            " start_new_session=True)",
        ]
    )
    deadline = time.monotonic() + 120  # a busy machine starts Python slowly
    while not (pid.exists() and pid.read_text()) and time.monotonic() < deadline:
        assert starter.poll() is None
    starter.send_signal(signal.SIGKILL)
    starter.wait()
    assert ended(int(pid.read_text()))


def test_a_platform_is_named_and_no_other_plugin_takes_part_without_one(tmp_path):
    with_plugin = engine.environment(job(tmp_path, platform="kunlun"), "0.5.16")
    assert with_plugin["SGLANG_PLATFORM"] == "kunlun"
    assert "SGLANG_PLUGINS" not in with_plugin
    without = engine.environment(job(tmp_path), "0.5.16")
    assert without["SGLANG_PLUGINS"] == "none"
    assert without["SGLANG_USE_CPU_ENGINE"] == "1"
    for found in (with_plugin, without):
        assert found[shim.VARIABLE] == "1"
        assert found["HF_HUB_OFFLINE"] == "1"


def test_triton_is_interpreted_only_where_upstreams_allocator_needs_it(tmp_path):
    def interpreted(release, **more):
        return "TRITON_INTERPRET" in engine.environment(job(tmp_path, **more), release)

    assert interpreted("0.5.9")
    assert not interpreted("0.5.22")
    assert not interpreted("0.5.16", platform="kunlun")


def test_trace_and_registration_are_set_for_this_run_alone(tmp_path, monkeypatch):
    monkeypatch.setenv(trace.VARIABLE, "of another run")
    assert trace.VARIABLE not in engine.environment(job(tmp_path), "0.5.9")
    chosen = job(tmp_path, trace=tmp_path, register="a=b:C")
    found = engine.environment(chosen, "0.5.9")
    assert found[trace.VARIABLE] == str(tmp_path)
    assert found[register.VARIABLE] == "a=b:C"
