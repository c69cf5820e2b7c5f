"""Findings into text: one module a format, and nothing here can change a verdict.

:func:`render` takes a :class:`~sglang_contracts.verify.finding.Report` and the name of a format.
The sentences are worded in :mod:`sglang_contracts.report.words`; a reporter only arranges them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

from sglang_contracts.report.options import Options
from sglang_contracts.verify.finding import Report

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
    return reporter(report, options or Options())
