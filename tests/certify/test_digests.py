"""What a certificate is bound to: the files that decide what is imported, and no others."""

import importlib
import os

import pytest

from sglang_contracts.certify.digests import packages, plugin_files

METADATA = "Metadata-Version: 2.1\nName: a-plugin\nVersion: 1.0\n"


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A plugin as a wheel leaves it, in a folder on the path."""
    folder = tmp_path / "site"
    (folder / "a_plugin").mkdir(parents=True)
    (folder / "a_plugin" / "__init__.py").touch()
    (folder / "a_plugin" / "attention.py").write_text("x = 1\n")
    info = folder / "a_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(METADATA)
    names = ("a_plugin/__init__.py", "a_plugin/attention.py", f"{info.name}/METADATA")
    (info / "RECORD").write_text("".join(f"{name},,\n" for name in names))
    monkeypatch.syspath_prepend(folder)
    importlib.invalidate_caches()
    return folder


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A plugin that is installed from its source tree in editable form."""
    folder = tmp_path / "tree"
    (folder / "src" / "b_plugin").mkdir(parents=True)
    (folder / "src" / "b_plugin" / "__init__.py").write_text("x = 1\n")
    (folder / "pyproject.toml").write_text("[project]\nname = 'b-plugin'\n")
    info = tmp_path / "site" / "b_plugin-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(METADATA.replace("a-", "b-"))
    (info / "RECORD").write_text(f"{info.name}/METADATA,,\n")
    (info / "top_level.txt").write_text("b_plugin\n")
    (info / "direct_url.json").write_text(
        f'{{"url": "{folder.as_uri()}", "dir_info": {{"editable": true}}}}'
    )
    monkeypatch.syspath_prepend(folder / "src")
    monkeypatch.syspath_prepend(tmp_path / "site")
    importlib.invalidate_caches()
    return folder


def test_what_was_put_beside_the_recorded_files_counts(site):
    before = plugin_files("a-plugin")
    assert set(before) >= {"a_plugin/__init__.py", "a_plugin/attention.py"}
    (site / "a_plugin" / "attention").mkdir()  # imported instead of attention.py
    (site / "a_plugin" / "attention" / "__init__.py").touch()
    (site / "a_plugin" / "new.pyc").touch()  # imported where no source lies beside it
    found = plugin_files("a-plugin")
    assert set(found) - set(before) == {"a_plugin/attention/__init__.py", "a_plugin/new.pyc"}


def test_what_python_writes_does_not_count(site):
    before = plugin_files("a-plugin")
    (site / "a_plugin" / "__pycache__").mkdir()
    (site / "a_plugin" / "__pycache__" / "attention.cpython-311.pyc").touch()
    (site / "another").mkdir()
    (site / "another" / "__init__.py").touch()
    assert plugin_files("a-plugin") == before


def test_others_in_a_shared_namespace_do_not_count(site):
    (site / "vendor" / "mine").mkdir(parents=True)
    (site / "vendor" / "mine" / "__init__.py").touch()
    with (site / "a_plugin-1.0.dist-info" / "RECORD").open("a") as record:
        record.write("vendor/mine/__init__.py,,\n")
    before = plugin_files("a-plugin")
    (site / "vendor" / "theirs").mkdir()
    (site / "vendor" / "theirs" / "__init__.py").touch()
    assert plugin_files("a-plugin") == before
    assert site / "vendor" / "mine" in packages("a-plugin")


def test_of_a_source_tree_only_what_is_imported_or_builds_it_counts(tree):
    before = plugin_files("b-plugin")
    assert set(before) == {"b_plugin/__init__.py", "pyproject.toml"}
    (tree / "report").mkdir()
    (tree / "report" / "certificate.json").write_text("{}")
    (tree / "run.log").touch()
    (tree / "venv" / "lib").mkdir(parents=True)
    (tree / "venv" / "lib" / "x.py").touch()
    assert plugin_files("b-plugin") == before
    (tree / "src" / "b_plugin" / "new.py").touch()
    assert set(plugin_files("b-plugin")) - set(before) == {"b_plugin/new.py"}


def test_pipes_are_not_read_and_links_to_folders_not_followed(tree):
    package = tree / "src" / "b_plugin"
    before = plugin_files("b-plugin")
    os.mkfifo(package / "pipe")
    (package / "loop").symlink_to(package)
    (package / "nowhere").symlink_to(package / "not-there")
    (package / "code.so").symlink_to(tree / "pyproject.toml")
    found = plugin_files("b-plugin")
    new = {"b_plugin/loop", "b_plugin/nowhere", "b_plugin/code.so"}
    assert set(found) - set(before) == new
    assert found["b_plugin/code.so"] == found["pyproject.toml"]
    (package / "loop").unlink()
    (package / "loop").symlink_to(tree)
    assert plugin_files("b-plugin")["b_plugin/loop"] != found["b_plugin/loop"]


def test_a_name_in_no_encoding_is_written_as_text(site):
    (site / "a_plugin" / os.fsdecode(b"odd\xff.py")).touch()
    assert "a_plugin/odd\\udcff.py" in plugin_files("a-plugin")
