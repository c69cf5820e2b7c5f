"""The files of a plugin: a source tree, one file, a wheel, an installed distribution.

Nothing is imported. What cannot be read is left out with the reason: links that lead out of the
tree or round in a circle, files beyond the size limit, what is no text.
"""

from __future__ import annotations

import codecs
import errno
import fnmatch
import io
import json
import os
import re
import stat
import sys
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from sglang_contracts.errors import ContractsError, nearest
from sglang_contracts.plugin.reading.launch_files import launch_kind, launch_text
from sglang_contracts.plugin.reading.unreadable import Search

LIMIT = 2_000_000
"""Bytes of a file beyond which it is skipped: no hand-written module is that large."""
FILES = 20_000
"""Files beyond which a tree is no plugin."""
TOTAL = 256_000_000
"""Bytes that the files of a wheel may unpack to: they are all held at once."""

_SKIPPED_FOLDERS = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        ".tox",
        ".nox",
        ".venv",
        "venv",
        "__pycache__",
        "node_modules",
        ".mypy_cache",
        ".ruff_cache",
        ".pytest_cache",
        "build",
        ".eggs",
        "site-packages",
        ".ipynb_checkpoints",
    }
)
_KINDS = {
    ".sh": "shell",
    ".bash": "shell",
    ".zsh": "shell",
    ".env": "shell",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".md": "markdown",
    ".markdown": "markdown",
    ".dockerfile": "docker",
}


class Source(msgspec.Struct):
    """One file."""

    path: str
    """Relative to the root, forward slashes, as :func:`spelled` spells it."""
    kind: str
    """``python``, ``notebook``, ``shell``, ``docker``, ``yaml``, ``markdown``; ``folder`` for one
    that cannot be listed."""
    data: bytes
    problem: str = ""
    """Why it is not read; :attr:`data` is empty then."""
    unread: bool = False
    """Of one with a problem: whether it names SGLang, or nobody can tell."""


class Sources(msgspec.Struct):
    """What was found."""

    name: str
    version: str
    path: str
    files: list[Source]


