"""The file format of recorded surfaces: one append-only *pack* for each release.

A pack is a set of named *frames*. A frame is compressed with frames of the base release as
dictionary: with the one of the same name, where there is one (what two releases share costs
almost nothing then), else with those of its neighbours (a new module is most like its siblings).
What is unchanged is not in the pack at all; what vanished is listed. A frame can be read without
the rest of its release, through the chain of its dictionaries.

Layout: magic, header length (4 bytes, big-endian), header (msgpack, zstd), frames in header order.
"""

from __future__ import annotations

import bisect
import hashlib
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sglang_contracts.errors import ContractsError
from sglang_contracts.files import read_regular, write_atomically

if TYPE_CHECKING:
    import zstandard

MAGIC = b"SGLSURF1"
_CHANGES = msgspec.msgpack.Decoder(dict[str, tuple[str, ...]])
SUFFIX = ".surface"
_LEVEL = 19
_MAX_PACK = 256 * 2**20
"""Bytes of a pack; a whole release without a base takes one hundredth."""
_MAX_RAW = 64 * 2**20
"""No frame of any release comes near; a header that claims more is not ours."""


class Frame(msgspec.Struct, array_like=True, frozen=True):
    """Where a frame lies in its pack."""

    name: str
    basis: tuple[str, ...]
    """Frames of the base release that, one after the other, are its dictionary."""
    size: int
    """Bytes in the pack."""
    raw_size: int
    """Bytes when decompressed."""


