"""A sealed object may be written to before it is sealed: there, and only there, nothing is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from sglang_contracts.contract import load_contracts
from sglang_contracts.surface import load_catalog
from sglang_contracts.verify import check_plugin
from sglang_contracts.verify.findings.finding import Severity

HEAD = """
from sglang.srt.model_executor.model_runner import ModelRunner
from sglang.srt.platforms.interface import SRTPlatform
from sglang.srt.server_args import ServerArgs, prepare_server_args
"""

SILENT = {
    "the platform's defaults": """
        class Platform(SRTPlatform):
            def apply_server_args_defaults(self, server_args):
                server_args.page_size = 64
        """,
    "a helper that only the platform's defaults call": """
        def fill(args, size):
            args.page_size = size
        class Platform(SRTPlatform):
            def apply_server_args_defaults(self, server_args):
                fill(server_args, 64)
        """,
    "arguments that the plugin makes": """
        def build(path):
            args = ServerArgs(model_path=path)
            args.page_size = 64
            return args
        """,
    "arguments that the plugin has parsed": """
        def build(argv):
            args = prepare_server_args(argv)
            args.page_size = 64
            return args
        """,
}
TOLD = {
    "another method of the platform": """
        class Platform(SRTPlatform):
            def init_backend(self, server_args: ServerArgs):
                server_args.page_size = 64
        """,
    "a method of that name of a class of its own": """
        class Tuner:
            def apply_server_args_defaults(self, server_args: ServerArgs):
                server_args.page_size = 64
        """,
    "a helper that others call as well": """
        def fill(args: ServerArgs, size):
            args.page_size = size
        class Platform(SRTPlatform):
            def apply_server_args_defaults(self, server_args):
                fill(server_args, 64)
        def tune(runner: ModelRunner):
            fill(runner.server_args, 64)
        """,
    "arguments that the plugin has made and resolved": """
        def build(path):
            args = ServerArgs(model_path=path)
            args.resolve_once()
            args.page_size = 64
        """,
    "a runner's arguments": """
        def tune(runner: ModelRunner):
            runner.server_args.page_size = 64
        """,
}


def written(tmp_path: Path, plugin: str, release: str) -> list[str]:
    """What is told of writes to server arguments in a release."""
    indented = plugin.replace("\n        ", "\n")
    (tmp_path / "plugin.py").write_text(HEAD + indented)
    report = check_plugin(tmp_path, load_catalog(), [release], contracts=load_contracts())
    return [
        each.symbol.rpartition(".")[2]
        for each in report.releases[0].findings
        if each.severity is not Severity.NOTE and "__setattr__" in each.symbol
    ]


@pytest.mark.parametrize("plugin", SILENT.values(), ids=SILENT.keys())
def test_before_it_is_sealed_nothing_is_told(tmp_path: Path, plugin: str) -> None:
    assert not written(tmp_path, plugin, "0.5.20")


@pytest.mark.parametrize("plugin", TOLD.values(), ids=TOLD.keys())
def test_after_it_is_sealed_it_is_told(tmp_path: Path, plugin: str) -> None:
    assert written(tmp_path, plugin, "0.5.20") == ["__setattr__"]


def test_arguments_were_sealed_as_they_were_made_in_releases_that_resolved_them_then(
    tmp_path: Path,
) -> None:
    assert written(tmp_path, SILENT["arguments that the plugin makes"], "0.5.18")
    assert not written(tmp_path, SILENT["the platform's defaults"], "0.5.18")
