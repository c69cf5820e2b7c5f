"""The suite as pytest sees it: one test for each check, by level.

The tests know no check by name: :mod:`~sglang_contracts.suite.pytest_plugin` gives each the
registry's checks of its level.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from sglang_contracts.errors import ContractsError
from sglang_contracts.suite.capabilities import Capabilities, parse
from sglang_contracts.suite.collected import Collected, collected
from sglang_contracts.suite.engine import run_check
from sglang_contracts.suite.pytest_plugin import EXAMPLE, is_check
from sglang_contracts.suite.registry import Check
from sglang_contracts.suite.served import filled
from sglang_contracts.suite.session import (
    Session,
    load_plugin,
    stand_in,
    start_sglang,
    with_parts,
)
from sglang_contracts.suite.subject import Subject


def _option(config: pytest.Config, name: str, default: Any) -> Any:
    value = config.getoption(name, default=None)
    return default if value in (None, "") else value


def _session(request: pytest.FixtureRequest) -> Session:
    """The plugin under test and the SGLang it is tested against.

    From ``--sglang-plugin NAME``, or from the fixtures ``sglang_backend`` and
    ``sglang_capabilities`` of the test module.
    """
    try:
        return _started(request)
    except ContractsError as error:
        collected(request.config).stop(error.message, error.hint)
        raise


def _started(request: pytest.FixtureRequest) -> Session:
    config = request.config
    name = _option(config, "--sglang-plugin", "")
    place = _option(config, "--sglang-config", "")
    wanted = str(_option(config, "--sglang", "installed"))
    file = Path(place) if place else None
    subject = load_plugin(name, file) if name else _from_fixtures(request)
    stand_in(subject)
    release, kind = start_sglang(wanted)
    collected(config).look_before_the_plugin()
    subject = with_parts(filled(subject, release), sglang=kind, config=place)
    session = Session(subject, release, kind)
    mutant = _option(config, "--sglang-mutant", "")
    if mutant:
        session = session.mutated(Path(mutant))
    collected(config).session = session
    return session


sglang_session = pytest.fixture(scope="session", name="sglang_session")(_session)
"""The fixture: the plugin under test and the SGLang it is tested against."""


def _from_fixtures(request: pytest.FixtureRequest) -> Subject:
    try:
        declared = request.getfixturevalue("sglang_capabilities")
    except pytest.FixtureLookupError:
        raise pytest.UsageError(
            "nothing to test: give --sglang-plugin NAME, or define the fixtures "
            "sglang_backend and sglang_capabilities"
        ) from None
    capabilities = declared if isinstance(declared, Capabilities) else parse(declared)
    tests = next(item.path for item in request.session.items if is_check(item))
    subject = Subject(name=tests.name, capabilities=capabilities, parts={"tests": tests})
    try:
        backend = request.getfixturevalue("sglang_backend")
    except pytest.FixtureLookupError:
        return subject
    if isinstance(backend, Subject):
        backend = with_parts(backend, tests=tests)
        return dataclasses.replace(backend, capabilities=capabilities)
    return dataclasses.replace(subject, make_backend=backend)


def _run(check: Check, session: Session, request: pytest.FixtureRequest) -> None:
    found: Collected = collected(request.config)
    profile = str(_option(request.config, "--sglang-profile", "quick"))
    seed = int(_option(request.config, "--sglang-seed", 0))
    context = session.context(profile, seed)
    context.used = found.used
    context.example = getattr(request.config, EXAMPLE, None)
    token = found.begin(check.id)
    result = run_check(check, context, session.subject.settings.expected_failures)
    found.add(result, token)
    if result.outcome == "skip":
        pytest.skip(result.reason)
    if result.outcome == "expected":
        pytest.xfail(result.reason)
    if result.outcome in ("fail", "error"):
        text = result.message
        if result.reproduction:
            text += f"\n\nreproduce:\n{result.reproduction}"
        pytest.fail(text, pytrace=False)


def test_level_0(
    sglang_check: Check, sglang_session: Session, request: pytest.FixtureRequest
) -> None:
    """Static: every use resolves in this release."""
    _run(sglang_check, sglang_session, request)


def test_level_1(
    sglang_check: Check, sglang_session: Session, request: pytest.FixtureRequest
) -> None:
    """Load: entry points, platform, required hooks, registered names."""
    _run(sglang_check, sglang_session, request)


def test_level_2(
    sglang_check: Check, sglang_session: Session, request: pytest.FixtureRequest
) -> None:
    """Interface: shapes, dtypes, devices, key/value calls."""
    _run(sglang_check, sglang_session, request)


def test_level_3(
    sglang_check: Check, sglang_session: Session, request: pytest.FixtureRequest
) -> None:
    """Meaning: equals an oracle, and nothing else changes."""
    _run(sglang_check, sglang_session, request)


def test_level_4(
    sglang_check: Check, sglang_session: Session, request: pytest.FixtureRequest
) -> None:
    """Discipline: transfers, allocations, kernels, log."""
    _run(sglang_check, sglang_session, request)


def test_mutant_is_killed(sglang_mutant: Path, sglang_session: Session) -> None:
    """With ``--mutants DIR``: the check that a mutant names fails it, by its own assertion."""
    from sglang_contracts.suite.mutants import score

    found = score(sglang_mutant, sglang_session)
    if found.verdict == "skipped":
        pytest.skip(found.detail)
    assert found.verdict == "killed", f"{found.verdict}: {found.mutant.name}: {found.detail}"


def test_planned_checks_ran(request: pytest.FixtureRequest) -> None:
    """What was selected has run: a shortfall is a failure, not a smaller green."""
    if hasattr(request.config, "workerinput"):
        pytest.skip("this worker runs a part of the plan: the controller counts")
    missing = collected(request.config).shortfall()
    assert not missing, f"{len(missing)} planned checks did not run: {', '.join(missing)}"
