"""The simulated card: real values, strict rules, and a record of what it did."""

import gc

import pytest

torch = pytest.importorskip("torch")

from sglang_contracts.fakes import kunlun_device, kunlun_sdk  # noqa: E402
from sglang_contracts.fakes.kunlun_device import Graph, Kind  # noqa: E402

from sglang_contracts.errors import ContractsError  # noqa: E402 - after the skip

if kunlun_device.unsupported():
    pytest.skip(kunlun_device.unsupported(), allow_module_level=True)


@pytest.fixture
def card():
    with kunlun_device.activate() as recorder:
        yield recorder


def on_card(*values):
    return torch.tensor(values, dtype=torch.float32, device="kunlun")


def test_values_are_real_and_the_device_says_its_name(card):
    x = torch.arange(6, device="kunlun").view(2, 3) * 2
    assert str(x.device) == "kunlun:0"
    assert x.dtype == torch.int64
    assert x[1].sum().item() == 6 + 8 + 10
    assert torch.equal(x.cpu(), torch.arange(6).view(2, 3) * 2)
    y = torch.zeros(2, 3, dtype=torch.int64, device="kunlun")
    y[:, 1:] = x[:, 1:]
    assert y.tolist() == [[0, 2, 4], [0, 8, 10]]


def test_a_torch_that_is_too_old_is_said_with_the_version_that_will_do(monkeypatch):
    from torch.utils import backend_registration

    monkeypatch.delattr(backend_registration, "_setup_privateuseone_for_python_backend")
    with pytest.raises(ContractsError, match="cannot have a device") as error:
        kunlun_device.activate().__enter__()
    assert "torch 2.13 or later" in error.value.hint


def test_indexing_views_and_out_arguments_reach_the_same_memory(card):
    x = torch.zeros(4, device="kunlun")
    view = x[1:3]
    torch.add(on_card(1, 2), on_card(3, 4), out=view)
    assert x.tolist() == [0, 4, 6, 0]
    assert view.data_ptr() == x.data_ptr() + 4


@pytest.mark.parametrize(
    "mix",
    [
        lambda x: x + torch.ones(3),
        lambda x: torch.ones(3) * x,
        lambda x: torch.cat([x, torch.ones(3)]),
        lambda x: torch.index_select(x, 0, torch.tensor([0])),
        lambda x: torch.add(x, x, out=torch.ones(3)),
    ],
)
def test_operands_on_two_devices_are_an_error(card, mix):
    with pytest.raises(RuntimeError, match=r"same device.*kunlun:0 and cpu"):
        mix(on_card(1, 2, 3))


def test_host_numbers_may_join(card):
    assert (on_card(1, 2) * torch.tensor(3.0)).tolist() == [3, 6]
    assert (on_card(1, 2) + 1).tolist() == [2, 3]


def test_numpy_never_sees_the_card(card):
    with pytest.raises(TypeError, match=r"Use Tensor\.cpu"):
        on_card(1).numpy()


def both_ways(x):
    return x.cpu().to("kunlun")


@pytest.mark.parametrize(
    ("act", "kinds"),
    [
        (both_ways, [Kind.DEVICE_TO_HOST, Kind.HOST_TO_DEVICE]),
        (lambda x: torch.zeros(3).copy_(x), [Kind.DEVICE_TO_HOST]),
        (lambda x: x.copy_(torch.zeros(3)), [Kind.HOST_TO_DEVICE]),
        (lambda x: x.tolist(), [Kind.DEVICE_TO_HOST]),
        (lambda x: x.sum().item(), [Kind.KERNEL, Kind.SYNCHRONISE]),
        (lambda x: bool((x > 0).all()), [Kind.KERNEL, Kind.KERNEL, Kind.SYNCHRONISE]),
        (lambda x: x[x > 0], [Kind.KERNEL, Kind.SYNCHRONISE, Kind.KERNEL]),
        (lambda x: x.nonzero(), [Kind.SYNCHRONISE, Kind.KERNEL]),
        (lambda x: x[torch.tensor([0, 1])], [Kind.HOST_TO_DEVICE, Kind.KERNEL]),
        (lambda x: torch.empty(3, device="kunlun"), [Kind.ALLOCATE]),
        (lambda x: x.new_zeros(3), [Kind.ALLOCATE]),
        (lambda x: x.add_(1), [Kind.KERNEL]),
        (lambda x: x[1:].view(1, 2).transpose(0, 1), []),
        (lambda x: torch.zeros(3) + 1, []),
        (lambda x: torch.get_device_module("kunlun").synchronize(), [Kind.SYNCHRONISE]),
    ],
)
def test_what_happens_on_the_card_is_recorded(card, act, kinds):
    x = on_card(1, 2, 3)
    with card.window() as events:
        act(x)
    assert [event.kind for event in events] == kinds, events.describe()


