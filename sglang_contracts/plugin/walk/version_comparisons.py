"""Comparisons with SGLang's own version, however a plugin writes them.

What a version becomes on its way to a comparison (parsed, cut up, counted) is kept step by step:
a release is put in later, and the steps are done on it
(:class:`sglang_contracts.verify.values.constants.Constants`).
"""

from __future__ import annotations

import ast
import re

from sglang_contracts.plugin.ir.records import UNKNOWN
from sglang_contracts.plugin.walk import except_clauses as guards
from sglang_contracts.plugin.walk.name_membership import Membership
from sglang_contracts.plugin.walk.scope import LITERALS

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

LONGEST = 8
"""Parts of a version: of a longer series of numbers each is as good as any other."""
_CHARACTERS = 40
"""Characters of a constant argument that are kept."""


class Versions(Membership):
    """What is said of versions."""

    # -- constants ---------------------------------------------------------------------------------

    def operand(self, node: ast.expr) -> int:
        """A side of a comparison, with the constants in it."""
        match node:
            case ast.Constant(value=bool() | None):
                return self.expr(node)
            case ast.Constant(value=str(text)):
                return self.nodes.add("text", text)
            case ast.Constant(value=int(number)):
                return self.nodes.add("number", number)
            case ast.Tuple(elts=elements) | ast.List(elts=elements) if len(elements) <= LONGEST:
                return self.nodes.add("tuple", *[self.operand(each) for each in elements])
            case ast.Name(id=name):
                held = self.scope.constant(name)
                if isinstance(held, (ast.Constant, ast.Tuple, ast.List)):
                    return self.operand(held)
                return self.expr(node) or self.star(name)
        return self.expr(node)

    def star(self, name: str) -> int:
        """What ``*name`` of the present function takes."""
        function = self.scope.function
        if function >= 0:
            for position, each in enumerate(self.file.functions[function].parameters):
                if each.name == name and each.kind == 2:
                    return self.nodes.add("param", function, position)
        return UNKNOWN

    def argument(self, node: ast.expr) -> int:
        """An argument of a call: a short constant stays what it is."""
        value = self.expr(node)
        constant = self.scope.constant(node.id) if isinstance(node, ast.Name) else node
        if isinstance(constant, ast.Constant):
            text = constant.value
            if (isinstance(text, str) and len(text) <= _CHARACTERS) or (
                isinstance(text, int) and not isinstance(text, bool)
            ):
                return self.operand(constant)
        return value

    # -- what may be a version ---------------------------------------------------------------------

    def is_version(self, index: int, depth: int = 0) -> bool:
        """Whether a value is made of SGLang's version."""
        op, *rest = self.nodes.table[index]
        if op in ("version", "specifier"):
            return True
        if depth > 8:
            return False
        if op in _STEPS:
            return bool(rest[0]) and self.is_version(rest[0], depth + 1)
        if op in ("tuple", "union"):
            return any(self.is_version(each, depth + 1) for each in rest)
        if op in ("select", "tried"):
            return any(self.is_version(each, depth + 1) for each in rest[1:] if each)
        return False

    def may_be_version(self, index: int, depth: int = 0) -> bool:
        """Whether a value that is made elsewhere in the plugin may be one."""
        op, *rest = self.nodes.table[index]
        if op == "own":
            return True
        if op == "call" and self.nodes.op(rest[0]) in ("ownfunc", "own"):
            return True
        if op in _STEPS and depth < 8 and rest[0]:
            if op in ("parse", "ints") and self.nodes.op(rest[0]) == "param":
                return True
            if op == "attr" and self.nodes.op(rest[0]) in ("self", "ownclass"):
                return True
            return self.may_be_version(rest[0], depth + 1)
        return False

    def is_threshold(self, index: int) -> bool:
        """Whether a value is one that versions are compared with."""
        op, *rest = self.nodes.table[index]
        if op == "text":
            return bool(_NUMBERED.match(rest[0]))
        if op == "tuple":
            return len(rest) > 1 and all(self.nodes.op(each) == "number" for each in rest)
        return op in ("parse", "specifier")

    def takes_version(self, form: int) -> bool:
        """Whether a call is given a version or something to compare one with."""
        record = self.file.forms[form]
        values = [*record.positional, *record.keywords.values()]
        if len(values) > 1 and all(self.nodes.op(each) == "number" for each in values):
            return True
        return any(self.is_threshold(each) or self.is_version(each) for each in values)

    # -- comparisons -------------------------------------------------------------------------------

    def compare(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> int:
        """The node of a comparison that may be one of SGLang's version; 0 for any other."""
        sign = _SIGNS.get(type(op), "")
        if not sign:
            return UNKNOWN
        one, other = self.operand(left), self.operand(right)
        if not one or not other:
            return UNKNOWN
        if self.is_version(one) or self.is_version(other):
            return self.nodes.add("compare", sign, one, other)
        ones, others = self.may_be_version(one), self.may_be_version(other)
        if (ones and (others or self.is_threshold(other))) or (others and self.is_threshold(one)):
            return self.nodes.add("compare", sign, one, other)
        return UNKNOWN

    # -- calls -------------------------------------------------------------------------------------

    def version_call(self, node: ast.Call, name: str) -> int:
        """A call that reads SGLang's version, or makes something of it; 0 for any other."""
        if not node.args:
            return UNKNOWN
        with self.silently():
            held = self.nodes.table[self.expr(node.func)]
        reads = name in ("version", "get_distribution", "distribution") or (
            " ".join(map(str, held[:2])) in _METADATA
        )
        if reads and self.texts(node.args[0]) == ["sglang"]:
            return self.nodes.add("version")
        if held[0] not in ("unknown", "foreign"):
            return UNKNOWN
        if name in ("tuple", "list", "map"):
            return self.numbers(node)
        packaging = held[0] == "foreign" and held[1] in _PACKAGING
        step = ""
        if name in _SPECIFIERS or (packaging and held[2] in _SPECIFIERS):
            step = "specifier"
        elif name in _PARSERS or (packaging and held[2] in _PARSERS):
            step = "parse"
        elif name in ("int", "str"):
            step = "int" if name == "int" else ""
            inner = self.operand(node.args[0])
            if self.is_version(inner):
                return self.nodes.add("int", inner) if step else inner
            return UNKNOWN
        if not step:
            return UNKNOWN
        inner = self.operand(node.args[0])
        op = self.nodes.op(inner)
        if op in ("text", "param") or self.is_version(inner) or self.may_be_version(inner):
            return self.nodes.add(step, inner)
        return UNKNOWN

    def numbers(self, node: ast.expr) -> int:
        """``tuple(int(x) for x in v.split(".")[:3])`` and its kin: the numbers of a version."""
        match node:
            case ast.Call(func=ast.Name(id="tuple" | "list"), args=[inner], keywords=[]):
                return self.numbers(inner)
            case ast.Call(func=ast.Name(id="map"), args=[ast.Name(id="int"), source]):
                return self._numbers_in(source)
            case (
                ast.GeneratorExp(elt=ast.Call(func=ast.Name(id="int")), generators=[loop])
                | ast.ListComp(elt=ast.Call(func=ast.Name(id="int")), generators=[loop])
            ):
                return self._numbers_in(loop.iter)
        return UNKNOWN

    def _numbers_in(self, source: ast.expr) -> int:
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
            with self.silently():
                value = self.expr(part)
            if self.nodes.op(value) == "param" or self.is_version(value):
                while self.nodes.op(value) == "attr":  # ``v.split`` is a method of ``v``
                    inner = self.nodes.table[value][1]
                    if not self.is_version(inner) and self.nodes.op(inner) != "param":
                        break
                    value = inner
                return self.nodes.add("ints", value, count)
        return UNKNOWN

    def hangs_on_version(self, condition: int, depth: int = 0) -> bool:
        """Whether a comparison of SGLang's version is part of a condition."""
        op, *rest = self.nodes.table[condition]
        if op == "compare":
            return True
        if op in ("own", "call", "attr"):
            return True
        parts = rest if op in ("and", "or") else rest[:1] if op in ("not", "truth") else []
        return depth < 8 and any(self.hangs_on_version(each, depth + 1) for each in parts if each)

    def version_import(self, module: str, name: str) -> bool:
        """Whether a name of one of SGLang's modules is its version."""
        return name == "__version__" and module in ("sglang", "sglang.version")

    def version_attribute(self, base: int, name: str) -> bool:
        """The same for an attribute."""
        if name != "__version__":
            return False
        held = self.nodes.table[base]
        if held[0] == "import":
            return held[1] in ("sglang", "sglang.version") and held[2] in ("", "version")
        return bool(
            held[0] == "attr"
            and held[2] == "version"
            and tuple(self.nodes.table[held[1]][:2]) == ("import", "sglang")
        )

    def decides(self, call: ast.Call, callee: int) -> bool:
        """Whether the truth of a call of the plugin's own may hang on the release."""
        op = self.nodes.op(callee)
        own = op in ("ownfunc", "own") or (
            op == "attr" and self.nodes.op(self.nodes.table[callee][1]) in ("ownclass", "own")
        )
        if not call.args and not call.keywords:
            return own or op == "attr"
        if not own:
            return False
        if guards.last_name(call.func) in self.askers():
            return True
        with self.silently():
            return self.takes_version(self.form(call))

    def askers(self) -> frozenset[str]:
        """Names of the file's functions that ask whether something is there."""
        if self._askers is None:
            self._askers = frozenset(
                each.name
                for each in self.everything
                if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))
                and any(
                    isinstance(part, ast.Call) and guards.last_name(part.func) in _QUESTIONS
                    for part in ast.walk(each)
                )
            )
        return self._askers
