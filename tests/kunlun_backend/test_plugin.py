"""The plugin on a host without SGLang, without the runtime, or with the stand-in."""

import importlib
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

import kunlun_backend

SOURCE = Path(kunlun_backend.__file__).parent
PROJECT = SOURCE.parents[1]


def run(code, **environment):
    """Run `code` in a fresh interpreter."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("SGLANG_CONTRACTS")}
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**kept, "PYTHONPATH": str(SOURCE.parent), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_declining_imports_neither_torch_nor_sglang():
    done = run(
        "import sys\n"
        "from kunlun_backend.platform import activate\n"
        "from kunlun_backend.hooks import register_all\n"
        "assert activate() is None\n"
        "assert register_all() is None\n"
        "assert not {'torch', 'sglang'} & set(sys.modules), 'imported too much'\n"
    )
    assert done.returncode == 0, done.stderr


def test_a_broken_runtime_is_not_declined_silently(tmp_path):
    """A runtime that is installed but does not import fails with its own error, not with None."""
    (tmp_path / "torch_xmlir.py").write_text("raise OSError('driver too old')", encoding="utf-8")
    done = run(
        "from kunlun_backend.platform import activate\nactivate()",
        PYTHONPATH=f"{tmp_path}{os.pathsep}{SOURCE.parent}",
    )
    assert "driver too old" in done.stderr


def test_with_the_stand_in_the_platform_speaks_up(shim):
    from kunlun_backend.platform import activate

    name = activate()
    module, _, cls = name.rpartition(".")
    assert importlib.util.find_spec(module) is not None
    assert cls == "KunlunSRTPlatform"


def test_without_sdk_and_stand_in_the_error_says_what_to_do(monkeypatch):
    from kunlun_backend import sdk

    monkeypatch.delenv("SGLANG_CONTRACTS_SDK", raising=False)
    monkeypatch.setattr(sdk, "available", lambda: False)
    sdk._module.cache_clear()
    with pytest.raises(RuntimeError, match="SGLANG_CONTRACTS_SDK=shim"):
        sdk.kernels()


def test_entry_points_name_callables_that_exist():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = project["entry-points"]
    assert set(groups) == {"sglang.srt.platforms", "sglang.srt.plugins"}
    for entries in groups.values():
        for target in entries.values():
            module, _, attribute = target.partition(":")
            assert callable(getattr(importlib.import_module(module), attribute))


def test_the_plugin_can_be_read_in_an_hour():
    lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in SOURCE.rglob("*.py"))
    assert lines <= 1750


def test_differences_between_releases_stand_in_one_module_and_cite_their_clause():
    release = re.compile(r"\b0\.[45]\.\d+\b")
    for file in SOURCE.rglob("*.py"):
        source = file.read_text(encoding="utf-8")
        for node in re.findall(r'version\("sglang"\)|__version__', source):
            assert file.name == "compat.py", f"{file.name} asks for the release ({node})"
    compat = (SOURCE / "compat.py").read_text(encoding="utf-8")
    for block in re.split(r"\n(?=def |class )", compat)[1:]:
        if not block.startswith("def _"):
            assert "Clause" in block, block.splitlines()[0]
            assert release.search(block), block.splitlines()[0]
