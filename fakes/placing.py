"""``install`` and ``uninstall``: a fake in place of ``sglang`` in this process."""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
from collections.abc import Iterable
from types import TracebackType

from sglang_contracts.fakes import finder
from sglang_contracts.fakes.release import Fake

from sglang_contracts.errors import ContractsError
from sglang_contracts.surface import Catalog, load_catalog

_BEHAVIOURS = (
    "allocators",
    "attention",
    "batches",
    "plugins",
    "pools",
    "radix",
    "sampling",
    "server",
)

_GROUPS = ("sglang.srt.platforms", "sglang.srt.plugins")

_catalog: Catalog | None = None
_installed: Installed | None = None


class Installed:
    """A fake that is in place; also a context manager that takes it out again.

    Attributes:
        fake: The release.
        release: Its version.
    """

    def __init__(self, fake: Fake, forget: tuple[str, ...]) -> None:
        self.fake, self.release = fake, fake.release
        self._forget = (*forget, *_plugins())
        self._finder = finder.Finder(fake)
        _drop(self._forget)  # bound to another SGLang, or to none
        sys.meta_path.insert(0, self._finder)
        importlib.invalidate_caches()

    def __repr__(self) -> str:
        return f"<fake SGLang {self.release}>"

    def __enter__(self) -> Installed:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        uninstall()

    def _remove(self) -> None:
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
        for name in finder.loaded():
            del sys.modules[name]
        _drop(self._forget)
        importlib.invalidate_caches()


def load(release: str) -> Fake:
    """A fake of a release that is not put in place of ``sglang``.

    Args:
        release: A recorded release.

    Raises:
        ContractsError: It is not recorded.
    """
    global _catalog
    for name in _BEHAVIOURS:
        importlib.import_module(f"sglang_contracts.fakes.{name}")
    if _catalog is None:
        _catalog = load_catalog()
    return Fake(_catalog, release)


def install(release: str, forget: Iterable[str] = ()) -> Installed:
    """Put a fake of a release in place of ``sglang``.

    Works as a plain call (undone by :func:`uninstall`) and in a ``with`` statement. A fake that is
    in place is replaced.

    Args:
        release: A recorded release.
        forget: Packages that import ``sglang`` and are to be imported afresh now and after
            :func:`uninstall`: their classes derive from *this* release's. Plugins that are
            installed with entry points are forgotten without being named.

    Raises:
        ContractsError: The release is not recorded, or a real SGLang is already imported.
    """
    global _installed
    uninstall()
    finder.refuse_a_real_one()
    _installed = Installed(load(release), tuple(forget))
    return _installed


def uninstall() -> None:
    """Take the fake out; nothing happens where there is none."""
    global _installed
    if _installed is not None:
        _installed._remove()
        _installed = None


def installed() -> Installed | None:
    """The fake that is in place."""
    return _installed


def _plugins() -> set[str]:
    """Top-level packages of the plugins that SGLang would find."""
    points = importlib.metadata.entry_points()
    found = (points.select(group=group) for group in _GROUPS)
    return {each.module.partition(".")[0] for group in found for each in group} - {"sglang"}


def _drop(packages: Iterable[str]) -> None:
    for package in packages:
        if package == "sglang_contracts" or package in sys.builtin_module_names:
            raise ContractsError(f"{package} cannot be forgotten", "name the plugin's package")
        for name in [n for n in sys.modules if n == package or n.startswith(f"{package}.")]:
            del sys.modules[name]
