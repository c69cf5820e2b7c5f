"""Describes running objects as JSON: what a value is, what a class has, who sets what.

Nothing here keeps a value, calls a property or imports a module: the engine that is watched must
not notice. Names and sizes are facts; contents are not written down.
"""

from __future__ import annotations

import dis
import enum
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, MappingProxyType
from typing import Any

_SMALL = 256  # elements: enough for the index vectors of the runs here, never a cache
_PLAIN = (bool, int, float, str, tuple, list, dict, type(None))


def is_upstream(module: str) -> bool:
    """Whether a module is SGLang's own."""
    return module == "sglang" or module.startswith("sglang.")


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
    if kind in (dict, set):
        return {"type": kind.__name__, "length": len(value)}
    name = f"{kind.__module__}:{kind.__qualname__}"
    if kind.__name__ == "dtype" and kind.__module__ == "torch":
        return {"type": "dtype", "value": str(value).removeprefix("torch.")}
    if hasattr(kind, "__members__") and hasattr(value, "name"):
        return {"type": "enum", "class": name, "value": value.name}
    if callable(value) and not hasattr(kind, "forward"):
        return {"type": "callable", "class": name}
    found = {"type": "object", "class": getattr(kind, "_sglang_contracts_name", name)}
    bases = [each.__name__ for each in kind.__mro__[1:-1] if _told_of(each)]
    return {**found, "bases": bases} if bases else found


def fields(value: Any, private: frozenset[str] = frozenset()) -> dict[str, Any]:
    """An object's own attributes and the plain values its classes give it, described.

    Args:
        value: Any object; its properties are left alone.
        private: Names with a leading underscore that are wanted all the same.
    """
    names = dict.fromkeys(getattr(value, "__dataclass_fields__", ()))
    names |= dict.fromkeys(vars(value))
    for cls in type(value).__mro__:
        if cls is object or not _told_of(cls):
            continue
        names |= {
            name: None
            for name, held in vars(cls).items()
            if isinstance(held, _PLAIN) or hasattr(type(held), "__members__")
        }
    result = {}
    for name in names:
        if name.startswith("_") and name not in private:
            continue
        try:
            result[name] = describe(getattr(value, name))
        except Exception as error:  # what refuses is an answer too
            result[name] = {"type": "error", "class": type(error).__name__}
    return result


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


def member(cls: type, name: str) -> str:
    """``(a, b=)`` for a method, else ``property``, ``class`` or ``attribute``; nothing is bound."""
    value = function = inspect.getattr_static(cls, name, None)
    static = False
    while function is not None and not inspect.isfunction(function):
        static = static or isinstance(function, staticmethod)  # perhaps below a cache
        function = getattr(function, "__func__", getattr(function, "__wrapped__", None))
    if function is not None:
        return f"({', '.join(canonical(inspect.unwrap(function), not static))})"
    if isinstance(value, property):
        return "property"
    return "class" if isinstance(value, type) else "attribute"


def _told_of(cls: type) -> bool:
    """Whether a class in an object's line of bases is SGLang's or a plugin's, no library's."""
    package = cls.__module__.partition(".")[0]
    return package not in ("builtins", "abc", "typing", "enum", "torch", "msgspec", "transformers")


def _spelling(cls: type) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"


def class_facts(cls: type) -> dict[str, Any]:
    """A class's name, its bases, and what each of them that is SGLang's or a plugin's defines.

    Returns:
        ``class``, ``bases``, ``members`` (class → name → :func:`member`, or ``: annotation``) and
        ``own``: attributes that the plugin's code sets, which therefore prove nothing on SGLang.
    """
    members: dict[str, dict[str, str]] = {}
    for each in cls.__mro__[:-1]:
        if _told_of(each):
            members[_spelling(each)] = _members(each)
    plugins = {
        each.__module__.partition(".")[0]
        for each in cls.__mro__[:-1]
        if _told_of(each) and not is_upstream(each.__module__)
    }
    return {
        "class": _spelling(cls),
        "bases": [_spelling(each) for each in cls.__mro__[1:-1]],
        "members": members,
        "own": sorted({name for package in plugins for name in _set_by(package)}),
    }


