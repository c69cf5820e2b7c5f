"""Which recorded functions and methods do something, and what.

A behaviour is written once for all releases. It is attached to what a release *records*: the
signature, the arguments' names and the class's attributes come from there, so a behaviour asks
``"loc_info" in given`` or ``has(self, "staged_pages")``, not for a version.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sglang_contracts.fakes.release import Fake

Given = dict[str, Any]
"""A call's arguments by the recorded parameters' names, defaults filled in, ``self`` left out."""

Method = Callable[["Fake", Any, Given], Any]
Function = Callable[["Fake", Given], Any]
Value = Callable[["Fake"], Any]

METHODS: dict[tuple[str, str], Method] = {}
"""(class's qualified name, method) → what it does; for classes below ``sglang.srt``."""
FUNCTIONS: dict[tuple[str, str], Function] = {}
"""(module, function) → what it does."""
VALUES: dict[tuple[str, str], Value] = {}
"""(module, name) → its value, asked for at each read."""
BY_RESULT: set[str] = set()
"""Classes whose one-line methods return what the recorded expression says."""
BY_RECORD: set[str] = set()
"""Classes whose constructor sets the attributes that the recorded expressions tell."""


def method(owner: str, *names: str) -> Callable[[Method], Method]:
    """Attach a function to methods of a class (and nothing where a release does not have them)."""

    def attach(body: Method) -> Method:
        for name in names:
            METHODS[(owner, name)] = body
        return body

    return attach


def function(module: str, *names: str) -> Callable[[Function], Function]:
    """Attach a function to functions of a module."""

    def attach(body: Function) -> Function:
        for name in names:
            FUNCTIONS[(module, name)] = body
        return body

    return attach


def value(module: str, name: str) -> Callable[[Value], Value]:
    """Attach a function to a module's name that is computed at each read."""

    def attach(body: Value) -> Value:
        VALUES[(module, name)] = body
        return body

    return attach
