"""Level 1: the platform, as SGLang finds it and asks it."""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from sglang_contracts.contract import variant
from sglang_contracts.live.differences import symbol
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.device import watched
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.served import PLATFORM, platform_class
from sglang_contracts.suite.subject import Subject
from sglang_contracts.suite.violation import Inapplicable, ask, expect

_EVERY_ENGINE = (
    # What the engine asks of an out-of-tree platform for any dense model. Others whose base is
    # open, too, are asked only with what this suite does not test (drafts).
    "get_default_attention_backend",
    "get_device_total_memory",
    "get_current_memory_usage",
    "get_mha_kv_pool_cls",
    "get_paged_allocator_cls",
)


def _needs_platforms(context: Context) -> None:
    if not context.builder.differences.has_platforms:
        raise Inapplicable(
            f"SGLang {context.release} has no platform plugins: they start with 0.5.11"
        )
    if context.subject.activate is None and context.subject.platform is None:
        raise Inapplicable("the plugin brings no platform")


@contextlib.contextmanager
def without_runtime(subject: Subject) -> Iterator[None]:
    """Within it neither the vendor's runtime nor its stand-in is to be had."""
    found = subject.capabilities
    missing = object()
    modules: dict[str, Any] = {}
    roots = tuple(found.runtime_modules)
    for name in [*sys.modules, *roots]:
        if name in roots or name.startswith(tuple(f"{root}." for root in roots)):
            modules[name] = sys.modules.get(name, missing)
    environment = dict(os.environ)
    for name in found.runtime_environment:
        os.environ.pop(name, None)
    for name in modules:
        sys.modules[name] = None  # type: ignore[assignment]  # Python's own way to say "not there"
    try:
        yield
    finally:
        for name, module in modules.items():
            if module is missing:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module
        os.environ.clear()  # what the plugin leaves there must not hide it from the next check
        os.environ.update(environment)


@check(
    "platform.activates-with-its-runtime",
    1,
    "Where the vendor's runtime is there, activate() names an SRTPlatform",
    clauses=("platform/_enum", "plugin-loading/plugins:load_plugins"),
    forbids_raising=True,
    why="Otherwise SGLang silently runs on its CPU platform.",
)
def _activates(context: Context) -> None:
    _needs_platforms(context)
    found = platform_class(context.subject)
    base = symbol(PLATFORM)
    expect(
        isinstance(found, type) and issubclass(found, base),
        f"{getattr(found, '__name__', found)} is no subclass of SRTPlatform",
    )
    platform = ask("making the platform", found)
    kind = getattr(getattr(platform, "_enum", None), "name", None)
    expect(kind == "OOT", f"the platform's _enum is {kind}, not PlatformEnum.OOT")
    for name in ("device_name", "device_type"):
        value = getattr(platform, name, None)
        expect(
            isinstance(value, str) and bool(value),
            f"the platform's {name} is {type(value).__name__}, not a name",
        )


@check(
    "platform.declines-without-its-runtime",
    1,
    "Where the vendor's runtime is missing, activate() gives None and does not raise",
    clauses=("plugin-loading/plugins:load_plugins",),
    forbids_raising=True,
    why="The package is installed on build hosts and on other cards' hosts, too.",
)
def _declines(context: Context) -> None:
    _needs_platforms(context)
    subject = context.subject
    if subject.activate is None:
        raise Inapplicable("the plugin has no platform entry point")
    if not subject.capabilities.runtime_modules:
        raise Inapplicable("the plugin does not declare 'runtime-modules': always active")
    with without_runtime(subject):
        found = ask("activate() without the runtime", subject.activate)
    expect(found is None, f"activate() gives {type(found).__name__} where the runtime is missing")


def required_hooks(context: Context) -> list[str]:
    """Platform hooks that this release calls and whose base only raises NotImplementedError."""
    from sglang_contracts.surface.model import Role

    module, _, qual = PLATFORM.partition(":")
    base = context.surface.find(module, qual)
    members = context.surface.members(base) if base is not None else {}
    found = []
    latent = ("get_mla_kv_pool_cls",) if context.subject.capabilities.declares("pool:mla") else ()
    for name in _EVERY_ENGINE + latent:
        role = getattr(getattr(members.get(name), "node", None), "role", None)
        is_open = role is not None and role & (Role.ABSTRACT | Role.UNIMPLEMENTED)
        if is_open and any(True for _ in context.surface.callers(name)):
            found.append(name)
    return found


