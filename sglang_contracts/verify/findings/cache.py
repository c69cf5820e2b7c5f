"""Findings that were worked out before, so that nothing is worked out twice.

A result stands on every byte of the plugin, on the recorded releases, on the contracts and on the
tool itself; the key holds a digest of all of them. A cache that is broken, stale or cannot be
written is no error: the answer is worked out again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from sglang_contracts import paths
from sglang_contracts.code_digest import code_digest
from sglang_contracts.errors import ContractsError
from sglang_contracts.files import sealed, unsealed, write_atomically
from sglang_contracts.surface import Catalog
from sglang_contracts.verify.findings.finding import Note, PluginInfo, ReleaseReport

KEPT = 64
"""Results kept; the oldest go first."""


class Result(msgspec.Struct):
    """What is known of one state of one plugin."""

    plugin: PluginInfo
    files: int
    uses: int
    notes: tuple[Note, ...] = ()
    releases: dict[str, ReleaseReport] = {}
    unloaded: tuple[str, ...] = ()
    """Releases that never load the plugin."""


def key_of(digest: str, catalog: Catalog, known_as: Mapping[str, str]) -> str:
    """The key of a result.

    Args:
        digest: Of the plugin's files.
        catalog: The recorded releases.
        known_as: The plugin's own conventional names.
    """
    total = hashlib.sha256(f"{code_digest()}\0{digest}\0".encode())
    for release in catalog.releases:
        total.update(f"{release}={catalog.pack(release).header.digest}\0".encode())
    total.update(repr(sorted(known_as.items())).encode())
    contracts = paths.data("contracts")
    for path in sorted(contracts.rglob("*.toml")):
        total.update(path.relative_to(contracts).as_posix().encode() + path.read_bytes())
    return total.hexdigest()[:40]


def _path(key: str) -> Path:
    return paths.cache() / "results" / f"{key}.msgpack"


def load(key: str) -> Result | None:
    """The result of that key, if there is one."""
    try:
        data = unsealed(_path(key).read_bytes())
        return None if data is None else msgspec.msgpack.decode(data, type=Result)
    except (OSError, msgspec.MsgspecError):
        return None


def save(key: str, result: Result) -> None:
    """Keep a result."""
    try:
        write_atomically(_path(key), sealed(msgspec.msgpack.encode(result)))
        held = sorted(_path(key).parent.glob("*.msgpack"), key=lambda each: each.stat().st_mtime)
        for path in held[:-KEPT]:
            path.unlink(missing_ok=True)
    except (ContractsError, OSError):
        return  # a read-only cache: the next run works it out again
