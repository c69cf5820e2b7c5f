"""What an engine run showed, as a small committed file, and what it says of each clause.

``matrix/evidence/<release>.json`` is distilled from the traces of real engine runs
(:mod:`~sglang_contracts.live.trace`): a few sample batches of each kind, the calls that SGLang and
the plugin made on each other's objects, and the signatures of the imported classes. It holds facts,
not verdicts: :func:`confirm` holds a contract against it at any time, without SGLang.

Nothing that this project's own builder made may enter such a file.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from sglang_contracts.contract import Clause, Contract, Kind, variant
from sglang_contracts.contract.dimensions import ShapeError, unify
from sglang_contracts.contract.expression import ExpressionError, holds
from sglang_contracts.contract.signature import bare
from sglang_contracts.errors import ContractsError

FORMAT = 1
TINY_DIMS = {"Hq": 4, "Hkv": 2, "D": 16, "Dv": 16}
"""Sizes of :mod:`sglang_contracts.live.tiny` by the contracts' names for them."""

WATCHED = ("backend", "kv_pool", "allocator", "request_pool", "platform")
"""Roles whose every access is traced."""

_SAMPLES = 3  # of each call: enough to show what varies
_PREPARING = ("init_forward_metadata", "init_forward_metadata_out_graph")


class Batch(msgspec.Struct, frozen=True, omit_defaults=True):
    """One ``ForwardBatch`` as an attention backend got it.

    Attributes:
        modes: Forward modes it counts for, in lower case: what the batch says, and ``mixed`` where
            the scheduler mixed decodes into it though the backend is told ``extend``.
        page_size: Page size of the run.
        prefix: Whether some request has tokens computed before.
        fields: Field → value, as the tracer describes it; those that are None are left out.
        empty: Fields that are None.
    """

    modes: tuple[str, ...]
    page_size: int
    prefix: bool
    fields: dict[str, dict[str, Any]]
    empty: tuple[str, ...] = ()


class Call(msgspec.Struct, frozen=True, omit_defaults=True):
    """One form in which a method was called.

    Attributes:
        args: Positional arguments, described.
        kwargs: Keyword arguments, described.
        returns: The result, described.
        by: Modules that called it so; ``self`` before a module: on its own object.
    """

    args: tuple[dict[str, Any], ...]
    kwargs: dict[str, dict[str, Any]]
    returns: dict[str, Any]
    by: tuple[str, ...]


class Object(msgspec.Struct, frozen=True, omit_defaults=True):
    """One object of the engine.

    Attributes:
        cls: Its class, ``module:Name``.
        bases: The classes it derives from, upstream's and the plugin's.
        fields: Attribute → value, described.
        members: Member of the nearest upstream class → what it is: ``(a, b=)`` for a method,
            ``: annotation`` for a field, ``attribute``, ``property``.
        calls: Method → forms in which it was called.
        reads: Attribute → modules that read it.
    """

    cls: str
    bases: tuple[str, ...] = ()
    fields: dict[str, dict[str, Any]] = {}
    members: dict[str, str] = {}
    calls: dict[str, tuple[Call, ...]] = {}
    reads: dict[str, tuple[str, ...]] = {}


class Evidence(msgspec.Struct, frozen=True, omit_defaults=True):
    """The file.

    Attributes:
        format: :data:`FORMAT`.
        release: The SGLang that ran.
        runs: What was run: backend, platform, page size, engine options.
        versions: Versions of Python, torch and the plugin.
        dims: Dimension → size, of the model that was served.
        batches: Sample batches.
        symbols: Module → name → what it is, for the contracts' symbols that the model worker had
            imported: ``(a, b=)`` for a function, ``class``, ``key``, ….
        flags: Command-line flag → its choices.
        objects: Role → object: ``backend``, ``kv_pool``, ``allocator@1`` (at page size 1), ….
    """

    format: int
    release: str
    runs: tuple[dict[str, Any], ...]
    versions: dict[str, str]
    dims: dict[str, int]
    batches: tuple[Batch, ...]
    objects: dict[str, Object]
    symbols: dict[str, dict[str, str]] = {}
    flags: dict[str, tuple[str, ...]] = {}

    @property
    def modes(self) -> frozenset[str]:
        """Every forward mode that occurred."""
        return frozenset(mode for batch in self.batches for mode in batch.modes)


