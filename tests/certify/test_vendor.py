"""A plugin that is not ours, installed as a wheel is: certified, verified, tampered with."""

import importlib
import json
import re

import pytest

pytest.importorskip("torch")


@pytest.fixture(scope="module")
def certified(certify, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    done = certify(
        *("acme-sglang", "--sglang", "fake:0.5.16", "--profile", "quick", "--out", out),
        *("--issuer", "Acme QA"),
    )
    return done, out


def test_it_reaches_the_top_and_what_it_lacks_is_skipped_with_reasons(certified):
    done, out = certified
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((out / "certificate.json").read_text())
    assert found["verdict"] == "passed"
    assert found["level_reached"] == 4
    assert found["issued"]["by"] == "Acme QA"
    skipped = [check for check in found["checks"] if check["outcome"] == "skip"]
    assert skipped
    assert all(check["reason"] for check in skipped)
    by_id = {check["id"]: check for check in found["checks"]}
    assert "'graph-capture'" in by_id["graph.replay-equals-the-oracle"]["reason"]
    assert by_id["kv-path.never-goes-through-the-host"]["outcome"] == "skip"
    assert by_id["kv-pool.tokens-land-in-their-slots"]["outcome"] == "pass"
    assert {tuple(each) for each in found["exercised"]} == {
        (mode, dtype, 64) for mode in ("extend", "decode") for dtype in ("float32", "bfloat16")
    }
    assert sorted(path.name for path in out.iterdir()) == [
        "certificate.html",
        "certificate.json",
        "junit.xml",
    ]


def test_any_number_of_processes_finds_the_same_in_the_same_order(certify, tmp_path):
    found = []
    for jobs in ("1", "3"):
        out = tmp_path / jobs
        done = certify(
            *("acme-sglang", "--sglang", "fake:0.5.16", "--profile", "quick", "--level", "2"),
            *("--jobs", jobs, "--out", out),
        )
        assert done.returncode == 0, done.stdout + done.stderr
        told = re.findall(r"^\[(\d+)/(\d+)\]", done.stderr, re.M)
        certificate = json.loads((out / "certificate.json").read_text())
        found.append(
            {
                **{key: certificate[key] for key in ("planned", "exercised", "capabilities")},
                "outcomes": [(c["id"], c["outcome"], c["cells"]) for c in certificate["checks"]],
            }
        )
        assert [int(done) for done, _ in told] == [*range(1, len(certificate["planned"]) + 1)]
    assert found[0] == found[1]
    assert [each for each, _, _ in found[0]["outcomes"]] == found[0]["planned"]


def test_its_progress_is_told(certified):
    done, _ = certified
    assert "plugin.every-use-resolves ok" in done.stderr


def test_its_certificate_verifies(certify, certified):
    done = certify("--verify", certified[1] / "certificate.json")
    assert done.returncode == 0, done.stdout
    assert "by Acme QA" in done.stdout
    assert "not a signature" in done.stdout


def test_one_byte_more_in_the_plugin_is_noticed(certify, certified, site):
    path = site / "acme_sglang" / "cache.py"
    kept = path.read_bytes()
    path.write_bytes(kept + b"\n")
    try:
        done = certify("--verify", certified[1] / "certificate.json")
    finally:
        path.write_bytes(kept)
    assert done.returncode == 1
    assert "changed: acme_sglang/cache.py" in done.stdout


def test_another_suite_is_noticed(certified, site, monkeypatch):
    module = importlib.import_module("sglang_contracts.certify.verify")
    monkeypatch.syspath_prepend(str(site))
    path = certified[1] / "certificate.json"
    monkeypatch.setattr(module, "suite_files", lambda: {"sglang_contracts/suite/engine.py": "0"})
    assert any("suite" in fault for fault in module.verify(path).faults)
    monkeypatch.setattr(module, "__version__", "9.9")
    assert any("version" in fault for fault in module.verify(path).faults)


def test_a_backend_that_fails_exits_with_1_and_says_how_to_see_it(certify, site):
    path = site / "acme_sglang" / "attention.py"
    kept = path.read_text()
    path.write_text(kept.replace("* layer.scaling", "* layer.head_dim**-0.5"))
    try:
        done = certify("acme-sglang", "--sglang", "fake:0.5.16", "--profile", "quick", "-q")
    finally:
        path.write_text(kept)
    assert done.returncode == 1
    assert "fail: attention-backend.prefill-equals-the-oracle" in done.stdout
    assert 'reproduce("attention-backend.prefill-equals-the-oracle"' in done.stdout
    assert "level 1 reached" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("acme-sglang", "--sglang", "0.5.16"), "SGLang"),
        (("no-such-plugin", "--sglang", "fake:0.5.16"), "no distribution 'no-such-plugin'"),
        (("acme-sglang", "--sglang", "fake:9.9"), "9.9"),
        (("acme-sglang", "--sglang", "fake:"), "write --sglang fake:"),
        (("acme-sglang", "--sglang", "fake:latest"), "write --sglang fake:0."),
        (("acme-sglang", "--sglang", "FAKE:0.5.12"), "write --sglang fake:0.5.12"),
        (("acme-sglang", "--sglang", "fake:0.5.12", "--timeout", "nan"), "no number of seconds"),
        (("pip", "--sglang", "fake:0.5.16"), "declares no capabilities"),
        ((), "no plugin is named"),
    ],
)
def test_what_cannot_be_run_exits_with_2_and_says_why(certify, arguments, words):
    done = certify(*arguments)
    assert done.returncode == 2, done.stdout
    assert words in done.stderr
    assert "Traceback" not in done.stderr


