"""Comparisons with SGLang's own version, however a plugin writes them.

What a version becomes on its way to a comparison (parsed, cut up, counted) is kept step by step:
a release is put in later, and the steps are done on it
(:class:`sglang_contracts.verify.values.constants.Constants`).
"""

from __future__ import annotations

import ast
import re

from sglang_contracts.plugin.ir.nodes import (
    UNKNOWN,
    And,
    Attr,
    Call,
    Compare,
    Foreign,
    Import,
    Item,
    Literal,
    LocalClass,
    LocalFunction,
    Node,
    Not,
    Number,
    OneOf,
    Or,
    Param,
    ParsedInt,
    ParsedSpecifier,
    ParsedVersion,
    PluginName,
    Probe,
    Select,
    Self,
    SglangVersion,
    Slice,
    Text,
    Tried,
    Truth,
    TupleOf,
    Unknown,
    Unpack,
    VersionNumbers,
)
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
        "importlib.metadata.version",
        "importlib_metadata.version",
        "pkg_resources.get_distribution",
    }
)
_FURTHEST = 8
"""Steps that are followed from a value to the version it is made of."""
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


def _source(held: Node) -> int:
    """What a value is made of in one step; 0 for one that is made of nothing, or of several."""
    if isinstance(held, (Attr, Slice, Unpack, Item)):
        return held.base
    if isinstance(held, (ParsedVersion, ParsedSpecifier, VersionNumbers, ParsedInt)):
        return held.text
    if type(held) is Call:
        return held.callee
    return held.value if type(held) is Probe else UNKNOWN


def is_version(walk: Walk, index: int, depth: int = 0) -> bool:
    """Whether a value is made of SGLang's version."""
    held = walk.nodes.table[index]
    if type(held) is SglangVersion or type(held) is ParsedSpecifier:
        return True
    if depth > _FURTHEST:
        return False
    source = _source(held)
    if source:
        return is_version(walk, source, depth + 1)
    parts: tuple[int, ...] = ()
    if type(held) is TupleOf:
        parts = held.elements
    elif type(held) is OneOf:
        parts = held.values
    elif type(held) is Select:
        parts = (held.then, held.otherwise)
    elif type(held) is Tried:
        parts = (held.body, held.handler)
    return any(is_version(walk, each, depth + 1) for each in parts if each)


def may_be_version(walk: Walk, index: int, depth: int = 0) -> bool:
    """Whether a value that is made elsewhere in the plugin may be one."""
    held = walk.nodes.table[index]
    if type(held) is PluginName:
        return True
    source = _source(held)
    if not source:
        return False
    inner = walk.nodes.table[source]
    if type(held) is Call and isinstance(inner, (LocalFunction, PluginName)):
        return True
    if depth >= _FURTHEST:
        return False
    if isinstance(held, (ParsedVersion, VersionNumbers)) and type(inner) is Param:
        return True
    if type(held) is Attr and isinstance(inner, (Self, LocalClass)):
        return True
    return may_be_version(walk, source, depth + 1)


def is_threshold(walk: Walk, index: int) -> bool:
    """Whether a value is one that versions are compared with."""
    held = walk.nodes.table[index]
    if type(held) is Text:
        return bool(_NUMBERED.match(held.text))
    if type(held) is TupleOf:
        return len(held.elements) > 1 and all(
            type(walk.nodes.table[each]) is Number for each in held.elements
        )
    return isinstance(held, (ParsedVersion, ParsedSpecifier))


def takes_version(walk: Walk, form: int) -> bool:
    """Whether a call is given a version or something to compare one with."""
    record = walk.file.forms[form]
    values = [*record.positional, *record.keywords.values()]
    if len(values) > 1 and all(type(walk.nodes.table[each]) is Number for each in values):
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
        return walk.nodes.add(Compare(sign, one, other))
    ones, others = may_be_version(walk, one), may_be_version(walk, other)
    if (ones and (others or is_threshold(walk, other))) or (others and is_threshold(walk, one)):
        return walk.nodes.add(Compare(sign, one, other))
    return UNKNOWN


def version_call(walk: Walk, node: ast.Call, name: str) -> int:
    """A call that reads SGLang's version, or makes something of it; 0 for any other."""
    if not node.args:
        return UNKNOWN
    with walk.silently():
        held = walk.nodes.table[walk.expr(node.func)]
    reads = name in ("version", "get_distribution", "distribution") or (
        type(held) is Literal and held.kind in _METADATA
    )
    if reads and string_constants.texts(walk, node.args[0]) == ["sglang"]:
        return walk.nodes.add(SglangVersion())
    if not isinstance(held, (Unknown, Foreign)):
        return UNKNOWN
    if name in ("tuple", "list", "map"):
        return numbers(walk, node)
    if name in ("int", "str"):
        inner = operands.operand(walk, node.args[0])
        if not is_version(walk, inner):
            return UNKNOWN
        return walk.nodes.add(ParsedInt(inner)) if name == "int" else inner
    called = held.name if type(held) is Foreign and held.module in _PACKAGING else ""
    step: type[ParsedSpecifier] | type[ParsedVersion]
    if name in _SPECIFIERS or called in _SPECIFIERS:
        step = ParsedSpecifier
    elif name in _PARSERS or called in _PARSERS:
        step = ParsedVersion
    else:
        return UNKNOWN
    inner = operands.operand(walk, node.args[0])
    if (
        isinstance(walk.nodes.table[inner], (Text, Param))
        or is_version(walk, inner)
        or may_be_version(walk, inner)
    ):
        return walk.nodes.add(step(inner))
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
        held = walk.nodes.table[value]
        if type(held) is Param or is_version(walk, value):
            while type(held) is Attr:  # ``v.split`` is a method of ``v``
                inner = walk.nodes.table[held.base]
                if not is_version(walk, held.base) and type(inner) is not Param:
                    break
                value, held = held.base, inner
            return walk.nodes.add(VersionNumbers(value, count))
    return UNKNOWN


def hangs_on_version(walk: Walk, condition: int, depth: int = 0) -> bool:
    """Whether a comparison of SGLang's version is part of a condition."""
    held = walk.nodes.table[condition]
    if isinstance(held, (Compare, PluginName, Call, Attr)):
        return True
    parts: tuple[int, ...] = ()
    if isinstance(held, (And, Or)):
        parts = held.conditions
    elif type(held) is Not:
        parts = (held.condition,)
    elif type(held) is Truth:
        parts = (held.value,)
    return depth < _FURTHEST and any(
        hangs_on_version(walk, each, depth + 1) for each in parts if each
    )


def version_import(walk: Walk, module: str, name: str) -> bool:
    """Whether a name of one of SGLang's modules is its version."""
    return name == "__version__" and module in ("sglang", "sglang.version")


def version_attribute(walk: Walk, base: int, name: str) -> bool:
    """The same for an attribute."""
    if name != "__version__":
        return False
    held = walk.nodes.table[base]
    if type(held) is Import:
        return held.module in ("sglang", "sglang.version") and held.name in ("", "version")
    if type(held) is not Attr or held.name != "version":
        return False
    module = walk.nodes.table[held.base]
    return type(module) is Import and module.module == "sglang"


def decides(walk: Walk, call: ast.Call, callee: int) -> bool:
    """Whether the truth of a call of the plugin's own may hang on the release."""
    held = walk.nodes.table[callee]
    own = isinstance(held, (LocalFunction, PluginName)) or (
        type(held) is Attr and isinstance(walk.nodes.table[held.base], (LocalClass, PluginName))
    )
    if not call.args and not call.keywords:
        return own or type(held) is Attr
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
