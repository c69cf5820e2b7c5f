"""Collectives between ranks, each in a process of its own."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from sglang_contracts.suite.checks.hooked import composed
from sglang_contracts.suite.checks.hooks import needs_plugins
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.served import entered
from sglang_contracts.suite.violation import Inapplicable, SubjectError, expect

_SIZES = ((1,), (7,), (64,), (3, 5), (10007,))
"""The last is longer than any staging buffer of whole pages, and no multiple of anything."""
_OTHERS = ((33,), (0, 8))
"""Of bfloat16, in which models compute; the last is a rank's share of no tokens."""
_TIMEOUT = 60.0


def _rank(
    rank: int, ranks: int, file: str, make: Callable[[], Any], work: Callable[..., Any], pipe: Any
) -> None:
    """One rank's process."""
    import torch
    import torch.distributed as distributed

    torch.set_num_threads(1)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    try:
        distributed.init_process_group(
            "gloo", init_method=f"file://{file}", rank=rank, world_size=ranks
        )
        pipe.send(("found", work(make(), rank, ranks)))
        with contextlib.suppress(RuntimeError):
            distributed.barrier()  # who goes first takes the others' connections along
    except BaseException as error:
        text = traceback.format_exception_only(type(error), error)[-1].strip()
        pipe.send(("raised", text))
    finally:
        pipe.close()
        os._exit(0)  # a forked child must not run the parent's exit handlers


def _everywhere(
    context: Context,
    algorithm: str,
    ranks: int,
    work: Callable[..., Any],
    make: Callable[[], Any] | None = None,
) -> list[Any]:
    """What ``work(communicator, rank, ranks)`` gives on each rank.

    ``make`` gives what takes the communicator's place, in the rank's process.
    """
    forked = multiprocessing.get_context("fork")
    cls = context.subject.communicator
    with tempfile.TemporaryDirectory(prefix="sglang-contracts-") as folder:
        started = []
        for rank in range(ranks):
            mine, theirs = forked.Pipe(duplex=False)
            process = forked.Process(
                target=_rank,
                args=(
                    rank,
                    ranks,
                    str(Path(folder) / "store"),
                    make or (lambda: cls(None, algorithm)),
                    work,
                    theirs,
                ),
                daemon=True,
            )
            process.start()
            theirs.close()
            started.append((process, mine))
        answers = []
        try:
            for rank, (_, pipe) in enumerate(started):
                if not pipe.poll(_TIMEOUT):
                    raise SubjectError(
                        f"{algorithm} over {ranks} ranks",
                        TimeoutError(f"rank {rank} gave no answer in {_TIMEOUT:.0f} s"),
                    )
                kind, value = pipe.recv()
                if kind == "raised":
                    raise SubjectError(
                        f"{algorithm} over {ranks} ranks, rank {rank}", RuntimeError(value)
                    )
                answers.append(value)
        finally:
            for process, pipe in started:
                process.kill()
                process.join()
                pipe.close()
    return answers


def _worlds(context: Context) -> list[tuple[str, int]]:
    if context.subject.communicator is None:
        raise Inapplicable("the plugin declares no 'communicator.class'")
    if "fork" not in multiprocessing.get_all_start_methods():
        raise Inapplicable("this system cannot fork: ranks cannot be started")
    algorithms = context.subject.capabilities.communicator.get("algorithms") or ("",)
    worlds = (2, 3, 4) if context.profile.all_cells else (3,)
    return [(algorithm, ranks) for algorithm in algorithms for ranks in worlds]


def _reduce(communicator: Any, rank: int, ranks: int) -> list[Any]:
    import torch

    found: list[Any] = []
    for index, size in enumerate(_SIZES):
        tensor = torch.full(size, float(2**rank)) + torch.arange(size[-1]) * (index + 1)
        given = tensor.t().contiguous().t() if tensor.dim() == 2 else tensor.clone()
        result = communicator.all_reduce(given)
        found.append(given if result is None else result)
    for size in _OTHERS:
        given = torch.full(size, 2.0**rank, dtype=torch.bfloat16)
        result = communicator.all_reduce(given)
        found.append(given if result is None else result)
    return _told(found)


