"""The recorded surface of a release, held against the modules as Python imports them.

What was read out of a wheel by ``ast`` alone must be what ``inspect`` sees on the imported classes:
fields and their order, methods, parameters, which of them have defaults, enum members.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from sglang_contracts.contract.signature import signature
from sglang_contracts.live.facts import canonical
from sglang_contracts.surface import Surface
from sglang_contracts.surface.model import Class, Function, Kind, Module, Role


@dataclass(frozen=True)
class Difference:
    """One thing that is recorded otherwise than it is imported.

    Attributes:
        symbol: ``module:Qual``.
        recorded: What the surface says.
        imported: What ``inspect`` says.
    """

    symbol: str
    recorded: str
    imported: str


def import_all(modules: Iterable[str]) -> tuple[str, ...]:
    """Import those that can be on this machine; the names of these."""
    found = []
    for name in modules:
        # What needs a card, a package or a platform is not compared.
        with contextlib.suppress(Exception):
            importlib.import_module(name)
            found.append(name)
    return tuple(found)


def compare(surface: Surface, modules: Iterable[str]) -> tuple[list[Difference], int]:
    """Compare the records of imported modules.

    Args:
        surface: The recorded release.
        modules: Names of modules that are imported.

    Returns:
        The differences, and how many functions, fields and members were compared.
    """
    differences: list[Difference] = []
    count = 0
    for name in modules:
        record, module = surface.module(name), sys.modules.get(name)
        if record is None or module is None:
            continue
        for difference in _module(name, record, module):
            if difference is None:
                count += 1
            else:
                differences.append(difference)
    return differences, count


def _module(name: str, record: Module, module: ModuleType) -> Iterator[Difference | None]:
    for function_name, function in record.functions.items():
        if function.condition:
            continue  # which branch was taken depends on the machine
        value = getattr(module, function_name, None)
        yield from _function(f"{name}:{function_name}", function, value, member=False)
    for class_name, cls in record.classes.items():
        value = getattr(module, class_name, None)
        if cls.condition or not isinstance(value, type) or value.__module__ != name:
            continue
        yield from _class(f"{name}:{class_name}", cls, value)


def _function(
    symbol: str, function: Function, value: Any, member: bool
) -> Iterator[Difference | None]:
    if function.role & Role.PROPERTY or function.decorators:
        return  # a decorator may give it any signature
    value = getattr(value, "__func__", value)
    if not inspect.isfunction(value) or hasattr(value, "__wrapped__"):
        return
    has_self = member and not function.role & Role.STATIC
    recorded, imported = signature(function, member), tuple(canonical(value, has_self))
    if recorded == imported:
        yield None
    else:
        yield Difference(symbol, f"({', '.join(recorded)})", f"({', '.join(imported)})")


def _class(symbol: str, cls: Class, value: type) -> Iterator[Difference | None]:
    for name, method in cls.methods.items():
        if method.condition:
            continue
        mangled = name if not name.startswith("__") or name.endswith("__") else None
        if mangled is None:
            continue  # name-mangled: nobody outside can use it
        own = vars(value).get(name)
        if own is None:
            yield Difference(f"{symbol}.{name}", "a method", "nothing")
        else:
            yield from _function(f"{symbol}.{name}", method, own, member=True)
    # Hugging Face's base makes its own kind of dataclass of every configuration.
    foreign = any(base.__module__.startswith("transformers.") for base in value.__mro__)
    if cls.kind & Kind.DATACLASS and not foreign:
        yield _same(symbol, _recorded_fields(cls), _imported_fields(value))
    if cls.kind & Kind.ENUM and hasattr(value, "__members__"):
        recorded = [n for n, a in cls.attributes.items() if not a.on_self and not a.condition]
        missing = [n for n in recorded if n not in value.__members__ and not n.startswith("_")]
        yield _same(symbol, [], missing)


def _recorded_fields(cls: Class) -> list[str]:
    return [
        name + ("=" if _has_default(attribute.value) else "")
        for name, attribute in cls.attributes.items()
        if not attribute.on_self
        and attribute.annotation
        and not attribute.annotation.startswith(("ClassVar", "typing.ClassVar", "InitVar"))
    ]


def _has_default(value: str) -> bool:
    """Whether a field's written value gives it a default: ``field(init=False)`` does not."""
    if value.partition("(")[0] in ("field", "dataclasses.field"):
        return "default" in value
    return bool(value)


def _imported_fields(value: type) -> list[str]:
    import dataclasses

    own = inspect.get_annotations(value)
    fields: dict[str, Any] = value.__dict__.get("__dataclass_fields__", {})
    missing = dataclasses.MISSING
    return [
        name
        + (
            ""
            if fields[name].default is missing and fields[name].default_factory is missing
            else "="
        )
        for name in own
        if name in fields and fields[name]._field_type is dataclasses._FIELD  # type: ignore[attr-defined]
    ]


def _same(symbol: str, recorded: list[str], imported: list[str]) -> Difference | None:
    if recorded == imported:
        return None
    return Difference(symbol, ", ".join(recorded), ", ".join(imported))
