"""Launch commands of SGLang, wherever they stand: flags, their values, environment variables.

Shell scripts, Dockerfiles, YAML, fenced blocks in Markdown, and argument lists in Python. What is
no launch command of SGLang's says nothing: in a text file flags count only after a marker such as
``sglang.launch_server``, up to the end of the command.
"""

from __future__ import annotations

import ast
import itertools
import re
import shlex
from collections.abc import Sequence

import msgspec

from sglang_contracts.errors import ContractsError
from sglang_contracts.plugin.launch import script_variables as variables

MARKER = re.compile(
    r"sglang\.launch_server|sglang[ \"',]+serve\b|sglang\.bench_one_batch|sglang\.bench_offline"
    r"|sglang/launch_server\.py|sglang\.compile_deep_gemm"
)
_FLAG = re.compile(r"--[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*\Z")
_TOKEN = re.compile(r"""(?<![\w-])(--[a-z][\w-]*)(?:[=\s"',\]]+([^\s"',\]\\]+))?""")
_ENVIRONMENT = re.compile(r"\b((?:SGLANG|SGL)_[A-Z][A-Z0-9_]*)\b")
_SET = re.compile(r"\b((?:SGLANG|SGL)_[A-Z][A-Z0-9_]*)=(\S*)")
_FLAG_LIKE = re.compile(r"--[a-z][\w-]*(?:=.*)?\Z", re.DOTALL)
_NUMBER = re.compile(r"-(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?\Z")
_OPERATORS = frozenset({"&&", "||", "|", ";", "&", ">", ">>", "2>", "2>&1", "<"})
_SUBCOMMANDS = frozenset({"serve", "generate"})
_SCRIPTS = frozenset({"launch_server.py", "sglang.launch_server"})
_PIECE = re.compile(r"\s*--[a-z][\w-]*(?:[= ][^\n]*)?\Z")
"""The rest of a command in one line: flags and their values."""
_ITEM = re.compile(r"""\s*-\s+["']?([^\s"'#][^\s"']*)["']?\s*(?:#.*)?\Z""")
"""An item of a YAML list that is one word."""
_END = re.compile(r"^(?:---|\.\.\.)\s*$|^\s*```|^FROM\s", re.IGNORECASE)


class Word(msgspec.Struct, frozen=True):
    """A flag or an environment variable at a place."""

    name: str
    """``--flag`` or ``NAME``."""
    line: int
    column: int
    value: str | None = None
    """What the flag is given; None: nothing."""

    @property
    def is_flag(self) -> bool:
        """Whether it is a flag."""
        return self.name.startswith("--")


def words(command: Sequence[str]) -> list[Word]:
    """The flags, values and variables of one launch command, its words already split.

    What stands in front of SGLang's own part (``env``, ``docker run -e NAME=v``, ``numactl``)
    gives variables only; the command ends at a shell's operator. Bare flags are taken for
    SGLang's own.

    Raises:
        ContractsError: It launches no server of SGLang's.
    """
    start = _own_part(command)
    if start is None:
        raise ContractsError(
            f"this launches no SGLang server: {' '.join(command)[:80]}",
            "a launch command is python -m sglang.launch_server ... or sglang serve ...",
        )
    found = []
    for position, word in enumerate(command[:start]):
        name, equals, value = word.removeprefix("--env=").partition("=")
        if equals and re.fullmatch(r"[A-Z][A-Z0-9_]*", name):
            found.append(Word(name, 1, position + 1, value))
    for position, word in enumerate(command[start:], start):
        if word in _OPERATORS:
            break
        name, equals, value = word.partition("=")
        if not _FLAG.match(name):
            continue
        following = command[position + 1] if position + 1 < len(command) else "--"
        given = value if equals else None if _no_value(following) else following
        found.append(Word(name, 1, position + 1, given))
    return found


