"""``new contract NAME``: a stub and a failing test, so that the right way is the shortest one."""

from __future__ import annotations

import re
from pathlib import Path

from sglang_contracts import paths
from sglang_contracts.errors import ContractsError
from sglang_contracts.files import write_atomically

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

_CONTRACT = """\
[contract]
id = "{name}"
title = "TODO: what one side may rely on, in one line"
target = "sglang.srt.TODO:Class"
provider = "sglang"               # who makes it: sglang, backend, plugin, platform, pool, user
consumer = "plugin"               # who relies on it
sglang = ">=0.4.6"

[dims]
B = "requests in the batch"

[fields.TODO]
dtype = "int64"
shape = ["B"]
device = "compute"
source = "TODO: where the fact comes from"
"""

_TEST = '''\
"""The contract {name}: replace the TODOs, then say here what must hold of it."""

from sglang_contracts.contract import load_contracts


def test_{identifier}_is_written():
    contract = next(each for each in load_contracts() if each.id == "{name}")
    assert "TODO" not in contract.title
    assert not any("TODO" in symbol for clause in contract.clauses for symbol in clause.symbols)
'''


def new_contract(
    name: str, folder: Path | None = None, tests: Path | None = None
) -> tuple[Path, Path]:
    """Write the stub of a contract and a test that fails until it is filled in.

    Args:
        name: The contract's id: lower-case words with hyphens.
        folder: Where the contract goes; None: ``contracts/`` of the checkout.
        tests: Where the test goes; None: ``tests/contract/`` beside it.

    Returns:
        The contract's file and the test's.

    Raises:
        ContractsError: No such name, or one of the files is already there.
    """
    if not _NAME.fullmatch(name):
        raise ContractsError(
            f"'{name}' is no name for a contract", "lower-case words with hyphens: my-interface"
        )
    folder = folder if folder is not None else _checkout()
    tests = tests if tests is not None else folder.parent / "tests" / "contract"
    identifier = name.replace("-", "_")
    contract, test = folder / f"{name}.toml", tests / f"test_{identifier}.py"
    for path in (contract, test):
        if path.exists():
            raise ContractsError(f"{path.name} is already there", "choose another name")
    _write(contract, _CONTRACT.format(name=name))
    _write(test, _TEST.format(name=name, identifier=identifier))
    return contract, test


def _checkout() -> Path:
    """``contracts/`` of the checkout that this package runs from."""
    folder = paths.package().parent / "contracts"
    if not folder.is_dir() or not (folder.parent / "tests" / "contract").is_dir():
        raise ContractsError(
            "this is no checkout of sglang-contracts: an installed package takes no contracts",
            "give a folder of your own: sglang-contracts new contract NAME --into DIR",
        )
    return folder


def _write(path: Path, text: str) -> None:
    write_atomically(path, text.encode(), "run it in a checkout of the project")
