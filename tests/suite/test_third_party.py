"""A plugin shaped like the public ones holds everything: the suite expects none of our shapes."""

import json
import os
import shutil
from pathlib import Path

import pytest

pytest.importorskip("torch")

SOURCE = Path(__file__).parents[1] / "vendor" / "third_party" / "borealis_sglang"
HEAVY = ("keys-are-attended", "long-prefills", "beyond-16-bits", "busy-hour")

RUN = """
import json, sys
from sglang_contracts.suite.engine import run_check
from sglang_contracts.suite.registry import checks
from sglang_contracts.suite.session import open_session

session = open_session("borealis-sglang", "fake:" + sys.argv[1])
subject = session.subject
results = [
    run_check(check, session.context("quick"))
    for check in checks()
    if not any(heavy in check.id for heavy in sys.argv[2:])
]
print(json.dumps({
    "parts": [subject.make_backend is not None, subject.kv_pool, subject.allocator],
    "passed": [r.id for r in results if r.outcome == "pass"],
    "wrong": [f"{r.id}: {r.outcome}: {r.message}" for r in results
              if r.outcome not in ("pass", "skip")],
}))
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(SOURCE, folder / SOURCE.name, ignore=shutil.ignore_patterns("__pycache__"))
    info = folder / "borealis_sglang-1.0.dist-info"
    info.mkdir()
    text = "Metadata-Version: 2.1\nName: borealis-sglang\nVersion: 1.0\n"
    (info / "METADATA").write_text(text)
    (info / "entry_points.txt").write_text(
        "[sglang.srt.platforms]\nborealis = borealis_sglang.entry:activate\n"
    )
    files = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    (info / "RECORD").write_text("".join(f"{name},,\n" for name in files))
    return folder


@pytest.mark.parametrize("release", ["0.5.13", "0.5.23"])
def test_a_third_party_plugin_holds_everything(fresh, site, release):
    path = os.pathsep.join(p for p in (str(site), os.environ.get("PYTHONPATH", "")) if p)
    done = fresh("-c", RUN, release, *HEAVY, PYTHONPATH=path)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["wrong"] == []
    assert found["parts"] == [True, None, None]  # the registry's factory; pool and allocator stock
    for check in (
        "attention-registry.backend-is-registered",
        "platform.activates-with-its-runtime",
        "kernels.prefill-and-decode-take-their-own",
        "attention-backend.decode-equals-the-oracle",
    ):
        assert check in found["passed"]
