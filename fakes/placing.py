"""``install`` and ``uninstall``: a fake in place of ``sglang`` in this process."""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import sys
from collections.abc import Iterable
from types import TracebackType

from sglang_contracts.fakes import finder
from sglang_contracts.fakes.release import PLACE, Fake

from sglang_contracts.errors import ContractsError
from sglang_contracts.surface import Catalog, load_catalog

_BEHAVIOURS = (
    "allocators",
    "attention",
    "batches",
    "latent_pool",
    "plugins",
    "pools",
    "quantization",
    "radix",
    "one_process",
    "request_pool",
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
        self._hook = functools.partial(finder.folder, fake)
        self._below: Installed | None = None
        """What comes back after it: the one whose statement it stands in."""
        self._within = False
        """Whether its own statement is still running."""

    def __repr__(self) -> str:
        return f"<fake SGLang {self.release}>"

    def __enter__(self) -> Installed:
        self._within = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        global _installed
        self._within = False
        if _installed is not self:
            return  # another one has taken its place, which is not its own to take out
        self._remove()
        _installed = self._below
        while _installed is not None and not _installed._within:
            _installed = _installed._below
        if _installed is not None:
            _installed._place()

    def _place(self) -> None:
        _drop(self._forget)  # bound to another SGLang, or to none
        sys.meta_path.insert(0, self._finder)
        sys.path_hooks.insert(0, self._hook)
        importlib.invalidate_caches()

    def _remove(self) -> None:
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
        if self._hook in sys.path_hooks:
            sys.path_hooks.remove(self._hook)
        for place in [each for each in sys.path_importer_cache if each.startswith(PLACE)]:
            del sys.path_importer_cache[place]
        for name in finder.loaded():
            del sys.modules[name]
        _drop(self._forget)
        importlib.invalidate_caches()


def load(release: str) -> Fake:
    """A fake of a release that is not put in place of ``sglang``.

    Args:
        release: A recorded release.

    Raises:
        ContractsError: It is not recorded, or no release at all.
    """
    global _catalog
    wanted: object = release
    if not isinstance(wanted, str) or not wanted.strip():
        raise ContractsError(f"{wanted!r} is no release", "name one as a string, such as '0.5.16'")
    release = release.removeprefix("fake:")  # as certify --sglang spells it
    for name in _BEHAVIOURS:
        importlib.import_module(f"sglang_contracts.fakes.{name}")
    if _catalog is None:
        _catalog = load_catalog()
    return Fake(_catalog, release)


def install(release: str, forget: Iterable[str] = ()) -> Installed:
    """Put a fake of a release in place of ``sglang``.

    Works as a plain call (undone by :func:`uninstall`) and in a ``with`` statement. A fake that is
    in place is replaced; after a statement inside of another one's, the outer one's is back, with
    the classes that it had. Where this raises, what was in place still is.

    Args:
        release: A recorded release.
        forget: Packages (or one, as a string) that import ``sglang`` and are to be imported afresh
            now and after :func:`uninstall`: their classes derive from *this* release's. Plugins
            that are installed with entry points are forgotten without being named.

    Raises:
        ContractsError: The release is not recorded, or a real SGLang is already imported.
    """
    global _installed
    packages = (forget,) if isinstance(forget, str) else tuple(forget)
    _refuse(packages)
    wanted = Installed(load(release), packages)
    wanted._below = _installed if _installed is not None and _installed._within else None
    if _installed is not None:
        _installed._remove()
        _installed = None
    finder.refuse_a_real_one()
    wanted._place()
    _installed = wanted
    return wanted


def uninstall() -> None:
    """Take the fake out, whatever statements it stands in; nothing happens where there is none."""
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


def _refuse(packages: Iterable[object]) -> None:
    for package in packages:
        if not isinstance(package, str):
            raise ContractsError(
                f"forget={package!r} is no package", "name packages as strings: ['my_plugin']"
            )
        if package == "sglang_contracts" or package in sys.builtin_module_names:
            raise ContractsError(f"{package} cannot be forgotten", "name the plugin's package")


def _drop(packages: Iterable[str]) -> None:
    for package in packages:
        for name in [n for n in sys.modules if n == package or n.startswith(f"{package}.")]:
            del sys.modules[name]