def _lines(folder: Path) -> Iterable[dict[str, Any]]:
    for file in sorted(folder.glob("trace-*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


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
    batches: dict[tuple[Any, ...], Batch] = {}
    objects: dict[str, _Gathered] = {}
    symbols: dict[str, dict[str, str]] = {}
    flags: dict[str, tuple[str, ...]] = {}
    for settings, folder in runs:
        page_size = int(settings["page_size"])
        for line in _lines(folder):
            if line["kind"] == "batch":
                if line["call"] in _PREPARING:
                    batch = _batch(line, page_size)
                    logprob = batch.fields.get("return_logprob", {}).get("value")
                    batches.setdefault((batch.modes, batch.prefix, page_size, logprob), batch)
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
        batches=tuple(batches[key] for key in sorted(batches, key=repr)),
        objects={role: objects[role].finish() for role in sorted(objects)},
        symbols={module: dict(sorted(symbols[module].items())) for module in sorted(symbols)},
        flags=dict(sorted(flags.items())),
    )


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
            name: {
                key: part for key, part in value.items() if (key, value["type"]) != ("value", "str")
            }
            for name, value in sorted(fields.items())
            if value["type"] != "none"
        },
        empty=tuple(sorted(name for name, value in fields.items() if value["type"] == "none")),
    )


class _Gathered:
    """Collects the lines on one object."""

    def __init__(self) -> None:
        self.cls, self.bases = "", ()
        self.fields: dict[str, dict[str, Any]] = {}
        self.members: dict[str, str] = {}
        self.calls: dict[str, dict[str, tuple[dict[str, Any], set[str]]]] = {}
        self.reads: dict[str, set[str]] = {}

    def add(self, line: dict[str, Any]) -> None:
        if line["kind"] == "object":
            self.cls, self.bases = line["class"], tuple(line.get("bases", self.bases))
            self.members |= line.get("members", {})
            for name, value in line["fields"].items():
                value = _without_values(value)
                if self.fields.get(name, {"type": "none"})["type"] == "none":
                    self.fields[name] = value
            return
        by = line["by"].rpartition(":")[0]  # without the line: it changes with every release
        if line["kind"] == "read":
            self.reads.setdefault(line["name"], set()).add(by)
            return
        facts = {key: _without_values(line[key]) for key in ("args", "kwargs", "returns")}
        forms = self.calls.setdefault(line["name"], {})
        # Calls that differ in sizes alone are one form.
        key = json.dumps(_without_sizes(facts), sort_keys=True)
        if key in forms:
            forms[key][1].add(by)
        elif len(forms) < _SAMPLES:
            forms[key] = (facts, {by})

    def finish(self) -> Object:
        return Object(
            cls=self.cls,
            bases=self.bases,
            fields=dict(sorted(self.fields.items())),
            members=dict(sorted(self.members.items())),
            calls={
                name: tuple(
                    Call(tuple(f["args"]), f["kwargs"], f["returns"], tuple(sorted(by)))
                    for f, by in forms.values()
                )
                for name, forms in sorted(self.calls.items())
            },
            reads={name: tuple(sorted(by)) for name, by in sorted(self.reads.items())},
        )


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


def dump(evidence: Evidence) -> str:
    """The file's text: one batch, call form or attribute a line, so that a diff can be read."""
    raw = msgspec.to_builtins(evidence)
    pieces = []
    for key, value in raw.items():
        if key == "batches":
            rows = ",\n    ".join(json.dumps(row, sort_keys=True) for row in value)
            pieces.append(f'  "batches": [\n    {rows}\n  ]')
        elif key == "objects":
            roles = ",\n".join(_object_text(role, item) for role, item in value.items())
            pieces.append(f'  "objects": {{\n{roles}\n  }}')
        elif key in ("symbols", "flags"):
            rows = ",\n    ".join(
                f"{json.dumps(name)}: {json.dumps(each)}" for name, each in value.items()
            )
            pieces.append(f'  "{key}": {{\n    {rows}\n  }}')
        else:
            pieces.append(f"  {json.dumps(key)}: {json.dumps(value, sort_keys=True)}")
    return "{\n" + ",\n".join(pieces) + "\n}\n"


