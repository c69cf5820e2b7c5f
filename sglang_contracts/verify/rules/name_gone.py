"""Imported and dotted names: whether a release has them, and where they went."""

from __future__ import annotations

from sglang_contracts.plugin.ir.nodes import Dotted, Found, Import, Node, Not, Unknown
from sglang_contracts.plugin.ir.records import File, Use, UseKind
from sglang_contracts.plugin.walk.except_clauses import IMPORT_ERRORS
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.outcome import OK, UNKNOWN, Outcome, Status
from sglang_contracts.verify.findings.finding import Finding, Severity
from sglang_contracts.verify.rules.case import Case, Judging
from sglang_contracts.verify.rules.cause import Cause, Failure
from sglang_contracts.verify.rules.detection import Detection
from sglang_contracts.verify.rules.rule import ALONE, SAID_BY_ITS_PATCH_OR_OVERRIDE, Edit, Rule
from sglang_contracts.verify.rules.unresolved import OPEN_MODULE

MODULE_REMOVED = Rule(
    id="module-removed",
    what="module {name} is gone",
    early="module {name} is not there yet",
    never="no recorded release has the module {name}",
    fix="import {to}",
    page="name_gone.toml",
    severity=Severity.ERROR,
    role="use",
    absent=True,
    merges_with=ALONE,
    edit=Edit.IMPORT,
    argument=False,
)
SYMBOL_REMOVED = Rule(
    id="symbol-removed",
    what="{name} is gone from {module}",
    early="{name} is not in {module} yet",
    never="no recorded release has {name} in {module}",
    fix="use {to}",
    page="name_gone.toml",
    severity=Severity.ERROR,
    role="use",
    absent=True,
    merges_with=SAID_BY_ITS_PATCH_OR_OVERRIDE,
    edit=Edit.IMPORT,
    argument=False,
)
SYMBOL_MOVED = Rule(
    id="symbol-moved",
    what="{name} is no longer in {module}",
    early="{name} is not in {module} yet",
    fix="import {to}",
    page="name_gone.toml",
    severity=Severity.ERROR,
    role="use",
    absent=True,
    merges_with=ALONE,
    edit=Edit.IMPORT,
    argument=False,
)


def detect_import(state: Detection, index: int, file: File, use: Use) -> Outcome:
    """``from module import name``."""
    node = file.nodes[use.node]
    if type(node) is not Import:
        return UNKNOWN
    module, name = node.module, node.name
    lens = state.lens
    if not lens.covers(module):
        return UNKNOWN
    if not lens.has_module(module):
        symbol = f"{module}:{name}" if name else module
        # ``from package.Class import x`` is no module at all: it never was one
        return Outcome(Status.BROKEN, "module", symbol, name=name, detail="module")
    if not name:
        return OK
    found = lens.find(module, name)
    if found is not None and not state.evaluator.members.dangling(module, name):
        return Outcome(Status.OK, found=(found,))
    owner = Symbol(module, "", "module", lens.module(module))
    if not lens.covers(f"{module}.{name}"):
        return UNKNOWN
    if lens.is_open(owner):
        symbol = f"{module}:{name}"
        return Outcome(Status.UNKNOWN, "unresolved", symbol, name=name, detail=OPEN_MODULE)
    return Outcome(Status.BROKEN, "import", f"{module}:{name}", owner=owner, name=name)


def detect_dotted(state: Detection, index: int, file: File, use: Use) -> Outcome:
    """A dotted string, of which a hook's target is one."""
    node = file.nodes[use.node]
    if type(node) is not Dotted:
        return UNKNOWN
    text = node.text
    head = text.partition(":")[0]
    if not state.lens.covers(head):
        return UNKNOWN
    found = state.evaluator.members.resolve(text)
    if found is not None:
        return Outcome(Status.OK, found=(found,))
    # as far as it leads: beyond a value, or in an open class, nothing can be said
    parts = text.replace(":", ".").split(".")
    for cut in range(len(parts) - 1, 0, -1):
        before = state.lens.parse(".".join(parts[:cut]))
        if before is None:
            continue
        if before.kind not in ("module", "class") or state.lens.is_open(before):
            return UNKNOWN
        if before.kind == "module" and not state.lens.covers(".".join(parts[: cut + 1])):
            return UNKNOWN
        break
    by_name = use.name == "import" and ":" not in text
    return Outcome(
        Status.BROKEN, "module-by-name" if by_name else "attribute", text, name=parts[-1]
    )


def answered(file: File, use: Use) -> bool:
    """Whether the branch that a failed ``find_spec`` leads to does something equivalent."""
    for guard in file.guards[1:]:
        node: Node = file.nodes[guard.condition] if guard.kind == "if" else Unknown()
        positive = guard.positive
        while type(node) is Not:
            node, positive = file.nodes[node.condition], not positive
        if node == Found(use.node) and positive and not guard.way_out:
            return False
    return True


def judge_import(judging: Judging, case: Case) -> Finding:
    """A module or a name of one that is gone: removed or moved."""
    outcome = case.entry.outcome
    good = judging.good(case)
    found = good.found[0] if good.found else None
    module, _, name = outcome.symbol.partition(":")
    suggestion = None
    if name:
        suggestion = judging.instead_of_symbol(case, outcome.symbol, found)
    moved = suggestion is not None and suggestion.evidence == "moved"
    if outcome.what == "module" and suggestion is None:
        suggestion = judging.instead_of_symbol(case, module, None)
        return judging.finding(
            case,
            rule=MODULE_REMOVED,
            symbol=module,
            suggestion=suggestion,
        )
    return judging.finding(
        case,
        rule=SYMBOL_MOVED if moved else SYMBOL_REMOVED,
        symbol=outcome.symbol,
        suggestion=suggestion,
    )


CAUSE = Cause(
    detects={UseKind.IMPORT: detect_import, UseKind.DOTTED: detect_dotted},
    failures=(
        Failure(
            what="module",
            says="module {name} is not there",
            catches=IMPORT_ERRORS,
            judge=judge_import,
        ),
        Failure(
            what="import",
            says="{name} is not in {module}",
            catches=IMPORT_ERRORS,
            judge=judge_import,
        ),
    ),
    rules=(MODULE_REMOVED, SYMBOL_REMOVED, SYMBOL_MOVED),
)
