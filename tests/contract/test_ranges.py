import pytest
from hypothesis import given
from hypothesis import strategies as st

from sglang_contracts.contract.ranges import Range, RangeError, sharp

RELEASES = ["0.4.6", "0.4.6.post1", "0.5.12", "0.5.12.post1", "0.5.13", "0.5.14"]


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        (">=0.5.12", ["0.5.12", "0.5.12.post1", "0.5.13", "0.5.14"]),
        ("<0.5.13", ["0.4.6", "0.4.6.post1", "0.5.12", "0.5.12.post1"]),
        ("<0.5.12.post1", ["0.4.6", "0.4.6.post1", "0.5.12"]),
        ("==0.5.12", ["0.5.12"]),
        (">=0.5.12,<0.5.13", ["0.5.12", "0.5.12.post1"]),
        (["<0.5.12", ">=0.5.14"], ["0.4.6", "0.4.6.post1", "0.5.14"]),
        ([], RELEASES),
    ],
)
def test_a_range_contains_exactly_the_releases_it_says(text, inside):
    assert list(Range.parse(text).select(RELEASES)) == inside


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("<=0.5.12", "<0.5.13"),
        (">0.5.12", ">=0.5.13"),
        ("!=0.5.12", "list"),
        ("~=0.5.12", ">=0.5.12,<0.6"),
        ("0.5.12", ">=X"),
        (">=0.5.12,", ">=X"),
        (">=banana", "X.Y.Z"),
        ("==0.5.*", "wildcards"),
    ],
)
def test_a_bad_range_is_refused_with_what_to_write_instead(text, hint):
    with pytest.raises(RangeError) as caught:
        Range.parse(text)
    assert hint in caught.value.hint
    assert caught.value.text in text


def test_the_trap_of_post_releases_is_explained():
    with pytest.raises(RangeError) as caught:
        Range.parse("<=0.5.12")
    assert "0.5.12.post1" in caught.value.hint


@given(st.lists(st.booleans(), min_size=len(RELEASES), max_size=len(RELEASES)).filter(any))
def test_the_sharp_range_says_exactly_the_presence_it_was_made_from(presence):
    wanted = dict(zip(RELEASES, presence, strict=True))
    found = Range.of(sharp(wanted))
    assert {release: found.contains(release) for release in RELEASES} == wanted


def test_the_sharp_range_stays_open_at_both_ends():
    assert sharp(dict.fromkeys(RELEASES, True)) == ()
    assert sharp({"0.4.6": True, "0.5.12": False, "0.5.13": True}) == ("<0.5.12", ">=0.5.13")


def test_what_is_present_nowhere_has_no_range():
    with pytest.raises(RangeError, match="no recorded release"):
        sharp({"0.4.6": False})
