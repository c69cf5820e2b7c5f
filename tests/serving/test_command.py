"""The command ``serve-check`` on servers that it did not start."""

import contextlib
import json
import signal

import pytest

from sglang_contracts.cli import main
from sglang_contracts.serving import session as sessions


@pytest.fixture
def serve_check(capsys, monkeypatch, small):
    """Run the command: exit code, stdout, stderr."""
    monkeypatch.setitem(sessions.EXTENTS, "quick", small)

    def run(*arguments, key="K"):
        monkeypatch.setenv("SGLANG_API_KEY", key)
        code = main(["serve-check", *map(str, arguments)])
        done = capsys.readouterr()
        return code, done.out, done.err

    return run


FAST = ("--profile", "quick", "--only", "answers", "--only", "concurrency", "--only", "service")


@pytest.fixture
def open_server(serve):
    """A server without a check of tokens: its plugin is not known to the command."""
    return lambda *faults: serve("token-fails-open", *faults)


def test_a_server_that_it_did_not_start(serve_check, open_server, tmp_path):
    code, out, err = serve_check("--url", open_server().url, *FAST, "--out", tmp_path)
    assert code == 0, out
    assert "SGLang 0.5.23: passed" in out
    assert "[1/" in err
    found = json.loads((tmp_path / "serving.json").read_text())
    assert found["verdict"] == "passed"
    assert found["server"]["attention_backend"] == "fake"
    assert "<html" in (tmp_path / "serving.html").read_text()
    assert "K" not in found["server"].values()


def test_one_that_dies_in_the_middle(serve_check, open_server, tmp_path):
    server = open_server()
    server.engine.left_until_death = 25
    code, out, _ = serve_check("--url", server.url, *FAST, "--out", tmp_path)
    assert code == 1
    assert "the server ended" in out
    assert "planned and not run (the server ended during" in out
    found = json.loads((tmp_path / "serving.json").read_text())
    assert found["verdict"] == "failed"
    assert found["not_run"]


def test_a_fault_gives_exit_code_1_and_says_what_and_why(serve_check, open_server):
    code, out, _ = serve_check("--url", open_server("swapped").url, *FAST)
    assert code == 1
    assert "fail: concurrency.equal-one-by-one" in out
    assert "why it matters" in out


def test_no_server_is_an_error_of_the_command(serve_check, open_server):
    server = open_server()
    url = server.url
    server.die()
    code, _, err = serve_check("--url", url)
    assert code == 2
    assert "there is no SGLang server at" in err


def test_a_missing_key_is_said_with_its_mend(serve_check, open_server):
    code, _, err = serve_check("--url", open_server().url, key="")
    assert code == 2
    assert "SGLANG_API_KEY" in err


def test_a_run_file_is_recorded_and_held(serve_check, open_server, tmp_path):
    file = tmp_path / "cuda.json"
    code, out, _ = serve_check("--url", open_server().url, "--record", file)
    assert code == 0
    assert "8 prompts" in out
    only = ("--only", "answers.equal-run-file", "--run-file", file)
    assert serve_check("--url", open_server().url, *only)[0] == 0
    code, out, _ = serve_check("--url", open_server("other-weights").url, *only)
    assert code == 1
    assert "log-probabilities differ by up to 0.2" in out


def test_a_baseline_is_a_report_of_before(serve_check, open_server, tmp_path):
    url, only = open_server().url, ("--only", "latency.first-token-over-prompts")
    assert serve_check("--url", url, *only, "--profile", "quick", "--out", tmp_path)[0] == 0
    more = ("--baseline", tmp_path / "serving.json", "--slower", "1000", "--profile", "quick")
    code, out, _ = serve_check("--url", url, *only, *more)
    assert code == 0
    assert "as a multiple of the baseline" in out
    code, _, err = serve_check("--url", url, "--baseline", tmp_path / "serving.html")
    assert code == 2
    assert "is no serving report" in err


def test_ctrl_c_leaves_a_report_of_what_ran(serve_check, open_server, tmp_path, monkeypatch):
    from sglang_contracts.serving.checks import soak

    real = soak.Run.__init__

    def interrupted(self, *args, **kwargs):
        real(self, *args, **kwargs)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(soak.Run, "__init__", interrupted)
    only = ("--only", "service.health", "--only", "soak", "--out", tmp_path)
    code, out, _ = serve_check("--url", open_server().url, *only, "--profile", "quick")
    assert code == 130
    assert "interrupted during soak.flat" in out
    found = json.loads((tmp_path / "serving.json").read_text())
    assert [each["id"] for each in found["checks"]] == ["service.health"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "no plugin and no server is named"),
        (("--url", "x"), "is no URL"),
        (("--url", "http://127.0.0.1:9", "--model", "m"), "--url names another"),
        (("sglang-kunlun-reference", "--sglang", "fake:0.5.23"), "a fake of SGLang serves nothing"),
        (("--url", "http://127.0.0.1:9", "--run-file", "nowhere.json"), "cannot read nowhere.json"),
        (("--url", "http://127.0.0.1:9", "--only", "conc"), "no check or family"),
    ],
)
def test_what_cannot_run_says_so(serve_check, arguments, said):
    code, _, err = serve_check(*arguments)
    assert code == 2
    assert said in " ".join(err.split())


@pytest.mark.parametrize("text", ["0", "-1", "4x", "", "9000h"])
def test_a_soak_has_a_time(serve_check, text):
    assert serve_check("--url", "http://127.0.0.1:9", "--soak", text)[0] == 2


def test_a_server_is_started_with_the_users_flags_and_ended(
    serve_check, open_session, monkeypatch, tmp_path
):
    seen = {}

    @contextlib.contextmanager
    def opened(subject, folder, model="", flags=(), environment=None, tell=None):
        seen.update(name=subject.name, model=model, flags=flags, ended=False)
        yield open_session()
        seen["ended"] = True

    monkeypatch.setattr("sglang_contracts.serving.plugin.opened", opened)
    monkeypatch.setattr("sglang_contracts.certify.run.release_of", lambda wanted: "0.5.23")
    code, out, _ = serve_check(
        "sglang-kunlun-reference", "--model", "m", "--only", "service", "--", "--tp-size", "8"
    )
    assert code == 0, out
    assert seen == {
        "name": "sglang-kunlun-reference",
        "model": "m",
        "flags": ("--tp-size", "8"),
        "ended": True,
    }
