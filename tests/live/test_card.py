"""What is noted of a forward pass, without an engine."""

import json
import types

import torch
from sglang_contracts.fakes import kunlun_device

from sglang_contracts.live import card


def runner(forward):
    return types.SimpleNamespace(ModelRunner=type("ModelRunner", (), {"forward": forward}))


BATCH = types.SimpleNamespace(
    forward_mode=types.SimpleNamespace(name="DECODE"), input_ids=torch.zeros(3)
)


def test_a_pass_is_told_from_what_happens_between_two(tmp_path):
    with kunlun_device.activate():
        on_card = torch.ones(4, device="kunlun")
        module = runner(lambda self, batch: (on_card + on_card).cpu())
        card._count_passes(module, tmp_path)
        on_card.tolist()
        module.ModelRunner().forward(BATCH)
    between, decode = card.passes(tmp_path)
    assert (between.mode, decode.mode, decode.tokens) == ("", "DECODE", 3)
    assert between.happened["device-to-host copy"] == 1
    assert decode.happened["device-to-host copy"] == 1
    assert decode.copied == 16
    (place,) = decode.places
    assert "test_card.py" in place
    assert decode.kept >= 16


def test_kernels_are_counted_on_the_cpu(tmp_path):
    from sglang_contracts.fakes.kunlun_sdk import launch

    module = types.SimpleNamespace(kernel=launch.kernel)
    card._count_launches(module)

    @module.kernel("kunlun_ops")
    def doubled(x):
        return 2 * x

    module = runner(lambda self, batch: doubled(torch.ones(1)))
    card._count_passes(module, tmp_path)
    module.ModelRunner().forward(BATCH)
    assert doubled.kunlun_kernel == "kunlun_ops.doubled"
    found = [each.kernels for each in card.passes(tmp_path)]
    assert found == [{}, {"kunlun_ops.doubled": 1}]


def test_what_is_written_can_be_read_line_by_line(tmp_path):
    (tmp_path / "card-1.jsonl").write_text(
        json.dumps(vars(card.Pass("EXTEND", 5, {}, {}, {}, 0, 0))) + "\n"
    )
    (found,) = card.passes(tmp_path)
    assert found.tokens == 5
