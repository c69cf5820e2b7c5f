"""The vendor's plugin as pip would have installed it, and the command on it."""

import base64
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sglang_contracts.certify.certificate import (
    KIND,
    NOTE,
    SCHEMA,
    Certificate,
    Issued,
    Outcome,
    Plugin,
    Sglang,
    Suite,
    sealed,
)
from sglang_contracts.certify.digests import combined

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

    def run(*arguments, started=subprocess.run, **environment):
        path = os.pathsep.join(p for p in (str(site), os.environ.get("PYTHONPATH", "")) if p)
        options = {"capture_output": True, "timeout": 600} if started is subprocess.run else {}
        return started(
            [sys.executable, "-m", "sglang_contracts.cli", "certify", *map(str, arguments)],
            text=True,
            cwd=away,
            env={**os.environ, "PYTHONPATH": path, **environment},
            **options,
        )

    return run


def _outcome(id, level, result, **more):
    values = {
        "title": "It <holds>",
        "reason": "",
        "message": "",
        "cause": "",
        "crash": False,
        "reproduction": "",
        "milliseconds": 12,
        "cells": ("float32 page 1",),
        "omitted": (),
        "clauses": ("a/b",),
    }
    return Outcome(id=id, level=level, outcome=result, **{**values, **more})


@pytest.fixture
def outcome():
    """Makes the outcome of a check."""
    return _outcome


@pytest.fixture
def certificate():
    files = {"a.py": "0" * 64}
    return sealed(
        Certificate(
            schema=SCHEMA,
            kind=KIND,
            note=NOTE,
            issued=Issued("someone <at> a lab", "2026-01-02T03:04:05Z"),
            plugin=Plugin("a-plugin", "1.0", combined(files), "", files),
            sglang=Sglang("0.5.16", "fake", "1" * 64),
            suite=Suite("0.1.0", "2" * 64),
            environment={"python": "3.11.7"},
            dependencies=(),
            outside={},
            capabilities={"modes": ["extend", "mixed"], "graph-capture": False},
            profile="quick",
            seed=0,
            level_asked=2,
            level_reached=-1,
            mostly_skipped=(1,),
            verdict="failed",
            planned=("a.b", "a.c", "a.d", "a.e", "a.f", "a.g"),
            not_run=("a.g",),
            ended="its process ended with status -9, during a.g",
            irregular=(),
            remarks=(),
            checks=(
                _outcome("a.b", 0, "pass"),
                _outcome("a.c", 1, "fail", message="no\x00\nmore", reproduction="reproduce()"),
                _outcome("a.d", 1, "skip", reason="it has none"),
                _outcome("a.e", 2, "error", message="a fault"),
                _outcome("a.f", 2, "expected", reason="known"),
            ),
            exercised=(("extend", "float32", 1), ("decode", "float32", 16)),
            not_exercised=("forward mode mixed",),
            serving={},
            outcomes="",
            digest="",
        )
    )
