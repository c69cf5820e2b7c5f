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


def pytest_configure(config):
    """Start it now where a whole line is run: it imports while the tests are collected."""
    if config.getoption("--expect-sglang", default=None):
        start(config)


def pytest_collection_finish(session):
    """At the latest now that one is known to need it."""
    if any("certified" in getattr(item, "fixturenames", ()) for item in session.items):
        start(session.config)


def start(config):
    """Start it once."""
    if certifying in config.stash or config.option.collectonly:
        return
    folder = tempfile.TemporaryDirectory(prefix="sglang-contracts-certify-")
    config.add_cleanup(folder.cleanup)
    config.stash[certifying] = ThreadPoolExecutor(1).submit(certify, Path(folder.name))


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
