"""int8 checkpoints survive packing, loading and multiplying."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from kunlun_backend import weights  # noqa: E402 - after the skip


def pack(rows):
    """Four int8 to a word, lowest byte first, in plain Python."""
    words = []
    for row in rows:
        groups = [row[start : start + 4] for start in range(0, len(row), 4)]
        words.append(
            [int.from_bytes(bytes(v & 255 for v in g), "little", signed=True) for g in groups]
        )
    return torch.tensor(words, dtype=torch.int32)


@given(
    st.integers(1, 4).flatmap(
        lambda quads: st.lists(
            st.lists(st.integers(-128, 127), min_size=4 * quads, max_size=4 * quads),
            min_size=1,
            max_size=4,
        )
    )
)
def test_packed_words_unpack_to_what_was_packed(rows):
    unpacked = weights.unpack_words(pack(rows))
    assert unpacked.dtype == torch.int8
    assert unpacked.tolist() == rows


@pytest.mark.parametrize("shape", [(6, 32), (2, 3, 32)])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_an_int8_layer_stays_close_to_the_exact_product(shim, shape, bias, dtype):
    random = torch.Generator().manual_seed(0)
    exact = torch.randn(10, 32, generator=random)
    scale = exact.abs().amax(-1, keepdim=True) / 127
    quantised = (exact / scale).round().to(torch.int8)
    packed = pack(quantised.tolist())
    x = torch.randn(*shape, generator=random).to(dtype)
    added = torch.randn(10, generator=random) if bias else None
    out = weights.int8_linear(x, weights.unpack_words(packed), weights.channel_max(scale), added)
    assert out.shape == (*shape[:-1], 10)
    assert out.dtype == dtype
    expected = x.double() @ exact.double().T + (0 if added is None else added)
    # Half a step of either operand at each of 32 products, and the output's rounding.
    bound = 32 * (x.abs().amax().item() + exact.abs().amax().item()) * 4 / 127 / 2
    error = (out.double() - expected).abs().max().item()
    assert error <= bound * 0.2
    assert error > 0, "int8 cannot be exact: nothing was quantised"


def test_a_wrong_scale_is_far_off(shim):
    """The bound above bites: scales taken for magnitudes are 127 times too small."""
    weight = torch.full((4, 8), 64, dtype=torch.int8)
    scale = torch.full((4, 1), 0.5)
    x = torch.ones(1, 8)
    right = weights.int8_linear(x, weight, weights.channel_max(scale))
    wrong = weights.int8_linear(x, weight, scale.view(-1))
    torch.testing.assert_close(right, torch.full((1, 4), 8 * 64 * 0.5))
    assert wrong[0, 0] < right[0, 0] / 100
