"""Level 1: what core passes to the attention backend and reads off it."""

from __future__ import annotations

import inspect
from typing import Any

from sglang_contracts.contract import Kind
from sglang_contracts.live.differences import symbol
from sglang_contracts.suite.bench import Bench
from sglang_contracts.suite.checks.platforms import left_open
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.violation import Inapplicable, expect

_ANY = "any_keyword"
"""Stands for what models hand through: ``**kwargs`` in the contract's parameters."""
_BASE = "sglang.srt.layers.attention.base_attn_backend:AttentionBackend"


@check(
    "attention-backend.takes-what-core-passes",
    1,
    "The backend's methods take the arguments that this release's core passes",
    clauses=(
        "attention-backend/forward_extend",
        "attention-backend/forward_decode",
        "attention-backend/init_forward_metadata",
    ),
    why="A new argument is a TypeError in the first pass that has it.",
)
def _arguments(context: Context) -> None:
    from sglang_contracts.contract import variant

    bench = Bench(context, context.cells()[0])
    names = ["init_forward_metadata", "forward_extend", "forward_decode"]
    if context.subject.capabilities.graph_capture:
        names += ["init_cuda_graph_state", "get_cuda_graph_seq_len_fill_value"]
        names += ["init_forward_metadata_out_graph", "init_forward_metadata_in_graph"]
        names += ["init_forward_metadata_capture_cuda_graph"]
        names += ["init_forward_metadata_replay_cuda_graph"]
    for name in names:
        clause = context.clause(f"attention-backend/{name}")
        parameters = variant(clause.parameters, context.release) if clause is not None else None
        if clause is None or parameters is None:
            continue
        method = getattr(bench.backend, name, None)
        expect(
            callable(method),
            f"the backend has no {name}: SGLang {context.release} calls it ({clause.id})",
        )
        offered = inspect.signature(method)  # type: ignore[arg-type]  # it is callable
        positional = [p.rstrip("=") for p in parameters if not p.startswith("*")]
        options: dict[str, Any] = {}
        if "**kwargs" in parameters:
            options[_ANY] = None
        try:
            offered.bind(*[object()] * len(positional), **options)
        except TypeError as error:
            expect(
                False,
                f"{name}{offered} cannot be called with ({', '.join(parameters)}): {error} "
                f"({clause.id})",
            )


@check(
    "attention-backend.keeps-what-core-reads-off-it",
    1,
    "The backend has what core reads off it though no base class declares it",
    clauses=("attention-backend/token_to_kv_pool", "attention-backend/req_to_token_pool"),
    why="forward_context.get_token_to_kv_pool() reads it off the backend since 0.5.13.",
)
def _obligations(context: Context) -> None:
    contract = context.contracts.get("attention-backend")
    wanted = [
        clause
        for clause in (contract.clauses if contract is not None else ())
        if clause.kind is Kind.OBLIGATION
        and not clause.optional
        and clause.holds_in(context.release)
    ]
    if not wanted:
        raise Inapplicable(
            f"SGLang {context.release} reads nothing off a backend that its base does not declare"
        )
    bench = Bench(context, context.cells()[0])
    for clause in wanted:
        found = getattr(bench.backend, clause.name, None)
        expect(
            found is not None,
            f"the backend has no {clause.name}: SGLang {context.release} reads it ({clause.id})",
        )
        given = getattr(bench.runner, clause.name, None)
        expect(
            given is None or found is given,
            f"the backend's {clause.name} is not the model runner's ({clause.id})",
        )


@check(
    "attention-backend.is-an-attention-backend",
    1,
    "The backend is a subclass of AttentionBackend and leaves nothing of it open",
    clauses=("attention-backend/init_forward_metadata",),
    forbids_raising=True,
    why="Core asks it for flags that the base class answers.",
)
def _is_backend(context: Context) -> None:
    bench = Bench(context, context.cells()[0])
    base = symbol(_BASE)
    expect(
        isinstance(bench.backend, base),
        f"{type(bench.backend).__name__} is no subclass of AttentionBackend",
    )
    missing = left_open(type(bench.backend))
    expect(not missing, f"{type(bench.backend).__name__} leaves {', '.join(missing)} open")
    clauses = context.contracts.get("attention-backend")
    for clause in clauses.clauses if clauses is not None else ():
        if clause.kind is not Kind.FIELD or not clause.holds_in(context.release):
            continue
        if hasattr(base, clause.name):
            expect(
                hasattr(bench.backend, clause.name),
                f"core reads {clause.name} off the backend ({clause.id}); it is not there",
            )
