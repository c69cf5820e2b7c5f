"""The real engine on the simulated card, quantised, and on two ranks: the same tokens."""

import pytest

LAYERS = 2
PREFILL, DECODE = "kunlun_ops.prefill_attention", "kunlun_ops.speculative_attention"
COPIES = ("host-to-device copy", "device-to-host copy")


def of(card_run, *modes):
    _, _, passes = card_run
    return [each for each in passes if each.mode in modes]


def test_token_ids_equal_torch_native(card_run, expected):
    _, result, _ = card_run
    ids = [[answer.ids for answer in group] for group in result.answers]
    assert ids == [[answer.ids for answer in group] for group in expected.answers]


def test_decoding_copies_nothing_between_host_and_card(card_run):
    decodes = of(card_run, "DECODE")
    assert len(decodes) >= 10
    assert [each.places for each in decodes if each.places] == []


def test_the_plugin_copies_nothing_in_any_pass(card_run):
    copied = [
        place
        for each in of(card_run, "EXTEND", "DECODE", "MIXED")
        for place in each.places
        if "/kunlun_backend/" in place
    ]
    assert copied == []


def test_no_keys_or_values_pass_through_the_host_between_passes_either(card_run):
    """The pool's own and the backend's lines ask for no copy; the allocator may wait for a mask."""
    copied = [
        place
        for each in of(card_run, "")
        for place in each.places
        if "/kunlun_backend/" in place and place.startswith(COPIES)
    ]
    assert copied == []


def test_each_path_runs_on_its_own_kernel(card_run):
    for each in of(card_run, "DECODE"):
        assert each.kernels[DECODE] == LAYERS
        assert PREFILL not in each.kernels
    for each in of(card_run, "EXTEND"):
        assert each.kernels[PREFILL] == LAYERS
        assert DECODE not in each.kernels


def test_a_step_allocates_the_same_each_time_and_keeps_nothing(card_run):
    decodes = [each for each in of(card_run, "DECODE") if each.tokens == 4]
    assert len({each.happened["allocation"] for each in decodes}) == 1
    assert len({each.happened["kernel"] for each in decodes}) == 1
    kept = [each.kept for each in decodes]
    assert max(kept) - min(kept) < 64 << 10


@pytest.mark.parametrize("kernel", ["kunlun_ops.quant2d", "kunlun_ops.matmul"])
def test_quantised_layers_run_on_the_plugins_kernel(int8_run, kernel):
    """Four linear layers in each block: queries, keys and values are one, gate and up another."""
    for each in of(int8_run, "DECODE", "EXTEND"):
        assert each.kernels[kernel] == 4 * LAYERS


def test_quantised_answers_are_near_those_of_the_model(int8_run, expected):
    _, result, _ = int8_run
    for found, wanted in zip(result.answers[-1], expected.answers[-1], strict=True):
        assert found.ids == wanted.ids  # each leads by more than eight bits lose
        assert found.output_logprobs == pytest.approx(wanted.output_logprobs, abs=0.01)
        assert found.output_logprobs != wanted.output_logprobs


def test_two_ranks_give_the_same_tokens(ranks_run, expected):
    _, result, _ = ranks_run
    ids = [[answer.ids for answer in group] for group in result.answers]
    assert ids == [[answer.ids for answer in group] for group in expected.answers]
