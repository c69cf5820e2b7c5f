"""Launch commands of SGLang, wherever they stand: flags, their values, environment variables.

Only a command that starts a program of SGLang's says anything: flags of others, in the same file or
the same line, are theirs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from sglang_contracts.errors import ContractsError
from sglang_contracts.plugin.launch.arguments import words_of
from sglang_contracts.plugin.launch.programs import Start, start
from sglang_contracts.plugin.launch.python_commands import launch_words, names_a_launch
from sglang_contracts.plugin.launch.text_files import shell_words
from sglang_contracts.plugin.launch.variables import ASSIGNED, NAMED, SET, may_name
from sglang_contracts.plugin.launch.word import FLAG, SERVER, Token, Word, no_value

_OPERATORS = frozenset({"&&", "||", "|", ";", "&", ">", ">>", "2>", "2>&1", "<"})


def words(command: Sequence[str]) -> list[Word]:
    """The flags, values and variables of one launch command, its words already split.

    What stands in front of SGLang's own part (``env``, ``docker run -e NAME=v``, ``numactl``)
    gives variables only; the command ends at a shell's operator. Bare flags are taken for
    SGLang's own.

    Raises:
        ContractsError: It launches no server of SGLang's.
    """
    tokens = [Token(text, 1, position + 1) for position, text in enumerate(command)]
    begin = start(tokens) or _bare(command)
    if begin is None:
        raise ContractsError(
            f"this launches no SGLang server: {' '.join(command)[:80]}",
            "a launch command is python -m sglang.launch_server ... or sglang serve ...",
        )
    found = []
    for token in tokens[: begin.position]:
        name, equals, value = token.text.removeprefix("--env=").partition("=")
        if equals and re.fullmatch(r"[A-Z][A-Z0-9_]*", name):
            found.append(Word(name, 1, token.column, value))
    end = begin.position
    while end < len(tokens) and tokens[end].text not in _OPERATORS:
        end += 1
    return found + words_of(tokens[begin.position : end], begin.program)


def _bare(command: Sequence[str]) -> Start | None:
    """Flags alone, which are taken for the server's own."""
    if not command or not FLAG.match(command[0].partition("=")[0]):
        return None
    flags = all(not no_value(each) or FLAG.match(each.partition("=")[0]) for each in command)
    return Start(SERVER, 0) if flags else None


def scan_text(text: str, kind: str) -> list[Word]:
    """The words of every launch command in a text file.

    Args:
        text: The file.
        kind: ``shell``, ``docker``, ``yaml`` or ``markdown``.
    """
    found: list[Word] = []
    if may_name(text):
        fenced = kind != "markdown"
        for number, line in enumerate(text.splitlines(), start=1):
            if kind == "markdown" and line.lstrip().startswith(("```", "~~~")):
                fenced = not fenced
            elif fenced and not line.lstrip().startswith("#"):
                for match in NAMED.finditer(line):
                    found.append(Word(match.group(1), number, match.start() + 1, ""))
    return list(dict.fromkeys([*found, *shell_words(text, kind)]))


def scan_python(everything: Sequence[ast.AST]) -> list[Word]:
    """Flags and environment variables in a module that launches SGLang.

    Args:
        everything: All nodes of the module's tree, in the order of ``ast.walk``.
    """
    found = _variables(everything)
    if names_a_launch(everything):
        found += launch_words(everything[0])
    return found


def _variables(everything: Sequence[ast.AST]) -> list[Word]:
    """Environment variables that a module sets or hands on."""
    found: list[Word] = []
    cleared = _cleared(everything)
    documents = {
        id(node.body[0].value)
        for node in everything
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in everything:
        if isinstance(node, ast.Call):  # ``dict(os.environ, NAME="1")``
            for keyword in node.keywords:
                if keyword.arg and NAMED.fullmatch(keyword.arg):
                    place = keyword.value
                    found.append(Word(keyword.arg, place.lineno, place.col_offset + 1, ""))
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            continue
        text = node.value
        if len(text) > 20_000 or not may_name(text) or id(node) in documents:
            continue
        column = node.col_offset + 1
        if NAMED.fullmatch(text):
            if id(node) not in cleared:
                found.append(Word(text, node.lineno, column, ""))
            continue
        assigned = ASSIGNED.fullmatch(text)
        if assigned:  # a word of ``["env", "NAME=1", …]``
            found.append(Word(assigned.group(1), node.lineno, column, assigned.group(2)))
        elif _LAUNCHES.search(text):
            for match in SET.finditer(text):
                found.append(Word(match.group(1), node.lineno, column, match.group(2)))
    return found


_LAUNCHES = re.compile(r"sglang\.\w|sglang[ \"',]+(?:serve|generate)\b|sglang/launch_server")


def _cleared(everything: Sequence[ast.AST]) -> set[int]:
    """Constants that name variables to be taken away: that harms nobody, whoever reads them."""
    names: set[int] = set()
    loops: dict[str, list[ast.expr]] = {}
    for node in everything:
        if (isinstance(node, ast.For) and isinstance(node.target, ast.Name)) and (
            isinstance(node.iter, (ast.Tuple, ast.List, ast.Set))
        ):
            loops[node.target.id] = node.iter.elts
    for node in everything:
        gone: list[ast.expr] = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            if node.func.attr in ("pop", "unsetenv", "delenv"):
                gone = node.args[:1]
        elif isinstance(node, ast.Delete):
            gone = [each.slice for each in node.targets if isinstance(each, ast.Subscript)]
        for each in gone:
            for one in loops.get(each.id, []) if isinstance(each, ast.Name) else [each]:
                names.add(id(one))
    return names
