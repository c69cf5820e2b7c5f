"""What a name of a release turns out to be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from sglang_contracts.surface.model import Attribute, Class, Function, Module, Value

SymbolKind = Literal[
    "module",
    "class",
    "function",
    "value",
    "attribute",
    "method",
    "property",
    "enum-member",
    "external",
]


@dataclass(frozen=True)
class Symbol:
    """Something a release has, at the place where it is defined."""

    module: str
    qual: str
    kind: SymbolKind
    node: Module | Class | Function | Attribute | Value | None = field(
        default=None, compare=False, repr=False
    )
    owner: Symbol | None = field(default=None, compare=False, repr=False)
    """For a member: the class that defines it."""

    @property
    def name(self) -> str:
        """``module:Qual.name``; a module stands alone."""
        return f"{self.module}:{self.qual}" if self.qual else self.module


CLOSED_BASES = frozenset(
    [
        "object",
        "ABC",
        "abc.ABC",
        "Enum",
        "IntEnum",
        "StrEnum",
        "Flag",
        "IntFlag",
        "enum.Enum",
        "enum.IntEnum",
        "enum.Flag",
        "enum.IntFlag",
        "Protocol",
        "Generic",
        "NamedTuple",
        "TypedDict",
        "typing.NamedTuple",
        "typing.Protocol",
        "typing.Generic",
        "str",
        "int",
        "float",
        "dict",
        "list",
        "tuple",
        "set",
        "bytes",
        "Exception",
        "RuntimeError",
        "ValueError",
        "msgspec.Struct",
        "Struct",
        "BaseModel",
        "pydantic.BaseModel",
        "Thread",
        "threading.Thread",
        "nn.Module",
        "torch.nn.Module",
        "Module",
    ]
)
"""External bases of which it is known that they do not add the names a release defines."""
