import pytest

from sglang_contracts.contract.layout import LayoutError, layout


def test_a_slot_is_found_in_any_layout():
    assert layout(["slot", "head", "dim"]).index(35, 16) == (35, slice(None), slice(None))
    paged = layout(["page", "head", "offset", "dim"])
    assert paged.index(35, 16) == (2, slice(None), 3, slice(None))
    assert paged.paged


def test_a_layout_knows_how_to_become_another():
    mine = layout(["page", "head", "offset", "dim"])
    theirs = layout(["page", "offset", "head", "dim"])
    assert mine.order(theirs) == (0, 2, 1, 3)
    assert mine.shape({"page": 4, "head": 2, "offset": 16, "dim": 8}) == (4, 2, 16, 8)
    with pytest.raises(LayoutError, match="other axes"):
        mine.order(layout(["slot", "head", "dim"]))


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        (["slot", "heads", "dim"], "unknown axis 'heads'"),
        (["slot", "slot"], "twice"),
        (["head", "dim"], "has 'slot', or"),
        (["page", "head", "dim"], "has 'slot', or"),
        (["slot", "page", "offset"], "has 'slot', or"),
    ],
)
def test_what_is_no_permutation_is_refused(axes, message):
    with pytest.raises(LayoutError, match=message):
        layout(axes)
