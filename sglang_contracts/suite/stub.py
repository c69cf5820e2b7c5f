"""``new check`` and ``new mutant``: stubs that fail tests until they are filled in."""

from __future__ import annotations

import re
from pathlib import Path

from sglang_contracts import paths
from sglang_contracts.errors import ContractsError
from sglang_contracts.files import write_atomically
from sglang_contracts.suite import registry

MAX_NAME = 50
"""Longest id of a check, and longest name of a mutant: file names are made of them."""
_MUTANT = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_TITLE = "TODO: what must hold, as a sentence without its full stop"

_CHECK = '''\
"""TODO: what this family of checks is about, in one line."""

from __future__ import annotations

from sglang_contracts.suite.context import Context
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.violation import expect


@check(
    "{id}",
    {level},
    "{title}",
    needs=(),
    clauses=(),
    why="TODO: what happens in production where it does not hold.",
)
def _{function}(context: Context) -> None:
    expect(False, "TODO: try the subject of the context")
'''

_MODULE = '''\
"""TODO: the one thing that is wrong with this backend."""

import dataclasses

NAME = "TODO: {name}"
KILLED_BY = "{check}"


def make(reference):
    class Mutant(reference.backend):
        pass  # TODO: the defect

    return dataclasses.replace(reference, backend=Mutant)
'''


def new_check(id: str, level: int, top: Path | None = None) -> tuple[Path, ...]:
    """Write the stub of a check, a mutant that it must kill, and its row in the documentation.

    Args:
        id: ``family.what-must-hold``.
        level: 0 to 4.
        top: The checkout; None: the one that this package runs from.

    Returns:
        The files written: the check's module, the mutant, the documentation.

    Raises:
        ContractsError: No such id, it is there already, or this is no checkout.
    """
    if not registry.is_id(id) or len(id) > MAX_NAME:
        raise ContractsError(
            f"'{id}' is no id for a check",
            f"family.what-must-hold, at most {MAX_NAME} characters",
        )
    if any(each.id == id for each in registry.checks()):
        raise ContractsError(f"there is a check '{id}' already", "ids are never used twice")
    top = top if top is not None else paths.checkout()
    function = id.partition(".")[2].replace("-", "_")
    stem = re.sub(r"[.-]", "_", id)
    module = top / "sglang_contracts" / "suite" / "checks" / f"{stem}.py"
    mutant = top / "tests" / "mutants" / f"not_{function}.py"
    pages = top / "docs" / "certification.md"
    row = _with_row(pages.read_text(encoding="utf-8"), f"| `{id}` | {_TITLE} |  |", level)
    files = {
        module: _CHECK.format(id=id, level=level, title=_TITLE, function=function),
        mutant: _MODULE.format(name=mutant.stem, check=id),
    }
    _write(files)
    write_atomically(pages, row.encode(), "run it in a checkout of the project")
    return (*files, pages)


def new_mutant(name: str, killed_by: str, top: Path | None = None) -> Path:
    """Write the stub of a mutant.

    Args:
        name: The defect in lower-case words with underscores: the module's name.
        killed_by: Id of the check that must catch it.
        top: The checkout; None: the one that this package runs from.

    Raises:
        ContractsError: No such name or check, it is there already, or this is no checkout.
    """
    if not _MUTANT.fullmatch(name) or len(name) > MAX_NAME:
        raise ContractsError(
            f"'{name}' is no name for a mutant",
            f"the defect in lower-case words with underscores, at most {MAX_NAME} characters",
        )
    registry.find(killed_by)
    top = top if top is not None else paths.checkout()
    path = top / "tests" / "mutants" / f"{name}.py"
    _write({path: _MODULE.format(name=name, check=killed_by)})
    return path


def _write(files: dict[Path, str]) -> None:
    for path in files:
        if path.exists():
            raise ContractsError(f"{path.name} is already there", "choose another name")
    for path, text in files.items():
        write_atomically(path, text.encode(), "run it in a checkout of the project")


def _with_row(text: str, row: str, level: int) -> str:
    """The documentation with a row more, last in the table of its level."""
    head, heading, rest = text.partition(f"### Level {level}:")
    lines = rest.split("\n")
    rows = [at for at, line in enumerate(lines) if line.startswith("|")]
    ends = [at for at in rows if not lines[at + 1].startswith("|")]
    if not heading or not ends:
        raise ContractsError(
            "docs/certification.md is not as this command knows it", "enter the check by hand"
        )
    lines.insert(ends[0] + 1, row)
    return head + heading + "\n".join(lines)
