"""The pages of ``explain RULE``, read from the TOML files beside the rules."""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from pathlib import Path

from sglang_contracts.verify.rules import registry

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@functools.cache
def rule_pages() -> Mapping[str, Mapping[str, str]]:
    """Rule → its page: ``title``, ``why``, ``broken``, ``fixed``, ``fix``."""
    rules = {**registry.RULES, **registry.CLAUSE_RULES}
    return {rule.id: pages(rule.page)[rule.id] for rule in rules.values() if rule.page}


@functools.cache
def pages(name: str) -> Mapping[str, Mapping[str, str]]:
    """Rule → page of the file of that name beside the rules."""
    return read_pages(Path(registry.__file__).with_name(name).read_text(encoding="utf-8"))


def read_pages(text: str) -> Mapping[str, Mapping[str, str]]:
    """The pages in the text of such a file."""
    found: Mapping[str, Mapping[str, str]] = tomllib.loads(text)
    return found


def rule_page(name: str) -> dict[str, object] | None:
    """One page with its ``name``; None if there is no such rule."""
    page = rule_pages().get(name)
    return None if page is None else {"name": name, **page}
