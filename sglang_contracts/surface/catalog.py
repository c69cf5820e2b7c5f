"""All recorded releases: what is shipped, and what the user recorded beside it."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable, Collection
from functools import cached_property
from pathlib import Path

import msgspec
from packaging.version import Version

from sglang_contracts import paths
from sglang_contracts.errors import ContractsError, nearest, nearest_releases
from sglang_contracts.surface import store
from sglang_contracts.surface.changes import changes
from sglang_contracts.surface.frames import SHARD, Decoder
from sglang_contracts.surface.kept import Kept, RecordId
from sglang_contracts.surface.lazy import read_module
from sglang_contracts.surface.model import Module
from sglang_contracts.surface.surface import Surface

FORMAT = 2
"""Of recorded facts. A user's own packs of another format are not read."""

_SHARDED = ("c:", "n:", "r:")
_NEVER = object()
_NOTHING: frozenset[str] = frozenset()

_RAW_KEPT = 48 * 2**20
"""Bytes of frames that are kept: each is the dictionary of its successor."""
_DECODED_KEPT = 8 * 2**20
"""Bytes of frames that are kept decoded, which takes about eight times as much."""
_SURFACES_KEPT = 16
"""Releases whose resolved names are kept: each holds on to the modules they stand in."""


def user_folder() -> Path:
    """Where the user's own recorded releases lie."""
    return paths.cache() / f"surfaces-{FORMAT}"


def load_catalog(shipped: Path | None = None, user: Path | None = None) -> Catalog:
    """The shipped releases, and beside them those the user recorded.

    Args:
        shipped: A folder of packs; by default the one that came with the tool.
        user: A second one; by default the user's cache.
    """
    return Catalog(
        shipped if shipped is not None else paths.data("matrix") / "surfaces",
        user if user is not None else user_folder(),
    )


