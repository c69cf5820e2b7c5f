"""A plugin named on the command line: its settings, its comments, its policy."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sglang_contracts.errors import ContractsError, nearest
from sglang_contracts.plugin.reading.settings import Settings, find_settings, load_settings

if TYPE_CHECKING:
    from sglang_contracts.plugin.reading.claims import Claim
    from sglang_contracts.plugin.reading.ignore_comments import Ignore
    from sglang_contracts.surface import Catalog
    from sglang_contracts.verify.findings.finding import Note, Report


@dataclass(frozen=True)
class Target:
    """What is to be checked, and what it says about itself."""

    root: Path | str
    """A path, or the name of an installed distribution."""
    settings: Settings
    exclude: tuple[str, ...]

    @property
    def engine_options(self) -> dict[str, Any]:
        """Keyword arguments of the engine's entry points."""
        return {"exclude": self.exclude, "known_as": dict(self.settings.known_as)}

    @functools.cached_property
    def claim(self) -> Claim | None:
        """What the plugin requires of SGLang: by its settings, else by its own metadata."""
        from sglang_contracts.plugin.reading.claims import Claim, claim_of

        settings = self.settings
        if settings.fork:
            return Claim((), f"'fork' in {self.settings_file}", settings.fork)
        if settings.supported:
            return Claim((settings.supported,), f"'supported' in {self.settings_file}")
        return claim_of(self.root)

    def chosen_by(self, recorded: Sequence[str]) -> tuple[Note, ...]:
        """What says which releases are checked where the command line says nothing."""
        from sglang_contracts.verify.findings.finding import Note

        claim = self.claim
        if claim is None:
            return ()
        if claim.fork:
            return (Note(f"{claim.source} is for a fork, {claim.fork}: not all of it is recorded"),)
        wanted = " or ".join(f"sglang{each}" for each in claim.specifiers)
        if claim.is_beyond(recorded):
            text = f"{wanted} ({claim.source}) is newer than all recorded releases"
            return (Note(f"{text}: checked is the newest of them"),)
        if self.settings.supported:
            return ()
        return (Note(f"checked are {wanted} ({claim.source}), and the newest recorded release"),)

    @property
    def settings_file(self) -> str:
        """The settings file relative to the root, as findings name files."""
        if not self.settings.file or isinstance(self.root, str):
            return self.settings.file or "pyproject.toml"
        folder = self.root if self.root.is_dir() else self.root.parent
        relative = os.path.relpath(Path(self.settings.file).resolve(), folder.resolve())
        return relative.replace(os.sep, "/")

    def check(self, catalog: Catalog, releases: Sequence[str]) -> Report:
        """The plugin against releases, before anything is taken out."""
        from sglang_contracts.verify import check_plugin
        from sglang_contracts.verify.findings.aims import FOR_FORK, FOR_NEWER, aimed_elsewhere

        report: Report = check_plugin(self.root, catalog, releases, **self.engine_options)
        claim = self.claim
        if claim is None:
            return report
        if claim.fork:
            return aimed_elsewhere(report, FOR_FORK)
        return aimed_elsewhere(report, FOR_NEWER) if claim.is_beyond(catalog.releases) else report

    def symbols(self, catalog: Catalog, releases: Sequence[str]) -> list[str]:
        """What the plugin uses, as it is spelled in any of these releases."""
        from sglang_contracts.verify import uses_of

        found: set[str] = set()
        for release in releases:
            report: Report = uses_of(self.root, catalog, release, **self.engine_options)
            uses = report.facts.get("uses")
            for use in uses if isinstance(uses, list) else ():
                found.add(str(use["symbol"]))
        return sorted(found)

    def ignores(self) -> tuple[Ignore, ...]:
        """The ignore comments in the plugin's source."""
        from sglang_contracts.plugin.reading.ignore_comments import ignores_in

        return ignores_in(self.root, self.exclude)


def open_target(plugin: str, exclude: Sequence[str] = (), config: Path | None = None) -> Target:
    """Find a plugin and read its settings.

    Args:
        plugin: A folder, a ``.py`` file, a wheel, or the name of an installed distribution.
        exclude: Globs beside those of the settings.
        config: The settings file; None: the plugin's own ``pyproject.toml``.

    Raises:
        ContractsError: There is no such thing, or its settings are broken.
    """
    if not plugin.strip():
        raise ContractsError("the plugin's name is empty", "give a path; this folder is '.'")
    path = Path(plugin).expanduser()
    root: Path | str = path if path.exists() else _distribution(plugin)
    if config is not None:
        if not config.is_file():
            raise ContractsError(f"there is no settings file {config}")
        place: Path | None = config
    else:
        place = find_settings(root) if isinstance(root, Path) and root.suffix != ".whl" else None
    settings = load_settings(place, rule_names()) if place is not None else Settings()
    return Target(root, settings, (*settings.exclude, *exclude))


def rule_names() -> tuple[str, ...]:
    """The rules that findings of ``check`` can have."""
    from sglang_contracts.verify.rules.registry import RULES

    return tuple(RULES)


def _distribution(name: str) -> str:
    """The name, if a distribution of it is installed."""
    import importlib.metadata

    separators = ("/", "\\")
    looks_like_path = name.startswith(".") or any(mark in name for mark in separators)
    if not looks_like_path:
        try:
            importlib.metadata.distribution(name)
            return name
        except (importlib.metadata.PackageNotFoundError, ValueError):
            pass
    folder = Path(name).parent
    beside = [p.name for p in folder.iterdir()] if folder.is_dir() else []
    close = nearest(Path(name).name, beside, 1)
    hint = f"did you mean {folder / close[0]}?" if close else "name a folder, a file or a wheel"
    if looks_like_path:
        raise ContractsError(f"{name} does not exist", hint)
    raise ContractsError(
        f"{name} is neither a path nor an installed distribution",
        hint if close else "name a folder, a .py file, a wheel, or install it first",
    )
