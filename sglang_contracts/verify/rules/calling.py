"""Calls against signatures, and results against what is made of them."""

from __future__ import annotations

from collections.abc import Sequence

from sglang_contracts.plugin.ir.nodes import Attr, Call, Partial, Unpack
from sglang_contracts.plugin.ir.records import File, Form, Use
from sglang_contracts.surface.model import Attribute, Kind, Parameter, ParameterKind, Role
from sglang_contracts.surface.model import Function as Recorded
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.outcome import UNKNOWN, Outcome, Status
from sglang_contracts.verify.rules.lookups import Lookups
from sglang_contracts.verify.values.literals import contradicts
from sglang_contracts.verify.values.signature_fit import Shape, bound_to, misfit
from sglang_contracts.verify.values.value import (
    NONE,
    Alternative,
    Builtin,
    ClassRef,
    FunctionRef,
    ObjectOf,
    OwnClassRef,
    OwnObject,
    OwnSuper,
    TupleValue,
)

_AWAITABLE = ("Awaitable", "Coroutine", "Future", "Task", "AsyncIter", "AsyncGen", "Any")
_RESHAPING = (
    "jit",
    "kernel",
    "inject",
    "click",
    "app.",
    "router.",
    "autotune",
    "heuristics",
    "singledispatch",
    "pytest",
)


