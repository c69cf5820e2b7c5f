"""One pass over a module's syntax tree: what flows where, and which uses that makes.

It is a small abstract interpreter over symbolic values (:mod:`sglang_contracts.plugin.ir.records`).
Statements are walked in order; branches are walked apart and joined by a node that keeps the
condition, so that a release decides later which branch it takes. Function bodies are walked when
the module's own names are all known. Nothing is executed and nothing upstream is looked at.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from sglang_contracts.plugin.ir.nodes import UNKNOWN, Foreign, Import, Literal, NamesOf
from sglang_contracts.plugin.ir.records import File
from sglang_contracts.plugin.walk import definitions, import_candidates, named_by_variables
from sglang_contracts.plugin.walk.expressions import EXPRESSIONS
from sglang_contracts.plugin.walk.state import Walk
from sglang_contracts.plugin.walk.statements import STATEMENTS


def walk_module(
    file: File, tree: ast.Module, everything: Sequence[ast.AST], own_modules: frozenset[str]
) -> None:
    """Walk a module, then every function body in it, and fill its record.

    Args:
        file: The record to fill.
        tree: The module.
        everything: Every node of the tree.
        own_modules: Dotted names of the plugin's modules.
    """
    walk = Walk(file, tree, everything, own_modules, expressions=EXPRESSIONS, statements=STATEMENTS)
    for node in everything:
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                walk.docs.add(id(value))
    walk.block(tree.body)
    module_names = dict(walk.scope.names)
    while walk.pending:
        scope, guard, node, index = walk.pending.pop(0)
        walk.scope, walk.guard, walk.loops = scope, guard, []
        definitions.function_body(walk, node, index)
    named_by_variables.finish(walk)
    import_candidates.mark_alternatives(file, everything, walk.groups)
    file.nodes = walk.nodes.table
    file.names = module_names
    file.searches = _searches(walk)
    mentioned: set[str] = set().union(*walk.mentioned.values())
    file.mentions = {index: sorted(names) for index, names in walk.mentioned.items()}
    file.mentions[-1] = sorted(mentioned)
    file.tested = sorted(walk.tested - {UNKNOWN})
    file.strings = sorted(walk.strings)
    file.defines = sorted(walk.defined)
    # ``…/vllm/args.py`` is that engine's, whether or not it imports it itself
    folders = set(file.path.split("/")[:-1])
    engines = walk.frameworks | (folders & {*definitions.OTHER_FRAMEWORKS, "sglang"})
    file.foreign = bool(engines - {"sglang"}) and "sglang" not in engines


def _searches(walk: Walk) -> bool:
    """Whether a module finds parts of SGLang by names that are computed.

    It imports modules so, goes over ``sys.modules`` or over the names of one of SGLang's modules,
    and SGLang is named in it at all.
    """
    nodes = walk.nodes.table
    named = any(text.startswith("sglang") for text in walk.strings)
    imported = any(
        type(node) is Import and node.module.partition(".")[0] == "sglang" for node in nodes
    )
    if not named and not imported:
        return False
    return walk.file.searches or any(
        (type(node) is NamesOf and type(nodes[node.base]) is Import)
        or node in (Literal("sys.modules"), Foreign("sys", "modules"))
        for node in nodes
    )
