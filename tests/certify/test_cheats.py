"""Ways to a certificate that a plugin does not deserve: each ends in a refusal."""

import importlib
import json
import shutil
import subprocess

import msgspec
import pytest

from sglang_contracts.certify import digests
from sglang_contracts.certify.certificate import (
    Outcome,
    Suite,
    load_certificate,
    sealed,
    write_certificate,
)
from sglang_contracts.cli import main

pytest.importorskip("torch")

ATTENTION = "class AcmeAttention(AttentionBackend):"
A_RUN = ("acme-sglang", "--sglang", "fake:0.5.16", "--profile", "quick", "-q", "--level", "1")
WANTED = ("--require-passed", "--require-level", "4", "--require-profile", "full")


@pytest.fixture
def attention(site):
    """The plugin's module, restored afterwards."""
    path = site / "acme_sglang" / "attention.py"
    kept = path.read_text()
    yield path
    path.write_text(kept)


APPENDS = """
import json, os, socket
RESULT = {"id": "plugin.entry-points-run", "level": 1, "title": "t", "outcome": "pass"}
for number in range(3, 64):
    try:
        found = socket.socket(fileno=number)
    except OSError:
        continue
    if found.family == socket.AF_UNIX:
        found.sendall(json.dumps({"result": RESULT}).encode() + b"\\n")
    found.detach()
"""
REPLACES = """
import msgspec
import sglang_contracts.suite.conformance as suite
real = suite.run_check
suite.run_check = lambda *given: msgspec.structs.replace(real(*given), outcome="pass")
"""


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (APPENDS, "what no check of the suite has written: a result of 'plugin.entry-points-run'"),
        (REPLACES, "functions of the suite were replaced while it ran: suite.conformance.run"),
    ],
)
def test_a_plugin_that_writes_its_own_results_shows_nothing(
    certify, tmp_path, attention, code, words
):
    attention.write_text(attention.read_text().replace(ATTENTION, code + ATTENTION))
    done = certify(*A_RUN, "--out", tmp_path)
    assert done.returncode == 2, done.stdout + done.stderr
    assert words in done.stdout
    assert "unknown, no level reached" in done.stdout
    again = certify("--verify", tmp_path / "certificate.json", "--require-passed")
    assert again.returncode == 1
    assert "required: it must have passed: its verdict is unknown" in again.stdout


@pytest.fixture
def elsewhere(certify, site, tmp_path_factory):
    """A certificate of a plugin whose backend stands in another distribution."""
    path = site / "acme_sglang" / "attention.py"
    kept, out = path.read_text(), tmp_path_factory.mktemp("out")
    info = site / "acme_kernels-1.0.dist-info"
    info.mkdir()
    shutil.copy(path, site / "acme_kernels.py")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-kernels\nVersion: 1.0\n")
    (info / "RECORD").write_text("acme_kernels.py,,\n")
    (site / "acme_loose.py").write_text("FAST = True\n")
    inside = kept.replace("from .", "from acme_sglang.")
    (site / "acme_kernels.py").write_text(inside)
    path.write_text(
        "import acme_loose\nfrom acme_kernels import *\nfrom acme_kernels import AcmeAttention\n"
    )
    done = certify(*A_RUN, "--out", out)
    yield done, out / "certificate.json"
    path.write_text(kept)
    shutil.rmtree(info)
    for name in ("acme_kernels.py", "acme_loose.py"):
        (site / name).unlink(missing_ok=True)


def test_code_of_another_distribution_is_listed_and_held_to_its_digest(certify, site, elsewhere):
    done, file = elsewhere
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(file.read_text())
    loose = str((site / "acme_loose.py").resolve())
    assert sorted(told["outside"]) == [loose, "acme-kernels:acme_kernels.py"]
    assert "torch" in {each["name"] for each in told["dependencies"]}
    assert certify("--verify", file).returncode == 0
    strict = certify("--verify", file, "--require-self-contained")
    assert strict.returncode == 1
    assert "nothing outside acme-sglang may take part" in strict.stdout
    kept = (site / "acme_kernels.py").read_text()
    (site / "acme_kernels.py").write_text(kept + "\n")
    (site / "acme_loose.py").unlink()
    try:
        changed = certify("--verify", file)
    finally:
        (site / "acme_kernels.py").write_text(kept)
        (site / "acme_loose.py").write_text("FAST = True\n")
    assert changed.returncode == 1
    assert "acme_kernels.py, which took part in the run, is not what it was" in changed.stdout
    assert "acme_loose.py, which took part in the run, is not here" in changed.stdout


