"""Which releases a command is about."""

import pytest

from sglang_contracts.errors import ContractsError
from sglang_contracts.verify.commands.releases import find_release, newest_minors, select_releases

RECORDED = (
    "0.4.10.post2", "0.5.1", "0.5.2", "0.5.3", "0.5.4", "0.5.5", "0.5.6", "0.5.7", "0.5.8",
    "0.5.8.post1", "0.5.9", "0.5.10", "0.5.11", "0.5.12", "0.5.12.post1", "0.5.13",
)  # fmt: skip


def test_exact_releases_and_specifiers_add_up():
    chosen = select_releases(RECORDED, ["0.5.1"], [">=0.5.12"])
    assert chosen == ("0.5.1", "0.5.12", "0.5.12.post1", "0.5.13")


def test_the_order_is_that_of_versions_not_of_text():
    assert select_releases(RECORDED, ["0.5.10", "0.5.9"]) == ("0.5.9", "0.5.10")


def test_by_default_what_is_supported_and_the_newest():
    assert select_releases(RECORDED, supported="<0.5.3") == (
        "0.4.10.post2",
        "0.5.1",
        "0.5.2",
        "0.5.13",
    )


def test_else_the_newest_ten_minors_with_their_post_releases():
    chosen = select_releases(RECORDED)
    assert chosen[0] == "0.5.4"
    assert chosen == tuple(newest_minors(RECORDED, 10))
    assert "0.5.8.post1" in chosen


def test_a_matrix_takes_everything():
    assert select_releases(RECORDED, everything=True) == RECORDED


@pytest.mark.parametrize("text", ["0.5.12.post1", "v0.5.12.post1", "0.5.12-post1", " 0.5.12post1 "])
def test_a_release_is_found_under_any_spelling(text):
    assert find_release(text, RECORDED) == "0.5.12.post1"


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("0.5.99", "0.5.12, 0.5.12.post1, 0.5.13"),
        ("0.5.12.post9", "0.5.12, 0.5.12.post1, 0.5.13"),
        ("0.1", "0.4.10.post2, 0.5.1, 0.5.2"),
        ("0.5.8.post2", "0.5.8, 0.5.8.post1, 0.5.9"),
    ],
)
def test_an_unknown_release_is_answered_with_the_nearest(text, near):
    with pytest.raises(ContractsError) as raised:
        find_release(text, RECORDED)
    assert raised.value.message == f"SGLang {text} is not recorded; nearest: {near}"
    assert f"record {text}" in raised.value.hint


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"exact": ["main"]}, "'main' is not a version"),
        ({"specifiers": ["newer"]}, "'newer' is not a version specifier"),
        ({"specifiers": [">=9"]}, "no recorded release matches '>=9'"),
    ],
)
def test_what_cannot_be_chosen_is_an_error(arguments, says):
    with pytest.raises(ContractsError, match=says):
        select_releases(RECORDED, **arguments)


def test_nothing_recorded_is_an_error():
    with pytest.raises(ContractsError, match="no SGLang release is recorded"):
        select_releases(())
