"""A book of which slots are whose, written apart from any allocator, to hold allocators to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sglang_contracts.suite.violation import ask, describe, expect

if TYPE_CHECKING:
    from sglang_contracts.suite.bench import Bench


@dataclass
class Book:
    """Requests and the slots that an allocator has given them.

    Attributes:
        bench: Whose allocator is asked.
        requests: Number → its slots in order, shared ones first.
        grouping: Whether frees are deferred at the moment.
    """

    bench: Bench
    requests: dict[int, list[int]] = field(default_factory=dict)
    grouping: bool = False

    @property
    def page(self) -> int:
        """Slots of a page."""
        return self.bench.cell.page_size

    @property
    def capacity(self) -> int:
        """Slots that can be given out."""
        return self.bench.geometry.size

    def live(self) -> set[int]:
        """Slots that are given out."""
        return {slot for slots in self.requests.values() for slot in slots}

    def pages_out(self) -> set[int]:
        """Pages that are given out."""
        return {slot // self.page for slot in self.live()}

    def free(self) -> int:
        """Slots that must be available now."""
        return self.capacity - len(self.pages_out()) * self.page

    def new_pages(self, number: int, count: int) -> int:
        """Pages that ``count`` more tokens of a request take."""
        have = len(self.requests.get(number, ()))
        return -(-(have + count) // self.page) - -(-have // self.page)

    def extend(self, counts: dict[int, int]) -> bool:
        """Ask for tokens of several requests; whether they fitted.

        Raises:
            Violation: The answer breaks a rule.
        """
        before = [len(self.requests.get(n, ())) for n in counts]
        last = [self.requests[n][-1] if self.requests.get(n) else -1 for n in counts]
        after = [b + c for b, c in zip(before, counts.values(), strict=True)]
        loc = ask(
            f"alloc_extend for {len(counts)} requests",
            self.bench.builder.alloc_extend,
            self.bench.allocator,
            before,
            after,
            last,
        )
        return self._book(counts, loc, "alloc_extend" if self.page > 1 else "alloc")

    def decode(self, numbers: list[int]) -> bool:
        """Ask for one token of each request; whether they fitted."""
        last = [self.requests[n][-1] for n in numbers]
        after = [len(self.requests[n]) + 1 for n in numbers]
        loc = ask(
            f"alloc_decode for {len(numbers)} requests",
            self.bench.builder.alloc_decode,
            self.bench.allocator,
            after,
            last,
        )
        counts = dict.fromkeys(numbers, 1)
        return self._book(counts, loc, "alloc_decode" if self.page > 1 else "alloc")

    def reserve(self, number: int, pages: int) -> None:
        """Ask ``alloc`` for whole pages, which a new request owns from here on.

        Raises:
            Violation: The answer breaks a rule.
        """
        counts = {number: pages * self.page}
        loc = ask("alloc", self.bench.allocator.alloc, pages * self.page)
        if not self._book(counts, loc, "alloc"):
            expect(False, f"alloc gives None for {pages} pages ({self.bench.cell.label})")

    def _book(self, counts: dict[int, int], loc: Any, what: str) -> bool:
        pages = sum(self.new_pages(n, c) for n, c in counts.items())
        fits = pages * self.page <= self.free()
        if loc is None:
            expect(
                not fits,
                f"{what} gives None although {self.free()} of {self.capacity} slots are free and "
                f"{pages * self.page} are wanted ({self.bench.cell.label})",
            )
            return False
        total = sum(counts.values())
        expect(
            hasattr(loc, "dtype") and tuple(loc.shape) == (total,),
            f"{what} gives {describe(loc)}, not {total} slots",
        )
        expect(
            str(loc.dtype) == "torch.int64",
            f"{what} gives {describe(loc)}; slots are int64",
        )
        expect(
            loc.device.type == self.bench.device,
            f"{what} gives {describe(loc)}, not on {self.bench.device}",
        )
        slots = [int(each) for each in loc.tolist()]
        expect(
            fits,
            f"{what} gives slots although only {self.free()} are free and {pages * self.page} are "
            f"wanted ({self.bench.cell.label})",
        )
        out, offset = self.live(), 0
        taken_pages = self.pages_out()
        for number, count in counts.items():
            mine = self.requests.setdefault(number, [])
            for slot in slots[offset : offset + count]:
                self._check(slot, mine, out, taken_pages, what)
                out.add(slot)
                taken_pages.add(slot // self.page)
                mine.append(slot)
            offset += count
        return True

    def _check(self, slot: int, mine: list[int], out: set[int], taken: set[int], what: str) -> None:
        label = self.bench.cell.label
        expect(
            self.page <= slot < self.capacity + self.page,
            f"{what} gives slot {slot}: usable are {self.page} to "
            f"{self.capacity + self.page - 1} ({label})",
        )
        expect(slot not in out, f"{what} gives slot {slot}, which is given out already ({label})")
        if len(mine) % self.page:
            expect(
                slot == mine[-1] + 1,
                f"{what} goes on with slot {slot} after {mine[-1]} within a page ({label})",
            )
        else:
            expect(
                slot % self.page == 0,
                f"{what} begins a page in its middle: slot {slot} ({label})",
            )
            expect(
                slot // self.page not in taken,
                f"{what} gives page {slot // self.page} to two requests ({label})",
            )

    def release(self, number: int) -> list[int]:
        """Free a request's slots, but those that others share: the last to leave frees them."""
        slots = self.requests.pop(number)
        kept = self.pages_out()
        freed = [slot for slot in slots if slot // self.page not in kept]
        if freed:
            self.give_back(freed, len(slots) - len(freed), number % 3)
        return freed

    def give_back(self, slots: list[int], start: int, way: int) -> None:
        """Free slots in one of the ways in which core does.

        Args:
            slots: Of one request, in its order, from a page's first on.
            start: Position of the first.
            way: 1: int64 as they were given out, the last page first, for no order is promised;
                2: as a segment, where the release has that (since 0.5.17 its prefix cache does
                so); else a piece of the request's int32 row, which the row's next owner overwrites.
        """
        allocator, page = self.bench.allocator, self.page
        if way == 1:
            turned = [s for i in reversed(range(0, len(slots), page)) for s in slots[i : i + page]]
            ask("free", allocator.free, self.bench.tensor(turned, "int64"))
            return
        row = self.bench.tensor(slots, "int32")
        if way == 2 and hasattr(allocator, "free_segment"):
            ask("free_segment", allocator.free_segment, row, start_pos=start)
        else:
            ask("free of a row of the request table", allocator.free, row)
        if not self.grouping:
            row.zero_()

    def check_available(self, what: str) -> None:
        """``available_size()`` is what the book says."""
        found = int(ask("available_size", self.bench.allocator.available_size))
        expect(
            found == self.free(),
            f"{what}: available_size() gives {found}, {self.free()} of {self.capacity} slots are "
            f"free ({self.bench.cell.label})",
        )
