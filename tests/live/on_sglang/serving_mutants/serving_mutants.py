"""Ten defects of a served plugin, in its own processes: a second plugin that hooks the first.

Which of them is on stands in the file that ``SERVING_MUTANT`` names, read at each call: one server
is enough for all. They are hooks, so SGLang's files and the reference's are unchanged.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

FITTING = {
    "answers swapped between two requests": "concurrency.equal-one-by-one",
    "a page is reused too early": "concurrency.equal-one-by-one",
    "a step in latency at 512 tokens": "latency.no-step-while-decoding",
    "a leak of a megabyte a request": "soak.flat",
    "an abort leaks slots": "concurrency.after-abort",
    "the middleware drops a 401": "service.api-key",
    "a fall-back kernel for prefill": "service.kernel-path",
    "metrics renamed": "service.metrics",
    "a radix prefix served stale": "answers.same-from-the-cache",
    "a first token stalls": "latency.no-stalled-first-token",
}
"""Defect → the check that has to find it."""

SWAPPED, EARLY, STEP, LEAK, ABORT, DROPPED, FALLBACK, RENAMED, STALE, STALL = FITTING

_leaked: list[object] = []
_state: dict[str, object] = {"prefills": 0}


def _on(name: str) -> bool:
    try:
        return Path(os.environ["SERVING_MUTANT"]).read_text(encoding="utf-8") == name
    except OSError:
        return False


def _metadata(original, backend, batch):
    original(backend, batch)
    mode = batch.forward_mode
    if not mode.is_extend():
        return
    _state["prefills"] += 1
    if _on(LEAK):
        _leaked.extend(b"\1" * (1 << 20) for _ in range(batch.batch_size))
    if _on(STALL) and _state["prefills"] % 5 == 0:
        time.sleep(0.35)
    metadata = backend.forward_metadata
    if _on(STALE) and metadata.has_prefix and metadata.block_tables.shape[1] > 2:
        metadata.block_tables[:, 0] = metadata.block_tables[:, 1]


def _decode(original, backend, q, k, v, layer, batch, *args, **kwargs):
    if layer.layer_id == 0:
        now = time.monotonic()
        usual, _state["token"] = now - float(_state.get("token", now)), now
        if _on(STEP) and int(batch.seq_lens_cpu.max()) > 512:
            # A multiple of what a token takes on this machine, well above what neighbours add.
            time.sleep(5 * min(usual, float(_state["usual"])))
            _state["token"] = time.monotonic()
        else:
            _state["usual"] = 0.9 * float(_state.get("usual", usual)) + 0.1 * min(usual, 0.1)
    return original(backend, q, k, v, layer, batch, *args, **kwargs)


def _set_kv_buffer(original, pool, layer, loc_info, k, v, *args, **kwargs):
    original(pool, layer, loc_info, k, v, *args, **kwargs)
    loc = getattr(loc_info, "loc", loc_info)
    if loc.shape[0] < 4 or not _on(EARLY):
        return
    victim = _state.get(layer.layer_id)
    if victim is not None:  # a page that was handed out before, and is in use
        count = min(victim.shape[0], k.shape[0], pool.page_size)
        original(pool, layer, victim[:count], k[:count], v[:count], *args, **kwargs)
    _state[layer.layer_id] = loc.clone()


def _log(original, backend, batch):
    from kunlun_backend import backend as module

    if not _on(FALLBACK):
        return original(backend, batch)
    before, module.PREFILL_KERNEL = module.PREFILL_KERNEL, "torch.scaled_dot_product_attention"
    try:
        return original(backend, batch)
    finally:
        module.PREFILL_KERNEL = before


def _sample(original, *args, **kwargs):
    found = original(*args, **kwargs)
    if _on(SWAPPED) and found.dim() == 1 and found.shape[0] > 1:
        found = found.clone()
        found[[0, 1]] = found[[1, 0]]
    return found


def _abort(original, scheduler, request):
    original(scheduler, request)
    if _on(ABORT):
        scheduler.token_to_kv_pool_allocator.alloc(64)


def _count(original, kernel, mode):
    if _on(RENAMED):
        from kunlun_backend import monitoring

        monitoring._counter("kunlun:steps", "Renamed.", ("kernel", "mode")).labels(
            kernel=kernel, mode=mode
        ).inc()
    else:
        original(kernel, mode)


async def _middleware(original, middleware, scope, receive, send):
    async def dropping(message):
        if message["type"] == "http.response.start" and message["status"] == 401 and _on(DROPPED):
            message["status"] = 200
        await send(message)

    await original(middleware, scope, receive, dropping)


def register() -> None:
    """Entry point: hook them all."""
    from sglang.srt.plugins.hook_registry import HookRegistry, HookType

    for target, hook in (
        ("kunlun_backend.backend.KunlunAttentionBackend.init_forward_metadata", _metadata),
        ("kunlun_backend.backend.KunlunAttentionBackend.forward_decode", _decode),
        ("kunlun_backend.backend.KunlunAttentionBackend._log", _log),
        ("kunlun_backend.pool.KunlunMHATokenToKVPool.set_kv_buffer", _set_kv_buffer),
        ("kunlun_backend.monitoring.count_batch", _count),
        ("kunlun_backend.service.Middleware.__call__", _middleware),
        ("sglang.srt.model_executor.model_runner.ModelRunner.sample", _sample),
        ("sglang.srt.managers.scheduler.Scheduler.abort_request", _abort),
    ):
        HookRegistry.register(target, hook, HookType.AROUND)
