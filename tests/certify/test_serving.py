"""Level 5 in a certificate."""

import contextlib
import json

import msgspec
import pytest

from sglang_contracts.certify import certificate as certificates
from sglang_contracts.certify import page, plan
from sglang_contracts.certify import run as running
from sglang_contracts.errors import ContractsError
from sglang_contracts.serving import registry
from sglang_contracts.serving.plot import Plot
from sglang_contracts.serving.report import Report
from sglang_contracts.suite.result import Result


def test_the_plan_of_level_5_is_that_of_the_registry():
    own = set(plan.planned(5)) - set(plan.planned(4))
    assert own == {each.id for each in registry.checks()}
    assert {plan.levels()[each] for each in own} == {5}


def test_a_fake_serves_nothing():
    order = running.Order("sglang-kunlun-reference", "fake:0.5.23", level=5)
    with pytest.raises(ContractsError, match="a fake of SGLang serves nothing"):
        running.certify(order)


def a_report():
    plot = Plot("Time", "tokens", "ms", (1.0, 2.0), (3.0, 4.0))
    checks = (Result("soak.flat", 5, "memory stays flat", "pass"),)
    return Report(
        "k",
        1,
        "0.5.23",
        {"url": "http://x"},
        "quick",
        "passed",
        ("soak.flat",),
        (),
        "",
        checks,
        {"long prompt": {"tokens": 4096}},
        {"time": plot},
    )


def test_what_was_measured_and_drawn_stands_in_certificate_and_page(certificate):
    said = running._said_of(a_report())
    assert set(said) == {"server", "measured", "plots"}
    found = certificates.sealed(msgspec.structs.replace(certificate, serving=said))
    json.loads(certificates.canonical(msgspec.to_builtins(found)))
    text = page.render(found)
    assert "<svg" in text
    assert "long prompt" in text
    assert "<svg" not in page.render(certificate)


def test_a_plot_that_somebody_wrote_by_hand_is_left_out(certificate):
    said = {"plots": {"x": {"title": 5}}, "measured": {"a": "<b>"}}
    text = page.render(msgspec.structs.replace(certificate, serving=said))
    assert "<svg" not in text
    assert "<b>" not in text


def test_level_5_is_asked_of_a_server_that_is_started_for_it(monkeypatch, tmp_path):
    """Which checks there are, and what they say, is told elsewhere: here, that they are asked."""
    from sglang_contracts.serving.client import Client
    from sglang_contracts.serving.session import Session

    @contextlib.contextmanager
    def opened(subject, folder):
        session = Session(Client("http://127.0.0.1:9"))
        session._info = {"version": "0.5.23"}
        yield session

    asked, told = [], []
    holds = registry.Check("soak.flat", "memory stays flat", asked.append)
    monkeypatch.setattr("sglang_contracts.serving.plugin.opened", opened)
    monkeypatch.setattr(registry, "checks", lambda: (holds,))
    monkeypatch.setattr(Session, "alive", lambda self: True)
    order = running.Order("p", "installed", level=5, profile="quick")
    telling = running._Telling(lambda done, planned, result: told.append(result.id), 1)
    found = running._serve(order, None, tmp_path, telling)
    assert found.verdict == "passed"
    assert told == ["soak.flat"]
    assert asked[0].extent.context == 4096
