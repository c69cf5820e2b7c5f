"""Imported and dotted names: whether a release has them, and where they went."""

from __future__ import annotations

from sglang_contracts.plugin.ir.nodes import Found, Import, Node, Not, Unknown
from sglang_contracts.plugin.ir.records import File, Use
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.outcome import OK, UNKNOWN, Outcome, Status
from sglang_contracts.verify.findings.finding import Finding
from sglang_contracts.verify.rules.case import Case, Judging
from sglang_contracts.verify.rules.detection import Detection


def detect_import(state: Detection, node: Node) -> Outcome:
    """``from module import name``."""
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
    if not lens.covers(f"{module}.{name}") or lens.is_open(owner):
        return UNKNOWN
    return Outcome(Status.BROKEN, "import", f"{module}:{name}", owner=owner, name=name)


def detect_dotted(state: Detection, text: str) -> Outcome:
    """A dotted string."""
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
    return Outcome(Status.BROKEN, "attribute", text, name=parts[-1])


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


def judge_import(judging: Judging, case: Case, use: Use) -> Finding:
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
            rule="module-removed",
            severity=judging.severity(case),
            symbol=module,
            locations=judging.location(case),
            suggestion=suggestion,
        )
    return judging.finding(
        case,
        rule="symbol-moved" if moved else "symbol-removed",
        severity=judging.severity(case),
        symbol=outcome.symbol,
        locations=judging.location(case),
        suggestion=suggestion,
    )
