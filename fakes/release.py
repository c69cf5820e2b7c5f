"""One faked release: its modules and what they hold, made from the surface when asked for.

A :class:`Fake` needs no place in ``sys.modules``: tests compare one with a real SGLang in the same
process. :mod:`sglang_contracts.fakes.finder` makes it importable as ``sglang``.
"""

from __future__ import annotations

import dis
import importlib
import sys
import threading
import types
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from sglang_contracts.fakes import behaviour, classes
from sglang_contracts.fakes.advice import advise
from sglang_contracts.fakes.errors import MissingAttributeError, MissingImportError
from sglang_contracts.fakes.functions import make_function
from sglang_contracts.fakes.values import Evaluator, NoValueError, Unknown

from sglang_contracts.surface import Catalog, Symbol
from sglang_contracts.surface.model import Class, Condition, Function, Module, Value

PLACE = "/nonexistent/sglang-fake/"
"""What the path of a faked package begins with: nothing of it lies on disk."""

_IMPORT_FROM = dis.opmap["IMPORT_FROM"]


class FakeModule(types.ModuleType):
    """A module of a faked release; its names are made when first read."""

    def __init__(self, fake: Fake, name: str, record: Module | None) -> None:
        super().__init__(name, f"{name} of SGLang {fake.release}, as recorded (a fake).")
        self.__dict__["_fake_"] = fake
        if record is None or record.package:  # no record: a folder without an __init__.py
            self.__path__: list[str] = [f"{PLACE}{fake.release}/{name}"]
        if record is not None and record.exports is not None:
            self.__all__ = record.exports

    def __getattr__(self, name: str) -> Any:
        fake: Fake = self.__dict__["_fake_"]
        made = behaviour.VALUES.get((self.__name__, name))
        if made is not None and fake.surface.top(self.__name__, name) is not None:
            return made(fake)
        if name == "__all__":
            return fake.public(self.__name__)
        found = None
        if not name.startswith("__") or name in fake.names(self.__name__):
            found = fake.surface.top(self.__name__, name)
        if name == "__version__" and self.__name__ == "sglang":
            return fake.release
        if found is None:
            raise self._missing(fake, name)
        return self.__dict__.setdefault(name, fake.obtain(found))

    if TYPE_CHECKING:

        def __setattr__(self, name: str, value: Any) -> None: ...

    def __dir__(self) -> list[str]:
        fake: Fake = self.__dict__["_fake_"]
        return sorted({*self.__dict__, *fake.names(self.__name__)} - {"_fake_"})

    def _missing(self, fake: Fake, name: str) -> Exception:
        spelling = f"{self.__name__}:{name}"
        if _is_from_import(sys._getframe(2)):
            plain = f"cannot import name {name!r} from {self.__name__!r}"
            return MissingImportError(plain, lambda: fake.advise(spelling), self.__name__)
        plain = f"module {self.__name__!r} has no attribute {name!r}"
        if name.startswith("__"):
            return AttributeError(plain)
        return MissingAttributeError(plain, lambda: fake.advise(spelling), name, self)


FakeModule.__name__ = "module"  # Python's own errors name the type: 'module' object is not callable


def _is_from_import(frame: types.FrameType) -> bool:
    """Whether the frame stands at a ``from … import``: Python hides other errors there."""
    at = frame.f_lasti
    return 0 <= at < len(frame.f_code.co_code) and frame.f_code.co_code[at] == _IMPORT_FROM


