"""Which names are taken for another's new spelling, and which are not."""

from __future__ import annotations

import pytest

from sglang_contracts.verify.suggest.likeness import renamed_alike


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("nsa_prefill_backend", "dsa_prefill_backend"),
        ("init_attention_backend", "init_attention_backends"),
        ("get_mha_kv_pool_cls", "get_kv_pool_cls"),
        ("is_draft_extend", "is_draft_extend_v2"),
        ("DRAFT_EXTEND", "DRAFT_EXTEND_V2"),
    ],
)
def test_a_word_spelled_anew_or_left_out_is_a_rename(name: str, other: str) -> None:
    assert renamed_alike(name, other)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("disable_piecewise_cuda_graph", "disable_decode_cuda_graph"),
        ("get_attention_cp_rank", "get_attention_moe_rank"),
        ("cuda_graph_max_bs", "cuda_graph_max_bs_decode"),
        ("kv_event_queue", "kv_events"),
        ("enable_ep_moe", "enable_trace"),
        ("impl", "model"),
    ],
)
def test_another_word_or_one_more_is_no_rename(name: str, other: str) -> None:
    assert not renamed_alike(name, other)
