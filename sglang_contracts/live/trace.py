"""Watches a running engine: what SGLang hands over, calls and reads.

Installed in every process of an engine run (``SGLANG_CONTRACTS_TRACE`` names the folder), it waits
until the model runner stands, then puts a recording subclass under the objects that a contract is
about: attention backend, key/value pool, allocator, request pool, platform. The objects stay what
they are (``isinstance`` holds, nothing is copied); each access is noted, with the module it comes
from.

One JSON object a line, in ``trace-<pid>.jsonl``:

- ``{"kind": "batch", "call": …, "mode": …, "scheduled": …, "fields": {name: value}}``
- ``{"kind": "call", "on": …, "name": …, "args": […], "kwargs": {…}, "returns": value, "by": …}``
- ``{"kind": "read", "on": …, "name": …, "value": value, "by": …}``
- ``{"kind": "object", "on": …, "class": …, "bases": […], "members": {…}, "fields": {…}}``
- ``{"kind": "symbols", "present": {module: {name: what}}, "flags": {flag: choices}}``

A value is described, never kept: ``{"type": "tensor", "dtype", "shape", "device", "values"?}`` with
the values of small integer tensors only, ``{"type": "int", "value": …}``, ``{"type": "none"}``, …
"""

from __future__ import annotations

import atexit
import functools
import inspect
import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import Any

from sglang_contracts.live import shim

VARIABLE = "SGLANG_CONTRACTS_TRACE"
WANTED = "wanted.txt"
"""In the trace's folder: symbols, one a line, to be looked up in the running model worker."""

_SMALL = 256  # elements: enough for the index vectors of the runs here, never a cache
_MAKERS = frozenset(
    {
        "initialize",
        "init_memory_pool",
        "alloc_memory_pool",
        "init_attention_backend",
        "init_attention_backends",
    }
)
_BATCH_CALLS = frozenset(
    {
        "init_forward_metadata",
        "init_forward_metadata_out_graph",
        "forward_extend",
        "forward_decode",
        "forward_mixed",
        "forward",
    }
)


def describe(value: Any, depth: int = 2) -> dict[str, Any]:
    """What a value is, as JSON: types, sizes and small integers, never the data itself."""
    if value is None:
        return {"type": "none"}
    kind = type(value)
    if kind in (bool, int, str):
        return {"type": kind.__name__, "value": value if kind is not str else value[:80]}
    if kind is float:
        return {"type": "float"}
    if hasattr(value, "untyped_storage") and hasattr(value, "dtype"):
        found: dict[str, Any] = {
            "type": "tensor",
            "dtype": str(value.dtype).removeprefix("torch."),
            "shape": [int(size) for size in value.shape],
            "device": value.device.type,
        }
        whole = not value.dtype.is_floating_point and not value.dtype.is_complex
        if whole and value.numel() <= _SMALL:
            found["values"] = value.tolist()
        return found
    if kind in (list, tuple):
        found = {"type": kind.__name__, "length": len(value)}
        if all(type(item) in (bool, int) for item in value) and len(value) <= _SMALL:
            found["values"] = list(value)
        elif depth and value:
            found["items"] = describe(value[0], depth - 1)
        return found
    if kind is dict:
        return {"type": "dict", "length": len(value)}
    name = f"{kind.__module__}:{kind.__qualname__}"
    if kind.__name__ == "dtype" and kind.__module__ == "torch":
        return {"type": "dtype", "value": str(value).removeprefix("torch.")}
    if hasattr(value, "name") and hasattr(value, "value") and hasattr(kind, "__members__"):
        return {"type": "enum", "class": name, "value": value.name}
    if callable(value):
        return {"type": "callable", "class": name}
    return {"type": "object", "class": getattr(kind, "_sglang_contracts_name", name)}


def _fields(value: Any) -> dict[str, Any]:
    """The fields of a dataclass or the attributes of any object, described."""
    names = list(getattr(value, "__dataclass_fields__", ())) or list(vars(value))
    result = {}
    for name in names:
        if name.startswith("_"):
            continue
        try:
            result[name] = describe(getattr(value, name))
        except Exception as error:  # a property that refuses is an answer too
            result[name] = {"type": "error", "class": type(error).__name__}
    return result


