"""A fake server, and sessions with it."""

import importlib.util
from pathlib import Path

import pytest

from sglang_contracts.serving.client import Client
from sglang_contracts.serving.session import Extent, Service, Session

_spec = importlib.util.spec_from_file_location(
    "serving_fake_server", Path(__file__).with_name("fake_server.py")
)
fake_server = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(fake_server)

SMALL = Extent((12,), 2, 320, (32, 64), 2048, 0.4, soak_threads=2)
SERVICE = Service(
    "x-fake-backend", "x-fake-token", "T", ("fake:batches_total",), "fake:batches_total"
)
KERNELS = {"prefill": ("fake_ops:prefill",), "decode": ("fake_ops:decode",)}


@pytest.fixture
def serve():
    """Starts fake servers, with faults, and ends them."""
    started = []

    def start(*faults, **options):
        server = fake_server.FakeServer(faults, **options)
        started.append(server)
        return server

    yield start
    for server in started:
        server.end()


@pytest.fixture
def open_session(serve):
    """A session with a fake server that has these faults."""

    def opened(*faults):
        server = serve(*faults)
        client = Client(server.url, "K", {"x-fake-token": "T"}, timeout=30)
        return Session(client, SMALL, service=SERVICE, backend="fake", kernels=KERNELS)

    return opened


@pytest.fixture
def small():
    """How little is tried here."""
    return SMALL
