"""Wheel → surface: what `sglang-contracts record` does."""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec
from packaging.version import Version

from sglang_contracts import subprocesses
from sglang_contracts.errors import ContractsError
from sglang_contracts.files import scratch_folder
from sglang_contracts.surface import obtain, store
from sglang_contracts.surface.catalog import Catalog
from sglang_contracts.surface.changes import changes
from sglang_contracts.surface.extract import extract
from sglang_contracts.surface.frames import encode, frames
from sglang_contracts.surface.model import Module, Usage
from sglang_contracts.surface.wheel import Wheel, not_recorded

Progress = Callable[[int, int], None]
"""Called with modules done and modules in all."""


def read_modules(
    wheel: Wheel,
    only: str = "sglang",
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> dict[str, tuple[Module, Usage]]:
    """Read every recorded module of a wheel, in ``jobs`` processes."""
    names = wheel.modules(only)
    if only == "sglang":
        names += wheel.flag_modules()
    out: dict[str, tuple[Module, Usage]] = {}
    if jobs <= 1 or not subprocesses.can_share():
        with _collector_off():
            for done, name in enumerate(names, 1):
                source, package = wheel.source(name)
                out[name] = extract(source, name, package=package)
                if progress:
                    progress(done, len(names))
        return out
    # Many small parts: modules differ a hundredfold in size, and the last part must not be long.
    parts = [names[start :: jobs * 16] for start in range(jobs * 16)]
    done = 0
    with subprocesses.pool(jobs) as pool:
        for part, encoded in zip(
            parts, pool.map(_read_part, [str(wheel.path)] * len(parts), parts), strict=True
        ):
            decoded = msgspec.msgpack.decode(encoded, type=list[tuple[Module, Usage]])
            out.update(zip(part, decoded, strict=True))
            done += len(part)
            if progress:
                progress(done, len(names))
    return {name: out[name] for name in names}


def _read_part(path: str, names: list[str]) -> bytes:
    wheel = Wheel(Path(path))
    read = []
    with _collector_off():
        for name in names:
            source, package = wheel.source(name)
            read.append(extract(source, name, package=package))
    return encode(read)


@contextlib.contextmanager
def _collector_off() -> Iterator[None]:
    """Without the cycle collector, which takes a third of the time and finds nothing.

    A syntax tree has no cycles, so reference counts free it; the collector only walks millions of
    young nodes again and again.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def write_pack(
    wheel: Wheel,
    folder: Path,
    modules: Mapping[str, tuple[Module, Usage]],
    *,
    base: str = "",
    base_digest: str = "",
    base_frames: Mapping[str, bytes] | None = None,
) -> store.Header:
    """Write ``<release>.surface`` into ``folder``; the same wheel and base give the same bytes."""
    own, known = frames(modules), base_frames or {}
    return store.write(
        folder / f"{wheel.version}{store.SUFFIX}",
        own,
        release=wheel.version,
        wheel=wheel.path.name,
        sha256=wheel.sha256(),
        base=base,
        base_digest=base_digest,
        base_frames=known,
        changes={
            name: changes(name, known[name], raw, ContractsError)
            for name, raw in own.items()
            if name in known and known[name] != raw
        },
        problems={name: module.problem for name, (module, _) in modules.items() if module.problem},
    )


class Recorded(msgspec.Struct, frozen=True):
    """What :func:`record` did."""

    release: str
    path: Path
    modules: int
    base: str
    """The release it is stored against; empty: none."""
    fresh: bool
    """False: it was on record already and was left alone."""
    problems: dict[str, str]
    """Modules that could only be read in part, and why."""


def record(
    spec: str,
    catalog: Catalog,
    *,
    folder: Path | None = None,
    force: bool = False,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Recorded:
    """Record one release, from the index or from a wheel.

    Args:
        spec: A release (``0.5.24``) or the path of a wheel.
        catalog: What is on record: the new release is stored against the newest one before it.
        folder: Where the pack goes; by default the user's cache.
        force: Record it though it is on record (in ``folder``) already.
        jobs: Processes that read modules.
        progress: Called as modules are read.

    Raises:
        ContractsError: No such release or wheel, a wheel that is damaged or hostile, no network, a
            folder that cannot be written to.
    """
    folder = folder or catalog.user
    if spec.endswith(".whl") or "/" in spec:
        return _record_wheel(Wheel(Path(spec)), catalog, folder, force, jobs, progress)
    release = spec.removeprefix("v")
    try:
        version = Version(release)
    except ValueError:  # InvalidVersion, or more digits than Python reads
        raise ContractsError(
            f"{spec!r} is neither a release nor a wheel",
            "give a version (0.5.24) or the path of a .whl file",
        ) from None
    if version.is_prerelease or version.local:  # said before it is fetched
        raise not_recorded(version)
    if release in catalog.releases and not force:
        return _known(release, catalog)
    with scratch_folder() as temporary:
        wheel = Wheel(obtain.download(release, temporary))
        return _record_wheel(wheel, catalog, folder, force, jobs, progress)


def _known(release: str, catalog: Catalog) -> Recorded:
    pack = catalog.pack(release)
    return Recorded(
        release,
        pack.path,
        len(catalog.surface(release).module_names()),
        pack.header.base,
        False,
        pack.header.problems,
    )


def _record_wheel(
    wheel: Wheel,
    catalog: Catalog,
    folder: Path,
    force: bool,
    jobs: int,
    progress: Progress | None,
) -> Recorded:
    if wheel.version in catalog.releases and not force:
        return _known(wheel.version, catalog)
    if not os.access(_existing(folder), os.W_OK):
        # Said before minutes of reading, not after.
        raise ContractsError(
            f"cannot write to {folder}",
            "set SGLANG_CONTRACTS_CACHE to a folder that can be written to",
        )
    modules = read_modules(wheel, jobs=jobs, progress=progress)
    version = Version(wheel.version)
    earlier = [each for each in catalog.releases if Version(each) < version]
    # What is shipped must not stand on what only one user has.
    if folder == catalog.shipped:
        earlier = [each for each in earlier if not catalog.is_users(each)]
    base = earlier[-1] if earlier else ""
    header = write_pack(
        wheel,
        folder,
        modules,
        base=base,
        base_digest=catalog.pack(base).header.digest if base else "",
        base_frames=catalog.all_frames(base) if base else None,
    )
    path = folder / f"{wheel.version}{store.SUFFIX}"
    return Recorded(wheel.version, path, len(modules), base, True, header.problems)


def _existing(folder: Path) -> Path:
    """The nearest folder above that is there."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder
