"""Is the import that is running right now guarded by its author?

An import that stands in a ``try`` whose handler takes ``ImportError`` has another way out, and must
fail as it does on a machine without the package. Only the source text tells, so the stack is walked
and each file's guarded lines are read once.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

_TAKES_IMPORT_ERROR = frozenset(
    {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
)
# Where Python freezes it, the code of importlib.util has no file.
_PROBES = frozenset({importlib.util.__file__, "<frozen importlib.util>"})


@dataclass(frozen=True)
class Importer:
    """Who asked for a module.

    Attributes:
        place: ``file:line`` of the import statement nearest to it.
        guard: ``file:line`` of the guarded statement that leads to it; empty if there is none.
        probe: True for ``importlib.util.find_spec``: a question, not an import.
    """

    place: str
    guard: str
    probe: bool


def _names(node: ast.expr | None) -> set[str]:
    if node is None:
        return {"BaseException"}
    if isinstance(node, ast.Tuple):
        return set().union(*(_names(item) for item in node.elts))
    if isinstance(node, ast.Name):
        return {node.id}
    return {node.attr} if isinstance(node, ast.Attribute) else set()


def _suppresses(node: ast.With) -> bool:
    for item in node.items:
        call = item.context_expr
        if (
            isinstance(call, ast.Call)
            and _names(call.func) == {"suppress"}
            and any(_names(argument) & _TAKES_IMPORT_ERROR for argument in call.args)
        ):
            return True
    return False


def guarded_lines(source: str) -> tuple[tuple[int, int], ...]:
    """The line ranges (inclusive, 1-based) of ``source`` in which an ImportError is handled."""
    ranges = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Try):
            if any(_names(handler.type) & _TAKES_IMPORT_ERROR for handler in node.handlers):
                last = node.body[-1]
                ranges.append((node.body[0].lineno, last.end_lineno or last.lineno))
        elif isinstance(node, ast.With) and _suppresses(node):
            ranges.append((node.lineno, node.end_lineno or node.lineno))
    return tuple(ranges)


@functools.cache
def _ranges_of(path: str) -> tuple[tuple[int, int], ...]:
    try:
        return guarded_lines(Path(path).read_text(encoding="utf-8"))
    except (OSError, SyntaxError, UnicodeDecodeError):
        return ()  # built-in or generated code: nothing can be said, so nothing is guarded


def importer() -> Importer:
    """Who runs the import that is going on, seen from inside a meta path finder.

    Imports nest: the guard may stand in the module that imported the module that imports. The walk
    stops at the first function: who *calls* a function does not guard what it imports, and who
    loads modules by name does not guard what these import.
    """
    frame: FrameType | None = sys._getframe(1)
    place = ""
    while frame is not None:
        path, line = frame.f_code.co_filename, frame.f_lineno
        if path in _PROBES and frame.f_code.co_name == "find_spec":
            return Importer(place, "", probe=True)
        machinery = path.startswith("<frozen") or "/importlib/" in path or path == __file__
        if not machinery and not path.endswith("/live/shim.py"):
            here = f"{path}:{line}"
            if place and frame.f_code.co_name != "<module>":
                break  # it loads modules by name and survives their failure: no guard of theirs
            place = place or here
            library_code = "/site-packages/" in path or "/sglang/" in path  # not who tests it
            if library_code and any(a <= line <= b for a, b in _ranges_of(path)):
                return Importer(place, here, probe=False)
            if frame.f_code.co_name != "<module>":
                break
        frame = frame.f_back
    return Importer(place, "", probe=False)
