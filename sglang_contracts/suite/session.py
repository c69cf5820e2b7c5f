"""A process that tests one plugin against one SGLang, real or fake."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from sglang_contracts.errors import ContractsError
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.expected import refuse_idle
from sglang_contracts.suite.profile import PROFILES
from sglang_contracts.suite.served import filled, renewed
from sglang_contracts.suite.subject import Subject, load_subject

FAKE = "fake:"


def start_sglang(wanted: str) -> tuple[str, str]:
    """Make SGLang importable in this process.

    Args:
        wanted: ``fake:V``, ``installed``, or a version that must be the installed one.

    Returns:
        The release, and ``fake`` or ``installed``.

    Raises:
        ContractsError: It is not there, or another version is.
    """
    with _without_collecting():
        import torch

    torch.set_num_threads(1)  # tensors are tiny here: threads would only wait for each other
    from sglang_contracts import fakes

    there = fakes.installed()
    if there is not None and wanted in ("installed", f"{FAKE}{there.release}"):
        return there.release, "fake"  # placed by pytest --sglang-fake
    if wanted.startswith(FAKE):
        return fakes.install(wanted.removeprefix(FAKE)).release, "fake"
    from sglang_contracts.live import shim
    from sglang_contracts.live.build import installed_release

    release = installed_release()
    if wanted not in ("installed", release):
        raise ContractsError(
            f"SGLang {release} is installed here, not {wanted}",
            f"use --sglang {release}, --sglang fake:{wanted}, or an environment with {wanted}",
        )
    # Upstream's paged allocator launches Triton up to 0.5.21: its interpreter runs that on a CPU.
    os.environ.setdefault("TRITON_INTERPRET", "1")
    if os.environ.get(shim.VARIABLE) != "1" and "sglang" not in sys.modules and _no_card():
        shim.install()
    return release, "installed"


@contextlib.contextmanager
def _without_collecting() -> Iterator[None]:
    """Around a large import: what it makes stays, so looking through it for garbage finds none."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()


def stand_in(subject: Subject) -> None:
    """Switch on the stand-in that the plugin declares, where the vendor's runtime is missing."""
    found = subject.capabilities
    if all(importlib.util.find_spec(name) is not None for name in found.runtime_modules):
        return
    for name, value in found.runtime_environment.items():
        os.environ.setdefault(name, value)


def _no_card() -> bool:
    import torch

    return not torch.cuda.is_available()


@dataclass(frozen=True)
class Session:
    """One plugin and one SGLang.

    Attributes:
        subject: The plugin, its parts imported.
        release: The SGLang release.
        kind: ``fake`` or ``installed``.
    """

    subject: Subject
    release: str
    kind: str

    def context(self, profile: str, seed: int = 0) -> Context:
        """New surroundings for checks."""
        return Context(self.subject, self.release, PROFILES[profile], seed)

    def mutated(self, path: Path) -> Session:
        """The same with a mutant's defect."""
        mutant = load_mutant(path)
        subject = mutant.make(self.subject)
        if not isinstance(subject, Subject):
            raise ContractsError(
                f"{path.name}: make() must give a Subject, not {type(subject).__name__}",
                "return dataclasses.replace(reference, …)",
            )
        subject = with_parts(renewed(subject, self.subject, self.release), mutant=path)
        return dataclasses.replace(self, subject=subject)


def with_parts(subject: Subject, **parts: Any) -> Subject:
    """The subject with further entries in its :attr:`~Subject.parts`."""
    return dataclasses.replace(subject, parts={**subject.parts, **parts})


def load_plugin(name: str, config: Path | None = None) -> Subject:
    """The installed distribution ``name`` as a subject, its expected failures held to exist.

    Raises:
        ContractsError: It is not installed, its settings are broken, or it declares nothing.
    """
    subject = load_subject(name, config)
    refuse_idle(subject.settings.expected_failures, subject.settings.file)
    return subject


def open_session(plugin: str, sglang: str, config: Path | None = None) -> Session:
    """Start SGLang, then load the plugin.

    Args:
        plugin: Name of an installed distribution.
        sglang: As :func:`start_sglang`.
        config: Its settings file, if it is not to be found by itself.

    Raises:
        ContractsError: Either cannot be had.
    """
    subject = load_plugin(plugin, config)
    stand_in(subject)
    release, kind = start_sglang(sglang)
    subject = with_parts(filled(subject, release), sglang=kind, config=config)
    return Session(subject, release, kind)


@dataclass(frozen=True)
class Mutant:
    """A backend with one seeded defect.

    Attributes:
        name: What is wrong with it, in words.
        killed_by: The check that must catch it.
        make: ``make(reference: Subject) -> Subject``.
        path: Its file.
        releases: Specifier set of the releases it makes sense for; empty: all.
    """

    name: str
    killed_by: str
    make: Callable[[Any], Any]
    path: Path
    releases: str = ""


def load_mutant(path: Path) -> Mutant:
    """A mutant from its file: a module with ``NAME``, ``KILLED_BY``, ``make(reference)``.

    Raises:
        ContractsError: Something of that is missing, or it cannot be imported.
    """
    spec = importlib.util.spec_from_file_location(f"_sglang_contracts_mutant_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ContractsError(f"{path} is no Python file")
    module: ModuleType = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ContractsError(f"{path.name} cannot be imported: {error}") from error
    missing = [n for n in ("NAME", "KILLED_BY", "make") if not hasattr(module, n)]
    if missing:
        raise ContractsError(
            f"{path.name} has no {', '.join(missing)}", "see docs/certification.md"
        )
    return Mutant(module.NAME, module.KILLED_BY, module.make, path, getattr(module, "RELEASES", ""))