@check(
    "platform.required-hooks-are-there",
    1,
    "The platform defines every hook that this release calls and its base leaves open",
    clauses=("platform/get_mha_kv_pool_cls", "platform/get_paged_allocator_cls"),
    why="The base class raises NotImplementedError while the engine starts.",
)
def _required(context: Context) -> None:
    _needs_platforms(context)
    found = platform_class(context.subject)
    wanted = required_hooks(context) + left_open(found)
    base = symbol(PLATFORM)
    missing = [
        name
        for name in dict.fromkeys(wanted)
        if getattr(found, name, None) is None
        or inspect.getattr_static(found, name) is inspect.getattr_static(base, name, object())
    ]
    expect(
        not missing,
        f"{found.__name__} does not define {', '.join(missing)}: SGLang {context.release} calls it "
        "and the base class raises NotImplementedError",
    )


def left_open(found: Any) -> list[str]:
    """Abstract methods that a class leaves open."""
    return sorted(getattr(found, "__abstractmethods__", ()))


@check(
    "platform.names-fitting-classes",
    1,
    "Pool, allocator and quantisation that the platform names are classes as core expects them",
    clauses=(
        "platform/get_mha_kv_pool_cls",
        "platform/get_paged_allocator_cls",
        "platform/get_quantization_config",
    ),
    forbids_raising=True,
    why="Core constructs them with its own arguments and calls its own methods on them.",
)
def _classes(context: Context) -> None:
    _needs_platforms(context)
    platform = ask("making the platform", platform_class(context.subject))
    hook = "get_kv_pool_cls" if context.since("0.5.22") else "get_mha_kv_pool_cls"
    options = {"kind": "mha"} if context.since("0.5.22") else {}
    pool_base = symbol("sglang.srt.mem_cache.memory_pool:KVCache")
    base_hook = getattr(symbol(PLATFORM), hook, None)
    if getattr(type(platform), hook, None) is not base_hook:
        pool = ask(f"{hook}()", getattr(platform, hook), **options)
        if pool is not None:
            expect(
                isinstance(pool, type) and issubclass(pool, pool_base),
                f"{hook}() gives {getattr(pool, '__name__', type(pool).__name__)}, which is no "
                "KVCache",
            )
    base_hook = getattr(symbol(PLATFORM), "get_paged_allocator_cls", None)
    if type(platform).get_paged_allocator_cls is not base_hook:
        allocator = ask("get_paged_allocator_cls()", platform.get_paged_allocator_cls)
        expect(
            isinstance(allocator, type) and callable(getattr(allocator, "alloc_extend", None)),
            f"get_paged_allocator_cls() gives "
            f"{getattr(allocator, '__name__', type(allocator).__name__)}, which is no paged "
            "allocator",
        )
    _quantisation(context, platform)
    name = ask("get_default_attention_backend()", platform.get_default_attention_backend)
    wanted = context.subject.settings.attention_backend
    expect(
        not wanted or name == wanted,
        f"get_default_attention_backend() gives {name!r}, the settings say {wanted!r}",
    )


def _quantisation(context: Context, platform: Any) -> None:
    """What the platform gives for the quantisations that it lists is a class, or None."""
    if context.clause("platform/get_quantization_config") is None:
        return
    base = symbol("sglang.srt.layers.quantization.base_config:QuantizationConfig")
    for name in getattr(platform, "supported_quantization", None) or ():
        found = ask(f"get_quantization_config({name!r})", platform.get_quantization_config, name)
        expect(
            found is None or (isinstance(found, type) and issubclass(found, base)),
            f"get_quantization_config({name!r}) gives "
            f"{getattr(found, '__name__', type(found).__name__)}, which is no QuantizationConfig "
            "class",
        )


def _on_the_card(context: Context, platform: Any) -> None:
    """Ask for free and total memory where some of it is held, on the simulated device."""
    import torch

    declared = context.subject.capabilities
    if not declared.simulated_device or not hasattr(platform, "device_type"):
        return
    try:
        with watched(context) as watch:
            platform.device_type = watch.device
            held = torch.zeros(1 << 20, dtype=torch.uint8, device=watch.device)
            pair = ask("get_available_memory(0) on a card", platform.get_available_memory, 0)
            del held
    except Inapplicable:
        return
    finally:
        vars(platform).pop("device_type", None)
    expect(
        isinstance(pair, tuple) and len(pair) == 2 and pair[0] < pair[1],
        "get_available_memory() of a card of which some is in use gives no (free, total) with less "
        "free than there is",
    )


