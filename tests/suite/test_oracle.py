import pytest

numpy = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")

from sglang_contracts.suite.oracle import attention  # noqa: E402 - needs what was asked for


@pytest.mark.parametrize("window", [-1, 0, 3])
@pytest.mark.parametrize("count", [1, 4, 9])
def test_the_oracle_equals_torchs_attention(count, window):
    draw = torch.Generator().manual_seed(3)
    q = torch.randn(count, 4, 8, generator=draw, dtype=torch.float64)
    k = torch.randn(9, 2, 8, generator=draw, dtype=torch.float64)
    v = torch.randn(9, 2, 6, generator=draw, dtype=torch.float64)
    seen = torch.ones(count, 9, dtype=torch.bool).tril(9 - count)
    if window >= 0:
        seen &= torch.ones(count, 9, dtype=torch.bool).triu(9 - count - window)
    wanted = torch.nn.functional.scaled_dot_product_attention(
        q.transpose(0, 1), k.transpose(0, 1), v.transpose(0, 1), seen, scale=0.3, enable_gqa=True
    ).transpose(0, 1)
    found = attention(q.numpy(), k.numpy(), v.numpy(), 0.3, window)
    assert numpy.abs(found - wanted.numpy()).max() < 1e-12
