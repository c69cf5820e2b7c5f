"""Level 1: entry points, platform, registration, hooks, and what core reads off the objects."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import logging
import multiprocessing
import os
import pkgutil
import sys
from collections.abc import Iterator
from typing import Any

from sglang_contracts.contract import Kind
from sglang_contracts.errors import nearest
from sglang_contracts.live.differences import symbol
from sglang_contracts.suite.bench import Bench
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.subject import Subject
from sglang_contracts.suite.violation import Inapplicable, ask, expect

_TIMEOUT = 60.0
_INTERFACE = "sglang.srt.platforms.interface:SRTPlatform"
_REGISTRY = "sglang.srt.layers.attention.attention_registry:ATTENTION_BACKENDS"
_BASE = "sglang.srt.layers.attention.base_attn_backend:AttentionBackend"


def _needs_platforms(context: Context) -> None:
    if not context.builder.differences.has_platforms:
        raise Inapplicable(
            f"SGLang {context.release} has no platform plugins: they start with 0.5.11"
        )
    if context.subject.activate is None and context.subject.platform is None:
        raise Inapplicable("the plugin brings no platform")


def _needs_plugins(context: Context) -> None:
    if not context.builder.differences.has_platforms:
        raise Inapplicable(
            f"SGLang {context.release} loads no general plugins: they start with 0.5.11"
        )
    if not context.subject.register:
        raise Inapplicable("the plugin brings no general entry point")


def platform_class(context: Context) -> Any:
    """The platform's class, as SGLang would find it."""
    subject = context.subject
    if subject.platform is not None:
        return subject.platform
    assert subject.activate is not None
    name = ask("the platform's entry point", subject.activate)
    expect(
        isinstance(name, str) and "." in name,
        f"activate() gives {type(name).__name__}, not the dotted name of a class: the plugin takes "
        "this host for one without its runtime",
    )
    return ask(f"importing {name}", _class, name)


def _class(name: str) -> Any:
    module, _, qual = name.rpartition(".")
    return getattr(importlib.import_module(module), qual)


@contextlib.contextmanager
def registered(context: Context) -> Iterator[tuple[Any, Any]]:
    """Run the general entry points on empty registries, and put back what was there.

    Yields:
        The hooks that they registered and the attention backends, each by name.
    """
    backends = symbol(_REGISTRY)
    hooks = symbol("sglang.srt.plugins.hook_registry:HookRegistry")
    kept = dict(backends), {k: list(v) for k, v in hooks._hooks.items()}, set(hooks._patched)
    hooks._hooks.clear()
    try:
        for entry in context.subject.register:
            ask("a general plugin entry point", entry)
        yield hooks._hooks, backends
    finally:
        backends.clear()
        backends.update(kept[0])
        hooks._hooks.clear()
        for target, entries in kept[1].items():
            hooks._hooks[target].extend(entries)
        hooks._patched.clear()
        hooks._patched.update(kept[2])


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
    variables = {name: os.environ.pop(name, None) for name in found.runtime_environment}
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
        for name, value in variables.items():
            if value is not None:
                os.environ[name] = value


