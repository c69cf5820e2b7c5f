"""Paths as the readers of a report want them: relative to the folder they start from."""

from __future__ import annotations

import os
import posixpath
from pathlib import Path

from sglang_contracts.report.options import Options
from sglang_contracts.verify.findings.finding import Report


def prefix(report: Report, options: Options) -> str:
    """What to put before a location's file: the plugin's root relative to ``options.base``.

    GitHub and SARIF resolve paths from the top of the repository, locations start at the plugin's
    root. Empty where the plugin is that folder, lies outside it, or is no folder (a wheel).
    """
    if not options.base or report.plugin is None or not report.plugin.path:
        return ""
    root = Path(report.plugin.path)
    if root.suffix == ".py":
        root = root.parent
    if not root.is_dir():
        return ""
    relative = os.path.relpath(root.resolve(), Path(options.base).resolve())
    if relative == "." or relative.startswith(".."):
        return ""
    return relative.replace(os.sep, "/") + "/"


def joined(start: str, file: str) -> str:
    """A location's file behind the prefix; ``..`` in it (settings above the root) is resolved."""
    return posixpath.normpath(start + file) if ".." in file.split("/") else start + file
