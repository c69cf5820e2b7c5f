"""Modules of a release that only test others: their doubles are no classes to be handed."""

from __future__ import annotations


def is_test(module: str) -> bool:
    """Whether a module of a release only tests others: what it calls is no obligation."""
    parts = module.split(".")
    return parts[1:2] == ["test"] or any(
        part in ("tests", "unit_test", "conftest") or part.startswith("test_") for part in parts
    )
