"""What ``pytest tests`` leaves out unless it is asked for by its path."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ON_REQUEST = (
    HERE / "lint",  # needs ruff: `tox -e lint`
    HERE / "release",  # fetches wheels: `tox -m release`
    HERE / "live" / "on_sglang",  # needs an installed SGLang: `tox -e sglang-<release>`
    HERE / "kunlun_backend" / "on_sglang",
    HERE / "suite" / "on_sglang",
)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """One worker where ``tox -p`` runs other environments beside this one."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None  # xdist's own rule: as many as that says
    return 1 if os.environ.get("TOX_PARALLEL_ENV") else None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave those folders out where only a folder above them was given."""
    asked = [Path(argument.partition("::")[0]).resolve() for argument in config.args]
    for folder in ON_REQUEST:
        if collection_path == folder and not any(each.is_relative_to(folder) for each in asked):
            return True
    return None
