"""Which of an upstream class's methods run on an object of a plugin's own class.

A call on ``self`` reaches an override only from a method that runs on that very object. One that
the plugin's class replaces without calling ``super()``, or that only such methods call, does not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from sglang_contracts.plugin.ir.nodes import Attr, LocalClass, Self, Super
from sglang_contracts.plugin.ir.records import File
from sglang_contracts.surface.model import Class, Function, Role
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.values.evaluator import Evaluator

Methods = dict[str, list[Function]]
"""Name → its forms in the classes of a family."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]{3,}")


class SelfCalls:
    """Answers for the present release of an evaluator."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.lens = evaluator.lens
        self._own: dict[tuple[int, str], tuple[frozenset[str], frozenset[str]]] = {}

    def reaches(
        self, index: int, qual: str, bases: Sequence[Symbol], module: str, name: str
    ) -> bool:
        """Whether a call of ``self.name`` in a module may be made on an object of an own class."""
        family = self._family(bases)
        methods = self._methods(family)
        first = [
            method
            for each in family
            if each.module == module and isinstance(each.node, Class)
            for method, record in each.node.methods.items()
            if name in record.calls
        ]
        replaced, mentioned = self._own_names(index, qual)
        return self._run(first, methods, replaced, mentioned, self._from_outside)

    def run(
        self,
        own: tuple[int, str] | None,
        bases: Sequence[Symbol],
        names: Collection[str],
        replaced: Collection[str] = (),
    ) -> bool:
        """Whether one of several upstream methods runs on an object of a class.

        Args:
            own: The plugin's class (file, name); None: one of the release that it patches.
            bases: Upstream classes that it derives from (or that class).
            names: The methods.
            replaced: Methods that are replaced beside those of the own class.
        """
        gone, mentioned = self._own_names(*own) if own is not None else (frozenset(), frozenset())
        methods = self._methods(self._family(bases))

        def from_outside(name: str, methods: Methods) -> bool:
            return self._on_such(name, methods, bases[0])

        return self._run(names, methods, {*gone, *replaced}, mentioned, from_outside)

    @staticmethod
    def _run(
        first: Collection[str],
        methods: Methods,
        replaced: Collection[str],
        mentioned: Collection[str],
        from_outside: Callable[[str, Methods], bool],
    ) -> bool:
        waiting, seen = list(first), set(first)
        while waiting:
            method = waiting.pop()
            if method in mentioned:
                return True
            if method in replaced:
                continue
            if from_outside(method, methods):
                return True
            # else it runs where another method of the family calls it
            for other, records in methods.items():
                if other not in seen and any(method in each.calls for each in records):
                    seen.add(other)
                    waiting.append(other)
        return False

    def calls_base(self, index: int, qual: str, name: str) -> bool:
        """Whether an own class calls the method of its base that it overrides, wherever it does."""
        return name in self._own_names(index, qual)[1]

    def beside(self, bases: Sequence[Symbol], owner: Symbol, module: str, name: str) -> bool:
        """Whether a module has a class beside the own one that inherits the method and calls it.

        Text cannot tell whether the plugin's objects are used in its place.
        """

        def work() -> bool:
            record = self.lens.module(module)
            family = set(self._family(bases))
            for each in record.classes if record is not None else ():
                other = self.lens.find(module, each)
                if other is None or other in family or not isinstance(other.node, Class):
                    continue
                calls = any(name in method.calls for method in other.node.methods.values())
                inherited = self.lens.member(other, name) if calls else None
                if inherited is not None and inherited.owner == owner:
                    return True
            return False

        return self.lens.once(("beside", tuple(bases), owner, module, name), work)

    def _family(self, bases: Sequence[Symbol]) -> list[Symbol]:
        return list(dict.fromkeys(each for base in bases for each in self.lens.mro(base)))

    @staticmethod
    def _methods(family: Sequence[Symbol]) -> Methods:
        """Name → its forms in the classes of a family."""
        methods: Methods = {}
        for each in family:
            if isinstance(each.node, Class):
                for name, record in each.node.methods.items():
                    methods.setdefault(name, []).append(record)
        return methods

    def _from_outside(self, name: str, methods: Methods) -> bool:
        """Whether something other than the object's methods may call one of them."""
        if name.startswith("__") or any(each.role & Role.PROPERTY for each in methods[name]):
            return True
        if any(name in each.reads for records in methods.values() for each in records):
            return True  # it is handed on, and anyone may call it
        calls = self.lens.callers(name)
        return not calls or any(each.receiver not in ("self", "super()") for _, each in calls)

    def _on_such(self, name: str, methods: Methods, owner: Symbol) -> bool:
        """Whether something calls a method from outside, and on what may be an object of a class.

        Where unrelated classes have a method of that name, what it is called on has to go by a
        word of the class's own name.
        """
        if name.startswith("__") or any(each.role & Role.PROPERTY for each in methods[name]):
            return True
        if any(name in each.reads for records in methods.values() for each in records):
            return True
        calls = self.lens.callers(name)
        if not calls:
            return not name.startswith("_")
        outside = [each.receiver for _, each in calls if each.receiver not in ("self", "super()")]
        if not outside:
            return False
        family = {each.name for each in self.lens.mro(owner)}
        if all(not family.isdisjoint(each) for each in self.lens.definers(name)):
            return True
        words = {each.lower() for each in _WORD.findall(owner.qual.rsplit(".", 1)[-1])}
        return any(words & set(receiver.strip("()[]").split("_")) for receiver in outside)

    def _own_names(self, index: int, qual: str) -> tuple[frozenset[str], frozenset[str]]:
        """What an own class replaces for good; and what its methods may call of its base."""
        key = (index, qual)
        held = self._own.get(key)
        if held is None:
            replaced: set[str] = set()
            mentioned: set[str] = set()
            self._collect(index, qual, replaced, mentioned, 0)
            held = self._own[key] = (frozenset(replaced - mentioned), frozenset(mentioned))
        return held

    def _collect(
        self, index: int, qual: str, replaced: set[str], mentioned: set[str], depth: int
    ) -> None:
        file = self.evaluator.files[index]
        record = file.classes.get(qual)
        if record is None or depth > 10:
            return
        replaced.update(record.methods)
        mentioned.update(self._called(file, qual))
        for base in record.bases:
            own = self.evaluator.index.own_class(index, base)
            if own is not None:
                self._collect(own[0], own[1], replaced, mentioned, depth + 1)

    @staticmethod
    def _called(file: File, qual: str) -> set[str]:
        """Names that a class reads off ``super()``, or off ``self`` and does not define."""
        record = file.classes[qual]
        holders = {
            number
            for number, node in enumerate(file.nodes)
            if isinstance(node, (Super, Self, LocalClass)) and node.qual == qual
        }
        # a base called by its own name, ``Base.method(self)``, counts as well
        holders.update(record.bases)
        return {
            node.name
            for node in file.nodes
            if type(node) is Attr
            and node.base in holders
            and (
                node.name not in record.methods
                or not isinstance(file.nodes[node.base], (Self, LocalClass))
            )
        }
