"""The vendor's plugin as pip would have installed it, and the command on it."""

import base64
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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
