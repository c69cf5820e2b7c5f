"""What SGLang is given by a plugin: through its entry points, its platform and the registries.

A capability that names a ``module:Class`` is a hint. What counts is what SGLang would construct:
the backend that the registry's factory makes, the classes that the platform hands out, the hooks
that the entry points register.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sglang_contracts.live.differences import Differences, symbol
from sglang_contracts.suite.subject import Subject, resolve
from sglang_contracts.suite.violation import SubjectError, Violation, ask, expect

BACKENDS = "sglang.srt.layers.attention.attention_registry:ATTENTION_BACKENDS"
HOOKS = "sglang.srt.plugins.hook_registry:HookRegistry"
PLATFORM = "sglang.srt.platforms.interface:SRTPlatform"
PARTS = ("make_backend", "kv_pool", "latent_pool", "allocator")
"""The parts of a subject that SGLang gets through entry points."""


@dataclass(frozen=True)
class Entered:
    """What the entry points have left behind.

    Attributes:
        hooks: Target → its hooks, as the registry keeps them.
        backends: Name → factory of attention backends.
        platform: The platform, its backend initialised; None: the plugin brings none.
    """

    hooks: Mapping[str, Any]
    backends: Mapping[str, Any]
    platform: Any = None


def platform_class(subject: Subject) -> Any:
    """The platform's class, as SGLang would find it; ``module.Class`` or ``module:Class``.

    Raises:
        Violation: ``activate()`` names no class.
        SubjectError: The plugin raised.
    """
    if subject.platform is not None:
        return subject.platform
    assert subject.activate is not None
    name = ask("the platform's entry point", subject.activate)
    expect(
        isinstance(name, str) and ("." in name or ":" in name),
        f"activate() gives {type(name).__name__}, not the name of a class (module.Class or "
        "module:Class): the plugin takes this host for one without its runtime",
    )
    return ask(f"importing {name}", pkgutil.resolve_name, name)


@contextlib.contextmanager
def entered(subject: Subject, times: int = 1) -> Iterator[Entered]:
    """Run the entry points on empty registries, as SGLang does, and put back what was there.

    The general entry points come first, then the platform and its ``init_backend()``, which SGLang
    calls in each worker: a plugin may register in either.

    Args:
        subject: The plugin.
        times: How often the general entry points and ``init_backend()`` run.

    Raises:
        SubjectError: One of them raised.
        Violation: ``activate()`` names no class.
    """
    backends, hooks = symbol(BACKENDS), symbol(HOOKS)
    kept = dict(backends), {k: list(v) for k, v in hooks._hooks.items()}, set(hooks._patched)
    hooks._hooks.clear()
    try:
        platform = None
        for _ in range(times):
            for entry in subject.register:
                ask("a general plugin entry point", entry)
        if subject.activate is not None or subject.platform is not None:
            platform = ask("making the platform", platform_class(subject))
            for _ in range(times):
                initialise(platform)
        yield Entered(hooks._hooks, backends, platform)
    finally:
        backends.clear()
        backends.update(kept[0])
        hooks._hooks.clear()
        for target, entries in kept[1].items():
            hooks._hooks[target].extend(entries)
        hooks._patched.clear()
        hooks._patched.update(kept[2])


def initialise(platform: Any) -> None:
    """Call ``init_backend()`` as SGLang's model runner does when it is imported."""
    method = getattr(platform, "init_backend", None)
    if callable(method):
        ask("init_backend()", method)


def backend_name(subject: Subject, platform: Any) -> str:
    """The name under which the backend is registered: the settings', else the platform's own."""
    if subject.settings.attention_backend:
        return subject.settings.attention_backend
    method = getattr(platform, "get_default_attention_backend", None)
    found = ask("get_default_attention_backend()", method) if callable(method) else ""
    return found if isinstance(found, str) else ""


def _own(platform: Any, hook: str) -> Callable[..., Any] | None:
    """A method of the platform, where it is not SGLang's own."""
    base = getattr(symbol(PLATFORM), hook, None)
    if getattr(type(platform), hook, None) in (None, base):
        return None
    return getattr(platform, hook)  # type: ignore[no-any-return]  # a method, or what stands there


def pool_class(platform: Any, kind: str = "mha") -> Any:
    """The pool's class that the platform hands out; None: SGLang's own.

    Since 0.5.22 ``get_kv_pool_cls(kind=…)`` is asked, which falls back to the names of before.
    """
    if hasattr(symbol(PLATFORM), "get_kv_pool_cls"):
        return ask(f"get_kv_pool_cls(kind={kind!r})", platform.get_kv_pool_cls, kind=kind)
    hook = _own(platform, f"get_{kind}_kv_pool_cls")
    return ask(f"get_{kind}_kv_pool_cls()", hook) if hook is not None else None


