"""Every place of a plugin that can break, and how it fares in the present release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from sglang_contracts.contract.model import Clause
from sglang_contracts.plugin import guards
from sglang_contracts.plugin.model import Attempt, File, Form, Function, Use, UseKind
from sglang_contracts.surface.model import (
    Attribute,
    Class,
    Kind,
    Parameter,
    ParameterKind,
    Role,
)
from sglang_contracts.surface.model import Function as Recorded
from sglang_contracts.surface.model import (
    Value as RecordedValue,
)
from sglang_contracts.surface.resolve import Symbol
from sglang_contracts.verify.behaviour import Behaviours, Candidate
from sglang_contracts.verify.evaluate import Evaluator
from sglang_contracts.verify.outcome import OK, UNKNOWN, Outcome, Status
from sglang_contracts.verify.signature import Misfit, Shape, bound_to, misfit, shape
from sglang_contracts.verify.values import Value, is_weak

_CAUGHT = {
    "import": guards.IMPORT_ERRORS,
    "module": guards.IMPORT_ERRORS,
    "attribute": guards.ATTRIBUTE_ERRORS,
    "misfit": guards.CALL_ERRORS,
    "retired": frozenset(
        {"RuntimeError", "NotImplementedError", "Exception", "BaseException", "*"}
    ),
    "unpack": guards.UNPACK_ERRORS,
    "type": guards.CALL_ERRORS | guards.ATTRIBUTE_ERRORS,
    "registry": guards.KEY_ERRORS,
}
_MAGIC = frozenset(
    [
        "__init_subclass__",
        "__class_getitem__",
        "__new__",
        "__post_init__",
        "__del__",
        "__repr__",
        "__str__",
        "__eq__",
        "__hash__",
        "__enter__",
        "__exit__",
        "__len__",
        "__iter__",
        "__getattr__",
        "__getattribute__",
        "__setattr__",
        "__reduce__",
        "__getstate__",
        "__setstate__",
        "__bool__",
        "__contains__",
        "__getitem__",
        "__setitem__",
        "__call__",
        "__next__",
        "__lt__",
        "__gt__",
        "__le__",
        "__ge__",
        "__ne__",
    ]
)

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
_VARIADIC = (ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD)
_RARE = 0.15
"""Share of upstream's call sites below which a new argument is passed on a special path only."""


class Reach(NamedTuple):
    """Whether the code of a use runs in a release, and what catches its failure."""

    runs: bool
    caught: bool = False
    way_out: bool = True


class Check(NamedTuple):
    """One thing to look at in each release."""

    kind: str
    """``use``, ``override``, ``class``, ``clause``."""
    file: int
    number: int
    name: str = ""
    """OVERRIDE: qualified name of the method; CLASS: of the class."""


