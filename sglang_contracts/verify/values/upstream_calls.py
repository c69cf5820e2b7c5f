"""Where a release itself calls a method, and which of these calls may reach a plugin's object."""

from __future__ import annotations

from collections.abc import Sequence

from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.values.evaluator import Evaluator
from sglang_contracts.verify.values.object_calls import ObjectCalls, Site
from sglang_contracts.verify.values.self_calls import SelfCalls
from sglang_contracts.verify.values.signature_fit import shape
from sglang_contracts.verify.values.subclasses import derived
from sglang_contracts.verify.values.test_modules import is_test
from sglang_contracts.verify.values.value import ObjectOf, is_weak


class UpstreamCalls:
    """Answers for the present release of an evaluator.

    Args:
        evaluator: Works out values in the present release.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.lens = evaluator.lens
        self.self_calls = SelfCalls(evaluator)
        self.object_calls = ObjectCalls(evaluator)

    def called(self, target: Symbol) -> list[Site]:
        """Where the release calls objects of a class as functions, if a method is what runs."""
        owner = target.owner
        return self.object_calls.sites(owner) if owner is not None and self.runs(target) else []

    def runs(self, target: Symbol) -> bool:
        """Whether a method is what runs where an object of its class is called as a function."""
        owner = target.owner
        return owner is not None and self.object_calls.runs(owner, target.qual.rsplit(".", 1)[-1])

    def sites(
        self,
        name: str,
        owner: Symbol | None = None,
        own_class: tuple[int, str, Sequence[Symbol]] | None = None,
    ) -> list[Site]:
        """Where the release itself calls something of that name, and in which form.

        With an owner: what may be meant for an object of that class, as far as what they are
        called on tells.
        """
        found = []
        for module, call in self.lens.callers(name):
            if call.receiver == "super()" or is_test(module):
                continue
            if call.receiver == "self" and own_class is not None and owner is not None:
                meant = self.self_calls.reaches(*own_class, module, name) or self.self_calls.beside(
                    own_class[2], owner, module, name
                )
            else:
                meant = owner is None or self.meant_for(module, call.receiver, owner, name)
            if meant:
                found.append(Site(module, shape(call), call.receiver))
        return found

    def without_strangers(self, sites: Sequence[Site], owner: Symbol) -> list[Site]:
        """Calls by a name without those of strangers, where others that know the class call it."""
        own = [each for each in sites if not self.is_stranger(each.module, each.receiver, owner)]
        if any(each.receiver not in ("", "self") for each in own):
            return own
        return list(sites)

    def is_stranger(self, module: str, receiver: str, owner: Symbol) -> bool:
        """Whether nothing but the method's name speaks for a call being on an object of a class.

        Neither the receiver's name does, nor does the module know the class. Where others do that
        know it, what such a module calls by the same name is another class's.
        """
        if receiver == "self" or self.evaluator.members.known_as.get(receiver):
            return False
        return not self.knows(module, owner)

    def of_its_own(self, module: str, name: str, owner: Symbol) -> bool:
        """Whether a module has a class of its own with a method, and does not know the other."""

        def work() -> bool:
            record = self.lens.module(module)
            if record is None or owner.module in self.lens.imported(module):
                return False
            return any(
                name in each.methods and not self.related(self.lens.find(module, qual), owner)
                for qual, each in record.classes.items()
            )

        return self.lens.once(("of-its-own", module, name, owner), work)

    def meant_for(self, module: str, receiver: str, owner: Symbol, name: str = "") -> bool:
        """Whether a call on a receiver in a module may reach an object of a class."""
        if receiver == "self":
            return module == owner.module or self.has_kin(module, owner)
        spellings = self.evaluator.members.known_as.get(receiver, ())
        if is_weak(receiver):
            return not self.of_its_own(module, name, owner)
        if not spellings:
            # ``ngram_cache.get()``: where exactly one class has that name, it is that one
            named = self.evaluator.members.by_class_name(receiver).alternatives
            return not named or (
                type(named[0]) is ObjectOf and self.related(named[0].symbol, owner)
            )
        return any(self.related(self.lens.parse(each), owner) for each in spellings)

    def knows(self, module: str, owner: Symbol) -> bool:
        """Whether a module has, or imports from the module of, a class or one related to it."""

        def work() -> bool:
            known = {module, *self.lens.imported(module)}
            if any(each.module in known for each in self.lens.mro(owner)):
                return True
            return any(each.module in known for each in self.lens.once(family, kin))

        def kin() -> tuple[Symbol, ...]:
            return tuple(derived(self.lens, owner))

        family = ("kin", owner.module, owner.qual)
        return self.lens.once(("knows", module, owner), work)

    def has_kin(self, module: str, owner: Symbol) -> bool:
        """Whether a module has a class that is related to one, or is not recorded."""

        def work() -> bool:
            record = self.lens.module(module)
            if record is None:
                return True
            return any(self.related(self.lens.find(module, each), owner) for each in record.classes)

        return self.lens.once(("has-kin", module, owner), work)

    def related(self, one: Symbol | None, other: Symbol) -> bool:
        """Whether one of two classes derives from the other."""
        if one is None or one.kind != "class":
            return False
        return other in self.lens.mro(one) or one in self.lens.mro(other)