class Catalog:
    """The releases on record.

    Args:
        shipped: Folder of packs that wins where both have a release.
        user: Folder of further packs; need not exist.
    """

    def __init__(self, shipped: Path, user: Path) -> None:
        self.shipped = shipped
        self.user = user
        self._paths: dict[str, Path] = {}
        for folder in (user, shipped):
            for path in folder.glob(f"*{store.SUFFIX}") if folder.is_dir() else ():
                if not path.name.startswith("."):
                    self._paths[path.stem] = path
        self._packs: dict[str, store.Pack] = {}
        self._damaged: dict[str, ContractsError | None] = {}
        self._located: dict[RecordId, RecordId | None] = {}
        self._raw: Kept[bytes] = Kept(_RAW_KEPT)
        self._decoded: Kept[object] = Kept(_DECODED_KEPT)
        self._modules: Kept[Module] = Kept(_DECODED_KEPT)
        self._surfaces: OrderedDict[str, Surface] = OrderedDict()
        self._facts: dict[tuple[str, str, str], msgspec.Raw | None] = {}
        self._changed_keys: dict[str, dict[str, frozenset[str]]] = {}

    @cached_property
    def releases(self) -> tuple[str, ...]:
        """Recorded releases, ascending."""
        usable = []
        for release, path in self._paths.items():
            try:
                version = Version(release)
            except ValueError:  # InvalidVersion, or more digits than Python reads
                continue
            if version.is_prerelease or version.local:
                continue  # nobody is asked to support one; earlier versions of this tool took them
            if path.parent == self.user and (self.damage(release) or self.stale(release)):
                continue
            usable.append((version, release))
        return tuple(release for _, release in sorted(usable))

    def damage(self, release: str) -> ContractsError | None:
        """Why a recorded release cannot be read, with the fix; None where it can."""
        if release not in self._damaged:
            try:
                self.pack(release)
                self._damaged[release] = None
            except ContractsError as error:
                self._damaged[release] = error
        return self._damaged[release]

    @property
    def damaged(self) -> tuple[ContractsError, ...]:
        """What the user recorded and cannot be read any more: the other releases go on."""
        found = (self._damaged.get(release) for release in self._paths)
        return tuple(each for each in found if each is not None) if self.releases else ()

    def is_users(self, release: str) -> bool:
        """Whether a release was recorded by the user, not shipped."""
        path = self._paths.get(release)
        return path is not None and path.parent == self.user and self.user != self.shipped

    def stale(self, release: str) -> bool:
        """Whether a user's pack stands on another recording of its base than the one here."""
        try:
            header = self.pack(release).header
        except ContractsError:
            return False  # corrupt: said when it is asked for, not hidden
        if not header.base:
            return False
        return header.base not in self._paths or (
            self.pack(header.base).header.digest != header.base_digest
        )

    def surface(self, release: str) -> Surface:
        """One release.

        Raises:
            ContractsError: It is not recorded; the nearest ones are named.
        """
        found = self._surfaces.get(release)
        if found is None:
            found = self._surfaces[release] = Surface(self, self.known(release))
            if len(self._surfaces) > _SURFACES_KEPT:
                self._surfaces.popitem(last=False)
        self._surfaces.move_to_end(release)
        return found

    def known(self, release: str) -> str:
        """``release`` as it is recorded (``v0.5.3`` and ``0.5.3.0`` are other spellings of it).

        Raises:
            ContractsError: It is not recorded.
        """
        if release in self.releases:
            return release
        try:
            version = Version(release)
        except ValueError:  # InvalidVersion, or more digits than Python reads
            version = None
        for each in self.releases:
            if version is not None and Version(each) == version:
                return each
        damage = self.damage(release) if release in self._paths else None
        if damage is not None:
            raise damage
        close = (
            nearest(release, self.releases)
            if version is None
            else nearest_releases(version, self.releases)
        )
        raise ContractsError(
            f"SGLang {release} is not recorded"
            + (f"; the nearest are {', '.join(close)}" if close else ""),
            f"sglang-contracts record {release} records it, if the index has it",
        )

    def pack(self, release: str) -> store.Pack:
        """A release's own pack, opened once."""
        pack = self._packs.get(release)
        if pack is None:
            pack = self._packs[release] = store.Pack(self._paths[release])
        return pack

    def locate(self, release: str, frame: str) -> RecordId | None:
        """The release in whose pack a frame of ``release`` lies; None where it has none."""
        key = (release, frame)
        if key in self._located:
            return self._located[key]
        passed = []
        at = release
        found: RecordId | None = None
        while at:
            key = (at, frame)
            if key in self._located:
                found = self._located[key]
                break
            passed.append(key)
            pack = self.pack(at)
            if frame in pack.where:
                found = key
                break
            if frame in pack.removed:
                break
            at = pack.header.base
        for key in passed:
            self._located[key] = found
        return found

    def raw(self, record: RecordId) -> bytes:
        """A frame's bytes."""
        known = self._raw.get(record)
        if known is None:
            known = self._read(record, {})
            self._raw.put(record, known, len(known))
        return known

    def _read(self, record: RecordId, on_the_way: dict[RecordId, bytes]) -> bytes:
        """A frame's bytes; ``on_the_way`` to them are those of older releases it is recorded from.

        Those are of no use to a walk over releases in order: kept like what was asked for, they
        would push that out, and every further release would be read from the first one on.
        """
        release, name = record
        pack = self.pack(release)
        parts = []
        for each in pack.where[name][1].basis:
            at = self.locate(pack.header.base, each)
            if at is None:
                raise pack.corrupt(f"{name} refers to {each}, which its base does not have")
            older = on_the_way.get(at) or self._raw.get(at)
            if older is None:
                older = on_the_way[at] = self._read(at, on_the_way)  # at most as deep as releases
                self._raw.put(at, older, len(older), spare=True)
            parts.append(older)
        return pack.read(name, b"".join(parts))

    def decoded(self, record: RecordId, decoder: Decoder) -> object:
        """A frame, decoded; the last few thousand are kept."""
        value = self._decoded.get(record)
        if value is None:
            try:
                value = decoder.decode(self.raw(record))
            except msgspec.MsgspecError as error:
                raise self.pack(record[0]).corrupt(f"{record[1]}: {error}") from None
            self._decoded.put(record, value, self.pack(record[0]).where[record[1]][1].raw_size)
        return value

    def fact(self, release: str, frame: str, key: str) -> msgspec.Raw | None:
        """The undecoded entry of a key in a shard; None where it has none.

        It is read in the newest release up to this one that changed it: shards are large, and each
        release changes some of every shard's entries.
        """
        passed = []
        at = release
        while at:
            spot = (at, frame, key)
            known = self._facts.get(spot, _NEVER)
            if known is _NEVER:
                passed.append(spot)
                pack = self.pack(at)
                differing = self._differing(at).get(frame) if frame in pack.where else _NOTHING
                if differing is not None and key not in differing:
                    at = pack.header.base
                    continue
                entries: dict[str, msgspec.Raw] = self.decoded((at, frame), SHARD)  # type: ignore[assignment]
                raw = entries.get(key)
                # A copy: else every entry would hold on to its shard.
                known = None if raw is None else raw.copy()
            found: msgspec.Raw | None = known  # type: ignore[assignment]
            self._facts.update(dict.fromkeys(passed, found))
            return found
        raise self.pack(release).corrupt(f"it has no {frame}")

    def _differing(self, release: str) -> dict[str, frozenset[str]]:
        """By shard: the keys whose entries are not what they are in the base."""
        found = self._changed_keys.get(release)
        if found is None:
            found = self._changed_keys[release] = {
                frame: frozenset(keys)
                for frame, keys in self.pack(release).changes().items()
                if frame.startswith(_SHARDED)
            }
        return found

    def frame_names(self, release: str) -> frozenset[str]:
        """Names of all frames of a release."""
        pack = self.pack(release)
        base = self.frame_names(pack.header.base) if pack.header.base else frozenset()
        return (base - pack.removed) | pack.where.keys()

    def all_frames(self, release: str) -> dict[str, bytes]:
        """Every frame of a release."""
        located = {name: self.locate(release, name) for name in self.frame_names(release)}
        return {name: self.raw(record) for name, record in located.items() if record is not None}

    def module(self, record: RecordId) -> Module:
        """A module's record; the last few thousand are kept."""
        found = self._modules.get(record)
        if found is None:
            raw = self.raw(record)
            found = read_module(raw, self._corrupt(record))
            self._modules.put(record, found, len(raw))
        return found

    def _corrupt(self, record: RecordId) -> Callable[[str], ContractsError]:
        return lambda why: self.pack(record[0]).corrupt(f"{record[1]}: {why}")

    def difference(
        self, old: str, new: str, among: Collection[str]
    ) -> dict[str, tuple[str, ...] | None]:
        """Of these frames those that differ between two releases, and the names in them that do.

        None stands for all of them: only one of the releases has the frame. For the names see
        :mod:`~sglang_contracts.surface.changes`.
        """
        for one, other in ((old, new), (new, old)):
            pack = self.pack(other)
            if pack.header.base == one:
                names = pack.changes()
                every = itertools.chain(pack.where, pack.removed)
                return {frame: names.get(frame) for frame in every if frame in among}
        differing: dict[str, tuple[str, ...] | None] = {}
        for frame in among:
            was, now = self.locate(old, frame), self.locate(new, frame)
            if was is None or now is None:
                if was != now:
                    differing[frame] = None
            elif was != now:
                differing[frame] = changes(frame, self.raw(was), self.raw(now), self._corrupt(now))
        return differing

    def changed(self, release: str) -> frozenset[str]:
        """Modules whose record differs from the base's (new and removed included)."""
        pack = self.pack(release)
        names = [name for name in (*pack.where, *pack.removed) if name.startswith("m:")]
        return frozenset(name[2:] for name in names)