class Checker:
    """Works out outcomes of checks in the present release of an evaluator."""

    def __init__(self, evaluator: Evaluator, clauses: Sequence[Clause] = ()) -> None:
        self.evaluator = evaluator
        self.lens = evaluator.lens
        self.files = evaluator.files
        self._went: dict[tuple[int, int], bool] = {}
        self._went_active: set[tuple[int, int]] = set()
        evaluator.status_of = self.went
        self.written = self._written()
        self.made = self._made()
        self.derived = self._derived()
        self.behaviours = Behaviours(self, clauses)
        self.candidates = self.behaviours.candidates()

    # -- facts about the plugin alone ------------------------------------------------------------

    def _written(self) -> dict[str, list[tuple[int, int, int]]]:
        """Attribute → places (file, function, line) at which the plugin itself assigns it."""
        found: dict[str, list[tuple[int, int, int]]] = {}
        for index, file in enumerate(self.files):
            for use in file.uses:
                if use.kind is UseKind.WRITE:
                    name = file.nodes[use.node][2]
                    found.setdefault(name, []).append((index, use.function, use.line))
        return found

    def _made(self) -> set[tuple[int, str]]:
        """Own classes that the plugin makes instances of itself."""
        found: set[tuple[int, str]] = set()
        for index, file in enumerate(self.files):
            for node in file.nodes:
                if node[0] == "call":
                    own = self.evaluator.own_class(index, node[1])
                    if own is not None:
                        found.add(own)
        return found

    def _derived(self) -> set[tuple[int, str]]:
        """Own classes that other own classes derive from."""
        found: set[tuple[int, str]] = set()
        for index, file in enumerate(self.files):
            for record in file.classes.values():
                for base in record.bases:
                    own = self.evaluator.own_class(index, base)
                    if own is not None:
                        found.add(own)
        return found

    def checks(self) -> list[Check]:
        """Everything there is to look at."""
        found: list[Check] = []
        for index, file in enumerate(self.files):
            for number, use in enumerate(file.uses):
                if use.kind not in (UseKind.FLAG, UseKind.ENVIRONMENT):
                    found.append(Check("use", index, number))
            for qual, record in file.classes.items():
                if not self.evaluator.may_derive(index, qual):
                    continue
                found.append(Check("class", index, 0, qual))
                for name, number in record.methods.items():
                    if name not in _MAGIC:
                        found.append(Check("override", index, number, f"{qual}.{name}"))
        for number, each in enumerate(self.candidates):
            found.append(Check("clause", each.file, number, each.name))
        return found

    def moved(self) -> None:
        """The evaluator went to another release."""
        self._went.clear()

    # -- dispatch --------------------------------------------------------------------------------

    def outcome(self, check: Check) -> Outcome:
        """How a check fares in the present release, whoever guards it."""
        if check.kind == "use":
            file = self.files[check.file]
            return self.use(check.file, file, file.uses[check.number])
        if check.kind == "override":
            return self.override(check)
        if check.kind == "clause":
            return self.behaviours.outcome(self.candidates[check.number])
        return self.complete(check)

    def use(self, index: int, file: File, use: Use) -> Outcome:
        """One use."""
        match use.kind:
            case UseKind.IMPORT:
                return self.imported(file.nodes[use.node])
            case UseKind.READ | UseKind.PROBE:
                return self.attribute(index, file, use)
            case UseKind.WRITE:
                outcome = self.attribute(index, file, use)
                return self.patched(index, use, outcome) or outcome
            case UseKind.CALL:
                return self.call(index, file, use)
            case UseKind.UNPACK:
                return self.unpacked(index, file, use)
            case UseKind.HOOK:
                return self.hook(index, file, use)
            case UseKind.DOTTED:
                return self.dotted(file.nodes[use.node][1])
            case UseKind.ITEM | UseKind.REGISTER:
                return self.registry(index, file, use)
        return UNKNOWN

    # -- guards ----------------------------------------------------------------------------------

    def guard_of(self, candidate: Candidate) -> int:
        """The guard a candidate stands under."""
        file = self.files[candidate.file]
        if candidate.kind == "use":
            return file.uses[candidate.number].guard
        if candidate.kind == "method":
            return file.functions[candidate.number].guard
        return file.classes[candidate.name].guard

    def reach(self, index: int, guard: int, what: str) -> Reach:
        """Whether code under a guard runs, and whether a failure of a kind is caught."""
        file = self.files[index]
        caught, way_out = False, True
        while guard:
            record = file.guards[guard]
            if record.kind == "typing":
                return Reach(False)
            if record.kind == "handler":
                if self.went(index, record.condition, file.attempts[record.condition]):
                    return Reach(False)
            elif record.kind == "try":
                attempt = file.attempts[record.condition]
                if not caught and not attempt.raises and self.catches(attempt, what):
                    caught, way_out = True, attempt.way_out
            elif record.kind == "if":
                truth = self.evaluator.condition(index, record.condition)
                if truth is not None and truth != record.positive:
                    return Reach(False)
            guard = record.parent
        return Reach(True, caught, way_out)

    @staticmethod
    def catches(attempt: Attempt, what: str) -> bool:
        """Whether a ``try`` catches that kind of failure."""
        return bool(_CAUGHT.get(what, frozenset()) & set(attempt.catches))

    def went(self, index: int, number: int, attempt: Attempt) -> bool:
        """Whether a ``try`` goes through in the present release."""
        key = (index, number)
        held = self._went.get(key)
        if held is not None:
            return held
        if key in self._went_active:
            return True
        self._went_active.add(key)
        result = True
        try:
            file = self.files[index]
            for each in self.evaluator.attempts.get(key, ()):
                use = file.uses[each]
                if use.kind is UseKind.PROBE:
                    continue
                outcome = self.use(index, file, use)
                if outcome.status is not Status.BROKEN or not self.catches(attempt, outcome.what):
                    continue
                if self._inner(index, use.guard, number, outcome.what):
                    result = False
                    break
        finally:
            self._went_active.discard(key)
        if not self._went_active:
            self._went[key] = result
        return result

    def _inner(self, index: int, guard: int, number: int, what: str) -> bool:
        """Whether a failure under a guard gets out to that ``try``."""
        file = self.files[index]
        while guard:
            record = file.guards[guard]
            if record.kind == "try":
                if record.condition == number:
                    return True
                inner = file.attempts[record.condition]
                if self.catches(inner, what) and not inner.raises:
                    return False
            elif record.kind == "handler":
                if self.went(index, record.condition, file.attempts[record.condition]):
                    return False
            elif record.kind == "if":
                truth = self.evaluator.condition(index, record.condition)
                if truth is not None and truth != record.positive:
                    return False
            elif record.kind == "typing":
                return False
            guard = record.parent
        return False

    # -- imports and dotted strings ----------------------------------------------------------------

    def imported(self, node: Sequence[str]) -> Outcome:
        """``from module import name``."""
        _, module, name = node
        lens = self.lens
        if not lens.covers(module):
            return UNKNOWN
        if not lens.has_module(module):
            symbol = f"{module}:{name}" if name else module
            # ``from package.Class import x`` is no module at all: it never was one
            return Outcome(Status.BROKEN, "module", symbol, name=name, detail="module")
        if not name:
            return OK
        found = lens.find(module, name)
        if found is not None and not self.evaluator.dangling(module, name):
            return Outcome(Status.OK, found=(found,))
        owner = Symbol(module, "", "module", lens.module(module))
        if not lens.covers(f"{module}.{name}") or lens.is_open(owner):
            return UNKNOWN
        return Outcome(Status.BROKEN, "import", f"{module}:{name}", owner=owner, name=name)

    def dotted(self, text: str) -> Outcome:
        """A dotted string."""
        head = text.partition(":")[0]
        if not self.lens.covers(head):
            return UNKNOWN
        found = self.evaluator.resolve(text)
        if found is not None:
            return Outcome(Status.OK, found=(found,))
        # as far as it leads: beyond a value, or in an open class, nothing can be said
        parts = text.replace(":", ".").split(".")
        for cut in range(len(parts) - 1, 0, -1):
            before = self.lens.parse(".".join(parts[:cut]))
            if before is None:
                continue
            if before.kind not in ("module", "class") or self.lens.is_open(before):
                return UNKNOWN
            if before.kind == "module" and not self.lens.covers(".".join(parts[: cut + 1])):
                return UNKNOWN
            break
        return Outcome(Status.BROKEN, "attribute", text, name=parts[-1])

    # -- attributes --------------------------------------------------------------------------------

    def attribute(self, index: int, file: File, use: Use) -> Outcome:
        """A read, a write or a probe of an attribute."""
        _, base, name = file.nodes[use.node]
        value = self.evaluator.value(index, base)
        if not value.alternatives:
            value = self.evaluator.by_attribute(name)
        if not value.alternatives:
            return UNKNOWN
        look = self.evaluator.look(value, name)
        if look.found:
            return Outcome(Status.OK, found=look.found, named=value.named)
        if not look.lost:
            return UNKNOWN
        owner = look.lost[0]
        if use.kind is UseKind.READ and self.supplied(index, use, name, owner):
            return UNKNOWN
        if value.named and self.set_upstream(value.named, name):
            return UNKNOWN
        symbol = f"{owner.name}.{name}" if owner.qual else f"{owner.module}:{name}"
        on_object = value.alternatives[0][0] in ("object", "own-object", "super")
        if use.kind is UseKind.WRITE and self.still_read(owner, name):
            return UNKNOWN
        return Outcome(
            Status.BROKEN,
            "attribute",
            symbol,
            owner=owner,
            name=name,
            detail="object" if on_object else "class",
            named=value.named,
        )

    def still_read(self, owner: Symbol, name: str) -> bool:
        """Whether the release reads a name off a class or module that does not define it."""
        receiver = (owner.qual or owner.module).rsplit(".", 1)[-1]
        if name in self.lens.readers(receiver):
            return True
        return owner.kind == "class" and any(
            name in method.reads or name in method.calls
            for each in self.lens.mro(owner)
            if isinstance(each.node, Class)
            for method in each.node.methods.values()
        )

    def supplied(self, index: int, use: Use, name: str, owner: Symbol) -> bool:
        """Whether the plugin itself sets the attribute before this read can happen."""
        for file, function, line in self.written.get(name, ()):
            if (file, function) != (index, use.function) or line < use.line:
                return True
        return False

    def set_upstream(self, receiver: str, name: str) -> bool:
        """Whether the release sets the attribute from outside on what goes by that name."""
        return len(self.lens.writers(receiver).get(name, ())) > 1

    # -- calls -------------------------------------------------------------------------------------

    def call(self, index: int, file: File, use: Use) -> Outcome:
        """A call against the signature of what is called."""
        node = file.nodes[use.node]
        value = self.evaluator.value(index, node[1])
        if not value.alternatives:
            return UNKNOWN
        form = file.forms[node[2]]
        results = [
            self._call_one(each, index, form, node[0] == "partial") for each in value.alternatives
        ]
        if any(each.status is not Status.BROKEN for each in results):
            best = next(each for each in results if each.status is not Status.BROKEN)
            return best._replace(named=value.named)
        return results[0]._replace(named=value.named)

    def _call_one(self, each: tuple[object, ...], index: int, form: Form, partial: bool) -> Outcome:
        match each:
            case ("class", Symbol() as symbol):
                return self.construct(symbol, index, form, partial)
            case ("function", Symbol() as symbol, bool() as bound):
                node = symbol.node
                if not isinstance(node, Recorded):
                    return UNKNOWN
                if node.role & Role.RETIRED:
                    return Outcome(
                        Status.BROKEN, "retired", symbol.name, owner=symbol, name=symbol.qual
                    )
                if self.reshaped(node):
                    return UNKNOWN
                parameters = node.parameters
                if bound and parameters:
                    parameters = parameters[1:]
                outcome = self.fit(symbol, symbol.name, parameters, index, form, partial)
                if outcome.status is Status.BROKEN and bound and self.widened(symbol, form):
                    return UNKNOWN
                return outcome
            case ("own-class", int() as file, str() as qual):
                return self._own_construct(file, qual, index, form, partial)
        return UNKNOWN

    def widened(self, symbol: Symbol, form: Form) -> bool:
        """Whether a class that derives from a method's class takes the call: it may be that one."""
        name = symbol.qual.rsplit(".", 1)[-1]
        if symbol.owner is None or name.startswith("__"):
            return False
        given = Shape(len(form.positional), tuple(form.keywords), form.star, form.double_star)
        for place in self.lens.places(name):
            module, _, qual = place.partition(":")
            other = self.lens.find(module, qual) if qual else None
            if other is None or other.kind != "class" or other == symbol.owner:
                continue
            if symbol.owner not in self.lens.mro(other):
                continue
            method = self.lens.member(other, name)
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
        if len(value.alternatives) != 1 or value.alternatives[0][0] != "class":
            return UNKNOWN
        symbol = value.alternatives[0][1]
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
        return mismatch or Outcome(Status.OK, found=(symbol,))

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
            wanted = self.evaluator.typed(symbol.module, parameter.annotation)
            if self.contradicts(value, wanted):
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

    def contradicts(self, value: Value, wanted: Sequence[tuple[object, ...]]) -> bool:
        """A literal where a record is wanted, or a record where a scalar is."""
        if not wanted:
            return False
        literals = [
            each for each in value.alternatives if each[0] in ("literal", "list", "dict", "tuple")
        ]
        if len(literals) == len(value.alternatives) and ("literal", "None") not in literals:
            plain = frozenset(
                ("int", "float", "str", "number", "list", "dict", "tuple", "true", "false", "bool")
            )
            if not all(each[0] != "literal" or each[1] in plain for each in literals):
                return False
            return all(each[0] == "object" and self.record(each[1]) for each in wanted)  # type: ignore[arg-type]
        if all(each[0] == "object" for each in value.alternatives):
            # what is merely annotated as a record may hold anything; what is made here may not
            if not all(each[2] and self.record(each[1]) for each in value.alternatives):
                return False
            return all(
                each[0] == "literal" and each[1] in ("int", "float", "str", "bool")
                for each in wanted
            )
        return False

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

    # -- results -----------------------------------------------------------------------------------

    def unpacked(self, index: int, file: File, use: Use) -> Outcome:
        """The result of a call unpacked to several targets."""
        node = file.nodes[use.node]
        if node[0] != "call":
            return UNKNOWN
        value = self.evaluator.value(index, node[1])
        if not value.alternatives:
            return UNKNOWN
        wanted = use.count
        results = []
        for each in value.alternatives:
            if each[0] != "function" or not isinstance(each[1].node, Recorded):
                return UNKNOWN
            results.append((each[1], self.lengths(each[1])))
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
            typed = self.evaluator.typed(symbol.module, node.returns)
            found: set[int] = set()
            for each in typed:
                if each[0] == "tuple" and len(each[1]) > 1:
                    found.add(len(each[1]))
                elif each[0] == "tuple":
                    return None  # ``Tuple[int]`` is mostly meant for a tuple of any length
                elif each[0] == "object" and self.record(each[1]):
                    if self.lens.member(each[1], "__iter__") or self.lens.is_open(each[1]):
                        return None
                    found.add(0)
                elif each[0] == "literal" and each[1] in ("int", "bool", "float"):
                    found.add(0)
                elif each[0] == "object" and self.lens.kind(each[1]) & Kind.NAMEDTUPLE:
                    found.add(len(self.lens.fields(each[1])))
                elif each == ("literal", "None"):
                    continue
                else:
                    return None
            return frozenset(found) | shown if found else None
        return None

    # -- registries --------------------------------------------------------------------------------

    def registry(self, index: int, file: File, use: Use) -> Outcome:
        """A table read by a constant key."""
        if use.kind is not UseKind.ITEM:
            return UNKNOWN
        node = file.nodes[use.node]
        symbol: Symbol | None = None
        if node[0] == "import" and node[2]:
            symbol = self.lens.find(node[1], node[2])
        elif node[0] == "attr":
            look = self.evaluator.look(self.evaluator.value(index, node[1]), node[2])
            symbol = look.found[0] if len(look.found) == 1 else None
        if symbol is None or not isinstance(symbol.node, (RecordedValue, Attribute)):
            return UNKNOWN
        keys = symbol.node.keys
        added = self.lens.registrations(symbol.qual.rsplit(".", 1)[-1])
        if use.name in keys or use.name in added:
            return Outcome(Status.OK, found=(symbol,))
        if not keys and not added:
            return UNKNOWN
        return Outcome(
            Status.BROKEN, "registry", f'{symbol.name}["{use.name}"]', owner=symbol, name=use.name
        )

    # -- hooks and patches -------------------------------------------------------------------------

    def hook(self, index: int, file: File, use: Use) -> Outcome:
        """A hook's target, and whether its function fits what the target is called with."""
        outcome = self.dotted(file.nodes[use.node][1])
        if outcome.status is not Status.OK:
            return outcome._replace(what="hook") if outcome.status is Status.BROKEN else outcome
        if not use.value:
            return outcome
        own = self.evaluator.own_function(index, use.value)
        if own is None or len(outcome.found) != 1:
            return outcome
        fits = self.replaces(own, outcome.found[0], use.name)
        return fits if fits is not None and fits.status is Status.BROKEN else outcome

    def patched(self, index: int, use: Use, outcome: Outcome) -> Outcome | None:
        """An assignment puts a function in place of an upstream one: does it fit?"""
        if not use.value or outcome.status is not Status.OK or len(outcome.found) != 1:
            return None
        own = self.evaluator.own_function(index, use.value)
        if own is None:
            return None
        fits = self.replaces(own, outcome.found[0], "replace")
        return fits if fits is not None and fits.status is Status.BROKEN else None

    def replaces(self, own: tuple[int, int], target: Symbol, kind: str) -> Outcome | None:
        """Whether a function of the plugin takes what a target is called with."""
        record = self.files[own[0]].functions[own[1]]
        node = target.node
        if not isinstance(node, Recorded) or kind not in ("replace", "around", "before", "after"):
            return None
        if record.wrapped or record.kind in ("property", "overload") or node.role & Role.PROPERTY:
            return None
        shift = 1 if kind in ("around", "after") else 0
        return self.accepts(record, target, shift, bool(target.owner))

    def accepts(
        self,
        record: Function,
        target: Symbol,
        shift: int,
        method: bool,
    ) -> Outcome:
        """A misfit between upstream's calls of a target and a function that stands in for it."""
        node = target.node
        assert isinstance(node, Recorded)
        own = [
            Parameter(each.name, ParameterKind(each.kind), "", "..." if each.has_default else "")
            for each in record.parameters
        ]
        theirs = node.parameters
        if method and not node.role & Role.STATIC:
            theirs = theirs[1:]
            if record.kind != "static" and own and own[0].kind <= ParameterKind.POSITIONAL:
                own = own[1:]
        own = own[shift:] if shift and own and own[0].kind <= ParameterKind.POSITIONAL else own
        short = target.qual.rsplit(".", 1)[-1]
        # what only *args and **kwargs of the target would take is meant for another class
        strict = [each for each in theirs if each.kind not in _VARIADIC]
        named = {each.name for each in theirs}
        own_names = {each.name for each in own}
        fitting, problems = 0, []
        for form in self.forms(short, target.owner):
            if misfit(strict, form) is not None:
                continue
            if form.star and not form.positional and not form.keywords:
                continue
            problem = misfit(own, form)
            # a parameter of its own that the target never had is the plugin's affair
            if (problem is not None and problem.what == "missing") and (
                form.star or form.double_star or problem.name not in named
            ):
                problem = None
            if problem is None:
                fitting += 1
            else:
                problems.append((problem, form))
        if not problems:
            return Outcome(Status.OK, found=(target,)) if fitting else UNKNOWN
        problem, form = problems[0]
        return Outcome(
            Status.BROKEN,
            "override",
            target.name,
            owner=target,
            name=self._blame(problem, form, theirs, own_names),
            detail="rare" if len(problems) < _RARE * (fitting + len(problems)) else problem.what,
        )

    def forms(self, name: str, owner: Symbol | None = None) -> list[Shape]:
        """The forms in which the release itself calls something of that name.

        With an owner: those that may be meant for an object of that class, as far as what they are
        called on tells.
        """
        return [
            shape(call)
            for module, call in self.lens.callers(name)
            if call.receiver != "super()"
            and not module.startswith("sglang.test")
            and (owner is None or self.meant_for(module, call.receiver, owner))
        ]

    def meant_for(self, module: str, receiver: str, owner: Symbol) -> bool:
        """Whether a call on a receiver in a module may reach an object of a class."""
        if receiver == "self":
            record = self.lens.module(module)
            if record is None or module == owner.module:
                return True
            return any(self.related(self.lens.find(module, each), owner) for each in record.classes)
        spellings = self.evaluator.known_as.get(receiver, ())
        if is_weak(receiver) or not spellings:
            return True
        return any(self.related(self.lens.parse(each), owner) for each in spellings)

    def related(self, one: Symbol | None, other: Symbol) -> bool:
        """Whether one of two classes derives from the other."""
        if one is None or one.kind != "class":
            return False
        return other in self.lens.mro(one) or one in self.lens.mro(other)

    @staticmethod
    def _blame(problem: Misfit, form: Shape, theirs: Sequence[Parameter], own: set[str]) -> str:
        """The upstream parameter that the plugin's function does not take."""
        if problem.what == "unknown-keyword":
            return problem.name
        for each in theirs:
            if (each.name not in own and each.kind <= ParameterKind.KEYWORD_ONLY) and (
                each.kind != ParameterKind.VAR_POSITIONAL
            ):
                return each.name
        return problem.name

    # -- overrides ---------------------------------------------------------------------------------

    def override(self, check: Check) -> Outcome:
        """A method of an own class against the upstream method it overrides."""
        index, number = check.file, check.number
        qual, _, name = check.name.rpartition(".")
        record = self.files[index].functions[number]
        bases, complete = self.evaluator.upstream_bases(index, qual)
        if not bases:
            return UNKNOWN
        target: Symbol | None = None
        if name == "__init__":
            return self.constructed(index, qual, record, bases)
        for base in bases:
            target = self.lens.member(base, name)
            if target is not None:
                break
        if target is None:
            if not complete or any(self.lens.is_open(base) for base in bases):
                return UNKNOWN
            called = [each for each in self.lens.callers(name) if each[1].receiver != "super()"]
            if called:
                return UNKNOWN
            if self.mentioned(bases, name):
                return UNKNOWN
            return Outcome(
                Status.BROKEN, "orphan", f"{bases[0].name}.{name}", owner=bases[0], name=name
            )
        node = target.node
        if not isinstance(node, Recorded):
            return Outcome(Status.OK, found=(target,))
        if name == "forward" and any(
            each.rsplit(".", 1)[-1] == "Module" for each in self.lens.externals(bases[0])
        ):
            return UNKNOWN  # torch calls it, with whatever the module itself was called with
        plain = record.kind not in ("property", "overload") and not record.wrapped
        if not plain or target.kind == "property" or record.stub:
            return Outcome(Status.OK, found=(target,))
        return self.accepts(record, target, 0, True)

    def mentioned(self, bases: Sequence[Symbol], name: str) -> bool:
        """Whether a base's own modules still name the method: a shim looks it up by its name."""
        seen: set[str] = set()
        for base in bases:
            for each in self.lens.mro(base):
                if each.module in seen:
                    continue
                seen.add(each.module)
                record = self.lens.module(each.module)
                if record is None:
                    continue
                quoted = (f"'{name}'", f'"{name}"')
                for value in record.values.values():
                    if name in value.keys or any(q in value.value for q in quoted):
                        return True
                for klass in record.classes.values():
                    for attribute in klass.attributes.values():
                        if name in attribute.keys or any(q in attribute.value for q in quoted):
                            return True
        return False

    def constructed(
        self, index: int, qual: str, record: Function, bases: Sequence[Symbol]
    ) -> Outcome:
        """An own ``__init__`` that may stand in for the base's: it must take what core passes."""
        if (index, qual) in self.made or record.wrapped or self.elsewhere(index, qual, bases):
            return UNKNOWN
        for base in bases:
            constructor = self.lens.constructor(base)
            if constructor is None or self.lens.is_open(base):
                return UNKNOWN
            theirs = constructor.parameters[1:]
            own = [
                Parameter(
                    each.name, ParameterKind(each.kind), "", "..." if each.has_default else ""
                )
                for each in record.parameters
            ][1:]
            short = base.qual.rsplit(".", 1)[-1]
            calls = [form for form in self.forms(short) if misfit(theirs, form) is None]
            explicit = [each for each in calls if each.positional or each.keywords]
            if not explicit:
                return UNKNOWN
            for form in explicit:
                problem = misfit(own, form)
                if problem is not None:
                    name = self._blame(problem, form, theirs, {each.name for each in own})
                    return Outcome(
                        Status.BROKEN,
                        "override",
                        f"{base.name}.__init__",
                        owner=base,
                        name=name,
                        detail=problem.what,
                    )
            return Outcome(Status.OK, found=(base,))
        return UNKNOWN

    def elsewhere(self, index: int, qual: str, bases: Sequence[Symbol]) -> bool:
        """Whether the plugin hands an own class on, so that who makes it cannot be told.

        One that is put in its base's place is made as the base is.
        """
        for file_index, file in enumerate(self.files):
            for use in file.uses:
                if (use.kind in (UseKind.WRITE, UseKind.HOOK) and use.value) and (
                    self.evaluator.own_class(file_index, use.value) == (index, qual)
                ):
                    return False
        del bases
        short = qual.rsplit(".", 1)[-1]
        return any(short in file.mentions.get(-1, ()) for file in self.files)

    # -- completeness ------------------------------------------------------------------------------

    def complete(self, check: Check) -> Outcome:
        """Whether an own class provides all that its upstream bases require."""
        index, qual = check.file, check.name
        record = self.files[index].classes[qual]
        if record.abstract or record.open or (index, qual) in self.derived:
            return UNKNOWN
        bases, complete = self.evaluator.upstream_bases(index, qual)
        if not bases or not complete:
            return UNKNOWN
        own = self.own_members(index, qual)
        for base in bases:
            if self.lens.kind(base) & Kind.PROTOCOL:
                return UNKNOWN
        missing: list[Symbol] = []
        for base in bases:
            for symbol in self.required(base):
                name = symbol.qual.rsplit(".", 1)[-1]
                if name not in own and not self.provided_elsewhere(bases, symbol, name):
                    missing.append(symbol)
        if not missing:
            return Outcome(Status.OK, found=tuple(bases))
        first = missing[0]
        return Outcome(
            Status.BROKEN,
            "hook-missing",
            first.name,
            owner=bases[0],
            name=first.qual.rsplit(".", 1)[-1],
            found=tuple(dict.fromkeys(missing)),
        )

    def provided_elsewhere(self, bases: Sequence[Symbol], symbol: Symbol, name: str) -> bool:
        """Whether another base implements what one of them requires."""
        for base in bases:
            found = self.lens.member(base, name)
            if (found is not None and found != symbol and isinstance(found.node, Recorded)) and (
                not found.node.role & (Role.ABSTRACT | Role.UNIMPLEMENTED)
            ):
                return True
        return False

    def own_members(self, index: int, qual: str, depth: int = 0) -> set[str]:
        """Names an own class defines, its own bases included."""
        record = self.files[index].classes.get(qual)
        if record is None or depth > 10:
            return set()
        found = set(record.methods) | set(record.attributes)
        for base in record.bases:
            own = self.evaluator.own_class(index, base)
            if own is not None:
                found |= self.own_members(own[0], own[1], depth + 1)
        return found

    def required(self, base: Symbol) -> list[Symbol]:
        """Members of an upstream class that a concrete class has to provide.

        Abstract ones; and those that only raise ``NotImplementedError`` where the release calls
        them (:class:`~sglang_contracts.verify.findings.Findings` asks who else provides them).
        """
        found: list[Symbol] = []
        for name, symbol in self.lens.members(base).items():
            node = symbol.node
            if not isinstance(node, Recorded):
                continue
            if node.role & Role.ABSTRACT or (
                node.role & Role.UNIMPLEMENTED
                and not name.startswith("_")
                and not node.role & Role.PLANNED
                and self.forms(name)
            ):
                found.append(symbol)
        return found


def outcome_of(checker: Checker, check: Check) -> tuple[Outcome, Callable[[], Reach]]:
    """An outcome, and how to find out whether its code runs."""
    outcome = checker.outcome(check)
    file = checker.files[check.file]
    if check.kind == "use":
        guard = file.uses[check.number].guard
    elif check.kind == "clause":
        guard = checker.guard_of(checker.candidates[check.number])
    elif check.kind == "override":
        guard = file.functions[check.number].guard
    else:
        guard = file.classes[check.name].guard
    return outcome, lambda: checker.reach(check.file, guard, outcome.what)


__all__ = ["Check", "Checker", "Class", "Reach", "outcome_of"]