ATTENTION = "class AcmeAttention(AttentionBackend):"
IN_A_PASS = "        refuse_what_is_not_served(layer, kwargs)\n"


@pytest.mark.parametrize(
    ("before", "after", "code", "words"),
    [
        (ATTENTION, f"raise RuntimeError('no license')\n{ATTENTION}", 1, "no license"),
        (ATTENTION, f"import sys\nsys.exit(3)\n{ATTENTION}", 1, "raised SystemExit: 3"),
        (ATTENTION, f"raise KeyboardInterrupt\n{ATTENTION}", 1, "raised KeyboardInterrupt"),
        (ATTENTION, f"class Odd(BaseException): pass\nraise Odd('x')\n{ATTENTION}", 1, "Odd: x"),
        (ATTENTION, f"import pytest\npytest.skip('no card')\n{ATTENTION}", 1, "Skipped: no card"),
        (ATTENTION, f"raise OSError('a\\udcffb')\n{ATTENTION}", 1, "OSError: a\\udcffb"),
        (
            ATTENTION,
            f"class Odd(Exception):\n    __str__ = None\nraise Odd\n{ATTENTION}",
            1,
            "raised Odd: (its text cannot be read: __str__ raises TypeError)",
        ),
        (ATTENTION, f"from sglang.srt.nowhere import x\n{ATTENTION}", 1, "sglang.srt.nowhere"),
        (ATTENTION, f"import os\nos._exit(7)\n{ATTENTION}", 2, "ended with status 7, before the"),
        (ATTENTION, "class Renamed(AttentionBackend):", 2, "has no AcmeAttention"),
        (
            IN_A_PASS,
            "        import os; os._exit(0)\n",
            2,
            "with status 0, during attention-backend.",
        ),
        (IN_A_PASS, "        raise SystemExit(0)\n", 1, "raised SystemExit: 0"),
        (IN_A_PASS, "        while True: pass\n", 2, "was ended after 10 s, "),
    ],
)
def test_a_plugin_that_raises_exits_or_hangs_is_told_from_a_run_that_could_not_be(
    certify, site, before, after, code, words
):
    timeout = "10" if "while" in after else "300"
    path = site / "acme_sglang" / "attention.py"
    kept = path.read_text()
    assert before in kept
    path.write_text(kept.replace(before, after))
    try:
        done = certify(
            *("acme-sglang", "--sglang", "fake:0.5.16", "--profile", "quick", "-q"),
            *("--level", "1" if before == ATTENTION else "2", "--timeout", timeout),
        )
    finally:
        path.write_text(kept)
    assert done.returncode == code, done.stdout + done.stderr
    assert words in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_one_reason_is_told_once(certify, site):
    path = site / "acme_sglang" / "attention.py"
    kept = path.read_text()
    path.write_text(kept.replace(ATTENTION, f"raise RuntimeError('no license')\n{ATTENTION}"))
    try:
        done = certify("acme-sglang", "--sglang", "fake:0.5.16", "--level", "1", "-q")
    finally:
        path.write_text(kept)
    (line,) = re.findall(
        r"^  fail +(\d+) checks  (RuntimeError: no license at .*)$", done.stdout, re.M
    )
    assert int(line[0]) > 1
    raised = kept[: kept.index(ATTENTION)].count("\n") + 1
    assert line[1] == f"RuntimeError: no license at acme_sglang/attention.py:{raised} in <module>"
    assert done.stdout.count("for the same reason: ") == 1
    assert done.stdout.count("raised RuntimeError: no license") == 1
    assert f"next: mend this first: {line[1]}" in done.stdout


def test_a_level_reached_on_little_says_so(certified):
    done, out = certified
    found = json.loads((out / "certificate.json").read_text())
    assert found["mostly_skipped"] == [3, 4]
    assert "most checks of levels 3 and 4 were skipped" in done.stdout
    assert "it is reached on little evidence" in (out / "certificate.html").read_text()


def test_a_place_that_cannot_be_written_to_is_noticed_before_the_run(certify, tmp_path):
    (tmp_path / "file").touch()
    done = certify("acme-sglang", "--sglang", "fake:0.5.16", "--out", tmp_path / "file" / "report")
    assert done.returncode == 2
    assert "choose another --out" in done.stderr
    assert "plugin.every-use-resolves" not in done.stderr


def test_the_wrong_installed_sglang_is_named(monkeypatch):
    import importlib.metadata

    from sglang_contracts.certify.run import release_of
    from sglang_contracts.errors import ContractsError

    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.5.20")
    with pytest.raises(ContractsError, match=r"SGLang 0\.5\.20 is installed here, not 0\.5\.16"):
        release_of("0.5.16")
    assert release_of("installed") == "0.5.20"
