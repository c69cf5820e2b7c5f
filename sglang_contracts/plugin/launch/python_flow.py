"""Where lists and texts of a Python module come from and go to, as far as launch commands need it.

A module is looked at only where it names a program of SGLang's. Names are those of a function or of
the module; attributes are told apart by their name alone.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence

Key = tuple[int, str]
"""A variable: the function it belongs to (0: the module; -1: an attribute) and its name."""
_ATTRIBUTE = -1
_ADDS = {"append": 0, "extend": 0, "insert": 1, "appendleft": 0, "add": 0}
"""Methods that add to a list, and which of their arguments is added."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Flow:
    """What each variable is given, what functions return and are called with."""

    def __init__(self, tree: ast.AST) -> None:
        self.given: dict[Key, list[ast.expr]] = defaultdict(list)
        """What a variable is set to."""
        self.added: dict[Key, list[ast.expr]] = defaultdict(list)
        """What is added to a variable."""
        self.items: dict[Key, list[tuple[ast.expr, ast.expr]]] = defaultdict(list)
        """What is set in a variable by ``name[key] = value``."""
        self.returns: dict[str, list[ast.expr]] = defaultdict(list)
        self.calls: list[ast.Call] = []
        self.parameters: dict[Key, tuple[str, int]] = {}
        """A parameter → its function, and its position there (without ``self``)."""
        self.loops: dict[Key, ast.expr] = {}
        """A variable of a loop → what is looped over."""
        self.keys: dict[int, Key] = {}
        """Each name and attribute in the tree (by id) → the variable it is."""
        self.statements: list[ast.expr] = []
        """Every expression that may be a launch, outermost first."""
        self._pieces: set[int] = set()
        self._bound: dict[int, set[str]] = {}
        self._visit(tree, (0,), "")

    def key(self, node: ast.expr) -> Key | None:
        """The variable that a name or attribute is."""
        return self.keys.get(id(node))

    def _visit(self, node: ast.AST, scopes: tuple[int, ...], function: str) -> None:
        stack: list[tuple[ast.AST, tuple[int, ...], str]] = [(node, scopes, function)]
        while stack:
            here, scopes, function = stack.pop()
            if isinstance(here, _FUNCTIONS):
                scopes = (*scopes, id(here))
                name = getattr(here, "name", "")
                function = name or function
                self._bound[id(here)] = _bound_in(here)
                for position, argument in enumerate(_positional(here.args)):
                    self.parameters[(id(here), argument.arg)] = (name, position)
                for argument in here.args.kwonlyargs:
                    self.parameters[(id(here), argument.arg)] = (name, -1)
                star = here.args.vararg
                if star is not None:
                    self.parameters[(id(here), star.arg)] = (name, -2)
                for argument, default in _defaults(here.args):
                    self.given[(id(here), argument.arg)].append(default)
                if isinstance(here, ast.Lambda):
                    self.statements.append(here.body)
            self._note(here, scopes, function)
            children = list(ast.iter_child_nodes(here))
            stack += [(child, scopes, function) for child in reversed(children)]

    def _note(self, node: ast.AST, scopes: tuple[int, ...], function: str) -> None:
        if isinstance(node, (ast.Name, ast.Attribute)):
            self.keys[id(node)] = self._key(node, scopes)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self._give(target, node.value, scopes)
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
            if node.value is not None:
                self._give(node.target, node.value, scopes)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, (ast.Name, ast.Attribute)):
            self.added[self._key(node.target, scopes)].append(node.value)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            for each in ast.walk(node.target):
                if isinstance(each, ast.Name):
                    self.loops[self._key(each, scopes)] = node.iter
        elif isinstance(node, ast.Return) and node.value is not None and function:
            self.returns[function].append(node.value)
        elif isinstance(node, ast.Call):
            self.calls.append(node)
            self._call(node, scopes)
        if isinstance(node, ast.JoinedStr):
            self._pieces.update(id(each) for each in node.values)
        kinds = (ast.List, ast.Tuple, ast.BinOp, ast.JoinedStr, ast.Constant, ast.Call)
        if isinstance(node, kinds) and id(node) not in self._pieces:
            self.statements.append(node)

    def _call(self, node: ast.Call, scopes: tuple[int, ...]) -> None:
        function = node.func
        if not isinstance(function, ast.Attribute):
            return
        place = _ADDS.get(function.attr)
        if place is not None and len(node.args) > place:
            holder = function.value
            if isinstance(holder, (ast.Name, ast.Attribute)):
                self.added[self._key(holder, scopes)].append(node.args[place])

    def _give(self, target: ast.expr, value: ast.expr, scopes: tuple[int, ...]) -> None:
        if isinstance(target, (ast.Name, ast.Attribute)):
            self.given[self._key(target, scopes)].append(value)
        elif isinstance(target, ast.Subscript) and isinstance(
            target.value, (ast.Name, ast.Attribute)
        ):
            self.items[self._key(target.value, scopes)].append((target.slice, value))
            return
        displays = (ast.Tuple, ast.List)
        if isinstance(target, displays) and isinstance(value, displays):
            for one, other in zip(target.elts, value.elts, strict=False):
                self._give(one, other, scopes)

    def _key(self, node: ast.Name | ast.Attribute, scopes: Sequence[int]) -> Key:
        if isinstance(node, ast.Attribute):
            return (_ATTRIBUTE, node.attr)
        for scope in reversed(scopes):
            if scope and node.id in self._bound.get(scope, ()):
                return (scope, node.id)
        return (0, node.id)

    def values(self, key: Key) -> Iterator[ast.expr]:
        """All that a variable is set to; of a parameter what calls give it."""
        yield from self.given.get(key, ())
        if key[0] == _ATTRIBUTE:  # of a class's body
            yield from self.given.get((0, key[1]), ())
        parameter = self.parameters.get(key)
        if parameter is None or not parameter[0]:
            return
        function, position = parameter
        for call in self.calls:
            if _called(call.func) != function:
                continue
            for keyword in call.keywords:
                if keyword.arg == key[1]:
                    yield keyword.value
            if 0 <= position < len(call.args) and not isinstance(call.args[position], ast.Starred):
                yield call.args[position]
            elif position == -2 and call.args:
                yield ast.Tuple(list(call.args), ast.Load())


def _called(function: ast.expr) -> str:
    """The last name of what is called."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _positional(arguments: ast.arguments) -> list[ast.arg]:
    found = [*arguments.posonlyargs, *arguments.args]
    return found[1:] if found and found[0].arg in ("self", "cls") else found


def _defaults(arguments: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr]]:
    positional = [*arguments.posonlyargs, *arguments.args]
    if arguments.defaults:
        yield from zip(positional[-len(arguments.defaults) :], arguments.defaults, strict=True)
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            yield argument, default


def _bound_in(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    """Names that are a function's own: its parameters, and what it binds."""
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
    names = {each.arg for each in every}
    stack: list[ast.AST] = [] if isinstance(function, ast.Lambda) else list(function.body)
    while stack:
        node = stack.pop()
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            continue
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            names -= set(node.names)
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        stack += list(ast.iter_child_nodes(node))
    return names
