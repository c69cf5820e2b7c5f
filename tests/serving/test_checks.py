"""Each check holds on a server without faults, and each fault is found by the check that fits."""

import msgspec
import pytest

from sglang_contracts.serving import registry, run_file
from sglang_contracts.serving.client import Prompt
from sglang_contracts.serving.run import run

SLOW = ("latency", "soak")
"""Families that time what they ask: tested on what a client reports, in modules of their own."""


def outcomes(session, *only):
    ran = run(session, registry.chosen(only))
    return {each.id: each for each in ran.results}


def test_all_hold_on_a_server_without_faults(open_session):
    session = open_session()
    session.expected = run_file.record(session.client, "tiny", "itself")
    families = [each for each in registry.ORDER if each not in SLOW]
    found = outcomes(session, *families)
    wrong = {id: each.message for id, each in found.items() if each.outcome == "fail"}
    assert wrong == {}
    skipped = {id: each.reason for id, each in found.items() if each.outcome == "skip"}
    assert skipped == {
        "concurrency.equal-without-overlap": (
            "another server is started only where this one was started here"
        )
    }


@pytest.mark.parametrize(
    ("fault", "check"),
    [
        ("swapped", "concurrency.equal-one-by-one"),
        ("stale", "answers.same-from-the-cache"),
        ("other-weights", "answers.equal-run-file"),
        ("leaks", "concurrency.after-abort"),
        ("leaks", "concurrency.after-hang-up"),
        ("drops-401", "service.api-key"),
        ("no-middleware", "service.middleware-called"),
        ("buffers-streams", "service.middleware-called"),
        ("token-fails-open", "service.token-check"),
        ("swallows-bad-requests", "service.refuses-what-is-no-request"),
        ("fallback", "service.kernel-path"),
        ("renamed", "service.metrics"),
        ("stale", "context.long-prompt"),
    ],
)
def test_a_fault_is_found_by_the_check_that_fits(open_session, fault, check):
    session = open_session(fault)
    session.expected = run_file.record(open_session().client, "tiny", "another machine")
    found = outcomes(session, check)[check]
    assert found.outcome == "fail", found
    assert "why it matters" in found.message


def test_whose_tokens_a_request_got_is_said(open_session):
    found = outcomes(open_session("swapped"), "concurrency.equal-one-by-one")
    message = found["concurrency.equal-one-by-one"].message
    assert "it has the token" in message


def test_a_token_of_a_run_file_that_falls_differently_though_it_led_is_a_fault(open_session):
    session = open_session()
    recorded = run_file.record(session.client, "tiny", "itself", [Prompt(text="abc")])
    (answer,) = recorded.answers
    check, ids = "answers.equal-run-file", (answer.ids[0] + 1, *answer.ids[1:])
    session.tolerance = 2.0  # of hashes: the recorded token has another log-probability
    for lead, outcome in ((5.0, "fail"), (1.0, "pass")):
        leads = (lead,) * len(ids)
        other = msgspec.structs.replace(answer, ids=ids, lead=leads)
        session.expected = msgspec.structs.replace(recorded, answers=(other,))
        assert outcomes(session, check)[check].outcome == outcome


def test_without_a_key_nothing_is_said_of_keys(serve, open_session):
    session = open_session()
    session.client.key = ""
    found = outcomes(session, "service.api-key")["service.api-key"]
    assert found.outcome == "skip"


@pytest.mark.parametrize("family", [each for each in registry.ORDER if each != "soak"])
def test_a_server_that_dies_ends_the_run_and_is_reported(open_session, serve, family):
    server = serve()
    session = open_session()
    session.client.url = server.url
    session.client.__post_init__()
    session.info  # noqa: B018 - asked while it lives
    server.engine.left_until_death = 2
    ran = run(session, registry.chosen((family, "soak")))
    assert ran.ended.startswith("the server ended during ")
    assert ran.results[-1].outcome == "fail"
    assert "soak.flat" in ran.not_run


def test_ctrl_c_leaves_what_was_seen(open_session):
    session = open_session()

    def interrupt(_):
        raise KeyboardInterrupt

    checks = registry.chosen(("service.health", "service.metrics", "answers"))
    ran = run(session, checks, lambda done, planned, result: None)
    assert not ran.not_run
    session.metrics = lambda: interrupt(0)
    ran = run(session, checks)
    assert ran.interrupted
    assert [each.id for each in ran.results] == ["service.health"]
    assert "service.metrics" in ran.not_run


def test_an_unknown_check_is_answered_with_the_nearest():
    from sglang_contracts.errors import ContractsError

    with pytest.raises(
        ContractsError, match=r"service.metric'\n  hint: did you mean service.metrics"
    ):
        registry.chosen(("service.metric",))


def test_every_check_says_why_and_its_family_is_known():
    for each in registry.checks():
        assert each.why
        assert each.family in registry.ORDER
