"""One file of a plugin → its record."""

from __future__ import annotations

import ast
import os
import re
import sys
import warnings

from sglang_contracts.plugin.ir.nodes import Environment, Flag
from sglang_contracts.plugin.ir.records import File, Guard, Use, UseKind
from sglang_contracts.plugin.launch.command_words import scan_python, scan_text
from sglang_contracts.plugin.launch.word import Word
from sglang_contracts.plugin.reading.files import Source, plain_text, python_text
from sglang_contracts.plugin.reading.unreadable import names_sglang
from sglang_contracts.plugin.walk.module import walk_module

_DEPTH = 4000
_UNSTORABLE = re.compile(r"\\[uU]|[0-9A-Fa-f_]{16}")
"""What a text has that makes something no record can hold, if perhaps not only then."""
_MOST = 2**63 - 1
_TOO_DEEP = "nested too deeply"


def extract(source: Source, module: str, own_modules: frozenset[str]) -> File:
    """Read one file; whatever is in it, a record comes back.

    Args:
        source: The file.
        module: Its dotted name within the plugin.
        own_modules: Dotted names of all the plugin's modules.
    """
    file = _extract(source, module, own_modules)
    if file.problem:
        file.unread = source.unread or names_sglang(source.data)
    return file


def _extract(source: Source, module: str, own_modules: frozenset[str]) -> File:
    file = File(source.path, module)
    if source.problem:
        file.problem = source.problem
        return file
    if source.kind not in ("python", "notebook"):
        _text(source, file)
        return file
    try:
        text = python_text(source)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in a plugin are not our business
            tree = ast.parse(text)
        if _UNSTORABLE.search(text):
            _storable(tree)
    except SyntaxError as error:
        file.problem = f"no valid Python: {error.msg}"
        file.problem_line = error.lineno or 0
        return file
    except RecursionError:
        file.problem, file.transient = _TOO_DEEP, True
        return file
    except (ValueError, MemoryError) as error:
        file.problem = str(error) or type(error).__name__
        file.transient = isinstance(error, MemoryError)
        return file
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(max(limit, _DEPTH))
        everything = tuple(ast.walk(tree))  # walking costs more than parsing did: once
        walk_module(file, tree, everything, own_modules)
        _launch(scan_python(everything), file)
    except RecursionError:
        file = File(source.path, module, problem=_TOO_DEEP, transient=True)
    except Exception as error:
        # A fault of ours must not keep the other files from being checked; it is said, not hidden.
        if os.environ.get("SGLANG_CONTRACTS_DEBUG"):
            raise
        problem = f"could not be analysed ({type(error).__name__}: {error}); please report it"
        file = File(source.path, module, problem=problem)
        file.transient = isinstance(error, MemoryError)
    finally:
        sys.setrecursionlimit(limit)
    return file


def _storable(tree: ast.AST) -> None:
    """Put ``?`` for lone surrogates, and the nearest number of 64 bits for larger ones.

    Escapes can make surrogates; nothing can store either.
    """
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant):
            continue
        if isinstance(node.value, str):
            node.value = node.value.encode("utf-8", "replace").decode("utf-8")
        elif isinstance(node.value, int):
            node.value = type(node.value)(max(-_MOST, min(_MOST, node.value)))


def _text(source: Source, file: File) -> None:
    file.guards.append(Guard(parent=0, kind=""))
    _launch(scan_text(plain_text(source.data), source.kind), file)


def _launch(words: list[Word], file: File) -> None:
    """Flags and variables become uses."""
    if not words:
        return
    nodes = list(file.nodes)
    index = {node: number for number, node in enumerate(nodes)}
    for word in words:
        node = Flag(word.name) if word.is_flag else Environment(word.name)
        number = index.get(node)
        if number is None:
            number = index[node] = len(nodes)
            nodes.append(node)
        file.uses.append(
            Use(
                UseKind.FLAG if word.is_flag else UseKind.ENVIRONMENT,
                number,
                word.line,
                word.column,
                name=word.name,
                count=0 if word.value is None else 1,
                text=word.value or "",
                program=word.program,
            )
        )
    file.nodes = nodes
