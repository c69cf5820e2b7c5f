"""What a check has at hand: the server, what is known of it, and where measurements go."""

from __future__ import annotations

import contextlib
import os
import random
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from sglang_contracts.serving import metrics
from sglang_contracts.serving.client import (
    Answer,
    Client,
    Prompt,
    ServerRefusedError,
    ServerSilentError,
    ServingError,
)
from sglang_contracts.serving.plot import Plot
from sglang_contracts.serving.run_file import RunFile
from sglang_contracts.serving.server import Server, memory_of, ticks_of
from sglang_contracts.suite.violation import Inapplicable

LOWEST, HIGHEST = 3, 500
"""Token ids that prompts are made of: every vocabulary has them, none of them ends a text."""

SILENT = 30.0
"""Seconds without an answer after which it is asked whether the server computes at all."""

LEAST_BUSY = 0.05
"""Part of a processor that a server takes which computes; one that waits takes less."""

MOST_PERIODS = 20
"""How often a server that computes and does not come to an end is waited for anew."""


@dataclass(frozen=True)
class Extent:
    """How much is tried.

    Attributes:
        concurrent: Requests that are sent at once, smallest first.
        repeats: How often a latency is measured.
        decode: Tokens of the longest answer.
        prompts: Prompt lengths over which the first token is timed.
        context: Tokens of the long prompt.
        soak: Seconds.
        soak_threads: Clients that ask at the same time during it.
    """

    concurrent: tuple[int, ...]
    repeats: int
    decode: int
    prompts: tuple[int, ...]
    context: int
    soak: float
    soak_threads: int = 4


QUICK = Extent((20,), 3, 704, (32, 128, 256, 512, 768, 1024), 4_096, 6.0)
FULL = Extent((20, 100), 3, 1536, (32, 128, 256, 512, 768, 1024, 1536, 2048), 32_000, 120.0)
EXTENTS = {"quick": QUICK, "full": FULL}


@dataclass(frozen=True)
class Service:
    """What the plugin declares of its service extension (capability ``service``).

    Attributes:
        header: A response header that its middleware sets; empty: there is none.
        token_header: A request header without which it refuses; empty: there is none.
        token: What that header must say.
        metrics: Names that it adds to ``/metrics``.
        kernel_metric: The one of them that counts batches by the labels ``kernel`` and ``mode``.
    """

    header: str = ""
    token_header: str = ""
    token: str = ""
    metrics: tuple[str, ...] = ()
    kernel_metric: str = ""