def _members(cls: type) -> dict[str, str]:
    found = {
        name: member(cls, name)
        for name in vars(cls)
        if not name.startswith("__") or name == "__init__"
    }
    for name, annotation in inspect.get_annotations(cls).items():
        text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
        found[name] = f": {text}"
    return found


def _set_by(package: str) -> Iterator[str]:
    """Attributes that a loaded package's code assigns on any object, and its classes' own names."""
    for name, module in list(sys.modules.items()):
        if name != package and not name.startswith(f"{package}."):
            continue
        for value in vars(module).values():
            if getattr(value, "__module__", None) != name:
                continue
            if isinstance(value, type):
                yield from (key for key in vars(value) if not key.startswith("__"))
            for code in _codes(value):
                yield from _stored(code)


def _codes(value: Any) -> Iterator[CodeType]:
    """The code of a function, or of all that a class defines."""
    if isinstance(value, type):
        for held in vars(value).values():
            if not isinstance(held, type):
                yield from _codes(held)
        return
    for each in (value, *(getattr(value, part, None) for part in ("__func__", "fget", "fset"))):
        code = getattr(inspect.unwrap(each) if callable(each) else each, "__code__", None)
        if isinstance(code, CodeType):
            yield code


def _stored(code: CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname == "STORE_ATTR":
            yield str(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _stored(constant)


def present(wanted: Iterable[str]) -> dict[str, dict[str, str]]:
    """Those of the wanted symbols whose module this process has imported.

    Args:
        wanted: ``module:Qual``, modules alone, ``module:REGISTRY["key"]``.

    Returns:
        Module → name → what it is: ``(a, b=)`` for a function, ``class (a, b=)``, ``key``,
        ``member`` of an enumeration, ….
    """
    found: dict[str, dict[str, str]] = {}
    for symbol in wanted:
        module_name, _, path = symbol.partition(":")
        module = sys.modules.get(module_name)
        if module is None or not is_upstream(module_name):
            continue
        here = found.setdefault(module_name, {})
        if path:
            try:
                what = _what(module, path)
            except Exception:  # not there, or it refuses: nothing is claimed
                what = ""
            if what:
                here[path] = what
    return found


def _what(module: Any, path: str) -> str:
    path, _, key = path.partition("[")
    owner: Any = module
    *parents, last = path.split(".")
    for parent in parents:
        owner = getattr(owner, parent)
    if key:
        return "key" if key.strip("]\"'") in getattr(owner, last) else ""
    if isinstance(owner, enum.EnumMeta) and last in owner.__members__:
        return "member"
    if isinstance(owner, type):
        held = inspect.getattr_static(owner, last, None)
        if isinstance(held, type) or held is None:  # a nested class; an annotation alone
            return "class" if held is not None else _annotated(owner, last)
        return member(owner, last)
    value = getattr(owner, last)
    value = getattr(value, "fn", value)  # a Triton kernel, compiled or interpreted
    if inspect.isfunction(value):
        if not is_upstream(value.__module__):
            return ""  # a plugin or this package has put its own in SGLang's place
        return f"({', '.join(canonical(inspect.unwrap(value), member=False))})"
    if isinstance(value, type):
        return f"class{_constructor(value)}"
    return "module" if inspect.ismodule(value) else "value"


def _annotated(cls: type, name: str) -> str:
    known: MappingProxyType[str, Any] = getattr(cls, "__dataclass_fields__", MappingProxyType({}))
    return "attribute" if name in known else ""


def _constructor(cls: type) -> str:
    init: Any = inspect.unwrap(inspect.getattr_static(cls, "__init__"))
    if not inspect.isfunction(init) or hasattr(cls, "__members__"):
        return ""
    return f" ({', '.join(canonical(init, member=True))})"


def flags() -> dict[str, list[str]]:
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
