"""How a card's memory is divided."""

import pytest

from sglang_contracts.errors import ContractsError
from sglang_contracts.planning import Wanted, plan, read_architecture, read_weights
from sglang_contracts.planning.equations import Equations

GIB = 1 << 30
NEWEST = "0.5.23"


def planned(folder, card, release=NEWEST, **wanted):
    shape = read_architecture(folder)
    ranks = wanted.get("ranks", 1)
    weights = read_weights(folder, shape, ranks)
    return plan(shape, weights, Wanted(round(card * GIB), **wanted), Equations(release))


def concerns(found):
    return [each.id for each in found.concerns if each.id != "weights-are-estimated"]


def test_eight_cards_of_64_at_0_85_are_ample(model):
    found = planned(model(), 64, ranks=8, fraction=0.85, requests=128, context=8192)
    assert 8 * found.static / GIB == pytest.approx(435, abs=1)
    assert found.kv_bytes_a_token == 2 * 128 * 64 * 2
    assert found.requests > 128
    assert concerns(found) == ["rest-is-small"]  # SGLang itself would leave more


def test_cards_of_32_take_about_three_quarters(model):
    found = planned(model(), 32, ranks=8)
    assert found.fraction == found.own_fraction == pytest.approx(0.75, abs=0.01)
    assert concerns(found) == []


def test_the_pool_is_what_weights_leave_of_the_static_part(model):
    found = planned(model(), 64, ranks=4, fraction=0.8, page_size=64)
    assert found.static == int(64 * GIB * 0.8)
    assert found.pool == found.static - found.weights_on_card
    assert found.tokens == found.pool // found.kv_bytes_a_token // 64 * 64
    assert found.rest == 64 * GIB - found.static


def test_what_the_driver_keeps_is_no_ones(model):
    plain = planned(model(), 64, ranks=4, fraction=0.8)
    kept = planned(model(), 64, ranks=4, fraction=0.8, reserved=2 * GIB)
    assert plain.static - kept.static == pytest.approx(0.8 * 2 * GIB, abs=1)


def test_weights_that_do_not_fit_are_an_error_with_the_least_fraction(model):
    found = planned(model(), 64, fraction=0.75)
    assert (found.tokens, concerns(found)) == (0, ["weights-do-not-fit"])
    enough = planned(model(), 64, fraction=found.least_fraction)
    assert enough.tokens > 0
    assert concerns(planned(model(), 48, fraction=0.8))[0] == "weights-exceed-card"


def test_a_rest_that_is_far_too_small_is_a_warning(model):
    assert "rest-does-not-fit" in concerns(planned(model(), 64, ranks=8, fraction=0.95))


def test_requests_that_would_queue_are_said(model):
    found = planned(model(), 32, ranks=8, requests=128, context=8192)
    (concern,) = found.concerns[:1]
    assert (concern.id, concern.severity) == ("requests-queue", "warning")
    assert concern.numbers["fit"] == found.requests < 128


def test_a_context_that_does_not_fit_is_said(model):
    assert "context-does-not-fit" in concerns(planned(model(), 64, ranks=8, context=40000))
    small = planned(model(), 64, ranks=1, fraction=found_fraction(model))
    assert "model-context-does-not-fit" in concerns(small)
    assert small.largest_context == small.tokens < 32768


def found_fraction(model):
    """The least fraction that leaves a pool, and some tokens more."""
    return planned(model(), 64, fraction=0.5).least_fraction + 0.01


def test_heads_that_no_number_of_cards_divides_are_an_error(model):
    assert concerns(planned(model(), 64, ranks=3))[0] == "heads-do-not-divide"


def test_more_cards_than_heads_keep_one_each(model):
    few, many = planned(model(), 64, ranks=8), planned(model(), 64, ranks=40)
    assert few.kv_bytes_a_token == many.kv_bytes_a_token


def test_a_latent_is_the_same_on_each_card(model, deepseek):
    folder = model(deepseek)
    found = planned(folder, 96, ranks=16, fraction=0.9)
    assert found.attention == "mla"
    assert found.kv_bytes_a_token == (512 + 64) * 61 * 2
    sparse = planned(model(deepseek, index_head_dim=128), 96, ranks=16, fraction=0.9)
    assert sparse.kv_bytes_a_token - found.kv_bytes_a_token == (128 + 4) * 61


def test_a_sliding_window_has_a_smaller_pool(model):
    kinds = ["sliding_attention", "full_attention"] * 32
    folder = model(sliding_window=4096, layer_types=kinds)
    found = planned(folder, 64, ranks=8, fraction=0.85, swa_ratio=0.5)
    a_layer = 2 * 128 * 2
    assert found.kv_bytes_a_token == a_layer * (32 + 16)
    assert found.window_tokens == found.tokens // 2
    with pytest.raises(ContractsError, match="not known"):
        planned(folder, 64, "0.5.3", ranks=8)


def test_cached_elements_may_be_smaller(model):
    plain = planned(model(), 64, ranks=8, fraction=0.85)
    small = planned(model(), 64, ranks=8, fraction=0.85, kv_dtype="fp8_e4m3")
    assert 2 * small.kv_bytes_a_token == plain.kv_bytes_a_token


def test_the_defaults_are_those_of_the_release(model):
    old, new = (planned(model(), 32, each, ranks=8) for each in ("0.5.19", "0.5.20"))
    assert old.own_rest == (512 + 2048 * 1.5 + 1024 + 80 * 2) * (1 << 20)
    assert new.own_rest == (512 + 4096 * 1.5 + 1024 + 160 * 2) * (1 << 20)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"fraction": 1.5}, "no part of a card"),
        ({"reserved": 64 * GIB}, "the whole card"),
        ({"kv_dtype": "int3"}, "not known here"),
    ],
)
def test_flags_that_mean_nothing_are_refused(model, wanted, said):
    with pytest.raises(ContractsError, match=said):
        planned(model(), 64, **wanted)