@dataclass
class Session:
    """One server and what is to be known of it.

    Attributes:
        client: Asks it.
        extent: How much is tried.
        server: The server, where it was started here; None: it runs elsewhere.
        pid: A process of it on this machine, where it was started by others; 0: not known.
        service: The plugin's service extension.
        backend: Name of the attention backend, where it is known.
        kernels: ``prefill`` and ``decode``: the attention kernels that the plugin declares.
        expected: The run file that answers are held to.
        tolerance: Largest difference of two log-probabilities.
        baseline: Measurements of an earlier run, to compare latencies with.
        slower: How much slower than the baseline is still fine, as a factor.
        tell: Told what is being done.
        measured: What was measured, by name.
        plots: What was drawn, by name.
        omitted: Sentences on what the running check left out.
        interrupted: Ctrl-C came: what follows is not run, what was seen is kept.
        further: Starts another server like this one with further flags.
    """

    client: Client
    extent: Extent = QUICK
    server: Server | None = None
    pid: int = 0
    service: Service = field(default_factory=Service)
    backend: str = ""
    kernels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    expected: RunFile | None = None
    tolerance: float = 0.05
    baseline: Mapping[str, Any] = field(default_factory=dict)
    slower: float = 1.25
    tell: Callable[[str], None] = lambda _: None
    measured: dict[str, Any] = field(default_factory=dict)
    plots: dict[str, Plot] = field(default_factory=dict)
    omitted: list[str] = field(default_factory=list)
    interrupted: bool = False
    further: Callable[[Sequence[str]], contextlib.AbstractContextManager[Server]] | None = None
    _info: dict[str, Any] | None = None

    @property
    def info(self) -> dict[str, Any]:
        """What the server says of itself (``/server_info``, ``/get_server_info``), read once."""
        if self._info is None:
            try:
                self._info = dict(self.client.get("/server_info"))
            except ServerRefusedError:
                self._info = dict(self.client.get("/get_server_info"))
        return self._info

    def known(self) -> dict[str, Any]:
        """What the server has said of itself so far; it is not asked."""
        return self._info or {}

    @property
    def release(self) -> str:
        """SGLang's version, as the server says; empty: it does not."""
        return str(self.info.get("version") or "")

    @property
    def page_size(self) -> int:
        """Slots of a page."""
        return int(self.info.get("page_size") or 1)

    @property
    def capacity(self) -> int:
        """Tokens that the key/value pool holds; 0: not known."""
        found = self.info.get("max_total_num_tokens")
        if not found:
            states = self.info.get("internal_states") or [{}]
            usage = states[0].get("memory_usage") or {}
            found = usage.get("token_capacity") or states[0].get("max_total_num_tokens")
        return int(found or 0)

    @property
    def longest(self) -> int:
        """Tokens that one request may have, prompt and answer."""
        limits = [self.capacity, int(self.info.get("context_length") or 0)]
        with contextlib.suppress(ServingError):
            model = self.client.get("/model_info")
            limits.append(int(model.get("max_context_length") or model.get("context_length") or 0))
        return min((each for each in limits if each), default=2048)

    def metrics(self) -> metrics.Metrics:
        """The page ``/metrics``.

        Raises:
            Inapplicable: The server has none.
        """
        reply = self.client.request("GET", "/metrics")
        if reply.status != 200:
            raise Inapplicable("the server has no /metrics: start it with --enable-metrics")
        return metrics.parse(reply.body.decode("utf-8", "replace"))

    def memory(self) -> int:
        """Bytes that the server's processes hold; 0: not to be had."""
        if self.server is not None:
            return self.server.memory()
        return memory_of(self.pid) if self.pid else 0

    def alive(self) -> bool:
        """Whether the server still answers: a silent one is asked again as long as it computes."""
        patience = Patience(self, SILENT)
        while self.server is None or self.server.alive:
            try:
                # Not /health, for which the server computes a token, and takes a second.
                return self.client.request("GET", "/model_info", timeout=SILENT).status < 500
            except ServerSilentError:
                if patience.over():
                    return False
            except ServingError:
                return False
        return False

    def ticks(self) -> int:
        """Processor time that the server's processes have taken; 0: not to be had."""
        if self.server is not None:
            return self.server.ticks()
        return ticks_of(self.pid) if self.pid else 0

    def last_words(self) -> str:
        """What is known of a server that is not healthy, in lines of their own; may be empty."""
        return f"\n{self.server.how_it_ended()}" if self.server is not None else ""

    def rid(self) -> str:
        """A name for a request that no other has."""
        return f"sglang-contracts-{uuid.uuid4().hex}"

    def flush(self) -> None:
        """Empty the prefix cache: what is asked next is computed, not remembered."""
        for _ in range(40):
            reply = self.client.request("POST", "/flush_cache")
            if reply.status == 200:
                return
        raise Inapplicable(f"the prefix cache could not be emptied: {reply.excerpt()}")

    def all(
        self, prompts: Sequence[Prompt], at_once: int, stream: bool = False
    ) -> list[Answer | ServingError]:
        """Ask for each, ``at_once`` at a time; answers in the prompts' order."""
        ask = self.client.stream if stream else self.client.generate

        def one(prompt: Prompt) -> Answer | ServingError:
            try:
                return ask(prompt)
            except ServingError as error:
                return error

        with ThreadPoolExecutor(at_once) as pool:
            return list(pool.map(one, prompts))


class Patience:
    """Waiting that ends when the server gets nowhere, not by the clock of a machine others use.

    Args:
        session: The server.
        seconds: How long it may compute nothing.
        clock: Tells the time in seconds.
    """

    def __init__(
        self, session: Session, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._session, self._seconds, self._clock = session, seconds, clock
        self._periods = 0
        self._begin, self._ticks = clock(), session.ticks()

    def over(self) -> bool:
        """Whether nothing is to be waited for any more."""
        passed = self._clock() - self._begin
        if passed < self._seconds:
            return False
        self._periods += 1
        ticks = self._session.ticks()
        computed = (ticks - self._ticks) / os.sysconf("SC_CLK_TCK")
        self._begin, self._ticks = self._clock(), ticks
        return computed < LEAST_BUSY * passed or self._periods >= MOST_PERIODS


def tokens(seed: int, length: int) -> tuple[int, ...]:
    """A prompt of that many tokens, the same at each run."""
    drawn = random.Random(seed)  # noqa: S311 - a prompt, no secret
    return tuple(drawn.randrange(LOWEST, HIGHEST) for _ in range(length))


def answered(found: Answer | ServingError) -> Answer:
    """The answer, or what was raised instead.

    Raises:
        ServingError: There is no answer.
    """
    if isinstance(found, ServingError):
        raise found
    return found


def numbered(seed: int, lengths: Sequence[int], new_tokens: int) -> Iterator[Prompt]:
    """Prompts of these lengths, all different from the first token on."""
    for index, length in enumerate(lengths):
        ids = tokens(seed * 1000 + index, length)
        yield Prompt((LOWEST + index % (HIGHEST - LOWEST), *ids[1:]), new_tokens=new_tokens)
