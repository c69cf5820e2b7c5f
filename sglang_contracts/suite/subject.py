"""What is under test: a plugin's parts, found the way SGLang finds them.

A :class:`Subject` is a value. A mutant replaces one part of it (:func:`dataclasses.replace`); a
vendor's fixtures fill it; :func:`load_subject` makes it from an installed distribution.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlparse
from urllib.request import url2pathname

import msgspec

from sglang_contracts.errors import ContractsError, nearest
from sglang_contracts.plugin.reading.settings import Settings, find_settings, load_settings
from sglang_contracts.suite.capabilities import Capabilities, parse
from sglang_contracts.suite.violation import is_ctrl_c

PLATFORMS = "sglang.srt.platforms"
PLUGINS = "sglang.srt.plugins"
SHIPPED = "sglang-contracts.toml"
"""A copy of the plugin's ``pyproject.toml`` (or of its table alone) inside its import package."""


@dataclass(frozen=True)
class Subject:
    """A plugin's parts.

    Attributes:
        name: Name of the distribution, or of the test module that brings the fixtures.
        version: Its version; empty if unknown.
        capabilities: What it declares.
        settings: Its whole ``[tool.sglang-contracts]`` table.
        make_backend: Makes the attention backend from the model-runner stand-in.
        kv_pool: The pool's class; None: SGLang's own.
        latent_pool: The class of the pool of latent keys (MLA); None: SGLang's own.
        allocator: The allocator's class; None: SGLang's own.
        activate: The platform entry point; None: there is none.
        register: The general plugin entry points.
        platform: The platform's class, where it is not what ``activate`` names.
        sampler: ``(logits, sampling_info) -> token ids``; None: not brought.
        unpack: int32 words ``[N, K / 4]`` → int8 ``[N, K]``.
        scales: float32 ``[N]`` per-channel scales → what ``linear`` takes.
        linear: ``(x, weight, scales, bias) -> y``.
        communicator: ``(group, algorithm) -> object`` with ``all_reduce`` and ``all_gather``.
        root: Source tree or distribution name for the static level; None: not to be had.
        parts: Anything else that mutants or vendors want to hand to their own checks.
    """

    name: str
    capabilities: Capabilities
    make_backend: Callable[[Any], Any] | None = None
    version: str = ""
    settings: Settings = field(default_factory=Settings)
    kv_pool: Any = None
    latent_pool: Any = None
    allocator: Any = None
    activate: Callable[[], Any] | None = None
    register: tuple[Callable[[], Any], ...] = ()
    platform: Any = None
    sampler: Any = None
    unpack: Any = None
    scales: Any = None
    linear: Any = None
    communicator: Any = None
    root: Path | str | None = None
    parts: Mapping[str, Any] = field(default_factory=dict)


