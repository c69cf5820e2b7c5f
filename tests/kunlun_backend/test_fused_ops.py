"""The fused norm computes what SGLang's layer does, and leaves it what the kernel lacks."""

from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from kunlun_backend import fused_ops  # noqa: E402 - after the skip


def layer(**changes):
    values = {
        "weight": torch.randn(16, generator=torch.Generator().manual_seed(5)).bfloat16(),
        "variance_epsilon": 1e-6,
        "has_weight": True,
        "fp32_residual": False,
        "cast_x_before_out_mul": False,
        "variance_size_override": None,
        "override_orig_dtype": None,
    }
    return SimpleNamespace(**{**values, **changes})


def never(*args, **options):
    raise AssertionError("the kernel should have served this")


def normed(x, weight):
    x = x.double()
    return x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt() * weight.double()


@pytest.mark.parametrize("shape", [(5, 16), (2, 3, 16)])
def test_the_norm_equals_float64_rounded_once(shim, shape):
    norm, x = layer(), torch.randn(shape).bfloat16()
    out = fused_ops.rms_norm(never, norm, x)
    torch.testing.assert_close(out.double(), normed(x, norm.weight), rtol=2**-8, atol=1e-6)
    assert out.dtype == x.dtype


def test_the_sum_with_the_residual_is_kept_and_normed_unrounded(shim):
    norm = layer()
    x, residual = torch.randn(5, 16).bfloat16(), torch.randn(5, 16).bfloat16()
    before = residual.clone()
    out, total = fused_ops.rms_norm(never, norm, x, residual)
    exact = x.double() + residual.double()
    assert torch.equal(total, exact.bfloat16())
    torch.testing.assert_close(out.double(), normed(exact, norm.weight), rtol=2**-8, atol=1e-6)
    assert torch.equal(residual, before)


@pytest.mark.parametrize(
    "changes",
    [
        {"has_weight": False},
        {"fp32_residual": True},
        {"cast_x_before_out_mul": True},
        {"variance_size_override": 8},
        {"override_orig_dtype": torch.float32},
    ],
)
def test_variants_stay_with_sglang(shim, changes):
    norm, x = layer(**changes), torch.randn(2, 16)
    assert fused_ops.rms_norm(lambda *args: args, norm, x) == (norm, x, None)


def test_additions_stay_with_sglang_however_they_are_passed(shim):
    norm, x, more = layer(), torch.randn(2, 16), torch.randn(2, 16)

    def original(*args, **options):
        return args, options

    assert fused_ops.rms_norm(original, norm, x, x, more) == ((norm, x, x, more), {})
    args, options = fused_ops.rms_norm(original, norm, x, x, post_residual_addition=more)
    assert args == (norm, x, x)
    assert options == {"post_residual_addition": more}
    out = fused_ops.rms_norm(never, norm, x, None, None, quant_linear=None)
    assert torch.is_tensor(out)
