"""Names that are patched in a module where nobody looks them up any more.

``module.name = own`` reaches who calls ``name`` in that module, and who imports it from there
later. Where the definition moved and the module only hands the name on, or where a class has
captured it when it was made, the patch is set and changes nothing.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from sglang_contracts.plugin.ir.nodes import Attr, Dotted
from sglang_contracts.plugin.ir.records import File, Use, UseKind
from sglang_contracts.surface.model import Module
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.lens import Lens
from sglang_contracts.verify.answers.outcome import UNKNOWN, Outcome, Status
from sglang_contracts.verify.findings.finding import Finding, Severity, Suggestion
from sglang_contracts.verify.rules.case import Case, Judging
from sglang_contracts.verify.rules.cause import NOTHING, Cause, Failure
from sglang_contracts.verify.rules.detection import Detection
from sglang_contracts.verify.rules.rule import ALONE, Edit, Rule
from sglang_contracts.verify.silences import reasons
from sglang_contracts.verify.values.test_modules import is_test
from sglang_contracts.verify.values.value import ModuleRef

PATCH_UNREACHED = Rule(
    id="patch-unreached",
    what="nothing in SGLang looks up {name} in {module} any more: a patch there changes nothing",
    fix="patch {to}",
    otherwise="patch it where it is used",
    page="patch_unreached.toml",
    severity=Severity.ERROR,
    role="patch",
    absent=False,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=False,
)
MOVED, CAPTURED = "moved", "captured"
EVIDENCE = {MOVED: "re-export", CAPTURED: "upstream-body"}


class Unreached(NamedTuple):
    """Why a patch of a module's name changes nothing."""

    how: str
    """:data:`MOVED`: the module only hands it on. :data:`CAPTURED`: a class took it when made."""
    where: str
    """What to patch instead, ``module:Qual.name``."""
    modules: frozenset[str]
    """Modules in which the name is looked up."""


def detect_unreached(state: Detection, index: int, file: File, use: Use) -> Outcome:
    """Whether anybody looks up what is patched where it is patched."""
    place = _patched(state, index, file, use)
    if place is None:
        return UNKNOWN
    module, name = place
    found = state.lens.once(
        ("unreached", module, name), lambda: _unreached(state.lens, module, name)
    )
    if found is None:
        return UNKNOWN
    outcome = Outcome(
        Status.BROKEN,
        "unreached",
        f"{module}:{name}",
        owner=Symbol(module, "", "module", state.lens.module(module)),
        name=name,
        detail=found.how,
        new=found.where,
    )
    if reasons.PATCHED_WHERE_READ.holds(_also_patched(state, module, name, found)):
        return outcome.silenced(reasons.PATCHED_WHERE_READ.id)
    return outcome


def _patched(state: Detection, index: int, file: File, use: Use) -> tuple[str, str] | None:
    """The module and the name in it that a use sets; None where it sets something else.

    SGLang's own hooks are no such use: they put what they wrap into all modules that hold it.
    """
    node = file.nodes[use.node]
    if use.kind is UseKind.WRITE and type(node) is Attr:
        held = state.evaluator.value(index, node.base).alternatives
        if len(held) == 1 and type(held[0]) is ModuleRef:
            return held[0].name, node.name
    elif use.kind is UseKind.HOOK and use.count and type(node) is Dotted:
        module, _, name = node.text.replace(":", ".").rpartition(".")
        if state.lens.covers(module) and state.lens.module(module) is not None:
            return module, name
    return None


def _unreached(lens: Lens, module: str, name: str) -> Unreached | None:
    record = lens.module(module)
    if record is None:
        return None
    elsewhere: set[str] = set()
    for caller, call in lens.callers(name):
        other = lens.module(caller)
        if other is None or is_test(caller):
            continue
        if _through(other, caller, call.receiver, module, name):
            return None
        if not call.receiver and (
            name in other.imports or name in other.functions or name in other.classes
        ):
            elsewhere.add(caller)
    captured = _captured(record, module, name)
    if captured:
        return Unreached(CAPTURED, captured, frozenset(elsewhere))
    bound = record.imports.get(name)
    if bound is None or bound.local or not elsewhere:
        return None
    found = lens.find(module, name)
    if found is None or found.module == module or found.kind not in ("function", "class"):
        return None
    if not _ever_defined(lens, module, name):
        return None  # it was handed on all along: who used it, and how, is not recorded
    return Unreached(MOVED, found.name, frozenset(elsewhere | {found.module}))


def _through(other: Module, caller: str, receiver: str, module: str, name: str) -> bool:
    """Whether a call in a module looks its function up in the patched one."""
    if not receiver:
        bound = other.imports.get(name)
        return caller == module or (
            bound is not None and (bound.module, bound.name) == (module, name)
        )
    held = other.imports.get(receiver)
    if held is None:
        return False
    return module == (f"{held.module}.{held.name}" if held.name else held.module)


def _captured(record: Module, module: str, name: str) -> str:
    """The class attribute that keeps what a module's name was when the class was made."""
    written = re.compile(rf"(?:(?:static|class)method\()?{re.escape(name)}\)?")
    for qual, owner in record.classes.items():
        for attribute, held in owner.attributes.items():
            if not held.on_self and written.fullmatch(held.value):
                return f"{module}:{qual}.{attribute}"
    return ""


def _ever_defined(lens: Lens, module: str, name: str) -> bool:
    """Whether a recorded release defines a name in the very module that hands it on now."""
    catalog = lens.catalog
    return any(catalog.surface(each).own(module, name) for each in catalog.releases)


def _also_patched(state: Detection, module: str, name: str, found: Unreached) -> bool:
    """Whether the plugin patches it where it is looked up as well."""
    if found.how == CAPTURED:
        name = found.where.rpartition(".")[2]
    for file, node, _ in state.assigned.get(name, ()):
        target = state.files[file].nodes[node]
        if type(target) is not Attr:
            continue
        for each in state.evaluator.value(file, target.base).alternatives:
            if type(each) is not ModuleRef or each.name in found.modules:
                return True
    return any(
        use.kind is UseKind.HOOK
        and type(held := file.nodes[use.node]) is Dotted
        and held.text.replace(":", ".").rpartition(".")[2] == name
        and held.text.replace(":", ".").rpartition(".")[0] != module
        for file in state.files
        for use in file.uses
    )


def judge_unreached(judging: Judging, case: Case) -> Finding | None:
    """A patch that reached who called it, and reaches nobody now."""
    outcome = case.entry.outcome
    if case.last_ok is None or not outcome.new:
        return None
    sure = outcome.detail == MOVED  # the module may still use it without a call of its name
    return judging.finding(
        case,
        rule=PATCH_UNREACHED,
        severity=judging.severity(case, Severity.ERROR if sure else Severity.WARNING),
        symbol=outcome.symbol,
        suggestion=Suggestion(outcome.new, EVIDENCE[outcome.detail]),
    )


CAUSE = Cause(
    detects={UseKind.WRITE: detect_unreached, UseKind.HOOK: detect_unreached},
    failures=(
        Failure(
            what="unreached",
            says="nothing looks up {name} in {module}",
            catches=NOTHING,
            judge=judge_unreached,
        ),
    ),
    rules=(PATCH_UNREACHED,),
)
