"""The import shim: a real SGLang wheel beside CPU torch.

Only *unguarded* imports of the packages listed in :mod:`~sglang_contracts.live.standins` get a
stand-in; a guarded one fails as on a machine without the package, and ``find_spec`` says None. A
stand-in can be imported, inherited from and named in an annotation. It cannot be called,
instantiated or tested for truth (:mod:`~sglang_contracts.live.stand_in_module`).

:func:`install` is for this process. SGLang spawns others: :func:`environment` holds the variables
with which a started Python installs the shim before anything else.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

from sglang_contracts.live import guards, replacements
from sglang_contracts.live.stand_in_module import StandInModule, log
from sglang_contracts.live.standins import REASONS

VARIABLE = "SGLANG_CONTRACTS_SHIM"
"""Set to ``1`` in a child's environment, the shim is installed when Python starts."""

_STARTUP = Path(__file__).resolve().parent / "startup"

_AfterImport = Callable[[Any], None]
_after_import: dict[str, list[_AfterImport]] = {}


def after_import(module: str, function: Callable[[Any], None]) -> None:
    """Call ``function`` with ``module`` right after it is imported (again), in this process.

    Raises:
        ImportError: It is imported already: what was taken from it cannot be changed any more.
    """
    if module in sys.modules:
        raise ImportError(f"{module} is imported already")
    _after_import.setdefault(module, []).append(function)


class _StandInFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Comes last: a package that is really installed is found before."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: types.ModuleType | None = None,
    ) -> ModuleSpec | None:
        package = fullname.partition(".")[0]
        if package not in REASONS:
            return None
        inside = isinstance(sys.modules.get(package), StandInModule)
        if "." in fullname and not inside:
            return None
        asked = guards.importer()
        if asked.probe:
            return None
        if asked.guard and not inside:
            log.refused.setdefault(package, asked.guard)
            return None
        log.stood_in.setdefault(package, asked.place)
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        module = StandInModule(spec.name)
        module.__path__ = []
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        fill = replacements.MODULES.get(module.__name__)
        if fill is not None:
            fill(module)


class _PatchingLoader(importlib.abc.Loader):
    def __init__(self, loader: importlib.abc.Loader, patches: Sequence[_AfterImport]) -> None:
        self._loader, self._patches = loader, patches

    def create_module(self, spec: ModuleSpec) -> types.ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: types.ModuleType) -> None:
        self._loader.exec_module(module)
        for patch in self._patches:
            patch(module)

    def __getattr__(self, name: str) -> Any:  # get_source, get_data, … of the real loader
        return getattr(self._loader, name)


class _PatchFinder(importlib.abc.MetaPathFinder):
    """Comes first: hands out the real module, patched after its execution."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: types.ModuleType | None = None,
    ) -> ModuleSpec | None:
        patches = [*replacements.PATCHES.get(fullname, ()), *_after_import.get(fullname, ())]
        if not patches:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec is not None and spec.loader is not None:
            spec.loader = _PatchingLoader(spec.loader, patches)
        return spec


def installed() -> bool:
    """Whether this process has the shim."""
    return any(isinstance(finder, _StandInFinder) for finder in sys.meta_path)


def install() -> None:
    """Install the shim in this process; a second call does nothing.

    Modules imported before it are not patched: call it before torch and SGLang.
    """
    if installed():
        return
    sys.meta_path.insert(0, _PatchFinder())
    sys.meta_path.append(_StandInFinder())


def environment(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables that make a started Python, and all that it spawns, install the shim.

    Args:
        base: The environment to extend; ``os.environ`` if not given.

    Returns:
        A copy of ``base`` with :data:`VARIABLE` and ``PYTHONPATH`` set.
    """
    result = dict(os.environ if base is None else base)
    paths = [part for part in result.get("PYTHONPATH", "").split(os.pathsep) if part]
    if str(_STARTUP) not in paths:
        paths.insert(0, str(_STARTUP))
    result["PYTHONPATH"] = os.pathsep.join(paths)
    result[VARIABLE] = "1"
    return result
