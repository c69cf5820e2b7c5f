"""Comparisons with SGLang's own version, however a plugin writes them.

What a version becomes on its way to a comparison (parsed, cut up, counted) is kept step by step:
a release is put in later, and the steps are done on it
(:class:`sglang_contracts.verify.values.constants.Constants`).
"""

from __future__ import annotations

import ast
import re

from sglang_contracts.plugin.ir.records import UNKNOWN
from sglang_contracts.plugin.walk import call_arguments, operands, string_constants
from sglang_contracts.plugin.walk import except_clauses as guards
from sglang_contracts.plugin.walk.scope import LITERALS
from sglang_contracts.plugin.walk.state import Walk

_NUMBERED = re.compile(r"v?\d+(?:\.\d+)+(?:[.+-]?[a-z]+\.?\d*)*\Z")
_PARSERS = frozenset(
    {"parse", "Version", "parse_version", "LooseVersion", "StrictVersion", "LegacyVersion"}
)
_QUESTIONS = frozenset({"hasattr", "signature", "getfullargspec", "find_spec", "dir", "vars"})
"""Calls that ask whether something is there."""
_SPECIFIERS = frozenset({"SpecifierSet", "Specifier"})
_PACKAGING = frozenset({"packaging.version", "packaging.specifiers", "pkg_resources"})
_METADATA = frozenset(
    {
        "literal importlib.metadata.version",
        "literal importlib_metadata.version",
        "literal pkg_resources.get_distribution",
    }
)
_SIGNS = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.In: "in",
    ast.NotIn: "not in",
}
_STEPS = frozenset(
    {"parse", "specifier", "ints", "int", "attr", "call", "slice", "unpack", "item", "probe"}
)
"""Operations whose value is made of their first argument's."""


def is_version(walk: Walk, index: int, depth: int = 0) -> bool:
    """Whether a value is made of SGLang's version."""
    op, *rest = walk.nodes.table[index]
    if op in ("version", "specifier"):
        return True
    if depth > 8:
        return False
    if op in _STEPS:
        return bool(rest[0]) and is_version(walk, rest[0], depth + 1)
    if op in ("tuple", "union"):
        return any(is_version(walk, each, depth + 1) for each in rest)
    if op in ("select", "tried"):
        return any(is_version(walk, each, depth + 1) for each in rest[1:] if each)
    return False


def may_be_version(walk: Walk, index: int, depth: int = 0) -> bool:
    """Whether a value that is made elsewhere in the plugin may be one."""
    op, *rest = walk.nodes.table[index]
    if op == "own":
        return True
    if op == "call" and walk.nodes.op(rest[0]) in ("ownfunc", "own"):
        return True
    if op in _STEPS and depth < 8 and rest[0]:
        if op in ("parse", "ints") and walk.nodes.op(rest[0]) == "param":
            return True
        if op == "attr" and walk.nodes.op(rest[0]) in ("self", "ownclass"):
            return True
        return may_be_version(walk, rest[0], depth + 1)
    return False


def is_threshold(walk: Walk, index: int) -> bool:
    """Whether a value is one that versions are compared with."""
    op, *rest = walk.nodes.table[index]
    if op == "text":
        return bool(_NUMBERED.match(rest[0]))
    if op == "tuple":
        return len(rest) > 1 and all(walk.nodes.op(each) == "number" for each in rest)
    return op in ("parse", "specifier")


def takes_version(walk: Walk, form: int) -> bool:
    """Whether a call is given a version or something to compare one with."""
    record = walk.file.forms[form]
    values = [*record.positional, *record.keywords.values()]
    if len(values) > 1 and all(walk.nodes.op(each) == "number" for each in values):
        return True
    return any(is_threshold(walk, each) or is_version(walk, each) for each in values)


def compare(walk: Walk, left: ast.expr, op: ast.cmpop, right: ast.expr) -> int:
    """The node of a comparison that may be one of SGLang's version; 0 for any other."""
    sign = _SIGNS.get(type(op), "")
    if not sign:
        return UNKNOWN
    one, other = operands.operand(walk, left), operands.operand(walk, right)
    if not one or not other:
        return UNKNOWN
    if is_version(walk, one) or is_version(walk, other):
        return walk.nodes.add("compare", sign, one, other)
    ones, others = may_be_version(walk, one), may_be_version(walk, other)
    if (ones and (others or is_threshold(walk, other))) or (others and is_threshold(walk, one)):
        return walk.nodes.add("compare", sign, one, other)
    return UNKNOWN


