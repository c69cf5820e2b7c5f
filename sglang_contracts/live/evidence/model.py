"""What an evidence file holds."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

FORMAT = 2


def upstream(who: str) -> bool:
    """Whether a class (``sglang.x:Y``) or caller (``self sglang.x``) is SGLang's own."""
    return who.removeprefix("self ").startswith("sglang.")


def last_name(symbol: str) -> str:
    """The class's name in ``module:Class`` or ``module:Outer.Class``."""
    return symbol.rpartition(":")[2].rpartition(".")[2]


@functools.lru_cache(maxsize=256)
def _upstream_line(classes: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Name and spelling of those of an object's classes that are SGLang's."""
    return tuple((last_name(each), each) for each in classes if upstream(each))


class Batch(msgspec.Struct, frozen=True, omit_defaults=True):
    """One ``ForwardBatch`` as an attention backend got it.

    Attributes:
        modes: Forward modes it counts for, in lower case: what the batch says, and ``mixed`` where
            the scheduler mixed decodes into it though the backend is told ``extend``.
        page_size: Page size of the run.
        prefix: Whether some request has tokens computed before.
        fields: Field → value, as the tracer describes it; those that are None are left out.
        empty: Fields that are None.
    """

    modes: tuple[str, ...]
    page_size: int
    prefix: bool
    fields: dict[str, dict[str, Any]]
    empty: tuple[str, ...] = ()


class Call(msgspec.Struct, frozen=True, omit_defaults=True):
    """One form in which a method was called.

    Attributes:
        args: Positional arguments, described.
        kwargs: Keyword arguments, described.
        returns: The result, described.
        by: Modules that called it so; ``self`` before a module: on its own object.
    """

    args: tuple[dict[str, Any], ...]
    kwargs: dict[str, dict[str, Any]]
    returns: dict[str, Any]
    by: tuple[str, ...]


class Read(msgspec.Struct, frozen=True, omit_defaults=True):
    """One form in which an attribute was read.

    Attributes:
        value: What the reader got, described; ``{"type": "missing"}`` where it is not there.
        by: Modules that read it so; ``self`` before a module: off its own object.
    """

    value: dict[str, Any]
    by: tuple[str, ...]


class Object(msgspec.Struct, frozen=True, omit_defaults=True):
    """One object that the engine made.

    Attributes:
        cls: Its class, ``module:Name``.
        bases: The classes it derives from, nearest first, upstream's and the plugin's.
        fields: Attribute → value, described: the object's own and its classes' plain values.
        members: Class (of ``cls`` and ``bases``) → what it defines: ``(a, b=)`` for a method,
            ``: annotation`` for a field, ``attribute``, ``property``.
        own: Attributes that the plugin's code sets: their values prove nothing on SGLang.
        calls: Method → forms in which it was called.
        reads: Attribute → forms in which it was read.
    """

    cls: str
    bases: tuple[str, ...] = ()
    fields: dict[str, dict[str, Any]] = {}
    members: dict[str, dict[str, str]] = {}
    own: tuple[str, ...] = ()
    calls: dict[str, tuple[Call, ...]] = {}
    reads: dict[str, tuple[Read, ...]] = {}

    def line(self, owner: Iterable[str]) -> tuple[str, ...]:
        """Its upstream classes from the first that is one of ``owner`` on; none: it is no such.

        Args:
            owner: Spellings of a class. A class that moved has several: its name counts.
        """
        names = {last_name(spelling) for spelling in owner}
        chain = _upstream_line((self.cls, *self.bases))
        for index, (name, _) in enumerate(chain):
            if name in names:
                return tuple(spelling for _, spelling in chain[index:])
        return ()

    def declared(self, name: str, owner: Iterable[str]) -> str | None:
        """What the first upstream class in :meth:`line` that defines ``name`` says it is."""
        for cls in self.line(owner):
            what = self.members.get(cls, {}).get(name)
            if what is not None:
                return what
        return None

    def overridden(self, name: str) -> bool:
        """Whether a plugin's class defines ``name`` before any upstream class does."""
        for cls in (self.cls, *self.bases):
            if name in self.members.get(cls, {}):
                return not upstream(cls)
        return False


class Evidence(msgspec.Struct, frozen=True, omit_defaults=True):
    """The file.

    Attributes:
        format: :data:`FORMAT`.
        release: The SGLang that ran.
        runs: What was run: backend, platform, page size, engine options.
        versions: Versions of Python, torch and the plugin.
        dims: Dimension → size, of the model that was served; ``contract-id.D`` where the name means
            something else in other contracts.
        batches: Sample batches.
        symbols: Module → name → what it is, for the contracts' symbols whose module the model
            worker had imported: ``(a, b=)`` for a function, ``class (a, b=)``, ``key``, ….
        flags: Command-line flag → its choices.
        objects: Role → object: ``backend``, ``kv_pool``, ``allocator@1`` (at page size 1), ….
    """

    format: int
    release: str
    runs: tuple[dict[str, Any], ...]
    versions: dict[str, str]
    dims: dict[str, int]
    batches: tuple[Batch, ...]
    objects: dict[str, Object]
    symbols: dict[str, dict[str, str]] = {}
    flags: dict[str, tuple[str, ...]] = {}

    @property
    def modes(self) -> frozenset[str]:
        """Every forward mode that occurred."""
        return frozenset(mode for batch in self.batches for mode in batch.modes)

    def sizes(self, contract: str) -> dict[str, int]:
        """The dimensions by the names that one contract has for them."""
        own = {name: size for name, size in self.dims.items() if "." not in name}
        head = f"{contract}."
        return own | {
            name.removeprefix(head): size
            for name, size in self.dims.items()
            if name.startswith(head)
        }

    def of(self, owner: Iterable[str]) -> Iterator[tuple[str, Object]]:
        """Role and object, for each object whose class is or derives from ``owner``."""
        spellings = tuple(owner)
        for role, found in self.objects.items():
            if found.line(spellings):
                yield role, found
