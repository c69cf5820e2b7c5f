"""``new rule NAME``: a cause with its module, page, fixtures and line in the registry."""

from __future__ import annotations

import re
from pathlib import Path

from sglang_contracts import paths
from sglang_contracts.errors import ContractsError
from sglang_contracts.files import write_atomically
from sglang_contracts.verify.rules.clause_rules import CLAUSE_RULES
from sglang_contracts.verify.rules.registry import RULES

MAX_NAME = 30
"""Longest id of a new rule: lines of its module are made of it."""
_NAME = re.compile(r"[a-z]+(-[a-z]+)+")

_MODULE = '''\
"""TODO: what a release does to a plugin, in one line."""

from __future__ import annotations

from sglang_contracts.plugin.ir.records import File, Use, UseKind
from sglang_contracts.verify.answers.outcome import UNKNOWN, Outcome
from sglang_contracts.verify.findings.finding import Finding, Severity
from sglang_contracts.verify.rules.case import Case, Judging
from sglang_contracts.verify.rules.cause import NOTHING, Cause, Failure
from sglang_contracts.verify.rules.detection import Detection
from sglang_contracts.verify.rules.rule import ALONE, Edit, Rule

{constant} = Rule(
    id="{name}",
    what="TODO: what has happened to {{name}}",
    fix="use {{to}}",
    page="{cause}.toml",
    severity=Severity.ERROR,
    role="use",
    absent=False,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=False,
)


def detect(state: Detection, index: int, file: File, use: Use) -> Outcome:
    """TODO: how a use fares in the present release; UNKNOWN passes it on to the next cause."""
    return UNKNOWN


def judge(judging: Judging, case: Case) -> Finding | None:
    """TODO: the finding; None where history says that it is none."""
    outcome = case.entry.outcome
    if case.last_ok is None:
        return None
    return judging.finding(case, rule={constant}, symbol=outcome.symbol)


CAUSE = Cause(
    detects={{UseKind.CALL: detect}},
    failures=(
        Failure(
            what="{name}",
            says="TODO: what happens to {{name}}, in a few words",
            catches=NOTHING,
            judge=judge,
        ),
    ),
    rules=({constant},),
)
'''

_PAGE = """\
# What `sglang-contracts explain RULE` prints: one table a rule of the module beside this file.
# `broken` is code that the rule reports, `fixed` the same with the fix.

[{name}]
title = "TODO: what has happened, in one line"
why = "TODO: what the plugin's user sees, and where"
broken = "TODO: code that the rule reports"
fixed = "TODO: the same code with the fix"
fix = "TODO: what to do"
"""

_OLD = """\
# TODO: the module as it was
def thing():
    return 1
"""

_NEW = """\
# TODO: the module as it is in the release that breaks the plugin
def thing():
    return 1
"""

_FIRES = """\
# TODO: a plugin that works with old/ and not with new/
from sglang.srt.{cause} import thing

thing()
"""

_SILENT = """\
# TODO: the plugin mended, or what only looks like it
from sglang.srt.{cause} import thing

thing()
"""


def new_rule(name: str, checkout: Path | None = None) -> tuple[Path, ...]:
    """Write the stubs of a cause with one rule, and enter it in the registry.

    The tests of rules fail until the stubs are filled in.

    Args:
        name: The rule's id: two or more lower-case words with hyphens.
        checkout: The project's top folder; None: the one that this package runs from.

    Returns:
        The files written: module, page, fixtures; last the registry, which has a new line.

    Raises:
        ContractsError: No such name, it is there already, or this is no checkout.
    """
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME:
        raise ContractsError(
            f"'{name}' is no name for a rule",
            f"lower-case words with hyphens, at most {MAX_NAME} characters: thing-removed",
        )
    top = paths.checkout() if checkout is None else checkout
    rules, tests = top / "sglang_contracts" / "verify" / "rules", top / "tests" / "verify" / "rules"
    registry = rules / "registry.py"
    if not registry.is_file() or not tests.is_dir():
        raise ContractsError(
            f"{top} is no checkout of sglang-contracts", "rules are part of the tool's source"
        )
    cause = name.replace("-", "_")
    words = {"name": name, "cause": cause, "constant": cause.upper()}
    fixtures = tests / cause
    files = {
        rules / f"{cause}.py": _MODULE.format(**words),
        rules / f"{cause}.toml": _PAGE.format(**words),
        fixtures / "old" / "srt" / f"{cause}.py": _OLD,
        fixtures / "new" / "srt" / f"{cause}.py": _NEW,
        fixtures / "fires" / f"{name}-01.py": _FIRES.format(**words),
        fixtures / "silent" / f"{name}-01.py": _SILENT.format(**words),
    }
    if name in {**RULES, **CLAUSE_RULES} or any(path.exists() for path in files):
        raise ContractsError(f"there is a rule '{name}' already", "choose another name")
    entered = _entered(registry.read_text(encoding="utf-8"), cause)
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text.encode(), "run it in a checkout of the project")
    write_atomically(registry, entered.encode(), "run it in a checkout of the project")
    return (*files, registry)


def _entered(registry: str, cause: str) -> str:
    """The registry with one more cause, last in the order."""
    head, order, rest = registry.partition("ORDER = (\n")
    causes, end, tail = rest.partition(")\n")
    if not (order and end):
        raise ContractsError("registry.py is not as this command knows it", "enter it by hand")
    return f'{head}{order}{causes}    "{cause}",\n{end}{tail}'
