"""What the token-to-KV allocator must never do, over random runs of requests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sglang_contracts.suite.bench import Bench
from sglang_contracts.suite.book import Book
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.script import SIMPLEST, Cell, _short
from sglang_contracts.suite.violation import Inapplicable, ask, expect
from sglang_contracts.suite.watched import LAYERS


@dataclass(frozen=True, repr=False)
class Run:
    """Operations on an allocator.

    Attributes:
        ops: ``("extend", number, tokens)``, ``("decode", how many)``, ``("free", number)``,
            ``("share", of, pages)``.
        cell: Page size and the rest.
        slots: Slots of the pool.
        sort: The allocator's ``need_sort``.
    """

    ops: tuple[tuple[Any, ...], ...]
    cell: Cell = SIMPLEST
    slots: int = 256
    sort: bool = False

    def __repr__(self) -> str:
        return _short(self)


def cells_of(context: Context) -> tuple[Cell, ...]:
    """A cell of each page size, where the allocator is the plugin's own."""
    if context.subject.allocator is None:
        raise Inapplicable("the plugin uses SGLang's own allocator")
    return context.page_cells(latent=False)


def runs(context: Context, cells: Sequence[Cell]) -> Any:
    """Runs of operations, small by nature."""
    from hypothesis import strategies

    page = max(cell.page_size for cell in cells)
    op = strategies.one_of(
        strategies.tuples(
            strategies.just("extend"),
            strategies.integers(0, 7),
            strategies.one_of(
                strategies.integers(1, 40),
                strategies.sampled_from([max(1, page - 1), page, page + 1, 2 * page]),
            ),
        ),
        strategies.tuples(strategies.just("decode"), strategies.integers(1, 8)),
        strategies.tuples(strategies.just("free"), strategies.integers(0, 7)),
        strategies.tuples(
            strategies.just("share"), strategies.integers(0, 7), strategies.integers(1, 3)
        ),
    )
    return strategies.builds(
        lambda ops, cell, slots, sort: Run(tuple(ops), cell, slots, sort),
        strategies.lists(op, min_size=1, max_size=context.profile.ops),
        strategies.sampled_from(list(cells)),
        strategies.sampled_from([256, 512]),
        strategies.booleans(),
    )


