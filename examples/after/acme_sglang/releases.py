"""What differs between releases of SGLang, in one place."""

try:
    from sglang.kernels.ops.attention.kv_indices import create_flashinfer_kv_indices_triton
except ImportError:  # before 0.5.23
    try:
        from sglang.kernels.ops.kvcache.kv_indices import create_flashinfer_kv_indices_triton
    except ImportError:  # before 0.5.16
        from sglang.srt.layers.attention.utils import create_flashinfer_kv_indices_triton

try:
    from sglang.srt.runtime_context import get_parallel
except ImportError:  # before 0.5.14
    get_parallel = None

build_kv_indices = create_flashinfer_kv_indices_triton


def tensor_parallel_size(model_runner):
    """The number of tensor-parallel ranks: the model runner does not know it since 0.5.22."""
    return model_runner.tp_size if get_parallel is None else get_parallel().tp_size