class Calling(Lookups):
    """Judges what a plugin calls, and what it makes of the result."""

    def call(self, index: int, file: File, use: Use) -> Outcome:
        """A call against the signature of what is called."""
        node = file.nodes[use.node]
        if not isinstance(node, (Call, Partial)):
            return UNKNOWN
        value = self.evaluator.value(index, node.callee)
        if not value.alternatives:
            return UNKNOWN
        form = file.forms[node.form]
        exact = self.exact_receiver(index, file, node.callee)
        results = [
            self._call_one(each, index, form, type(node) is Partial, exact)
            for each in value.alternatives
        ]
        if any(each.status is not Status.BROKEN for each in results):
            best = next(each for each in results if each.status is not Status.BROKEN)
            if best.status is Status.OK and len(value.alternatives) == 1 and use.count:
                best = self.awaited(value.alternatives[0], use.count) or best
            return best._replace(named=value.named)
        if self.replaced_below(index, file, node.callee):
            return UNKNOWN
        return results[0]._replace(named=value.named)

    def replaced_below(self, index: int, file: File, callee: int) -> bool:
        """Whether an own class below that of the receiver has the method: it may be that one."""
        held = file.nodes[callee]
        if type(held) is not Attr:
            return False
        return any(
            type(each) is OwnObject
            and self.evaluator.index.defined_below(each.file, each.qual, held.name)
            for each in self.evaluator.value(index, held.base).alternatives
        )

    def awaited(self, called: Alternative, how: int) -> Outcome | None:
        """A coroutine that is not awaited, or an ``await`` on what is none.

        Args:
            called: What is called.
            how: 1 where the result is awaited, -1 where it is used as it is.
        """
        if type(called) is not FunctionRef:
            return None
        symbol = called.symbol
        node = symbol.node
        if not isinstance(node, Recorded) or node.decorators:
            return None
        if node.role & (Role.GENERATOR | Role.CONTEXT_MANAGER):
            return None
        is_async = bool(node.role & Role.ASYNC)
        # without an annotation a plain function may hand on a coroutine of another's
        plain = bool(node.returns) and not any(each in node.returns for each in _AWAITABLE)
        if (how < 0 and is_async) or (how > 0 and not is_async and plain):
            return Outcome(
                Status.BROKEN,
                "awaited",
                symbol.name,
                owner=symbol,
                name=symbol.qual,
                detail="coroutine" if is_async else "plain",
            )
        return None

    def exact_receiver(self, index: int, file: File, callee: int) -> bool:
        """Whether a method is called on what is certainly of that class: ``super()``, one's own."""
        held = file.nodes[callee]
        if type(held) is not Attr:
            return False
        receiver = self.evaluator.value(index, held.base).alternatives
        return bool(receiver) and all(
            type(each) is OwnSuper
            or (type(each) is OwnObject and not self.evaluator.index.is_base(each.file, each.qual))
            or (type(each) is ObjectOf and each.exact)
            for each in receiver
        )

    def _call_one(
        self, each: Alternative, index: int, form: Form, partial: bool, exact: bool
    ) -> Outcome:
        if type(each) is FunctionRef:
            return self._call_function(each.symbol, each.bound, index, form, partial, exact)
        if type(each) is ClassRef:
            return self.construct(each.symbol, index, form, partial)
        if type(each) is OwnClassRef:
            return self._own_construct(each.file, each.qual, index, form, partial)
        return UNKNOWN

    def _call_function(
        self, symbol: Symbol, bound: bool, index: int, form: Form, partial: bool, exact: bool
    ) -> Outcome:
        node = symbol.node
        if not isinstance(node, Recorded):
            return UNKNOWN
        if node.role & Role.RETIRED:
            return Outcome(Status.BROKEN, "retired", symbol.name, owner=symbol, name=symbol.qual)
        if self.reshaped(node):
            return UNKNOWN
        target = self.evaluator.results.delegate(symbol)
        if target is not None and target.kind == "class":
            return self.construct(target, index, form, partial)
        parameters = node.parameters
        if bound and parameters:
            parameters = parameters[1:]
        outcome = self.fit(symbol, symbol.name, parameters, index, form, partial)
        broken = outcome.status is Status.BROKEN
        if broken and bound and not exact and self.widened(symbol, form):
            return UNKNOWN
        return outcome

    def widened(self, symbol: Symbol, form: Form) -> bool:
        """Whether a class that derives from a method's class takes the call: it may be that one."""
        name = symbol.qual.rsplit(".", 1)[-1]
        if symbol.owner is None or name.startswith("__"):
            return False
        given = Shape(len(form.positional), tuple(form.keywords), form.star, form.double_star)
        for place in self.lens.places(name):
            if symbol.owner.name not in self.lens.ancestry(place)[1:]:
                continue
            other = self.lens.parse(place)
            method = self.lens.member(other, name) if other is not None else None
            if method is None or method.owner != other or not isinstance(method.node, Recorded):
                continue
            # An override that takes anything (a pool that does nothing) speaks for no call.
            kinds = {each.kind for each in method.node.parameters}
            if {ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD} <= kinds:
                continue
            if misfit(method.node.parameters[1:], given) is None:
                return True
        return False

    @staticmethod
    def reshaped(node: Recorded) -> bool:
        """Whether a decorator gives the function another signature than the one written."""
        return any(mark in each for each in node.decorators for mark in _RESHAPING)

    def _own_construct(
        self, file: int, qual: str, index: int, form: Form, partial: bool
    ) -> Outcome:
        """An own class without a constructor of its own: upstream's is called."""
        record = self.files[file].classes.get(qual)
        if record is None or record.open or record.decorated or len(record.bases) != 1:
            return UNKNOWN
        if "__init__" in record.methods or "__new__" in record.methods:
            return UNKNOWN
        if record.attributes and not record.methods:
            return UNKNOWN  # may be a dataclass with fields of its own
        value = self.evaluator.value(file, record.bases[0])
        base = value.alternatives[0] if len(value.alternatives) == 1 else None
        if type(base) is not ClassRef:
            return UNKNOWN
        symbol = base.symbol
        if self.lens.kind(symbol) & (Kind.DATACLASS | Kind.STRUCT | Kind.PYDANTIC | Kind.ENUM):
            return UNKNOWN
        return self.construct(symbol, index, form, partial)

    def construct(self, symbol: Symbol, index: int, form: Form, partial: bool) -> Outcome:
        """A class is called."""
        lens = self.lens
        kind = lens.kind(symbol)
        if kind & (Kind.ENUM | Kind.PROTOCOL) or (lens.is_open(symbol) and not kind & Kind.STRUCT):
            return Outcome(Status.OK, found=(symbol,)) if not kind & Kind.ENUM else UNKNOWN
        constructor = lens.constructor(symbol)
        if constructor is None:
            return UNKNOWN
        record_class = (
            bool(
                kind
                & (Kind.DATACLASS | Kind.STRUCT | Kind.PYDANTIC | Kind.NAMEDTUPLE | Kind.TYPED_DICT)
            )
            and lens.member(symbol, "__init__") is None
        )
        target = self.forwarded(symbol, constructor)
        if target is not None:
            beyond = self.beyond(target, constructor, form)
            if beyond is not None:
                return beyond
        name = symbol.name if record_class else f"{symbol.name}.__init__"
        outcome = self.fit(symbol, name, constructor.parameters[1:], index, form, partial)
        if (
            outcome.status is Status.BROKEN
            and record_class
            and outcome.detail
            in (
                "unknown-keyword",
                "missing",
            )
        ):
            if kind & Kind.PYDANTIC and outcome.detail == "unknown-keyword":
                return outcome._replace(
                    detail="ignored-keyword", symbol=f"{symbol.name}.{outcome.name}"
                )
            return outcome._replace(symbol=f"{symbol.name}.{outcome.name}")
        return outcome

    def forwarded(self, symbol: Symbol, constructor: Recorded) -> Symbol | None:
        """The record that a constructor makes of its ``**kwargs``, and of nothing else."""
        if not any(each.kind == ParameterKind.VAR_KEYWORD for each in constructor.parameters):
            return None
        record = self.lens.module(symbol.module)
        if record is None:
            return None
        for called in constructor.calls:  # ``self.server_args_class(**kwargs)``
            member = self.lens.member(symbol, called)
            if member is not None and isinstance(member.node, Attribute):
                target = self.lens.scope(member.module, member.node.value)
                if target is not None and self._of_keywords(member.module, called):
                    return target if target.kind == "class" else None
        for name in record.imports:
            if name[:1].isupper() and self._of_keywords(symbol.module, name):
                target = self.lens.scope(symbol.module, name)
                if target is not None and target.kind == "class":
                    return target
        return None

    def _of_keywords(self, module: str, name: str) -> bool:
        """Whether a module calls something with ``**kwargs`` and nothing else."""
        return any(
            where == module and call.double_star and not call.positional and not call.keywords
            for where, call in self.lens.callers(name)
        )

    def beyond(self, target: Symbol, constructor: Recorded, form: Form) -> Outcome | None:
        """Keywords that a constructor takes only to hand them on, against who gets them."""
        own = {each.name for each in constructor.parameters}
        given = tuple(each for each in form.keywords if each not in own)
        made = self.lens.constructor(target)
        if not given or made is None or self.lens.is_open(target):
            return None
        problem = misfit(made.parameters[1:], Shape(0, given, double_star=True))
        if problem is None:
            return Outcome(Status.OK, found=(target,))
        symbol = f"{target.name}.{problem.name}"
        return Outcome(
            Status.BROKEN,
            "misfit",
            symbol,
            owner=target,
            name=problem.name,
            detail=problem.what,
        )

    def fit(
        self,
        symbol: Symbol,
        name: str,
        parameters: Sequence[Parameter],
        index: int,
        form: Form,
        partial: bool,
    ) -> Outcome:
        """Whether a call binds, and whether what it gives is of the right kind."""
        given = Shape(len(form.positional), tuple(form.keywords), form.star, form.double_star)
        if partial:
            given = given._replace(star=True, double_star=True)
        problem = misfit(parameters, given)
        if problem is not None and not (partial and problem.what == "missing"):
            return Outcome(
                Status.BROKEN, "misfit", name, owner=symbol, name=problem.name, detail=problem.what
            )
        mismatch = self.mismatch(symbol, name, parameters, index, form, given)
        mismatch = mismatch or self.shifted(symbol, name, parameters, form)
        return mismatch or Outcome(Status.OK, found=(symbol,))

    @staticmethod
    def shifted(
        symbol: Symbol, name: str, parameters: Sequence[Parameter], form: Form
    ) -> Outcome | None:
        """An argument that lands on another parameter than the one it is named after."""
        positional = [each for each in parameters if each.kind <= ParameterKind.POSITIONAL]
        places = {each.name: place for place, each in enumerate(positional)}
        for place, given in enumerate(form.names[: len(positional)]):
            other = places.get(given, place)
            if other == place or positional[place].name == given or given in form.keywords:
                continue
            one, two = positional[place].annotation, positional[other].annotation
            return Outcome(
                Status.BROKEN,
                "shift",
                name,
                owner=symbol,
                name=given,
                detail="types" if one and two and one != two else "",
                new=positional[place].name,
            )
        return None

    def mismatch(
        self,
        symbol: Symbol,
        name: str,
        parameters: Sequence[Parameter],
        index: int,
        form: Form,
        given: Shape,
    ) -> Outcome | None:
        """An argument that is evidently of another kind than its parameter."""
        for place, parameter in bound_to(parameters, given).items():
            if not parameter.annotation:
                continue
            node = form.positional[place] if isinstance(place, int) else form.keywords[place]
            value = self.evaluator.value(index, node)
            if not value.alternatives:
                continue
            wanted = self.evaluator.annotations.typed(symbol.module, parameter.annotation)
            if contradicts(value, wanted, self.record):
                return Outcome(
                    Status.BROKEN,
                    "type",
                    name,
                    owner=symbol,
                    name=parameter.name,
                    detail="type",
                    new=parameter.annotation,
                )
        return None

    def record(self, symbol: Symbol) -> bool:
        """A class whose instances are nothing that a literal could stand for."""
        kind = self.lens.kind(symbol)
        if kind & (Kind.ENUM | Kind.TYPED_DICT | Kind.PROTOCOL | Kind.NAMEDTUPLE):
            return False
        if self.lens.externals(symbol) and not kind & (
            Kind.STRUCT | Kind.DATACLASS | Kind.PYDANTIC
        ):
            return set(self.lens.externals(symbol)) <= {"ABC", "abc.ABC", "object", "Generic"}
        return True

    def unpacked(self, index: int, file: File, use: Use) -> Outcome:
        """The result of a call unpacked to several targets."""
        node = file.nodes[use.node]
        if type(node) is Unpack:
            inner = file.nodes[node.base]
            if type(inner) is Call:
                return self.unpacked_within(index, inner, use)
        if type(node) is not Call:
            return UNKNOWN
        value = self.evaluator.value(index, node.callee)
        if not value.alternatives:
            return UNKNOWN
        wanted = use.count
        results = []
        for each in value.alternatives:
            if type(each) is not FunctionRef or not isinstance(each.symbol.node, Recorded):
                return UNKNOWN
            results.append((each.symbol, self.lengths(each.symbol)))
        for symbol, lengths in results:
            if lengths is None:
                return UNKNOWN
            if wanted > 0 and wanted in lengths:
                return Outcome(Status.OK, found=(symbol,), named=value.named)
            if wanted < 0 and any(each >= -wanted - 1 for each in lengths):
                return Outcome(Status.OK, found=(symbol,), named=value.named)
        symbol, lengths = results[0]
        return Outcome(
            Status.BROKEN,
            "unpack",
            symbol.name,
            owner=symbol,
            name=str(wanted),
            detail="object" if lengths == frozenset({0}) else "length",
            new=",".join(str(each) for each in sorted(lengths or ())),
            named=value.named,
        )

    def unpacked_within(self, index: int, call: Call, use: Use) -> Outcome:
        """A part of a result unpacked: ``(a, b), c = f()``."""
        value = self.evaluator.value(index, use.node)
        called = self.evaluator.value(index, call.callee)
        first = called.alternatives[0] if len(called.alternatives) == 1 else None
        if type(first) is not FunctionRef:
            return UNKNOWN
        symbol = first.symbol
        lengths = {len(each.elements) for each in value.alternatives if type(each) is TupleValue}
        if not lengths or len(lengths) != len(value.alternatives) or use.count < 0:
            return UNKNOWN
        if use.count in lengths:
            return Outcome(Status.OK, found=(symbol,), named=called.named)
        return Outcome(
            Status.BROKEN,
            "unpack",
            symbol.name,
            owner=symbol,
            name=str(use.count),
            detail="length",
            new=",".join(map(str, sorted(lengths))),
            named=called.named,
        )

    def lengths(self, symbol: Symbol) -> frozenset[int] | None:
        """How many values a function's result unpacks to; {0}: it does not; None: not known."""
        node = symbol.node
        if not isinstance(node, Recorded) or node.role & (Role.GENERATOR | Role.CONTEXT_MANAGER):
            return None
        if node.decorators and any("contextmanager" in each for each in node.decorators):
            return None
        shown = frozenset(each for each in node.arities if each > 0)
        if node.arities and 0 not in node.arities and shown:
            return shown
        if node.returns:
            typed = self.evaluator.annotations.typed(symbol.module, node.returns)
            found: set[int] = set()
            for each in typed:
                if each == NONE:
                    continue
                length = self._length(each)
                if length is None:
                    return None
                found.add(length)
            return frozenset(found) | shown | self.taken_as(symbol) if found else None
        return None

    def _length(self, each: Alternative) -> int | None:
        """How many targets one alternative unpacks to; 0: it does not; None: not known."""
        if type(each) is TupleValue:  # ``Tuple[int]`` is mostly meant for a tuple of any length
            return len(each.elements) if len(each.elements) > 1 else None
        if type(each) is Builtin:
            return 0 if each.kind in ("int", "bool", "float") else None
        if type(each) is not ObjectOf:
            return None
        symbol = each.symbol
        if self.record(symbol):
            open_ended = self.lens.member(symbol, "__iter__") or self.lens.is_open(symbol)
            return None if open_ended else 0
        if self.lens.kind(symbol) & Kind.NAMEDTUPLE:
            return len(self.lens.fields(symbol))
        return None

    def taken_as(self, symbol: Symbol) -> frozenset[int]:
        """To how many targets the release itself unpacks it: annotations are not always kept."""
        name = symbol.qual.rsplit(".", 1)[-1]
        return frozenset(
            call.unpacked
            for _, call in self.lens.callers(name)
            if call.unpacked and self.goes_by(call.receiver, symbol.owner)
        )

    def goes_by(self, receiver: str, owner: Symbol | None) -> bool:
        """Whether an object of a class certainly goes by a name; for a function: no receiver."""
        if owner is None:
            return not receiver
        if receiver in ("self", "super()"):
            return False
        named = self.evaluator.members.known(receiver, None)
        return any(
            type(each) is ObjectOf and owner in self.lens.mro(each.symbol)
            for each in named.alternatives
        )
