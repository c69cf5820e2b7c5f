"""Errors of a fake go from one process to another, as a pool of processes sends them."""

import copy
import pickle

import pytest

from sglang_contracts import fakes


def _shape_only():
    from sglang.srt.server_args import prepare_server_args

    prepare_server_args(["--model-path", "x"])


def _attribute():
    import sglang.srt

    return sglang.srt.nonsense


def _name():
    from sglang.srt.model_executor.forward_batch_info import nonsense

    return nonsense


def _module():
    import sglang.srt.nonsense

    return sglang.srt.nonsense


def _call():
    from sglang.srt.model_executor.forward_batch_info import ForwardMode

    ForwardMode.DECODE.is_decode(nonsense=1)


@pytest.mark.parametrize("again", [lambda e: pickle.loads(pickle.dumps(e)), copy.deepcopy])
@pytest.mark.parametrize(
    ("raises", "kind"),
    [
        (_shape_only, fakes.FakeError),
        (_attribute, fakes.MissingAttributeError),
        (_name, fakes.MissingImportError),
        (_module, fakes.MissingModuleError),
        (_call, fakes.WrongCallError),
    ],
)
def test_an_error_arrives_as_it_was_told(raises, kind, again):
    with fakes.install("0.5.20"), pytest.raises(kind) as caught:
        raises()
    found = again(caught.value)
    assert type(found) is kind
    assert str(found) == str(caught.value)
    assert getattr(found, "name", None) == getattr(caught.value, "name", None)