@pytest.fixture
def issued(certificate, tmp_path, monkeypatch):
    """Writes a certificate as an honest run of this suite would; what is changed is sealed, too."""
    module = importlib.import_module("sglang_contracts.certify.verify")
    monkeypatch.setattr(module, "__version__", certificate.suite.version)
    monkeypatch.setattr(module, "suite_files", dict)
    monkeypatch.setattr(module, "plugin_files", lambda name: certificate.plugin.files)
    monkeypatch.setattr("sglang_contracts.certify.consistency._unplanned", lambda _: ())
    checks = tuple(_holds(f"a.b{level}", level) for level in range(5))
    fine = {
        **{"suite": Suite(certificate.suite.version, digests.combined({})), "checks": checks},
        **{"planned": tuple(each.id for each in checks), "not_run": (), "ended": ""},
        **{"level_asked": 4, "level_reached": 4, "verdict": "passed", "profile": "full"},
        **{"mostly_skipped": (), "not_exercised": ()},
        "capabilities": {"modes": ["extend", "decode"]},
    }
    path = tmp_path / "certificate.json"

    def write(**changes):
        made = sealed(msgspec.structs.replace(certificate, **{**fine, **changes}))
        write_certificate(made, path)
        return path

    return write


def _holds(id, level, outcome="pass", **more):
    texts = {"title": "It holds", "reason": "", "message": "", "cause": "", "reproduction": ""}
    rest = {"crash": False, "milliseconds": 1, "cells": (), "omitted": (), "clauses": ()}
    return Outcome(id=id, level=level, outcome=outcome, **{**texts, **rest, **more})


def test_an_honest_one_meets_what_is_required(issued, capsys):
    path = str(issued())
    release = ("--require-release", "0.5.16", "--require-plugin", "A_Plugin==1.0")
    modes = ("--require-mode", "extend", "--require-mode", "decode", "--require-self-contained")
    assert main(["certify", "--verify", path, *WANTED, *release, *modes]) == 0
    assert "required" not in capsys.readouterr().out


CHEATS = {
    "level 0 only": (
        {
            **{"checks": (_holds("a.b0", 0),), "planned": ("a.b0",)},
            **{"level_asked": 0, "level_reached": 0},
        },
        "it must reach level 4: it has reached 0 (only level 0 was asked for)",
    ),
    "all failures expected": (
        {
            "checks": tuple(_holds(f"a.b{n}", n, "expected", reason="known") for n in range(5)),
            **{"verdict": "passed with exceptions", "level_reached": -1},
        },
        "it must have passed: its verdict is passed with exceptions",
    ),
    "idle only": (
        {
            **{"capabilities": {"modes": ["idle"]}, "exercised": (("idle", "float32", 1),)},
            "verdict": "unknown",
            "not_exercised": ("a forward pass with tokens: none but idle ones are declared",),
        },
        "it must have passed: its verdict is unknown",
    ),
    "little was tried": ({"profile": "quick"}, "it must be of the full profile: it is of quick"),
}


