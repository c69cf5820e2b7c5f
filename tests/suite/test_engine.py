import datetime

import pytest

from sglang_contracts.plugin.reading.settings import ExpectedFailure
from sglang_contracts.suite.capabilities import parse
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.engine import run_check
from sglang_contracts.suite.profile import PROFILES
from sglang_contracts.suite.registry import Check
from sglang_contracts.suite.subject import Subject
from sglang_contracts.suite.verdict import mostly_skipped, reached, unexercised, verdict
from sglang_contracts.suite.violation import Inapplicable, Violation, ask, describe, expect


@pytest.fixture
def context():
    return Context(Subject("a-plugin", parse({"modes": ["extend"]})), "0.5.16", PROFILES["quick"])


def check_of(run, **more):
    return Check("family.what-must-hold", 2, "It holds", run, **more)


def boom(*_):
    raise KeyError("seq_lens")


def test_a_check_that_returns_passes(context):
    assert run_check(check_of(lambda context: None), context).outcome == "pass"


def test_a_violation_is_the_checks_own_failure(context):
    result = run_check(check_of(lambda context: expect(False, "a is not b")), context)
    assert (result.outcome, result.message, result.crash) == ("fail", "a is not b", False)
    assert 'reproduce("family.what-must-hold"' in result.reproduction


def test_a_failure_says_why_it_matters(context):
    result = run_check(check_of(lambda context: expect(False, "no"), why="It kills."), context)
    assert result.message == "no\nwhy it matters: It kills."


def test_what_the_backend_raises_is_a_crash(context):
    result = run_check(check_of(lambda context: ask("forward", boom)), context)
    assert (result.outcome, result.crash) == ("fail", True)
    assert "forward raised KeyError: 'seq_lens'" in result.message


def test_a_crash_is_a_failure_of_its_own_where_raising_is_forbidden(context):
    check = check_of(lambda context: ask("forward", boom), forbids_raising=True)
    assert run_check(check, context).crash is False


def test_what_the_suite_raises_is_never_the_backends(context):
    result = run_check(check_of(boom), context)
    assert result.outcome == "error"
    assert "KeyError" in result.message


def test_what_cannot_apply_is_skipped_with_a_sentence(context):
    def run(context):
        raise Inapplicable("SGLang 0.5.3 has none")

    result = run_check(check_of(run), context)
    assert (result.outcome, result.reason) == ("skip", "SGLang 0.5.3 has none")


def test_what_is_not_declared_is_skipped_by_name(context):
    result = run_check(check_of(boom, needs=("graph-capture", "mode:decode")), context)
    assert result.outcome == "skip"
    assert result.reason == "the plugin does not declare 'graph-capture' and 'mode:decode'"


def expected(**more):
    return [ExpectedFailure("family.what-must-hold", "known", **more)]


def failing(context):
    expect(False, "no")


def test_an_expected_failure_that_fails_is_expected(context):
    result = run_check(check_of(failing), context, expected())
    assert (result.outcome, result.reason) == ("expected", "known")


def test_an_expected_failure_that_passes_fails(context):
    result = run_check(check_of(lambda context: None), context, expected())
    assert result.outcome == "fail"
    assert "remove the entry" in result.message


def test_an_expected_failure_ends_on_its_day(context):
    day = datetime.date.today() - datetime.timedelta(days=1)
    assert run_check(check_of(failing), context, expected(expires=day)).outcome == "fail"
    result = run_check(check_of(lambda context: None), context, expected(expires=day))
    assert result.outcome == "fail"
    today = expected(expires=datetime.date.today())
    assert run_check(check_of(failing), context, today).outcome == "expected"


def test_an_expected_failure_counts_in_its_releases_only(context):
    assert run_check(check_of(failing), context, expected(releases="<0.5.16")).outcome == "fail"
    assert (
        run_check(check_of(failing), context, expected(releases="==0.5.16")).outcome == "expected"
    )


def test_a_failure_is_shrunk_to_the_smallest_example(context):
    from hypothesis import strategies

    def body(number):
        expect(number < 17, f"{number} is too much")

    def run(context):
        context.explore([0], strategies.integers(0, 1000), body)

    context.profile = PROFILES["full"]
    result = run_check(check_of(run), context)
    assert "example=17" in result.reproduction


