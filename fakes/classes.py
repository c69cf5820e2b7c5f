"""Classes of a release, made when first asked for: recorded bases, fields, members, signatures."""

from __future__ import annotations

import abc
import collections
import dataclasses
import enum
import re
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sglang_contracts.fakes import behaviour
from sglang_contracts.fakes.errors import MissingAttributeError
from sglang_contracts.fakes.functions import build, explained, make_method
from sglang_contracts.fakes.values import NoValueError, Unknown

from sglang_contracts.surface import Symbol
from sglang_contracts.surface.model import (
    Attribute,
    Class,
    Kind,
    Parameter,
    ParameterKind,
    Role,
)

if TYPE_CHECKING:
    from sglang_contracts.fakes.release import Fake

BORN = "_sglang_fake_"
"""Attribute of each class made here: the release and the symbol it stands for."""

_RECORDS = Kind.STRUCT | Kind.PYDANTIC
_NOT_COPIED = frozenset(
    {"__slots__", "__hash__", "__match_args__", "__dict__", "__weakref__", "_fields_"}
)
_CALLED_BY_PYTHON = frozenset(
    {"__init_subclass__", "__set_name__", "__del__", "__repr__", "__str__"}
    | {"__getattribute__", "__setattr__", "__delattr__", "__eq__", "__hash__"}
)
"""Methods that run where nobody asked for them: without a behaviour they are left out."""
_ENUM_BASES = {
    "Enum": enum.Enum,
    "IntEnum": enum.IntEnum,
    "Flag": enum.Flag,
    "IntFlag": enum.IntFlag,
    "str": str,
    "int": int,
}


class FakeMeta(abc.ABCMeta):
    """Metaclass of the classes made here: a missing class attribute says where it was."""

    def __getattr__(cls, name: str) -> Any:
        raise missing_member(cls, name, f"type object {cls.__name__!r} has no attribute {name!r}")


class FakeEnumMeta(enum.EnumMeta):
    """The same for enums: a missing member says where it was."""

    def __getattr__(cls, name: str) -> Any:
        if not name.startswith("_") and name in cls._member_map_:
            return cls._member_map_[name]
        raise missing_member(cls, name, f"type object {cls.__name__!r} has no attribute {name!r}")


def missing_member(cls: type, name: str, plain: str) -> AttributeError:
    """The exception for a name that neither a class nor its recorded bases have."""
    born: tuple[Fake, Symbol] | None = None
    for each in cls.__mro__:
        born = vars(each).get(BORN)
        if born is not None:
            break
    if born is None or (name.startswith("__") and name.endswith("__")):
        return AttributeError(plain)
    fake, symbol = born
    return MissingAttributeError(plain, lambda: _where(fake, symbol, name), name, cls)


def _where(fake: Fake, symbol: Symbol, name: str) -> str:
    if fake.surface.member(symbol, name) is not None:
        return (
            f"SGLang {fake.release} assigns it somewhere in {symbol.name} or a base of it, "
            "this fake does not"
        )
    return fake.advise(f"{symbol.name}.{name}")


def make_class(fake: Fake, symbol: Symbol) -> type:
    """The class of a symbol.

    Args:
        fake: The release.
        symbol: A class symbol, at the place where it is defined.
    """
    node = symbol.node
    assert isinstance(node, Class)
    kind = fake.surface.kind(symbol)
    if kind & Kind.ENUM:
        return _make_enum(fake, symbol, node)
    bases = tuple(_bases(fake, symbol, node))
    namespace = _namespace(fake, symbol, node)
    if kind & Kind.PYDANTIC:
        # Where pydantic is installed it reads its own settings as the class is made.
        namespace.pop("model_config", None)
    if kind & Kind.NAMEDTUPLE:
        bases = (_tuple_base(fake, symbol), *(each for each in bases if each is not object))
    if kind & Kind.TYPED_DICT:
        bases = (dict,)
    if not any(BORN in vars(each) for base in bases for each in base.__mro__):
        namespace.setdefault("__getattr__", _instance_getattr(bases))
    namespace[BORN] = (fake, symbol)
    if node.kind & Kind.DATACLASS:
        return _dataclass(fake, symbol, node, bases, namespace)
    if kind & _RECORDS and "__init__" not in node.methods:
        namespace["__init__"] = _record_init(fake, symbol)
    return _new(symbol.qual, bases, namespace)


