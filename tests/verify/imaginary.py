"""Two neighbouring releases of an imaginary sglang, and plugins that break between them or do not.

``rules/`` holds a folder for each cause (a module of ``sglang_contracts.verify.rules``): in ``old``
and ``new`` the modules of the two releases that it is about (``contracts``: and contracts on them),
in ``fires`` plugins that break in the new one, in ``silent`` those that do not. A plugin's file is
called after the rule that it is about. Causes may each bring a part of the same module.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

CAUSES = Path(__file__).with_name("rules")


class Fixture(NamedTuple):
    """One plugin of one file."""

    cause: str
    rule: str
    name: str
    text: str


def _release(folder: str, version: str) -> dict[str, str]:
    """Path in the package → text; parts of one module that several causes bring are joined."""
    modules = {"__init__.py": f"__version__ = '{version}'\n"}
    for path in sorted(CAUSES.glob(f"*/{folder}/**/*.py")):
        name = path.relative_to(CAUSES).as_posix().split("/", 2)[2]
        modules[name] = modules.get(name, "") + path.read_text(encoding="utf-8")
    return modules


def _fixtures(folder: str) -> tuple[Fixture, ...]:
    return tuple(
        Fixture(path.parts[-3], path.stem.rpartition("-")[0], path.stem, path.read_text("utf-8"))
        for path in sorted(CAUSES.glob(f"*/{folder}/*.py"))
    )


OLD = _release("old", "0.5.1")
NEW = _release("new", "0.5.2")
CONTRACTS = {
    path.stem: path.read_text(encoding="utf-8")
    for path in sorted(CAUSES.glob("*/contracts/*.toml"))
}
FIRES = _fixtures("fires")
"""Each gives the rule that it is called after in 0.5.2, no other, and nothing in 0.5.1."""
SILENT = _fixtures("silent")
"""Nothing is said of these, in neither release."""
