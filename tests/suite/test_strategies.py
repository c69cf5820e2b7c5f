import pytest

pytest.importorskip("hypothesis")

from hypothesis import given, settings

from sglang_contracts.suite.reproduce import Cell, Run, Script, Turn
from sglang_contracts.suite.strategies import scripts

CELLS = (Cell(), Cell(page_size=16), Cell(dtype="bfloat16", page_size=64, heads=(8, 1)))


@settings(max_examples=200, deadline=None)
@given(scripts(CELLS, ("extend", "decode", "mixed", "idle"), turns=6, sharing=True, chunks=True))
def test_every_script_is_valid(script):
    lens = {}
    assert script.turns[0].mode == "extend"
    for turn in script.turns:
        numbers = [row[0] for row in turn.rows]
        assert len(numbers) == len(set(numbers))
        assert turn.rows or turn.mode == "idle"
        before = dict(lens)
        for number, count, *share in turn.rows:
            assert count >= 1
            if turn.mode == "decode":
                assert count == 1
                assert number in before
            if share:
                donor, shared = share
                assert number not in before
                assert shared <= before[donor]
                assert shared % script.cell.page_size == 0
                lens[number] = shared
            lens[number] = lens.get(number, 0) + count


@settings(max_examples=100, deadline=None)
@given(scripts(CELLS, sharing=True))
def test_a_script_prints_as_the_python_that_makes_it(script):
    assert eval(repr(script), {"Cell": Cell, "Script": Script, "Turn": Turn}) == script


def test_a_run_prints_as_the_python_that_makes_it():
    run = Run((("extend", 0, 5), ("free", 0)), Cell(page_size=16), 256)
    assert eval(repr(run), {"Cell": Cell, "Run": Run}) == run