class Fake:
    """One release.

    Args:
        catalog: The recorded releases.
        release: The one to fake, as it is recorded.
    """

    def __init__(self, catalog: Catalog, release: str) -> None:
        self.catalog, self.release = catalog, catalog.known(release)
        self.surface = catalog.surface(self.release)
        self.modules: dict[str, FakeModule] = {}
        self.objects: dict[tuple[str, str], Any] = {}
        """(module, qualified name) → what stands there now."""
        self._of_thread = threading.local()
        self._recorded: dict[tuple[str, str, str], bool] = {}

    def __repr__(self) -> str:
        return f"Fake({self.release!r})"

    # -- modules ----

    def module(self, name: str) -> FakeModule:
        """A module of the release.

        Raises:
            KeyError: It has none of that name.
        """
        made = self.modules.get(name)
        if made is None:
            if not self.surface.has_module(name):
                raise KeyError(name)
            made = FakeModule(self, name, self.surface.module(name))
            made = self.modules.setdefault(name, made)  # another thread may have been faster
        return made

    def names(self, module: str) -> set[str]:
        """What a module offers, its submodules that are importable excluded."""
        record = self.surface.module(module)
        if record is None:
            return set()
        imports = {
            name
            for name, each in record.imports.items()
            if not each.local and not each.condition & Condition.TYPE_CHECKING
        }
        defined: dict[str, Any] = {**record.classes, **record.functions, **record.values}
        own = {n for n, each in defined.items() if not each.condition & Condition.TYPE_CHECKING}
        own |= {*imports, *(record.lazy or ())}
        for star in record.stars:
            own.update(self.public(star))
        return own

    def public(self, module: str) -> list[str]:
        """What ``from module import *`` gives."""
        record = self.surface.module(module)
        if record is not None and record.exports is not None:
            return list(record.exports)
        names = sorted(name for name in self.names(module) if not name.startswith("_"))
        return [name for name in names if self.surface.top(module, name) is not None]

    # -- what is in them ----

    def get(self, spelling: str) -> Any:
        """What stands under ``module:Qual.name``.

        Raises:
            AttributeError: The release does not have it.
            ModuleNotFoundError: Not even the module.
        """
        name, _, qual = spelling.partition(":")
        try:
            held: Any = self.module(name)
        except KeyError:
            raise ModuleNotFoundError(f"no {name} in SGLang {self.release}", name=name) from None
        for part in qual.split(".") if qual else ():
            held = getattr(held, part)
        return held

    def obtain(self, symbol: Symbol) -> Any:
        """The object of a symbol, made once.

        Two threads may make it at the same time: what is there first is what both get. No lock is
        held meanwhile, as making may import other libraries, which lock themselves.
        """
        if symbol.kind == "module":
            return _imported(self.module(symbol.module))
        key = (symbol.module, symbol.qual)
        if key in self.objects:
            return self.objects[key]
        if symbol.kind == "external":
            return self._external(symbol)
        if symbol.owner is not None and symbol.kind != "class":
            return getattr(self.obtain(symbol.owner), symbol.qual.rpartition(".")[2])
        making = self._making()
        if key in making:
            raise NoValueError(symbol.name)  # it is being made: a value that refers to itself
        making.add(key)
        try:
            made = self._make(symbol)
        finally:
            making.discard(key)
        return self.objects.setdefault(key, made)

    def _making(self) -> set[tuple[str, str]]:
        """What this thread is making."""
        found: set[tuple[str, str]] = self._of_thread.__dict__.setdefault("making", set())
        return found

    def _make(self, symbol: Symbol) -> Any:
        if isinstance(symbol.node, Class):
            return classes.make_class(self, symbol)
        if isinstance(symbol.node, Function):
            return make_function(self, symbol.module, symbol.qual, symbol.node)
        attached = behaviour.VALUES.get((symbol.module, symbol.qual))
        if attached is not None:
            return attached(self)
        text = symbol.node.value if isinstance(symbol.node, Value) else ""
        try:
            return self.evaluate(symbol.module, text)
        except NoValueError:
            keys = symbol.node.keys if isinstance(symbol.node, Value) else ()
            return _listed(keys, text) or Unknown(symbol.name, self.release, text)

    def _external(self, symbol: Symbol) -> Any:
        """What lies outside of what is recorded: another library's, if it is installed here."""
        key = (symbol.module, symbol.qual)
        if symbol.module.partition(".")[0] == "sglang":
            return self.objects.setdefault(key, Unknown(symbol.name, self.release))
        try:
            found: Any = importlib.import_module(symbol.module)
            for part in symbol.qual.split(".") if symbol.qual else ():
                try:
                    found = getattr(found, part)
                except AttributeError:
                    found = importlib.import_module(f"{symbol.module}.{part}")
        except Exception:  # whatever another library says while it is imported: it is not to be had
            found = Unknown(symbol.name, self.release)
        return self.objects.setdefault(key, found)

    def base_of(self, symbol: Symbol, text: str) -> Any:
        """The class that ``text`` means as a base of ``symbol``; None where it is not known."""
        try:
            if "." not in text and symbol.owner is not None:
                inner = self.surface.member(symbol.owner, text)
                if inner is not None and inner.kind == "class":
                    return self.obtain(inner)
            return self.evaluate(symbol.module, text)
        except NoValueError:
            return None

    # -- expressions ----

    def evaluate(self, module: str, text: str, names: dict[str, Any] | None = None) -> Any:
        """The value of a recorded expression as it stands in ``module``.

        Raises:
            NoValueError: The text does not tell it.
        """

        def lookup(name: str) -> Any:
            if name == "__name__":
                return module
            found = self.surface.top(module, name)
            if found is None:
                raise NoValueError(name)
            return self.obtain(found)

        return Evaluator(lookup, self.is_ours)(text, names)

    def is_ours(self, held: Any) -> bool:
        """Whether something was made here: calling it runs no code of anybody else."""
        if isinstance(held, type):
            named = (held.__module__, held.__name__)
            return classes.BORN in vars(held) or named == ("torch", "device")
        if isinstance(held, types.FunctionType):
            return hasattr(held, "__wrapped__") and held.__module__.startswith("sglang")
        return classes.BORN in vars(type(held))

    def initialise(self, held: Any, module: str, owner: str, given: dict[str, Any]) -> None:
        """Set what the recorded expressions of a class tell from a constructor's arguments."""
        classes.initialise(self, held, module, owner, given)

    # -- what behaviours ask ----

    def records(self, held: Any, name: str) -> bool:
        """Whether the release has a member of that name in the recorded class of an object."""
        cls = held if isinstance(held, type) else type(held)
        for each in cls.__mro__:
            born = vars(each).get(classes.BORN)
            if born is not None:
                key = (born[1].module, born[1].qual, name)  # asked for every field of every object
                if key not in self._recorded:
                    self._recorded[key] = self.surface.member(born[1], name) is not None
                return self._recorded[key]
        return False

    def parameters(self, held: Any, name: str) -> frozenset[str]:
        """Names of the parameters that the release records for a method of an object."""
        for each in type(held).__mro__:
            born = vars(each).get(classes.BORN)
            if born is not None:
                found = self.surface.member(born[1], name)
                if found is not None and isinstance(found.node, Function):
                    return frozenset(parameter.name for parameter in found.node.parameters)
        return frozenset()

    def assign(self, held: Any, **values: Any) -> None:
        """Set those attributes that this release records on the object's class."""
        for name, value in values.items():
            if self.records(held, name):
                setattr(held, name, value)

    def construct(self, cls: Any, **values: Any) -> Any:
        """Make a record from those fields that this release has."""
        return cls(**{name: each for name, each in values.items() if self.records(cls, name)})

    def advise(self, spelling: str) -> str:
        """Which releases have a name that this one lacks, and what to use."""
        return advise(self.catalog, self.release, spelling)

    def module_names(self) -> Iterable[str]:
        """Names of all recorded modules."""
        return self.surface.module_names()


def _listed(keys: tuple[str, ...], text: str) -> Any:
    """A display of strings whose text is cut short, but whose members are all recorded."""
    kind = {"[": list, "(": tuple}.get(text[:1])
    return kind(keys) if kind is not None and keys else None


def _imported(module: FakeModule) -> Any:
    """The module as ``import`` gives it, so that it is in ``sys.modules`` while it is installed."""
    top = sys.modules.get("sglang")
    if isinstance(top, FakeModule) and top.__dict__["_fake_"] is module.__dict__["_fake_"]:
        return importlib.import_module(module.__name__)
    return module
