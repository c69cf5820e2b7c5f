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
            module, record = fake.module(place), fake.surface.module(place)
            for name in (*record.classes, *record.functions):
                try:
                    mine[place, name] = getattr(module, name)
                except Exception as error:
                    mine[place, name] = error
        found.append(mine)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for key in found[0]:
        held = [each[key] for each in found]
        assert all(each is held[0] for each in held), (key, held)