def test_an_event_names_the_callers_line(card):
    x = on_card(1, 2, 3)
    with card.window() as events:
        x.cpu()
    (event,) = events
    assert event.file == __file__
    line = test_an_event_names_the_callers_line.__code__.co_firstlineno + 3
    assert event.line == line
    assert event.nbytes == 12
    assert f"device-to-host copy by aten._to_copy.default, 12 bytes at {__file__}" in str(event)


def test_memory_is_counted_while_tensors_hold_it(card):
    x = torch.zeros(1000, device="kunlun")
    view = x[10:]
    assert card.live == 4000
    del x
    gc.collect()
    assert card.live == 4000, "a view keeps the memory"
    del view
    gc.collect()
    assert card.live == 0
    assert card.peak == 4000


def test_results_of_operators_count_as_allocated(card):
    x = on_card(1, 2, 3)
    with card.window() as events:
        x + 1
        x.add_(1)
    assert events.allocated == 12


def test_a_kernel_of_the_sdk_is_one_launch(card):
    present = kunlun_sdk.installed()
    kunlun_sdk.install()
    try:
        import kunlun_ops

        x, y = torch.randn(3, 8), torch.empty(3, 4)
        kunlun_ops.swiglu(x=x, y=y)
        y_card = torch.empty(3, 4, device="kunlun")
        x_card = x.to("kunlun")
        with card.window() as events:
            kunlun_ops.swiglu(x=x_card, y=y_card)
        assert [(e.kind, e.operation) for e in events] == [(Kind.KERNEL, "kunlun_ops.swiglu")]
        assert torch.equal(y_card.cpu(), y)
        probs = kunlun_ops.top_k_renorm_probs(
            on_card(0.5, 0.5).view(1, 2), torch.ones(1, dtype=torch.int32, device="kunlun")
        )
        assert probs.device.type == "kunlun"
        with pytest.raises(RuntimeError, match="must be on one device"):
            kunlun_ops.swiglu(x=x, y=y_card)
    finally:
        if not present:
            kunlun_sdk.uninstall()


def test_a_replay_reads_captured_memory_anew_and_freezes_host_numbers(card):
    x, y = on_card(1, 2), torch.zeros(2, device="kunlun")
    factor = 3
    graph = Graph()
    with graph.capture():
        z = x * factor
        y.copy_(z + 1)
    assert y.tolist() == [4, 7]
    factor = 100
    x.copy_(on_card(5, 6))
    address = z.data_ptr()
    graph.replay()
    assert y.tolist() == [16, 19]
    assert z.tolist() == [15, 18]
    assert z.data_ptr() == address


@pytest.mark.parametrize("act", [both_ways, lambda x: x.sum().item(), lambda x: x.tolist()])
def test_a_capture_permits_neither_copies_nor_waiting(card, act):
    x = on_card(1, 2)
    refused = pytest.raises(RuntimeError, match="not permitted during a graph capture")
    with refused, Graph().capture():
        act(x)
    assert x.tolist() == [1, 2], "the capture has ended"


def test_random_numbers_follow_the_seed(card):
    torch.manual_seed(3)
    first = torch.rand(4, device="kunlun")
    torch.manual_seed(3)
    assert torch.equal(torch.rand(4), first.cpu())


def test_the_card_is_there_once_at_a_time(card):
    with pytest.raises(RuntimeError, match="active already"), kunlun_device.activate():
        pass


def test_an_old_torch_is_told_so(monkeypatch):
    from torch.utils import backend_registration

    monkeypatch.delattr(backend_registration, "_setup_privateuseone_for_python_backend")
    version = torch.__version__.replace("+", r"\+")
    with pytest.raises(ContractsError, match=version) as caught, kunlun_device.activate():
        pass
    assert "Install torch" in caught.value.hint
