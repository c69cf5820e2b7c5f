"""What the wheel must carry: a package that is forgotten works in a checkout only."""

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]


def test_every_package_of_the_source_is_in_the_wheel():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = set(settings["tool"]["setuptools"]["packages"])
    found = {
        ".".join(file.parent.relative_to(ROOT).parts)
        for file in (ROOT / "sglang_contracts").rglob("__init__.py")
    }
    assert found <= listed


def test_every_folder_of_fakes_and_data_is_in_the_wheel():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = set(settings["tool"]["setuptools"]["packages"])
    fakes = {
        ".".join(("sglang_contracts", "fakes", *file.parent.relative_to(ROOT / "fakes").parts))
        for file in (ROOT / "fakes").rglob("__init__.py")
    }
    data = {
        ".".join(("sglang_contracts", "data", kind, *folder.relative_to(ROOT / kind).parts))
        for kind in ("contracts", "matrix")
        for folder in (ROOT / kind).rglob("*")
        if folder.is_dir()
    }
    assert fakes | data <= listed
    # No package, but a folder that goes on PYTHONPATH as it is.
    assert "sglang_contracts.live.startup" in listed
