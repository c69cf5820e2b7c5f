"""From an installed plugin's declaration to the server that is started for it."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import importlib.util
import secrets
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sglang_contracts import paths, subprocesses
from sglang_contracts.errors import ContractsError
from sglang_contracts.live import memory_limit
from sglang_contracts.serving import run_file
from sglang_contracts.serving.run_file import RunFile
from sglang_contracts.serving.server import Order, Server, running
from sglang_contracts.serving.session import Service, Session
from sglang_contracts.suite.subject import Subject

PAGE_SIZE = 16
"""Wanted where the plugin has it: pages matter, and short texts have several."""

_MODULE = "sglang_contracts.serving.hugging_face"
_MAKES_THE_MODEL = ("live/tiny.py", "serving/hugging_face.py", "serving/run_file.py")
_MODEL, _RUN = "model", "run.json"


def on_cpu(subject: Subject) -> bool:
    """Whether the vendor's runtime is missing here, so that a stand-in has to compute."""
    modules = subject.capabilities.runtime_modules
    return any(importlib.util.find_spec(name.partition(".")[0]) is None for name in modules)


def service(subject: Subject, token: str = "") -> Service:
    """The service extension that the plugin declares."""
    found = subject.capabilities.service
    return Service(
        header=found.get("header", ""),
        token_header=found.get("token-header", ""),
        token=token,
        metrics=tuple(found.get("metrics", ())),
        kernel_metric=found.get("kernel-metric", ""),
    )


def order(subject: Subject, model: str, flags: Sequence[str] = ()) -> tuple[Order, Service]:
    """The server for a plugin, and what its service extension is to do.

    Args:
        subject: The plugin.
        model: Folder or name of the model.
        flags: Further flags of the server; they win.
    """
    found = subject.capabilities
    declared = found.service
    variables: dict[str, str] = dict(declared.get("environment", {}))
    token, switch = "", declared.get("token-variable", "")
    if switch:
        token = variables.setdefault(switch, secrets.token_hex(8))
    stand_in: dict[str, str] = {}
    cpu = on_cpu(subject)
    if cpu:
        stand_in = dict(found.runtime_environment)
        if not found.allocator:
            # SGLang's own paged allocator launches Triton up to 0.5.21: its interpreter runs that.
            stand_in.setdefault("TRITON_INTERPRET", "1")
    sizes = found.page_sizes
    made = Order(
        model=model,
        backend=subject.settings.attention_backend,
        page_size=PAGE_SIZE if PAGE_SIZE in sizes else sizes[0],
        platform=subject.settings.platform,
        on_cpu=cpu,
        stand_in=stand_in,
        environment=variables,
        flags=(*declared.get("flags", ()), *flags),
    )
    return made, service(subject, token)


@contextlib.contextmanager
def opened(
    subject: Subject,
    folder: Path,
    model: str = "",
    flags: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Iterator[Session]:
    """Start a server for a plugin and have a session with it; the server ends with the block.

    Args:
        subject: The plugin.
        folder: For the server's log.
        model: What is served; empty: the tiny model, whose answers are held to Hugging Face.
        flags: Further flags of the server.
        environment: Further environment variables of it.
        tell: Told what is being done.

    Raises:
        ContractsError: It did not become healthy.
    """
    expected, bound = None, dict[str, str]()
    if not model:
        tell("the tiny model, and what Hugging Face answers on it")
        place, expected = tiny_model()
        model = str(place)
        bound = {memory_limit.VARIABLE: str(memory_limit.TINY)} if on_cpu(subject) else {}
    made, extension = order(subject, model, flags)
    made = dataclasses.replace(
        made, environment={**bound, **made.environment, **(environment or {})}
    )

    def further(more: Sequence[str]) -> contextlib.AbstractContextManager[Server]:
        return _with_token(running(with_flags(made, more), folder), extension)

    with _with_token(running(made, folder, progress=tell), extension) as server:
        yield Session(
            server.client,
            server=server,
            service=extension,
            backend=subject.settings.attention_backend,
            kernels=kernels(subject),
            expected=expected,
            tell=tell,
            further=further,
        )


def token_headers(extension: Service) -> dict[str, str]:
    """The header that the plugin's own check of tokens wants."""
    return {extension.token_header: extension.token} if extension.token else {}


@contextlib.contextmanager
def _with_token(
    server: contextlib.AbstractContextManager[Server], extension: Service
) -> Iterator[Server]:
    with server as started:
        started.client.headers = token_headers(extension)
        yield started


def with_flags(made: Order, flags: Sequence[str]) -> Order:
    """The same server with further flags."""
    return dataclasses.replace(made, flags=(*made.flags, *flags))


def tiny_model() -> tuple[Path, RunFile]:
    """The model that is served where none is named, and what Hugging Face answers on it.

    Two layers of random weights, text by bytes. Both are made once, in a process of its own, and
    kept in the cache under a digest of the code that makes them.

    Raises:
        ContractsError: They could not be made.
    """
    sources = [paths.package() / part for part in _MAKES_THE_MODEL]
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:12]
    place = paths.cache() / "serving" / f"tiny-{digest}"
    if not (place / _RUN).exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".tiny-", dir=place.parent) as folder:
            made = Path(folder) / "made"
            done = subprocess.run(  # noqa: S603 - our own module
                subprocesses.python("-m", _MODULE, str(made / _MODEL), str(made / _RUN)),
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                tail = "\n".join(done.stderr.splitlines()[-15:])
                raise ContractsError("the tiny model could not be made", f"it said\n{tail}")
            with contextlib.suppress(OSError):  # another one was faster
                made.replace(place)
    return place / _MODEL, run_file.load(place / _RUN)


def kernels(subject: Subject) -> dict[str, tuple[str, ...]]:
    """The attention kernels that the plugin declares, of prefill and decode."""
    found: Any = subject.capabilities.kernels
    return {path: tuple(names) for path, names in found.items()}
