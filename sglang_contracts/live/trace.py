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
- ``{"kind": "object", "on": …, "class": …, "bases": […], "members": {…}, "own": […],
  "fields": {…}}``
- ``{"kind": "symbols", "present": {module: {name: what}}, "flags": {flag: choices}}``

A value is described, never kept (:mod:`~sglang_contracts.live.facts`): ``{"type": "tensor",
"dtype", "shape", "device", "values"?}`` with the values of small integer tensors only, ``{"type":
"int", "value": …}``, ``{"type": "none"}``, … An attribute that was asked for and is not there is
``{"type": "missing"}``.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from sglang_contracts.live import facts, shim
from sglang_contracts.live.facts import class_facts, describe

VARIABLE = "SGLANG_CONTRACTS_TRACE"
WANTED = "wanted.txt"
"""In the trace's folder: symbols, one a line, to be looked up in the running model worker."""

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
_CONSTRUCTED = {
    "KVCache": "kv_pool",
    "MHATokenToKVPool": "kv_pool",
    "MLATokenToKVPool": "kv_pool",
    "BaseTokenToKVPoolAllocator": "allocator",
    "TokenToKVPoolAllocator": "allocator",
    "PagedTokenToKVPoolAllocator": "allocator",
    "ReqToTokenPool": "request_pool",
}
"""Upstream classes → the role of their objects: with which arguments SGLang makes them is noted."""
_HANDED_OVER = {"RadixAttention": "layer", "KVWriteLoc": "write_location"}
"""Classes of arguments → the role under which the first such object is noted."""


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
        self._runner_seen = False
        self._noted: set[str] = set()
        self._told: dict[int, dict[str, Any]] = {}  # of objects that are being made
        self._wanted = _wanted(folder)
        self._private = frozenset(
            name
            for name in (symbol.rpartition(".")[2] for symbol in self._wanted)
            if name.startswith("_")
        )
        self.scheduled = ""
        atexit.register(self._file.close)

    def emit(self, kind: str, **observed: Any) -> None:
        """Write one observation, unless the very same was written before."""
        line = json.dumps({"kind": kind, **observed}, sort_keys=True, default=str)
        if line not in self._seen:
            self._seen.add(line)
            self._file.write(line + "\n")
            self._file.flush()  # the engine ends its processes without asking

    def watch(self, role: str, target: Any, finished: bool = True) -> None:
        """Put a recording subclass under ``target``, once.

        Args:
            role: What it is to the engine.
            target: Any object.
            finished: Whether it has its attributes; if not, :meth:`tell` notes them later.
        """
        cls = type(target)
        if target is None or hasattr(cls, "_sglang_contracts_name"):
            return
        name = f"{cls.__module__}:{cls.__qualname__}"
        tracer = self

        def recording(this: Any, attribute: str) -> Any:
            try:
                value = object.__getattribute__(this, attribute)
            except AttributeError:
                if not hasattr(cls, "__getattr__"):  # which may still have an answer
                    tracer._missed(role, attribute, sys._getframe(1))
                raise
            return tracer._accessed(role, this, attribute, value, sys._getframe(1))

        if "__getattribute__" in {name for each in cls.__mro__[:-1] for name in vars(each)}:
            return  # it does so itself: leave it alone
        told = class_facts(cls)
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
        self._told[id(target)] = told
        if finished:
            self.tell(role, target)

    def tell(self, role: str, target: Any) -> None:
        """Note what a watched object is and has, once."""
        told = self._told.pop(id(target), None)
        if told is not None:
            self.emit("object", on=role, **told, fields=self._fields(target))

    def _fields(self, target: Any) -> Any:
        return self._quietly(facts.fields, target, self._private)

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
            for argument in (*args, *kwargs.values()):
                noted = _HANDED_OVER.get(type(argument).__name__)
                if noted:
                    self._quietly(self.note, noted, argument)
                elif attribute in _BATCH_CALLS and hasattr(argument, "forward_mode"):
                    self._quietly(self.batch, attribute, argument)
            returned = value(*args, **kwargs)
            self._quietly(self._call, role, attribute, args, kwargs, returned, by)
            return returned

        return called

    def _missed(self, role: str, attribute: str, frame: FrameType) -> None:
        by = None if self._busy or attribute.startswith("__") else _place(frame)
        if by is not None:
            self.emit("read", on=role, name=attribute, value={"type": "missing"}, by=by)

    def made(
        self, role: str, this: Any, name: str, args: Any, kwargs: Any, frame: FrameType
    ) -> None:
        """Note with which arguments an object is made, and watch what it does to itself.

        Args:
            role: What it is to the engine.
            this: The object, still empty.
            name: ``Class.__init__``.
            args: Positional arguments.
            kwargs: Keyword arguments.
            frame: Who makes it.
        """
        by = _place(frame)
        if by is not None and not self._busy:
            self._quietly(self._call, role, name, args, kwargs, None, by)
            self.watch(role, this, finished=False)

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
            self.emit("object", on="batch", **class_facts(type(batch)), fields={})
        mode, seen = batch.forward_mode.name, self._fields(batch)
        self.emit("batch", call=call, mode=mode, scheduled=self.scheduled, fields=seen)

    def note(self, role: str, target: Any) -> None:
        """Note the first object that is handed over in a role."""
        if role not in self._noted:
            self._noted.add(role)
            self.emit("object", on=role, **class_facts(type(target)), fields=self._fields(target))

    def sampled(self, logits_output: Any, batch: Any) -> None:
        """Note what the sampler gets."""
        mode = batch.forward_mode.name
        for role, target in (("sampling", batch.sampling_info), ("logits", logits_output)):
            if target is not None:
                told, seen = class_facts(type(target)), self._fields(target)
                self.emit("object", on=role, **told, mode=mode, fields=seen)

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
                self.tell(role, target)

    def runner(self, runner: Any) -> None:
        """Note what a model runner has when it runs for the first time."""
        if self._runner_seen:
            return
        self._runner_seen = True
        if self._wanted:
            present = facts.present(self._wanted)
            self.emit("symbols", present=present, flags=self._quietly(facts.flags))
        told, seen = class_facts(type(runner)), self._fields(runner)
        self.emit("object", on="model_runner", **told, fields=seen)


