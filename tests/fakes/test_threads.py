"""Threads that read one fake at the same time get the same objects, and no error of its making."""

import sys
import threading

import pytest

from sglang_contracts import fakes

PLACES = (
    "sglang.srt.mem_cache.memory_pool",
    "sglang.srt.managers.schedule_batch",
    "sglang.srt.server_args",
    "sglang.srt.layers.radix_attention",
)


@pytest.fixture
def eager_switches():
    kept = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # seconds: threads meet in the middle of what they make
    yield
    sys.setswitchinterval(kept)


def test_threads_get_the_same_objects(eager_switches):
    fake = fakes.load("0.5.20")
    together = threading.Barrier(4)
    found = []

    def read():
        together.wait()
        mine = {}
        for place in PLACES:
            module = fake.module(place)
            for name in fake.names(place):
                try:
                    mine[place, name] = getattr(module, name)
                except Exception as error:
                    mine[place, name] = repr(error)
        found.append(mine)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    alone = fakes.load("0.5.20")
    for key in found[0]:
        held = [each[key] for each in found]
        assert all(each is held[0] for each in held) or isinstance(held[0], str), (key, held)
        if isinstance(held[0], str):  # a constant, or an error that one thread has as well
            assert {*held} == {getattr(alone.module(key[0]), key[1])}, key
