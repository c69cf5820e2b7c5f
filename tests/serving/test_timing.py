"""Latency and soak, on what a client reports: no clock decides."""

import random

import pytest

from sglang_contracts.serving.checks import latency, soak
from sglang_contracts.serving.client import Answer, ServerSilentError
from sglang_contracts.serving.session import FULL, Session
from sglang_contracts.suite.violation import Violation


class Clock:
    """A client whose answers take as long as is said."""

    url = "http://127.0.0.1:1"

    def __init__(self, gap=lambda at: 0.003, first=lambda number, length: 0.02):
        self.gap, self.first, self.asked = gap, first, 0
        self.drawn = random.Random(3)

    def noise(self, value):
        return value + abs(self.drawn.gauss(0, 0.05)) * value

    def stream(self, prompt, timeout=None):
        self.asked += 1
        start = len(prompt.ids)
        gaps = tuple(self.noise(self.gap(start + n)) for n in range(prompt.new_tokens - 1))
        first = self.noise(self.first(self.asked, start))
        return Answer((1,) * prompt.new_tokens, first=first, gaps=gaps, seconds=first + sum(gaps))


def session(client, **options):
    made = Session(client, FULL, **options)
    made._info = {"max_total_num_tokens": 40_960, "context_length": 40_960}
    return made


@pytest.fixture(autouse=True)
def _no_server(monkeypatch):
    monkeypatch.setattr(Session, "longest", 32_768)


def test_even_growth_holds_and_is_measured():
    made = session(Clock(lambda at: 0.003 + 1e-6 * at))
    latency.no_step_while_decoding(made)
    assert len(made.measured["milliseconds between tokens"]) == (FULL.decode - 1) // latency.WINDOW
    slope = made.measured["milliseconds per token for 1000 tokens of context"]
    assert 0.8 < slope < 1.3
    assert made.plots["between tokens"].mark is None


def test_a_step_of_latency_at_512_tokens_is_found_and_marked():
    made = session(Clock(lambda at: 0.003 if at < 512 else 0.009))
    with pytest.raises(Violation, match=r"steps from 3\.\d to 9\.\d ms at about (480|512|544)"):
        latency.no_step_while_decoding(made)
    assert 480 <= made.plots["between tokens"].mark <= 544


def test_a_step_that_does_not_come_again_is_the_machine_and_no_fault():
    client = Clock()
    client.gap = lambda at: 0.009 if client.asked <= FULL.repeats and at >= 512 else 0.003
    latency.no_step_while_decoding(session(client))
    assert client.asked == 2 * FULL.repeats


def test_a_first_token_that_stalls_now_and_then_is_found():
    client = Clock(first=lambda number, length: 0.9 if number % 7 == 0 else 0.02)
    with pytest.raises(Violation, match=r"stalled \(requests 0, 7, 14, 21\), for up to 0\.9"):
        latency.no_stalled_first_token(session(client))
    latency.no_stalled_first_token(session(Clock()))


def test_a_baseline_is_held():
    made = session(Clock(first=lambda number, length: 1e-4 * length))
    latency.first_token_over_prompts(made)
    assert "no baseline was given (serve-check --baseline FILE)" in made.omitted
    slower = session(Clock(first=lambda number, length: 1.6e-4 * length), baseline=made.measured)
    with pytest.raises(Violation, match=r"1\.[4-8]\d times the baseline"):
        latency.first_token_over_prompts(slower)
    same = session(Clock(first=lambda number, length: 1e-4 * length), baseline=made.measured)
    latency.first_token_over_prompts(same)


def a_run(seconds=600.0, each=0.05, per_second=5, memory=lambda at, count: 500 << 20, slow=()):
    """A soak as it would have been seen."""
    drawn, run = random.Random(1), soak.Run()
    for number in range(int(seconds * per_second)):
        at = number / per_second
        took = 5.0 if number in slow else each(at) if callable(each) else each
        took *= 1 + 0.2 * drawn.random()
        run.requests.append(soak.Request(f"r{number}", at, took, 64 + drawn.choice((0, 64, 128))))
    for number in range(200):
        at = seconds * number / 200
        count = int(at * per_second)
        moves = drawn.randrange(8 << 20)
        run.memory.append((at, count, memory(at, count) + moves))
    return run


def judged(monkeypatch, run, **options):
    made = session(Clock(), **options)
    monkeypatch.setattr(soak, "_soak", lambda _: run)
    soak.flat(made)
    return made


def test_a_flat_soak_holds(monkeypatch):
    made = judged(monkeypatch, a_run())
    assert made.measured["soak"]["requests"] == 3000
    assert made.measured["soak"]["slow"] == []
    assert {"soak: latency", "soak: memory"} <= made.plots.keys()


def test_memory_that_fills_a_cache_and_then_stays_is_flat(monkeypatch):
    judged(monkeypatch, a_run(memory=lambda at, count: (500 << 20) + min(count, 700) * (1 << 19)))


def test_a_megabyte_a_request_is_a_leak(monkeypatch):
    run = a_run(60.0, memory=lambda at, count: (500 << 20) + count * (1 << 20))
    with pytest.raises(Violation, match=r"memory grows by (0\.9|1\.0)\d MiB a request"):
        judged(monkeypatch, run)


def test_latency_that_grows_is_found(monkeypatch):
    with pytest.raises(Violation, match="latency grew by at least"):
        judged(monkeypatch, a_run(each=lambda at: 0.05 + 0.0004 * at))


def test_slow_requests_that_pile_up_are_found_and_named(monkeypatch):
    with pytest.raises(Violation, match=r"slow requests pile up: 0 in the first third, 10 .*r2990"):
        judged(monkeypatch, a_run(slow=range(2900, 3000, 10)))
    made = judged(monkeypatch, a_run(slow=(40, 1500)))
    assert [each["request"] for each in made.measured["soak"]["slow"]] == ["r40", "r1500"]


def test_a_request_that_failed_fails_it(monkeypatch):
    run = a_run(10.0)
    run.requests[7] = soak.Request("r7", 1.4, 60.0, 64, str(ServerSilentError("no answer")))
    with pytest.raises(Violation, match=r"1 of 50 requests failed.*r7\): no answer"):
        judged(monkeypatch, run)


def test_what_was_interrupted_is_judged_as_far_as_it_came(monkeypatch):
    run = a_run(20.0)
    run.interrupted = True
    made = judged(monkeypatch, run)
    assert made.interrupted
    assert made.measured["soak"]["interrupted"]


def test_without_memory_to_be_had_that_is_said(monkeypatch):
    run = a_run()
    run.memory = [(at, count, 0) for at, count, _ in run.memory]
    made = judged(monkeypatch, run)
    assert any("--pid" in each for each in made.omitted)


def test_a_soak_asks_streams_and_whole_answers_until_its_time_is_over(open_session):
    made = open_session()
    soak.flat(made)
    assert made.measured["soak"]["requests"] > 10
    assert made.measured["soak"]["failed"] == 0