def _told(found: list[Any]) -> list[Any]:
    """Results as they can be sent, read once all calls are over: none may overwrite another's."""
    plain = [tensor.tolist() for tensor in found[: len(_SIZES)]]
    return plain + [(str(tensor.dtype), tensor.tolist()) for tensor in found[len(_SIZES) :]]


def _gather(communicator: Any, rank: int, ranks: int) -> list[Any]:
    import torch

    found: list[Any] = []
    changed = 0
    for size in _SIZES:
        tensor = torch.full(size, float(rank)) + torch.arange(size[-1]) / 64
        given = tensor.clone()
        found.append(communicator.all_gather(given))
        changed += not torch.equal(given, tensor)
    for size in _OTHERS:
        part = torch.full(size, float(rank), dtype=torch.bfloat16)
        found.append(communicator.all_gather(part))
    whole = communicator.all_gather(torch.full((3,), rank, dtype=torch.int64))
    return [*_told(found), whole.tolist(), changed]


@check(
    "communicator.all-reduce-sums-every-rank",
    3,
    "all_reduce gives the sum over all ranks on every rank, by every declared algorithm",
    needs=("communicator",),
    clauses=("communication/all_reduce",),
    forbids_raising=True,
    why="A rank left out gives plausible logits that are wrong everywhere.",
)
def _all_reduce(context: Context) -> None:
    import torch

    for algorithm, ranks in _worlds(context):
        answers = _everywhere(context, algorithm, ranks, _reduce)
        for rank, answer in enumerate(answers):
            for index, size in enumerate(_SIZES):
                wanted = torch.full(size, float(2**ranks - 1))
                wanted += torch.arange(size[-1]) * ((index + 1) * ranks)
                found = torch.tensor(answer[index])
                expect(
                    found.shape == wanted.shape,
                    f"{algorithm} over {ranks} ranks: rank {rank} gets shape {list(found.shape)}, "
                    f"not {list(wanted.shape)}",
                )
                wrong = int((found != wanted).sum())
                expect(
                    not wrong,
                    f"{algorithm} over {ranks} ranks: on rank {rank}, {wrong} of {wanted.numel()} "
                    "elements are not the sum over all ranks",
                )
            for size, found in zip(_OTHERS, answer[len(_SIZES) :], strict=True):
                total = torch.full(size, float(2**ranks - 1))
                expect(
                    found == ("torch.bfloat16", total.tolist()),
                    f"{algorithm} over {ranks} ranks: on rank {rank} bfloat16 {list(size)} is "
                    f"{found[0]}, or is not the sum over all ranks",
                )
        if ranks > 2:
            _in_a_part(context, algorithm, ranks)


def _in_a_part(context: Context, algorithm: str, ranks: int) -> None:
    """Hold a group of the last two ranks to the same: its ranks are not the world's."""

    def work(make: Callable[[Any], Any], rank: int, ranks: int) -> Any:
        import torch
        import torch.distributed as distributed

        part = distributed.new_group([ranks - 2, ranks - 1])
        if rank < ranks - 2:
            return None
        given = torch.full((9,), float(2**rank))
        result = make(part).all_reduce(given)
        return (given if result is None else result).tolist()

    cls = context.subject.communicator
    answers = _everywhere(
        context, algorithm, ranks, work, lambda: lambda group: cls(group, algorithm)
    )
    wanted = [float(2 ** (ranks - 2) + 2 ** (ranks - 1))] * 9
    for rank in (ranks - 2, ranks - 1):
        expect(
            answers[rank] == wanted,
            f"{algorithm} in a group of the last two of {ranks} ranks: rank {rank} does not get "
            "the sum over the group",
        )


GROUP = "sglang.srt.distributed.parallel_state.GroupCoordinator.all_reduce"


