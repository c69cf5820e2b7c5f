"""Names that no recorded release has: an error where the module is closed, else unknown."""

from __future__ import annotations

from sglang_contracts.plugin.ir.nodes import Attr, Call, Dotted, Import, Partial
from sglang_contracts.plugin.ir.records import File, Use, UseKind
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.outcome import Status
from sglang_contracts.verify.findings.finding import Finding, Unresolved, with_changes
from sglang_contracts.verify.rules import call_form, member_gone, name_gone
from sglang_contracts.verify.rules.case import Case, Judging
from sglang_contracts.verify.rules.unresolved import NEVER_A_MEMBER
from sglang_contracts.verify.silences import reasons


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
    text_alone = use.kind is UseKind.DOTTED and use.name != "import"
    weak = outcome.named or file.foreign or use.kind is UseKind.PROBE or text_alone
    if reasons.NEVER_SEEN.holds(bool(weak)):
        judging.silence(case, reasons.NEVER_SEEN)
        return None
    if outcome.what == "misfit":
        return judge_never_fitted(judging, case)
    if reasons.NOT_ALWAYS_TOLD.holds(not _breaks_everywhere(judging, case)):
        judging.silence(case, reasons.NOT_ALWAYS_TOLD)
        return None
    made: Finding | None = None
    if outcome.what in ("module", "import"):
        if reasons.INSTALLED.holds(_is_installed(judging, case)):
            judging.silence(case, reasons.INSTALLED)
            return None
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
    return None if made is None else _without_dates(made)


def judge_never_fitted(judging: Judging, case: Case) -> Finding | None:
    """What is made of a call that no recorded release takes.

    The function was resolved and its signature is closed: the call raises ``TypeError`` in this
    release, whatever the others do. Nothing is said of a function known by the name of an object
    alone; of a keyword that goes through ``**kwargs``, where a constructor may take it out; and of
    the number of arguments where the function is no name that was imported: whether a method
    handed on is bound is not always told right.
    """
    outcome = case.entry.outcome
    file, use = judging.use(case)
    unknown = outcome.detail == "unknown-keyword" and not _takes(judging, case)
    if reasons.NEVER_FITTED.holds(
        case.entry.reach.caught
        or outcome.detail in ("ignored-keyword", call_form.HANDED_ON)
        or (not unknown and not _is_imported(file, use))
    ):
        judging.silence(case, reasons.NEVER_FITTED)
        return None
    made = call_form.judge_misfit(judging, case)
    return None if made is None else _without_dates(made)


def _without_dates(finding: Finding) -> Finding:
    return with_changes(finding, first_broken=None, last_ok=None, detail="")


def _breaks_everywhere(judging: Judging, case: Case) -> bool:
    """Whether a check breaks in every recorded release that has what it is about, guarded or not.

    A release without the class that lacks it in the others cannot have it either.
    """
    held = judging.never_there.get(case.number)
    if held is None:
        owner = case.entry.outcome.owner
        history = judging.timeline.history(case.number)
        held = all(
            each.outcome.status is Status.BROKEN
            or (
                each.outcome.status is Status.UNKNOWN
                and owner is not None
                and owner.kind == "class"  # a module may be generated, and make its names
                and not _is_there(judging, owner, at)
            )
            for at, each in enumerate(history)
        )
        judging.never_there[case.number] = held
    return held


def _is_there(judging: Judging, owner: Symbol, at: int) -> bool:
    """Whether a release (by index) has a class."""
    surface = judging.catalog.surface(judging.releases[at])
    return surface.find(owner.module, owner.qual) is not None


def _is_installed(judging: Judging, case: Case) -> bool:
    """Whether the plugin puts a module of that name into ``sys.modules`` itself."""
    file, use = judging.use(case)
    node = file.nodes[use.node]
    module = node.module if type(node) is Import else node.text if type(node) is Dotted else ""
    return module in judging.registered


def _is_imported(file: File, use: Use) -> bool:
    """Whether what is called is an imported name, or reached from one by its attributes."""
    called = file.nodes[use.node]
    node = file.nodes[called.callee] if isinstance(called, (Call, Partial)) else called
    while type(node) is Attr:
        node = file.nodes[node.base]
    return type(node) is Import


def _takes(judging: Judging, case: Case) -> bool:
    """Whether a function has a parameter of the name: it is given twice, by position as well."""
    outcome = case.entry.outcome
    if outcome.owner is None:
        return False
    surface = judging.catalog.surface(judging.releases[case.at])
    parameters = judging.replacements.parameters(outcome.owner, surface) or ()
    return any(each.name == outcome.name for each in parameters)
