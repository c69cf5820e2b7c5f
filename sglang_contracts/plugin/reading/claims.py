"""Which releases of SGLang a plugin's own requirement claims.

A plugin that names its SGLang in ``dependencies``, in an extra, in ``Requires-Dist`` or by a pin in
its requirements claims just those releases. What is written is read; nothing is built or run.
"""

from __future__ import annotations

import configparser
import email.parser
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_MOST = 4 << 20
"""Bytes of a file with requirements that is read: no hand has written a larger one."""
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")


class Claim(NamedTuple):
    """What a plugin requires of SGLang."""

    specifiers: tuple[str, ...]
    """Specifier sets, of which one is enough; without any it requires a fork."""
    source: str
    """Where it stands, in words: ``dependencies in pyproject.toml``."""
    fork: str = ""
    """Where the fork comes from that it requires instead; empty: none."""

    def admits(self, release: str) -> bool:
        """Whether the requirement admits a release."""
        return any(
            SpecifierSet(each).contains(release, prereleases=True) for each in self.specifiers
        )

    def is_beyond(self, recorded: Iterable[str]) -> bool:
        """Whether it is for releases newer than all that are recorded."""
        known = [Version(each) for each in recorded]
        if not self.specifiers or any(self.admits(str(each)) for each in known):
            return False
        return any(
            each.operator in (">=", ">", "==", "~=") and _version(each.version) > max(known)
            for text in self.specifiers
            for each in SpecifierSet(text)
        )


def _version(text: str) -> Version:
    return Version(text.removesuffix(".*"))


def claim_of(root: Path | str) -> Claim | None:
    """What a plugin requires of SGLang; None where it says nothing, or any release is fine.

    Args:
        root: A source tree, a ``.py`` file, a wheel, or the name of an installed distribution.
    """
    try:
        if isinstance(root, str):
            return _of_distribution(root)
        if root.suffix == ".whl":
            return _of_wheel(root)
        for folder in _folders(root):
            found = _of_folder(folder)
            if found is not None:
                return found
    except (OSError, ValueError, RecursionError, zipfile.BadZipFile, configparser.Error):
        pass  # what cannot be read claims nothing; the check itself says what is wrong with it
    return None


def _folders(root: Path) -> Iterator[Path]:
    """The plugin's folder, and those above it in the same repository."""
    start = root.resolve()
    start = start if start.is_dir() else start.parent
    yield start
    above = []
    for folder in start.parents:
        above.append(folder)
        if (folder / ".git").exists():
            yield from above
            return


def _of_folder(folder: Path) -> Claim | None:
    readers = (
        ("pyproject.toml", _of_pyproject),
        ("setup.cfg", _of_setup_cfg),
        ("requirements.txt", _of_requirements),
    )
    for name, read in readers:
        path = folder / name
        if path.is_file() and path.stat().st_size <= _MOST:
            found = read(path.read_text(encoding="utf-8-sig"), name)
            if found is not None:
                return found
    return None


def _of_pyproject(text: str, name: str) -> Claim | None:
    project = tomllib.loads(text).get("project")
    if not isinstance(project, dict):
        return None
    extras = project.get("optional-dependencies")
    tables = extras.items() if isinstance(extras, dict) else ()
    return _claim(
        _texts(project.get("dependencies")), {key: _texts(each) for key, each in tables}, name
    )


def _of_setup_cfg(text: str, name: str) -> Claim | None:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    plain = parser.get("options", "install_requires", fallback="").splitlines()
    table = "options.extras_require"
    extras = parser.items(table) if parser.has_section(table) else ()
    return _claim(plain, {key: each.splitlines() for key, each in extras}, name)


def _of_requirements(text: str, name: str) -> Claim | None:
    lines = [re.sub(r"(^|\s)#.*|\s--.*", "", line) for line in text.splitlines()]
    return _claim(lines, {}, name)


def _of_wheel(path: Path) -> Claim | None:
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if info.filename.endswith(".dist-info/METADATA") and info.file_size <= _MOST:
                text = archive.read(info).decode("utf-8", "replace")
                headers = email.parser.Parser().parsestr(text, headersonly=True)
                return _of_metadata(headers.get_all("Requires-Dist") or [])
    return None


def _of_distribution(name: str) -> Claim | None:
    from importlib import metadata

    try:
        return _of_metadata(metadata.requires(name) or [])
    except metadata.PackageNotFoundError:
        return None


def _of_metadata(lines: Iterable[str]) -> Claim | None:
    plain: list[str] = []
    extras: dict[str, list[str]] = {}
    for line in lines:
        text, _, marker = line.partition(";")
        extra = _EXTRA.search(marker)
        (extras.setdefault(extra[1], []) if extra else plain).append(text)
    return _claim(plain, extras, "Requires-Dist")


def _claim(plain: Iterable[str], extras: Mapping[str, Iterable[str]], name: str) -> Claim | None:
    """The requirement itself, else those of its extras, each of which a user may choose."""
    metadata = name == "Requires-Dist"
    required = _of_sglang(plain)
    if required:
        return _made(required, name if metadata else f"dependencies in {name}")
    optional = {key: found for key, lines in extras.items() if (found := _of_sglang(lines))}
    if not optional:
        return None
    named = " and ".join(f"'{key}'" for key in sorted(optional)[:3])
    place = f"{name} of the extra {named}" if metadata else f"the extra {named} in {name}"
    return _made([each for found in optional.values() for each in found], place)


def _made(required: list[Requirement], source: str) -> Claim | None:
    forks = [each.url for each in required if each.url]
    if forks:
        return Claim((), source, forks[0])
    specifiers = tuple(dict.fromkeys(str(each.specifier) for each in required))
    claim = None if "" in specifiers else Claim(specifiers, source)
    if claim is not None:
        claim.admits("0.5.3")  # only this reads the versions in it
    return claim


def _of_sglang(lines: Iterable[str]) -> list[Requirement]:
    found = []
    for line in lines:
        if not line.lower().lstrip().startswith("sglang"):
            continue
        try:
            each = Requirement(line.strip())
        except InvalidRequirement:
            continue
        if canonicalize_name(each.name) == "sglang":
            found.append(each)
    return found


def _texts(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
