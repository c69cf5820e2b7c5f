"""Findings that were worked out before, so that nothing is worked out twice.

A result stands on every byte of the plugin, on the recorded releases, on the contracts and on the
tool itself; the key holds a digest of all of them. A cache that is broken, stale or cannot be
written is no error: the answer is worked out again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import msgspec

from sglang_contracts import paths
from sglang_contracts.code_digest import code_digest
from sglang_contracts.disk_cache import DiskCache
from sglang_contracts.surface import Catalog
from sglang_contracts.verify.findings.finding import Note, PluginInfo, ReleaseReport

_CACHE = DiskCache("results", most=64)


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


def load(key: str) -> Result | None:
    """The result of that key, if there is one."""
    data = _CACHE.read(key)
    try:
        return None if data is None else msgspec.msgpack.decode(data, type=Result)
    except msgspec.MsgspecError:
        return None


def save(key: str, result: Result) -> None:
    """Keep a result."""
    _CACHE.write(key, msgspec.msgpack.encode(result))
