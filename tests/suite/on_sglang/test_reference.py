"""The whole suite on the reference, on the installed SGLang: ``tox -e sglang-<release>``."""

import json


def test_the_reference_reaches_level_4(certified):
    done, folder = certified
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    found = json.loads((folder / "certificate.json").read_text())
    assert (found["verdict"], found["level_reached"]) == ("passed", 4)
    assert found["sglang"]["kind"] == "installed"
    assert found["not_exercised"] == []
