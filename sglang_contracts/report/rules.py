"""The pages of ``explain RULE``, read from the TOML files beside the rules."""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from pathlib import Path

from sglang_contracts.verify import rules

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


def rule_page(name: str) -> dict[str, object] | None:
    """One page with its ``name``; None if there is no such rule."""
    page = rule_pages().get(name)
    return None if page is None else {"name": name, **page}
