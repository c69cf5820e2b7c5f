"""Digests of a plugin's files and of the suite: what a certificate is bound to."""

from __future__ import annotations

import hashlib
import importlib.machinery
import importlib.metadata
import importlib.util
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from sglang_contracts import paths
from sglang_contracts.errors import ContractsError

_UNSTABLE = frozenset({"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"})
"""Files that an installer writes: they differ where the plugin does not."""
_BUILD = ("pyproject.toml", "setup.cfg", "setup.py", "sglang-contracts.toml")
"""What says, in a source tree, how the plugin is built and what it declares."""
_SKIPPED = frozenset({"__pycache__", "build", "dist", "node_modules"})
_SUITE = ("*.py", "*.toml", "*.json")


def file_digest(path: Path) -> str:
    """sha256 of a file, as 64 hexadecimal digits."""
    found = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            found.update(block)
    return found.hexdigest()


def combined(files: dict[str, str]) -> str:
    """One digest over names and digests of files."""
    found = hashlib.sha256()
    for name, digest in sorted(files.items()):
        found.update(f"{name}\0{digest}\0".encode())
    return found.hexdigest()


def plugin_files(name: str) -> dict[str, str]:
    """Every file of an installed distribution that decides what is imported → its digest.

    Those are the files that its installer recorded, and whatever else lies in its packages: a
    module that was put beside them is imported as well, or instead. Of one that is installed from
    its source tree in editable form: its packages and what builds it, not the rest of the tree.

    Raises:
        ContractsError: It is not installed, or has no files.
    """
    found = {
        _plain(key): _digest(place)
        for key, place in _all_files(name).items()
        if place.is_file() or place.is_symlink()
    }
    if not found:
        raise ContractsError(f"'{name}' has no files that could be digested", "install it anew")
    return found


def own_files(name: str) -> set[Path]:
    """Where the files of :func:`plugin_files` lie, links followed."""
    return {place.resolve() for place in _all_files(name).values()}


def _all_files(name: str) -> dict[str, Path]:
    from sglang_contracts.suite.subject import source_tree

    try:
        distribution = importlib.metadata.distribution(name)
    except (importlib.metadata.PackageNotFoundError, ValueError):
        raise ContractsError(
            f"no distribution '{name}' is installed", "install it to check its files"
        ) from None
    tree = source_tree(distribution)
    if tree is not None and _editable(distribution):
        return dict(_of_tree(distribution, tree))
    return dict(_installed(distribution))


def packages(name: str) -> list[Path]:
    """The folders of an installed distribution's packages: what lies in them is certified."""
    return [place for _, place in _packages(importlib.metadata.distribution(name))]


def _plain(name: str) -> str:
    """A file's name as text can hold it: a byte of it may be in no encoding."""
    return name.encode("utf-8", "backslashreplace").decode()


def _digest(place: Path) -> str:
    """Of a file its content, also where a link leads to it; of another link where it leads to.

    What has no end (a pipe, a device) is not opened.
    """
    if place.is_file():
        return file_digest(place)
    return hashlib.sha256(b"link to " + os.fsencode(os.readlink(place))).hexdigest()  # noqa: PTH115


def _installed(distribution: importlib.metadata.Distribution) -> Iterator[tuple[str, Path]]:
    for file in distribution.files or ():
        if file.name not in _UNSTABLE and "__pycache__" not in file.parts:
            yield file.as_posix(), Path(str(distribution.locate_file(file)))
    for name, folder in _packages(distribution):
        yield from _below(folder, name)


def _of_tree(
    distribution: importlib.metadata.Distribution, tree: Path
) -> Iterator[tuple[str, Path]]:
    for name in _BUILD:
        yield name, tree / name
    for name in sorted(_top_level(distribution)):
        module = _spec(name)
        if module is not None and module.submodule_search_locations is None and module.origin:
            yield Path(module.origin).name, Path(module.origin)
    for name, folder in _packages(distribution):
        yield from _below(folder, name)


def _below(folder: Path, name: str) -> Iterator[tuple[str, Path]]:
    """What lies in a package's folder; links to other folders are not followed."""
    for place in sorted(folder.iterdir()):
        if place.name == "__pycache__" or place.name.startswith("."):
            continue
        if place.is_dir() and not place.is_symlink():
            yield from _below(place, f"{name}/{place.name}")
        else:
            yield f"{name}/{place.name}", place


def _packages(distribution: importlib.metadata.Distribution) -> list[tuple[str, Path]]:
    """Its packages that have a folder of their own: path from the top, folder.

    A namespace that it shares with other distributions is not its own: the packages in it are.
    """
    recorded = sorted(
        file.parent
        for file in distribution.files or ()
        if file.name == "__init__.py" and ".." not in file.parts
    )
    own = [each for each in recorded if not any(other in each.parents for other in recorded)]
    found = [(each.as_posix(), Path(str(distribution.locate_file(each)))) for each in own]
    found = [(name, folder) for name, folder in found if folder.is_dir()]
    if not found:  # in editable form its record lists no file of them
        for name in sorted(_top_level(distribution)):
            spec = _spec(name)
            places = (spec.submodule_search_locations if spec is not None else None) or ()
            found += [(name, Path(each)) for each in places if Path(each).is_dir()]
    return found


def _top_level(distribution: importlib.metadata.Distribution) -> set[str]:
    """Names that it is imported by, as far as its metadata tell."""
    stated = set((distribution.read_text("top_level.txt") or "").split())
    points = {each.module.partition(".")[0] for each in distribution.entry_points}
    return {each for each in stated | points if each.isidentifier()}


def _spec(name: str) -> importlib.machinery.ModuleSpec | None:
    """Where a top-level name would be imported from; nothing is imported."""
    try:
        return importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None


def _editable(distribution: importlib.metadata.Distribution) -> bool:
    text = distribution.read_text("direct_url.json")
    if not text:
        return True  # used straight from its source tree
    try:
        return bool(json.loads(text).get("dir_info", {}).get("editable"))
    except (ValueError, AttributeError):
        return False


def archive_digest(name: str) -> str:
    """The digest of the wheel that was installed, where pip noted it; else empty."""
    text = importlib.metadata.distribution(name).read_text("direct_url.json")
    try:
        hashes = json.loads(text or "{}").get("archive_info", {}).get("hashes", {})
    except (ValueError, AttributeError):
        return ""
    return f"sha256:{hashes['sha256']}" if "sha256" in hashes else ""


def suite_places() -> dict[str, Path]:
    """The folders of what decides what the suite says, by the names they have in a wheel."""
    import sglang_contracts.fakes

    return {
        "sglang_contracts": paths.package(),
        "sglang_contracts/fakes": Path(next(iter(sglang_contracts.fakes.__path__))),
        "sglang_contracts/data/contracts": paths.data("contracts"),
    }


def suite_files() -> dict[str, str]:
    """Every file that decides what the suite says → its digest."""
    found: dict[str, str] = {}
    for prefix, top in suite_places().items():
        for file in _matching(top, _SUITE):
            inner = file.relative_to(top)
            if not _SKIPPED.intersection(inner.parts):
                found[f"{prefix}/{inner.as_posix()}"] = file_digest(file)
    return found


def _matching(top: Path, patterns: Iterable[str]) -> Iterator[Path]:
    for pattern in patterns:
        yield from (file for file in top.rglob(pattern) if file.is_file())
