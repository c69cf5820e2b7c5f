"""What is said of launch commands, held against the release's own parser."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

import pytest

from sglang_contracts.live.build import installed_release
from sglang_contracts.live.differences import symbol
from sglang_contracts.surface import load_catalog
from sglang_contracts.verify import launch_check
from sglang_contracts.verify.findings.finding import Severity

COMMANDS = [
    shlex.split(line)
    for line in Path(__file__).with_name("launch_commands.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
]


class _RefusedError(Exception):
    """The parser does not take a command."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:
        raise _RefusedError(message)


@pytest.fixture(scope="module")
def parser() -> argparse.ArgumentParser:
    """The release's own."""
    made = _Parser()
    symbol("sglang.srt.server_args:ServerArgs").add_cli_args(made)
    return made


def answers(parser: argparse.ArgumentParser) -> dict[str, tuple[str, str]]:
    """Commands on which the two differ → what the parser says, what is told."""
    catalog, release = load_catalog(), installed_release()
    differ = {}
    for command in COMMANDS:
        refused = told = ""
        try:
            parser.parse_args(["--model-path", "m", *command])
        except Exception as error:  # an action of the release's own may raise what it likes
            refused = str(error) or type(error).__name__
        given = ["sglang", "serve", "--model-path", "m", *command]
        for finding in launch_check(given, catalog, release).releases[0].findings:
            if finding.severity is not Severity.NOTE:
                told = f"{finding.symbol} {finding.detail}"
        if bool(refused) is not bool(told):
            differ[" ".join(command)] = (refused, told)
    return differ


def test_the_table_is_long_enough() -> None:
    assert len(COMMANDS) >= 150
    assert len({tuple(each) for each in COMMANDS}) == len(COMMANDS)


def test_commands_are_judged_as_the_parser_judges_them(parser: argparse.ArgumentParser) -> None:
    differ = answers(parser)
    assert len(differ) <= len(COMMANDS) // 100, differ
