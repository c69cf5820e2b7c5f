"""An engine on the CPU sees a card of the stated size, less what its model holds."""

import types

import pytest

torch = pytest.importorskip("torch")

from collections import namedtuple  # noqa: E402

from sglang_contracts.live import memory_size  # noqa: E402

Memory = namedtuple("Memory", "total available percent")


@pytest.fixture(autouse=True)
def _nothing_taken(monkeypatch):
    monkeypatch.setattr(memory_size, "_taken", 0)


class ModelRunner:
    def load_model(self):
        self.model = torch.nn.Linear(8, 4)
        self.model.tied = self.model.weight
        self.model.register_buffer("table", torch.zeros(16), persistent=False)
        return "loaded"


def test_what_is_free_is_the_size_less_the_model():
    psutil = types.SimpleNamespace(virtual_memory=lambda: Memory(9, 5, 1.0))
    memory_size._state(psutil, 10_000)
    assert psutil.virtual_memory() == Memory(10_000, 10_000, 1.0)
    module = types.SimpleNamespace(ModelRunner=type("ModelRunner", (ModelRunner,), {}))
    memory_size._count_weights(module)
    assert module.ModelRunner().load_model() == "loaded"
    assert psutil.virtual_memory().available == 10_000 - 4 * (32 + 4 + 16)
