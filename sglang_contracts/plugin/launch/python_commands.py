"""Launch commands of Python code: lists, texts, and what is put into them.

A list of words belongs to a launch where it is one (``[…, "-m", "sglang.launch_server", …]``), or
where it flows into one: it is added to it, spread in it, joined to its text, handed to the function
that does. Flags of other programs in the same file are no business of SGLang's.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from sglang_contracts.plugin.launch.arguments import words_of
from sglang_contracts.plugin.launch.programs import MENTION, start
from sglang_contracts.plugin.launch.python_flow import Flow, Key
from sglang_contracts.plugin.launch.shell_commands import program_of, scan_shell
from sglang_contracts.plugin.launch.word import FLAG, HOLE, SERVER, Token, Word
from sglang_contracts.plugin.launch.yaml_files import yaml_words

_LONGEST = 20_000
_SINKS = {"prepare_server_args": 0, "popen_launch_server": 4}
"""What is handed arguments of the server, and at which position."""
_SINK_KEYWORDS = frozenset({"other_args", "extra_args", "server_args_list", "argv"})
_PASSING = frozenset(
    {
        *("list", "tuple", "str", "sorted", "split", "join", "quote", "copy", "deepcopy", "chain"),
        *("strip", "rstrip", "lstrip", "format", "dedent", "map", "filter", "replace", "items"),
        *("cleandoc", "from_iterable", "to_container", "keys", "values"),
    }
)
"""What gives back, in another form, what it is given."""
_DEEPEST = 30
_MANIFEST = re.compile(r"^\s*(?:- )?(?:command|args|entrypoint|image):", re.MULTILINE)


def names_a_launch(everything: Sequence[ast.AST]) -> bool:
    """Whether a module may launch SGLang at all."""
    for node in everything:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
            if (
                "sglang" in text
                and len(text) < _LONGEST
                and (MENTION.search(text) or text == "sglang")
            ):
                return True
        elif isinstance(node, ast.Name):
            if node.id in _SINKS:
                return True
        elif isinstance(node, ast.Attribute) and (
            node.attr in _SINKS or node.attr == "add_cli_args"
        ):
            return True
    return False


def launch_words(tree: ast.AST) -> list[Word]:
    """The flags of every launch command in a module."""
    return _Module(tree).words()


class _Module:
    """One module's launches."""

    def __init__(self, tree: ast.AST) -> None:
        self.flow = Flow(tree)
        self.found: list[Word] = []
        self.holders: dict[Key, str] = {}
        """Variables that hold a launch from its start → its program."""
        self.makers: dict[str, str] = {}
        """Functions that return one."""
        self.documents = _documents(tree)
        self._started: dict[int, str | None] = {}
        self._taken: set[tuple[int, str]] = set()
        self._own: frozenset[str] = frozenset()

    def words(self) -> list[Word]:
        """All of them."""
        for _ in range(4):
            self._started.clear()
            if not self._spread():
                break
        for each in self.flow.statements:
            self.launch(each)
        for key, program in self.holders.items():
            for added in self.flow.added.get(key, ()):
                if self.launch(added) is None:
                    self.material(added, program)
        self._sinks()
        return list(dict.fromkeys(self.found))

    def _spread(self) -> bool:
        """Find what holds and returns a launch, one by way of another; whether there was news."""
        before = len(self.holders) + len(self.makers)
        for table in (self.flow.given, self.flow.added):
            for key, values in table.items():
                for value in values:
                    program = self.launch(value, quiet=True)
                    if program is not None:
                        self.holders.setdefault(key, program)
        for function, values in self.flow.returns.items():
            for value in values:
                program = self.launch(value, quiet=True)
                if program is not None:
                    self.makers.setdefault(function, program)
        return len(self.holders) + len(self.makers) > before

    def launch(self, node: ast.expr | None, *, quiet: bool = False, depth: int = 0) -> str | None:
        """The program that an expression starts; None: none. Its arguments are taken in.

        Args:
            node: The expression.
            quiet: Whether only the answer counts.
            depth: Of the recursion.
        """
        if node is None or depth > _DEEPEST or id(node) in self.documents:
            return None

        def again(each: ast.expr | None) -> str | None:
            return self.launch(each, quiet=quiet, depth=depth + 1)

        if isinstance(node, (ast.List, ast.Tuple)):
            return self._list(node, again, quiet)
        if isinstance(node, ast.Constant):
            return self._text(node, quiet) if isinstance(node.value, str) else None
        if isinstance(node, ast.JoinedStr):
            return self._joined(node, again, quiet)
        if isinstance(node, ast.BinOp):
            left = again(node.left)
            if left is not None:
                if not quiet:
                    self.material(node.right, left)
                return left
            return again(node.right)
        if isinstance(node, (ast.Name, ast.Attribute)):
            key = self.flow.key(node)
            held = self.holders.get(key) if key is not None else None
            if held is None and key is not None and key[0] == -1:
                held = self.holders.get((0, key[1]))
            return held
        if isinstance(node, ast.Call):
            return self._made(node, again, quiet)
        for part in _alternatives(node):
            program = again(part)
            if program is not None:
                return program
        return None

    def _list(
        self,
        node: ast.List | ast.Tuple,
        again: Callable[[ast.expr | None], str | None],
        quiet: bool,
    ) -> str | None:
        tokens = [self._token(each) for each in node.elts]
        begin = start(tokens)
        if begin is not None:
            if not quiet:
                self._elements(node.elts[begin.position :], begin.program)
            return begin.program
        for position, each in enumerate(node.elts):
            # A text is a command line only where the rest is joined to it, so in front.
            if isinstance(each, ast.Starred) or position == 0:
                program = again(each.value if isinstance(each, ast.Starred) else each)
                if program is not None:
                    if not quiet:
                        self._elements(node.elts[position + 1 :], program)
                    return program
        return None

    def _text(self, node: ast.Constant, quiet: bool) -> str | None:
        """A text: a whole command line, or lines of a script."""
        text = str(node.value)
        if len(text) > _LONGEST or not MENTION.search(text):
            return None
        if not quiet:
            self.found += _scan(node, text)
        return program_of(text)

    def _joined(
        self,
        node: ast.JoinedStr,
        again: Callable[[ast.expr | None], str | None],
        quiet: bool,
    ) -> str | None:
        program: str | None = None
        whole = "".join(
            str(each.value) if isinstance(each, ast.Constant) else "$_" for each in node.values
        )
        if MENTION.search(whole):
            program = program_of(whole)
            if not quiet:
                self.found += _scan(node, whole)
        for each in node.values:
            if not isinstance(each, ast.FormattedValue):
                if program is None and MENTION.search(str(getattr(each, "value", ""))):
                    program = program_of(str(getattr(each, "value", "")))
                elif program is not None and not quiet and not MENTION.search(whole):
                    self.material(each, program)
                continue
            if program is None:
                program = again(each.value)
            elif not quiet and _after_start(node, each):
                self.material(each.value, program)
        return program

    def _made(
        self,
        node: ast.Call,
        again: Callable[[ast.expr | None], str | None],
        quiet: bool,
    ) -> str | None:
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name in self.makers:
            return self.makers[name]
        if name not in _PASSING:
            return None
        handed = [each.value if isinstance(each, ast.Starred) else each for each in node.args]
        if isinstance(function, ast.Attribute):
            handed.insert(0, function.value)
        for each in handed:
            program = again(each)
            if program is not None:
                if name == "format" and not quiet:
                    for more in (*node.args, *(keyword.value for keyword in node.keywords)):
                        self.material(more, program)
                return program
        return None

    def _token(self, node: ast.expr) -> Token:
        """One element of a list as a word."""
        text = HOLE
        if isinstance(node, ast.Constant):
            text = node.value if isinstance(node.value, str) else str(node.value)
        elif isinstance(node, ast.JoinedStr):
            text = "".join(
                str(each.value) if isinstance(each, ast.Constant) else HOLE for each in node.values
            )
        elif isinstance(node, (ast.Name, ast.Attribute)):
            text = self._constant(node)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
            text = ast.unparse(node)
        return Token(text, getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1)

    def _constant(self, node: ast.Name | ast.Attribute) -> str:
        """The text that a name always stands for; a hole where that cannot be told."""
        key = self.flow.key(node)
        if key is None or key in self.flow.parameters or key in self.flow.loops:
            return HOLE
        given = list(self.flow.values(key))
        if len(given) != 1 or key in self.flow.added or not isinstance(given[0], ast.Constant):
            return HOLE
        return given[0].value if isinstance(given[0].value, str) else HOLE

    def _elements(self, elements: Sequence[ast.expr], program: str) -> None:
        """Elements of a list that are arguments: words, values, and what is spread among them."""
        tokens = [self._token(each) for each in elements]
        pieces = [each for each in tokens if " " in each.text and each.text.startswith("--")]
        for piece in pieces:  # words that are joined to a text later
            self.found += scan_shell(piece.text, piece.line, piece.column, follows=program)
        tokens = [each for each in tokens if each not in pieces]
        self.found += words_of(tokens, program, whole=False)
        for each in elements:
            if not isinstance(each, ast.Constant):
                self.material(each, program)

    def material(self, node: ast.expr | None, program: str, depth: int = 0) -> None:
        """Take an expression for arguments of a program, wherever it comes from."""
        if node is None or depth > _DEEPEST or (id(node), program) in self._taken:
            return
        self._taken.add((id(node), program))
        more: Iterator[ast.expr] | Sequence[ast.expr] = ()
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            self._elements(node.elts, program)
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str) and "--" in node.value and len(node.value) < _LONGEST:
                self.found += scan_shell(
                    node.value, node.lineno, node.col_offset + 1, follows=program
                )
        elif isinstance(node, ast.JoinedStr):
            self._pieces(node, program)
            more = [each.value for each in node.values if isinstance(each, ast.FormattedValue)]
        elif isinstance(node, ast.BinOp):
            more = [node.left, node.right] if isinstance(node.op, ast.Add) else [node.left]
        elif isinstance(node, ast.Dict):
            self._dict(node, program, dashes=True)
        elif isinstance(node, (ast.Name, ast.Attribute)):
            more = list(self._of_variable(node, program))
        elif isinstance(node, ast.Call):
            more = list(self._of_call(node))
        elif isinstance(node, ast.Subscript):
            more = list(self._of_item(node))
        elif isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
            more = [node.elt, *(each.iter for each in node.generators)]
        else:
            more = list(_alternatives(node))
        for each in more:
            self.material(each, program, depth + 1)

    def _pieces(self, node: ast.JoinedStr, program: str) -> None:
        """``f"--tp {n}"``, and ``f"--{key}"`` for the keys of what is looped over."""
        text = ""
        for each in node.values:
            if isinstance(each, ast.Constant):
                text += str(each.value)
                continue
            if text.endswith("--") and isinstance(each, ast.FormattedValue):
                for name in ast.walk(each.value):
                    key = self.flow.key(name) if isinstance(name, ast.Name) else None
                    looped = self.flow.loops.get(key) if key is not None else None
                    if looped is not None:
                        self._keys_of(looped, program)
            text += HOLE
        if "--" in text:
            found = scan_shell(text, node.lineno, node.col_offset + 1, follows=program)
            self.found += [each for each in found if HOLE not in each.name]

    def _keys_of(self, looped: ast.expr, program: str, depth: int = 0) -> None:
        """The keys of a dict that is looped over are flags without their dashes."""
        if depth > 6:
            return
        if isinstance(looped, ast.Dict):
            self._dict(looped, program, dashes=False)
        elif isinstance(looped, ast.Call):
            function = looped.func
            if isinstance(function, ast.Name) and function.id == "dict":
                for keyword in looped.keywords:
                    if keyword.arg:
                        self._flag_of(keyword.arg, keyword.value, keyword, program)
            elif isinstance(function, ast.Attribute):
                self._keys_of(function.value, program, depth + 1)
            for each in looped.args:
                self._keys_of(each, program, depth + 1)
        elif isinstance(looped, (ast.Name, ast.Attribute)):
            key = self.flow.key(looped)
            if key is not None:
                for value in self.flow.values(key):
                    self._keys_of(value, program, depth + 1)
                for name, value in self.flow.items.get(key, ()):
                    if isinstance(name, ast.Constant) and isinstance(name.value, str):
                        self._flag_of(name.value, value, name, program)

    def _dict(self, node: ast.Dict, program: str, *, dashes: bool) -> None:
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                if dashes:
                    self.material(value, program)
                else:
                    self._keys_of(value, program)
                continue
            name = key.value if isinstance(key, ast.Constant) else None
            if isinstance(name, str) and (not dashes or name.startswith("--")):
                self._flag_of(name, value, key, program)

    def _flag_of(self, name: str, value: ast.expr, place: ast.AST, program: str) -> None:
        flag = "--" + name.removeprefix("--").replace("_", "-")
        if not FLAG.match(flag) or not program:
            return
        token = self._token(value)
        given: str | None = token.text
        if isinstance(value, ast.Constant) and (
            value.value is None or isinstance(value.value, bool)
        ):
            given = None  # a switch, as far as can be told
        line, column = getattr(place, "lineno", 1), getattr(place, "col_offset", 0) + 1
        self.found.append(Word(flag, line, column, given if given != "" else HOLE, program))

    def _of_variable(self, node: ast.Name | ast.Attribute, program: str) -> Iterator[ast.expr]:
        key = self.flow.key(node)
        if key is None:
            return
        for value in self.flow.values(key):
            if self.launch(value, quiet=True) is None:
                yield value
        yield from self.flow.added.get(key, ())
        for name, value in self.flow.items.get(key, ()):
            if isinstance(name, ast.Constant) and str(name.value).startswith("--"):
                self._flag_of(str(name.value), value, name, program)
        looped = self.flow.loops.get(key)
        if looped is not None:
            yield looped

    def _of_call(self, node: ast.Call) -> Iterator[ast.expr]:
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name in _PASSING:
            if isinstance(function, ast.Attribute):
                yield function.value
            for each in node.args:
                yield each.value if isinstance(each, ast.Starred) else each
        elif name:
            yield from self.flow.returns.get(name, ())

    def _of_item(self, node: ast.Subscript) -> Iterator[ast.expr]:
        """An element of a dict display: of that key, or any where the key cannot be told."""
        key = (
            self.flow.key(node.value) if isinstance(node.value, (ast.Name, ast.Attribute)) else None
        )
        wanted = node.slice.value if isinstance(node.slice, ast.Constant) else None
        for held in self.flow.values(key) if key is not None else ():
            if isinstance(held, ast.Dict):
                for name, value in zip(held.keys, held.values, strict=True):
                    same = isinstance(name, ast.Constant) and name.value == wanted
                    if wanted is None or same:
                        yield value
        for name, value in self.flow.items.get(key, ()) if key is not None else ():
            if wanted is None or (isinstance(name, ast.Constant) and name.value == wanted):
                yield value

    def _sinks(self) -> None:
        """Arguments handed to what parses them as the server does."""
        parsers = set()
        own: set[str] = set()
        for call in self.flow.calls:
            name = _name_of(call)
            if name == "add_cli_args" and call.args and _owner_of(call) == "ServerArgs":
                parsers.add(_spelled(call.args[0]))
            elif name == "add_argument":
                own.update(str(each.value) for each in call.args if isinstance(each, ast.Constant))
        for call in self.flow.calls:
            name = _name_of(call)
            place = _SINKS.get(name)
            if place is not None:
                if len(call.args) > place:
                    self.material(call.args[place], SERVER)
                for keyword in call.keywords:
                    if keyword.arg in _SINK_KEYWORDS:
                        self.material(keyword.value, SERVER)
                continue
            parses = name in ("parse_args", "parse_known_args") and call.args
            if parses and isinstance(call.func, ast.Attribute):
                if _spelled(call.func.value) not in parsers:
                    continue
                before = len(self.found)
                self.material(call.args[0], SERVER)
                self.found[before:] = [w for w in self.found[before:] if w.name not in own]


