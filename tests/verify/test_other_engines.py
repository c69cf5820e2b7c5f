"""Of files for another engine nothing is told that only a name or a flag speaks for."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from sglang_contracts.contract import load_contracts
from sglang_contracts.surface import load_catalog
from sglang_contracts.verify import check_plugin
from sglang_contracts.verify.findings.finding import Severity

WAYS = {
    "a field by the object's name": (
        "def start(server_args):\n    server_args.page_size = 64\n    server_args.tp_size\n"
    ),
    "a flag's old name": (
        "def parse(parser, Engine):\n"
        "    parser = Engine.add_cli_args(parser)\n"
        "    args = parser.parse_args()\n"
        "    return args.tensor_parallel_size\n"
    ),
}
HEADS = {"imported": "import vllm\n", "imported from": "from tokenspeed.engine import Engine\n"}


def told(root: Path, path: str, text: str) -> list[str]:
    """Rules of the errors and warnings that a plugin of one file has in 0.5.21."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(textwrap.dedent(text))
    (root / "entry.py").write_text("import sglang\n")
    report = check_plugin(root, load_catalog(), ["0.5.21"], contracts=load_contracts())
    return [each.rule for each in report.releases[0].findings if each.severity is not Severity.NOTE]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("head", HEADS)
def test_a_file_that_imports_another_engine_is_its(tmp_path: Path, way: str, head: str) -> None:
    assert told(tmp_path, "handlers/args.py", HEADS[head] + WAYS[way]) == []


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("folder", ["vllm", "tokenspeed"])
def test_a_file_in_another_engines_folder_is_its(tmp_path: Path, way: str, folder: str) -> None:
    assert told(tmp_path, f"handlers/{folder}/args.py", WAYS[way]) == []


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("folder", ["common", "sglang", "sglang/vllm"])
def test_a_file_of_no_other_engine_is_told(tmp_path: Path, way: str, folder: str) -> None:
    assert told(tmp_path, f"handlers/{folder}/args.py", WAYS[way])


@pytest.mark.parametrize("way", WAYS)
def test_a_file_that_takes_from_both_is_told(tmp_path: Path, way: str) -> None:
    text = "import vllm\nimport sglang\n" + WAYS[way]
    assert told(tmp_path, "handlers/vllm/args.py", text)