_SMALLEST = 1 << 30
"""Bytes that every card has and that no card has in larger units."""


def _takes(method: Any, parameters: Sequence[str], clause: str) -> None:
    """Hold a method of the platform to the arguments that this release may pass."""
    named = parameters.index("*") if "*" in parameters else len(parameters)
    positional = [object()] * named
    keywords = {name.rstrip("="): object() for name in parameters[named + 1 :]}
    try:
        inspect.signature(method).bind(*positional, **keywords)
    except TypeError as error:
        given = ", ".join(parameters)
        expect(False, f"{method.__name__} cannot be called with ({given}): {error} ({clause})")


@check(
    "platform.answers-about-its-device",
    1,
    "Memory, name and pinned memory are answered in the form that this release asks for",
    clauses=(
        "platform/is_pin_memory_available",
        "platform/get_available_memory",
        "platform/get_device",
        "platform/supported_quantization",
    ),
    forbids_raising=True,
    why="A wrong pair of numbers sizes the pool wrongly; a wrong signature ends the start.",
)
def _answers(context: Context) -> None:
    _needs_platforms(context)
    platform = ask("making the platform", platform_class(context.subject))
    base = symbol(PLATFORM)

    def own(name: str) -> bool:
        return getattr(type(platform), name, None) is not getattr(base, name, None)

    for clause in context.contracts["platform"].clauses:
        parameters = variant(clause.parameters, context.release)
        if parameters is None or not clause.holds_in(context.release) or not own(clause.name):
            continue
        if callable(getattr(type(platform), clause.name, None)):  # a property is not evaluated
            _takes(getattr(platform, clause.name), parameters, clause.id)
    if own("get_available_memory"):
        _on_the_card(context, platform)
        pair = ask("get_available_memory(0)", platform.get_available_memory, 0)
        expect(
            isinstance(pair, tuple) and len(pair) == 2,
            f"get_available_memory() gives {type(pair).__name__}, not (free, total)",
        )
        free, total = pair
        expect(
            0 <= free <= total and total >= _SMALLEST,
            "get_available_memory() gives (free, total) in the wrong order or unit: bytes",
        )
        if own("get_device_total_memory"):
            whole = ask("get_device_total_memory(0)", platform.get_device_total_memory, 0)
            expect(
                abs(whole - total) <= total // 2,
                "get_device_total_memory() and get_available_memory() disagree on the total",
            )
    if own("get_device") and context.since("0.5.13"):  # platform/get_device-is-a-string
        device = ask("get_device(0)", platform.get_device, 0)
        expect(
            isinstance(device, str) and device.partition(":")[0] == platform.device_type,
            f"get_device(0) gives {device!r}, not a string that names a {platform.device_type!r} "
            "device",
        )
    if own("get_torch_distributed_backend_str"):
        backend = ask("its backend of process groups", platform.get_torch_distributed_backend_str)
        expect(
            isinstance(backend, str) and bool(backend),
            f"get_torch_distributed_backend_str() gives {type(backend).__name__}, not a name",
        )
    if own("get_current_memory_usage"):
        used = ask("get_current_memory_usage()", platform.get_current_memory_usage)
        expect(
            isinstance(used, (int, float)) and used >= 0,
            f"get_current_memory_usage() gives {type(used).__name__}, not bytes",
        )
    kinds = getattr(platform, "supported_quantization", [])
    expect(
        isinstance(kinds, (list, tuple)) and all(isinstance(kind, str) for kind in kinds),
        f"supported_quantization is {type(kinds).__name__}, not a list of names",
    )
    if own("get_device_name"):
        name = ask("get_device_name(0)", platform.get_device_name, 0)
        expect(isinstance(name, str), f"get_device_name() gives {type(name).__name__}")
    if own("is_pin_memory_available"):
        options = {"device": None} if context.since("0.5.16") else {}
        pinned = ask("is_pin_memory_available()", platform.is_pin_memory_available, **options)
        expect(
            isinstance(pinned, bool),
            f"is_pin_memory_available() gives {type(pinned).__name__}, not a bool",
        )
