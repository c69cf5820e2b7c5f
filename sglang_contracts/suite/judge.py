"""What a pass is held to: each function one statement, used by the checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sglang_contracts.contract import variant
from sglang_contracts.contract.dimensions import ShapeError, bind
from sglang_contracts.suite.violation import Violation, describe, expect

if TYPE_CHECKING:
    from sglang_contracts.contract import Clause
    from sglang_contracts.suite.bench import Bench
    from sglang_contracts.suite.context import Context
    from sglang_contracts.suite.passes import Pass


def clause_of(context: Context, mode: str) -> Clause | None:
    """The contract's clause on what serves a mode."""
    name = {"decode": "forward_decode", "mixed": "forward_mixed"}.get(mode, "forward_extend")
    found = context.clause(f"attention-backend/{name}")
    return found or context.clause("attention-backend/forward_extend")


def _where(bench: Bench, done: Pass) -> str:
    return f"({done.step.mode}, layer {done.layer}, {bench.cell.label})"


def returns(bench: Bench, done: Pass) -> None:
    """dtype, shape and device of the result are what the contract says."""
    clause = clause_of(bench.context, done.step.mode)
    said = variant(clause.returns, bench.context.release) if clause is not None else None
    dims = {
        "B": len(done.step.requests),
        "T": len(done.step.loc),
        "Hq": bench.cell.heads[0],
        "Hk": bench.cell.heads[1],
        "Dk": bench.cell.dims[0],
        "Dv": bench.cell.dims[1],
    }
    shape = said.shape if said is not None and said.shape is not None else ("T", "Hq * Dv")
    try:
        wanted = bind(shape, dims)
    except ShapeError as error:
        raise RuntimeError(f"the contract's shape {shape} cannot be bound: {error}") from error
    out = done.out
    expect(
        hasattr(out, "dtype"),
        f"the backend returned {type(out).__name__}, not a tensor {_where(bench, done)}",
    )
    expect(
        tuple(out.shape) == wanted,
        f"the result is {describe(out)}; the contract says shape [{', '.join(shape)}] = "
        f"{list(wanted)} {_where(bench, done)}",
    )
    dtypes = said.dtype if said is not None and said.dtype else ("q.dtype",)
    allowed = [
        str(done.given.dtype).removeprefix("torch.") if each == "q.dtype" else each
        for each in dtypes
    ]
    expect(
        str(out.dtype).removeprefix("torch.") in allowed,
        f"the result is {describe(out)}; the contract says {' or '.join(allowed)} "
        f"{_where(bench, done)}",
    )
    expect(
        out.device == done.given.device,
        f"the result is {describe(out)}; the queries are on {done.given.device} "
        f"{_where(bench, done)}",
    )


def writes(bench: Bench, done: Pass, saving: bool = True) -> None:
    """The pool's writing method is called as the contract says, and no other."""
    clause = clause_of(bench.context, done.step.mode)
    said = clause.kv_writes if clause is not None else None
    method = said.method if said is not None else "set_kv_buffer"
    times = (said.times if said is not None else 1) if saving else 0
    made = done.writes
    if not made and bench.context.subject.capabilities.fused_write:
        return  # its kernels write: what then stands in the pool is looked at by raw index
    expect(
        len(made) == times,
        f"{len(made)} calls write the pool ({', '.join(w.method for w in made) or 'none'}); the "
        f"contract says {times} of {method} {_where(bench, done)}",
    )
    for write in made:
        expect(
            write.method == method,
            f"{write.method} was called; the contract says {method} {_where(bench, done)}",
        )
        expect(
            write.layer == done.layer,
            f"{method} was told layer {write.layer}, not {done.layer} {_where(bench, done)}",
        )
        expect(
            write.loc == tuple(done.step.loc),
            f"{method} was given {_slots(write.loc)}, not the {len(done.step.loc)} slots of "
            f"forward_batch.out_cache_loc in their order {_where(bench, done)}",
        )


