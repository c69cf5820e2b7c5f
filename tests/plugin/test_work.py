"""What is nested deeply is worked out once: the work grows with the text, not with its depth."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest

from sglang_contracts.plugin.ir.nodes import Import
from sglang_contracts.plugin.ir.records import File, UseKind
from sglang_contracts.plugin.walk import assignments, conditions, string_constants
from sglang_contracts.plugin.walk.expressions import EXPRESSIONS
from sglang_contracts.plugin.walk.module import walk_module
from sglang_contracts.plugin.walk.state import Walk
from sglang_contracts.plugin.walk.statements import STATEMENTS

HEAD = """\
import copy, functools, threading
from packaging.version import Version
from sglang.srt.layers.radix_attention import RadixAttention

def plain(x, y):
"""
LINKS = [
    '.get("a", None)', '.pop("a")', '.setdefault("a", [])', '.split("a")', ".append(1)", ".sort()",
    ".submit(f, 1)", '.register("a")("b")', ".copy()", ".child", "[x]", '["a"]', ".release[:2]",
]  # fmt: skip
"""Each is hung on the one before."""
WRAPPERS = [
    ("str(", ")"), ("int(", ")"), ("list(", ")"), ("tuple(", ")"), ("len(", ")"),
    ("copy.copy(", ")"),
    ("Version(", ")"), ("hasattr(", ', "a")'), ("getattr(", ', "a", None)'),
    ("isinstance(", ", int)"),
    ("map(f, ", ")"), ("sorted(", ", key=lambda z: z.a)"), ("max(x, key=", ")"), ("(not ", ")"),
    ("(x and ", ")"), ("(", " or x)"), ("(1 if ", " else 2)"), ("(", " is None)"), ("(x in ", ")"),
    ("(x < ", ")"), ("[x for x in ", "]"), ("{", ": 1 for x in y}"), ("x.get(", ")"),
    ("g(*[", "])"),
    ("g(**dict(a=", "))"), ("threading.Thread(target=f, args=(", ",))"),
    ("functools.partial(f, ", ")"),
    ('"a" in dir(', ")"), ("all(z for z in ", ")"),
]  # fmt: skip
"""Each goes around the one before."""
BODIES = ["q = {}", "if {}:\n        x.b", "return {}", "x.a = {}", "for z in {}:\n        z.a"]
LIMIT = 20_000


def looks(monkeypatch: pytest.MonkeyPatch, text: str) -> int:
    """How many times a walk of a module looks at an expression."""
    count = 0
    expr = Walk.expr

    def counted(self: Walk, node: ast.expr) -> int:
        nonlocal count
        count += 1
        if count > LIMIT:
            pytest.fail(f"more than {LIMIT} looks at\n{text}")
        return expr(self, node)

    tree = ast.parse(HEAD + "    " + text)
    with monkeypatch.context() as patch:
        patch.setattr(Walk, "expr", counted)
        walk_module(File("plugin.py", "plugin"), tree, tuple(ast.walk(tree)), frozenset())
    return count


def nested(before: str, after: str, depth: int) -> str:
    return before * depth + "x" + after * depth


@pytest.mark.parametrize("statement", BODIES)
@pytest.mark.parametrize(("before", "after"), [("", link) for link in LINKS] + WRAPPERS)
def test_work_does_not_double_with_every_level(
    monkeypatch: pytest.MonkeyPatch, before: str, after: str, statement: str
) -> None:
    shallow = looks(monkeypatch, statement.format(nested(before, after, 10)))
    deep = looks(monkeypatch, statement.format(nested(before, after, 20)))
    assert deep <= 4.5 * shallow  # what asks of every level below itself is quadratic, no more


DOUBLED = {
    "an alias of aliases": ("X0 = R", "X{n} = Union[X{m}, List[X{m}]]", "def f(x: X{n}): x.foo"),
    "an alias of pairs": ("X0 = R", "X{n} = Tuple[X{m}, X{m}]", "def f(x: X{n}): x.foo"),
    "a type variable": (
        "X0 = TypeVar('X0', bound=R)",
        "X{n} = TypeVar('X{n}', 'X{m}', 'X{m}')",
        "def f(x: X{n}): x.foo",
    ),
    "a string that is chosen": (
        "k, X0 = 1, 'a'", 'X{n} = f"{{X{m} if k else X{m}}}"', "getattr(R, X{n})"
    ),
}  # fmt: skip
"""Each is made twice of the one before."""


@pytest.mark.parametrize("doubled", DOUBLED)
def test_what_is_made_twice_of_what_was_before_is_looked_through_once(
    doubled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, more, last = DOUBLED[doubled]
    lines = ["from typing import *", "from sglang.srt.layers.radix_attention import R", first]
    lines += [more.format(n=n, m=n - 1) for n in range(1, 31)]
    count = 0

    def counting(name: str) -> None:
        original = getattr(string_constants, name)

        def counted(self: Walk, *args: object) -> object:
            nonlocal count
            count += 1
            if count > LIMIT:
                raise AssertionError(f"more than {LIMIT} looks")
            return original(self, *args)

        monkeypatch.setattr(string_constants, name, counted)

    counting("_annotation")
    counting("texts")
    tree = ast.parse("\n".join([*lines, last.format(n=30)]))
    file = File("plugin.py", "plugin")
    walk_module(file, tree, tuple(ast.walk(tree)), frozenset())
    assert count
    assert max(map(len, map(str, file.nodes))) < LIMIT


def bound(walk: Walk, value: int) -> None:
    walk.bind("x", value)


def assigned(walk: Walk, value: int) -> None:
    assignments.assign(walk, ast.Name("x", ast.Store()), value, None)


def narrowed(walk: Walk, value: int) -> None:
    conditions.narrowed_to(walk, "x", value)


def attribute_narrowed(walk: Walk, value: int) -> None:
    conditions.narrowed_to(walk, "x.a", value)


@pytest.mark.parametrize("change", [bound, assigned, narrowed, attribute_narrowed])
def test_what_was_worked_out_holds_only_while_names_stand_for_the_same(
    change: Callable[[Walk, int], None],
) -> None:
    tree = ast.parse("x.a.b")
    statement = tree.body[0]
    assert isinstance(statement, ast.Expr)
    walk = Walk(
        File("plugin.py", "plugin"),
        tree,
        tuple(ast.walk(tree)),
        frozenset(),
        expressions=EXPRESSIONS,
        statements=STATEMENTS,
    )
    walk.bind("x", walk.nodes.add(Import("sglang.srt.one", "A")))
    before = walk.expr(statement.value)
    assert walk.expr(statement.value) == before
    change(walk, walk.nodes.add(Import("sglang.srt.other", "B")))
    assert walk.expr(statement.value) != before


def test_two_uses_in_one_place_are_both_kept_whatever_they_hash_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sglang_contracts.plugin.walk.state.hash", lambda _: 0, raising=False)
    tree = ast.parse("from sglang.srt.layers.one import A\nA.x - 1\n")
    file = File("plugin.py", "plugin")
    walk_module(file, tree, tuple(ast.walk(tree)), frozenset())
    needs = [each.name for each in file.uses if each.kind is UseKind.NEED]
    assert needs == ["number", "arithmetic"]
