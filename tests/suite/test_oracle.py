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


@pytest.mark.parametrize(
    "changed", [{"cap": 0.7}, {"sinks": [0.5, -1.0, 2.0, 0.0]}, {"causal": False}], ids=str
)
def test_layers_that_are_not_plain_equal_the_textbook(changed):
    draw = numpy.random.default_rng(5)
    q, k, v = (draw.normal(size=(6, heads, 8)) for heads in (4, 2, 2))
    found = attention(q, k, v, 0.4, **changed)
    for head in range(4):
        scores = q[:, head] @ k[:, head // 2].T * 0.4
        if "cap" in changed:
            scores = 0.7 * numpy.tanh(scores / 0.7)
        if changed.get("causal", True):
            scores = numpy.where(numpy.tri(6, dtype=bool), scores, -numpy.inf)
        weights = numpy.exp(scores)
        sink = numpy.exp(changed["sinks"][head]) if "sinks" in changed else 0.0
        weights /= weights.sum(1, keepdims=True) + sink
        assert numpy.abs(found[:, head] - weights @ v[:, head // 2]).max() < 1e-12
