"""What a reporter may be told beside the report."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """How to print; none of it changes what is found."""

    color: bool = False
    """Whether text is coloured (ANSI)."""
    width: int = 100
    """Columns of text."""
    verbose: bool = False
    """Whether text lists notes, too."""
    quiet: bool = False
    """Whether text leaves out everything but errors, warnings and verdicts."""
    show_silenced: bool = False
    """Whether each place of which nothing is said is listed with its reason."""
    base: str = ""
    """Folder that paths in ``github`` and ``sarif`` start from; empty: the plugin's root."""
