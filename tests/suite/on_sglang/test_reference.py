"""The whole suite on the reference, on the installed SGLang: ``tox -e sglang-<release>``."""

import json
import subprocess
import sys


def test_the_reference_reaches_level_4(tmp_path):
    command = [sys.executable, "-m", "sglang_contracts.cli", "certify", "sglang-kunlun-reference"]
    command += ["--sglang", "installed", "--profile", "quick", "--out", str(tmp_path), "-q"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    found = json.loads((tmp_path / "certificate.json").read_text())
    assert (found["verdict"], found["level_reached"]) == ("passed", 4)
    assert found["sglang"]["kind"] == "installed"
    assert found["not_exercised"] == []
