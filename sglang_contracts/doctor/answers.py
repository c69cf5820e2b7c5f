"""Output that is mixed up now and then: whether requests at once get their own answers."""

from __future__ import annotations

from collections.abc import Sequence

from sglang_contracts.doctor.diagnosis import Status, check
from sglang_contracts.doctor.host import Host
from sglang_contracts.serving.checks import concurrency
from sglang_contracts.serving.session import QUICK, Session
from sglang_contracts.suite.violation import Violation


@check(
    "answers.are-not-mixed-up",
    symptom="the output is mixed up now and then",
    title="twenty requests at once get the answers that they get one by one",
    mend="keys and values are at displaced slots: sglang-contracts certify PLUGIN finds where "
    "(kv-pool and attention checks); serve-check --only concurrency repeats this one",
)
def are_not_mixed_up(host: Host) -> tuple[Status, Sequence[str]]:
    """Ask the running server."""
    if host.client is None:
        return Status.UNKNOWN, ["no server was named (--server URL)"]
    try:
        concurrency.equal_one_by_one(Session(host.client, QUICK))
    except Violation as error:
        return Status.FOUND, error.message.splitlines()[:4]
    return Status.OK, [f"{QUICK.concurrent[0]} requests, twice"]
