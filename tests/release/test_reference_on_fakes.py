"""The whole suite on the reference, on a fake of every release from 0.5.3 on.

``SGLANG_CONTRACTS_PROFILE`` says how much is tried: ``quick`` unless it is set.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from packaging.version import Version

from sglang_contracts.surface import load_catalog

PROFILE = os.environ.get("SGLANG_CONTRACTS_PROFILE", "quick")
RELEASES = [r for r in load_catalog().releases if Version(r) >= Version("0.5.3")]
ABSENT = ("no platform plugins", "no plugins", "loads no general plugins", "claims SGLang")
ABSENT += ("reads nothing off", "does not", "has no")


@pytest.fixture(scope="session")
def certificates(request, tmp_path_factory):
    """All selected releases, as many at a time as there are processors."""
    folder = tmp_path_factory.mktemp("certificates")

    def run(release):
        out = folder / release
        command = [sys.executable, "-m", "sglang_contracts.cli", "certify", "-q"]
        command += ["sglang-kunlun-reference", "--sglang", f"fake:{release}", "--out", str(out)]
        done = subprocess.run(
            [*command, "--profile", PROFILE, "--jobs", "1"],
            capture_output=True,
            text=True,
            cwd=folder,
        )
        return done, json.loads((out / "certificate.json").read_text())

    wanted = [
        item.callspec.params["release"]
        for item in request.session.items
        if item.name.startswith("test_the_reference_reaches")
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield {release: pool.submit(run, release) for release in wanted}


@pytest.mark.parametrize("release", RELEASES)
def test_the_reference_reaches_level_4(certificates, release):
    done, found = certificates[release].result()
    assert done.returncode == 0, done.stdout
    assert (found["verdict"], found["level_reached"]) == ("passed", 4)
    assert found["not_exercised"] == []
    for check in found["checks"]:
        if check["outcome"] == "skip":
            assert any(words in check["reason"] for words in ABSENT), check["reason"]
