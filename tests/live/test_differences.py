"""Every difference between releases has its answer for each side of the change."""

import pytest

from sglang_contracts.live import build, differences


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("has_attention_registry", "0.5.3"),
        ("has_platforms", "0.5.11"),
    ],
)
def test_an_answer_changes_with_the_release_that_changed_it(question, first):
    assert getattr(differences.Differences(first), question)
    before = {"0.5.3": "0.5.2.post1", "0.5.11": "0.5.10.post1"}[first]
    assert not getattr(differences.Differences(before), question)


def test_latent_attention_is_served_by_any_backend_since_0_5_5():
    assert differences.Differences("0.5.5").serves_latent_attention
    assert not differences.Differences("0.5.4.post3").serves_latent_attention


def test_triton_is_needed_up_to_0_5_21():
    assert differences.Differences("0.5.21").needs_triton_interpreter
    assert not differences.Differences("0.5.22").needs_triton_interpreter


def test_a_post_release_has_the_defect_of_its_release():
    for release, fine in (("0.5.11", True), ("0.5.12", False), ("0.5.12.post1", False)):
        assert differences.Differences(release).prompt_logprobs is fine


class Pool:
    """Takes rows the way of one release, and refuses the others."""

    def alloc(self, count):
        assert isinstance(count, int)
        return list(range(count))

    def free(self, rows):
        self.freed = rows


class PoolOfRequests:
    def alloc(self, reqs):
        assert all(req.req_pool_idx is None for req in reqs)
        return list(range(len(reqs)))

    def free(self, req):
        self.freed = [*getattr(self, "freed", []), req.req_pool_idx]


class PoolOfRows:
    def alloc_rows(self, need_size):
        return list(range(need_size)) if need_size < 9 else None

    def free_rows(self, indices):
        self.freed = indices


@pytest.mark.parametrize(
    ("release", "pool"),
    [
        ("0.5.8.post1", Pool),
        ("0.5.9", PoolOfRequests),
        ("0.5.18", PoolOfRequests),
        ("0.5.19", PoolOfRows),
    ],
)
def test_rows_are_taken_and_given_back_in_the_way_of_the_release(release, pool):
    made, answer = pool(), differences.Differences(release)
    assert answer.alloc_rows(made, 3) == [0, 1, 2]
    answer.free_rows(made, [0, 2])
    assert made.freed == [0, 2]


def test_an_empty_pool_is_an_error_not_none():
    with pytest.raises(RuntimeError, match="no 9 free rows"):
        differences.Differences("0.5.20").alloc_rows(PoolOfRows(), 9)


def test_a_constructor_gets_what_it_takes_and_says_what_it_misses():
    class Made:
        def __init__(self, size, *, extra=1):
            self.size, self.extra = size, extra

    assert build.construct(Made, size=2, device="cpu").size == 2
    with pytest.raises(TypeError, match="also requires size"):
        build.construct(Made, device="cpu")


def test_a_missing_symbol_names_all_its_spellings():
    with pytest.raises(ImportError, match="has none of no_such:A, json:nothing"):
        differences.symbol("no_such:A", "json:nothing")
