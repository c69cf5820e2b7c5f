"""What commands say beside their reports steers no terminal and no CI log either."""

from __future__ import annotations

import json
import re

import pytest

from sglang_contracts.cli import main

NAMES = {
    "a terminal": "\x1b[2J\x9b31m\x1b]0;title\x07a\u202eb",
    "lines": "a\n::error::x\r::error::y\u2028::error::z",
    "commands": "::stop-commands::x ##[group] ##vso[task.setvariable variable=x]y [red]z",
}
COMMANDS = {
    "check": ("check", "{name}"),
    "check a module": ("check", "{folder}/{name}.py"),
    "uses": ("uses", "{name}"),
    "an option": ("check", ".", "--{name}"),
    "a command": ("{name}",),
    "a release": ("check", ".", "--release", "{name}"),
    "releases": ("check", ".", "--releases", "{name}"),
    "a format": ("check", ".", "--format", "{name}"),
    "settings": ("check", ".", "--config", "{folder}/{name}"),
    "a baseline": ("check", ".", "--baseline-file", "{folder}/{name}"),
    "an output": ("check", ".", "--output", "{folder}/{name}/none"),
    "explain": ("explain", "{name}"),
    "record": ("record", "{folder}/{name}.whl"),
    "verify": ("verify", "--contract", "{name}"),
    "diff": ("diff", "{name}", "0.5.16"),
    "can-upgrade": ("can-upgrade", ".", "{name}"),
    "launch-check": ("launch-check", "--release", "0.5.16", "--", "sglang", "serve", "--{name}"),
    "certify": ("certify", "{name}", "--sglang", "fake:{name}"),
    "a certificate": ("certify", "--verify", "{folder}/{name}"),
    "new": ("new", "rule", "{name}"),
}


def is_inert(text: str) -> None:
    assert not re.search(r"[^\n\x20-\x7e\xa0-\uffff]", text), ascii(text)
    for line in text.split("\n"):
        assert line.isprintable(), ascii(line)
        assert not line.lstrip().startswith("::"), line
        assert "##[" not in line, line
        assert "##vso[" not in line, line


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_name_on_the_command_line_steers_nobody(command, name, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SGLANG_CONTRACTS_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.py").write_text("x = 1\n")
    main([part.format(name=name, folder=tmp_path) for part in COMMANDS[command]])
    captured = capsys.readouterr()
    is_inert(captured.out)
    is_inert(captured.err)
    assert captured.out + captured.err


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_name_in_a_plugin_steers_nobody(name, tmp_path, monkeypatch, capsys):
    """Of a file, of the plugin, of an ignored rule; in the report and beside it."""
    monkeypatch.setenv("SGLANG_CONTRACTS_CACHE", str(tmp_path / "cache"))
    root = tmp_path / "plugin"
    root.mkdir()
    monkeypatch.chdir(root)
    said = json.dumps(name)  # as valid in TOML as in Python
    (root / "pyproject.toml").write_text(
        f"[project]\nname = {said}\nversion = {said}\n[tool.sglang-contracts]\nsupported = {said}\n"
    )
    (root / f"{name}.py").write_text("def f(forward_batch):\n    forward_batch.token_to_kv_pool\n(")
    (root / "b.py").write_text("def f(forward_batch):\n    forward_batch.token_to_kv_pool\n")
    for settings in (True, False):
        if not settings:
            (root / "pyproject.toml").write_text(f"[project]\nname = {said}\nversion = {said}\n")
        for command in (
            ("check", ".", "--release", "0.5.16", "--verbose"),
            ("check", ".", "--release", "0.5.16", "--write-baseline", f"{name}.json"),
            ("uses", "."),
            ("upgrade", ".", "--from", "0.5.12", "--to", "0.5.16", "--verbose"),
        ):
            main(list(command))
            captured = capsys.readouterr()
            is_inert(captured.out)
            is_inert(captured.err)
            assert captured.out + captured.err
