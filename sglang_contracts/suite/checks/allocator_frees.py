"""Level 3: what comes back to the allocator: twice, in groups, by a restored state, all at once."""

from __future__ import annotations

from sglang_contracts.suite.bench import Bench
from sglang_contracts.suite.book import Book
from sglang_contracts.suite.checks.allocator import cells_of
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.script import Cell
from sglang_contracts.suite.violation import Inapplicable, ask, expect


@check(
    "allocator.double-free-is-refused",
    3,
    "Slots that are freed twice are not given to two requests, and not counted twice",
    needs=("refuses-double-free",),
    clauses=("kv-allocator-paged/free",),
    why="One bookkeeping slip elsewhere would mix up texts for good.",
)
def _double(context: Context) -> None:
    def body(cell: Cell) -> None:
        bench = Bench(context, cell, slots=256)
        book = Book(bench)
        page = cell.page_size
        book.extend({0: 2 * page, 1: page})
        for way in range(3):  # freed in one way, then in another
            book.extend({way + 6: page})
            freed = list(book.requests[way + 6])
            book.release(way + 6)
            for again in range(3):
                book.give_back(freed, 0, again)
                book.check_available("after a double free")
        if hasattr(bench.allocator, "free_group_begin"):
            book.extend({9: page, 10: page})
            first, second = book.requests.pop(9), book.requests.pop(10)
            ask("free_group_begin", bench.allocator.free_group_begin)
            book.grouping = True
            for slots in (first, list(first), second):
                book.give_back(slots, 0, 1)
            book.grouping = False
            ask("free_group_end", bench.allocator.free_group_end)
            book.check_available("after slots were freed twice within one group")
            book.give_back(first, 0, 1)
            book.check_available("after slots freed in a group were freed again")
        freed = list(book.requests[0])
        book.release(0)
        book.give_back(freed, 0, 0)
        book.check_available("after a double free")
        book.extend({11: 2 * page})
        gone = list(book.requests[11])
        ask("clear", bench.allocator.clear)
        book.requests.clear()
        book.give_back(gone, 0, 0)
        book.check_available("after a late free of slots that clear() had taken back")
        whole = book.free()
        expect(
            book.extend({2: whole // 2 // page * page}) and book.extend({3: book.free()}),
            f"after a double free the rest of the pool is refused ({cell.label})",
        )
        expect(
            not book.extend({4: 1}),
            f"after a double free more slots are given out than there are ({cell.label})",
        )

    context.explore(cells_of(context), None, body)


@check(
    "allocator.free-group-is-one-free",
    3,
    "Between free_group_begin and free_group_end frees are deferred, and none is lost",
    clauses=("kv-allocator/free_group_begin", "kv-allocator/free_group_end"),
    forbids_raising=True,
    why="The scheduler frees a whole batch at once.",
)
def _group(context: Context) -> None:
    def body(cell: Cell) -> None:
        bench = Bench(context, cell, slots=256)
        if not hasattr(bench.allocator, "free_group_begin"):
            raise Inapplicable(f"SGLang {context.release} has no groups of frees")
        book = Book(bench)
        page = cell.page_size
        part = max(1, page // 2 - 1)  # most requests end inside a page
        book.extend({0: page + part, 1: page, 2: part, 4: page})
        nothing = bench.tensor([], "int64")
        ask("free of no slots", bench.allocator.free, nothing)
        book.check_available("after a free of no slots")
        for numbers in ((0, 2, 4), ()):
            ask("free_group_begin", bench.allocator.free_group_begin)
            book.grouping = True
            for number in numbers:
                book.release(number)
            ask("free of no slots in a group", bench.allocator.free, nothing)
            book.grouping = False
            ask("free_group_end", bench.allocator.free_group_end)
            book.check_available(f"after a group of {len(numbers)} frees")
        book.extend({3: page})
        book.check_available("after the group")

    context.explore(cells_of(context), None, body)


@check(
    "allocator.restore-takes-back",
    3,
    "restore_state gives back what was allocated since backup_state, and only that",
    clauses=("kv-allocator-paged/backup_state", "kv-allocator-paged/restore_state"),
    forbids_raising=True,
    why="The scheduler tries an allocation and takes it back.",
)
def _restore(context: Context) -> None:
    if context.clause("kv-allocator-paged/backup_state") is None:
        raise Inapplicable(f"SGLang {context.release} does not take allocations back")

    def body(cell: Cell) -> None:
        bench = Bench(context, cell, slots=256)
        book = Book(bench)
        page = cell.page_size
        book.extend({0: 2 * page})
        kept = ask("backup_state", bench.allocator.backup_state)
        book.extend({1: page, 2: page + 1 if cell.page_size < 64 else page})
        taken_back = book.requests.pop(1) + book.requests.pop(2)
        ask("restore_state", bench.allocator.restore_state, kept)
        book.check_available("after restore_state")
        if context.subject.capabilities.refuses_double_free:
            book.give_back(taken_back, 0, 1)
            book.check_available("after a free of slots that restore_state had taken back")
        book.extend({3: page, 4: page})
        book.check_available("after allocating again")
        for number in (0, 3, 4):
            book.release(number)
        book.check_available("after everything was freed")
        book = Book(Bench(context, cell, slots=256, looks=False, need_sort=True))
        book.extend({0: page, 1: page, 2: page})
        book.release(1)  # waits to be sorted in, until pages run short
        kept = ask("backup_state", book.bench.allocator.backup_state)
        book.extend({5: book.free() // page * page})
        book.requests.pop(5)
        ask("restore_state", book.bench.allocator.restore_state, kept)
        book.check_available("after restore_state, with pages that had waited to be sorted in")
        expect(
            book.extend({6: book.free() // page * page}),
            f"after restore_state, pages that are free are refused ({cell.label})",
        )

    context.explore(cells_of(context), None, body)


@check(
    "allocator.clear-forgets-everything",
    3,
    "After clear() the whole capacity is free",
    clauses=("kv-allocator/clear",),
    forbids_raising=True,
    why="flush_cache relies on it.",
)
def _clear(context: Context) -> None:
    def body(cell: Cell) -> None:
        bench = Bench(context, cell, slots=256)
        book = Book(bench)
        book.extend({0: 2 * book.page, 1: book.page})
        ask("clear", bench.allocator.clear)
        book.requests.clear()
        book.check_available("after clear")
        expect(book.extend({0: book.capacity}), "after clear() the whole capacity is refused")

    context.explore(cells_of(context), None, body)
