"""What is waited for: as long as the server gets somewhere, on however busy a machine."""

import os

import pytest

from sglang_contracts.serving import session as sessions
from sglang_contracts.serving.client import Client, Reply, ServerGoneError, ServerSilentError
from sglang_contracts.serving.session import LEAST_BUSY, MOST_PERIODS, Patience, Session

A_SECOND = os.sysconf("SC_CLK_TCK")


class Machine:
    """A clock that goes on by a second at each look, and a server that computes meanwhile."""

    def __init__(self, busy):
        self.busy, self.now = busy, 0

    def clock(self):
        self.now += 1
        return float(self.now)

    def ticks(self):
        return round(self.now * self.busy * A_SECOND)


def waited(machine, monkeypatch):
    session = Session(Client("http://127.0.0.1:1"))
    monkeypatch.setattr(session, "ticks", machine.ticks)
    patience = Patience(session, 10.0, machine.clock)
    while not patience.over():
        pass
    return machine.now


def test_a_server_that_computes_nothing_is_given_up_after_one_period(monkeypatch):
    assert waited(Machine(0.0), monkeypatch) <= 12
    assert waited(Machine(LEAST_BUSY / 2), monkeypatch) <= 12


def test_a_server_that_computes_is_waited_for_and_not_for_ever(monkeypatch):
    assert 10 * MOST_PERIODS <= waited(Machine(0.5), monkeypatch) <= 12 * MOST_PERIODS


class Silent(Client):
    """Answers only when it has been asked often enough; then, or never."""

    silent = 0

    def request(self, method, path, body=None, **options):
        if self.silent:
            self.silent -= 1
            raise ServerSilentError("no answer")
        return Reply(200, {}, b"{}", 0.0)


@pytest.mark.parametrize(("busy", "alive"), [(0.5, True), (0.0, False)])
def test_a_silent_server_is_asked_again_only_while_it_computes(monkeypatch, busy, alive):
    machine = Machine(busy)
    client = Silent("http://127.0.0.1:1")
    client.silent = 3
    session = Session(client)
    monkeypatch.setattr(session, "ticks", machine.ticks)
    monkeypatch.setattr(sessions, "Patience", lambda of, _: Patience(of, 1.0, machine.clock))
    assert session.alive() is alive


def test_a_server_that_is_gone_is_not_waited_for(monkeypatch):
    class Gone(Client):
        def request(self, *_, **__):
            raise ServerGoneError("refused")

    assert Session(Gone("http://127.0.0.1:1")).alive() is False