@pytest.mark.parametrize("cheat", CHEATS)
def test_one_that_says_little_does_not_do(issued, capsys, cheat):
    changes, words = CHEATS[cheat]
    path = str(issued(**changes))
    assert main(["certify", "--verify", path, *WANTED]) == 1
    told = capsys.readouterr().out
    assert f"required: {words}" in told
    assert "fault" not in told


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--require-release", "0.5.20"), "it must be of SGLang 0.5.20: it is of 0.5.16"),
        (("--require-installed",), "it must be of the real SGLang: it is of a fake"),
        (("--require-plugin", "b-plugin"), "it must be of b-plugin: it is of a-plugin"),
        (("--require-plugin", "a-plugin==2"), "it must be of a-plugin 2: it is of version 1.0"),
        (("--require-mode", "mixed"), "forward mode mixed must be exercised"),
    ],
)
def test_one_of_something_else_does_not_do(issued, capsys, options, words):
    assert main(["certify", "--verify", str(issued()), *options]) == 1
    assert f"required: {words}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('"unknown"', '"passed"', "its digest does not belong to its content"),
        ("\n}", "\n }", "it is not in canonical form"),
    ],
)
def test_one_that_was_edited_by_hand_does_not_hold(issued, capsys, before, after, words):
    path = issued(**CHEATS["idle only"][0])
    path.write_text(path.read_text().replace(before, after))
    assert main(["certify", "--verify", str(path)]) == 1
    assert f"fault: {words}" in capsys.readouterr().out


def test_a_verdict_that_was_sealed_anew_does_not_follow_from_its_checks(issued, capsys):
    checks = (*(_holds(f"a.b{n}", n) for n in range(4)), _holds("a.b4", 4, "fail"))
    assert main(["certify", "--verify", str(issued(checks=checks))]) == 1
    assert "from its checks follows 'failed'" in capsys.readouterr().out


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """Two keys, and a file that allows the first one to sign."""
    if shutil.which("ssh-keygen") is None:
        pytest.skip("there is no ssh-keygen here")
    folder = tmp_path_factory.mktemp("keys")
    for name in ("acme", "other"):
        made = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", folder / name]
        subprocess.run(made, check=True)
    allowed = folder / "allowed"
    allowed.write_text(f"qa@acme.example {(folder / 'acme.pub').read_text()}")
    return folder / "acme", folder / "other", allowed


def test_one_forged_with_the_suites_own_functions_is_not_signed(issued, keys, capsys):
    from sglang_contracts.cli.certificates import sign

    acme, other, allowed = keys
    path = issued()
    asked = ["certify", "--verify", str(path), "--allowed-signers", str(allowed)]
    assert main(asked) == 1
    sign(path, acme)
    capsys.readouterr()
    assert main(asked) == 0
    assert "signed by qa@acme.example" in capsys.readouterr().out
    assert main([*asked, "--signer", "qa@acme.example"]) == 0
    assert main([*asked, "--signer", "ceo@acme.example"]) == 1
    issued(seed=7)  # forged: all of its digests are right, and its signature is another's
    capsys.readouterr()
    assert main(asked[:3]) == 0
    assert main(asked) == 1
    assert "required: it must be signed" in capsys.readouterr().out
    sign(path, other)
    assert main(asked) == 1


def test_one_forged_with_the_suites_own_functions_does_not_repeat(certify, tmp_path, attention):
    raises = f"raise RuntimeError('no license')\n{ATTENTION}"
    attention.write_text(attention.read_text().replace(ATTENTION, raises))
    path = tmp_path / "certificate.json"
    assert certify(*A_RUN, "--out", tmp_path).returncode == 1
    again = ("--verify", path, "--repeat", "-q")
    assert certify(*again).returncode == 0  # as honest as it was
    honest, _ = load_certificate(path)
    replace = msgspec.structs.replace
    checks = tuple(replace(c, outcome="pass", message="") for c in honest.checks)
    forged = replace(honest, checks=checks, verdict="passed", level_reached=1, mostly_skipped=())
    write_certificate(sealed(forged), path)
    assert certify("--verify", path, "--require-passed").returncode == 0
    done = certify(*again)
    assert done.returncode == 1
    assert "run again, it comes to something else: passed, level 1 there; failed" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a-plugin", "--require-level", "4"], "--require-level is of --verify"),
        (["a-plugin", "--allowed-signers", "no-such-file"], "--allowed-signers is of --verify"),
        (
            ["a-plugin", "--sign", "no-such-key", "--out", "no-such-folder"],
            "there is no key no-such-key",
        ),
        (["a-plugin", "--sign", "k"], "there is nothing to sign"),
    ],
)
def test_options_that_would_do_nothing_are_refused(capsys, arguments, words):
    assert main(["certify", *arguments, "--sglang", "fake:0.5.16"]) == 2
    assert words in capsys.readouterr().err
