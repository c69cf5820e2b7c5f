"""All contracts of a folder, fast: parsed once, kept as msgpack in the user's cache.

The cache is keyed by the digest of the code and every file's bytes.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from sglang_contracts import paths
from sglang_contracts.code_digest import code_digest
from sglang_contracts.contract.model import Contract
from sglang_contracts.contract.text import INVENTORY, read_text
from sglang_contracts.disk_cache import DiskCache
from sglang_contracts.errors import ContractsError, nearest

MAX_FILES = 500
"""Most contract files in one folder."""
_CACHE = DiskCache("contracts", most=8)
_MARK = b"sglang-contracts compiled 1\n"


def load_contracts(folder: Path | None = None) -> tuple[Contract, ...]:
    """Every contract in a folder, by id.

    Args:
        folder: Where the ``*.toml`` lie, and ``inventory/``; None: those shipped with the tool.

    Raises:
        ContractsError: No such folder, or a file in it is wrong (file, line, hint).
    """
    folder = folder if folder is not None else paths.data("contracts")
    if not folder.is_dir():
        raise ContractsError(f"there is no folder of contracts at {folder}")
    files = sorted(folder.glob("*.toml"))
    inventories = sorted((folder / INVENTORY).glob("*.toml"))
    if len(files) > MAX_FILES:
        raise ContractsError(f"more than {MAX_FILES} contracts in {folder}")
    for alone in {path.name for path in inventories} - {path.name for path in files}:
        raise ContractsError(
            f"{INVENTORY}/{alone}: there is no {alone} that it belongs to",
            f"write {folder / alone}, or remove the inventory",
        )
    texts = {path.name: read_text(path) for path in files}
    names = {f"{INVENTORY}/{path.name}": read_text(path) for path in inventories}
    key = _key(texts | names)
    found = _read(key)
    if found is None:
        from sglang_contracts.contract.load import parse_contract

        found = tuple(
            parse_contract(text, name, names.get(f"{INVENTORY}/{name}"))
            for name, text in texts.items()
        )
        _CACHE.write(key, msgspec.msgpack.encode(found))
    return found


def load_contract(path: Path) -> Contract:
    """One contract from its file and inventory, past the cache.

    Raises:
        ContractsError: It cannot be read, or anything is wrong with it.
    """
    from sglang_contracts.contract.load import read_contract

    return read_contract(path)


def select(contracts: tuple[Contract, ...], ids: tuple[str, ...]) -> tuple[Contract, ...]:
    """The contracts with these ids, in the order asked for; none asked: all.

    Raises:
        ContractsError: An unknown id; the nearest ones are named.
    """
    if not ids:
        return contracts
    by_id = {contract.id: contract for contract in contracts}
    for each in ids:
        if each not in by_id:
            close = nearest(each, by_id)
            hint = "did you mean " + ", ".join(close) if close else "known: " + ", ".join(by_id)
            raise ContractsError(f"there is no contract '{each}'", hint)
    return tuple(by_id[each] for each in ids)


def _key(texts: dict[str, str]) -> str:
    digest = hashlib.sha256(_MARK)
    digest.update(code_digest().encode())
    for name, text in texts.items():
        data = text.encode()
        digest.update(f"\0{name}\0{len(data)}\0".encode())
        digest.update(data)
    return digest.hexdigest()


def _read(key: str) -> tuple[Contract, ...] | None:
    data = _CACHE.read(key)
    try:
        return None if data is None else msgspec.msgpack.decode(data, type=tuple[Contract, ...])
    except (msgspec.MsgspecError, ValueError):
        return None