@check(
    "hooks.group-all-reduce-sums-its-ranks",
    3,
    "GroupCoordinator.all_reduce, with the plugin's hooks on it, sums over the group's ranks alone",
    clauses=("plugin-loading/register", "communication/all_reduce"),
    forbids_raising=True,
    why="The hook is what is served: over all of the world it adds up other models' numbers.",
)
def _grouped(context: Context) -> None:
    needs_plugins(context)
    declared = context.subject.capabilities.communicator
    variable, tried = declared.get("variable", ""), False
    for algorithm in (None, *(declared.get("algorithms", ()) if variable else ())):
        with _switched(variable, algorithm), entered(context.subject) as there:
            hooks = list(there.hooks.get(GROUP, ()))
            if not hooks:
                continue
            tried = True
            if "fork" not in multiprocessing.get_all_start_methods():
                raise Inapplicable("this system cannot fork: ranks cannot be started")
            _sum_hooked(context, hooks, str(algorithm or "the default"))
    if not tried:
        raise Inapplicable(
            f"the plugin has no hook on GroupCoordinator.all_reduce of SGLang {context.release}"
        )


@contextlib.contextmanager
def _switched(variable: str, value: str | None) -> Iterator[None]:
    """Within it the environment's variable has that value; None: it is not set."""
    kept = os.environ.pop(variable, None) if variable else None
    if variable and value is not None:
        os.environ[variable] = value
    try:
        yield
    finally:
        if variable:
            os.environ.pop(variable, None)
            if kept is not None:
                os.environ[variable] = kept


def _sum_hooked(context: Context, hooks: list[Any], what: str) -> None:
    def plain(coordinator: Any, tensor: Any) -> Any:
        import torch.distributed as distributed

        distributed.all_reduce(tensor, group=coordinator.device_group)
        return tensor

    def work(reduce: Callable[..., Any], rank: int, ranks: int) -> Any:
        import torch
        import torch.distributed as distributed

        part = distributed.new_group([0, 2])
        if rank == 1:
            return None
        coordinator = SimpleNamespace(
            device_group=part,
            cpu_group=part,
            ranks=[0, 2],
            world_size=2,
            rank=rank,
            rank_in_group=rank // 2,
            local_rank=rank,
            device=torch.device("cpu"),
            unique_name="tp:0",
        )
        given = torch.full((5, 3), float(2**rank))
        result = reduce(coordinator, given)
        return (given if result is None else result).tolist()

    answers = _everywhere(context, what, 3, work, lambda: composed(plain, hooks))
    for rank in (0, 2):
        expect(
            answers[rank] == [[5.0] * 3] * 5,
            f"all_reduce of a group of ranks 0 and 2, hooked ({what}): rank {rank} does not get "
            "the sum over the group",
        )


@check(
    "communicator.all-gather-keeps-rank-order",
    3,
    "all_gather gives every rank's part, in rank order, on every rank",
    needs=("communicator",),
    clauses=("communication/all_gather",),
    forbids_raising=True,
    why="Vocabulary shards in the wrong order give other words.",
)
def _all_gather(context: Context) -> None:
    import torch

    for algorithm, ranks in _worlds(context):
        answers = _everywhere(context, algorithm, ranks, _gather)
        for rank, answer in enumerate(answers):
            for index, size in enumerate(_SIZES):
                parts = [
                    torch.full(size, float(each)) + torch.arange(size[-1]) / 64
                    for each in range(ranks)
                ]
                wanted = torch.cat(parts)
                found = torch.tensor(answer[index])
                expect(
                    torch.equal(found, wanted),
                    f"{algorithm} over {ranks} ranks: rank {rank} gets shape "
                    f"{list(found.shape)}, not the parts of all ranks in their order "
                    f"{list(wanted.shape)}",
                )
            expect(
                not answer[-1],
                f"{algorithm} over {ranks} ranks: on rank {rank} {answer[-1]} of {len(_SIZES)} "
                "parts are changed by gathering them",
            )
            numbers = [each for each in range(ranks) for _ in range(3)]
            expect(
                answer[-2] == numbers,
                f"{algorithm} over {ranks} ranks: on rank {rank}, whole numbers are not the parts "
                "of all ranks in their order",
            )
            for size, given in zip(_OTHERS, answer[len(_SIZES) : -2], strict=True):
                whole = torch.cat([torch.full(size, float(each)) for each in range(ranks)])
                expect(
                    given == ("torch.bfloat16", whole.tolist()),
                    f"{algorithm} over {ranks} ranks: on rank {rank} bfloat16 {list(size)} is "
                    f"{given[0]}, or is not the parts of all ranks in their order",
                )