def _object_text(role: str, item: dict[str, Any]) -> str:
    parts = []
    for key, value in item.items():
        if isinstance(value, dict) and value:
            rows = ",\n        ".join(
                f"{json.dumps(name)}: {json.dumps(each, sort_keys=True)}"
                for name, each in value.items()
            )
            parts.append(f"      {json.dumps(key)}: {{\n        {rows}\n      }}")
        else:
            parts.append(f"      {json.dumps(key)}: {json.dumps(value)}")
    return f"    {json.dumps(role)}: {{\n" + ",\n".join(parts) + "\n    }"


def save(evidence: Evidence, folder: Path) -> Path:
    """Write ``<release>.json`` into ``folder``, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{evidence.release}.json"
    temporary = target.with_suffix(".new")
    temporary.write_text(dump(evidence), encoding="utf-8")
    temporary.replace(target)
    return target


def load(file: Path) -> Evidence:
    """Read an evidence file.

    Raises:
        ContractsError: It is no evidence file of this format.
    """
    try:
        found = msgspec.json.decode(file.read_bytes(), type=Evidence)
    except (OSError, msgspec.DecodeError) as error:
        raise ContractsError(
            f"{file} is no evidence file: {error}", "record it again: tox -e sglang-<release>"
        ) from None
    if found.format != FORMAT:
        raise ContractsError(
            f"{file} has format {found.format}, this version reads {FORMAT}",
            "record it again: tox -e sglang-<release>",
        )
    return found


def load_all(folder: Path) -> tuple[Evidence, ...]:
    """Every evidence file in ``folder``, by release."""
    from packaging.version import Version

    found = [load(file) for file in folder.glob("*.json")]
    return tuple(sorted(found, key=lambda evidence: Version(evidence.release)))


class Status(enum.IntEnum):
    """What a run says of a clause; the higher one wins over several runs."""

    NOT_EXERCISED = 0
    """Nothing in the run touches it."""
    DECLARED = 1
    """It is there on the running objects, with that signature; no value or call was seen."""
    CONFIRMED = 2
    """Seen, and as stated."""
    CONTRADICTED = 3
    """Seen, and not as stated."""


@dataclass(frozen=True)
class Confirmation:
    """What one release's run says of one clause.

    Attributes:
        clause: Its id.
        release: The release that ran.
        status: The verdict.
        detail: What was seen instead (contradicted), or what was not.
        modes: Forward modes in which it was seen.
    """

    clause: str
    release: str
    status: Status
    detail: str = ""
    modes: tuple[str, ...] = ()


_ROLES = {
    "ForwardBatch": ("batch",),
    "AttentionBackend": ("backend",),
    "KVCache": ("kv_pool@16", "kv_pool@1"),
    "MHATokenToKVPool": ("kv_pool@16", "kv_pool@1"),
    "BaseTokenToKVPoolAllocator": ("allocator@1", "allocator@16"),
    "TokenToKVPoolAllocator": ("allocator@1", "allocator@16"),
    "PagedTokenToKVPoolAllocator": ("allocator@16",),
    "ReqToTokenPool": ("request_pool",),
    "SRTPlatform": ("platform",),
    "DeviceMixin": ("platform",),
    "SamplingBatchInfo": ("sampling",),
    "LogitsProcessorOutput": ("logits",),
    "ModelRunner": ("model_runner",),
    "RadixAttention": ("layer",),
    "ForwardMode": ("mode",),
}


def roles(contract: Contract, clause: Clause) -> tuple[str, ...]:
    """The traced objects that a clause is about; none where it speaks of something else."""
    spellings = clause.owner or contract.targets
    found: dict[str, None] = {}
    for spelling in spellings:
        for role in _ROLES.get(spelling.rpartition(":")[2].rpartition(".")[2], ()):
            found[role] = None
    return tuple(found)


def confirm(contract: Contract, evidence: Evidence) -> tuple[Confirmation, ...]:
    """Hold every clause of a contract against one release's evidence.

    Clauses that do not hold in that release are left out.
    """
    found = []
    for clause in contract.clauses:
        if not clause.holds_in(evidence.release):
            continue
        status, detail, modes = _judge(contract, clause, evidence)
        found.append(Confirmation(clause.id, evidence.release, status, detail, modes))
    return tuple(found)


_Verdict = tuple[Status, str, tuple[str, ...]]
_UNSEEN: _Verdict = (Status.NOT_EXERCISED, "", ())


def _judge(contract: Contract, clause: Clause, evidence: Evidence) -> _Verdict:
    if clause.kind is Kind.INVARIANT:
        return _invariant(clause, evidence)
    if clause.kind is Kind.BEHAVIOUR:
        return _UNSEEN  # a change of meaning: tests of its own show it
    if clause.kind in (Kind.FLAG, Kind.FLAG_VALUE):
        return _flag(clause, evidence)
    verdict = _symbol(clause, evidence)
    for role in roles(contract, clause):
        if role == "batch":
            verdict = max(verdict, _batch_field(clause, evidence))
        elif role == "mode":
            if clause.kind is Kind.MEMBER and clause.name.lower() in evidence.modes:
                verdict = max(verdict, (Status.CONFIRMED, "", ()))
        elif role in evidence.objects:
            verdict = max(verdict, _member(clause, evidence.objects[role], evidence))
    return verdict


def _flag(clause: Clause, evidence: Evidence) -> _Verdict:
    if not evidence.flags:
        return _UNSEEN
    text = clause.symbols[0].removeprefix("flag:")
    flag, _, value = text.partition("(")
    if flag not in evidence.flags:
        return Status.CONTRADICTED, "the server has no such flag", ()
    if value and value.rstrip(")") not in evidence.flags[flag]:
        return Status.CONTRADICTED, "not among the flag's choices", ()
    return Status.CONFIRMED, "", ()


def _symbol(clause: Clause, evidence: Evidence) -> _Verdict:
    """Whether the running worker had one of the clause's symbols, with its parameters."""
    for symbol in clause.symbols:
        module, _, name = symbol.partition(":")
        what = evidence.symbols.get(module, {}).get(name)
        if what is None and not (clause.kind is Kind.MODULE and symbol in evidence.symbols):
            continue
        verdict = _declared(clause, what or "", evidence)
        if verdict[0] is Status.CONTRADICTED and clause.kind is Kind.FUNCTION:
            # Which of several definitions a module binds may depend on the machine.
            return Status.NOT_EXERCISED, f"on this platform it {verdict[1]}", ()
        return verdict
    return _UNSEEN


