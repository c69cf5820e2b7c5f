"""Everything that a printed snippet needs: ``from sglang_contracts.suite.reproduce import *``."""

from __future__ import annotations

from sglang_contracts.suite.checks.allocator import Run
from sglang_contracts.suite.script import Cell, Script, Turn
from sglang_contracts.suite.snippet import reproduce

__all__ = ["Cell", "Run", "Script", "Turn", "reproduce"]