def version_call(walk: Walk, node: ast.Call, name: str) -> int:
    """A call that reads SGLang's version, or makes something of it; 0 for any other."""
    if not node.args:
        return UNKNOWN
    with walk.silently():
        held = walk.nodes.table[walk.expr(node.func)]
    reads = name in ("version", "get_distribution", "distribution") or (
        " ".join(map(str, held[:2])) in _METADATA
    )
    if reads and string_constants.texts(walk, node.args[0]) == ["sglang"]:
        return walk.nodes.add("version")
    if held[0] not in ("unknown", "foreign"):
        return UNKNOWN
    if name in ("tuple", "list", "map"):
        return numbers(walk, node)
    packaging = held[0] == "foreign" and held[1] in _PACKAGING
    step = ""
    if name in _SPECIFIERS or (packaging and held[2] in _SPECIFIERS):
        step = "specifier"
    elif name in _PARSERS or (packaging and held[2] in _PARSERS):
        step = "parse"
    elif name in ("int", "str"):
        step = "int" if name == "int" else ""
        inner = operands.operand(walk, node.args[0])
        if is_version(walk, inner):
            return walk.nodes.add("int", inner) if step else inner
        return UNKNOWN
    if not step:
        return UNKNOWN
    inner = operands.operand(walk, node.args[0])
    op = walk.nodes.op(inner)
    if op in ("text", "param") or is_version(walk, inner) or may_be_version(walk, inner):
        return walk.nodes.add(step, inner)
    return UNKNOWN


def numbers(walk: Walk, node: ast.expr) -> int:
    """``tuple(int(x) for x in v.split(".")[:3])`` and its kin: the numbers of a version."""
    match node:
        case ast.Call(func=ast.Name(id="tuple" | "list"), args=[inner], keywords=[]):
            return numbers(walk, inner)
        case ast.Call(func=ast.Name(id="map"), args=[ast.Name(id="int"), source]):
            return _numbers_in(walk, source)
        case (
            ast.GeneratorExp(elt=ast.Call(func=ast.Name(id="int")), generators=[loop])
            | ast.ListComp(elt=ast.Call(func=ast.Name(id="int")), generators=[loop])
        ):
            return _numbers_in(walk, loop.iter)
    return UNKNOWN


def _numbers_in(walk: Walk, source: ast.expr) -> int:
    count = 0
    if isinstance(source, ast.Subscript) and isinstance(source.slice, ast.Slice):
        cut = source.slice
        if cut.lower is not None or cut.step is not None:
            return UNKNOWN
        if not isinstance(cut.upper, ast.Constant) or not isinstance(cut.upper.value, int):
            return UNKNOWN
        count, source = int(cut.upper.value), source.value
    for part in ast.walk(source):
        if not isinstance(part, (ast.Name, ast.Attribute)):
            continue
        if isinstance(part, ast.Name) and part.id in LITERALS:
            continue
        with walk.silently():
            value = walk.expr(part)
        if walk.nodes.op(value) == "param" or is_version(walk, value):
            while walk.nodes.op(value) == "attr":  # ``v.split`` is a method of ``v``
                inner = walk.nodes.table[value][1]
                if not is_version(walk, inner) and walk.nodes.op(inner) != "param":
                    break
                value = inner
            return walk.nodes.add("ints", value, count)
    return UNKNOWN


def hangs_on_version(walk: Walk, condition: int, depth: int = 0) -> bool:
    """Whether a comparison of SGLang's version is part of a condition."""
    op, *rest = walk.nodes.table[condition]
    if op == "compare":
        return True
    if op in ("own", "call", "attr"):
        return True
    parts = rest if op in ("and", "or") else rest[:1] if op in ("not", "truth") else []
    return depth < 8 and any(hangs_on_version(walk, each, depth + 1) for each in parts if each)


def version_import(walk: Walk, module: str, name: str) -> bool:
    """Whether a name of one of SGLang's modules is its version."""
    return name == "__version__" and module in ("sglang", "sglang.version")


def version_attribute(walk: Walk, base: int, name: str) -> bool:
    """The same for an attribute."""
    if name != "__version__":
        return False
    held = walk.nodes.table[base]
    if held[0] == "import":
        return held[1] in ("sglang", "sglang.version") and held[2] in ("", "version")
    return bool(
        held[0] == "attr"
        and held[2] == "version"
        and tuple(walk.nodes.table[held[1]][:2]) == ("import", "sglang")
    )


def decides(walk: Walk, call: ast.Call, callee: int) -> bool:
    """Whether the truth of a call of the plugin's own may hang on the release."""
    op = walk.nodes.op(callee)
    own = op in ("ownfunc", "own") or (
        op == "attr" and walk.nodes.op(walk.nodes.table[callee][1]) in ("ownclass", "own")
    )
    if not call.args and not call.keywords:
        return own or op == "attr"
    if not own:
        return False
    if guards.last_name(call.func) in askers(walk):
        return True
    with walk.silently():
        return takes_version(walk, call_arguments.form(walk, call))


def askers(walk: Walk) -> frozenset[str]:
    """Names of the file's functions that ask whether something is there."""
    if walk._askers is None:
        walk._askers = frozenset(
            each.name
            for each in walk.everything
            if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))
            and any(
                isinstance(part, ast.Call) and guards.last_name(part.func) in _QUESTIONS
                for part in ast.walk(each)
            )
        )
    return walk._askers
