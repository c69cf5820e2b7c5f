"""Servers are started with what the plugin declares, and ended whatever happens."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sglang_contracts.errors import ContractsError
from sglang_contracts.live import shim
from sglang_contracts.serving import plugin, server
from sglang_contracts.suite.session import load_plugin

FAKE = Path(__file__).with_name("fake_server.py")


@pytest.fixture
def started(monkeypatch, tmp_path):
    """Starts a server whose command line is another one."""
    monkeypatch.setattr(server.importlib.util, "find_spec", lambda name: object())

    def start(code):
        monkeypatch.setattr(
            server, "command", lambda order, port, key: [sys.executable, "-c", code, str(port)]
        )
        return server.running(server.Order("model"), tmp_path, timeout=60)

    return start


SERVES = f"""
import importlib.util, sys, threading
spec = importlib.util.spec_from_file_location("fake", {str(FAKE)!r})
fake = importlib.util.module_from_spec(spec); spec.loader.exec_module(fake)
import http.server
serving = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), fake.Handler)
serving.engine, serving.key = fake.Engine(), ""
print("listening", flush=True)
serving.serve_forever()
"""


def test_a_server_is_ended_with_its_block(started):
    with started(SERVES) as found:
        assert found.client.request("GET", "/health").status == 200
        assert found.alive
        assert found.lines() == ["listening"]
        assert found.memory() > 1 << 20
    assert not found.alive
    assert found.memory() == 0


def test_what_became_of_it_is_told_with_its_log(started):
    with started(SERVES) as found:
        assert found.how_it_ended() == "its process runs; its log ends with\nlistening"
        assert found.ticks() > 0
        found.process.kill()
        found.process.wait()
        assert found.how_it_ended().startswith("its process ended (-9); its log ends with")
    assert found.ticks() == 0


def test_it_is_ended_when_what_is_done_with_it_raises(started):
    with pytest.raises(KeyError), started(SERVES) as found:
        raise KeyError
    assert not found.alive


def test_one_that_does_not_start_says_why(started):
    begun = started("print('no such device'); raise SystemExit(3)")
    with (
        pytest.raises(ContractsError, match=r"ended \(3\).*before it was healthy") as caught,
        begun,
    ):
        pass
    assert "no such device" in caught.value.hint


def test_where_no_sglang_is_that_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(server.importlib.util, "find_spec", lambda name: None)
    begun = server.running(server.Order("model"), tmp_path)
    with pytest.raises(ContractsError, match="no SGLang is installed"), begun:
        pass


def test_the_order_is_what_the_plugin_declares():
    order, service = plugin.order(load_plugin("sglang-kunlun-reference"), "m", ("--tp-size", "2"))
    words = server.command(order, 1, "K")
    said = " ".join(words)
    assert "--attention-backend kunlun --page-size 16 --skip-server-warmup --tp-size 2" in said
    assert "--device cpu" in said
    assert "--sleep-on-idle" in said
    assert words[-1] == "2"  # what the user says comes last, and wins
    assert service.token
    assert plugin.token_headers(service) == {"x-kunlun-token": service.token}
    environment = server.environment(order)
    assert environment["SGLANG_PLATFORM"] == "kunlun"
    assert environment["SGLANG_CONTRACTS_SDK"] == "shim"
    assert environment[shim.VARIABLE] == "1"
    assert environment["KUNLUN_TENANT_TOKEN"] == service.token
    assert environment["PYTHONSAFEPATH"] == "1"


def test_with_the_vendors_runtime_nothing_stands_in(monkeypatch):
    monkeypatch.setattr(plugin, "on_cpu", lambda subject: False)
    monkeypatch.delenv(shim.VARIABLE, raising=False)
    monkeypatch.delenv("SGLANG_CONTRACTS_SDK", raising=False)
    order, _ = plugin.order(load_plugin("sglang-kunlun-reference"), "m")
    assert "--device" not in server.command(order, 1, "K")
    environment = server.environment(order)
    assert shim.VARIABLE not in environment
    assert "SGLANG_CONTRACTS_SDK" not in environment


def test_memory_is_that_of_the_whole_group():
    code = "import sys; kept = b'1' * (64 << 20); print('kept', flush=True); sys.stdin.read()"
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        child.stdout.readline()
        assert server.memory_of(child.pid) > 64 << 20
        assert server.memory_of(child.pid) < 200 << 20
    finally:
        child.kill()
        child.wait()
        child.stdin.close()
        child.stdout.close()
    assert server.memory_of(os.getpid()) > 0
