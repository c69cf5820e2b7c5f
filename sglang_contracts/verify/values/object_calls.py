"""How a release calls the objects of a class: ``self.experts(x)`` runs the object's ``forward``.

``torch.nn.Module.__call__`` hands on what it is given, so that an override of ``forward`` is called
under the name of the attribute that holds the object. Which attributes do is read off the release's
own modules: ``self.experts = FusedMoE(…)``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from sglang_contracts.surface.model import Attribute
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.values.evaluator import Evaluator
from sglang_contracts.verify.values.signature_fit import Shape, shape
from sglang_contracts.verify.values.test_modules import is_test
from sglang_contracts.verify.values.value import ObjectOf

_CHOSEN = re.compile(r"([A-Za-z_]\w*)\([^()]*\)\(")
"""An object of a class that a function chooses: ``get_moe_impl_class(quant_config)(…)``."""
_DISPATCHED = "forward_"
"""How methods begin that ``forward`` of a class with one form a platform hands all it is given."""
_DISPATCH = "dispatch_forward"


class Site(NamedTuple):
    """A form in which a module calls something."""

    module: str
    form: Shape
    receiver: str = ""
    """Last name of what it is called on, where it is called by a name."""


class ObjectCalls:
    """Answers for the present release of an evaluator."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.lens = evaluator.lens

    def runs(self, owner: Symbol, name: str) -> bool:
        """Whether a method runs when an object of the class is called as a function."""
        if not any(each.rsplit(".", 1)[-1] == "Module" for each in self.lens.externals(owner)):
            return False
        if name == "forward":
            return True
        return name.startswith(_DISPATCHED) and self.lens.member(owner, _DISPATCH) is not None

    def sites(self, owner: Symbol) -> list[Site]:
        """Where the release calls what it holds as an object of a class."""
        return self.lens.once(("called", owner.module, owner.qual), lambda: self._sites(owner))

    def _sites(self, owner: Symbol) -> list[Site]:
        names: dict[str, None] = {}
        for module in dict.fromkeys(at for at, _ in self.lens.callers(_short(owner))):
            names.update(dict.fromkeys(self._attributes(module, owner)))
        return [
            Site(module, shape(call))
            for name in names
            for module, call in self.lens.callers(name)
            if call.receiver == "self" and not is_test(module) and self._held(module, name, owner)
        ]

    def _attributes(self, module: str, owner: Symbol) -> list[str]:
        """Attributes of a module's classes that evidently hold an object of a class."""
        return [
            name
            for name, made in self._objects(module)
            if any(owner in self.lens.mro(each) for each in made)
        ]

    def _objects(self, module: str) -> list[tuple[str, list[Symbol]]]:
        """Attributes of a module's classes that hold an object, and the classes it may be of."""

        def work() -> list[tuple[str, list[Symbol]]]:
            record = self.lens.module(module)
            if record is None or is_test(module):
                return []
            found = (
                (name, self._classes(module, attribute.value))
                for each in record.classes.values()
                for name, attribute in each.attributes.items()
                if attribute.on_self
            )
            return [(name, classes) for name, classes in found if classes]

        return self.lens.once(("objects", module), work)

    def _classes(self, module: str, text: str) -> list[Symbol]:
        """The classes of the objects that an expression may make."""
        return [
            each.symbol
            for each in self.evaluator.annotations.made(module, text)
            if type(each) is ObjectOf
        ]

    def _held(self, module: str, name: str, owner: Symbol) -> bool:
        """Whether all classes of a module that call their attribute may hold such an object there.

        Which of them a call stands in is not recorded.
        """
        record = self.lens.module(module)
        holders = [
            self.lens.find(module, qual)
            for qual, each in (record.classes.items() if record is not None else ())
            if any(name in method.calls for method in each.methods.values())
        ]
        return bool(holders) and all(each and self._holds(each, name, owner) for each in holders)

    def _holds(self, holder: Symbol, name: str, owner: Symbol) -> bool:
        """Whether an attribute of a class may hold an object of another."""
        held = self.lens.member(holder, name)
        if held is None or not isinstance(held.node, Attribute):
            return False
        text = held.node.value
        return self._made(held.module, text, owner) or self._chosen(held.module, text, owner)

    def _made(self, module: str, text: str, owner: Symbol) -> bool:
        """Whether an expression makes an object of a class, or of one that derives from it."""
        return any(owner in self.lens.mro(each) for each in self._classes(module, text))

    def _chosen(self, module: str, text: str, owner: Symbol) -> bool:
        """Whether its class is chosen by a function of a module that knows the class."""
        found = _CHOSEN.match(text)
        chooser = self.lens.scope(module, found.group(1)) if found else None
        record = self.lens.module(chooser.module) if chooser is not None else None
        if chooser is None or chooser.kind != "function" or record is None:
            return False
        known = list(record.classes)
        known += [name for name, each in record.imports.items() if each.name == _short(owner)]
        classes = [self.lens.find(chooser.module, name) for name in known]
        return any(each is not None and owner in self.lens.mro(each) for each in classes)


def _short(symbol: Symbol) -> str:
    return symbol.qual.rsplit(".", 1)[-1]