class Tracer:
    """Writes what it sees to one file; equal observations once.

    Args:
        folder: Where ``trace-<pid>.jsonl`` is written.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._file = (folder / f"trace-{os.getpid()}.jsonl").open("a", encoding="utf-8")
        self._seen: set[str] = set()
        self._busy = False
        self._batches = 0
        self._runner_seen = self._layer_seen = False
        self.scheduled = ""
        atexit.register(self._file.close)

    def emit(self, kind: str, **facts: Any) -> None:
        """Write one observation, unless the very same was written before."""
        line = json.dumps({"kind": kind, **facts}, sort_keys=True, default=str)
        if line not in self._seen:
            self._seen.add(line)
            self._file.write(line + "\n")
            self._file.flush()  # the engine ends its processes without asking

    def watch(self, role: str, target: Any) -> None:
        """Put a recording subclass under ``target``, once."""
        cls = type(target)
        if target is None or hasattr(cls, "_sglang_contracts_name"):
            return
        name = f"{cls.__module__}:{cls.__qualname__}"
        tracer = self

        def recording(this: Any, attribute: str) -> Any:
            value = object.__getattribute__(this, attribute)
            return tracer._accessed(role, this, attribute, value, sys._getframe(1))

        if "__getattribute__" in {name for each in cls.__mro__[:-1] for name in vars(each)}:
            return  # it does so itself: leave it alone
        namespace = {
            "__getattribute__": recording,
            "__module__": cls.__module__,
            "__qualname__": cls.__qualname__,
            "_sglang_contracts_name": name,
        }
        try:
            target.__class__ = type(cls.__name__, (cls,), namespace)
        except TypeError:
            return  # another memory layout (slots): it cannot be watched
        self.emit("object", on=role, **_class_facts(cls), fields=self._quietly(_fields, target))

    def _quietly(self, function: Callable[..., Any], *arguments: Any) -> Any:
        before, self._busy = self._busy, True
        try:
            return function(*arguments)
        finally:
            self._busy = before

    def _accessed(self, role: str, this: Any, attribute: str, value: Any, frame: FrameType) -> Any:
        if self._busy or attribute.startswith("__"):
            return value
        by = _place(frame)
        if by is None:
            return value
        if frame.f_locals.get("self") is this:
            by = f"self {by}"
        if not callable(value) or isinstance(value, type):
            self._quietly(self._read, role, attribute, value, by)
            return value

        def called(*args: Any, **kwargs: Any) -> Any:
            if attribute in _BATCH_CALLS:
                for argument in (*args, *kwargs.values()):
                    if hasattr(argument, "forward_mode"):
                        self._quietly(self.batch, attribute, argument)
                    elif type(argument).__name__ == "RadixAttention":
                        self._quietly(self.layer, argument)
            returned = value(*args, **kwargs)
            self._quietly(self._call, role, attribute, args, kwargs, returned, by)
            return returned

        return called

    def _read(self, role: str, attribute: str, value: Any, by: str) -> None:
        self.emit("read", on=role, name=attribute, value=_plain(describe(value)), by=by)

    def _call(self, role: str, name: str, args: Any, kwargs: Any, returned: Any, by: str) -> None:
        self.emit(
            "call",
            on=role,
            name=name,
            args=[_plain(describe(argument)) for argument in args],
            kwargs={key: _plain(describe(value)) for key, value in kwargs.items()},
            returns=_plain(describe(returned)),
            by=by,
        )

    def batch(self, call: str, batch: Any) -> None:
        """Note a ``ForwardBatch`` as its reader gets it."""
        self._batches += 1
        if self._batches > 400:  # a run of that length has shown what it can
            return
        if self._batches == 1:
            self.emit("object", on="batch", **_class_facts(type(batch)), fields={})
        mode = batch.forward_mode.name
        self.emit("batch", call=call, mode=mode, scheduled=self.scheduled, fields=_fields(batch))

    def layer(self, layer: Any) -> None:
        """Note the first attention layer that a backend is called for."""
        if not self._layer_seen:
            self._layer_seen = True
            self.emit("object", on="layer", **_class_facts(type(layer)), fields=_fields(layer))

    def sampled(self, logits_output: Any, batch: Any) -> None:
        """Note what the sampler gets."""
        mode = batch.forward_mode.name
        for role, target in (("sampling", batch.sampling_info), ("logits", logits_output)):
            if target is not None:
                facts = _class_facts(type(target))
                self.emit("object", on=role, **facts, mode=mode, fields=_fields(target))

    def objects(self, runner: Any) -> None:
        """Watch what a model runner has made."""
        for role, name in (
            ("backend", "attn_backend"),
            ("kv_pool", "token_to_kv_pool"),
            ("allocator", "token_to_kv_pool_allocator"),
            ("request_pool", "req_to_token_pool"),
        ):
            target = getattr(runner, name, None)
            if target is not None:
                self.watch(role, target)

    def runner(self, runner: Any) -> None:
        """Note what a model runner has when it runs for the first time."""
        if self._runner_seen:
            return
        self._runner_seen = True
        wanted = self._folder / WANTED
        if wanted.exists():
            present = _present(wanted.read_text(encoding="utf-8").split())
            self.emit("symbols", present=present, flags=self._quietly(_flags))
        fields = self._quietly(_fields, runner)
        self.emit("object", on="model_runner", **_class_facts(type(runner)), fields=fields)


def _plain(described: dict[str, Any]) -> dict[str, Any]:
    """Without values, so that equal calls of different batches are one observation."""
    return {k: v for k, v in described.items() if k != "values"}


def _place(frame: FrameType) -> str | None:
    """``module:line`` of who asks; None for this package itself."""
    name = frame.f_globals.get("__name__", "")
    return None if name.startswith("sglang_contracts.live") else f"{name}:{frame.f_lineno}"


def canonical(function: Callable[..., Any], member: bool) -> list[str]:
    """A running function's parameters in the contracts' own spelling (no ``self``).

    Args:
        function: Any function.
        member: Whether its first parameter is the object.
    """
    parameters = list(inspect.signature(function).parameters.values())[1 if member else 0 :]
    found: list[str] = []
    star, previous = False, None
    for each in parameters:
        if previous is each.POSITIONAL_ONLY and each.kind is not each.POSITIONAL_ONLY:
            found.append("/")
        if each.kind is each.KEYWORD_ONLY and not star:
            found.append("*")
        star = star or each.kind in (each.KEYWORD_ONLY, each.VAR_POSITIONAL)
        stars = ("*" if each.kind is each.VAR_POSITIONAL else "") + (
            "**" if each.kind is each.VAR_KEYWORD else ""
        )
        found.append(f"{stars}{each.name}{'' if each.default is each.empty else '='}")
        previous = each.kind
    return [*found, "/"] if previous is inspect.Parameter.POSITIONAL_ONLY else found


def _describe_member(cls: type, name: str) -> str:
    """``(a, b=)`` for a method, ``: annotation`` for a field, else what sort of thing it is."""
    value = inspect.getattr_static(cls, name, None)
    function = inspect.unwrap(getattr(value, "__func__", value))
    if inspect.isfunction(function):
        member = not isinstance(value, staticmethod)
        return f"({', '.join(canonical(function, member))})"
    if isinstance(value, property):
        return "property"
    return "class" if isinstance(value, type) else "attribute"


def _class_facts(cls: type) -> dict[str, Any]:
    """Name, bases, and the members of the nearest upstream class, as they were imported."""
    names = [f"{each.__module__}:{each.__qualname__}" for each in cls.__mro__]
    upstream = next((each for each in cls.__mro__ if each.__module__.startswith("sglang.")), None)
    members: dict[str, str] = {}
    if upstream is not None:
        for name in dir(upstream):
            if not name.startswith("__") or name == "__init__":
                members[name] = _describe_member(upstream, name)
        for name, field in getattr(upstream, "__dataclass_fields__", {}).items():
            members[name] = f": {field.type}"
    return {"class": names[0], "bases": names[1:-1], "members": members}


def _present(wanted: Iterable[str]) -> dict[str, dict[str, str]]:
    """Module → name → what it is, for those symbols whose module this process has imported."""
    found: dict[str, dict[str, str]] = {}
    for symbol in wanted:
        module_name, _, path = symbol.partition(":")
        module = sys.modules.get(module_name)
        if module is None or not module_name.startswith("sglang"):
            continue
        if not path:
            found.setdefault(module_name, {})
            continue
        path, _, key = path.partition("[")
        try:
            owner: Any = module
            *parents, last = path.split(".")
            for parent in parents:
                owner = getattr(owner, parent)
            value = getattr(owner, last)
            if key:
                what = "key" if key.strip("]\"'") in value else ""
            elif isinstance(owner, type):
                what = _describe_member(owner, last)
            elif inspect.isfunction(value):
                what = f"({', '.join(canonical(inspect.unwrap(value), member=False))})"
            else:
                what = "class" if isinstance(value, type) else "value"
        except Exception:  # not there, or it refuses: nothing is claimed
            what = ""
        if what:
            found.setdefault(module_name, {})[symbol.partition(":")[2]] = what
    return found


def _flags() -> dict[str, list[str]]:
    """Every command-line flag of this release's server, with its choices."""
    import argparse

    from sglang_contracts.live.differences import symbol

    parser = argparse.ArgumentParser()
    symbol("sglang.srt.server_args:ServerArgs").add_cli_args(parser)
    return {
        flag: sorted(str(choice) for choice in action.choices or ())
        for action in parser._actions
        for flag in action.option_strings
        if flag.startswith("--")
    }


