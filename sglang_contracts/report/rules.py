"""The pages of ``explain RULE``, read from the TOML files beside the rules."""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from pathlib import Path

from sglang_contracts.verify import rules, silences
from sglang_contracts.verify.silences.reasons import SILENCES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


FOLDER = Path(rules.__file__).parent
"""Where rules and their pages lie."""


@functools.cache
def rule_pages() -> Mapping[str, Mapping[str, str]]:
    """Rule → its page: ``title``, ``why``, ``broken``, ``fixed``, ``fix``."""
    files = sorted(FOLDER.glob("*.toml"))  # without the rules themselves, which bring the engine
    return {name: page for path in files for name, page in pages(path.name).items()}


@functools.cache
def pages(name: str) -> Mapping[str, Mapping[str, str]]:
    """Rule → page of the file of that name."""
    return read_pages((FOLDER / name).read_text(encoding="utf-8"))


def read_pages(text: str) -> Mapping[str, Mapping[str, str]]:
    """The pages in the text of such a file."""
    found: Mapping[str, Mapping[str, str]] = tomllib.loads(text)
    return found


@functools.cache
def silence_pages() -> Mapping[str, Mapping[str, str]]:
    """Reason for silence → its page: ``title``, ``why``, ``quiet``, ``told``."""
    file = Path(silences.__file__).with_name("silences.toml")
    return read_pages(file.read_text(encoding="utf-8"))


def silence_page(name: str) -> dict[str, object] | None:
    """One page with its ``name`` and what the reason does; None if there is no such reason."""
    reason = SILENCES.get(name)
    if reason is None:
        return None
    page = silence_pages()[name]
    return {"name": name, "effect": reason.effect.value, "rests": reason.rests.value, **page}


def rule_page(name: str) -> dict[str, object] | None:
    """One page with its ``name``; None if there is no such rule."""
    page = rule_pages().get(name)
    return None if page is None else {"name": name, **page}
