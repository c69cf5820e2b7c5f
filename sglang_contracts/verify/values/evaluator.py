"""What the nodes of a plugin are, in one release after the other.

:class:`Evaluator` works out one node by what its operation makes of others; its parts know the
rest (attributes, types, parameters, results of calls, conditions) and ask it for values
(:class:`~sglang_contracts.verify.values.ask.Ask`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar, cast

from sglang_contracts.plugin.ir.nodes import (
    Attr,
    Call,
    DictOf,
    Dotted,
    Enter,
    Filled,
    Import,
    Instance,
    Item,
    Iter,
    Kept,
    Known,
    ListOf,
    Literal,
    LocalClass,
    LocalFunction,
    Node,
    Number,
    OneOf,
    Operation,
    Param,
    PluginName,
    Probe,
    Select,
    Self,
    Slice,
    Super,
    Text,
    Tried,
    TupleOf,
    TypeOf,
    Unpack,
    Without,
    Wrapped,
)
from sglang_contracts.plugin.plugin import Plugin
from sglang_contracts.surface.model import Function as Recorded
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.lens import Lens
from sglang_contracts.verify.answers.memory import Key, Underway
from sglang_contracts.verify.values import containers
from sglang_contracts.verify.values.annotations import Annotations
from sglang_contracts.verify.values.call_results import CallResults
from sglang_contracts.verify.values.constants import Constants
from sglang_contracts.verify.values.containers import Containers
from sglang_contracts.verify.values.feature_questions import FeatureQuestions
from sglang_contracts.verify.values.members import Members
from sglang_contracts.verify.values.parameters import Parameters
from sglang_contracts.verify.values.plugin_index import PluginIndex
from sglang_contracts.verify.values.value import (
    NONE,
    NOTHING,
    Alternative,
    Builtin,
    ClassRef,
    FunctionRef,
    ListValue,
    ModuleRef,
    ObjectOf,
    OwnClassRef,
    OwnFunctionRef,
    OwnModuleRef,
    OwnObject,
    OwnSuper,
    TupleValue,
    Value,
    dict_of,
    list_of,
    one,
    tuple_of,
    union,
)
from sglang_contracts.verify.values.version_ranges import VersionRanges

_DEEPEST = 60
"""Nodes that may stand on one another: each takes about ten frames of Python's thousand."""
_NO_DEFAULTS = (NONE, Builtin("object"))
"""Defaults of ``getattr`` that only say that there is no such attribute."""