def _own_part(command: Sequence[str]) -> int | None:
    """Where the arguments of a server begin; None where none is launched."""
    for position, word in enumerate(command):
        following = command[position + 1] if position + 1 < len(command) else ""
        if word == "-m" and following.startswith("sglang."):
            return position + 2
        if word.rpartition("/")[2] == "sglang" and following in _SUBCOMMANDS:
            return position + 2
        if word.endswith("sglang/launch_server.py") or word in _SCRIPTS:
            return position + 1
    bare = bool(command) and all(not _no_value(each) or _FLAG_LIKE.match(each) for each in command)
    return 0 if bare and command[0].startswith("--") else None


def _no_value(word: str) -> bool:
    """Whether a word is no value of the flag before it: a flag, but no negative number."""
    return word in _OPERATORS or (word.startswith("-") and not _NUMBER.match(word))


def scan_text(text: str, kind: str) -> list[Word]:
    """The words of every launch command in a text file.

    Args:
        text: The file.
        kind: ``shell``, ``docker``, ``yaml`` or ``markdown``.
    """
    lines = text.splitlines()
    found: list[Word] = []
    fenced = kind != "markdown"
    active = False
    indent = 0
    read: list[tuple[int, str]] = []
    named: set[str] = set()
    for number, line in enumerate(lines, start=1):
        if kind == "markdown" and line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
            active = False
            continue
        if not fenced:
            continue
        stripped = line.strip()
        if stripped.startswith("#"):
            continue
        read.append((number, line))
        for match in _ENVIRONMENT.finditer(line):
            found.append(Word(match.group(1), number, match.start() + 1, ""))
        marker = MARKER.search(line)
        if marker:
            active = True
            named |= variables.named(line[marker.start() :])
            indent = len(line) - len(line.lstrip())
            found += _flags(line[marker.start() :], number, marker.start())
            if kind in ("shell", "docker", "markdown") and not _continues(line, lines, number):
                active = False
            continue
        if not active:
            continue
        if _END.match(line) or not stripped:
            active = False
            continue
        if (
            kind == "yaml"
            and len(line) - len(line.lstrip()) < indent
            and not (stripped.startswith("-") or "args" in stripped)
        ):
            active = False
            continue
        named |= variables.named(line)
        found += _next_item(lines, number, _flags(line, number, 0))
        if kind in ("shell", "docker", "markdown") and not _continues(line, lines, number):
            active = False
    return list(dict.fromkeys([*found, *_in_variables(read, named)]))


def _in_variables(lines: Sequence[tuple[int, str]], named: set[str]) -> list[Word]:
    """The words of variables that a launch command names, or that hold one themselves.

    Args:
        lines: Numbers and texts of the lines that count.
        named: The variables that stand in a command.
    """
    given = []
    for each in variables.assignments(lines):
        pieces = list(each.pieces)
        for place, piece in enumerate(pieces):
            marker = MARKER.search(piece.text)
            if marker:  # what stands in front of a command is another program's
                named.add(each.name)
                cut = marker.start()
                rest = variables.Piece(piece.line, piece.offset + cut, piece.text[cut:])
                pieces = [rest, *pieces[place + 1 :]]
                break
        given.append(variables.Assigned(each.name, tuple(pieces)))
    found: list[Word] = []
    for line, offset, text in variables.of_command(named, given):
        found += _flags(text, line, offset)
    return found


def _continues(line: str, lines: Sequence[str], number: int) -> bool:
    """Whether a command goes on in the next line."""
    end = line.rstrip()
    if end.endswith("\\") or end.endswith(",") or end.endswith("["):
        return True
    following = lines[number] if number < len(lines) else ""
    return following.lstrip().startswith("--")


def _flags(text: str, line: int, offset: int) -> list[Word]:
    """Flags and values in a piece of one line."""
    text = re.split(r"\s#\s", text)[0]
    found = []
    for match in _TOKEN.finditer(text):
        name = match.group(1)
        value = match.group(2)
        if value is not None and (value.startswith(("-", "$", "{")) or not value):
            value = None
        if _FLAG.match(name):
            found.append(Word(name, line, offset + match.start() + 1, value))
    return found


