"""The reference plugin on a real SGLang: run by ``tox -e sglang-<release>``."""

import importlib.util
import os
from importlib.metadata import version

import pytest
from packaging.version import Version

REAL = importlib.util.find_spec("sglang") is not None
# The plugin's backend, pool and allocator are for 0.5.3 and newer: nothing registers them before.
if not REAL or Version(version("sglang")) < Version("0.5.3"):
    collect_ignore_glob = ["test_*.py"]
if REAL:
    from sglang_contracts.live import shim

    os.environ.setdefault("SGLANG_CONTRACTS_SDK", "shim")
    shim.install()
    os.environ.update(shim.environment())


@pytest.fixture(scope="session")
def builder():
    from sglang_contracts.live.build import Builder

    return Builder()


@pytest.fixture
def card():
    """The simulated card, with its recorder."""
    from sglang_contracts.fakes import kunlun_device

    if kunlun_device.unsupported():
        pytest.skip(kunlun_device.unsupported())
    with kunlun_device.activate() as recorder:
        yield recorder
