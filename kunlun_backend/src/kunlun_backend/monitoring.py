"""Metrics of the plugin, on SGLang's own `/metrics` page.

SGLang serves the counters of all its processes from one folder (`PROMETHEUS_MULTIPROC_DIR`), which
it names before any of them counts: what the plugin counts in a worker or in the HTTP process is on
the page without a port of its own. Without `--enable-metrics` there is no folder, and nothing is
counted.
"""

from __future__ import annotations

import functools
import os
from typing import Any

BATCHES = "kunlun:batches"
RESPONSES = "kunlun:http_responses"


@functools.cache
def _counter(name: str, text: str, labels: tuple[str, ...]) -> Any:
    if not os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        return None
    from prometheus_client import Counter  # not before the folder is named

    return Counter(name, text, labels)


def count_batch(kernel: str, mode: str) -> None:
    """A batch was handed to an attention kernel (`kunlun:batches_total`)."""
    counter = _counter(BATCHES, "Batches by attention kernel.", ("kernel", "mode"))
    if counter is not None:
        counter.labels(kernel=kernel, mode=mode).inc()


def count_response(status: int) -> None:
    """A response went out over HTTP (`kunlun:http_responses_total`)."""
    counter = _counter(RESPONSES, "HTTP responses by status.", ("status",))
    if counter is not None:
        counter.labels(status=str(status)).inc()
