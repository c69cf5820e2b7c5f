"""The whole suite on the reference, on a fake of every release from 0.5.3 on.

``SGLANG_CONTRACTS_PROFILE`` says how much is tried: ``quick`` unless it is set.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.version import Version

from sglang_contracts.surface import load_catalog

CERTIFIER = Path(__file__).with_name("certifier.py")
PROFILE = os.environ.get("SGLANG_CONTRACTS_PROFILE", "quick")
RELEASES = [r for r in load_catalog().releases if Version(r) >= Version("0.5.3")]
ABSENT = ("no platform plugins", "no plugins", "loads no general plugins", "claims SGLang")
ABSENT += ("reads nothing off", "does not", "has no", "asks no")


@pytest.fixture(scope="session")
def certified(request, tmp_path_factory):
    """Certifies all selected releases, as many at a time as there are processors.

    Gives a function: the exit status, what the command said, the certificate; of one release.
    """
    folder = tmp_path_factory.mktemp("certificates")
    wanted = [
        item.callspec.params["release"]
        for item in request.session.items
        if item.name.startswith("test_the_reference_reaches")
    ]
    command = [sys.executable, str(CERTIFIER), "sglang-kunlun-reference", PROFILE, str(folder)]
    ended = {}

    def one(release):
        while release not in ended:
            line = process.stdout.readline()
            assert line, "the certifier ended before it was through"
            name, status = line.split()
            ended[name] = int(status)
        said = (folder / release / "said.txt").read_text()
        assert (folder / release / "certificate.json").exists(), said
        return ended[release], said, json.loads((folder / release / "certificate.json").read_text())

    with subprocess.Popen(
        [*command, *wanted], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        yield one
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # after a Ctrl-C: nobody waits for the others


@pytest.mark.parametrize("release", RELEASES)
def test_the_reference_reaches_level_4(certified, release):
    status, said, found = certified(release)
    assert status == 0, said
    assert (found["verdict"], found["level_reached"]) == ("passed", 4)
    assert found["not_exercised"] == []
    assert [check["id"] for check in found["checks"]] == found["planned"]
    assert len(found["planned"]) >= 90
    for check in found["checks"]:
        if check["outcome"] == "skip":
            assert any(words in check["reason"] for words in ABSENT), check["reason"]
            assert release in check["reason"]
