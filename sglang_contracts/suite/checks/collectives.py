"""Collectives between ranks, each in a process of its own."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sglang_contracts.suite.context import Context
from sglang_contracts.suite.registry import check
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
    except BaseException as error:
        text = traceback.format_exception_only(type(error), error)[-1].strip()
        pipe.send(("raised", text))
    finally:
        pipe.close()
        os._exit(0)  # a forked child must not run the parent's exit handlers


def _everywhere(
    context: Context, algorithm: str, ranks: int, work: Callable[..., Any]
) -> list[Any]:
    """What ``work(communicator, rank, ranks)`` gives on each rank."""
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
                    lambda: cls(None, algorithm),
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
        given = tensor.t().clone().t() if tensor.dim() == 2 else tensor.clone()
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
    return [*_told(found), changed]


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
            for size, given in zip(_OTHERS, answer[len(_SIZES) : -1], strict=True):
                whole = torch.cat([torch.full(size, float(each)) for each in range(ranks)])
                expect(
                    given == ("torch.bfloat16", whole.tolist()),
                    f"{algorithm} over {ranks} ranks: on rank {rank} bfloat16 {list(size)} is "
                    f"{given[0]}, or is not the parts of all ranks in their order",
                )
