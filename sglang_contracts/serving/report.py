"""The report of level 5: what was asked of which server, and what came out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from sglang_contracts.errors import ContractsError
from sglang_contracts.files import read_regular, write_atomically
from sglang_contracts.serving.plot import Plot
from sglang_contracts.serving.run import Ran
from sglang_contracts.serving.session import Session
from sglang_contracts.suite.result import Result
from sglang_contracts.suite.verdict import verdict

KIND = "sglang-contracts serving report"
SCHEMA = 1
MAX_BYTES = 64 << 20


class Report(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of it."""

    kind: str
    schema: int
    release: str
    """SGLang's version, as the server says."""
    server: dict[str, str]
    """How it was started, or where it was found; what it says of itself."""
    extent: str
    """``quick`` or ``full``."""
    verdict: str
    """``passed``, ``failed`` or ``unknown``."""
    planned: tuple[str, ...]
    not_run: tuple[str, ...]
    ended: str
    """Why the run ended before its time; else empty."""
    checks: tuple[Result, ...]
    measured: dict[str, Any]
    plots: dict[str, Plot]


_SAID = ("model_path", "attention_backend", "page_size", "tp_size", "quantization", "device")


def report(session: Session, ran: Ran, extent: str) -> Report:
    """Put it together; asks the server nothing more."""
    info = session.known()
    server = {name: str(info[name]) for name in _SAID if info.get(name) not in (None, "")}
    server["url"] = session.client.url
    if session.server is not None:
        words = [*session.server.words]
        if "--api-key" in words:
            words[words.index("--api-key") + 1] = "…"
        server["command"] = " ".join(words[words.index("-m") :] if "-m" in words else words)
        server["seconds until healthy"] = f"{session.server.started:.1f}"
    return Report(
        kind=KIND,
        schema=SCHEMA,
        release=str(info.get("version") or ""),
        server=server,
        extent=extent,
        verdict=verdict(ran.results, ran.not_run, ()),
        planned=ran.planned,
        not_run=ran.not_run,
        ended=ran.ended,
        checks=ran.results,
        measured=session.measured,
        plots=session.plots,
    )


def schema() -> dict[str, Any]:
    """The JSON schema of a report."""
    found: dict[str, Any] = json.loads(json.dumps(msgspec.json.schema(Report)))  # lists, not tuples
    return found


def save(found: Report, path: Path) -> None:
    """Write it as JSON, whole or not at all.

    Raises:
        ContractsError: It cannot be written.
    """
    text = json.dumps(msgspec.to_builtins(found), ensure_ascii=False, indent=1)
    write_atomically(path, (text + "\n").encode(), "choose another --out")


def baseline(path: Path) -> dict[str, Any]:
    """The measurements of an earlier report.

    Raises:
        ContractsError: It cannot be read, or is none.
    """
    hint = "name the serving.json that an earlier serve-check --out has written"
    try:
        data = read_regular(path, MAX_BYTES)
    except OSError as error:
        raise ContractsError(f"cannot read {path}: {error.strerror or error}", hint) from None
    try:
        found = msgspec.json.decode(data, type=Report)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ContractsError(f"{path} is no serving report: {error}", hint) from None
    if found.kind != KIND or found.schema != SCHEMA:
        raise ContractsError(f"{path} is no serving report of this version", hint)
    return found.measured
