"""The pages of ``explain RULE``, read from ``rules.toml``."""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@functools.cache
def rule_pages() -> Mapping[str, Mapping[str, str]]:
    """Rule → its page: ``title``, ``why``, ``broken``, ``fixed``, ``fix``."""
    return read_pages(Path(__file__).with_name("rules.toml").read_text(encoding="utf-8"))


def read_pages(text: str) -> Mapping[str, Mapping[str, str]]:
    """The pages in the text of such a file."""
    pages: Mapping[str, Mapping[str, str]] = tomllib.loads(text)
    return pages


def rule_page(name: str) -> dict[str, object] | None:
    """One page with its ``name``; None if there is no such rule."""
    page = rule_pages().get(name)
    return None if page is None else {"name": name, **page}
