"""An allocation kernel that reads past its list of free pages reads zeros, not this process."""

import types

import pytest

torch = pytest.importorskip("torch")

from sglang_contracts.live import replacements  # noqa: E402


class InterpretedFunction:
    """What Triton makes of a kernel where ``TRITON_INTERPRET`` is set."""

    def __init__(self, fn):
        self.fn = fn
        self.launches = []

    def __getitem__(self, grid):
        return lambda **given: self.launches.append((grid, given))


def _extend(pre_lens_ptr, seq_lens_ptr, last_loc_ptr, free_page_ptr, out_indices, bs_upper): ...


def _other(x_ptr, y_ptr): ...


@pytest.fixture
def module():
    made = types.SimpleNamespace(
        alloc_extend_kernel=InterpretedFunction(_extend),
        alloc_decode_kernel=InterpretedFunction(_other),
    )
    for patch in replacements.PATCHES["sglang.srt.mem_cache.allocator"]:
        patch(made)
    return made


@pytest.mark.parametrize("pages", [[], [7, 9]])
def test_pages_beyond_the_free_ones_are_there_to_be_read(module, pages):
    given, out = torch.tensor(pages, dtype=torch.int64), torch.empty(3, dtype=torch.int64)
    module.alloc_extend_kernel[(2,)]("p", "s", "l", given, out, bs_upper=4)
    ((grid, launched),) = module.alloc_extend_kernel.launches
    assert grid == (2,)
    assert launched["free_page_ptr"].tolist() == [*pages, 0, 0, 0, 0]
    assert launched["free_page_ptr"].data_ptr()
    assert launched["out_indices"] is out
    assert (launched["pre_lens_ptr"], launched["bs_upper"]) == ("p", 4)
    assert given.tolist() == pages


def test_a_kernel_of_another_form_and_one_that_is_compiled_stay_as_they_are(module):
    assert isinstance(module.alloc_decode_kernel, InterpretedFunction)
    compiled = types.SimpleNamespace(alloc_extend_kernel=object())
    kept = compiled.alloc_extend_kernel
    for patch in replacements.PATCHES["sglang.kernels.ops.memory.allocator"]:
        patch(compiled)
    assert compiled.alloc_extend_kernel is kept
