"""pytest's options for the suite, and its summary. Loaded in every session: imports little."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

EXAMPLE = "_sglang_contracts_example"
"""Attribute of pytest's config: the one example that a reproduction runs its check on."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The suite's options."""
    group = parser.getgroup("sglang-contracts", "conformance suite for SGLang plugins")
    group.addoption(
        "--sglang-plugin", metavar="DIST", help="installed distribution to run the suite on"
    )
    group.addoption(
        "--sglang",
        metavar="V",
        help="SGLang to test against: installed, a version that must be installed, or fake:V",
    )
    group.addoption("--sglang-config", metavar="FILE", help="the plugin's settings file")
    group.addoption(
        "--sglang-profile",
        choices=["quick", "full"],
        default=None,
        help="how much is tried [default: quick]",
    )
    group.addoption("--sglang-level", type=int, metavar="N", help="highest level to run [4]")
    group.addoption("--sglang-seed", type=int, metavar="N", help="seed of the drawn examples [0]")
    group.addoption("--sglang-mutant", metavar="FILE", help="seed this mutant's defect first")
    group.addoption(
        "--mutants", metavar="DIR", help="run these mutants instead: each must be killed"
    )
    group.addoption(
        "--sglang-results", metavar="FILE", help="append each result to this file as a JSON line"
    )
    group.addoption(
        "--sglang-checks",
        metavar="FILE",
        help="run only the checks whose ids stand in this file, one a line",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test for each check of a level, and for each mutant of ``--mutants DIR``."""
    if "sglang_check" in metafunc.fixturenames:
        from sglang_contracts.suite.registry import checks

        level = metafunc.function.__name__.rpartition("_")[2]
        found = [check for check in checks() if str(check.level) == level]
        metafunc.parametrize("sglang_check", found, ids=[check.id for check in found])
    if "sglang_mutant" not in metafunc.fixturenames:
        return
    folder = metafunc.config.getoption("--mutants")
    files: tuple[Path, ...] = ()
    if folder:
        from sglang_contracts.suite.mutants import mutant_files

        files = mutant_files(Path(folder))
    metafunc.parametrize("sglang_mutant", files, ids=[path.stem for path in files])


def is_check(item: Any) -> bool:
    """Whether a test is one of the suite's checks."""
    return hasattr(_check_of(item), "level")


def _checks_of(items: list[Any]) -> list[Any]:
    return [item for item in items if is_check(item)]


def _check_of(item: Any) -> Any:
    return getattr(getattr(item, "callspec", None), "params", {}).get("sglang_check")


def pytest_collection_modifyitems(config: pytest.Config, items: list[Any]) -> None:
    """Leave out what is above the level asked for, and run the count of the plan last."""
    if config.getoption("--mutants"):
        kept = [i for i in items if getattr(i, "originalname", "") == "test_mutant_is_killed"]
        config.hook.pytest_deselected(items=[i for i in items if i not in kept])
        items[:] = kept
        return
    items[:] = [i for i in items if getattr(i, "originalname", "") != "test_mutant_is_killed"]
    found = _checks_of(items)
    if not found:
        return
    level, listed = config.getoption("--sglang-level"), config.getoption("--sglang-checks")
    kept = found if level is None else [i for i in found if _check_of(i).level <= level]
    if listed:
        wanted = set(Path(listed).read_text(encoding="utf-8").split())
        kept = [item for item in kept if _check_of(item).id in wanted]
    chosen = {id(item) for item in kept}
    out = [item for item in found if id(item) not in chosen]
    if out:
        config.hook.pytest_deselected(items=out)
        gone = {id(item) for item in out}
        items[:] = [item for item in items if id(item) not in gone]
    last = [i for i in items if i.name == "test_planned_checks_ran"]
    items[:] = [i for i in items if i.name != "test_planned_checks_ran"] + last


def pytest_collection_finish(session: pytest.Session) -> None:
    """Book what is planned, after every ``-k``, ``-m`` and node id has been applied."""
    found, path = _checks_of(session.items), session.config.getoption("--sglang-results")
    from sglang_contracts.suite.collected import KEY, collected

    # No session of ours; but a share of few checks may be empty.
    if not found and not path and getattr(session.config, KEY, None) is None:
        return
    book = collected(session.config)
    book.stream = Path(path) if path else None
    book.plan([_check_of(item).id for item in found])


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write what was exercised; under xdist, a worker reports and the controller counts."""
    from sglang_contracts.suite.collected import KEY

    book = getattr(session.config, KEY, None)
    if book is None:
        return
    book.finish()
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["sglang_contracts"] = {"planned": book.planned, "ran": list(book.results)}
    elif book.shortfall() and not session.config.option.collectonly:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)  # type: ignore[untyped-decorator]  # of pytest-xdist
def pytest_testnodedown(node: Any, error: Any) -> None:
    """Add up what the workers planned and ran."""
    told = getattr(node, "workeroutput", {}).get("sglang_contracts")
    if told is None:
        return
    from sglang_contracts.suite.collected import collected

    book = collected(node.config)
    book.planned = list(dict.fromkeys([*book.planned, *told["planned"]]))
    book.elsewhere.update(told["ran"])


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say what was planned, what ran, and what was not exercised."""
    from sglang_contracts.suite.collected import KEY

    book = getattr(terminalreporter.config, KEY, None)
    if book is None or not book.planned:
        return
    missing = book.shortfall()
    if missing and (book.results or book.elsewhere):
        terminalreporter.section("sglang-contracts")
        terminalreporter.line(f"{len(missing)} planned checks did not run: {', '.join(missing)}")
    if book.session is None:
        return
    from sglang_contracts.suite.verdict import unexercised

    subject = book.session.subject
    terminalreporter.section("sglang-contracts")
    kind = "fake " if book.session.kind == "fake" else ""
    terminalreporter.line(
        f"{subject.name} {subject.version} on {kind}SGLang {book.session.release}: "
        f"{len(book.results)} of {len(book.planned)} planned checks ran"
    )
    for sentence in unexercised(subject.capabilities, book.used):
        terminalreporter.line(f"not exercised: {sentence}")
