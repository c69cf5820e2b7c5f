"""Names that no recorded release has: an error where the module is closed, else unknown."""

from __future__ import annotations

from sglang_contracts.plugin.ir.nodes import Dotted, Import
from sglang_contracts.plugin.ir.records import UseKind
from sglang_contracts.verify.answers.outcome import Status
from sglang_contracts.verify.findings.finding import Finding, Unresolved, with_changes
from sglang_contracts.verify.rules import member_gone, name_gone
from sglang_contracts.verify.rules.case import Case, Judging
from sglang_contracts.verify.rules.unresolved import NEVER_A_MEMBER


def judge_never_recorded(judging: Judging, case: Case) -> Finding | Unresolved | None:
    """What is made of a use that breaks in the whole recorded history.

    An import, a hook's target and an attribute of a module die in every recorded release. An
    attribute of an object may be set while the plugin runs: of that nothing can be said. What goes
    by a name alone, is only asked for, or is made by the plugin itself, says nothing.

    Returns:
        A finding without dates, something unresolved, or None.
    """
    if case.check.kind != "use":
        return None
    file, use = judging.use(case)
    outcome = case.entry.outcome
    if outcome.named or file.foreign or use.kind is UseKind.PROBE:
        return None
    if not _breaks_everywhere(judging, case.number):
        return None
    made: Finding | None = None
    if outcome.what in ("module", "import"):
        if not _is_installed(judging, case):
            made = name_gone.judge_import(judging, case)
    elif outcome.what in ("attribute", "hook"):
        of_module = outcome.owner is not None and outcome.owner.kind == "module"
        imported = use.kind is UseKind.DOTTED and use.name == "import"
        if use.kind is UseKind.HOOK or imported or (use.kind is UseKind.READ and of_module):
            made = member_gone.judge_attribute(judging, case)
        elif (
            use.kind is UseKind.READ and outcome.detail == "object" and not case.entry.reach.caught
        ):
            return Unresolved(NEVER_A_MEMBER, outcome.symbol, judging.location(case)[0])
    return None if made is None else with_changes(made, first_broken=None, last_ok=None, detail="")


def _breaks_everywhere(judging: Judging, number: int) -> bool:
    """Whether a check breaks in every recorded release, guarded or not."""
    held = judging.never_there.get(number)
    if held is None:
        history = judging.timeline.history(number)
        held = all(each.outcome.status is Status.BROKEN for each in history)
        judging.never_there[number] = held
    return held


def _is_installed(judging: Judging, case: Case) -> bool:
    """Whether the plugin puts a module of that name into ``sys.modules`` itself."""
    file, use = judging.use(case)
    node = file.nodes[use.node]
    module = node.module if type(node) is Import else node.text if type(node) is Dotted else ""
    return module in judging.registered