def _slots(loc: tuple[int, ...] | None) -> str:
    return "no vector of slots" if loc is None else f"{len(loc)} slots"


def _looked(bench: Bench) -> None:
    """Where the bench has not looked, nothing has changed for it: that must not pass."""
    if not bench.looks:
        raise RuntimeError("this judge needs a bench that looks")


def _changed(before: Any, after: Any) -> list[int]:
    """Slots whose content is not what it was."""
    return [int(i) for i in (before != after).flatten(1).any(1).nonzero().flatten()]


def only_own_slots(bench: Bench, done: Pass, saving: bool = True) -> None:
    """Nothing in the pool changes but the batch's own slots of this layer."""
    _looked(bench)
    own = set(done.step.loc) if saving else set()
    for layer, (before, after) in enumerate(zip(done.before, done.after, strict=True)):
        for part, was, now in zip(("keys", "values"), before, after, strict=True):
            expect(
                was.shape == now.shape,
                f"the {part} buffer of layer {layer} went from {list(was.shape)} to "
                f"{list(now.shape)} {_where(bench, done)}",
            )
            foreign = [
                slot for slot in _changed(was, now) if layer != done.layer or slot not in own
            ]
            if not foreign:
                continue
            slot = foreign[0]
            page = bench.cell.page_size
            whose = next(
                (f"request {r.number}'s" for r in bench.requests.values() if slot in r.slots),
                "the padding page's" if slot < page else "nobody's",
            )
            raise Violation(
                f"{len(foreign)} {part} slots outside the batch changed; first: slot {slot} "
                f"(page {slot // page}, {whose}) of layer {layer} {_where(bench, done)}"
            )


def written(bench: Bench, done: Pass) -> None:
    """The batch's own slots hold exactly the keys and values that were given."""
    _looked(bench)
    heads = bench.cell.heads[1]
    keys, values = done.after[done.layer]
    for part, buffer, given in (("keys", keys, done.k), ("values", values, done.v)):
        wanted = given.view(len(done.step.loc), heads, -1).to(buffer.dtype)
        found = buffer[done.step.loc]
        expect(
            found.shape == wanted.shape,
            f"the pool holds {part} of {describe(found)}, given were {describe(wanted)} "
            f"{_where(bench, done)}",
        )
        wrong = [int(i) for i in (found != wanted).flatten(1).any(1).nonzero().flatten()]
        if wrong:
            number, position = bench.owner(done.step, wrong[0])
            raise Violation(
                f"the {part} of {len(wrong)} of {len(wanted)} tokens are not in their slots; "
                f"first: request {number}, position {position}, slot {done.step.loc[wrong[0]]} "
                f"{_where(bench, done)}"
            )


def untouched(bench: Bench, done: Pass) -> None:
    """Queries, keys, values and the batch's vectors are left as they were."""
    _looked(bench)
    expect(
        not done.touched,
        f"the backend changed {', '.join(done.touched)} in place {_where(bench, done)}",
    )


def own_memory(bench: Bench, done: Pass) -> None:
    """The result is contiguous, and shares no memory with the queries or the pool."""
    expect(
        bool(done.out.is_contiguous()),
        f"the result, {describe(done.out)}, is not contiguous: models view it, and core's "
        f"quantised layers assert it {_where(bench, done)}",
    )
    if not done.out.numel():
        return
    place = done.out.untyped_storage().data_ptr()
    buffers = [buffer for layer in range(len(bench.layers)) for buffer in bench.buffers(layer)]
    for what, others in (("the queries", [done.given]), ("the pool", buffers)):
        expect(
            all(other.untyped_storage().data_ptr() != place for other in others),
            f"the result lies in the memory of {what}: what the model does with it in place, it "
            f"does to them {_where(bench, done)}",
        )


ON_WHAT_CHANGED = (only_own_slots, written, untouched)
"""The judges that need a bench which looks at the pool, the batch and the inputs."""