class Header(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a pack says of itself."""

    release: str
    base: str
    """The release against which it is recorded; empty: none."""
    base_digest: str
    """Digest of that base: a pack recorded against another recording of it cannot be read."""
    digest: str
    """Digest over all frames of the release, in whatever pack they lie."""
    wheel: str
    sha256: str
    """Of the wheel."""
    frames: tuple[Frame, ...]
    removed: tuple[str, ...] = ()
    problems: dict[str, str] = {}
    """Modules that could only be read in part, and why."""
    changes: bytes = b""
    """Frames of the base that differ → names in them that do; decoded when it is asked for."""


class Pack:
    """An opened pack: its header, and its frames' bytes on demand."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            data = read_regular(path, _MAX_PACK)
        except OSError as error:
            raise ContractsError(
                f"cannot read the surface file {path}: {error.strerror or error}",
                f"delete it, and record it again: sglang-contracts record {path.stem}",
            ) from None
        size = int.from_bytes(data[8:12], "big")
        if data[:8] != MAGIC:
            raise self.corrupt("it does not begin as a surface file does")
        try:
            raw = _decompressor(b"").decompress(data[12 : 12 + size], max_output_size=_MAX_RAW)
            self.header = msgspec.msgpack.decode(raw, type=Header)
        except MemoryError:  # says nothing of the file
            raise
        except Exception as error:
            raise self.corrupt(f"its header is damaged ({error})") from None
        self._data = data
        self.where: dict[str, tuple[int, Frame]] = {}
        offset = 12 + size
        for frame in self.header.frames:
            self.where[frame.name] = (offset, frame)
            offset += frame.size
        if offset != len(data):
            raise self.corrupt(f"it has {len(data):,} bytes where its header says {offset:,}")
        self.removed = frozenset(self.header.removed)

    def changes(self) -> dict[str, tuple[str, ...]]:
        """Frames that the base has in another form → the names in them that differ.

        Decoded each time: a walk over releases asks for it once, and it is large.
        """
        if not self.header.changes:
            return {}
        try:
            return _CHANGES.decode(self.header.changes)
        except msgspec.MsgspecError as error:
            raise self.corrupt(f"its list of changes is damaged ({error})") from None

    def corrupt(self, why: str) -> ContractsError:
        """The error to raise where something about this file is wrong."""
        return ContractsError(
            f"the surface file {self.path} is corrupt: {why}",
            f"record it again: sglang-contracts record {self.path.stem} --force "
            "(or delete it; if it is one that came with sglang-contracts, reinstall that)",
        )

    def read(self, name: str, dictionary: bytes) -> bytes:
        """A frame's raw bytes; ``dictionary`` is what its :attr:`Frame.basis` says."""
        offset, frame = self.where[name]
        if frame.raw_size > _MAX_RAW:
            raise self.corrupt(f"{name} claims {frame.raw_size:,} bytes")
        try:
            raw = _decompressor(dictionary).decompress(
                self._data[offset : offset + frame.size], max_output_size=frame.raw_size
            )
        except MemoryError:  # says nothing of the file
            raise
        except Exception as error:
            raise self.corrupt(f"{name} cannot be decompressed ({error})") from None
        if len(raw) != frame.raw_size:
            raise self.corrupt(f"{name} has {len(raw):,} bytes, not {frame.raw_size:,}")
        return raw


def write(
    path: Path,
    frames: Mapping[str, bytes],
    *,
    release: str,
    wheel: str,
    sha256: str,
    base: str = "",
    base_digest: str = "",
    base_frames: Mapping[str, bytes] | None = None,
    changes: Mapping[str, tuple[str, ...]] | None = None,
    problems: Mapping[str, str] | None = None,
) -> Header:
    """Write a release's frames, atomically, as a pack against ``base_frames``.

    ``changes`` says of frames that ``base_frames`` has in another form which names in them differ.

    Returns:
        The header written.
    """
    known = base_frames or {}
    entries: list[Frame] = []
    chunks: list[bytes] = []
    neighbours = _Neighbours(known)
    for name in sorted(frames):
        raw = frames[name]
        if known.get(name) == raw:
            continue
        basis = (name,) if name in known else neighbours.of(name)
        chunk = _compressor(b"".join(known[each] for each in basis)).compress(raw)
        entries.append(Frame(name, basis, len(chunk), len(raw)))
        chunks.append(chunk)
    header = Header(
        release=release,
        base=base,
        base_digest=base_digest,
        digest=digest(frames),
        wheel=wheel,
        sha256=sha256,
        frames=tuple(entries),
        removed=tuple(sorted(name for name in known if name not in frames)),
        problems=dict(sorted((problems or {}).items())),
        changes=msgspec.msgpack.encode(dict(sorted((changes or {}).items()))),
    )
    packed = _compressor(b"").compress(msgspec.msgpack.encode(header))
    write_atomically(path, MAGIC + len(packed).to_bytes(4, "big") + packed + b"".join(chunks))
    return header


def digest(frames: Mapping[str, bytes]) -> str:
    """A digest over named frames, whatever packs they lie in."""
    total = hashlib.blake2b(digest_size=16)
    for name in sorted(frames):
        total.update(name.encode() + b"\0" + hashlib.blake2b(frames[name], digest_size=16).digest())
    return total.hexdigest()


class _Neighbours:
    """Which frames of a base a new module is likely to resemble."""

    def __init__(self, known: Mapping[str, bytes]) -> None:
        self._names = sorted(name for name in known if name.startswith("m:"))
        self._by_last: dict[str, list[str]] = {}
        for name in self._names:
            self._by_last.setdefault(name.rpartition(".")[2], []).append(name)

    def of(self, name: str) -> tuple[str, ...]:
        """The modules before and after it by name, and two of the same last name (a move)."""
        at = bisect.bisect(self._names, name)
        found = self._names[max(0, at - 1) : at + 1]
        found += self._by_last.get(name.rpartition(".")[2], [])[:2]
        return tuple(dict.fromkeys(found)) if name.startswith("m:") else ()


def _compressor(base: bytes) -> zstandard.ZstdCompressor:
    import zstandard

    if not base:
        return zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
    dictionary = zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    return zstandard.ZstdCompressor(level=_LEVEL, dict_data=dictionary, write_checksum=True)


_of_thread = threading.local()


def _plain() -> zstandard.ZstdDecompressor:
    """This thread's: one that two threads use at the same time reads neither's data."""
    import zstandard

    found: zstandard.ZstdDecompressor | None = getattr(_of_thread, "plain", None)
    if found is None:
        found = _of_thread.plain = zstandard.ZstdDecompressor()
    return found


def _decompressor(base: bytes) -> zstandard.ZstdDecompressor:
    if not base:
        return _plain()
    import zstandard

    dictionary = zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    return zstandard.ZstdDecompressor(dict_data=dictionary)
