"""``new contract NAME``: a stub and a failing test, so that the right way is the shortest one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from sglang_contracts import paths
from sglang_contracts.contract.text import INVENTORY
from sglang_contracts.errors import ContractsError
from sglang_contracts.files import write_atomically

if TYPE_CHECKING:
    from sglang_contracts.surface import Catalog

MAX_NAME = 40
"""Longest id of a contract: file names and lines of tests are made of it."""
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

_CONTRACT = """\
[contract]
id = "{name}"
title = "TODO: what one side may rely on, in one line"
purpose = \"\"\"
TODO: what the interface is for, and what goes wrong where it is broken.
\"\"\"
last_change = \"\"\"
TODO: the newest release that changed anything, a colon, and what it changed.
\"\"\"
target = "{target}"
provider = "sglang"               # who makes it: sglang, backend, plugin, platform, pool, user
consumer = "plugin"               # who relies on it
sglang = {whole}

[dims]
B = "requests in the batch"
"""

_FIELD = """
[fields.TODO]
dtype = "int64"
shape = ["B"]
device = "compute"
note = "TODO: what it means"
source = "TODO: where the fact comes from"
"""

_INVENTORY = """\
# The names of {name} of which only the bounds, the signature and the successor are known.
# What the interface is for and what its names mean stands in ../{name}.toml.

"""

_TEST = '''\
"""The contract {name}.

Replace the TODOs in it, then say here what must hold.
"""

from pathlib import Path

from sglang_contracts.contract import load_contract

FILE = Path(__file__).{place} / "{name}.toml"


def test_{identifier}_is_written():
    contract = load_contract(FILE)
    said = [contract.title, contract.purpose, contract.last_change, *contract.targets]
    said += [text for each in contract.clauses for text in (each.name, each.note, each.source)]
    assert [text for text in said if "TODO" in text] == []
'''


def new_contract(
    name: str,
    folder: Path | None = None,
    target: str = "",
    catalog: Catalog | None = None,
) -> tuple[Path, ...]:
    """Write the stub of a contract and a test that fails until it is filled in.

    Args:
        name: The contract's id: lower-case words with hyphens.
        folder: Where contract and test go; None: ``contracts/`` of the checkout, and its tests.
        target: ``module:Class``: its names are written to the inventory, with their bounds.
        catalog: The recorded releases; needed with a target.

    Returns:
        The files written: contract, inventory where there is one, test.

    Raises:
        ContractsError: No such name or target, or one of the files is already there.
    """
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME:
        raise ContractsError(
            f"'{name}' is no name for a contract",
            f"lower-case words with hyphens, at most {MAX_NAME} characters: my-interface",
        )
    place = "parent"
    tests = folder
    if folder is None:
        top = paths.checkout(
            "start one in a folder of your own: sglang-contracts new contract NAME --into DIR"
        )
        folder, tests = top / "contracts", top / "tests" / "contract"
        place = 'parents[2] / "contracts"'
    assert tests is not None
    identifier = name.replace("-", "_")
    contract, names = folder / f"{name}.toml", folder / INVENTORY / f"{name}.toml"
    test = tests / f"test_{identifier}_contract.py"
    for path in (contract, names, test):
        if path.exists():
            raise ContractsError(f"{path.name} is already there", "choose another name")
    whole, mined = '">=0.4.6"', ""
    if target and catalog is not None:
        from sglang_contracts.contract.mined import inventory

        parts, mined = inventory(target, catalog)
        whole = _toml(parts) if parts else f'">={catalog.releases[0]}"'
    text = _CONTRACT.format(name=name, target=target or "sglang.srt.TODO:Class", whole=whole)
    files = {contract: text if mined else text + _FIELD}
    if mined:
        files[names] = _INVENTORY.format(name=name) + mined
    files[test] = _TEST.format(name=name, identifier=identifier, place=place)
    for path, content in files.items():
        write_atomically(path, content.encode(), "run it in a checkout of the project")
    return tuple(files)


def _toml(parts: tuple[str, ...]) -> str:
    quoted = ", ".join(f'"{part}"' for part in parts)
    return quoted if len(parts) == 1 else f"[{quoted}]"