class Broken:
    """Stands for a part that could not be imported: the plugin raised.

    Whoever calls it gets what was raised, so every check that needs the part fails for that reason.

    Args:
        error: What was raised.
    """

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise it."""
        raise self.error


def resolve(target: Any, what: str) -> Any:
    """The object that ``module:name`` names; an object is given back as it is; "" gives None.

    Where importing it raises, a :class:`Broken`: that is the plugin's failure, not the settings'.

    Raises:
        ContractsError: There is no such module or name.
    """
    if not isinstance(target, str):
        return target
    if not target:
        return None
    module, _, qual = target.partition(":")
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name and f"{module}.".startswith(f"{error.name}."):
            raise ContractsError(
                f"{what}: there is no module {module}",
                "correct the capability in the plugin's settings, or install the plugin anew",
            ) from error
        return Broken(error)
    except BaseException as error:  # pytest.skip, sys.exit and what else is no Exception
        if is_ctrl_c(error):
            raise
        return Broken(error)
    for part in qual.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            close = nearest(part, dir(found), 1)
            hint = f"did you mean {close[0]}?" if close else "correct the plugin's settings"
            raise ContractsError(f"{what}: {module} has no {qual}", hint) from None
    return found


def settings_of(name: str, config: Path | None = None) -> tuple[Settings, Path | None]:
    """Settings of an installed distribution and its source tree, as far as they can be found.

    Looked for in this order: ``config``; the ``pyproject.toml`` of the source tree that pip noted
    in ``direct_url.json`` (installed from a folder); a file ``sglang-contracts.toml`` that the
    distribution ships.

    Raises:
        ContractsError: No such distribution, or its settings are broken.
    """
    try:
        distribution = importlib.metadata.distribution(name)
    except (importlib.metadata.PackageNotFoundError, ValueError):
        known = sorted({str(each.metadata["Name"]) for each in importlib.metadata.distributions()})
        close = nearest(name, known)
        hint = f"did you mean {' or '.join(close)}?" if close else "install the plugin first"
        raise ContractsError(f"no distribution '{name}' is installed", hint) from None
    tree = source_tree(distribution)
    if config is not None:
        if not config.is_file():
            raise ContractsError(f"there is no settings file {config}")
        return load_settings(config), tree
    if tree is not None:
        place = find_settings(tree)
        found = load_settings(place) if place is not None else Settings()
        if msgspec.structs.replace(found, file="") != Settings():  # it has the table
            return found, tree
    for file in distribution.files or ():
        if file.name == SHIPPED:
            return load_settings(Path(str(distribution.locate_file(file)))), tree
    return Settings(), tree


def source_tree(distribution: importlib.metadata.Distribution) -> Path | None:
    """The folder that a distribution was installed from, if it was one and is still there."""
    text = distribution.read_text("direct_url.json")
    if not text:
        return _tree_of_egg(distribution)
    try:
        url = str(json.loads(text).get("url", ""))
    except ValueError:
        return None
    parsed = urlparse(url)
    if parsed.scheme != "file":
        return None
    folder = Path(url2pathname(parsed.path))
    return folder if folder.is_dir() else None


def _tree_of_egg(distribution: importlib.metadata.Distribution) -> Path | None:
    """The source tree of a distribution that is used straight from it, by its ``.egg-info``."""
    if distribution.read_text("PKG-INFO") is None or distribution.read_text("METADATA"):
        return None
    folder = Path(str(distribution.locate_file(""))).resolve()
    for place in (folder, folder.parent):
        if (place / "pyproject.toml").is_file():
            return place
    return None


def _entry_points(name: str, group: str) -> dict[str, importlib.metadata.EntryPoint]:
    distribution = importlib.metadata.distribution(name)
    return {e.name: e for e in distribution.entry_points if e.group == group}


def load_entry_point(entry: importlib.metadata.EntryPoint) -> Callable[[], Any]:
    """A function that loads the entry point when it is called, and calls it."""

    def call() -> Any:
        return entry.load()()

    call.__qualname__ = call.__name__ = f"{entry.group}: {entry.name} = {entry.value}"
    return call


def load_subject(name: str, config: Path | None = None) -> Subject:
    """The installed distribution ``name`` as a subject. Nothing of it is imported yet.

    Raises:
        ContractsError: It is not installed, its settings are broken, or it declares nothing.
    """
    settings, tree = settings_of(name, config)
    if not settings.capabilities:
        raise ContractsError(
            f"'{name}' declares no capabilities: nothing could be checked",
            "add [tool.sglang-contracts.capabilities] to its pyproject.toml, name the file with "
            f"--config, or ship it as {SHIPPED} (docs/vendor-guide.md)",
        )
    capabilities = parse(settings.capabilities)
    platforms = _entry_points(name, PLATFORMS)
    plugins = _entry_points(name, PLUGINS)
    wanted = [plugins[each] for each in settings.plugins if each in plugins]
    for each in settings.plugins:
        if each not in plugins:
            raise ContractsError(
                f"'{name}' has no entry point '{each}' in {PLUGINS}, but its settings name it",
                f"it has: {', '.join(plugins) or 'none'}",
            )
    platform = platforms.get(settings.platform)
    if settings.platform and platform is None:
        raise ContractsError(
            f"'{name}' has no entry point '{settings.platform}' in {PLATFORMS}",
            f"it has: {', '.join(platforms) or 'none'}",
        )
    return Subject(
        name=name,
        version=importlib.metadata.version(name),
        capabilities=capabilities,
        settings=settings,
        activate=load_entry_point(platform) if platform is not None else None,
        register=tuple(load_entry_point(e) for e in (wanted or plugins.values())),
        root=tree if tree is not None else name,
    )
