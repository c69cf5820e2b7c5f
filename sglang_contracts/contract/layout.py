"""KV layouts: a permutation of named axes, so that a vendor's own layout is no obstacle.

SGLang's pool is ``slot, head, dim``; paged vendors use ``page, head, offset, dim`` and the like.
``slot`` is ``page * page_size + offset``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

AXES = ("slot", "page", "offset", "head", "dim")
"""All axes there are. A layout has ``slot``, or ``page`` with ``offset``, never both."""


class LayoutError(ValueError):
    """No permutation of the axes; the message says what is missing or too much."""


class Layout(msgspec.Struct, frozen=True):
    """The order of a pool's axes, outermost first."""

    axes: tuple[str, ...]

    @property
    def paged(self) -> bool:
        """Whether slots are split in page and offset."""
        return "page" in self.axes

    def index(self, slot: int, page_size: int) -> tuple[int | slice, ...]:
        """What to index a buffer with to get ``[head, dim]`` (in the layout's own order).

        Args:
            slot: Number of the KV slot.
            page_size: Slots in a page; not used where the layout is not paged.
        """
        chosen = {"slot": slot, "page": slot // page_size, "offset": slot % page_size}
        return tuple(chosen.get(axis, slice(None)) for axis in self.axes)

    def order(self, other: Layout) -> tuple[int, ...]:
        """Axes of this layout in the order of another: what to pass to ``permute``.

        Raises:
            LayoutError: One is paged and the other is not.
        """
        if set(self.axes) != set(other.axes):
            raise LayoutError(f"{list(self.axes)} has other axes than {list(other.axes)}")
        return tuple(self.axes.index(axis) for axis in other.axes)

    def shape(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """The shape of a buffer, from the size of each axis."""
        return tuple(sizes[axis] for axis in self.axes)


def layout(axes: Sequence[str]) -> Layout:
    """A checked layout.

    Raises:
        LayoutError: An unknown or repeated axis, or slots named twice or not at all.
    """
    for axis in axes:
        if axis not in AXES:
            raise LayoutError(f"unknown axis '{axis}': the axes are {', '.join(AXES)}")
    if len(set(axes)) != len(axes):
        raise LayoutError(f"an axis stands twice in {list(axes)}")
    paged = {"page", "offset"} & set(axes)
    if ("slot" in axes) == bool(paged) or len(paged) == 1:
        raise LayoutError("a layout has 'slot', or 'page' and 'offset'")
    return Layout(tuple(axes))