def spelled(path: str) -> str:
    r"""A path as it can be printed and stored: a byte of it that is no UTF-8 becomes ``\xff``."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path).decode("utf-8", "backslashreplace")
    return path


def kind_of(path: str) -> str:
    """What kind of file a path is; empty: none that matters."""
    name = path.rsplit("/", 1)[-1]
    lower = name.lower()
    if lower.endswith(".py"):
        return "python"
    if lower.endswith(".ipynb"):
        return "notebook"
    if lower.startswith("dockerfile") or lower.startswith("containerfile"):
        return "docker"
    suffix = "." + lower.rsplit(".", 1)[-1] if "." in lower else ""
    return _KINDS.get(suffix, "")


def read_sources(where: Path | str, exclude: Sequence[str] = ()) -> Sources:
    """The files of a plugin.

    Args:
        where: A folder, a ``.py`` file, a ``.whl`` file, or an installed distribution's name.
        exclude: Globs, relative to the root, of what to leave out.

    Raises:
        ContractsError: There is nothing of that name, or nothing to check in it.
    """
    path = Path(where)
    if path.exists() and not path.is_dir() and not path.is_file():
        raise ContractsError(
            f"{path} is a device, a pipe or a socket",
            "give a folder, a .py file, a .whl file or the name of an installed distribution",
        )
    if path.is_dir():
        found = _tree(path, exclude)
    elif path.suffix == ".whl" and path.is_file():
        found = _wheel(path, exclude)
    elif path.is_file():
        kind = kind_of(path.name)
        if not kind:
            raise ContractsError(
                f"{path} is no Python file, wheel or source tree",
                "give a folder, a .py file, a .whl file or the name of an installed distribution",
            )
        file = _read(path, spelled(path.name), kind, Search())
        found = Sources(spelled(path.stem), "", str(path), [file])
    else:
        found = _distribution(str(where), exclude)
    astray = [each for each in found.files if each.problem in (_LOOP, _NOWHERE)]
    if len(astray) == len(found.files):
        links = "".join(f": {each.path} {each.problem}" for each in astray[:1])
        raise ContractsError(
            f"there is no file to check in {where}{links}", "is it the plugin's source tree?"
        )
    return found


def _left_out(path: str, exclude: Sequence[str]) -> bool:
    globs = [spelled(each) for each in exclude]
    return any(
        fnmatch.fnmatch(path, glob) or path.startswith(glob.rstrip("/*") + "/") for glob in globs
    )


def _tree(root: Path, exclude: Sequence[str]) -> Sources:
    files: list[Source] = []
    real = root.resolve()
    search = Search()

    def unlisted(error: OSError) -> None:
        folder = Path(error.filename)
        if folder == root:
            raise error
        relative = spelled(folder.relative_to(root).as_posix()) + "/"
        if not _left_out(relative, exclude):
            reason = error.strerror or "cannot be listed"
            files.append(Source(relative, "folder", b"", reason, unread=True))

    for folder, folders, names in os.walk(root, onerror=unlisted, followlinks=False):
        folders[:] = sorted(
            each
            for each in folders
            if each not in _SKIPPED_FOLDERS
            and not each.endswith((".egg-info", ".dist-info"))
            and not (Path(folder) / each / "pyvenv.cfg").exists()
        )
        for name in sorted(names):
            path = Path(folder) / name
            relative = spelled(path.relative_to(root).as_posix())
            kind = kind_of(relative)
            if not kind and not path.is_symlink():
                found = _launching(path, relative)
                files += [] if found is None or _left_out(relative, exclude) else [found]
                continue
            if not kind or _left_out(relative, exclude):
                continue
            if path.is_symlink():
                problem = _astray(path)
                if problem:
                    if not name.startswith(_LOCK):
                        files.append(Source(relative, kind, b"", problem))
                    continue
                target = path.resolve()
                if not target.is_file() or real in target.parents:
                    continue  # the file itself is met elsewhere in the tree
            files.append(_read(path, relative, kind, search))
            if len(files) > FILES:
                raise ContractsError(
                    f"{root} holds more than {FILES} files",
                    "give the plugin's own folder, or leave files out with --exclude",
                )
    name, version = _project(root)
    return Sources(name or spelled(real.name), version, str(root), files)


_LOOP = "is a symbolic link that leads to itself"
_NOWHERE = "is a symbolic link that leads nowhere"
_LOCK = ".#"
"""How the links begin by which Emacs locks a file: they lead nowhere on purpose."""


def _astray(link: Path) -> str:
    """Why a symbolic link leads to no file; empty if it leads to something."""
    try:
        link.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:
            return _LOOP
        if isinstance(error, (FileNotFoundError, NotADirectoryError)):
            return _NOWHERE
    return ""


def _project(root: Path) -> tuple[str, str]:
    """Name and version as ``pyproject.toml`` says them; empty where it does not."""
    read = _read(root / "pyproject.toml", "pyproject.toml", "", Search(0))
    try:
        text = read.data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return "", ""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        project = tomllib.loads(text).get("project", {})
    except (ValueError, RecursionError):  # no TOML, or a number of thousands of digits
        return "", ""  # settings.py says what is wrong with it
    if not isinstance(project, dict):
        return "", ""
    return str(project.get("name", "")), str(project.get("version", ""))


def _read(path: Path, relative: str, kind: str, search: Search) -> Source:
    """One file. What is no regular file, or not there at all, nothing can import."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # to open a pipe is to wait for whoever writes to it
            return Source(relative, kind, b"", "is no regular file")
        if status.st_size > LIMIT:
            with path.open("rb") as stream:
                return _too_large(relative, kind, search.finds(stream))
        return Source(relative, kind, path.read_bytes())
    except OSError as error:
        gone = isinstance(error, (FileNotFoundError, NotADirectoryError))
        return Source(relative, kind, b"", error.strerror or "cannot be read", unread=not gone)


def _launching(path: Path, relative: str) -> Source | None:
    """A file of another kind that starts SGLang; None where it does not, or cannot be read."""
    kind = launch_kind(relative)
    if not kind:
        return None
    source = _read(path, relative, kind, Search(0))
    kind = "" if source.problem else launch_text(kind, source.data)
    return Source(relative, kind, source.data) if kind else None


def _too_large(relative: str, kind: str, unread: bool) -> Source:
    return Source(relative, kind, b"", f"larger than {LIMIT // 1_000_000} MB", unread)