@check(
    "plugin.entry-points-run",
    1,
    "The plugin's entry points load and run",
    clauses=("plugin-loading/plugins:load_plugins",),
    forbids_raising=True,
    why="SGLang logs the error and serves without the plugin.",
)
def _entry_points(context: Context) -> None:
    subject = context.subject
    if subject.activate is None and not subject.register:
        raise Inapplicable("the plugin brings no entry points: only its backend was handed over")
    if not context.builder.differences.has_platforms:
        raise Inapplicable(f"SGLang {context.release} has no plugins: they start with 0.5.11")
    if subject.activate is not None:
        ask("the platform's entry point", subject.activate)
    if subject.register:
        with registered(context):
            pass


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
    found = platform_class(context)
    base = symbol(_INTERFACE)
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
    wanted = context.subject.settings.platform
    expect(
        not wanted or platform.device_name == wanted,
        f"the platform calls itself {platform.device_name!r}, its settings say {wanted!r}",
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


_EVERY_ENGINE = (
    # What the engine asks of an out-of-tree platform for any dense model. Others whose base is
    # open, too, are asked only with what this suite does not test (latent attention, drafts).
    "get_default_attention_backend",
    "get_device_total_memory",
    "get_current_memory_usage",
    "get_mha_kv_pool_cls",
    "get_paged_allocator_cls",
)


def required_hooks(context: Context) -> list[str]:
    """Platform hooks that this release calls and whose base only raises NotImplementedError."""
    from sglang_contracts.surface.model import Role

    module, _, qual = _INTERFACE.partition(":")
    base = context.surface.find(module, qual)
    members = context.surface.members(base) if base is not None else {}
    found = []
    for name in _EVERY_ENGINE:
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
    found = platform_class(context)
    wanted = required_hooks(context) + _abstract(found)
    base = symbol(_INTERFACE)
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


def _abstract(found: Any) -> list[str]:
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
    platform = ask("making the platform", platform_class(context))
    hook = "get_kv_pool_cls" if context.since("0.5.22") else "get_mha_kv_pool_cls"
    options = {"kind": "mha"} if context.since("0.5.22") else {}
    pool_base = symbol("sglang.srt.mem_cache.memory_pool:KVCache")
    base_hook = getattr(symbol(_INTERFACE), hook, None)
    if getattr(type(platform), hook, None) is not base_hook:
        pool = ask(f"{hook}()", getattr(platform, hook), **options)
        if pool is not None:
            expect(
                isinstance(pool, type) and issubclass(pool, pool_base),
                f"{hook}() gives {getattr(pool, '__name__', type(pool).__name__)}, which is no "
                "KVCache",
            )
    base_hook = getattr(symbol(_INTERFACE), "get_paged_allocator_cls", None)
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
    platform = ask("making the platform", platform_class(context))
    base = symbol(_INTERFACE)

    def own(name: str) -> bool:
        return getattr(type(platform), name, None) is not getattr(base, name, None)

    if own("get_available_memory"):
        pair = ask("get_available_memory(0)", platform.get_available_memory, 0)
        expect(
            isinstance(pair, tuple) and len(pair) == 2,
            f"get_available_memory() gives {type(pair).__name__}, not (free, total)",
        )
        free, total = pair
        expect(
            0 <= free <= total and total > 1 << 20,
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


@check(
    "attention-registry.backend-is-registered",
    1,
    "The plugin registers its attention backend; its factory makes one for each model runner",
    clauses=(
        "attention-backend/register_attention_backend",
        "attention-backend/ATTENTION_BACKENDS",
    ),
    forbids_raising=True,
    why="--attention-backend NAME is refused otherwise.",
)
def _registered(context: Context) -> None:
    _needs_plugins(context)
    name = context.subject.settings.attention_backend
    if not name:
        raise Inapplicable("the settings name no 'attention-backend'")
    with registered(context) as (_, backends):
        close = nearest(name, backends, 1)
        expect(
            name in backends,
            f"after the entry points ran, no backend {name!r} is registered"
            + (f" (but {close[0]!r})" if close else ""),
        )
        factory = backends[name]
    base = symbol(_BASE)
    benches = [Bench(context, context.cells()[0], looks=False) for _ in range(2)]
    made = [ask(f"the factory of {name!r}", factory, bench.runner) for bench in benches]
    for each in made:
        expect(
            isinstance(each, base),
            f"the factory of {name!r} makes {type(each).__name__}, which is no AttentionBackend",
        )
    expect(
        made[0] is not made[1],
        f"the factory of {name!r} gives two model runners one backend: a draft model would write "
        "to the target's pool",
    )


@check(
    "hooks.targets-exist",
    1,
    "Every hook that the plugin registers has a target in this release",
    clauses=("plugin-loading/register",),
    why="SGLang only logs a missing target: the feature is off, silently.",
)
def _targets(context: Context) -> None:
    _needs_plugins(context)
    with registered(context) as (hooks, _):
        targets = list(hooks)
    missing = [target for target in targets if _resolved(target) is None]
    expect(
        not missing,
        f"{len(missing)} of {len(targets)} hooks have no target in SGLang {context.release}: "
        f"{', '.join(missing)}",
    )
    if not targets:
        raise Inapplicable("the plugin registers no hooks")


def _resolved(target: str) -> Any:
    try:
        return pkgutil.resolve_name(target)
    except Exception:  # whatever an import raises: the hook will not be applied
        return None


@check(
    "hooks.fit-their-targets",
    1,
    "Every hook takes the arguments of what it is hooked to",
    clauses=("plugin-loading/HookType",),
    why="The registry checks no signature: the first call raises, deep in a forward pass.",
)
def _fit(context: Context) -> None:
    _needs_plugins(context)
    with registered(context) as (hooks, _):
        entries = [(t, kind, hook) for t, each in hooks.items() for kind, hook, _ in each]
    if not entries:
        raise Inapplicable("the plugin registers no hooks")
    for target, kind, hook in entries:
        original = _resolved(target)
        if original is None or isinstance(hook, type) or isinstance(original, type):
            continue
        try:
            wanted = inspect.signature(original)
            offered = inspect.signature(hook)
        except (TypeError, ValueError):
            continue
        extra = [object()] if kind.name in ("AROUND", "AFTER") else []
        problem = _unbound(wanted, offered, extra)
        expect(
            not problem,
            f"the {kind.name} hook on {target} cannot be called as the target is: {problem}",
        )


@check(
    "hooks.are-applied",
    1,
    "apply_hooks() applies every hook that the plugin registers",
    clauses=("plugin-loading/apply_hooks", "plugin-loading/_patched"),
    why="The registry logs what it cannot apply, and goes on without it.",
)
def _applied(context: Context) -> None:
    _needs_plugins(context)
    if "fork" not in multiprocessing.get_all_start_methods():
        raise Inapplicable("this system cannot fork: hooks would be applied to the suite itself")
    with registered(context) as (hooks, _):
        if not hooks:
            raise Inapplicable("the plugin registers no hooks")
        left = _left_out()
    expect(
        left is not None,
        "apply_hooks() ended the process",
    )
    expect(
        not left,
        f"apply_hooks() has not applied {len(left or ())} of the plugin's hooks: "
        f"{', '.join(left or ())}",
    )


def _left_out() -> list[str] | None:
    """Targets that ``apply_hooks`` leaves unpatched, found out in a forked process."""
    mine, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(
        target=_apply, args=(theirs,), daemon=True
    )
    process.start()
    theirs.close()
    try:
        found: list[str] | None = mine.recv() if mine.poll(_TIMEOUT) else None
    except EOFError:
        found = None
    finally:
        process.kill()
        process.join()
        mine.close()
    return found


def _apply(pipe: Any) -> None:
    """In the child: apply, and tell what was not."""
    logging.disable(logging.CRITICAL)
    try:
        hooks = symbol("sglang.srt.plugins.hook_registry:HookRegistry")
        hooks._patched.clear()
        hooks.apply_hooks()
        pipe.send(sorted(set(hooks._hooks) - set(hooks._patched)))
    finally:
        pipe.close()
        os._exit(0)  # a forked child must not run the parent's exit handlers


def _unbound(wanted: inspect.Signature, offered: inspect.Signature, extra: list[Any]) -> str:
    """Why a callable with ``offered`` cannot stand in for one with ``wanted``; empty: it can."""
    positional, keywords = list(extra), {}
    for parameter in wanted.parameters.values():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            positional.append(object())
        elif parameter.kind is parameter.KEYWORD_ONLY:
            keywords[parameter.name] = object()
    try:
        offered.bind(*positional, **keywords)
    except TypeError as error:
        return str(error)
    return ""


@check(
    "attention-backend.takes-what-core-passes",
    1,
    "The backend's methods take the arguments that this release's core passes",
    clauses=(
        "attention-backend/forward_extend",
        "attention-backend/forward_decode",
        "attention-backend/init_forward_metadata",
    ),
    why="A new argument is a TypeError in the first pass that has it.",
)
def _arguments(context: Context) -> None:
    from sglang_contracts.contract import variant

    bench = Bench(context, context.cells()[0])
    names = ["init_forward_metadata", "forward_extend", "forward_decode"]
    if context.subject.capabilities.graph_capture:
        names += ["init_cuda_graph_state", "get_cuda_graph_seq_len_fill_value"]
        names += ["init_forward_metadata_out_graph", "init_forward_metadata_in_graph"]
        names += ["init_forward_metadata_capture_cuda_graph"]
        names += ["init_forward_metadata_replay_cuda_graph"]
    for name in names:
        clause = context.clause(f"attention-backend/{name}")
        parameters = variant(clause.parameters, context.release) if clause is not None else None
        if clause is None or parameters is None:
            continue
        method = getattr(bench.backend, name, None)
        expect(
            callable(method),
            f"the backend has no {name}: SGLang {context.release} calls it ({clause.id})",
        )
        offered = inspect.signature(method)  # type: ignore[arg-type]  # it is callable
        positional = [p.rstrip("=") for p in parameters if not p.startswith("*")]
        options: dict[str, Any] = {}
        if "**kwargs" in parameters:
            options["an_argument_of_a_later_model"] = None
        try:
            offered.bind(*[object()] * len(positional), **options)
        except TypeError as error:
            expect(
                False,
                f"{name}{offered} cannot be called with ({', '.join(parameters)}): {error} "
                f"({clause.id})",
            )


@check(
    "attention-backend.keeps-what-core-reads-off-it",
    1,
    "The backend has what core reads off it though no base class declares it",
    clauses=("attention-backend/token_to_kv_pool", "attention-backend/req_to_token_pool"),
    why="forward_context.get_token_to_kv_pool() reads it off the backend since 0.5.13.",
)
def _obligations(context: Context) -> None:
    contract = context.contracts.get("attention-backend")
    wanted = [
        clause
        for clause in (contract.clauses if contract is not None else ())
        if clause.kind is Kind.OBLIGATION
        and not clause.optional
        and clause.holds_in(context.release)
    ]
    if not wanted:
        raise Inapplicable(
            f"SGLang {context.release} reads nothing off a backend that its base does not declare"
        )
    bench = Bench(context, context.cells()[0])
    for clause in wanted:
        found = getattr(bench.backend, clause.name, None)
        expect(
            found is not None,
            f"the backend has no {clause.name}: SGLang {context.release} reads it ({clause.id})",
        )
        given = getattr(bench.runner, clause.name, None)
        expect(
            given is None or found is given,
            f"the backend's {clause.name} is not the model runner's ({clause.id})",
        )


@check(
    "attention-backend.is-an-attention-backend",
    1,
    "The backend is a subclass of AttentionBackend and leaves nothing of it open",
    clauses=("attention-backend/init_forward_metadata",),
    forbids_raising=True,
    why="Core asks it for flags that the base class answers.",
)
def _is_backend(context: Context) -> None:
    bench = Bench(context, context.cells()[0])
    base = symbol(_BASE)
    expect(
        isinstance(bench.backend, base),
        f"{type(bench.backend).__name__} is no subclass of AttentionBackend",
    )
    missing = _abstract(type(bench.backend))
    expect(not missing, f"{type(bench.backend).__name__} leaves {', '.join(missing)} open")
    clauses = context.contracts.get("attention-backend")
    for clause in clauses.clauses if clauses is not None else ():
        if clause.kind is not Kind.FIELD or not clause.holds_in(context.release):
            continue
        if hasattr(base, clause.name):
            expect(
                hasattr(bench.backend, clause.name),
                f"core reads {clause.name} off the backend ({clause.id}); it is not there",
            )
