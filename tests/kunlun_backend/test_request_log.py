"""From the log it can be told which kernel served which request."""

import logging

import pytest
from kunlun_backend.request_log import RequestLog


@pytest.fixture
def log(caplog):
    caplog.set_level(logging.INFO, logger="kunlun_backend.requests")
    return RequestLog(keep=3)


def test_a_request_is_logged_once_for_each_kernel(log, caplog):
    log.record("prefill", "EXTEND", ["a", "b"], 2)
    log.record("decode", "DECODE", ["a", "b"], 2)
    log.record("decode", "DECODE", ["a", "b"], 2)
    log.record("decode", "DECODE", ["a", "c"], 2)
    assert caplog.messages == [
        "backend=kunlun kernel=prefill mode=EXTEND requests=a,b",
        "backend=kunlun kernel=decode mode=DECODE requests=a,b",
        "backend=kunlun kernel=decode mode=DECODE requests=c",
    ]


def test_without_ids_each_change_is_logged(log, caplog):
    for mode in ("EXTEND", "DECODE", "DECODE", "EXTEND"):
        log.record(mode.lower(), mode, None, 2)
    assert len(caplog.messages) == 3
    assert caplog.messages[0].endswith("requests=2 unnamed")


def test_the_last_batches_are_kept(log):
    for size in range(5):
        log.record("decode", "DECODE", None, size)
    assert [entry.batch_size for entry in log.entries] == [2, 3, 4]
    assert {entry.backend for entry in log.entries} == {"kunlun"}
