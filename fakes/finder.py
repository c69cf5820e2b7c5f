"""Makes a faked release importable as ``sglang``, with its distribution's metadata."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.metadata
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from sglang_contracts.fakes.errors import FakeError, MissingModuleError
from sglang_contracts.fakes.release import PLACE, Fake, FakeModule

from sglang_contracts.errors import ContractsError

PACKAGE = "sglang"


class Distribution(importlib.metadata.Distribution):
    """What ``importlib.metadata`` says of ``sglang`` while a fake is in place.

    Args:
        release: The release that is faked.
    """

    def __init__(self, release: str) -> None:
        self._text = (
            f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: {release}\n"
            "Summary: a fake of this release, made by sglang-contracts\n"
        )

    def read_text(self, filename: str) -> str | None:
        """The metadata; there are no other files."""
        return self._text if filename == "METADATA" else None

    def locate_file(self, path: Any) -> Any:
        """A path that does not exist: nothing of a fake lies on disk."""
        return Path("/nonexistent/sglang-fake") / path


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds every module of one release, and none beside it.

    Args:
        fake: The release.
    """

    def __init__(self, fake: Fake) -> None:
        self.fake = fake

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """A spec for what the release has; an error naming the releases for what it has not.

        ``importlib.util.find_spec`` asks without importing and is told None, as it should be.
        """
        del path, target
        if fullname != PACKAGE and not fullname.startswith(f"{PACKAGE}."):
            return None
        try:
            module = self.fake.module(fullname)
        except KeyError:
            if not _is_import(sys._getframe(1)):
                return None
            raise self._missing(fullname) from None
        package = "__path__" in module.__dict__
        spec = importlib.machinery.ModuleSpec(fullname, self, is_package=package)
        spec.submodule_search_locations = module.__path__ if package else None
        return spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """The module; it is not run, as there is nothing to run."""
        return self.fake.module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to do: names are made when first read."""

    def get_code(self, fullname: str) -> Any:
        """What ``python -m`` and :mod:`runpy` ask for: a fake has no code that could be run."""
        raise FakeError(fullname, self.fake.release, "there is no code to run")

    def find_distributions(self, context: Any = None) -> Iterable[importlib.metadata.Distribution]:
        """The distribution of the faked release."""
        name = getattr(context, "name", None)
        if name is None or name.lower().replace("_", "-") == PACKAGE:
            yield Distribution(self.fake.release)

    def _missing(self, name: str) -> MissingModuleError:
        plain = f"No module named {name!r}"
        if not self.fake.surface.covers(name):
            return MissingModuleError(plain, lambda: "this part of SGLang is not recorded", name)
        return MissingModuleError(plain, lambda: self.fake.advise(name), name)


class Folder:
    """What ``pkgutil`` asks for the modules of a faked package: an entry of its ``__path__``.

    Args:
        fake: The release.
        package: The package's name.
    """

    def __init__(self, fake: Fake, package: str) -> None:
        self.fake, self.package = fake, package

    def iter_modules(self, prefix: str = "") -> Iterator[tuple[str, bool]]:
        """Name and whether it is a package, of each module directly below."""
        below = f"{self.package}."
        names = {
            name.removeprefix(below).partition(".")[0]
            for name in self.fake.module_names()
            if name.startswith(below)
        }
        for name in sorted(names):
            yield prefix + name, "__path__" in self.fake.module(below + name).__dict__

    def find_spec(self, fullname: str, target: ModuleType | None = None) -> None:
        """Nothing: what the release has, :class:`Finder` has found before anybody asks here."""


def folder(fake: Fake, place: str) -> Folder:
    """The :class:`Folder` of an entry of a faked package's ``__path__``: a hook for such entries.

    Raises:
        ImportError: It is no such entry, or another release's.
    """
    package = place.removeprefix(f"{PLACE}{fake.release}/")
    if package == place:
        raise ImportError(place)
    return Folder(fake, package)


def _is_import(frame: Any) -> bool:
    """Whether a real import asks (not a probe by ``importlib.util.find_spec`` or ``pkgutil``)."""
    for _ in range(3):
        if frame is None:
            return False
        if frame.f_code.co_name == "_find_and_load_unlocked":
            return True
        frame = frame.f_back
    return False


def loaded() -> list[str]:
    """Names in ``sys.modules`` that belong to ``sglang``."""
    return [name for name in sys.modules if name == PACKAGE or name.startswith(f"{PACKAGE}.")]


def refuse_a_real_one() -> None:
    """A process holds either a real SGLang or a fake.

    Raises:
        ContractsError: A real one is already imported.
    """
    for name in loaded():
        if not isinstance(sys.modules[name], FakeModule):
            raise ContractsError(
                f"{name} of a real SGLang is already imported in this process",
                "install the fake before anything imports sglang, or in a process of its own",
            )
