"""A plugin that is not ours, installed as a wheel is: certified, verified, tampered with."""

import base64
import hashlib
import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

VENDOR = Path(__file__).parents[1] / "vendor" / "src" / "acme_sglang"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder that holds the plugin as pip would have left it."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(VENDOR, folder / "acme_sglang", ignore=shutil.ignore_patterns("__pycache__"))
    info = folder / "acme_sglang-2.4.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-sglang\nVersion: 2.4.1\n")
    (info / "entry_points.txt").write_text(
        "[sglang.srt.platforms]\nacme = acme_sglang.entry:activate\n"
        "[sglang.srt.plugins]\nacme = acme_sglang.entry:register\n"
    )
    lines = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest = base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest())
            size = path.stat().st_size
            name = path.relative_to(folder).as_posix()
            lines.append(f"{name},sha256={digest.decode().rstrip('=')},{size}")
    (info / "RECORD").write_text("\n".join([*lines, f"{info.name}/RECORD,,", ""]))
    return folder


@pytest.fixture(scope="module")
def certify(site, tmp_path_factory):
    away = tmp_path_factory.mktemp("away")

    def run(*arguments):
        path = os.pathsep.join(p for p in (str(site), os.environ.get("PYTHONPATH", "")) if p)
        return subprocess.run(
            [sys.executable, "-m", "sglang_contracts.cli", "certify", *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=away,
            env={**os.environ, "PYTHONPATH": path},
            timeout=600,
        )

    return run


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
        (("pip", "--sglang", "fake:0.5.16"), "declares no capabilities"),
        ((), "no plugin is named"),
    ],
)
def test_what_cannot_be_run_exits_with_2_and_says_why(certify, arguments, words):
    done = certify(*arguments)
    assert done.returncode == 2, done.stdout
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_the_wrong_installed_sglang_is_named(monkeypatch):
    import importlib.metadata

    from sglang_contracts.certify.run import release_of
    from sglang_contracts.errors import ContractsError

    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.5.20")
    with pytest.raises(ContractsError, match=r"SGLang 0\.5\.20 is installed here, not 0\.5\.16"):
        release_of("0.5.16")
    assert release_of("installed") == "0.5.20"