def _after(cls: Any, name: str, notice: Callable[[Any], None]) -> None:
    """Call ``notice`` with the object after each call of its method ``name``."""
    real = getattr(cls, name)

    @functools.wraps(real)
    def method(this: Any, *args: Any, **kwargs: Any) -> Any:
        result = real(this, *args, **kwargs)
        notice(this)
        return result

    setattr(cls, name, method)


def install(folder: Path) -> None:
    """Watch whatever engine this process will run.

    Args:
        folder: Where the trace is written.
    """
    tracer: list[Tracer] = []

    def get() -> Tracer:
        if not tracer:
            tracer.append(Tracer(folder))
        return tracer[0]

    def model_runner(module: Any) -> None:
        cls = module.ModelRunner

        # Pools and backend are made in different steps in different releases: look after each.
        for name in _MAKERS & set(vars(cls)):
            _after(cls, name, lambda runner: get().objects(runner))

        real_forward = cls._forward_raw

        @functools.wraps(real_forward)
        def forward(this: Any, *args: Any, **kwargs: Any) -> Any:
            get().objects(this)
            get().runner(this)
            batch = args[0] if args else kwargs["forward_batch"]
            get().scheduled = batch.forward_mode.name  # a runner may tell its backend another
            return real_forward(this, *args, **kwargs)

        real_sample = cls.sample

        @functools.wraps(real_sample)
        def sample(this: Any, *args: Any, **kwargs: Any) -> Any:
            if len(args) >= 2:
                get().sampled(args[0], args[1])
            return real_sample(this, *args, **kwargs)

        cls._forward_raw, cls.sample = forward, sample

    def platforms(module: Any) -> None:
        if not hasattr(module, "_resolve_platform"):
            return

        def resolve(*args: Any, _real: Any = module._resolve_platform, **kwargs: Any) -> Any:
            platform = _real(*args, **kwargs)
            get().watch("platform", platform)
            return platform

        module._resolve_platform = resolve

    shim.after_import("sglang.srt.model_executor.model_runner", model_runner)
    shim.after_import("sglang.srt.platforms", platforms)
