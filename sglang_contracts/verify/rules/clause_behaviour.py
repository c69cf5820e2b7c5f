"""Contract clauses on the plugin itself: changes of meaning, and obligations of its objects.

A change of meaning is reported only to the side that it hits (:class:`~.contract.model.On`); what
touches the symbol is found as all uses are, by what it resolves to.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from sglang_contracts.contract.model import Clause, Kind, On, Role
from sglang_contracts.plugin.ir.nodes import (
    Attr,
    Call,
    Dotted,
    Import,
    Partial,
)
from sglang_contracts.plugin.ir.records import File, Form, Function, Use, UseKind
from sglang_contracts.surface.model import Function as Recorded
from sglang_contracts.surface.model import ParameterKind
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.outcome import UNKNOWN, Outcome, Status
from sglang_contracts.verify.rules import plugin_facts
from sglang_contracts.verify.rules.argument_handling import (
    asks,
    hands_on,
    is_of_type,
    passes_on,
)
from sglang_contracts.verify.rules.clause_candidates import Candidate, last
from sglang_contracts.verify.rules.clause_obligation import unmet_obligation
from sglang_contracts.verify.rules.open_to_writes import open_to_writes
from sglang_contracts.verify.silences import reasons
from sglang_contracts.verify.values.value import (
    Alternative,
    ClassRef,
    FunctionRef,
    ObjectOf,
)

if TYPE_CHECKING:
    from sglang_contracts.verify.rules.detection import Detection

_CALLS = frozenset({UseKind.CALL, UseKind.UNPACK})


class Hit(NamedTuple):
    """What a clause hits of a candidate."""

    named: str = ""
    """The conventional name it rests on; empty: none."""
    detail: str = ""
    """``unproven``: an argument may be of the type that the clause leaves alone. ``handed-on``:
    what it is about only goes on to somebody else, or comes from there."""
    silence: str = ""
    """The reason for which nothing is said of it; empty: there is none."""


class Behaviours:
    """Judges candidates in each release.

    Args:
        state: What detections share.
        clauses: Behaviours and obligations.
    """

    def __init__(self, state: Detection, clauses: Sequence[Clause]) -> None:
        self.state = state
        self.evaluator = state.evaluator
        self.lens = state.lens
        self.files = state.files
        self.clauses = clauses
        self._keys: set[str] | None = None

    def outcome(self, candidate: Candidate) -> Outcome:
        """How a candidate fares, were its clause in force in the present release."""
        clause = self.clauses[candidate.clause]
        if clause.kind is Kind.OBLIGATION:
            return unmet_obligation(self.state, candidate, clause, self._mentions)
        on = clause.on
        assert on is not None
        hit = self._hit(candidate, on)
        if hit is None:
            return UNKNOWN
        made = Outcome(
            Status.BROKEN,
            "behaviour",
            clause.symbols[0] if clause.symbols else on.symbol,
            name=clause.id,
            detail=hit.detail,
            named=hit.named,
        )
        return made.silenced(hit.silence) if hit.silence else made

    def in_force(self, clause: int, releases: Sequence[str]) -> list[bool]:
        """In which releases a clause holds."""
        return [self.clauses[clause].holds_in(release) for release in releases]

    @functools.cached_property
    def _mentions(self) -> frozenset[str]:
        """Names that stand anywhere in the plugin."""
        return frozenset(name for file in self.files for name in file.mentions.get(-1, ()))

    def _hit(self, candidate: Candidate, on: On) -> Hit | None:
        """What a clause hits of a candidate; None where it leaves it alone."""
        file = self.files[candidate.file]
        hit = self._touch(candidate, file, on)
        if hit is None:
            return None
        loose = bool(hit.named) or on.symbol.startswith("flag:")
        if reasons.OTHER_ENGINE.holds(loose and file.foreign):
            return hit._replace(silence=reasons.OTHER_ENGINE.id)
        if not on.unless_mentions:
            return hit
        if reasons.MENTIONED.holds(self._mentioned(candidate, file, on.unless_mentions)):
            return hit._replace(silence=reasons.MENTIONED.id)
        return hit

    def _touch(self, candidate: Candidate, file: File, on: On) -> Hit | None:
        """What a clause is about of a candidate, whatever stands around it."""
        if (on.mentions and not self._mentioned(candidate, file, on.mentions)) and (
            candidate.kind != "class" or not set(on.mentions) & set(file.mentions.get(-1, ()))
        ):
            return None
        if candidate.kind == "class":
            return Hit() if self._subclass(candidate, on) else None
        if candidate.kind == "method":
            return self._overrides(candidate, on)
        use = file.uses[candidate.number]
        match on.role:
            case Role.LAUNCHER:
                return Hit() if not on.key or use.text == on.key else None
            case Role.CALLER:
                return self._calls(candidate, file, use, on)
            case Role.REGISTRAR:
                return self._registers(candidate, file, use, on)
            case Role.OVERRIDER:
                return self._replaces(candidate, file, use, on)
            case Role.WRITER:
                return self._writes(candidate, file, use, on)
            case Role.READER:
                return self._reads(candidate, file, use, on)
            case Role.INSPECTOR:
                spelled = not on.text or any(
                    text in string for text in on.text for string in file.strings
                )
                return self._touched(candidate.file, use, on) if spelled else None
            case Role.IMPORTER:
                return self._touched(candidate.file, use, on)
        return None

    def _mentioned(self, candidate: Candidate, file: File, names_wanted: Sequence[str]) -> bool:
        """Whether one of these names stands near the place: in its function, class or module."""
        wanted = set(names_wanted)
        if candidate.kind == "method":
            return bool(wanted & set(file.mentions.get(candidate.number, ())))
        if candidate.kind == "class":
            record = file.classes[candidate.name]
            names: set[str] = set(record.attributes)
            for method, number in record.methods.items():
                names.add(method)
                names.update(file.mentions.get(number, ()))
            return bool(wanted & names)
        use = file.uses[candidate.number]
        place = use.function
        if use.kind in (UseKind.WRITE, UseKind.HOOK) and use.value:
            own = self.evaluator.index.own_function(candidate.file, use.value)
            if own is not None:
                return bool(wanted & set(self.files[own[0]].mentions.get(own[1], ())))
        node = file.nodes[use.node]
        if isinstance(node, Call) and self._made_by(candidate.file, file.forms[node.form], wanted):
            return True
        return bool(wanted & set(file.mentions.get(place if place >= 0 else -1, ())))

    def _made_by(self, index: int, form: Form, wanted: set[str]) -> bool:
        """Whether a keyword argument is what a function of the plugin gives that names one."""
        for given in form.keywords.values():
            node = self.files[index].nodes[given]
            callee = node.callee if type(node) is Call else 0
            own = self.evaluator.index.own_function(index, callee)
            if own is not None and wanted & set(self.files[own[0]].mentions.get(own[1], ())):
                return True
        return False

    # -- what is touched ---------------------------------------------------------------------------

    def _same(self, found: Symbol | None, wanted: str) -> bool:
        """Whether something that was found is the symbol, or the same member of a relative."""
        if found is None:
            return False
        target = self.lens.parse(wanted.removesuffix(".__init__"))
        if target is None:
            return found.name == wanted or (
                found.qual == wanted.partition(":")[2] and found.owner is not None
            )
        if (found.module, found.qual) == (target.module, target.qual):
            return True
        if found.owner is None or target.owner is None:
            return False
        if found.qual.rsplit(".", 1)[-1] != target.qual.rsplit(".", 1)[-1]:
            return False
        return target.owner in self.lens.mro(found.owner) or found.owner in self.lens.mro(
            target.owner
        )

    def _resolved(self, index: int, node: int) -> tuple[list[Symbol], str]:
        """What a node resolves to, symbols only; and the conventional name that rests on."""
        held = self.files[index].nodes[node]
        found: list[Symbol] = []
        named = ""
        if type(held) is Attr:
            value = self.evaluator.value(index, held.base)
            named = value.named
            look = self.evaluator.members.look(value, held.name)
            found += look.found
        for each in self.evaluator.value(index, node).alternatives:
            if type(each) is ClassRef or type(each) is FunctionRef:
                found.append(each.symbol)
        if type(held) is Dotted:
            symbol = self.evaluator.members.resolve(held.text)
            if symbol is not None:
                found.append(symbol)
        if type(held) is Import and held.name:
            symbol = self.lens.find(held.module, held.name)
            if symbol is not None:
                found.append(symbol)
        return found, named

    def _touched(self, index: int, use: Use, on: On) -> Hit | None:
        """Whether a use is one of the clause's symbol."""
        file = self.files[index]
        node = use.node
        held = file.nodes[node]
        if use.kind is UseKind.CALL and isinstance(held, (Call, Partial)):
            node = held.callee
        found, named = self._resolved(index, node)
        if any(self._same(each, on.symbol) for each in found):
            return Hit(named)
        held = file.nodes[node]
        itself = type(held) is Import and f"{held.module}:{held.name}" == on.symbol
        return Hit(named) if itself else None

    # -- roles -------------------------------------------------------------------------------------

    def _calls(self, candidate: Candidate, file: File, use: Use, on: On) -> Hit | None:
        index = candidate.file
        hit = self._touched(index, use, on)
        if hit is None:
            return None
        node = file.nodes[use.node]
        if not isinstance(node, (Call, Partial)):
            return None
        form = file.forms[node.form]
        if on.argument or on.position >= 0:
            given = form.keywords.get(on.argument)
            if given is None and 0 <= on.position < len(form.positional):
                given = form.positional[on.position]
            if given is None:
                return None
            if on.unless_type:
                if is_of_type(self.state, index, given, on):
                    return None
                if not self.evaluator.value(index, given).alternatives:
                    hit = hit._replace(detail="unproven")
        if any(each not in form.keywords for each in on.with_arguments):
            return None
        if on.without_arguments:
            if form.double_star:
                return None
            taken = set(form.keywords) | self._by_position(index, node.callee, form)
            if taken & set(on.without_arguments):
                return None
        if on.reads and not self._read_after(index, file, use, node, on):
            return None
        unpacked = not on.unpacks or any(
            other.kind is UseKind.UNPACK and other.node == use.node and other.count == on.unpacks
            for other in file.uses
        )
        return hit if unpacked else None

    def _by_position(self, index: int, callee: int, form: Form) -> set[str]:
        """Names of the parameters that positional arguments land on."""
        names: set[str] = set()
        for symbol in self._resolved(index, callee)[0]:
            if isinstance(symbol.node, Recorded):
                skip = 1 if symbol.owner is not None else 0
                positional = [
                    each.name
                    for each in symbol.node.parameters[skip:]
                    if each.kind <= ParameterKind.POSITIONAL
                ]
                names.update(positional[: len(form.positional)])
        return names

    def _read_after(self, index: int, file: File, use: Use, node: Call | Partial, on: On) -> bool:
        """Whether one of the attributes is read off what the call concerns."""
        callee = file.nodes[node.callee]
        if on.off == "result":
            off = {use.node}
        elif on.off == "argument":
            form = file.forms[node.form]
            off = {*form.positional, *form.keywords.values()}
        else:
            off = {callee.base} if type(callee) is Attr else set()
        for other in file.uses:
            if other.kind not in (UseKind.READ, UseKind.PROBE) or other.line < use.line:
                continue
            held = file.nodes[other.node]
            if type(held) is Attr and held.name in on.reads and held.base in off:
                return other.function == use.function or on.off == "result"
        return False

    def _registers(self, candidate: Candidate, file: File, use: Use, on: On) -> Hit | None:
        if on.key and use.name != on.key:
            return None
        if on.without_key:
            if self._keys is None:
                self._keys = {
                    one.name
                    for each in self.files
                    for one in each.uses
                    if one.kind is UseKind.REGISTER
                }
            if on.without_key in self._keys:
                return None
        bare = on.symbol.partition("[")[0]
        node = file.nodes[use.node]
        names = {last(bare)}
        found, named = self._resolved(candidate.file, use.node)
        if (not any(each.name == bare or self._same(each, bare) for each in found)) and (
            not isinstance(node, (Import, Attr)) or node.name not in names
        ):
            return None
        if on.requires_parameters or on.lacks_parameters:
            own = self.evaluator.index.own_class(candidate.file, use.value) if use.value else None
            if own is None:
                return None
            return Hit(named) if self._constructor(own[0], own[1], on) else None
        return Hit(named)

    def _replaces(self, candidate: Candidate, file: File, use: Use, on: On) -> Hit | None:
        hit = self._touched(candidate.file, use, on) if use.value else None
        if hit is None:
            return None
        own = self.evaluator.index.own_function(candidate.file, use.value)
        if own is None:
            return None
        if reasons.ASKS_ITSELF.holds(asks(self.state, own[0], own[1], on)):
            return hit._replace(silence=reasons.ASKS_ITSELF.id)
        its, number = self.files[own[0]], own[1]
        if not self._parameters(its.functions[number], on, 1):
            return None
        handed_on = hands_on(its, number, on, use.name == "around")
        return hit._replace(detail="handed-on") if handed_on else hit

    def _overrides(self, candidate: Candidate, on: On) -> Hit | None:
        qual, _, name = candidate.name.rpartition(".")
        bases, _ = self.evaluator.members.upstream_bases(candidate.file, qual)
        found = [self.lens.member(base, name) for base in bases]
        if not any(self._same(each, on.symbol) for each in found):
            return None
        target = self.lens.parse(on.symbol)
        owner = target.owner if target is not None else None
        # a class beside the one that a clause speaks of only shares a base with it
        if owner is not None and not any(owner in self.lens.mro(base) for base in bases):
            return None
        file = self.files[candidate.file]
        record = file.functions[candidate.number]
        if record.stub:
            return None
        if reasons.ASKS_ITSELF.holds(asks(self.state, candidate.file, candidate.number, on)):
            return Hit(silence=reasons.ASKS_ITSELF.id)
        if on.argument or on.position >= 0:
            handed_on = passes_on(file, candidate.number, on.argument)
        else:
            handed_on = hands_on(file, candidate.number, on)
        if not self._parameters(record, on, 1):
            return None
        return Hit(detail="handed-on" if handed_on else "")

    def _parameters(self, record: Function, on: On, skip: int) -> bool:
        names = [each.name for each in record.parameters]
        own = names[skip:] if names[:1] == ["self"] else names
        if on.argument or on.position >= 0:
            at = 0 <= on.position < len(own)
            if on.argument and on.argument not in own and not at:
                return False
            if at and any(each.kind == 2 for each in record.parameters[: on.position + 2]):
                return False
        if on.requires_parameters and not any(
            each.name in on.requires_parameters and not each.has_default
            for each in record.parameters
        ):
            return False
        if on.lacks_parameters:
            if any(each.kind == 4 for each in record.parameters):
                return False
            if any(each in names for each in on.lacks_parameters):
                return False
        return True

    def _subclass(self, candidate: Candidate, on: On) -> bool:
        index, qual = candidate.file, candidate.name
        record = self.files[index].classes[qual]
        bases, _ = self.evaluator.members.upstream_bases(index, qual)
        target = self.lens.parse(on.symbol)
        if target is None or not any(target in self.lens.mro(base) for base in bases):
            return False
        members = plugin_facts.own_members(self.state, index, qual)
        if on.defines and not members & set(on.defines):
            return False
        if on.lacks:
            if members & set(on.lacks) or record.open:
                return False
            if any(self._between(base, target, name) for base in bases for name in on.lacks):
                return False
            if (index, qual) in self.state.extended:
                return False
        if on.requires_parameters or on.lacks_parameters:
            return self._constructor(index, qual, on)
        return True

    def _between(self, base: Symbol, target: Symbol, name: str) -> bool:
        """Whether a class of SGLang's below a clause's own gives what the clause misses."""
        found = self.lens.member(base, name)
        return (
            found is not None
            and found.owner is not None
            and found.owner != target
            and (target in self.lens.mro(found.owner))
        )

    def _constructor(self, index: int, qual: str, on: On) -> bool:
        record = self.files[index].classes.get(qual)
        if record is None or "__init__" not in record.methods:
            return False
        return self._parameters(self.files[index].functions[record.methods["__init__"]], on, 1)

    def _writes(self, candidate: Candidate, file: File, use: Use, on: On) -> Hit | None:
        if use.kind is UseKind.ENVIRONMENT:
            return Hit()
        node = file.nodes[use.node]
        if type(node) is not Attr:
            return None
        value = self.evaluator.value(candidate.file, node.base)
        hit = Hit(value.named)
        if "*" in on.writes and any(type(each) is ClassRef for each in value.alternatives):
            return None  # ``Class.method = …`` is no write on an object of it
        base = file.nodes[node.base]
        if "*" in on.writes and reasons.OPEN_TO_WRITES.holds(
            open_to_writes(self.state, candidate.file, node.base, on)
        ):
            hit = hit._replace(silence=reasons.OPEN_TO_WRITES.id)
        elif reasons.NAME_DISAGREES.holds(
            "*" in on.writes and bool(value.named) and not self._holds(node.name, on)
        ):
            hit = hit._replace(silence=reasons.NAME_DISAGREES.id)
        if type(base) is Import and f"{base.module}:{base.name}" == on.symbol:
            return hit if "*" in on.writes or node.name in on.writes else None  # a module's object
        if self._off(value.alternatives, node.name, on):
            return hit
        return self._touched(candidate.file, use, on)

    def _holds(self, attribute: str, on: On) -> bool:
        """Whether objects of the clause's class have an attribute."""
        target = self.lens.parse(on.symbol)
        return target is None or self.lens.member(target, attribute) is not None

    def _reads(self, candidate: Candidate, file: File, use: Use, on: On) -> Hit | None:
        if use.kind is UseKind.ENVIRONMENT:
            return Hit()
        node = file.nodes[use.node]
        if type(node) is not Attr:
            return None
        value = self.evaluator.value(candidate.file, node.base)
        if on.symbol.startswith("flag:"):
            return Hit() if not value.alternatives or value.named else None
        if on.reads:
            return Hit(value.named) if self._off(value.alternatives, node.name, on) else None
        return self._touched(candidate.file, use, on)

    def _off(self, alternatives: Sequence[Alternative], attribute: str, on: On) -> bool:
        """Whether an attribute is on an object of the clause's class (or on its very object)."""
        bare = on.symbol.removesuffix(".__setattr__").removesuffix(".__init__")
        target = self.lens.parse(bare)
        for each in alternatives:
            if target is None or not isinstance(each, (ObjectOf, ClassRef)):
                continue
            symbol = each.symbol
            if target.kind == "class" and target in self.lens.mro(symbol):
                return True
            if (target.owner is not None and target.qual.endswith(f".{attribute}")) and (
                target.owner in self.lens.mro(symbol)
            ):
                return True
        return False
