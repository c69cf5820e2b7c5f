"""Digests of a plugin's files and of the suite: what a certificate is bound to."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from sglang_contracts import paths
from sglang_contracts.errors import ContractsError

_UNSTABLE = frozenset({"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"})
"""Files that an installer writes: they differ where the plugin does not."""
_SKIPPED = frozenset({"__pycache__", "build", "dist", "node_modules"})
_SUITE = ("*.py", "*.toml", "*.json")


def file_digest(path: Path) -> str:
    """sha256 of a file, as 64 hexadecimal digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def combined(files: dict[str, str]) -> str:
    """One digest over names and digests of files."""
    found = hashlib.sha256()
    for name, digest in sorted(files.items()):
        found.update(f"{name}\0{digest}\0".encode())
    return found.hexdigest()


def plugin_files(name: str) -> dict[str, str]:
    """Every file of an installed distribution → its digest.

    Of one that is installed from its source tree in editable form, the files of the tree.

    Raises:
        ContractsError: It is not installed, or has no files.
    """
    from sglang_contracts.suite.subject import source_tree

    try:
        distribution = importlib.metadata.distribution(name)
    except (importlib.metadata.PackageNotFoundError, ValueError):
        raise ContractsError(
            f"no distribution '{name}' is installed", "install it to check its files"
        ) from None
    tree = source_tree(distribution)
    if tree is not None and _editable(distribution):
        found = {str(p.relative_to(tree)).replace("\\", "/"): file_digest(p) for p in _tree(tree)}
    else:
        found = {}
        for file in distribution.files or ():
            place = Path(str(distribution.locate_file(file)))
            if file.name in _UNSTABLE or file.suffix == ".pyc" or not place.is_file():
                continue
            found[file.as_posix()] = file_digest(place)
    if not found:
        raise ContractsError(f"'{name}' has no files that could be digested", "install it anew")
    return found


def _editable(distribution: importlib.metadata.Distribution) -> bool:
    text = distribution.read_text("direct_url.json")
    if not text:
        return True  # used straight from its source tree
    try:
        return bool(json.loads(text).get("dir_info", {}).get("editable"))
    except (ValueError, AttributeError):
        return False


def _tree(top: Path) -> Iterator[Path]:
    for place in sorted(top.iterdir()):
        if place.name.startswith(".") or place.name in _SKIPPED:
            continue
        if place.is_dir():
            if not place.name.endswith(".egg-info"):
                yield from _tree(place)
        elif place.suffix != ".pyc":
            yield place


def archive_digest(name: str) -> str:
    """The digest of the wheel that was installed, where pip noted it; else empty."""
    text = importlib.metadata.distribution(name).read_text("direct_url.json")
    try:
        hashes = json.loads(text or "{}").get("archive_info", {}).get("hashes", {})
    except (ValueError, AttributeError):
        return ""
    return f"sha256:{hashes['sha256']}" if "sha256" in hashes else ""


def suite_files() -> dict[str, str]:
    """Every file that decides what the suite says → its digest."""
    import sglang_contracts.fakes

    places = [
        ("sglang_contracts", paths.package()),
        ("sglang_contracts/fakes", Path(next(iter(sglang_contracts.fakes.__path__)))),
        ("sglang_contracts/data/contracts", paths.data("contracts")),
    ]
    found: dict[str, str] = {}
    for prefix, top in places:
        for file in _matching(top, _SUITE):
            inner = file.relative_to(top)
            if not _SKIPPED.intersection(inner.parts):
                found[f"{prefix}/{inner.as_posix()}"] = file_digest(file)
    return found


def _matching(top: Path, patterns: Iterable[str]) -> Iterator[Path]:
    for pattern in patterns:
        yield from (file for file in top.rglob(pattern) if file.is_file())
