"""Everything that a printed snippet needs: ``from sglang_contracts.suite.reproduce import *``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sglang_contracts.errors import ContractsError
from sglang_contracts.suite.checks.allocator import Run
from sglang_contracts.suite.engine import run_check
from sglang_contracts.suite.registry import find
from sglang_contracts.suite.script import Cell, Script, Turn
from sglang_contracts.suite.session import open_session
from sglang_contracts.suite.violation import SubjectError, Violation

if TYPE_CHECKING:
    from sglang_contracts.suite.result import Result

__all__ = ["Cell", "Run", "Script", "Turn", "reproduce"]


def reproduce(
    check: str,
    *,
    sglang: str,
    plugin: str = "",
    tests: str = "",
    example: Any = None,
    mutant: str = "",
    config: str = "",
) -> None:
    """Run one check on one example.

    Args:
        check: Its id.
        sglang: ``fake:V``, or the version of the SGLang that must be installed.
        plugin: Name of the installed distribution.
        tests: Or the test file whose fixtures ``sglang_backend`` and ``sglang_capabilities`` make
            what is tested.
        example: What the check is run on; None: on everything, as in the suite.
        mutant: File of a mutant to apply first.
        config: Settings file of the plugin.

    Raises:
        Violation: It fails, by its own assertion.
        SubjectError: The backend raised.
        ContractsError: It cannot be run here.
    """
    chosen = find(check)
    result: Result
    if tests:
        result = _with_fixtures(check, Path(tests), sglang, example)
    else:
        session = open_session(plugin, sglang, config=Path(config) if config else None)
        if mutant:
            session = session.mutated(Path(mutant))
        context = session.context("full")
        context.example = example
        result = run_check(chosen, context)
    if result.outcome == "fail":
        if result.crash:
            raise SubjectError(f"{check}: {result.message}", RuntimeError("see above"))
        raise Violation(f"{check}: {result.message}")
    if result.outcome != "pass":
        raise ContractsError(f"{check}: {result.outcome}: {result.reason or result.message}")
    print(f"{check} passes on this example")


class _Only:
    """A pytest plugin that runs one check on one example."""

    def __init__(self, check: str, example: Any) -> None:
        self.check, self.example = check, example
        self.config: Any = None

    def pytest_configure(self, config: Any) -> None:
        from sglang_contracts.suite.pytest_plugin import EXAMPLE

        self.config = config
        setattr(config, EXAMPLE, self.example)

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        from sglang_contracts.suite.pytest_plugin import is_check

        items[:] = [
            item
            for item in items
            if is_check(item) and item.callspec.params["sglang_check"].id == self.check
        ]


def _with_fixtures(check: str, tests: Path, sglang: str, example: Any) -> Result:
    """Run a check through pytest: only it knows how a test file's fixtures are made."""
    import contextlib
    import io

    import pytest

    from sglang_contracts.suite import pytest_plugin
    from sglang_contracts.suite.collected import collected

    if not tests.is_file():
        raise ContractsError(f"there is no test file {tests}")
    only, said = _Only(check, example), io.StringIO()
    plugins: list[Any] = [only]
    arguments = ["-q", "-p", "no:cacheprovider", "--import-mode=importlib", str(tests)]
    if os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
        plugins.append(pytest_plugin)
    with contextlib.redirect_stdout(said):
        pytest.main([*arguments, "--sglang", sglang], plugins=plugins)
    found = collected(only.config).results.get(check)
    if found is None:
        raise ContractsError(f"{check} did not run in {tests.name}", said.getvalue()[-2000:])
    return found