def _apply(book: Book, op: tuple[Any, ...], each: Callable[[list[int]], None]) -> None:
    """Do one operation; ``each`` is called with the requests that got tokens."""
    kind = op[0]
    if kind == "extend":
        number, count = op[1], op[2]
        if len(book.requests.get(number, ())) + count <= 300 and book.extend({number: count}):
            each([number])
    elif kind == "decode":
        numbers = sorted(n for n, slots in book.requests.items() if slots)[: op[1]]
        if numbers and book.decode(numbers):
            each(numbers)
    elif kind == "free":
        if op[1] in book.requests:
            book.release(op[1])
    elif kind == "share":
        donor = book.requests.get(op[1], [])
        length = min(len(donor) // book.page, op[2]) * book.page
        number = max(book.requests, default=0) + 10
        if length:
            book.requests[number] = donor[:length]


def _plain(cells: Sequence[Cell]) -> list[Run]:
    found = []
    for cell in cells:
        page = cell.page_size
        ops: list[tuple[Any, ...]] = [
            ("extend", 0, page + 1),
            ("extend", 1, max(1, page - 1)),
            ("decode", 2),
            ("decode", 2),
            ("free", 0),
            ("extend", 2, 2 * page),
            ("extend", 1, page + 3),
            ("decode", 2),
            ("free", 1),
            ("free", 2),
            ("extend", 4, max(1, page - 2)),
            ("extend", 4, min(2, page)),
            ("extend", 3, 5),
            ("extend", 7, 2 * page),
            ("share", 7, 1),  # with request 17, which is freed from its second page on
            ("extend", 17, page + 1),
            ("free", 17),
        ]
        found.append(Run(tuple(ops), cell, sort=True))
        ops = [("extend", n, 64) for n in range(6)] + [("free", n) for n in range(6)]
        found.append(Run(tuple(ops * 2 + ops[:6]), cell))
    return found


def _opened(context: Context, run: Run) -> Book:
    """The book of a new bench for a run; runs on the allocator alone look at no pool."""
    sort = run.sort
    return Book(Bench(context, run.cell, slots=run.slots, looks=False, need_sort=sort))


def _explore(context: Context, judge: Callable[[Book, tuple[Any, ...]], None]) -> None:
    cells = cells_of(context)

    def body(run: Run) -> None:
        book = _opened(context, run)
        for op in run.ops:
            _apply(book, op, lambda numbers: None)
            judge(book, op)

    context.explore(_plain(cells), runs(context, cells), body)


@check(
    "allocator.slots-are-nobody-elses",
    2,
    "Slots given out are in range, int64, page by page, never the padding page, never twice",
    clauses=("kv-allocator-paged/alloc_extend", "kv-allocator-paged/alloc_decode"),
    why="A slot with two owners mixes up two customers' text.",
)
def _unique(context: Context) -> None:
    _explore(context, lambda book, op: None)


@check(
    "allocator.counts-what-is-free",
    2,
    "available_size() is the capacity less the pages given out, after every operation",
    clauses=("kv-allocator-paged/available_size",),
    why="The scheduler admits requests by it.",
)
def _counts(context: Context) -> None:
    _explore(context, lambda book, op: book.check_available(f"after {op[0]}"))


@check(
    "allocator.freed-slots-come-back",
    2,
    "After everything is freed, the whole capacity can be given out again",
    clauses=("kv-allocator-paged/free",),
    why="Leaked slots shrink the pool until requests queue for ever.",
)
def _come_back(context: Context) -> None:
    cells = cells_of(context)

    def body(run: Run) -> None:
        book = _opened(context, run)
        for op in run.ops:
            _apply(book, op, lambda numbers: None)
        for number in sorted(book.requests, reverse=True):
            book.release(number)
        book.check_available("after everything was freed")
        third = book.capacity // 3 // book.page * book.page
        for number, count in enumerate((third, third, book.capacity - 2 * third)):
            fitted = book.extend({100 + number: count})
            expect(
                fitted,
                f"after everything was freed, {count} slots more than {number * third} are "
                f"refused of {book.capacity} ({run.cell.label})",
            )
        book.check_available("with everything given out")

    context.explore(_plain(cells), runs(context, cells), body, 0.5)


@check(
    "allocator.says-none-when-full",
    2,
    "A request that does not fit gets None, and nothing is taken for it",
    clauses=("kv-allocator-paged/alloc_extend",),
    forbids_raising=True,
    why="The scheduler then evicts or retracts; an exception ends it.",
)
def _full(context: Context) -> None:
    def body(cell: Cell) -> None:
        bench = Bench(context, cell, slots=256)
        book = Book(bench)
        expect(book.extend({0: book.capacity - book.page}), "a request that fits gets None")
        expect(
            not book.extend({1: book.page + 1}),
            f"alloc gives more slots than there are ({cell.label})",
        )
        book.requests.pop(1, None)
        book.check_available("after a request that did not fit")
        expect(book.extend({2: book.page}), "after a refusal, what fits is refused, too")
        if cell.page_size > 1:
            expect(not book.decode([0, 2]), "decode is given slots of a full pool")
        book.check_available("after a decode that did not fit")
        book.release(2)
        expect(book.decode([0]), "a decode that takes the last page gets None")
        book.check_available("after a decode that took the last page")

    context.explore(cells_of(context), None, body)


@check(
    "allocator.alloc-gives-whole-pages",
    2,
    "alloc() gives whole pages that are nobody's, slot after slot, or None",
    clauses=("kv-allocator-paged/alloc",),
    forbids_raising=True,
    why="Disaggregation and the host cache reserve pages by alloc(), past alloc_extend().",
)
def _whole(context: Context) -> None:
    def body(cell: Cell) -> None:
        bench = Bench(context, cell, slots=max(256, 8 * cell.page_size), looks=False)
        book, page = Book(bench), cell.page_size
        book.extend({0: page + 1})
        for number, pages in ((1, 2), (2, 1)):
            book.reserve(number, pages)
            book.check_available("after alloc()")
        found = ask("alloc", bench.allocator.alloc, book.free() + page)
        expect(found is None, f"alloc() gives more slots than are free ({cell.label})")
        book.check_available("after an alloc() that did not fit")
        for number in (1, 0, 2):
            book.release(number)
            book.check_available("after what alloc() gave was freed")

    context.explore(cells_of(context), None, body)


@check(
    "allocator.batches-are-served-in-order",
    2,
    "In a batch of several requests each gets its own slots, in batch order",
    clauses=("kv-allocator-paged/alloc_extend", "kv-allocator-paged/alloc_decode"),
    why="Slots of a batch come as one vector: displaced by one they are all wrong.",
)
def _batches(context: Context) -> None:
    def body(cell: Cell) -> None:
        bench = Bench(context, cell)
        book = Book(bench)
        page = min(cell.page_size, 32)
        book.extend({0: 1, 1: page, 2: page + 1, 3: max(1, page - 1)})
        book.decode([2, 0, 3, 1])
        book.extend({3: page, 4: 2, 0: 2 * page})
        for _ in range(3):
            book.decode([4, 3, 2, 1, 0])
        book.check_available("after batches")

    context.explore(cells_of(context), None, body)


@check(
    "allocator.extends-many-after-frees",
    2,
    "After scattered frees, extensions of several requests, new and old, get free slots alone",
    clauses=("kv-allocator-paged/alloc_extend", "kv-allocator-paged/free"),
    why="A busy pool is never in order: a kernel that counts on rising pages takes live ones.",
)
def _after_frees(context: Context) -> None:
    def body(example: tuple[Cell, bool]) -> None:
        cell, sort = example
        page = cell.page_size
        slots = max(512, 24 * page)
        book = Book(Bench(context, cell, slots=slots, looks=False, need_sort=sort))
        part = min(page, 32)
        book.extend({number: 1 + (number * 5) % (2 * part) for number in range(6)})
        for number in (4, 1, 3):
            book.release(number)
            book.extend({0: part, number + 10: page + 1, 5: 1, number + 20: part})
            book.decode(sorted(book.requests, reverse=True))
            book.check_available("after extending several requests after a free")
        while book.free() >= 2 * page:  # until what was freed has to be taken again
            book.extend({100 + book.free(): page})
        for number in sorted(book.requests)[::2]:
            book.release(number)
        book.extend({500: page + 1, 501: page, 502: 1})
        book.check_available("after a full pool was freed in part")

    context.explore([(c, sort) for c in cells_of(context) for sort in (False, True)], None, body)


_CROWD = 64
_LONG = 3000
"""Tokens of one extension: beyond any block of threads of usual size."""


@check(
    "allocator.large-batches-are-served",
    2,
    "Sixty-four requests and three thousand tokens in one allocation get slots of their own",
    clauses=("kv-allocator-paged/alloc_extend", "kv-allocator-paged/alloc_decode"),
    why="A kernel launched for thirty-two requests leaves the others what was in memory.",
)
def _large(context: Context) -> None:
    def body(cell: Cell) -> None:
        page = min(cell.page_size, 32)
        slots = _LONG + 3 * _CROWD * cell.page_size
        book = Book(Bench(context, cell, slots=slots, looks=False))
        everybody = list(range(_CROWD))
        book.extend({number: (number * 7) % (page + 2) + 1 for number in everybody})
        book.decode(everybody)
        book.extend({_CROWD: _LONG, 3: 2 * page, 5: 1})
        book.decode(everybody[::-1])
        book.check_available("after large batches")

    context.explore(cells_of(context), None, body)


@check(
    "kv-pool.state-machine-keeps-every-token",
    3,
    "Over allocation, writes, sharing, eviction and reuse every live token keeps its keys",
    clauses=("kv-pool-mha/set_kv_buffer", "kv-allocator-paged/alloc_extend"),
    why="Displaced indices show now and then, under load, as another request's text.",
)
def _machine(context: Context) -> None:
    import torch

    from sglang_contracts.suite.passes import noise

    cells = context.page_cells(latent=False)

    def body(run: Run) -> None:
        book = _opened(context, run)
        bench = book.bench
        heads, (dim, value_dim) = run.cell.heads[1], run.cell.dims
        dtype = bench.geometry.torch_dtype
        stored: dict[int, tuple[int, Any, Any]] = {}
        written = 0

        def write(numbers: list[int], counts: dict[int, int]) -> None:
            nonlocal written
            slots = [s for n in numbers for s in book.requests[n][-counts[n] :]]
            for layer in range(LAYERS):
                keys = noise((len(slots), heads, dim), written * 4 + layer).to(dtype)
                values = noise((len(slots), heads, value_dim), written * 4 + 2 + layer).to(dtype)
                if run.cell.latent:
                    values = keys[..., :value_dim]
                ask(
                    "set_kv_buffer",
                    bench.pool.set_kv_buffer,
                    bench.layers[layer],
                    bench.tensor(slots, "int64"),
                    keys.to(bench.device),
                    values.to(bench.device),
                )
                for index, slot in enumerate(slots):
                    stored[slot * LAYERS + layer] = (slot, keys[index], values[index])
            written += 1

        for op in run.ops:
            before = {n: len(slots) for n, slots in book.requests.items()}
            _apply(
                book,
                op,
                lambda numbers, before=before: write(  # type: ignore[misc]  # its own default
                    numbers, {n: len(book.requests[n]) - before.get(n, 0) for n in numbers}
                ),
            )
        raw = [bench.raw(layer) for layer in range(LAYERS)]
        for number, slots in book.requests.items():
            for position, slot in enumerate(slots):
                for layer in range(LAYERS):
                    _, key, value = stored[slot * LAYERS + layer]
                    same = torch.equal(raw[layer][0][slot], key) and torch.equal(
                        raw[layer][1][slot], value
                    )
                    expect(
                        same,
                        f"request {number}, position {position}, slot {slot}, layer {layer}: the "
                        f"pool holds other keys or values than were written ({run.cell.label})",
                    )

    context.explore(_plain(cells), runs(context, cells), body, 0.5)
