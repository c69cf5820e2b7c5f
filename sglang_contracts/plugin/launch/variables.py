"""Environment variables that belong to SGLang: by their prefix, or by name."""

from __future__ import annotations

import re

UNPREFIXED = (
    "RETURN_ORIGINAL_LOGPROB",
    "USE_VLLM_CUTLASS_W8A8_FP8_KERNEL",
    "USE_VLLM_CUSTOM_ALLREDUCE",
    "USE_TRITON_W8A8_FP8_KERNEL",
    "SUPPORT_CUTLASS_BLOCK_FP8",
    "SIMULATE_ACC_LEN",
    "SIMULATE_ACC_METHOD",
    "SYNC_TOKEN_IDS_ACROSS_TP",
    "ENABLE_MOE_ALIGN_BLOCK_SIZE_TRITON",
    "DISAGGREGATION_TEST_FAILURE_PROB",
    "IN_BATCH_PREFIX_CACHING_CHECK_THRESHOLD",
    "IN_BATCH_PREFIX_CACHING_DEPRIORITIZE_THRESHOLD",
)
"""Variables without the prefix that SGLang alone reads. What other libraries read, too
(``TORCH_CUDA_ARCH_LIST``, ``LMCACHE_CONFIG_FILE``), has an effect whatever SGLang does."""
_NAME = rf"(?:SGLANG|SGL)_[A-Z][A-Z0-9_]*|{'|'.join(UNPREFIXED)}"
NAMED = re.compile(rf"(?<![A-Z0-9_])({_NAME})\b")
SET = re.compile(rf"(?<![A-Z0-9_])({_NAME})=(\S*)")
ASSIGNED = re.compile(rf"({_NAME})=(.*)")


def may_name(text: str) -> bool:
    """Whether a text may name one: a quick look before the patterns."""
    return "SGL" in text or any(name in text for name in UNPREFIXED)