def _declared(clause: Clause, what: str, evidence: Evidence) -> _Verdict:
    parameters = variant(clause.parameters, evidence.release)
    if parameters is not None and what.startswith("(") and what != f"({', '.join(parameters)})":
        return Status.CONTRADICTED, f"takes {what}, stated ({', '.join(parameters)})", ()
    return Status.DECLARED, "", ()


def _applies(clause: Clause, batch: Batch) -> bool:
    return not clause.modes or bool(set(clause.modes) & set(batch.modes))


def _batch_field(clause: Clause, evidence: Evidence) -> _Verdict:
    seen: dict[str, None] = {}
    empty = False
    for batch in evidence.batches:
        if not _applies(clause, batch):
            continue
        value = batch.fields.get(clause.name)
        if value is None:
            empty = empty or clause.name in batch.empty
            if clause.name in batch.empty and clause.modes and not clause.optional:
                return Status.CONTRADICTED, "None", batch.modes
            continue
        wrong = mismatch(clause, value, evidence.release, _dims(batch, evidence))
        if wrong:
            return Status.CONTRADICTED, wrong, batch.modes
        seen.update(dict.fromkeys(batch.modes))
    if seen:
        return Status.CONFIRMED, "", tuple(seen)
    if empty:
        return Status.DECLARED, "always None", ()
    return (
        _member(clause, evidence.objects["batch"], evidence)
        if "batch" in evidence.objects
        else _UNSEEN
    )


