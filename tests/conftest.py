"""What ``pytest tests`` leaves out unless it is asked for by its path."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent
ON_REQUEST = (
    HERE / "release",  # fetches wheels: `tox -m release`
    HERE / "live" / "on_sglang",  # needs an installed SGLang: `tox -e sglang-<release>`
    HERE / "kunlun_backend" / "on_sglang",
    HERE / "suite" / "on_sglang",
)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave those folders out where only a folder above them was given."""
    asked = [Path(argument.partition("::")[0]).resolve() for argument in config.args]
    for folder in ON_REQUEST:
        if collection_path == folder and not any(each.is_relative_to(folder) for each in asked):
            return True
    return None
