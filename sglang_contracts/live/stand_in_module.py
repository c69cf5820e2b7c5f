"""Stand-ins: modules that can be imported and inherited from, but never called.

Calling a name of one, making an instance of it or asking for its truth raises
:class:`StandInCallError` with the caller's line; :data:`log` keeps what stood in for what.
"""

from __future__ import annotations

import sys
import types
from dataclasses import dataclass, field
from typing import Any, NoReturn

from sglang_contracts.live.standins import REASONS, UNCOMPILED


class StandInCallError(RuntimeError):
    """Something called a package that is not there: the result would have been nonsense."""


@dataclass
class Log:
    """What the shim did in this process.

    Attributes:
        stood_in: Package → ``file:line`` of the first unguarded import.
        refused: Package → ``file:line`` of the guard that handled its absence.
        called: Stand-ins that were called, each with the caller's ``file:line``.
    """

    stood_in: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    called: list[tuple[str, str]] = field(default_factory=list)


log = Log()


def _refuse(name: str, depth: int = 2) -> NoReturn:
    frame = sys._getframe(depth)
    place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
    log.called.append((name, place))
    package = name.partition(".")[0]
    raise StandInCallError(
        f"{name} was used at {place}, but {package} is only a stand-in here "
        f"({REASONS.get(package) or UNCOMPILED.get(package, 'not listed')})"
    )


class _StandInType(type):
    """The type of every name imported from a stand-in."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _stand_in(f"{cls._stand_in_name}.{name}")

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        _refuse(cls._stand_in_name)

    def __bool__(cls) -> bool:
        _refuse(cls._stand_in_name)

    def __iter__(cls) -> NoReturn:
        _refuse(cls._stand_in_name)

    def __getitem__(cls, item: Any) -> _StandInType:  # a subscripted annotation
        return cls

    def __or__(cls, other: Any) -> Any:  # an annotation like `X | None`
        return object

    def __ror__(cls, other: Any) -> Any:
        return object

    _stand_in_name: str


def _stand_in(name: str) -> _StandInType:
    return _StandInType(name.rpartition(".")[2], (), {"_stand_in_name": name})


class StandInModule(types.ModuleType):
    """A module in which every name is a stand-in."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = _stand_in(f"{self.__name__}.{name}")
        setattr(self, name, value)
        return value