def test_an_expected_failure_is_not_shrunk(context):
    tried = []

    def run(context):
        context.explore([900], None, lambda number: (tried.append(number), expect(False, "no")))

    run_check(check_of(run), context, expected())
    assert tried == [900]


def test_a_check_whose_every_example_is_inapplicable_is_skipped_not_passed(context):
    def body(_):
        raise Inapplicable("nowhere")

    result = run_check(check_of(lambda context: context.explore([1, 2], None, body)), context)
    assert (result.outcome, result.reason) == ("skip", "nowhere")


def test_a_part_that_does_not_apply_is_named(context):
    def body(number):
        if number == 2:
            raise Inapplicable("not two")

    result = run_check(check_of(lambda context: context.explore([1, 2], None, body)), context)
    assert (result.outcome, result.omitted) == ("pass", ("not two",))


def test_a_tensor_is_shown_without_its_contents():
    torch = pytest.importorskip("torch")
    text = describe(torch.full((2, 3), 7.0))
    assert text == "float32[2, 3] on cpu, strides (3, 1)"


def results(*outcomes):
    from sglang_contracts.suite.result import Result

    return [Result(f"a.b-{i}", level, "t", outcome) for i, (level, outcome) in enumerate(outcomes)]


def test_a_level_is_reached_when_all_below_are():
    assert reached(results((0, "pass"), (1, "skip"), (1, "pass"), (2, "pass")), 2) == 2
    assert reached(results((0, "pass"), (1, "skip"), (2, "pass")), 2) == 2
    assert reached(results((0, "skip"), (1, "pass"), (2, "skip")), 2) == 1
    assert reached(results((0, "skip"), (1, "skip")), 1) == -1
    assert reached(results((0, "pass"), (1, "fail"), (2, "pass")), 2) == 0
    assert reached(results((0, "fail")), 4) == -1
    assert reached(results((0, "expected")), 4) == -1
    assert reached(results((0, "error")), 4) == -1


def test_a_level_of_which_more_was_skipped_than_held_is_named():
    assert mostly_skipped(results((1, "pass"), (1, "skip"), (2, "skip"), (3, "fail"))) == (2,)
    assert mostly_skipped(results((4, "pass"), (4, "skip"), (4, "skip"))) == (4,)


def test_unknown_is_not_yes():
    assert verdict(results((0, "pass")), (), ()) == "passed"
    assert verdict(results((0, "pass")), ("a.c",), ()) == "unknown"
    assert verdict(results((0, "pass")), (), ("mode mixed",)) == "unknown"
    assert verdict(results((0, "error")), (), ()) == "unknown"
    assert verdict(results((0, "fail"), (0, "error")), (), ()) == "failed"
    assert verdict(results((0, "fail")), (), (), ("somebody has written there",)) == "unknown"


def test_a_failure_that_was_expected_is_an_exception_and_told_as_one():
    assert verdict(results((0, "pass"), (0, "expected")), (), ()) == "passed with exceptions"
    assert verdict(results((0, "expected"), (0, "fail")), (), ()) == "failed"
    assert verdict(results((0, "expected"), (0, "error")), (), ()) == "unknown"


def test_a_plugin_that_declares_idle_passes_alone_shows_nothing():
    told = unexercised(parse({"modes": ["idle"]}), {("idle", "bfloat16", 1)})
    assert told == ["a forward pass with tokens: none but idle ones are declared"]


def test_what_is_declared_and_not_exercised_is_named():
    found = parse({"modes": ["extend", "mixed"], "dtypes": ["float32"], "page-sizes": [1, 16]})
    assert unexercised(found, {("extend", "float32", 1)}) == [
        "page size 16 in mode extend",
        "forward mode mixed",
    ]


def test_a_violation_shows_how_to_reproduce_it():
    assert str(Violation("no", "code()")) == "no\n\nreproduce:\ncode()"


def test_a_seed_draws_the_same_whatever_lies_beside_it(context):
    """Hypothesis draws on numbers in "local" source files; a certificate's seed must not."""
    from hypothesis import strategies
    from hypothesis.internal.conjecture import providers

    local = []
    context.explore(
        [], strategies.integers(), lambda _: local.append(len(providers._get_local_constants()))
    )
    assert set(local) == {0}
    assert len(providers._get_local_constants()) > 0  # outside, Hypothesis is as it was