class Evaluator:
    """Works out nodes in one release after the other; see :meth:`move`.

    Args:
        plugin: What extraction found.
        lens: The releases.
        known_as: Conventional name → spellings of classes.
        distinctive: Attribute whose name alone tells what is meant → spellings of its class.
    """

    def __init__(
        self,
        plugin: Plugin,
        lens: Lens,
        known_as: Mapping[str, Sequence[str]],
        distinctive: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.plugin = plugin
        self.files = plugin.files
        self.lens = lens
        self.underway = Underway()
        """Values being worked out."""
        self.index = PluginIndex(plugin)
        self.containers = Containers(self.index)
        self.annotations = Annotations(lens, self)
        self.members = Members(
            self.index, lens, self.annotations, self, known_as, distinctive or {}
        )
        self.questions = FeatureQuestions(self.index, lens, self.members, self)
        self.constants = Constants(
            self.index, lens, self.members, self.questions, self.underway, self
        )
        self.version_ranges = VersionRanges(self.index, self.constants, self)
        self.results = CallResults(self.index, lens, self.annotations, self.underway, self)
        self.parameters = Parameters(self.index, lens, self.annotations, self.members, self)
        # what the parts ask: without another frame in between, of which deep values take many
        self.returned = self.results.returned
        self.own_returned = self.results.own_returned

    def move(self, release: str) -> frozenset[Key]:
        """Go to another release; what is forgotten is only what stands on what changed."""
        return self.lens.move(release)

    def value(self, index: int, node: int) -> Value:
        """What a node is in the present release."""
        if node == 0:
            return NOTHING
        memory = self.lens.memory
        key = ("node", index, node)
        held: Value | None = memory.held(key)
        if held is not None:
            return held
        if self.underway.cut(key, _DEEPEST):
            return NOTHING
        looked_at = self.underway.meanwhile(key)
        if looked_at is not None:
            memory.stand_on(looked_at)
            return NOTHING
        outer = self.underway.begin(key)
        try:
            found, names = memory.track(
                lambda: self._work(index, self.files[index].nodes[node], node)
            )
        finally:
            above = self.underway.end(key, outer)
        if above is None or found.alternatives:
            memory.keep(key, found, names)
            memory.touch(key)
        else:
            memory.stand_on(names)
            self.underway.wait(key, above, names)  # whoever asks later may learn more
        return found

    def own_member(self, module: str, name: str) -> Value:
        """A name of one of the plugin's modules."""
        if not name:
            return one(OwnModuleRef(module))
        found = self.index.own_name(module, name)
        if found is not None:
            return self.value(*found)
        below = f"{module}.{name}"
        if below in self.index.modules or below in self.index.packages:
            return one(OwnModuleRef(below))
        at = self.index.modules.get(module)
        if at is not None:
            for star in self.files[at].stars:
                if star.startswith(":"):
                    symbol = self.lens.find(star[1:], name)
                    if symbol is not None:
                        return Value(self.annotations.of_symbol(symbol))
        return NOTHING

    # -- one node, by its operation ----------------------------------------------------------------

    def _work(self, index: int, node: Node, number: int) -> Value:
        work = WORK.get(type(node))
        return NOTHING if work is None else work(self, index, node, number)

    def _import(self, index: int, node: Import, number: int) -> Value:
        module, name = node.module, node.name
        if not name:
            return one(ModuleRef(module)) if self.lens.has_module(module) else NOTHING
        if not self.lens.covers(module):
            return NOTHING
        symbol = self.lens.find(module, name)
        if symbol is None:
            return NOTHING
        found = Value(self.annotations.of_symbol(symbol))
        # a module's own object of which its text says nothing, such as ``current_platform``
        unsaid = not found.alternatives and symbol.kind == "value"
        return self.members.known(name, (index, number)) if unsaid else found

    def _dotted(self, index: int, node: Dotted, number: int) -> Value:
        symbol = self.members.resolve(node.text)
        return Value(self.annotations.of_symbol(symbol)) if symbol is not None else NOTHING

    def _attr(self, index: int, node: Attr, number: int) -> Value:
        look = self.members.look(self.value(index, node.base), node.name)
        if look.value.alternatives or look.lost:
            return look.value
        return self.members.known(node.name, (index, number))

    def _known(self, index: int, node: Known, number: int) -> Value:
        return self.members.known(node.name, (index, number))

    def _literal(self, index: int, node: Literal, number: int) -> Value:
        return one(Builtin(node.kind))

    def _text(self, index: int, node: Text, number: int) -> Value:
        return one(Builtin("str"))

    def _number(self, index: int, node: Number, number: int) -> Value:
        return one(Builtin("int"))

    def _slice(self, index: int, node: Slice, number: int) -> Value:
        return self.value(index, node.base)

    def _instance(self, index: int, node: Instance, number: int) -> Value:
        value = self.value(index, node.cls)
        found: list[Alternative] = []
        for each in value.alternatives:
            if type(each) is ClassRef:
                found.append(ObjectOf(each.symbol, False))
            elif type(each) is OwnClassRef:
                found.append(OwnObject(each.file, each.qual))
            elif type(each) is ObjectOf:  # a type alias held as a value
                found.append(each)
            else:
                return NOTHING
        return Value(tuple(found), value.named)

    def _one_of(self, index: int, node: OneOf, number: int) -> Value:
        values = [self.value(index, each) for each in node.values if not self._extinct(index, each)]
        return union([value for value in values if not value.is_none()])

    def _extinct(self, index: int, node: int) -> bool:
        """Whether a node is an instance of a class that the release has no more: nothing is."""
        held = self.files[index].nodes[node]
        if type(held) is not Instance:
            return False
        made_of = self.files[index].nodes[held.cls]
        if type(made_of) is not Import or not made_of.name or not self.lens.covers(made_of.module):
            return False
        module = made_of.module
        owner = Symbol(module, "", "module", self.lens.module(module))
        return self.lens.find(module, made_of.name) is None and not self.lens.is_open(owner)

    def _without(self, index: int, node: Without, number: int) -> Value:
        """What an ``isinstance`` that did not hold leaves."""
        value, taken = self.value(index, node.base), self.value(index, node.taken)
        classes = [each.symbol for each in taken.alternatives if type(each) is ObjectOf]
        owns = [each for each in taken.alternatives if type(each) is OwnObject]
        if not taken.alternatives or len(classes) + len(owns) != len(taken.alternatives):
            return NOTHING
        left: list[Alternative] = []
        for each in value.alternatives:
            if each in owns:
                continue
            if type(each) is ObjectOf:
                if any(taken_class in self.lens.mro(each.symbol) for taken_class in classes):
                    continue
                if any(each.symbol in self.lens.mro(taken_class) for taken_class in classes):
                    return NOTHING  # one of its subclasses is gone: that tells little of the rest
            elif type(each) is not Builtin:
                return NOTHING
            left.append(each)
        return Value(tuple(left), value.named)

    def _list_of(self, index: int, node: ListOf, number: int) -> Value:
        return list_of(self.value(index, node.element))

    def _dict_of(self, index: int, node: DictOf, number: int) -> Value:
        return dict_of(self.value(index, node.value))

    def _tuple_of(self, index: int, node: TupleOf, number: int) -> Value:
        return tuple_of([self.value(index, each) for each in node.elements])

    def _iter(self, index: int, node: Iter, number: int) -> Value:
        return containers.element(self.value(index, node.base))

    def _item(self, index: int, node: Item, number: int) -> Value:
        value = self.value(index, node.base)
        if value.alternatives and type(value.alternatives[0]) is OwnObject:
            return self.containers.entry(value.alternatives[0], node.key, self.value)
        return containers.element(value, subscript=True)

    def _filled(self, index: int, node: Filled, number: int) -> Value:
        return self.containers.value(index, node, self.value)

    def _kept(self, index: int, node: Kept, number: int) -> Value:
        return self.containers.kept(index, node, self.value)

    def _unpack(self, index: int, node: Unpack, number: int) -> Value:
        found = []
        value = self.value(index, node.base)
        if value.alternatives and type(value.alternatives[0]) is OwnObject:
            value = self.containers.fields(value.alternatives[0], self.value)
        for each in value.alternatives:
            if type(each) is TupleValue:
                if not -len(each.elements) <= node.position < len(each.elements):
                    return NOTHING
                found.append(each.elements[node.position])
            elif type(each) is ListValue:
                found.append(each.element)
            else:
                return NOTHING
        return union(found) if found else NOTHING

    def _enter(self, index: int, node: Enter, number: int) -> Value:
        found: list[Value] = []
        for each in self.value(index, node.base).alternatives:
            if type(each) is ListValue:  # a context manager written as a generator
                found.append(each.element)
                continue
            if type(each) is not ObjectOf:
                return NOTHING
            member = self.lens.member(each.symbol, "__enter__")
            if member is None or not isinstance(member.node, Recorded):
                return NOTHING
            if member.node.returns:
                found.append(Value(self.annotations.typed(member.module, member.node.returns)))
            elif member.node.result == "self":
                found.append(one(each))
            else:
                return NOTHING
        return union(found) if found else NOTHING

    def _param(self, index: int, node: Param, number: int) -> Value:
        return self.parameters.parameter(index, node.function, node.position, number)

    def _self(self, index: int, node: Self, number: int) -> Value:
        return one(OwnObject(index, node.qual))

    def _super(self, index: int, node: Super, number: int) -> Value:
        return one(OwnSuper(index, node.qual))

    def _local_class(self, index: int, node: LocalClass, number: int) -> Value:
        return one(OwnClassRef(index, node.qual))

    def _local_function(self, index: int, node: LocalFunction, number: int) -> Value:
        return one(OwnFunctionRef(index, node.function, False))

    def _plugin_name(self, index: int, node: PluginName, number: int) -> Value:
        return self.own_member(node.module, node.name)

    def _wrapped(self, index: int, node: Wrapped, number: int) -> Value:
        return self.value(index, node.value) if node.kind != "property" else NOTHING

    def _probe(self, index: int, node: Probe, number: int) -> Value:
        asked = self.files[index].nodes[node.value]
        if type(asked) is Attr:
            look = self.members.look(self.value(index, asked.base), asked.name)
            if look.lost:
                return self.value(index, node.default)
            if look.found:
                return look.value
        value, default = self.value(index, node.value), self.value(index, node.default)
        if not node.default or (
            len(default.alternatives) == 1 and default.alternatives[0] in _NO_DEFAULTS
        ):
            return value
        return union([value, default])

    def _type_of(self, index: int, node: TypeOf, number: int) -> Value:
        value = self.value(index, node.base)
        found: list[Alternative] = []
        for each in value.alternatives:
            if type(each) is ObjectOf and each.exact:
                found.append(ClassRef(each.symbol))
            elif type(each) is OwnObject:
                found.append(OwnClassRef(each.file, each.qual))
            else:
                return NOTHING
        return Value(tuple(found), value.named)

    def _select(self, index: int, node: Select, number: int) -> Value:
        truth = self.constants.condition(index, node.condition)
        if truth is not None:
            return self.value(index, node.then if truth else node.otherwise)
        values = [self.value(index, node.then), self.value(index, node.otherwise)]
        kept = [value for value in values if not value.is_none()]
        return union(kept) if kept else values[0]

    def _tried(self, index: int, node: Tried, number: int) -> Value:
        went = self.constants.went(index, node.attempt)
        return self.value(index, node.handler if went is False else node.body)

    def _call(self, index: int, node: Call, number: int) -> Value:
        held = self.files[index].nodes[node.callee]
        if type(held) is Attr and containers.hands_out(held):
            given = containers.handed_out(self.value(index, held.base), held.name)
            if given.alternatives:
                return given
        callee = self.value(index, node.callee)
        found: list[Value] = []
        for each in callee.alternatives:
            if type(each) is ClassRef:
                found.append(one(ObjectOf(each.symbol, True)))
            elif type(each) is FunctionRef:
                found.append(self.returned(each.symbol))
            elif type(each) is OwnFunctionRef:
                found.append(self.own_returned(each.file, each.function))
            elif type(each) is OwnClassRef:
                found.append(one(OwnObject(each.file, each.qual)))
            else:
                return NOTHING
        value = union(found) if found else NOTHING
        return Value(value.alternatives, value.named or callee.named)


_Work = Callable[[Evaluator, int, Operation, int], Value]
N = TypeVar("N", bound=Operation)

WORK: dict[type[Operation], _Work] = {}
"""Operation → what works out a node of it; a value of any other operation is unknown."""


def _works(operation: type[N], work: Callable[[Evaluator, int, N, int], Value]) -> None:
    WORK[operation] = cast("_Work", work)


_works(Import, Evaluator._import)
_works(Dotted, Evaluator._dotted)
_works(Attr, Evaluator._attr)
_works(Known, Evaluator._known)
_works(Literal, Evaluator._literal)
_works(Text, Evaluator._text)
_works(Number, Evaluator._number)
_works(Slice, Evaluator._slice)
_works(Instance, Evaluator._instance)
_works(OneOf, Evaluator._one_of)
_works(Without, Evaluator._without)
_works(ListOf, Evaluator._list_of)
_works(DictOf, Evaluator._dict_of)
_works(TupleOf, Evaluator._tuple_of)
_works(Filled, Evaluator._filled)
_works(Kept, Evaluator._kept)
_works(Iter, Evaluator._iter)
_works(Item, Evaluator._item)
_works(Unpack, Evaluator._unpack)
_works(Enter, Evaluator._enter)
_works(Param, Evaluator._param)
_works(Self, Evaluator._self)
_works(Super, Evaluator._super)
_works(LocalClass, Evaluator._local_class)
_works(LocalFunction, Evaluator._local_function)
_works(PluginName, Evaluator._plugin_name)
_works(Wrapped, Evaluator._wrapped)
_works(Probe, Evaluator._probe)
_works(TypeOf, Evaluator._type_of)
_works(Select, Evaluator._select)
_works(Tried, Evaluator._tried)
_works(Call, Evaluator._call)