def _next_item(lines: Sequence[str], number: int, found: list[Word]) -> list[Word]:
    """The words of a line; a flag alone in a YAML list has its value in the next item.

    Args:
        lines: Of the whole text.
        number: Of the line, from 1.
        found: What stands in it.
    """
    if not found or found[-1].value is not None or not _ITEM.match(lines[number - 1]):
        return found
    following = _ITEM.match(lines[number]) if number < len(lines) else None
    value = following.group(1) if following is not None else "--"
    if _no_value(value) or value.startswith(("$", "{")):
        return found
    return [*found[:-1], msgspec.structs.replace(found[-1], value=value)]


def scan_python(everything: Sequence[ast.AST]) -> list[Word]:
    """Flags and environment variables in a module that launches SGLang.

    Flags count in lists, tuples and command strings, and only in a module in which a launch
    command stands (or a list goes to ``prepare_server_args``); never in ``add_argument``.

    Args:
        everything: All nodes of the module's tree, in the order of ``ast.walk``.
    """
    found: list[Word] = []
    own: set[int] = set()
    launches = False
    for node in everything:
        if isinstance(node, ast.Call):
            name = (
                node.func.attr
                if isinstance(node.func, ast.Attribute)
                else getattr(node.func, "id", "")
            )
            if name == "add_argument":
                own.update(id(arg) for arg in node.args)
            if name == "prepare_server_args":
                launches = True
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
            if len(text) < 20_000 and MARKER.search(text) and "import" not in text:
                launches = True
        elif isinstance(node, (ast.List, ast.Tuple)):
            plain = [_text(each) for each in node.elts]
            for one, other in itertools.pairwise(plain):
                if one == "sglang" and other == "serve":
                    launches = True
    cleared = _cleared(everything)
    for node in everything:  # ``dict(os.environ, NAME="1")``
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg and _ENVIRONMENT.fullmatch(keyword.arg):
                    place = keyword.value
                    found.append(Word(keyword.arg, place.lineno, place.col_offset + 1, ""))
    documents = {
        id(node.body[0].value)
        for node in everything
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    followers: dict[int, str | None] = {}
    for node in everything:
        if isinstance(node, (ast.List, ast.Tuple)):
            for each, after in zip(node.elts, [*node.elts[1:], None], strict=False):
                value = _text(after) if after is not None else "--"
                followers[id(each)] = None if value is None or _no_value(value) else value
        elif isinstance(node, ast.Dict):  # ``{"--tp": "8"}``, joined to a command later
            for key, held in zip(node.keys, node.values, strict=True):
                value = _text(held)
                followers[id(key)] = None if value is None or _no_value(value) else value
    for node in everything:
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            continue
        text = node.value
        if id(node) in documents or len(text) > 20_000:
            continue
        column = node.col_offset + 1
        if re.fullmatch(r"(?:SGLANG|SGL)_[A-Z][A-Z0-9_]*", text):
            if id(node) not in cleared:
                found.append(Word(text, node.lineno, column, ""))
            continue
        assigned = re.fullmatch(r"((?:SGLANG|SGL)_[A-Z][A-Z0-9_]*)=(.*)", text)
        if assigned:  # a word of ``["env", "NAME=1", …]``
            found.append(Word(assigned.group(1), node.lineno, column, assigned.group(2)))
            continue
        if MARKER.search(text):
            for match in _SET.finditer(text):
                found.append(Word(match.group(1), node.lineno, column, match.group(2)))
        if not launches or id(node) in own:
            continue
        name, equals, value_text = text.partition("=")
        if _FLAG.match(name):
            value = value_text if equals else followers.get(id(node))
            found.append(Word(name, node.lineno, column, value))
        elif _PIECE.match(text):  # ``command += " --tp 2"``
            found += _flags(text, node.lineno, column)
        elif MARKER.search(text) and "--" in text:
            lines = text.splitlines() or [text]
            for number, line in enumerate(lines):
                start = MARKER.search(line)
                piece = line[start.start() :] if start else line
                given = _flags(piece, node.lineno + number, column if number == 0 else 0)
                found += _next_item(lines, number + 1, given)
    return found


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


def _text(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def split(command: str) -> list[str]:
    """A shell's words, as far as they can be told."""
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()
