"""Each recorder catches a deliberate violation, with the line that did it."""

import pytest

torch = pytest.importorskip("torch", reason="records what torch does: pip install .[suite]")

from sglang_contracts.live import record  # noqa: E402


@pytest.mark.parametrize(
    "act",
    [
        lambda tensor: tensor[0].item(),
        lambda tensor: tensor.nonzero(),
        lambda tensor: bool(tensor[0] > 0),
        lambda tensor: torch.unique(tensor),
        lambda tensor: tensor[tensor > 1],
    ],
)
def test_a_synchronisation_is_recorded_with_its_line(act):
    with record.Operations().recording() as seen:
        act(torch.arange(3))
    events = seen.of(record.SYNCHRONISE)
    assert events
    assert all("test_record.py" in event.place for event in events)


def test_an_allocation_is_recorded_with_its_size():
    with record.Operations().recording() as seen:
        torch.empty(4, 5)
    (event,) = seen.of(record.ALLOCATE)
    assert event.detail == "4x5 torch.float32"


def test_a_transfer_between_devices_is_recorded():
    with record.Operations().recording() as seen:
        torch.zeros(2, device="cpu").to("meta")
    (event,) = seen.of(record.TRANSFER)
    assert event.detail == "cpu -> meta"


def test_arithmetic_into_given_storage_records_nothing():
    a, b = torch.ones(3), torch.empty(3)
    with record.Operations().recording() as seen:
        torch.add(a, a, out=b)
    assert seen.events == []


class Pool:
    def set(self, value, *, flag=False):
        self.value = value
        return flag


def test_calls_are_counted_and_still_made():
    pool, calls = Pool(), record.Calls()
    with calls.of(pool, "set"):
        assert pool.set(3, flag=True) is True
    assert pool.value == 3
    assert calls.made == [("set", (3,), {"flag": True})]
    assert calls.count("set") == 1
    pool.set(4)
    assert calls.count("set") == 1


def test_a_method_that_is_not_there_is_an_error_not_a_silence():
    with pytest.raises(AttributeError), record.Calls().of(Pool(), "set_kv_buffer"):
        pass
