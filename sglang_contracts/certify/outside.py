"""What took part in a run beside the certified distribution: other code, dependencies, settings.

A plugin's backend or its kernels may stand in another distribution, or in no distribution at all.
What a process of the run had loaded at its end is told by that process; here each file is given to
whoever it belongs to. The interpreter, its library and the system's libraries are nobody's: the
certificate's environment names them.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from sglang_contracts.certify.certificate import Dependency
from sglang_contracts.certify.digests import file_digest, own_files, packages, suite_places

TEMPORARY = "temporary:"
"""Before the name of a file that the run itself has left in a folder of temporary files."""

_SUITE = "sglang-contracts"
_TESTED = "sglang"
_SITE = ("site-packages", "dist-packages")
_SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share", "/proc", "/dev", "/System")


@dataclass(frozen=True)
class Surroundings:
    """What took part beside the certified distribution.

    Attributes:
        outside: Files that belong neither to it nor to what every run needs → digest. A file of a
            distribution is named ``distribution:path``, another one by its path.
        dependencies: Distributions that every run needs (the suite's, SGLang's) and loaded files
            of.
    """

    outside: Mapping[str, str]
    dependencies: tuple[Dependency, ...]


def surroundings(
    plugin: str, loaded: Iterable[str], before: Iterable[str], settings: Path | None, run: Path
) -> Surroundings:
    """Give each loaded file to whoever it belongs to.

    Args:
        plugin: The certified distribution.
        loaded: Files that the processes of a run had loaded at their end.
        before: Those that they had loaded before the plugin: what torch imports where it is there.
        settings: The settings file that was named for the run; None: the plugin's own.
        run: The folder of the run, which is gone after it.
    """
    run, earlier = run.resolve(), {Path(each).resolve() for each in before}
    files = earlier | {Path(each).resolve() for each in loaded}
    nobodys = _nobodys()
    files = {each for each in files if each.is_file() and not nobodys(each)}
    if settings is not None:
        files.add(settings.resolve())
    own, folders = own_files(plugin), [folder.resolve() for folder in packages(plugin)]
    files = {
        each for each in files - own if not any(each.is_relative_to(folder) for folder in folders)
    }
    owners = _owners(files)
    needed = _needed((_SUITE, _TESTED))
    needed |= {_name(owners[file][0]) for file in earlier & owners.keys()}
    outside: dict[str, str] = {}
    dependencies: dict[str, Dependency] = {}
    for file in sorted(files):
        if file not in owners:
            inside = file.is_relative_to(run)
            name = f"{TEMPORARY}{file.relative_to(run).as_posix()}" if inside else str(file)
            outside[name] = file_digest(file)
            continue
        distribution, inner = owners[file]
        name = _name(distribution)
        if name in needed:
            dependencies.setdefault(name, _dependency(name, distribution))
        elif name != canonicalize_name(plugin):
            outside[f"{name}:{inner}"] = file_digest(file)
    return Surroundings(outside, tuple(dependencies[name] for name in sorted(dependencies)))


def changed(outside: Mapping[str, str]) -> Iterator[str]:
    """Sentences on files that are not what a certificate says of them.

    Those that the run itself has left in its folder are gone, and not looked for.
    """
    for name, digest in sorted(outside.items()):
        if name.startswith(TEMPORARY):
            continue
        place = _place(name)
        if place is None or not place.is_file():
            yield f"{name}, which took part in the run, is not here"
        elif file_digest(place) != digest:
            yield f"{name}, which took part in the run, is not what it was"


def _nobodys() -> Callable[[Path], bool]:
    """Whether a file is the interpreter's, the system's or the suite's."""
    named = sysconfig.get_paths()
    site = {Path(named[each]).resolve() for each in ("purelib", "platlib")}
    library = {Path(named[each]).resolve() for each in ("stdlib", "platstdlib")}
    library.add(Path(sys.base_prefix).resolve() / "lib")
    known = [*(each.resolve() for each in suite_places().values()), *map(Path, _SYSTEM)]

    def told(file: Path) -> bool:
        if any(file.is_relative_to(each) for each in known):
            return True
        installed = any(part in _SITE for part in file.parts)
        installed = installed or any(file.is_relative_to(each) for each in site)
        return not installed and any(file.is_relative_to(each) for each in library)

    return told


Owner = tuple[importlib.metadata.Distribution, str]


def _owners(files: set[Path]) -> dict[Path, Owner]:
    """Each file that a distribution's record names, or that lies in an editable one's packages."""
    found: dict[Path, Owner] = {}
    left = {str(each): each for each in files}
    editable = []
    for distribution in importlib.metadata.distributions():
        top = Path(str(distribution.locate_file(""))).resolve()
        for line in (distribution.read_text("RECORD") or "").splitlines():
            inner = line.partition(",")[0]
            file = left.get(f"{top}/{inner}")
            if file is not None:
                found.setdefault(file, (distribution, inner))
        if '"editable"' in (distribution.read_text("direct_url.json") or ""):
            editable.append(distribution)
    for distribution in editable:
        for folder in packages(distribution.metadata["Name"]):
            place = folder.resolve()
            for file in [each for each in files - found.keys() if each.is_relative_to(place)]:
                inner = file.relative_to(place).as_posix()
                found[file] = (distribution, f"{folder.name}/{inner}")
    return found


def _name(distribution: importlib.metadata.Distribution) -> str:
    return str(canonicalize_name(distribution.metadata["Name"]))


def _dependency(name: str, distribution: importlib.metadata.Distribution) -> Dependency:
    record = (distribution.read_text("RECORD") or "").encode()
    return Dependency(name, distribution.version, hashlib.sha256(record).hexdigest())


def _needed(names: Iterable[str]) -> set[str]:
    """Distributions that these ask for, with whatever extras, and what those ask for."""
    found, waiting = set[str](), [str(canonicalize_name(each)) for each in names]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        try:
            asked = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        for text in asked:
            try:
                waiting.append(str(canonicalize_name(Requirement(text).name)))
            except InvalidRequirement:
                continue
    return found


def _place(name: str) -> Path | None:
    """Where a file of this name would be here."""
    if Path(name).is_absolute():
        return Path(name)
    owner, _, inner = name.partition(":")
    try:
        distribution = importlib.metadata.distribution(owner)
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return None
    place = Path(str(distribution.locate_file(inner)))
    if place.is_file():
        return place
    for folder in packages(owner):  # installed in editable form
        if folder.name == Path(inner).parts[0]:
            return folder.parent / inner
    return None