def allocator_class(platform: Any) -> Any:
    """The allocator's class that the platform hands out; None: SGLang's own."""
    hook = _own(platform, "get_paged_allocator_cls")
    return ask("get_paged_allocator_cls()", hook) if hook is not None else None


def served_parts(subject: Subject, release: str) -> dict[str, Any]:
    """The parts that SGLang gets through the entry points, as far as they can be had.

    None says that SGLang's own class is served. What cannot be had (an entry point that raises, a
    platform of another kind) is left out: the checks of level 1 say why.
    """
    if not Differences(release).has_platforms:
        return {}
    if not subject.register and subject.activate is None and subject.platform is None:
        return {}
    found: dict[str, Any] = {}
    try:
        with entered(subject) as there:
            name = backend_name(subject, there.platform)
            factory = there.backends.get(name)
            if factory is not None:
                found["make_backend"] = _as_class(factory, subject.capabilities.backend)
            if there.platform is not None:
                for part, get in (
                    ("kv_pool", pool_class),
                    ("latent_pool", functools.partial(pool_class, kind="mla")),
                    ("allocator", allocator_class),
                ):
                    with contextlib.suppress(SubjectError):
                        found[part] = stock(get(there.platform))
    except (SubjectError, Violation):
        return found
    return found


def _as_class(factory: Callable[[Any], Any], declared: Any) -> Any:
    """A factory that can be subclassed like the declared class: what is varied keeps the class.

    Called, it gives what the factory gives, whatever that is.
    """
    cls = resolve(declared, "capability 'backend'")
    if not isinstance(cls, type):
        return factory
    base: Any = cls

    class Served(base):  # type: ignore[misc]  # whatever class the plugin declares
        def __new__(wanted, *args: Any, **kwargs: Any) -> Any:
            if wanted is Served:
                return factory(*args, **kwargs)
            return super().__new__(wanted)

    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(Served, name, getattr(cls, name))
    return Served


def stock(cls: Any) -> Any:
    """None where a class handed out is SGLang's own: then it is not the plugin's part."""
    module = str(getattr(cls, "__module__", ""))
    return None if module.partition(".")[0] == "sglang" else cls


def called(thing: Any) -> str:
    """A class or function as messages name it."""
    if thing is None:
        return "SGLang's own"
    return f"{getattr(thing, '__module__', '?')}:{getattr(thing, '__qualname__', thing)}"


def filled(subject: Subject, release: str) -> Subject:
    """The subject with its parts imported: what SGLang is given, else what the capabilities name.

    SGLang (or its fake) must be importable by now.

    Raises:
        ContractsError: A name in the capabilities does not resolve.
    """
    found = subject.capabilities
    parts = {
        name: part
        for name, part in served_parts(subject, release).items()
        if getattr(subject, name) is None
    }
    for attribute, target, what in (
        ("make_backend", found.backend, "capability 'backend'"),
        ("kv_pool", found.kv_pool, "capability 'kv-pool'"),
        ("allocator", found.allocator, "capability 'allocator'"),
        ("sampler", found.sampler, "capability 'sampler'"),
        ("unpack", found.quantization.get("unpack"), "capability 'quantization.unpack'"),
        ("scales", found.quantization.get("scales"), "capability 'quantization.scales'"),
        ("linear", found.quantization.get("linear"), "capability 'quantization.linear'"),
        ("communicator", found.communicator.get("class"), "capability 'communicator.class'"),
    ):
        if getattr(subject, attribute) is None and target:
            declared = resolve(target, what)  # a wrong name is told, also where it is not served
            parts.setdefault(attribute, declared)
    return dataclasses.replace(subject, **parts)


def renewed(subject: Subject, before: Subject, release: str) -> Subject:
    """A changed subject whose entry points are others: what they serve is served anew.

    Args:
        subject: The changed one.
        before: What it was made from; a part that was replaced by hand stays as it is.
        release: The SGLang release.
    """
    entries = ("activate", "register", "platform")
    if all(getattr(subject, name) is getattr(before, name) for name in entries):
        return subject
    parts = served_parts(subject, release)
    same = [part for part in PARTS if getattr(subject, part) is getattr(before, part)]
    return dataclasses.replace(subject, **{n: parts[n] for n in same if n in parts})
