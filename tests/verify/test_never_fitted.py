"""Calls that no recorded release takes: an error where the function is known, else silence."""

from __future__ import annotations

import pytest

POOL = """
class Pool:
    def __init__(self, size): self.size = size
    def store(self, layer, slots): return slots
    @classmethod
    def make(cls, *, size): return cls(size)

class Engine:
    def __init__(self, **kwargs):
        if "pool" in kwargs:
            self.pool = kwargs["pool"]
        else:
            self.pool = Pool(**kwargs)

def draw(count, seed=0): return count

def anything(*args, **kwargs): return args
"""
RELEASE = {"srt/pool.py": POOL}
HEAD = "from sglang.srt.pool import Engine, Pool, anything, draw\nfrom sglang.srt import pool\n"


@pytest.fixture
def told(trouble):
    return lambda call: trouble(RELEASE, RELEASE, HEAD + call)


@pytest.mark.parametrize(
    ("call", "symbol"),
    [
        ("draw(1, sead=2)", "draw(sead)"),
        ("pool.draw(1, sead=2)", "draw(sead)"),
        ("draw()", "draw(count)"),
        ("draw(1, 2, 3)", "draw"),
        ("Pool()", "Pool.__init__(size)"),
        ("Pool(1, page=2)", "Pool.__init__(page)"),
        ("Pool.make(4)", "Pool.make(size)"),
        ("def f(p: Pool): p.store(0, slots=1, loc=2)", "Pool.store(loc)"),
        ("class Own(Pool): pass\ndef f(p: Own): p.store(0, 1, loc=2)", "Pool.store(loc)"),
    ],
)
def test_a_call_that_never_fitted_is_an_error_in_each_release(told, call, symbol):
    assert told(call) == [f"error sglang.srt.pool:{symbol}"] * 2


@pytest.mark.parametrize(
    "call",
    [
        "draw(1, seed=2)",
        "anything(1, 2, a=3)",
        "Engine(pool=1)",  # the constructor takes it out of **kwargs itself
        "def f(pool): pool.store(0, 1, loc=2)",  # known by the name of the object alone
        "def f(p: Pool): p.store(1, 2, 3)",  # whether a method is bound is not always told right
        "try:\n    draw(1, sead=2)\nexcept TypeError:\n    draw(1)",
        "def f(draw): draw(1, sead=2)",
    ],
)
def test_what_may_fit_after_all_is_silent(told, call):
    assert told(call) == []


def test_its_sentence_has_no_date(tmp_path, recorded):
    from sglang_contracts.report.words import what
    from sglang_contracts.verify import check_plugin

    (tmp_path / "plugin.py").write_text(HEAD + "draw(1, sead=2)\n")
    report = check_plugin(tmp_path, recorded(RELEASE, RELEASE), ["0.5.2"], contracts=())
    (finding,) = report.releases[0].findings
    assert (finding.first_broken, finding.last_ok) == (None, None)
    assert what(finding) == "draw() takes no sead"
