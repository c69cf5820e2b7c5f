"""Each cause is told once, with the checks that it costs and what to do next."""

import msgspec
import pytest

from sglang_contracts.certify import page, summary
from sglang_contracts.certify.causes import causes, next_steps, rules_of

PLACE = "KeyError: 'seq_lens' at acme/attention.py:44 in forward"
GAP = "the fake of SGLang 0.5.16 has only the shape of sglang.srt.utils:thing"
STATIC = """2 uses do not resolve in SGLang 0.5.16:
acme/attention.py:9: field-removed: sglang.srt.a:Batch.pool (use sglang.srt.b:pool)
flag-removed: flag:--x
why it matters: A renamed field kills the first forward pass."""


@pytest.fixture
def several(certificate, outcome):
    checks = (
        outcome("p.static", 0, "fail", message=STATIC),
        *(outcome(f"a.b{n}", 2, "fail", cause=PLACE, message=f"step {n} raised") for n in range(3)),
        outcome("a.odd", 2, "error", message="the suite erred"),
        *(outcome(f"a.gap{n}", 2, "error", cause=GAP, message=f"{GAP}: try") for n in range(2)),
        *(outcome(f"a.k{n}", 2, "expected", message=f"no {n}", reason="known") for n in range(2)),
        outcome("a.fine", 2, "pass"),
    )
    return msgspec.structs.replace(certificate, checks=checks, not_run=())


def test_failures_come_first_then_what_fails_most(several):
    found = [(each.outcome, len(each.checks), each.line) for each in causes(several)]
    assert found == [
        ("fail", 3, PLACE),
        ("fail", 1, "p.static: 2 uses do not resolve in SGLang 0.5.16:"),
        ("error", 2, GAP),
        ("error", 1, "a.odd: the suite erred"),
        ("expected", 1, "a.k0: no 0"),
        ("expected", 1, "a.k1: no 1"),
    ]


def test_rules_of_the_static_check_are_named(several):
    assert rules_of(causes(several)[1]) == ("field-removed", "flag-removed")
    assert rules_of(causes(several)[0]) == ()


def test_a_cause_is_told_once_on_the_page_and_in_text(several):
    text = page.render(several)
    assert text.count("raised</pre>") == 1
    assert "For the same reason: <code>a.b1</code>, <code>a.b2</code>" in text
    assert "3 checks do not hold" in text
    assert "1 check holds" in text
    assert "<code>field-removed</code>" in text
    told = list(summary.lines(several, quiet=True))
    assert told[:2] == ["causes:", f"  fail       3 checks  {PLACE}"]
    assert "  for the same reason: a.b1, a.b2" in told
    assert sum("raised" in line for line in told) == 1


def test_what_to_do_next_stands_on_both(several):
    steps = list(next_steps(several))
    assert steps[0] == f"mend this first (3 checks of 4): {PLACE}"
    assert "read why, and how to mend it: sglang-contracts explain field-removed" in steps
    real = "python -m pip install 'sglang==0.5.16' && sglang-contracts certify a-plugin"
    assert any(real in step and "(2 checks)" in step for step in steps)
    assert any(step.endswith("--sglang fake:0.5.16 -k 'a.odd'") for step in steps)
    assert any("expected to fail (2 checks)" in step for step in steps)
    assert "<h2>What to do next</h2><ol>" in page.render(several)
    assert f"next: {steps[0]}" in list(summary.lines(several, quiet=True))


def test_one_that_passed_says_how_it_is_verified(several, outcome):
    fine = {"checks": (outcome("a.fine", 0, "pass"),), "verdict": "passed", "level_reached": 0}
    passed = msgspec.structs.replace(several, **fine, not_exercised=())
    steps = list(next_steps(passed))
    assert steps[0].endswith("sglang-contracts certify a-plugin --sglang 0.5.16")
    assert "--require-passed --require-level 0" in steps[1]
    assert not any(line.startswith("next") for line in summary.lines(passed, quiet=True))
    assert "level 0 static: 1 of 1 check holds" in list(summary.lines(passed, quiet=True))


def test_a_run_that_somebody_wrote_into_says_so_first(several):
    noted = msgspec.structs.replace(several, irregular=("among the results stood x",))
    assert next(next_steps(noted)).startswith("find what writes among the results")
    assert "Among the results stood x." in page.render(noted)