def _wheel(path: Path, exclude: Sequence[str]) -> Sources:
    parts = path.name.split("-")
    files: list[Source] = []
    total = 0
    search = Search()
    try:
        with zipfile.ZipFile(path) as archive:
            for info in sorted(archive.infolist(), key=lambda each: each.filename):
                kind = kind_of(info.filename)
                if not kind or info.is_dir() or _left_out(info.filename, exclude):
                    continue
                if ".dist-info/" in info.filename:
                    continue
                total += min(info.file_size, LIMIT)
                if total > TOTAL or len(files) >= FILES:
                    raise ContractsError(
                        f"{path} unpacks to more than a plugin holds, at {info.filename!r}",
                        f"at most {FILES:,} files of {TOTAL // 1_000_000} MB in all are read: "
                        "leave files out with --exclude",
                    )
                if info.file_size > LIMIT:
                    with archive.open(info) as stream:
                        files.append(_too_large(info.filename, kind, search.finds(stream)))
                else:
                    files.append(Source(info.filename, kind, archive.read(info)))
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        raise ContractsError(f"{path} is no readable wheel: {error}", "download it again") from None
    return Sources(parts[0], parts[1] if len(parts) > 1 else "", str(path), files)


def _distribution(name: str, exclude: Sequence[str]) -> Sources:
    from importlib import metadata

    try:
        found = metadata.distribution(name)
    except (metadata.PackageNotFoundError, ValueError):
        installed = {str(each.metadata["Name"]) for each in metadata.distributions()}
        close = nearest(name, {each for each in installed if each != "None"})
        hint = f"did you mean {close[0]}?" if close else "give a path, or install it first"
        raise ContractsError(
            f"there is no file or folder {name}, and no installed distribution of that name", hint
        ) from None
    files: list[Source] = []
    editable = _editable(found)
    if editable is not None:
        tree = _tree(editable, exclude)
        return Sources(str(found.metadata["Name"]), found.version, tree.path, tree.files)
    search = Search()
    for entry in sorted(found.files or (), key=str):
        relative = spelled(entry.as_posix())
        kind = kind_of(relative)
        if not kind or relative.startswith("..") or _left_out(relative, exclude):
            continue
        files.append(_read(Path(str(entry.locate())), relative, kind, search))
    return Sources(str(found.metadata["Name"]), found.version, name, files)


def _editable(found: object) -> Path | None:
    """The source tree of a distribution installed in editable mode."""
    text = found.read_text("direct_url.json")  # type: ignore[attr-defined]
    if not text:
        return None
    try:
        record = json.loads(text)
    except ValueError:
        return None
    info = record.get("dir_info") if isinstance(record, dict) else None
    if not isinstance(info, dict):
        return None
    url = str(record.get("url", ""))
    if not info.get("editable") or not url.startswith("file://"):
        return None
    from urllib.parse import unquote, urlparse

    path = Path(unquote(urlparse(url).path))
    return path if path.is_dir() else None


_CELL_MAGIC = re.compile(r"\s*[%!?]|\s*\w+\s*=\s*[%!]|[^#'\"]*\?\s*$")
"""A line for IPython: a magic, a shell command, the result of one, a question."""
_PYTHON_MAGIC = re.compile(r"%%(time|timeit|capture|prun)\b")
"""Cell magics whose cell is Python all the same."""


def python_text(source: Source) -> str:
    """The Python text of a file; of a notebook, its code cells one after the other.

    Raises:
        ValueError: It is no text, or no notebook.
    """
    if source.kind == "notebook":
        return notebook_text(source.data)
    data = source.data
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16")
    if b"\0" in data[:4096]:
        raise ValueError("holds binary data")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding)
    except (SyntaxError, LookupError) as error:
        raise ValueError(f"its encoding cannot be told: {error}") from None
    except UnicodeDecodeError:
        return data.decode("latin-1")


def plain_text(data: bytes) -> str:
    """The text of a shell script, a Dockerfile, YAML, Markdown: commands in it are ASCII."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8-sig", "replace")


def notebook_text(data: bytes) -> str:
    """Code cells, one after the other; magics become comments, so that lines stay lines."""
    try:
        book = json.loads(data)
        cells = book["cells"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError("is no notebook") from None
    lines: list[str] = []
    for cell in cells if isinstance(cells, list) else []:
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source", "")
        parts = source if isinstance(source, list) else [source]
        text = "".join(part for part in parts if isinstance(part, str))
        if text.lstrip().startswith("%%") and not _PYTHON_MAGIC.match(text.lstrip()):
            continue
        lines += ["#" + line if _CELL_MAGIC.match(line) else line for line in text.splitlines()]
    return "\n".join(lines) + "\n"


def modules_of(paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(path, dotted module) of each Python file, relative to the root."""
    for path in paths:
        if not path.endswith(".py"):
            continue
        parts = path[:-3].split("/")
        if parts[-1] == "__init__":
            parts.pop()
        while parts and parts[0] in ("src", "python", "lib") and len(parts) > 1:
            parts.pop(0)
        if all(part.isidentifier() for part in parts):
            yield path, ".".join(parts)
        else:
            yield path, ""