def _new(qual: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
    name = qual.rpartition(".")[2]
    plain = all(type(each) in _PLAIN for each in bases)
    meta = {"metaclass": FakeMeta} if plain else {}  # else the foreign base's own
    for chosen in (bases, tuple(each for each in bases if BORN in vars(each)), ()):
        try:
            return types.new_class(name, chosen, dict(meta), lambda ns: ns.update(namespace))
        # Bases of other libraries may not go together here, or (pydantic) refuse what the class
        # holds: whatever they raise, a fake of the shape needs none of them.
        except Exception:  # noqa: S112
            continue
    raise AssertionError(qual)


_PLAIN = {type, abc.ABCMeta, FakeMeta}


def _bases(fake: Fake, symbol: Symbol, node: Class) -> list[type]:
    """Recorded bases as the classes made here, others as what they are where they can be had."""
    out: list[type] = []
    for text in node.bases:
        name = text.partition("[")[0]
        found: Any = fake.base_of(symbol, name)
        if not isinstance(found, type) or name.rpartition(".")[2] in ("Generic", "Protocol"):
            found = _Generic if "[" in text or name.endswith("Generic") else object
        if found not in out and found is not object:
            out.append(found)
    # A base that another one already derives from would make the order impossible.
    return [each for each in out if not any(each is not o and issubclass(o, each) for o in out)]


class _Generic:
    """Stands for ``Generic[…]``: the class can be subscripted, to no effect."""

    def __class_getitem__(cls, _: Any) -> Any:
        return cls


def _namespace(fake: Fake, symbol: Symbol, node: Class) -> dict[str, Any]:
    module, qual = symbol.module, symbol.qual
    space: dict[str, Any] = {"__module__": module, "__qualname__": qual}
    for name, inner in node.classes.items():
        space[name] = fake.obtain(Symbol(module, f"{qual}.{name}", "class", inner, symbol))
    for name, attribute in node.attributes.items():
        if attribute.on_self or not attribute.value or name in _NOT_COPIED:
            continue
        space[name] = _class_value(fake, symbol, name, attribute, space)
    for name, function in node.methods.items():
        if name in _CALLED_BY_PYTHON and (qual, name) not in behaviour.METHODS:
            continue
        made = make_method(fake, module, f"{qual}.{name}", function)
        # Without ``ABCMeta`` the decorator alone keeps nobody from making an instance.
        if function.role & Role.ABSTRACT and fake.surface.kind(symbol) & Kind.ABC:
            target = getattr(made, "__func__", getattr(made, "fget", made))
            target.__isabstractmethod__ = True
        space[name] = made
    return space


def _class_value(
    fake: Fake, symbol: Symbol, name: str, attribute: Attribute, space: dict[str, Any]
) -> Any:
    try:
        return fake.evaluate(symbol.module, attribute.value, dict(space))
    except NoValueError:
        return Unknown(f"{symbol.name}.{name}", fake.release, attribute.value)


def _instance_getattr(bases: tuple[type, ...]) -> Callable[[Any, str], Any]:
    above = next(
        (
            vars(each)["__getattr__"]
            for b in bases
            for each in b.__mro__
            if "__getattr__" in vars(each)
        ),
        None,
    )

    def getattribute(self: Any, name: str) -> Any:
        if above is not None:  # torch.nn.Module keeps parameters and submodules there
            try:
                return above(self, name)
            except AttributeError:
                pass
        cls = type(self)
        raise missing_member(cls, name, f"{cls.__name__!r} object has no attribute {name!r}")

    getattribute.__name__ = "__getattr__"
    return getattribute


# -- records ----


def fields(fake: Fake, symbol: Symbol) -> dict[str, Attribute]:
    """Fields in constructor order, inherited ones first."""
    out: dict[str, Attribute] = {}
    for each in reversed(fake.surface.mro(symbol)):
        if isinstance(each.node, Class):
            ordered = each.node.attributes
            if each.node.kind & Kind.STRUCT:  # assembled classes are in order already
                record = fake.surface.module(each.module)
                assembled = record is not None and each.qual in record.values
                ordered = each.node.attributes if assembled else ordered
            for name, attribute in ordered.items():
                if attribute.annotation and not attribute.on_self:
                    out[name] = attribute
    return out


def _is_field(attribute: Attribute) -> bool:
    return (
        bool(attribute.annotation)
        and not attribute.on_self
        and not (attribute.annotation.lstrip("'\"").startswith(("ClassVar", "typing.ClassVar")))
    )


def _dataclass(
    fake: Fake, symbol: Symbol, node: Class, bases: tuple[type, ...], namespace: dict[str, Any]
) -> type:
    annotations: dict[str, Any] = {}
    texts: dict[str, str] = {}
    for name, attribute in node.attributes.items():
        if not _is_field(attribute):
            continue
        if attribute.annotation.endswith("KW_ONLY"):
            annotations[name] = dataclasses.KW_ONLY
            continue
        texts[name] = attribute.annotation
        annotations[name] = _Kept
        if attribute.value:
            namespace[name] = _field_value(fake, symbol, name, attribute, namespace)
    namespace["__annotations__"] = annotations
    cls = _new(symbol.qual, bases, namespace)
    options = {"frozen": False, "eq": True, "order": False, "unsafe_hash": False, "repr": True}
    options |= {"kw_only": bool(node.kind & Kind.KW_ONLY)}
    for decorator in node.decorators:
        for option, wanted in re.findall(r"(\w+)=(True|False)", decorator):
            if option in options:
                options[option] = wanted == "True"
    try:
        made: type = dataclasses.dataclass(**options)(cls)
    except TypeError:  # defaults in an order that only the release's own bases make possible
        made = dataclasses.dataclass(**{**options, "kw_only": True})(cls)
    made.__annotations__ = texts
    for each in dataclasses.fields(made):
        each.type = texts.get(each.name, each.type)
    if "__init__" not in node.methods:
        qual = f"{symbol.qual}.__init__"
        made.__init__ = explained(fake, symbol.module, qual, made.__init__)  # type: ignore[misc]
    return made


class _Kept:
    """Stands for a field's type while ``dataclasses`` reads the class."""


def _field_value(
    fake: Fake, symbol: Symbol, name: str, attribute: Attribute, namespace: dict[str, Any]
) -> Any:
    unknown = Unknown(f"{symbol.name}.{name}", fake.release, attribute.value)
    if re.match(r"(\w+\.)*field\(", attribute.value):
        made = namespace.get(name)
        if isinstance(made, dataclasses.Field):
            return made
        return dataclasses.field(
            default=unknown,
            init="init=False" not in attribute.value,
            kw_only="kw_only=True" in attribute.value,
        )
    value = namespace.get(name, unknown)
    if isinstance(value, (list, dict, set)) or getattr(type(value), "__hash__", None) is None:
        return dataclasses.field(default_factory=lambda: type(value)(value))
    return value


def _record_init(fake: Fake, symbol: Symbol) -> Callable[..., None]:
    """The constructor of a ``msgspec.Struct`` or pydantic model: it stores its fields."""
    parameters = [Parameter("self")]
    keyword_only = bool(fake.surface.kind(symbol) & (Kind.KW_ONLY | Kind.PYDANTIC))
    makers: dict[str, Callable[[], Any]] = {}
    for name, attribute in fields(fake, symbol).items():
        if not _is_field(attribute) or not attribute.keyword:
            continue
        kind = ParameterKind.KEYWORD_ONLY if keyword_only else ParameterKind.POSITIONAL
        parameters.append(Parameter(name, kind, attribute.annotation, attribute.value))
        factory = re.search(r"default_factory=([\w.]+)", attribute.value)
        if factory:
            makers[name] = _factory(fake, symbol, name, factory.group(1))

    def store(self: Any, given: dict[str, Any]) -> None:
        for name, held in given.items():
            made = makers[name]() if isinstance(held, Unknown) and name in makers else held
            if isinstance(made, (list, dict, set)):
                made = type(made)(made)  # one of its own, not the default shared by all
            object.__setattr__(self, name, made)

    qual = f"{symbol.qual}.__init__"
    return build(fake, symbol.module, qual, tuple(parameters), store, bound=True)


def _factory(fake: Fake, symbol: Symbol, name: str, text: str) -> Callable[[], Any]:
    def make() -> Any:
        try:
            return fake.evaluate(symbol.module, f"{text}()")
        except NoValueError:
            return Unknown(f"{symbol.name}.{name}", fake.release, text)

    return make


def _tuple_base(fake: Fake, symbol: Symbol) -> type:
    names: list[str] = []
    defaults: list[Any] = []
    for name, attribute in fields(fake, symbol).items():
        names.append(name)
        if attribute.value or defaults:
            defaults.append(_class_value(fake, symbol, name, attribute, {}))
    return collections.namedtuple(
        symbol.qual.rpartition(".")[2], names, defaults=defaults, rename=True
    )


# -- enums ----


def _make_enum(fake: Fake, symbol: Symbol, node: Class) -> type:
    bases: list[type] = []
    for text in node.bases:
        found: Any = fake.base_of(symbol, text)
        if not (isinstance(found, type) and issubclass(found, enum.Enum)):
            found = _ENUM_BASES.get(text.rpartition(".")[2])
            if text.endswith("StrEnum"):
                bases.append(str)
                found = enum.Enum
        if isinstance(found, type):
            bases.append(found)
    if not any(issubclass(each, enum.Enum) for each in bases):
        bases.append(enum.Enum)
    name = symbol.qual.rpartition(".")[2]
    space = FakeEnumMeta.__prepare__(name, tuple(bases))
    space["__module__"], space["__qualname__"] = symbol.module, symbol.qual
    textual = any(issubclass(each, str) for each in bases)
    for member, attribute in node.attributes.items():
        if attribute.on_self or attribute.annotation or not attribute.value:
            continue
        space[member] = _enum_value(fake, symbol, member, attribute, dict(space), textual)
    for method, function in node.methods.items():
        if method in ("__new__", "_missing_", "_generate_next_value_", "__init__"):
            continue  # they decide on the members while the class is made
        space[method] = make_method(fake, symbol.module, f"{symbol.qual}.{method}", function)
    if not any(BORN in vars(each) for each in bases):
        space["__getattr__"] = _instance_getattr(())
    made = FakeEnumMeta(name, tuple(bases), space)
    setattr(made, BORN, (fake, symbol))
    return made


def _enum_value(
    fake: Fake,
    symbol: Symbol,
    member: str,
    attribute: Attribute,
    space: dict[str, Any],
    textual: bool,
) -> Any:
    if textual and attribute.value.endswith("auto()"):
        return member.lower()
    known = {name: held for name, held in space.items() if not name.startswith("__")}
    try:
        return fake.evaluate(symbol.module, attribute.value, known)
    except NoValueError:
        return f"{symbol.name}.{member}" if textual else enum.auto()


def initialise(fake: Fake, held: Any, module: str, owner: str, given: dict[str, Any]) -> None:
    """Set those attributes of ``self`` that the recorded expressions tell from the arguments.

    An expression that needs more than the arguments, constants and attributes set before it is left
    out: reading the attribute then says so.
    """
    symbol = fake.surface.find(module, owner)
    if symbol is None or not isinstance(symbol.node, Class):
        return
    for name, attribute in symbol.node.attributes.items():
        if attribute.on_self and attribute.value:
            try:
                value = fake.evaluate(module, attribute.value, {"self": held, **given})
            except NoValueError:
                continue
            setattr(held, name, value)
