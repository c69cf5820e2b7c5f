"""Starts a real server of an installed SGLang, and ends it whatever happens.

Where the plugin's vendor runtime is missing, the server computes on the CPU: with the import shim
(:mod:`sglang_contracts.live.shim`), the plugin's declared stand-in, and a tiny model.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import secrets
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sglang_contracts import subprocesses
from sglang_contracts.errors import ContractsError
from sglang_contracts.live import shim
from sglang_contracts.live.engine import free_port, quiet_environment
from sglang_contracts.serving.client import Client, ServingError

START = 600.0
"""Seconds that a server may take until it is healthy: models of hundreds of gigabytes load long."""

ON_CPU = (
    *("--device", "cpu"),
    *("--dtype", "bfloat16"),
    *("--sampling-backend", "pytorch"),
    # Of the host's memory, whose free part depends on who else runs: the number of tokens bounds
    # the pool, and this must never be what refuses to start.
    *("--mem-fraction-static", "0.9"),
    *("--max-total-tokens", "40960"),
    "--disable-cuda-graph",
    "--sleep-on-idle",  # else its scheduler takes a whole CPU, of the few that there are, waiting
)
"""Flags of a server without a card."""

ALWAYS = ("--enable-metrics", "--enable-cache-report")


@dataclass(frozen=True)
class Order:
    """Which server is wanted.

    Attributes:
        model: Folder or name of the model.
        backend: Name of the attention backend; empty: the platform's own choice.
        page_size: Slots of a page; 0: the server's own choice.
        platform: Name of the platform plugin; empty: none.
        on_cpu: There is no card: shim, stand-in and the flags of :data:`ON_CPU`.
        stand_in: Environment variables that switch on the vendor runtime's stand-in.
        environment: Further environment variables.
        flags: Further flags of the server; they come last, so they win.
        key: The API key; empty: one is made up.
    """

    model: str
    backend: str = ""
    page_size: int = 0
    platform: str = ""
    on_cpu: bool = False
    stand_in: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    key: str = ""


def command(order: Order, port: int, key: str) -> list[str]:
    """The command line of a server."""
    words = subprocesses.python("-m", "sglang_contracts.serving.launch")
    words += ["--model-path", order.model, "--host", "127.0.0.1", "--port", str(port)]
    words += ["--api-key", key, *ALWAYS]
    if order.on_cpu:
        words += ON_CPU
    if order.backend:
        words += ["--attention-backend", order.backend]
    if order.page_size:
        words += ["--page-size", str(order.page_size)]
    return [*words, *order.flags]


def environment(order: Order) -> dict[str, str]:
    """The environment of a server."""
    found = dict(os.environ)
    if order.on_cpu:
        found = shim.environment(quiet_environment(found))
        found |= order.stand_in
    if order.platform:
        found["SGLANG_PLATFORM"] = order.platform
    # It runs in the user's folder, which its flags may name files of; nothing is imported from it.
    found["PYTHONSAFEPATH"] = "1"
    return found | dict(order.environment)


@dataclass
class Server:
    """A server that was started here.

    Attributes:
        client: Asks it, with its key.
        process: Its first process, the leader of a group of its own.
        log: Where all it prints goes.
        words: Its command line.
        started: Seconds until it was healthy.
    """

    client: Client
    process: subprocess.Popen[bytes]
    log: Path
    words: Sequence[str]
    started: float = 0.0

    @property
    def alive(self) -> bool:
        """Whether its first process runs."""
        return self.process.poll() is None

    def lines(self) -> list[str]:
        """What it has printed."""
        return self.log.read_text(encoding="utf-8", errors="replace").splitlines()

    def tail(self, count: int = 20) -> str:
        """The end of what it has printed."""
        return "\n".join(self.lines()[-count:])

    def memory(self) -> int:
        """Bytes of memory of its own that all its processes hold (Linux)."""
        return sum(map(_anonymous, _group(self.process.pid)))

    def ticks(self) -> int:
        """Processor time that all its processes have taken, in the kernel's ticks (Linux)."""
        return sum(map(_ticks, _group(self.process.pid)))

    def how_it_ended(self) -> str:
        """What is known of its end, with the end of its log; it runs: where it stands."""
        code = self.process.poll()
        said = "its process runs" if code is None else f"its process ended ({code})"
        return f"{said}; its log ends with\n{self.tail(30)}"

    def end(self) -> None:
        """End it with all its processes."""
        # Not asked first: SGLang would wait seconds for diagnostics of its own end.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def _group(leader: int) -> Iterator[int]:
    """The processes of a group, by ``/proc``."""
    for place in Path("/proc").iterdir():
        if not place.name.isdigit():
            continue
        with contextlib.suppress(OSError, ValueError, IndexError):
            text = (place / "stat").read_text(encoding="utf-8", errors="replace")
            if int(text.rpartition(")")[2].split()[2]) == leader:
                yield int(place.name)


def _anonymous(pid: int) -> int:
    """Bytes of a process that no file backs; 0 for one that is gone."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) << 10
    return 0


def _ticks(pid: int) -> int:
    """Processor time of a process; 0 for one that is gone."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        fields = text.rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])
    return 0


def ticks_of(pid: int) -> int:
    """As :meth:`Server.ticks`, for the group that a process belongs to."""
    with contextlib.suppress(OSError):
        return sum(map(_ticks, _group(os.getpgid(pid))))
    return 0


def memory_of(pid: int) -> int:
    """As :meth:`Server.memory`, for the group that a process belongs to."""
    with contextlib.suppress(OSError):
        return sum(map(_anonymous, _group(os.getpgid(pid))))
    return 0


@contextlib.contextmanager
def running(
    order: Order,
    folder: Path,
    timeout: float = START,
    progress: Callable[[str], None] | None = None,
) -> Iterator[Server]:
    """Start a server, wait until it is healthy, and end it after the block.

    Args:
        order: Which.
        folder: For its log.
        timeout: Seconds until it must be healthy.
        progress: Told now and then how long it has taken.

    Raises:
        ContractsError: It ended before it was healthy, or did not become so in time; the end of
            its log is in the hint.
    """
    if importlib.util.find_spec("sglang") is None:
        raise ContractsError(
            "no SGLang is installed here",
            "use --url URL of a running server, or an environment with SGLang",
        )
    key, port = order.key or secrets.token_hex(16), free_port()
    words = command(order, port, key)
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / f"server-{port}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - our own module, the user's flags
            words,
            env=environment(order),
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    server = Server(Client(f"http://127.0.0.1:{port}", key), process, log, words)
    try:
        begin = time.monotonic()
        _wait(server, timeout, progress)
        server.started = time.monotonic() - begin
        yield server
    finally:
        server.end()


def _wait(server: Server, timeout: float, progress: Callable[[str], None] | None) -> None:
    begin = time.monotonic()
    while True:
        taken = time.monotonic() - begin
        with contextlib.suppress(ServingError):
            if server.client.request("GET", "/health", timeout=30.0).status == 200:
                return
        if not server.alive:
            raise ContractsError(
                f"the server ended ({server.process.returncode}) before it was healthy",
                f"its log ends with\n{server.tail(30)}",
            )
        if taken > timeout:
            raise ContractsError(
                f"the server was not healthy after {timeout:.0f} s",
                f"its log ends with\n{server.tail(30)}",
            )
        if progress is not None:
            progress(f"the server starts ({taken:.0f} s)")
        time.sleep(0.25)
