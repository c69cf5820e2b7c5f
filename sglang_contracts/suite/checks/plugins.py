"""Level 1: entry points, what they register, and whether that is what the plugin declares."""

from __future__ import annotations

from typing import Any

from sglang_contracts.errors import nearest
from sglang_contracts.live.differences import symbol
from sglang_contracts.suite.bench import Bench
from sglang_contracts.suite.checks.hooks import needs_plugins
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.served import (
    allocator_class,
    backend_name,
    called,
    entered,
    pool_class,
    stock,
)
from sglang_contracts.suite.subject import resolve
from sglang_contracts.suite.violation import Inapplicable, ask, expect

_CHOICES = "sglang.srt.server_args:ATTENTION_BACKEND_CHOICES"
_BASE = "sglang.srt.layers.attention.base_attn_backend:AttentionBackend"


@check(
    "plugin.entry-points-run",
    1,
    "The plugin's entry points and its platform's init_backend() load and run",
    clauses=("plugin-loading/plugins:load_plugins",),
    forbids_raising=True,
    why="SGLang logs the error and serves without the plugin.",
)
def _entry_points(context: Context) -> None:
    subject = context.subject
    if subject.activate is None and not subject.register:
        raise Inapplicable("the plugin brings no entry points: only its backend was handed over")
    if not context.builder.differences.has_platforms:
        raise Inapplicable(f"SGLang {context.release} has no plugins: they start with 0.5.11")
    with entered(subject):
        pass


@check(
    "plugin.entry-points-may-run-twice",
    1,
    "Entry points that run twice in a process register each hook and each backend once",
    clauses=("plugin-loading/plugins:load_plugins", "plugin-loading/register"),
    forbids_raising=True,
    why="A hook around a function that stands there twice scales, sums or logs twice.",
)
def _twice(context: Context) -> None:
    needs_plugins(context)
    with entered(context.subject) as there:
        once = {target: len(hooks) for target, hooks in there.hooks.items()}
        names = set(there.backends)
    choices = symbol(_CHOICES)
    kept = list(choices)
    try:
        with entered(context.subject, times=2) as there:
            twice = {target: len(hooks) for target, hooks in there.hooks.items()}
            added = sorted(set(there.backends) - names)
        repeated = sorted({name for name in choices if list(choices).count(name) > 1})
    finally:
        choices[:] = kept
    expect(
        not repeated,
        "after the entry points ran twice, --attention-backend offers some names more than once: "
        f"{', '.join(map(str, repeated))}",
    )
    doubled = sorted(target for target, count in twice.items() if count > once.get(target, 0))
    expect(
        not doubled,
        f"after the entry points ran twice, {len(doubled)} of {len(once)} targets have more hooks "
        f"than after once: {', '.join(doubled)}",
    )
    expect(
        not added,
        f"the entry points register further backends when they run again: {', '.join(added)}",
    )


@check(
    "plugin.serves-what-it-declares",
    1,
    "Backend, pool and allocator that SGLang is given are those that the capabilities name",
    clauses=(
        "attention-backend/ATTENTION_BACKENDS",
        "platform/get_mha_kv_pool_cls",
        "platform/get_paged_allocator_cls",
    ),
    why="A certificate is on what is served: a class that is only declared is never constructed.",
)
def _declared(context: Context) -> None:
    needs_plugins(context)
    subject = context.subject
    declared = {
        "backend": resolve(subject.capabilities.backend, "capability 'backend'"),
        "kv-pool": resolve(subject.capabilities.kv_pool, "capability 'kv-pool'"),
        "allocator": resolve(subject.capabilities.allocator, "capability 'allocator'"),
    }
    if not any(declared.values()):
        raise Inapplicable("the capabilities name no classes: what is served is certified")
    with entered(subject) as there:
        if declared["backend"] is not None:
            name = backend_name(subject, there.platform)
            expect(
                name in there.backends,
                f"the capability 'backend' names {called(declared['backend'])}, but no backend "
                f"{name!r} is registered",
            )
            bench = Bench(context, context.cells()[0], looks=False)
            made = type(ask(f"the factory of {name!r}", there.backends[name], bench.runner))
            wanted = declared["backend"]
            if not isinstance(wanted, type):
                wanted = type(ask("the declared 'backend'", wanted, bench.runner))
            _same("backend", f"the registry's factory of {name!r}", made, wanted)
        if there.platform is None:
            return
        _own_quantisation(context, there.platform)
        for part, get, where in (
            ("kv-pool", pool_class, "the platform's hook"),
            ("allocator", allocator_class, "get_paged_allocator_cls()"),
        ):
            if declared[part] is not None:
                found = get(there.platform)
                _same(part, where, found, stock(declared[part]))


def _own_quantisation(context: Context, platform: Any) -> None:
    """Where kernels of int8 weights are declared, the platform may not serve SGLang's own."""
    method = getattr(platform, "get_quantization_config", None)
    if not context.subject.capabilities.quantization or method is None:
        return
    for name in getattr(platform, "supported_quantization", None) or ():
        found = ask(f"get_quantization_config({name!r})", method, name)
        expect(
            found is None or stock(found) is not None,
            f"get_quantization_config({name!r}) gives {called(found)}, SGLang's own, though the "
            "plugin declares 'quantization' of its own",
        )


def _same(part: str, where: str, served: Any, declared: Any) -> None:
    if stock(served) is None and declared is None:
        return
    expect(
        served is declared,
        f"{where} gives {called(served)}, but the capability '{part}' names {called(declared)}: "
        "what SGLang is given is what counts",
    )


@check(
    "attention-registry.backend-is-registered",
    1,
    "The plugin registers its attention backend; its factory makes one for each model runner",
    clauses=(
        "attention-backend/register_attention_backend",
        "attention-backend/ATTENTION_BACKENDS",
    ),
    forbids_raising=True,
    why="--attention-backend NAME is refused otherwise.",
)
def _registered(context: Context) -> None:
    needs_plugins(context)
    with entered(context.subject) as there:
        name = backend_name(context.subject, there.platform)
        if not name:
            raise Inapplicable("neither the settings nor the platform name an 'attention-backend'")
        close = nearest(name, there.backends, 1)
        expect(
            name in there.backends,
            f"after the entry points ran, no backend {name!r} is registered"
            + (f" (but {close[0]!r})" if close else ""),
        )
        factory = there.backends[name]
    base = symbol(_BASE)
    benches = [Bench(context, context.cells()[0], looks=False) for _ in range(2)]
    made = [ask(f"the factory of {name!r}", factory, bench.runner) for bench in benches]
    for each in made:
        expect(
            isinstance(each, base),
            f"the factory of {name!r} makes {type(each).__name__}, which is no AttentionBackend",
        )
    expect(
        made[0] is not made[1],
        f"the factory of {name!r} gives two model runners one backend: a draft model would write "
        "to the target's pool",
    )
