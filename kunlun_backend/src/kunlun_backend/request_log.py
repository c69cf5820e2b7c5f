"""A log from which it can be told, for each request, which backend and kernel served it."""

from __future__ import annotations

import logging
from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass

from kunlun_backend import BACKEND_NAME

logger = logging.getLogger("kunlun_backend.requests")

_REMEMBERED = 65536  # requests of which it is known that they were logged


@dataclass(frozen=True)
class Served:
    """One batch: its attention kernel, forward mode and request ids (where a release has them)."""

    kernel: str
    mode: str
    requests: tuple[str, ...]
    batch_size: int
    backend: str = BACKEND_NAME


class RequestLog:
    """Keeps the last `keep` batches; logs each request once for every kernel that serves it."""

    def __init__(self, keep: int = 1024) -> None:
        self.entries: deque[Served] = deque(maxlen=keep)
        self._seen: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._last: tuple[str, str] | None = None

    def record(
        self, kernel: str, mode: str, requests: Sequence[str] | None, batch_size: int
    ) -> None:
        """Note one batch; `requests` is None where a release has no ids."""
        entry = Served(kernel, mode, tuple(requests or ()), batch_size)
        self.entries.append(entry)
        if entry.requests:
            new = [rid for rid in entry.requests if (rid, kernel) not in self._seen]
        else:  # without ids, every change of mode or kernel is worth a line
            new = [] if self._last == (kernel, mode) else [f"{batch_size} unnamed"]
        self._last = (kernel, mode)
        if not new:
            return
        for rid in new:
            self._seen[rid, kernel] = None
        while len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)
        logger.info(
            "backend=%s kernel=%s mode=%s requests=%s", entry.backend, kernel, mode, ",".join(new)
        )
