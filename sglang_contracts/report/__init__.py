"""Findings into text: one module a format, and nothing here can change a verdict.

:func:`render` takes a :class:`~sglang_contracts.verify.findings.finding.Report` and the name of a
format. The sentences are worded in :mod:`sglang_contracts.report.words`; a reporter only arranges
them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from sglang_contracts.report.options import Options
from sglang_contracts.verify.findings.finding import Note, PluginInfo, ReleaseReport, Report

__all__ = ["FORMATS", "SHORT_FORMATS", "Options", "render"]

Reporter = Callable[[Report, Options], str]

_MODULES = {
    "text": "text",
    "json": "document",
    "sarif": "sarif",
    "junit": "junit",
    "github": "github",
    "markdown": "markdown",
    "html": "html",
}

_FOR_PEOPLE = frozenset({"text", "markdown", "html"})

FORMATS: tuple[str, ...] = tuple(_MODULES)
"""What commands with findings can print."""

SHORT_FORMATS: tuple[str, ...] = ("text", "json", "markdown")
"""What the other commands can print."""


def render(report: Report, format_name: str, options: Options | None = None) -> str:
    """The report in a format.

    Args:
        report: What a command found.
        format_name: One of :data:`FORMATS`.
        options: Colour, width and the like; only ``text`` looks at most of them.

    Raises:
        KeyError: If there is no such format.
    """
    module = importlib.import_module(f"sglang_contracts.report.{_MODULES[format_name]}")
    reporter: Reporter = module.render
    if format_name in _FOR_PEOPLE:
        report = visible(report)
    text = reporter(report, options or Options())
    # A file name that is no text comes as lone surrogates, which no encoding can write.
    return text.encode("utf-8", "replace").decode("utf-8")


def visible(report: Report) -> Report:
    """The report without control characters: a plugin's names must not steer a terminal."""
    import msgspec

    said = [report.releases, report.plugin, report.notes]
    if _is_plain(said):
        return report
    plain = msgspec.to_builtins(said)
    releases, plugin, notes = msgspec.convert(
        _visible(plain),
        tuple[tuple[ReleaseReport, ...], PluginInfo | None, tuple[Note, ...]],
    )
    return msgspec.structs.replace(report, releases=releases, plugin=plugin, notes=notes)


def _is_plain(said: object) -> bool:
    """Whether there is nothing in a report that is no text: quickly, for nearly every one."""
    import msgspec

    try:
        text = msgspec.json.encode(said).decode()
    except UnicodeEncodeError:  # a lone surrogate
        return False
    # What cannot be printed is escaped, as are quotes and backslashes.
    return text.isprintable() and "\\" not in text.replace("\\\\", "").replace('\\"', "")


def _visible(value: Any) -> Any:
    if isinstance(value, str):
        if value.isprintable():
            return value
        return "".join(c if c.isprintable() else " " if c.isspace() else "\ufffd" for c in value)
    if isinstance(value, dict):
        return {key: _visible(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_visible(item) for item in value]
    return value
