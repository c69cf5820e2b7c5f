"""Command-line flags, as ``add_argument`` registers them or a field's annotation declares them."""

from __future__ import annotations

import ast
import re

from sglang_contracts.surface import expression
from sglang_contracts.surface.model import Flag

TEXT_LIMIT = 160


def annotated_flag(node: ast.AnnAssign) -> Flag | None:
    """The flag that a field ``name: A[T, "help"]`` or ``A[T, Arg(…)]`` makes; None without one."""
    assert isinstance(node.annotation, ast.Subscript)
    assert isinstance(node.annotation.slice, ast.Tuple)
    assert isinstance(node.target, ast.Name)
    name = node.target.id
    inner, *metadata = node.annotation.slice.elts
    for each in metadata:
        if isinstance(each, ast.Call) and expression.text(each.func) == "Arg":
            written = {keyword.arg: keyword.value for keyword in each.keywords if keyword.arg}
            break
        if isinstance(each, (ast.Constant, ast.JoinedStr, ast.BinOp)):
            written = {"help": each}
            break
    else:
        return None
    if expression.text(written.get("no_cli")) == "True":
        return None
    spelling = literal(written["cli_name"]) if "cli_name" in written else ""
    aliases = written.get("aliases")
    names = [spelling or "--" + name.replace("_", "-")]
    if isinstance(aliases, (ast.List, ast.Tuple)):
        names += [literal(alias) for alias in aliases.elts]
    _derived(expression.text(inner), written)
    if node.value is None and "required" not in written and "positional" not in written:
        written["required"] = ast.Constant(True)
    return _flag(tuple(names), name, written)


def registered_flag(node: ast.Call) -> Flag:
    """The flag that a call of ``add_argument`` registers."""
    names = tuple(
        argument.value
        for argument in node.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    )
    return _flag(names, "", {each.arg: each.value for each in node.keywords if each.arg})


def _without_none(annotation: str) -> str:
    """``X`` of ``Optional[X]``, ``Union[X, None]`` and ``X | None``."""
    for opening, end in (("Optional[", "]"), ("Union[", ", None]")):
        if annotation.startswith(opening) and annotation.endswith(end):
            return annotation[len(opening) : -len(end)]
    return annotation.removesuffix(" | None")


def _derived(annotation: str, written: dict[str, ast.expr]) -> None:
    """What SGLang makes of a field's annotation where nothing else is written."""
    if "action" in written:
        return
    if "type_parser" in written:
        written.setdefault("type", written["type_parser"])
    one = _without_none(annotation)
    literals = re.search(r"Literal\[([^\]]*)\]", one)
    items = re.fullmatch(r"(?:typing\.)?[Ll]ist(?:\[(.*)\])?", one)
    if literals:
        kind = literals.group(1)
        if "choices" not in written:
            written["choices"] = ast.parse(f"[{kind}]", mode="eval").body
        one = "str" if kind[:1] in "'\"" else "int"
    elif items and "type" not in written:
        one = items.group(1) or "str"
        written.setdefault("nargs", ast.Constant("+"))
    elif one == "bool":
        written["action"] = ast.Constant("store_true")
        return
    if "type" not in written and one in ("int", "float"):
        written["type"] = ast.Name(one)


def _flag(names: tuple[str, ...], dest: str, written: dict[str, ast.expr]) -> Flag:
    help_text = literal(written["help"]) if "help" in written else ""
    action = expression.text(written.get("action"), TEXT_LIMIT).strip("'")
    new_flag = literal(written["new_flag"]) if "new_flag" in written else ""
    error = literal(written["error_message"]) if "error_message" in written else ""
    deprecated = ""
    if "eprecated" in action or "eprecated" in help_text[:200] or new_flag or error:
        deprecated = (new_flag or error or help_text or "deprecated")[:TEXT_LIMIT]
    long_names = [each for each in names if each.startswith("--")] or list(names)
    if "dest" in written:
        dest = literal(written["dest"])
    return Flag(
        names=names,
        dest=dest or long_names[0].lstrip("-").replace("-", "_"),
        choices=expression.text(written.get("choices"), 1000),
        action=action,
        type=expression.text(written.get("type"), TEXT_LIMIT),
        nargs=expression.text(written.get("nargs")).strip("'"),
        required=expression.text(written.get("required")) == "True",
        deprecated=deprecated,
        refused=bool(error),
    )


def literal(node: ast.AST) -> str:
    """The literal parts of a string expression, joined in order."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    return "".join(literal(child) for child in ast.iter_child_nodes(node))
