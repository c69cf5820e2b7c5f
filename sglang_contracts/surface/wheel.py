"""Reading a wheel where it lies: inside the zip, never unpacked, never imported.

A wheel comes from an index, a mirror or a colleague, so it is read as hostile input: bounded in
entries and bytes, with every name checked, before a single file is looked at.
"""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version

from sglang_contracts.errors import ContractsError

RECORDED = (
    "sglang.srt",
    "sglang.kernels",
    "sglang.jit_kernel",
    "sglang.lang",
    "sglang.benchmark",
    "sglang.cli",
    "sglang.eval",
    "sglang.test",
)
"""Packages of which everything is recorded; of ``sglang`` itself, the modules directly in it."""
FLAGS_ALONE = (
    "sglang.multimodal_gen.runtime.server_args",
    "sglang.multimodal_gen.runtime.entrypoints.cli",
    "sglang.multimodal_gen.configs",
)
"""Beginnings of modules of which only command-line flags are recorded: the diffusion server's."""
_INSIDE = tuple(f"{root}." for root in RECORDED)

MAX_ENTRIES = 200_000
MAX_FILE = 32 * 2**20
MAX_TOTAL = 2 * 2**30
MAX_RATIO = 200
"""Uncompressed over compressed size of one file; Python source stays far below 20."""


@lru_cache(maxsize=65_536)
def covered(module: str) -> bool:
    """Whether modules of this name are recorded at all."""
    if module == "sglang" or module.startswith(_INSIDE):
        return True
    # Modules directly in the package (``sglang.utils``) and the recorded roots themselves.
    return module in RECORDED or (
        module.count(".") == 1
        and module.startswith("sglang.")
        and module != "sglang.multimodal_gen"
    )


def not_recorded(version: Version) -> ContractsError:
    """The error to raise for a version of a kind that is never recorded."""
    return ContractsError(
        f"SGLang {version} is a pre-release or a build of one's own",
        "only final and post releases are recorded",
    )


class Wheel:
    """An SGLang wheel, opened and found harmless.

    Args:
        path: The ``.whl`` file.

    Raises:
        ContractsError: It is no wheel of SGLang, incomplete, or built to do harm.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            name, version, _, _ = parse_wheel_filename(path.name)
        except InvalidWheelFilename as error:
            raise ContractsError(
                f"{path.name} is not the name of a wheel: {error}",
                "pip download --no-deps sglang==VERSION keeps the right name",
            ) from None
        if name != "sglang":
            raise ContractsError(
                f"{path.name} is a wheel of {name}, not of sglang",
                "give a release (0.5.23) or a wheel of sglang",
            )
        self.version = str(version)
        if version.is_prerelease or version.local:
            raise not_recorded(version)
        if path.exists() and not path.is_file():  # to open a pipe is to wait for its writer
            raise ContractsError(f"{path} is no file", "give the path of a .whl file")
        try:
            self._zip = zipfile.ZipFile(path)
        except FileNotFoundError:
            raise ContractsError(f"there is no file {path}") from None
        except (zipfile.BadZipFile, OSError, ValueError) as error:
            raise ContractsError(
                f"{path.name} cannot be read as a wheel: {error}",
                "it may be half a download: delete it and fetch it again",
            ) from None
        self._check()

    def sha256(self) -> str:
        """Hex digest of the file."""
        digest = hashlib.sha256()
        with self.path.open("rb") as stream:
            while chunk := stream.read(1 << 20):
                digest.update(chunk)
        return digest.hexdigest()

    def modules(self, only: str = "sglang") -> list[str]:
        """Names of the recorded modules, sorted; ``only`` narrows to one package."""
        return sorted(
            name
            for name in self._files()
            if (name == only or name.startswith(f"{only}.")) and covered(name)
        )

    def flag_modules(self) -> list[str]:
        """Names of modules of which the command-line flags alone are recorded, sorted."""
        beside = (name for name in self._files() if not covered(name))
        return sorted(name for name in beside if b"add_argument(" in self.source(name)[0])

    def source(self, module: str) -> tuple[bytes, bool]:
        """A module's source, and whether it is a package's ``__init__.py``."""
        info = self._files()[module]
        try:
            return self._zip.read(info), info.filename.endswith("/__init__.py")
        except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError) as error:
            raise ContractsError(
                f"{info.filename} in {self.path.name} cannot be read: {error}",
                "the wheel is damaged: delete it and fetch it again",
            ) from None
        except MemoryError:  # says nothing of the wheel
            raise
        except Exception as error:  # zlib.error has no public base class of its own
            raise ContractsError(
                f"{info.filename} in {self.path.name} cannot be read: {error}",
                "the wheel is damaged: delete it and fetch it again",
            ) from None

    def _files(self) -> dict[str, zipfile.ZipInfo]:
        if not hasattr(self, "_by_module"):
            self._by_module = dict(self._walk())
        return self._by_module

    def _walk(self) -> Iterator[tuple[str, zipfile.ZipInfo]]:
        for info in self._zip.infolist():
            name = info.filename
            if not name.endswith(".py") or not name.startswith("sglang/"):
                continue
            parts = name.removesuffix(".py").split("/")
            if parts[-1] == "__init__":
                parts.pop()
            module = ".".join(parts)
            recorded = covered(module) or module.startswith(FLAGS_ALONE)
            if all(part.isidentifier() for part in parts) and recorded:
                yield module, info

    def _check(self) -> None:
        entries = self._zip.infolist()
        if len(entries) > MAX_ENTRIES:
            self._refuse(f"has {len(entries)} entries, more than any release")
        names: set[str] = set()
        total = 0
        for info in entries:
            name = info.filename
            if name.startswith("/") or "\\" in name or re.match(r"[A-Za-z]:", name):
                self._refuse(f"has an entry with an absolute path, {name!r}")
            if ".." in name.split("/"):
                self._refuse(f"has an entry that climbs out of it, {name!r}")
            if name in names:
                self._refuse(f"has the entry {name!r} twice")
            names.add(name)
            if not name.endswith(".py"):
                continue
            if info.flag_bits & 1:
                self._refuse(f"has an encrypted entry, {name!r}")
            total += info.file_size
            ratio = info.file_size / max(info.compress_size, 1)
            if info.file_size > MAX_FILE or total > MAX_TOTAL:
                self._refuse(f"unpacks to too much at {name!r} ({info.file_size:,} bytes)")
            if ratio > MAX_RATIO and info.file_size > 1 << 20:
                self._refuse(f"has an entry that grows {ratio:.0f}-fold, {name!r}")
        if not any(name.startswith("sglang/") for name in names):
            self._refuse("holds no package sglang")

    def _refuse(self, why: str) -> None:
        raise ContractsError(
            f"{self.path.name} {why}",
            "this is not a wheel that SGLang published; fetch it from the index again",
        )
