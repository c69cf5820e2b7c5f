"""The real engine, on the reference plugin, gives what SGLang's own backend gives."""

import pytest

from sglang_contracts.live.engine import KUNLUN, TORCH_NATIVE
from sglang_contracts.live.reference import PROMPTS


def test_token_ids_equal_torch_native_at_each_page_size(runs, expected):
    for _, result in runs.values():
        compared = result.answers[: len(expected.answers)]  # what follows is drawn
        ids = [[answer.ids for answer in group] for group in compared]
        assert ids == [[answer.ids for answer in group] for group in expected.answers]


def test_a_prefix_that_was_served_before_is_reused(runs):
    for page_size, (_, result) in runs.items():
        (answer,) = result.answers[1]
        assert answer.cached == len(PROMPTS[2]) // page_size * page_size


def test_logprobs_are_those_of_hugging_face_in_bfloat16(builder, runs, expected):
    for _, result in runs.values():
        greedy = result.answers[len(expected.answers) - 1]
        for answer, wanted in zip(greedy, expected.logprobs, strict=True):
            found = (*answer.input_logprobs, *answer.output_logprobs)
            if not builder.differences.prompt_logprobs:
                wanted = wanted[-len(answer.ids) :]
            assert found == pytest.approx(wanted, abs=0.01)


def test_the_kunlun_backend_pool_and_allocator_served(builder, runs, seen):
    classes = {role: found.cls for role, found in seen.objects.items()}
    assert classes["backend"] == "kunlun_backend.backend:KunlunAttentionBackend"
    if builder.differences.has_platforms:
        assert classes["platform"].startswith("kunlun_backend.")
        assert {classes["kv_pool@1"], classes["kv_pool@16"]} == {
            "kunlun_backend.pool:KunlunMHATokenToKVPool"
        }
        assert (
            classes["allocator@16"] == "kunlun_backend.allocator:KunlunPagedTokenToKVPoolAllocator"
        )


def test_prefill_chunks_on_a_prefix_and_decodes_both_occurred(runs, seen):
    assert {"extend", "decode", "mixed"} <= seen.modes
    assert any(batch.prefix and "extend" in batch.modes for batch in seen.batches)
    assert {batch.page_size for batch in seen.batches} == set(runs)


def test_nothing_stood_in_for_was_called(runs):
    for _, result in runs.values():
        assert "StandInCallError" not in result.log


def test_torch_native_is_not_the_backend_under_test(expected):
    """The reference comes from another backend than the one it judges."""
    assert TORCH_NATIVE != KUNLUN
    assert expected.answers
