"""Certifies the reference while the other tests run: it is a process of its own, and a long one."""

import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

certifying = pytest.StashKey()


def pytest_collection_modifyitems(items):
    """Last, what waits for the certificate."""
    items.sort(key=lambda item: "certified" in getattr(item, "fixturenames", ()))


def pytest_collection_finish(session):
    """Start it now."""
    wanted = any("certified" in getattr(item, "fixturenames", ()) for item in session.items)
    if wanted and not session.config.option.collectonly:
        folder = tempfile.TemporaryDirectory(prefix="sglang-contracts-certify-")
        session.config.add_cleanup(folder.cleanup)
        session.config.stash[certifying] = ThreadPoolExecutor(1).submit(certify, Path(folder.name))


def certify(folder):
    """The ended process, and the folder with what it wrote."""
    command = [sys.executable, "-m", "sglang_contracts.cli", "certify", "sglang-kunlun-reference"]
    command += ["--sglang", "installed", "--profile", "quick", "--out", str(folder), "-q"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    return done, folder


@pytest.fixture(scope="session")
def certified(request):
    """What :func:`certify` gave, when it has ended."""
    return request.config.stash[certifying].result()
