"""Findings into text: one module a format, and nothing here can change a verdict.

:func:`render` takes a :class:`~sglang_contracts.verify.findings.finding.Report` and the name of a
format. The sentences are worded in :mod:`sglang_contracts.report.words`; a reporter only arranges
them.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from typing import Any

from sglang_contracts.inert import LONGEST, everywhere, no_log_commands
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

_EXACT = frozenset({"json", "sarif"})
"""Formats for programs: they hold every name as it is, escaped."""

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
    if format_name not in _EXACT:
        report = visible(report)
    text = reporter(report, options or Options())
    if format_name in _EXACT:  # in a string alone can there be a number sign
        text = text.replace("##", "#\\u0023")
    elif format_name == "text":
        text = no_log_commands(text)
    elif format_name == "junit":
        text = no_log_commands(text, "&#58;")
    # A file name that is no text comes as lone surrogates, which no encoding can write.
    return text.encode("utf-8", "replace").decode("utf-8")


def visible(report: Report) -> Report:
    """The report with names that steer nobody: not a terminal, not the log of a CI run."""
    import msgspec

    said = [report.releases, report.plugin, report.notes, report.facts]
    if _is_plain(said):
        return report
    plain = everywhere(msgspec.to_builtins(said), _EXAMPLES)
    releases, plugin, notes, facts = msgspec.convert(
        plain,
        tuple[tuple[ReleaseReport, ...], PluginInfo | None, tuple[Note, ...], dict[str, Any]],
    )
    return msgspec.structs.replace(
        report, releases=releases, plugin=plugin, notes=notes, facts=facts
    )


def _is_plain(said: object) -> bool:
    """Whether all text in a report may stay as it is: quickly, for nearly every one."""
    import msgspec

    try:
        text = msgspec.json.encode(said).decode()
    except UnicodeEncodeError:  # a lone surrogate
        return False
    # What cannot be printed is escaped, as are quotes and backslashes.
    if not text.isprintable() or "\\" in text.replace("\\\\", "").replace('\\"', ""):
        return False
    return "##" not in text and not _LONG.search(text)


_EXAMPLES = frozenset({"broken", "fixed", "quiet", "told"})
"""Facts of ``explain RULE`` and ``explain REASON`` that are code."""
_LONG = re.compile(rf'[^\s"]{{{LONGEST + 1},}}')