def _wanted(folder: Path) -> tuple[str, ...]:
    file = folder / WANTED
    return tuple(file.read_text(encoding="utf-8").splitlines()) if file.exists() else ()


def _plain(described: dict[str, Any]) -> dict[str, Any]:
    """Without values, so that equal calls of different batches are one observation."""
    return {k: v for k, v in described.items() if k != "values"}


def _place(frame: FrameType) -> str | None:
    """``module:line`` of who asks; None for this package itself."""
    name = frame.f_globals.get("__name__", "")
    return None if name.startswith("sglang_contracts.live") else f"{name}:{frame.f_lineno}"


def _after(cls: Any, name: str, notice: Callable[[Any], None]) -> None:
    """Call ``notice`` with the object after each call of its method ``name``."""
    real = getattr(cls, name)

    @functools.wraps(real)
    def method(this: Any, *args: Any, **kwargs: Any) -> Any:
        result = real(this, *args, **kwargs)
        notice(this)
        return result

    setattr(cls, name, method)


def _constructors(notice: Callable[..., None]) -> None:
    """Call ``notice`` before each ``__init__`` of the classes in :data:`_CONSTRUCTED`."""
    modules = [m for name, m in sys.modules.items() if name.startswith("sglang.srt.mem_cache")]
    classes = {
        value
        for module in modules
        for name, value in list(vars(module).items())
        if name in _CONSTRUCTED and isinstance(value, type) and "__init__" in vars(value)
    }
    for cls in classes:
        _announce(cls, notice)


def _announce(cls: Any, notice: Callable[..., None]) -> None:
    real, role, name = cls.__init__, _CONSTRUCTED[cls.__name__], f"{cls.__name__}.__init__"

    @functools.wraps(real)
    def init(this: Any, *args: Any, **kwargs: Any) -> None:
        notice(role, this, name, args, kwargs, sys._getframe(1))
        real(this, *args, **kwargs)

    cls.__init__ = init


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
        _constructors(lambda *noted: get().made(*noted))

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
