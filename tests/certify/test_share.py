"""What a process tells counts where the suite itself has told it, once, and with its token."""

import json

import pytest

from sglang_contracts.certify.share import Share

JUNK = "among the results stood what no check of the suite has written: "


@pytest.fixture
def share():
    """A share of two checks; the tokens that were given are in ``share.tokens``."""
    made = Share(["a.b", "a.c"])
    made.tokens = []
    made.answer = made.tokens.append
    return made


def tell(share, *lines):
    return [told for line in lines for told in share.feed(json.dumps(line).encode() + b"\n")]


def result(id="a.b", outcome="pass", **more):
    values = {"id": id, "level": 1, "title": "It holds", "outcome": outcome, **more}
    return {"result": values, "used": [["extend", "float32", 1]]}


def test_a_result_counts_with_the_token_that_its_check_was_given(share):
    tell(share, {"planned": ["a.b", "a.c"]}, {"began": "a.b"})
    assert share.place() == "during a.b"
    assert tell(share, {**result(), "token": share.tokens[0]})
    assert share.results["a.b"].outcome == "pass"
    assert share.used == {("extend", "float32", 1)}
    assert (share.place(), share.left(), share.notes) == ("after a.b", ["a.c"], [])


def test_half_a_line_has_not_come_yet(share):
    assert list(share.feed(b'{"began": ')) == []
    assert share.place().startswith("before the first check")
    assert list(share.feed(b'"a.b"}\n')) == [{"began": "a.b"}]
    assert share.notes == []


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        ([result()], "a result of 'a.b'"),
        ([{**result(), "token": "0" * 32}], "a result of 'a.b'"),
        ([{**result("a.c"), "token": 0}], "a result of 'a.c'"),
        ([{**result(outcome="splendid"), "token": 0}], "a result of 'a.b'"),
        ([{**result(), "token": 0}, {**result(), "token": 0}], "a second result of a.b"),
        ([{**result(), "token": 0}, {"began": "a.b"}], "a.b begins a second time"),
        ([{"began": "x.y"}], "a check that was not its own begins: 'x.y'"),
        ([{"planned": []}], "a second plan"),
        ([{"finished": {"used": []}}], "an end of the session"),
    ],
)
def test_what_somebody_else_has_written_is_noted_and_does_not_count(share, lines, what):
    tell(share, {"planned": ["a.b", "a.c"]}, {"began": "a.b"})
    for line in lines:
        if line.get("token") == 0:
            line = {**line, "token": share.tokens[0]}
        tell(share, line)
    assert share.notes == [JUNK + what]
    assert [each for each in share.results if each != "a.b"] == []


@pytest.mark.parametrize(
    "junk",
    [
        b"no json",
        b"5",
        b"[]",
        b'"planned"',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"result": 3}',
        b'{"result": {"level": 3}}',
        b'{"planned": 5}',
        b'{"stopped": {}}',
        b'{"finished": {"used": [["extend", "float32", "many"]]}}',
    ],
)
def test_what_is_no_message_is_noted(share, junk):
    assert list(share.feed(junk + b'\n{"began": "a.b"}\n')) == [{"began": "a.b"}]
    assert share.notes == [JUNK + "something that is no message of the suite"]


def test_a_line_without_an_end_fills_no_memory(share, monkeypatch):
    monkeypatch.setattr("sglang_contracts.certify.share._LONGEST_LINE", 1000)
    for _ in range(100):
        assert list(share.feed(b"x" * 100)) == []
        assert len(share._rest) <= 1000
    assert share.notes


def test_the_end_of_the_session_counts_with_its_own_token(share):
    tell(share, {"planned": []}, {"closing": True})
    assert share.closing
    assert tell(share, {"finished": {"threads": ["T"]}, "token": share.tokens[-1]})
    assert share.first("finished") == {"threads": ["T"]}
