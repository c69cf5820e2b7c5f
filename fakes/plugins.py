"""Plugins and platforms: found through real entry points, loaded and resolved as SGLang does."""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import logging
import os
import pkgutil
import platform as host
import random
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sglang_contracts.fakes.behaviour import BY_RECORD, BY_RESULT, Given, function, method, value

if TYPE_CHECKING:
    from sglang_contracts.fakes.release import Fake

_HOOKS = "sglang.srt.plugins.hook_registry"
_PLUGINS = "sglang.srt.plugins"
_PLATFORMS = "sglang.srt.platforms"

logger = logging.getLogger("sglang.srt.plugins")

# -- hooks ----


@method("HookRegistry", "register")
def _register(fake: Fake, cls: Any, given: Given) -> None:
    kind, hook, target = given["hook_type"], given["hook"], given["target"]
    replace = type(kind).REPLACE
    if isinstance(hook, type) and kind != replace:
        raise TypeError(
            f"Class {hook.__name__} can only be used with HookType.REPLACE, got {kind}: "
            "use a function for the other types"
        )
    source = given.get("source") or fake.module(_HOOKS)._current_plugin_source.get()
    if kind == replace and any(each[0] == replace for each in cls._hooks[target]):
        logger.warning("Multiple REPLACE hooks on '%s': the last registered one wins", target)
    cls._hooks[target].append((kind, hook, source))


@method("HookRegistry", "reset")
def _reset(fake: Fake, cls: Any, given: Given) -> None:
    cls._hooks.clear()
    cls._patched.clear()


@method("HookRegistry", "_target_sort_key")
def _sort_key(fake: Fake, _: Any, given: Given) -> Any:
    (item,) = given.values()
    target, hooks = item
    classes_first = any(
        isinstance(hook, type) and kind.name == "REPLACE" for kind, hook, _ in hooks
    )
    return (0 if classes_first else 1, target)


@method("HookRegistry", "apply_hooks")
def _apply_hooks(fake: Fake, cls: Any, given: Given) -> None:
    """Patch every target that is not patched yet; what fails is logged and nothing more."""
    for target, hooks in sorted(cls._hooks.items(), key=cls._target_sort_key):
        if target in cls._patched:
            continue
        try:
            cls._apply_target(target, hooks)
            cls._patched.add(target)
        except Exception:
            logger.exception("Failed to apply hooks to %s", target)


@method("HookRegistry", "_apply_target")
def _apply_target(fake: Fake, cls: Any, given: Given) -> None:
    target, hooks = given["target"], given["hooks"]
    path, dot, name = target.rpartition(".")
    if not dot:
        raise ValueError(f"Invalid target path (need at least module.attr): {target}")
    holder = pkgutil.resolve_name(path)
    original = getattr(holder, name)
    raw = vars(holder).get(name) if isinstance(holder, type) else None
    kept = type(raw) if isinstance(raw, (classmethod, staticmethod)) else None
    if kept is not None:
        original = raw.__func__  # type: ignore[union-attr]
    if isinstance(original, type) and any(kind.name != "REPLACE" for kind, _, _ in hooks):
        raise TypeError(
            f"Target '{target}' is a class. Only HookType.REPLACE is allowed for class targets"
        )
    made = original
    # What replaces comes first, whatever the order of registration: the others go around it.
    for kind, hook, _ in sorted(hooks, key=lambda each: each[0].name != "REPLACE"):
        made = hook if isinstance(hook, type) else wrap(made, hook, kind.name)
    setattr(holder, name, kept(made) if kept is not None else made)
    _propagate(fake, original, made, holder)


def _propagate(fake: Fake, original: Any, made: Any, holder: Any) -> None:
    """Modules that imported the original by name get the patched one as well."""
    for module in list(sys.modules.values()):
        if module is holder or not isinstance(module, types.ModuleType):
            continue
        for name, held in list(vars(module).items()):
            if held is original:
                setattr(module, name, made)
    # A name not read yet is made from here when it is.
    for key, held in list(fake.objects.items()):
        if held is original:
            fake.objects[key] = made


