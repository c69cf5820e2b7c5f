"""Worse with concurrency: whether the KV pool is too small for what is asked."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sglang_contracts.doctor.diagnosis import Status, check
from sglang_contracts.doctor.host import Host
from sglang_contracts.serving.metrics import parse

FULL = 0.95
"""Part of the pool in use from which on it counts as full."""

RETRACTED = re.compile(r"KV cache pool is full|[Rr]etract requests")
BATCH = re.compile(r"token usage: (?P<usage>[\d.]+).*#queue-req: (?P<queue>\d+)")
GROWN = re.compile(r"(?i)\b(?:grow|expand|realloc)\w*\b.*\b(?:pool|kv|memory)\b")


@check(
    "memory.pool-suffices",
    symptom="worse with concurrency",
    title="the KV pool is large enough: no request waits for it, none is retracted",
    mend="a larger --mem-fraction-static, more cards, or fewer --max-running-requests; "
    "sglang-contracts plan says what fits",
)
def pool_suffices(host: Host) -> tuple[Status, Sequence[str]]:
    """Look for retractions, a full pool with a queue, and memory taken while serving."""
    if host.log is None and host.client is None:
        return Status.UNKNOWN, ["neither a log (--log) nor a server (--server) was given"]
    found, lines = list[str](), host.log or ()
    for said, pattern in (("requests were retracted", RETRACTED), ("memory grew", GROWN)):
        hits = [line.strip()[:160] for line in lines if pattern.search(line)]
        if hits:
            found.append(f"{len(hits)} times {said}: {hits[0]}")
    full = [
        line.strip()[:160]
        for line in lines
        if (match := BATCH.search(line)) and float(match["usage"]) >= FULL and int(match["queue"])
    ]
    if full:
        found.append(f"{len(full)} times the pool was full while requests waited: {full[0]}")
    if host.client is not None:
        page = parse(host.client.request("GET", "/metrics").body.decode("utf-8", "replace"))
        usage, queue = page.total("sglang:token_usage"), page.total("sglang:num_queue_reqs")
        if usage is not None and usage >= FULL and queue:
            found.append(f"now: {usage:.0%} of the pool are in use, {queue:.0f} requests wait")
    return (Status.FOUND, found) if found else (Status.OK, ["no sign of a pool that is too small"])
