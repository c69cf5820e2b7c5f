"""Level 1: entry points, and what they register."""

from __future__ import annotations

from sglang_contracts.errors import nearest
from sglang_contracts.live.differences import symbol
from sglang_contracts.suite.bench import Bench
from sglang_contracts.suite.checks.hooks import needs_plugins, registered
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.violation import Inapplicable, ask, expect

_REGISTRY = "sglang.srt.layers.attention.attention_registry:ATTENTION_BACKENDS"
_BASE = "sglang.srt.layers.attention.base_attn_backend:AttentionBackend"


@check(
    "plugin.entry-points-run",
    1,
    "The plugin's entry points load and run",
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
    if subject.activate is not None:
        ask("the platform's entry point", subject.activate)
    if subject.register:
        with registered(context):
            pass


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
    name = context.subject.settings.attention_backend
    if not name:
        raise Inapplicable("the settings name no 'attention-backend'")
    with registered(context) as (_, backends):
        close = nearest(name, backends, 1)
        expect(
            name in backends,
            f"after the entry points ran, no backend {name!r} is registered"
            + (f" (but {close[0]!r})" if close else ""),
        )
        factory = backends[name]
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