def _dims(batch: Batch, evidence: Evidence) -> dict[str, int]:
    found = dict(evidence.dims)
    size = batch.fields.get("batch_size", {}).get("value")
    if size is not None:
        found["B"] = size
    tokens = batch.fields.get("out_cache_loc", {}).get("shape")
    if tokens:
        found["T"] = tokens[0]
    return found


def mismatch(
    clause: Clause, value: Mapping[str, Any], release: str, dims: Mapping[str, int]
) -> str:
    """How a described value differs from what a clause states; empty where it does not.

    Args:
        clause: States dtype, shape or type, each for some releases.
        value: As the tracer describes it.
        release: Picks among the clause's variants.
        dims: Dimensions whose sizes are known.
    """
    dtypes = variant(clause.dtype, release)
    if dtypes and value.get("dtype", "") not in dtypes:
        return f"dtype {value.get('dtype', value['type'])}, stated {' or '.join(dtypes)}"
    shape = variant(clause.shape, release)
    if shape is not None and "shape" in value:
        try:
            unify(shape, value["shape"], dims)
        except (ShapeError, ExpressionError) as error:
            return str(error)
    wanted = variant(clause.type, release)
    if wanted and "dtype" in value and "tensor" not in wanted.lower():
        return f"a tensor, stated {wanted}"
    return ""


def _member(clause: Clause, found: Object, evidence: Evidence) -> _Verdict:
    name = clause.name
    calls = found.calls.get(name, ())
    if clause.kind in (Kind.METHOD, Kind.OBLIGATION) and calls:
        for call in calls:
            wrong = _call_mismatch(clause, call, evidence.release)
            if wrong:
                return Status.CONTRADICTED, wrong, ()
        return Status.CONFIRMED, "", ()
    value = found.fields.get(name)
    if value is not None and value["type"] != "none":
        wrong = mismatch(clause, value, evidence.release, evidence.dims)
        return (Status.CONTRADICTED, wrong, ()) if wrong else (Status.CONFIRMED, "", ())
    if name in found.reads:
        return Status.CONFIRMED, "", ()
    if name in found.members:
        upstream = next(each for each in (found.cls, *found.bases) if each.startswith("sglang."))
        own = upstream in clause.owner  # else the clause is on a class that this one refines
        return _declared(clause, found.members[name] if own else "", evidence)
    return (Status.DECLARED, "always None", ()) if value is not None else _UNSEEN


def _call_mismatch(clause: Clause, call: Call, release: str) -> str:
    parameters = variant(clause.parameters, release)
    if parameters is None or any(text.startswith("*") and text != "*" for text in parameters):
        return ""  # nothing stated, or it takes whatever comes
    named = [text for text in parameters if text != "/"]
    positional = named[: named.index("*")] if "*" in named else named
    if len(call.args) > len(positional):
        return f"called with {len(call.args)} positional arguments, stated {len(positional)}"
    open_ones = (*positional[len(call.args) :], *named[len(positional) :])
    unknown = sorted(set(call.kwargs) - {bare(text) for text in open_ones})
    if unknown:
        return f"called with {', '.join(unknown)}=, which it does not take there"
    missing = [text for text in open_ones if text.isidentifier() and text not in call.kwargs]
    return f"called without {', '.join(missing)}" if missing else ""


def _invariant(clause: Clause, evidence: Evidence) -> _Verdict:
    modes: dict[str, None] = {}
    for batch in evidence.batches:
        if not _applies(clause, batch):
            continue
        environment: dict[str, Any] = dict(_dims(batch, evidence))
        environment.update(dict.fromkeys(batch.empty))
        for name, value in batch.fields.items():
            if "values" in value:
                environment[name] = value["values"]
            elif "value" in value:
                environment[name] = value["value"]
        environment["page_size"] = batch.page_size
        try:
            true = holds(clause.holds, environment)
        except ExpressionError:
            continue  # it reads what this sample does not hold
        if not true:
            return Status.CONTRADICTED, f"not so: {clause.holds}", batch.modes
        modes.update(dict.fromkeys(batch.modes))
    return (Status.CONFIRMED, "", tuple(modes)) if modes else _UNSEEN


