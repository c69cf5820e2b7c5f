"""A plugin as a whole: its files, and what links them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from sglang_contracts.code_digest import code_digest
from sglang_contracts.disk_cache import DiskCache
from sglang_contracts.plugin.extract import extract
from sglang_contracts.plugin.ir.records import File, UseKind
from sglang_contracts.plugin.reading.files import Source, Sources, modules_of, read_sources, spelled


class Plugin(msgspec.Struct):
    """Everything extraction found, before any release is looked at."""

    name: str
    version: str
    path: str
    files: list[File]
    digest: str
    """Of every byte that was read and of the extraction itself."""

    @property
    def uses(self) -> int:
        """How many uses there are."""
        return sum(use.kind is not UseKind.NEED for file in self.files for use in file.uses)


class Opened(msgspec.Struct):
    """A plugin whose files are read but not looked into yet."""

    sources: Sources
    modules: dict[str, str]
    """Path of a Python file → its dotted name."""
    own_modules: frozenset[str]
    key: str
    digest: str
    """Of every byte that was read and of the extraction itself."""

    def extract(self) -> Plugin:
        """Look into the files; records of unchanged ones come from the user's cache."""
        store = _Cache(self.key)
        files = []
        for source in self.sources.files:
            digest = _digest(source)
            file = store.get(digest)
            if file is None:
                made = extract(source, self.modules.get(source.path, ""), self.own_modules)
                file = store.put(digest, made)
            if file.uses or file.problem or file.classes or file.functions or file.names:
                files.append(file)
        store.save()
        found = self.sources
        return Plugin(found.name, found.version, spelled(found.path), files, self.digest)


def _digest(source: Source) -> str:
    # One that is not read has no bytes to tell it by: what is said of it stands for them.
    said = f"{source.path}\0{source.problem}\0{source.unread:d}\0".encode()
    return hashlib.sha256(said + source.data).hexdigest()


def open_plugin(where: Path | str, exclude: Sequence[str] = ()) -> Opened:
    """Read a plugin's files.

    Raises:
        ContractsError: There is nothing to check.
    """
    sources = read_sources(where, exclude)
    modules = dict(modules_of([source.path for source in sources.files]))
    own = set(modules.values()) - {""}
    root = Path(sources.path)
    if (root / "__init__.py").is_file():  # the root is itself a package: it is known by its name
        own |= {f"{root.resolve().name}.{each}" for each in own} | {root.resolve().name}
    packages = set(own)
    for name in own:
        parts = name.split(".")
        packages.update(".".join(parts[:end]) for end in range(1, len(parts)))
    own_modules = frozenset(each for each in packages if each and each != "sglang")
    key = hashlib.sha256(repr((code_digest(), sorted(own_modules))).encode())
    # A report says the name, the version and the path: equal files of another plugin are another's.
    shown = repr((sources.name, sources.version, os.fsencode(sources.path)))
    total = hashlib.sha256(key.digest() + shown.encode("utf-8", "surrogatepass"))
    for source in sources.files:
        total.update(_digest(source).encode())
    return Opened(sources, modules, own_modules, key.hexdigest(), total.hexdigest())


def load_plugin(where: Path | str, exclude: Sequence[str] = ()) -> Plugin:
    """Read a plugin and look into its files.

    Raises:
        ContractsError: There is nothing to check.
    """
    return open_plugin(where, exclude).extract()


_RECORDS = DiskCache("plugins", most=64)


class _Cache:
    """Records of files by digest, in one entry of the user's cache.

    A record that failed for want of memory or stack is not kept: the next run may have them.
    """

    def __init__(self, key: str) -> None:
        self._key = key[:32]
        self._held: dict[str, msgspec.Raw] = {}
        self._used: dict[str, msgspec.Raw] = {}
        self._changed = False
        data = _RECORDS.read(self._key)
        with suppress(msgspec.MsgspecError):
            if data is not None:
                self._held = msgspec.msgpack.decode(data, type=dict[str, msgspec.Raw])

    def get(self, digest: str) -> File | None:
        """The record of a file; None if it is not known."""
        raw = self._held.get(digest)
        if raw is None:
            return None
        try:
            file = msgspec.msgpack.decode(raw, type=File)
        except msgspec.DecodeError:
            return None
        self._used[digest] = raw
        return file

    def put(self, digest: str, file: File) -> File:
        """Keep a record; it comes back exactly as it will from the cache."""
        try:
            raw = msgspec.msgpack.encode(file)
            kept = msgspec.msgpack.decode(raw, type=File)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            # A constant that no record can hold must not keep the other files from being checked.
            problem = f"could not be kept ({type(error).__name__}: {error}); please report it"
            file = File(file.path, file.module, problem=problem, unread=True)
            file.transient = isinstance(error, RecursionError)
            raw = msgspec.msgpack.encode(file)
            kept = msgspec.msgpack.decode(raw, type=File)
        if not file.transient:
            self._used[digest] = msgspec.Raw(raw)
            self._changed = True
        return kept

    def save(self) -> None:
        """Write what was used, atomically."""
        if not self._changed:
            return
        _RECORDS.write(self._key, msgspec.msgpack.encode(self._used))
