"""From the traces of engine runs to evidence: what differs is kept, what repeats is not."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sglang_contracts.contract import Contract
from sglang_contracts.live.evidence.model import FORMAT, Batch, Call, Evidence, Object, Read

WATCHED = ("backend", "kv_pool", "allocator", "request_pool", "platform")
"""Roles whose every access is traced."""

_FORMS = 3  # of each call or read: enough to show what varies
_PREPARING = ("init_forward_metadata", "init_forward_metadata_out_graph")


def wanted(contracts: Iterable[Contract]) -> str:
    """The symbols of contracts, one a line: what the tracer is to look up in the worker."""
    symbols = {
        symbol
        for contract in contracts
        for clause in contract.clauses
        for symbol in clause.symbols
        if symbol.startswith("sglang")
    }
    return "".join(f"{symbol}\n" for symbol in sorted(symbols))


def distil(
    release: str,
    runs: Sequence[tuple[Mapping[str, Any], Path]],
    versions: Mapping[str, str],
    dims: Mapping[str, int],
) -> Evidence:
    """Make the evidence of some runs.

    Args:
        release: The SGLang that ran.
        runs: For each its settings (``page_size`` among them) and the folder of its trace.
        versions: Versions of what took part.
        dims: Sizes of the served model by the contracts' dimension names.
    """
    batches = _Batches()
    objects: dict[str, _Gathered] = {}
    symbols: dict[str, dict[str, str]] = {}
    flags: dict[str, tuple[str, ...]] = {}
    for settings, folder in runs:
        page_size = int(settings["page_size"])
        for line in _lines(folder):
            if line["kind"] == "batch":
                if line["call"] in _PREPARING:
                    batches.add(_batch(line, page_size))
                continue
            if line["kind"] == "symbols":
                symbols |= line["present"]
                flags |= {flag: tuple(found) for flag, found in line["flags"].items()}
                continue
            role = line["on"]
            if role in ("allocator", "kv_pool"):
                role = f"{role}@{page_size}"
            objects.setdefault(role, _Gathered()).add(line)
    return Evidence(
        format=FORMAT,
        release=release,
        runs=tuple(dict(settings) for settings, _ in runs),
        versions=dict(versions),
        dims=dict(dims),
        batches=batches.finish(),
        objects={role: objects[role].finish() for role in sorted(objects)},
        symbols={module: dict(sorted(symbols[module].items())) for module in sorted(symbols)},
        flags=dict(sorted(flags.items())),
    )


def _lines(folder: Path) -> Iterable[dict[str, Any]]:
    for file in sorted(folder.glob("trace-*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


def _batch(line: dict[str, Any], page_size: int) -> Batch:
    fields: dict[str, dict[str, Any]] = line["fields"]
    modes = [line["mode"].lower()]
    if line.get("scheduled") == "MIXED" and "mixed" not in modes:
        modes.append("mixed")
    prefixes = fields.get("extend_prefix_lens", {}).get("values", ())
    return Batch(
        modes=tuple(modes),
        page_size=page_size,
        prefix=any(prefixes),
        fields={
            name: _without_text(value)
            for name, value in sorted(fields.items())
            if value["type"] != "none"
        },
        empty=tuple(sorted(name for name, value in fields.items() if value["type"] == "none")),
    )


class _Batches:
    """Keeps one batch of each kind, and each that has a field with a value for the first time."""

    def __init__(self) -> None:
        self._kept: list[tuple[str, Batch]] = []
        self._kinds: set[str] = set()
        self._filled: set[tuple[Any, ...]] = set()

    def add(self, batch: Batch) -> None:
        logprob = batch.fields.get("return_logprob", {}).get("value")
        kind = repr((batch.modes, batch.prefix, batch.page_size, logprob))
        filled = {(batch.modes, name) for name in batch.fields}
        if kind in self._kinds and filled <= self._filled:
            return
        self._kinds.add(kind)
        self._filled |= filled
        self._kept.append((kind, batch))

    def finish(self) -> tuple[Batch, ...]:
        return tuple(batch for _, batch in sorted(self._kept, key=lambda kept: kept[0]))


class _Gathered:
    """Collects the lines on one object."""

    def __init__(self) -> None:
        self.cls: str = ""
        self.bases: tuple[str, ...] = ()
        self.fields: dict[str, dict[str, Any]] = {}
        self.members: dict[str, dict[str, str]] = {}
        self.own: set[str] = set()
        self.calls: dict[str, _Forms] = {}
        self.reads: dict[str, _Forms] = {}

    def add(self, line: dict[str, Any]) -> None:
        if line["kind"] == "object":
            self.cls, self.bases = line["class"], tuple(line["bases"])
            self.members |= line["members"]
            self.own |= set(line["own"])
            for name, value in line["fields"].items():
                value = _without_values(value)
                if self.fields.get(name, {"type": "none"})["type"] == "none":
                    self.fields[name] = value
            return
        by = line["by"].rpartition(":")[0]  # without the line: it changes with every release
        if line["kind"] == "read":
            _note(self.reads.setdefault(line["name"], {}), _without_values(line["value"]), by)
        else:
            facts = {key: _without_values(line[key]) for key in ("args", "kwargs", "returns")}
            _note(self.calls.setdefault(line["name"], {}), facts, by)

    def finish(self) -> Object:
        kept = {
            name: each for name, each in sorted(self.members.items()) if name in self._classes()
        }
        return Object(
            cls=self.cls,
            bases=self.bases,
            fields=dict(sorted(self.fields.items())),
            members={name: dict(sorted(each.items())) for name, each in kept.items()},
            own=tuple(sorted(self.own & (self.fields.keys() | self.reads.keys()))),
            calls={
                name: tuple(
                    Call(tuple(f["args"]), f["kwargs"], f["returns"], tuple(sorted(by)))
                    for f, by in forms.values()
                )
                for name, forms in sorted(self.calls.items())
            },
            reads={
                name: tuple(Read(value, tuple(sorted(by))) for value, by in forms.values())
                for name, forms in sorted(self.reads.items())
            },
        )

    def _classes(self) -> set[str]:
        return {self.cls, *self.bases}


_Forms = dict[str, tuple[dict[str, Any], set[str]]]


def _note(forms: _Forms, facts: dict[str, Any], by: str) -> None:
    """Add one form; those that differ in sizes alone are one."""
    key = json.dumps(_without_sizes(facts), sort_keys=True)
    if key in forms:
        forms[key][1].add(by)
    elif len(forms) < _FORMS:
        forms[key] = (facts, {by})


def _without_text(value: dict[str, Any]) -> dict[str, Any]:
    """Without strings: names of requests and models are the machine's."""
    found = {key: part for key, part in value.items() if (key, value["type"]) != ("value", "str")}
    if isinstance(found.get("items"), dict):
        found["items"] = _without_text(found["items"])
    return found


def _without_values(value: Any) -> Any:
    """Without numbers and strings, which are the machine's (sizes of memory, paths, names)."""
    if isinstance(value, dict):
        drop = ("value", "values") if value.get("type") in ("int", "str", "list", "tuple") else ()
        return {key: _without_values(item) for key, item in value.items() if key not in drop}
    return [_without_values(item) for item in value] if isinstance(value, list) else value


def _without_sizes(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _without_sizes(item)
            for key, item in value.items()
            if key not in ("shape", "length", "value", "values")
        }
    return [_without_sizes(item) for item in value] if isinstance(value, list) else value