@dataclass(frozen=True)
class Row:
    """What all runs together say of one clause.

    Attributes:
        clause: Its id.
        status: The highest of its statuses, so that one contradiction is never outvoted.
        confirmed: Releases in which it was seen as stated.
        declared: Releases in which it is there, but no value or call was seen.
        contradicted: Release → what was seen instead.
        modes: Forward modes in which it was seen.
        asked: Releases with evidence in which the clause holds; without any it could not be seen.
    """

    clause: str
    status: Status
    confirmed: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()
    contradicted: tuple[tuple[str, str], ...] = ()
    modes: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()


def table(contract: Contract, found: Sequence[Evidence]) -> tuple[Row, ...]:
    """One row for each clause of a contract, in the contract's order.

    Args:
        contract: Any contract.
        found: Evidence of several releases, ascending.
    """
    by_clause: dict[str, list[Confirmation]] = {clause.id: [] for clause in contract.clauses}
    for evidence in found:
        for each in confirm(contract, evidence):
            by_clause[each.clause].append(each)
    rows = []
    for clause, each_release in by_clause.items():
        of = {status: [c for c in each_release if c.status is status] for status in Status}
        rows.append(
            Row(
                clause=clause,
                status=max((c.status for c in each_release), default=Status.NOT_EXERCISED),
                confirmed=tuple(c.release for c in of[Status.CONFIRMED]),
                declared=tuple(c.release for c in of[Status.DECLARED]),
                contradicted=tuple((c.release, c.detail) for c in of[Status.CONTRADICTED]),
                modes=tuple(dict.fromkeys(mode for c in each_release for mode in c.modes)),
                asked=tuple(c.release for c in each_release),
            )
        )
    return tuple(rows)


@dataclass(frozen=True)
class Counts:
    """How much of a contract running releases have shown.

    Attributes:
        contract: Its id.
        asked: Clauses that hold in a release with evidence.
        confirmed: Of these, those seen as stated.
        declared: Those that are there, without a value or call seen.
        contradicted: Those seen otherwise.
        not_exercised: The ids of the rest.
    """

    contract: str
    asked: int
    confirmed: int
    declared: int
    contradicted: int
    not_exercised: tuple[str, ...]


def counts(contract: Contract, found: Sequence[Evidence]) -> Counts:
    """Sum up :func:`table` for one contract."""
    rows = [row for row in table(contract, found) if row.asked]
    by = {status: [row for row in rows if _best(row) is status] for status in Status}
    return Counts(
        contract=contract.id,
        asked=len(rows),
        confirmed=len(by[Status.CONFIRMED]),
        declared=len(by[Status.DECLARED]),
        contradicted=len(by[Status.CONTRADICTED]),
        not_exercised=tuple(row.clause for row in by[Status.NOT_EXERCISED]),
    )


def _best(row: Row) -> Status:
    if row.contradicted:
        return Status.CONTRADICTED
    if row.confirmed:
        return Status.CONFIRMED
    return Status.DECLARED if row.declared else Status.NOT_EXERCISED


def unlisted(contracts: Sequence[Contract], evidence: Evidence) -> dict[str, tuple[str, ...]]:
    """What SGLang called or read on a watched object though no clause lists it.

    Args:
        contracts: All contracts.
        evidence: One release's.

    Returns:
        Role → names, sorted; a role without such names is left out.
    """
    listed: dict[str, set[str]] = {}
    for contract in contracts:
        for clause in contract.clauses:
            if clause.holds_in(evidence.release):
                for role in roles(contract, clause):
                    listed.setdefault(role.partition("@")[0], set()).add(clause.name)
    result: dict[str, set[str]] = {}
    for role, found in evidence.objects.items():
        kind = role.partition("@")[0]
        if kind not in WATCHED:
            continue
        used = {
            name: {by for call in calls for by in call.by} for name, calls in found.calls.items()
        }
        for name, by in found.reads.items():
            used.setdefault(name, set()).update(by)
        for name, by_all in used.items():
            upstream = any(by.startswith("sglang.") for by in by_all)
            if upstream and name not in listed.get(kind, set()) and not name.startswith("_"):
                result.setdefault(kind, set()).add(name)
    return {role: tuple(sorted(names)) for role, names in sorted(result.items())}