def _alternatives(node: ast.expr) -> Iterator[ast.expr]:
    """What an expression may come to, where it is one of several."""
    if isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    elif isinstance(node, ast.BoolOp):
        yield from node.values
    elif isinstance(node, (ast.Starred, ast.Await, ast.NamedExpr, ast.FormattedValue)):
        yield node.value


def _scan(node: ast.expr, text: str) -> list[Word]:
    """The words of a text: of a manifest, or of a shell."""
    if "\n" in text and _MANIFEST.search(text):
        below = node.lineno - 1
        return [msgspec.structs.replace(each, line=each.line + below) for each in yaml_words(text)]
    return scan_shell(text, node.lineno, node.col_offset + 1)


def _after_start(node: ast.JoinedStr, wanted: ast.expr) -> bool:
    """Whether a part of a text stands behind the start of the program."""
    before = ""
    for each in node.values:
        if each is wanted:
            return not MENTION.search(
                "".join(str(e.value) if isinstance(e, ast.Constant) else "$_" for e in node.values)
            ) or bool(MENTION.search(before))
        before += str(each.value) if isinstance(each, ast.Constant) else "$_"
    return False


def _name_of(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _owner_of(call: ast.Call) -> str:
    return (
        _spelled(call.func.value).rpartition(".")[2] if isinstance(call.func, ast.Attribute) else ""
    )


def _spelled(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return f"{_spelled(node.value)}.{node.attr}" if isinstance(node, ast.Attribute) else ""


def _documents(tree: ast.AST) -> set[int]:
    """Docstrings, which speak of commands and run none."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, kinds) and node.body and isinstance(node.body[0], ast.Expr)
    }
