"""A server whose memory grows with each request is told from one that only warms up."""

import types

import pytest

from sglang_contracts.serving.checks import soak
from sglang_contracts.suite.violation import Violation

GIB = 1 << 30


def run(grows):
    """400 requests in 20 seconds; ``grows``: bytes held after so many of them."""
    return soak.Run(
        [soak.Request(str(number), number / 20, 0.05, 64) for number in range(400)],
        [(number / 20, number, 4 * GIB + grows(number)) for number in range(0, 400, 4)],
    )


def judged(grows):
    session = types.SimpleNamespace(omitted=[], measured={})
    soak._memory(session, run(grows))
    return session


def test_a_megabyte_a_request_is_a_leak():
    with pytest.raises(Violation, match=r"memory grows by 1\.00 MiB a request"):
        judged(lambda number: number << 20)


@pytest.mark.parametrize(
    "grows",
    [
        lambda number: 0,
        lambda number: min(number, 90) << 20,  # caches fill while it warms up
        lambda number: (number % 7) << 20,
        lambda number: number << 16,  # less than a heap moves by
    ],
)
def test_what_warms_up_or_moves_is_none(grows):
    session = judged(grows)
    assert session.omitted == []
    assert session.measured["MiB of memory that a request leaves"]["low"] < 0.5
