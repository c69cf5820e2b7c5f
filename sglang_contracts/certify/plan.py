"""Which checks a run must hold: read from the text of the suite, not from what a run reports.

Whatever shortens a run (a hook that leaves tests out, an edited results file) would shorten a plan
that the run itself tells. Reading the text imports neither torch nor a check.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

from sglang_contracts import paths


@functools.cache
def levels() -> dict[str, int]:
    """Id → level of every check of this suite, as the registry has them."""
    return {id: level for id, (level, _) in declared().items()}


@functools.cache
def declared() -> dict[str, tuple[int, str]]:
    """Id → level and title of every check of this suite, as the registry has them."""
    found: dict[str, tuple[int, str]] = {}
    for package in ("suite", "serving"):
        for file in sorted((paths.package() / package / "checks").glob("*.py")):
            found.update(_declared(file))
    return found


def planned(level: int) -> tuple[str, ...]:
    """Ids of the checks up to a level, by level, then as they stand in the suite's files."""
    up_to = [(each, id) for id, each in levels().items() if each <= level]
    return tuple(id for _, id in sorted(up_to, key=lambda pair: pair[0]))


def _declared(file: Path) -> Iterator[tuple[str, tuple[int, str]]]:
    """Id, level and title in each ``@check("family.what-must-hold", level, ...)`` of a file."""
    for node in ast.parse(file.read_bytes()).body:
        if not isinstance(node, ast.FunctionDef):
            continue
        for each in node.decorator_list:
            if (
                isinstance(each, ast.Call)
                and isinstance(each.func, ast.Name)
                and each.func.id == "check"
            ):
                id, level, title = (ast.literal_eval(argument) for argument in each.args[:3])
                yield id, (level, title)