def wrap(original: Callable[..., Any], hook: Callable[..., Any], kind: str) -> Callable[..., Any]:
    """A function that runs a hook before, after, around or in place of another.

    Args:
        original: What is hooked.
        hook: ``BEFORE``: may return other ``(args, kwargs)``. ``AFTER``: is given the result first,
            may return another. ``AROUND``: is given the original first. ``REPLACE``: runs alone.
        kind: Name of the hook type.
    """

    @functools.wraps(original)
    def replaced(*args: Any, **kwargs: Any) -> Any:
        return hook(*args, **kwargs)

    @functools.wraps(original)
    def before(*args: Any, **kwargs: Any) -> Any:
        changed = hook(*args, **kwargs)
        if changed is not None:
            args, kwargs = changed
        return original(*args, **kwargs)

    @functools.wraps(original)
    def after(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        changed = hook(result, *args, **kwargs)
        return result if changed is None else changed

    @functools.wraps(original)
    def around(*args: Any, **kwargs: Any) -> Any:
        return hook(original, *args, **kwargs)

    made = {"REPLACE": replaced, "BEFORE": before, "AFTER": after, "AROUND": around}[kind]
    made.__wrapped__ = original  # by it tests find what was hooked
    return made


@function(_HOOKS, "_wrap_fn")
def _wrap_fn(fake: Fake, given: Given) -> Any:
    return wrap(given["original_fn"], given["hook"], given["hook_type"].name)


@function(_HOOKS, "_format_source")
def _format_source(fake: Fake, given: Given) -> str:
    source = given["source"]
    return "unknown" if source is None else f"plugin={source.plugin_name}, dist={source.dist_name}"


@function(_HOOKS, "plugin_hook")
def _plugin_hook(fake: Fake, given: Given) -> Any:
    def decorate(hook: Any) -> Any:
        fake.get(f"{_HOOKS}:HookRegistry").register(given["target"], hook, given["type"])
        return hook

    return decorate


# -- general plugins ----


def _entry_points(group: str) -> list[importlib.metadata.EntryPoint]:
    return list(importlib.metadata.entry_points(group=group))


@function(_PLUGINS, "load_plugins_by_group")
def _load_by_group(fake: Fake, given: Given) -> dict[str, Any]:
    allowed = {name.strip() for name in os.environ.get("SGLANG_PLUGINS", "").split(",")} - {""}
    excluded = given.get("excluded_dists") or set()
    found: dict[str, Any] = {}
    for each in _entry_points(given["group"]):
        dist = each.dist.name if each.dist else None
        if (allowed and each.name not in allowed) or dist in excluded:
            logger.info("Skipping plugin %s", each.name)
            continue
        try:
            found[each.name] = (each.load(), dist)
        except Exception:
            logger.exception("Failed to load plugin %s from group %s", each.name, given["group"])
    return found


@function(_PLUGINS, "_get_excluded_dists")
def _excluded(fake: Fake, given: Given) -> set[str]:
    selected = os.environ.get("SGLANG_PLATFORM")
    if not selected:
        return set()
    group = fake.get(f"{_PLUGINS}:PLATFORM_PLUGINS_GROUP")
    return {e.dist.name for e in _entry_points(group) if e.dist and e.name != selected}


@function(_PLUGINS, "load_plugins")
def _load_plugins(fake: Fake, given: Given) -> None:
    module, hooks = fake.module(_PLUGINS), fake.module(_HOOKS)
    if module._plugins_loaded:
        return
    module._plugins_loaded = True
    excluded = module._get_excluded_dists()
    found = module.load_plugins_by_group(module.GENERAL_PLUGINS_GROUP, excluded_dists=excluded)
    for name, (register, dist) in found.items():
        source = hooks.HookSource(plugin_name=name, dist_name=dist)
        token = hooks._current_plugin_source.set(source)
        try:
            register()
        except Exception:
            logger.exception("Failed to execute general plugin: %s", name)
        finally:
            hooks._current_plugin_source.reset(token)
    hooks.HookRegistry.apply_hooks()


# -- platforms ----

BY_RESULT.update({"DeviceMixin", "SRTPlatform", "CpuSRTPlatform", "CudaSRTPlatform"})
BY_RESULT.update({"RocmSRTPlatform", "NPUSRTPlatform", "XpuSRTPlatform", "MusaSRTPlatform"})
BY_RECORD.update({"DeviceMixin", "SRTPlatform"})


@value(_PLATFORMS, "current_platform")
def _current(fake: Fake) -> Any:
    module = fake.module(_PLATFORMS)
    if module._current_platform is None:
        module._current_platform = module._resolve_platform()
    return module._current_platform


@function(_PLATFORMS, "_is_cpu_available")
def _is_cpu_available(fake: Fake, given: Given) -> bool:
    return os.environ.get("SGLANG_USE_CPU_ENGINE", "0") == "1"


@function(_PLATFORMS, "_load_platform_class")
def _load_platform_class(fake: Fake, given: Given) -> type:
    name = given["qualname"]
    cls = pkgutil.resolve_name(name)
    base = fake.get("sglang.srt.platforms.interface:SRTPlatform")
    if not isinstance(cls, type) or not issubclass(cls, base):
        raise TypeError(f"Expected an SRTPlatform subclass, got {type(cls)}: {name}")
    return cls


@function(_PLATFORMS, "_resolve_platform")
def _resolve(fake: Fake, given: Given) -> Any:
    module, selected = fake.module(_PLATFORMS), os.environ.get("SGLANG_PLATFORM")
    group = fake.get(f"{_PLUGINS}:PLATFORM_PLUGINS_GROUP")
    if selected:
        return module._load_platform_class(_selected(group, selected))()
    activated: dict[str, str] = {}
    found = fake.module(_PLUGINS).load_plugins_by_group(group)
    for name, (activate, _) in found.items():
        try:
            qualified = activate()
        except Exception:
            logger.exception("Failed to activate platform plugin: %s", name)
            continue
        if qualified is not None:
            activated[name] = qualified
    if len(activated) > 1:
        names = ", ".join(f"'{name}'" for name in activated)
        raise RuntimeError(
            f"Multiple platform plugins activated: {names}. Set SGLANG_PLATFORM to select one."
        )
    if activated:
        return module._load_platform_class(*activated.values())()
    # Without a plugin a fake has no accelerator, whatever the machine it runs on has.
    if _is_cpu_available(fake, given) and fake.surface.top(_PLATFORMS, "CpuSRTPlatform"):
        return module.CpuSRTPlatform()
    return fake.get("sglang.srt.platforms.interface:SRTPlatform")()


def _selected(group: str, name: str) -> str:
    named = {each.name: each for each in _entry_points(group)}
    if name not in named:
        available = ", ".join(f"'{each}'" for each in named) or "none"
        raise RuntimeError(
            f"SGLANG_PLATFORM={name!r} not found in discovered platform plugins "
            f"(available: {available})"
        )
    qualified: str | None = named[name].load()()
    if qualified is None:
        raise RuntimeError(
            f"Platform plugin {name!r} is installed but activate() returned None "
            "(hardware not available on this machine?)."
        )
    return qualified


@method("SRTPlatform", "get_kv_pool_cls")
def _kv_pool_cls(fake: Fake, self: Any, given: Given) -> Any:
    hook = f"get_{given['kind']}_kv_pool_cls"  # the names of before, still served
    legacy = getattr(self, hook, None)
    if legacy is None:
        return None
    logger.warning("%s.%s() is deprecated; override get_kv_pool_cls", type(self).__name__, hook)
    return legacy()


@method("DeviceMixin", "seed_everything")
def _seed(fake: Fake, cls: Any, given: Given) -> None:
    import torch

    if given["seed"] is not None:
        random.seed(given["seed"])
        torch.manual_seed(given["seed"])


@method("DeviceMixin", "reindex_device_id")
def _reindex(fake: Fake, self: Any, given: Given) -> Any:
    return contextlib.nullcontext(given["device_id"])


@method("SRTPlatform", "get_group_coordinator_device")
def _coordinator_device(fake: Fake, self: Any, given: Given) -> Any:
    import torch

    return torch.device("cpu")


@method("DeviceMixin", "inference_mode")
def _inference_mode(fake: Fake, cls: Any, given: Given) -> Any:
    import torch

    return torch.inference_mode(mode=True)


@method("DeviceMixin", "get_torch_distributed_backend_str")
def _distributed(fake: Fake, self: Any, given: Given) -> str:
    known = {"cuda": "nccl", "xpu": "xccl", "hpu": "hccl", "npu": "hccl", "musa": "mccl"}
    return known.get(self.device_type, "gloo")


@method("DeviceMixin", "get_cpu_architecture")
def _architecture(fake: Fake, cls: Any, given: Given) -> Any:
    names = fake.get("sglang.srt.platforms.device_mixin:CpuArchEnum")
    machine = host.machine().lower()
    if machine in ("x86_64", "amd64", "i386", "i686"):
        return names.X86
    return names.ARM if machine in ("arm64", "aarch64") else names.UNSPECIFIED


@method("DeviceMixin", "__repr__")
def _repr(fake: Fake, self: Any, given: Given) -> str:
    return f"<{type(self).__name__} {self.device_name} ({self.device_type})>"
