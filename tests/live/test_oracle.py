"""The oracle is right where the answer is known without it."""

import math

import pytest

numpy = pytest.importorskip("numpy", reason="the oracle is numpy's: pip install .[suite]")

from sglang_contracts.live import oracle  # noqa: E402


def test_one_token_attends_to_itself_alone():
    values = numpy.array([[[1.0, 2.0]], [[3.0, 5.0]]])
    out = oracle.attention(numpy.ones((2, 1, 2)), numpy.zeros((2, 1, 2)), values, 1.0)
    assert out[0, 0].tolist() == [1.0, 2.0]
    assert out[1, 0].tolist() == [2.0, 3.5]  # equal scores: the mean of both


def test_scale_and_scores_weigh_as_the_exponential_says():
    keys = numpy.array([[[0.0]], [[2.0]]])
    out = oracle.attention(numpy.ones((1, 1, 1)), keys, numpy.array([[[0.0]], [[1.0]]]), 0.5)
    assert out[0, 0, 0] == pytest.approx(math.e / (1 + math.e))


def test_a_prefix_is_seen_by_all_new_tokens():
    values = numpy.arange(4.0).reshape(4, 1, 1)
    out = oracle.attention(numpy.zeros((2, 1, 1)), numpy.zeros((4, 1, 1)), values, 1.0)
    assert out[:, 0, 0].tolist() == [1.0, 1.5]


def test_neighbouring_query_heads_share_a_key_head():
    values = numpy.array([[[1.0], [2.0]]])
    out = oracle.attention(numpy.zeros((1, 4, 1)), numpy.zeros((1, 2, 1)), values, 1.0)
    assert out[0, :, 0].tolist() == [1.0, 1.0, 2.0, 2.0]
