"""Tests that need a real SGLang: run by ``tox -e sglang-<release>``."""

import importlib.util
import os

import pytest

from sglang_contracts.live import shim

# Upstream's paged allocator launches Triton up to 0.5.21: its interpreter runs that on a CPU.
os.environ.setdefault("TRITON_INTERPRET", "1")
os.environ.setdefault("SGLANG_CONTRACTS_SDK", "shim")
if importlib.util.find_spec("sglang") is None:
    collect_ignore_glob = ["test_*.py"]
else:
    shim.install()
    os.environ.update(shim.environment())


def pytest_addoption(parser):
    parser.addoption("--sglang", help="fail unless this SGLang is installed (sglang-<release>)")


def pytest_configure(config):
    wanted = config.getoption("--sglang", default=None)
    if wanted:
        from sglang_contracts.live.build import installed_release

        found = f"sglang-{installed_release()}"
        if found != wanted:
            raise pytest.UsageError(f"{found} is installed, {wanted} was asked for")


@pytest.fixture(scope="session")
def builder():
    from sglang_contracts.live.build import Builder

    return Builder()


@pytest.fixture(scope="session")
def release(builder):
    return builder.release
