"""Functions of a plugin that upstream calls: hooks, patches, overrides."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sglang_contracts.plugin.ir.nodes import Call, Dotted
from sglang_contracts.plugin.ir.records import File, Function, Use, UseKind
from sglang_contracts.surface.model import (
    VARIADIC,
    Attribute,
    Parameter,
    ParameterKind,
    Role,
    Value,
)
from sglang_contracts.surface.model import Function as Recorded
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.outcome import UNKNOWN, Outcome, Status
from sglang_contracts.verify.rules.calling import Calling
from sglang_contracts.verify.values.evaluator import Evaluator
from sglang_contracts.verify.values.object_calls import Instances, Site, is_test
from sglang_contracts.verify.values.self_calls import Entered
from sglang_contracts.verify.values.signature_fit import Misfit, Shape, misfit, shape
from sglang_contracts.verify.values.value import ObjectOf, is_weak

_QUOTED = re.compile(r"(?=(['\"])(\w+)\1)")
"""Each word in quotes; one quotation mark may end one and begin the next."""
_RARE = 0.15
"""Share of upstream's call sites below which a new argument is passed on a special path only."""


class StandIns(Calling):
    """Holds a plugin's functions against the calls that upstream makes of them."""

    def __init__(self, evaluator: Evaluator) -> None:
        super().__init__(evaluator)
        self.made = self._made()
        self.put = self._put()
        self.entered = Entered(evaluator)
        self.instances = Instances(evaluator)

    def _put(self) -> set[tuple[int, str]]:
        """Own classes that are written to an attribute of upstream, or given to a hook."""
        found = {
            self.evaluator.index.own_class(index, use.value)
            for index, file in enumerate(self.files)
            for use in file.uses
            if use.kind in (UseKind.WRITE, UseKind.HOOK) and use.value
        }
        return {own for own in found if own is not None}

    def _made(self) -> set[tuple[int, str]]:
        """Own classes that the plugin makes instances of itself."""
        found: set[tuple[int, str]] = set()
        for index, file in enumerate(self.files):
            for node in file.nodes:
                if type(node) is Call:
                    own = self.evaluator.index.own_class(index, node.callee)
                    if own is not None:
                        found.add(own)
        return found

    def hook(self, index: int, file: File, use: Use) -> Outcome:
        """A hook's target, and whether its function fits what the target is called with."""
        node = file.nodes[use.node]
        outcome = self.dotted(node.text) if type(node) is Dotted else UNKNOWN
        if outcome.status is not Status.OK:
            return outcome._replace(what="hook") if outcome.status is Status.BROKEN else outcome
        if not use.value:
            return outcome
        own = self.evaluator.index.own_function(index, use.value)
        if own is None or len(outcome.found) != 1:
            return outcome
        fits = self.replaces(own, outcome.found[0], use.name)
        return fits if fits is not None and fits.status is Status.BROKEN else outcome

    def patched(self, index: int, use: Use, outcome: Outcome) -> Outcome | None:
        """An assignment puts a function in place of an upstream one: does it fit?"""
        if not use.value or outcome.status is not Status.OK or len(outcome.found) != 1:
            return None
        own = self.evaluator.index.own_function(index, use.value)
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
        own_class: tuple[int, str, Sequence[Symbol]] | None = None,
    ) -> Outcome:
        """A misfit between upstream's calls of a target and a function that stands in for it.

        Args:
            record: The plugin's function.
            target: What it stands in for.
            shift: How many leading parameters are its own.
            method: Whether both take ``self``.
            own_class: The class (file, name, its upstream bases) that overrides the target, where
                all its bases are known: calls on ``self`` that cannot reach it do not count.
        """
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
        strict = [each for each in theirs if each.kind not in VARIADIC]
        named = {each.name for each in theirs}
        own_names = {each.name for each in own}
        fitting, problems, demands = 0, [], []
        of_objects = self.called(target)
        by_name: list[Site] = []
        if not of_objects or short != "forward":  # a module's is hardly called by its name
            by_name = self.sites(short, target.owner, own_class)
        for site in [*of_objects, *by_name]:
            form = site.form
            if misfit(strict, form) is not None:
                continue
            if form.star and not form.positional and not form.keywords:
                continue
            problem = misfit(own, form)
            # a parameter of its own is the plugin's affair, as long as some call gives it
            if problem is not None and problem.what == "missing":
                if form.star or form.double_star:
                    problem = None
                elif problem.name not in named:
                    demands.append((problem, site))
                    continue
            if problem is None:
                problem = _moved(own, theirs, form)
            if problem is None:
                fitting += 1
            else:
                problems.append((problem, site))
        if not problems and not fitting:
            problems = demands
        if not problems:
            return Outcome(Status.OK, found=(target,)) if fitting else UNKNOWN
        problem, site = problems[0]
        detail = problem.what
        if len(problems) < _RARE * (fitting + len(problems)):
            wraps = all(
                each not in of_objects and self.wraps(each.module, short) for _, each in problems
            )
            detail = "special" if wraps else "rare"
        return Outcome(
            Status.BROKEN,
            "override",
            target.name,
            owner=target,
            name=self._blame(problem, site.form, theirs, own_names),
            detail=detail,
        )

    def wraps(self, module: str, name: str) -> bool:
        """Whether a module that calls a method has one of that name itself: it wraps others."""
        record = self.lens.module(module)
        return record is not None and any(name in each.methods for each in record.classes.values())

    def called(self, target: Symbol) -> list[Site]:
        """Where the release calls objects of a class as functions, if a method is what runs."""
        owner, name = target.owner, target.qual.rsplit(".", 1)[-1]
        if owner is None or not self.instances.runs(owner, name):
            return []
        return self.instances.sites(owner)

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
                meant = self.entered.reaches(*own_class, module, name) or self.entered.beside(
                    own_class[2], owner, module, name
                )
            else:
                meant = owner is None or self.meant_for(module, call.receiver, owner, name)
            if meant:
                found.append(Site(module, shape(call)))
        return found

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

    def override(self, index: int, number: int, qualified: str) -> Outcome:
        """A method of an own class against the upstream method it overrides."""
        qual, _, name = qualified.rpartition(".")
        record = self.files[index].functions[number]
        bases, complete = self.evaluator.members.upstream_bases(index, qual)
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
            if self.still_called(name, bases):
                return UNKNOWN
            if self.mentioned(bases, name):
                return UNKNOWN
            return Outcome(
                Status.BROKEN, "orphan", f"{bases[0].name}.{name}", owner=bases[0], name=name
            )
        node = target.node
        if not isinstance(node, Recorded):
            return Outcome(Status.OK, found=(target,))
        plain = record.kind not in ("property", "overload") and not record.wrapped
        if not plain or target.kind == "property" or record.stub:
            return Outcome(Status.OK, found=(target,))
        if name == "forward" and self.instances.runs(bases[0], name) and not self.called(target):
            return UNKNOWN  # torch calls it, with whatever the module itself was called with
        own = (index, qual, bases) if complete else None
        fits = self.accepts(record, target, 0, True, own)
        if fits.status is Status.BROKEN:
            return fits
        if record.is_generator:
            return self.defers(target) or fits
        return self.waits(index, record, target) or fits

    def defers(self, target: Symbol) -> Outcome | None:
        """An override that is a generator, of what does its work when it is called."""
        node = target.node
        assert isinstance(node, Recorded)
        idle = Role.GENERATOR | Role.ABSTRACT | Role.UNIMPLEMENTED | Role.EMPTY
        if node.role & (idle | Role.CONTEXT_MANAGER) or node.decorators:
            return None
        return Outcome(Status.BROKEN, "override", target.name, owner=target, detail="deferred")

    def waits(self, index: int, record: Function, target: Symbol) -> Outcome | None:
        """An override that gives no coroutine where SGLang awaits one, or the other way round."""
        node = target.node
        assert isinstance(node, Recorded)
        if node.role & (Role.GENERATOR | Role.CONTEXT_MANAGER) or node.decorators:
            return None
        theirs = bool(node.role & Role.ASYNC)
        handed_on = any(type(self.files[index].nodes[each]) is Call for each in record.returns)
        if theirs == record.is_async or (theirs and handed_on):
            return None
        return Outcome(
            Status.BROKEN,
            "override",
            target.name,
            owner=target,
            detail="awaited" if theirs else "not-awaited",
        )

    def still_called(self, name: str, bases: Sequence[Symbol]) -> bool:
        """Whether the release may still call something of that name on an object of a class.

        What is called on an object of which nothing is known is meant for the classes that define
        it; only where none does, for whoever has it.
        """
        others: bool | None = None
        for module, call in self.lens.callers(name):
            if call.receiver == "super()":
                continue
            known = call.receiver == "self" or (
                call.receiver in self.evaluator.members.known_as and not is_weak(call.receiver)
            )
            if not known:
                if others is None:
                    others = self._defined_by_others(name, bases)
                if not others:
                    return True
            elif any(self.meant_for(module, call.receiver, base) for base in bases):
                return True
        return False

    def _defined_by_others(self, name: str, bases: Sequence[Symbol]) -> bool:
        """Whether classes have a method of that name, and none of them is related to a base."""
        below = {each.name for each in bases}
        above = {each.name for base in bases for each in self.lens.mro(base)}
        for definer in self.lens.definers(name):
            if definer[0] in above or not below.isdisjoint(definer):
                return False
        return any(":" in each for each in self.lens.places(name))

    def mentioned(self, bases: Sequence[Symbol], name: str) -> bool:
        """Whether a base's own modules still name the method: a shim looks it up by its name."""
        modules = dict.fromkeys(each.module for base in bases for each in self.lens.mro(base))
        return any(name in self.quoted(module) for module in modules)

    def quoted(self, module: str) -> frozenset[str]:
        """Names that stand as strings or as keys in what a module, or a class of it, holds."""

        def work() -> frozenset[str]:
            record = self.lens.module(module)
            if record is None:
                return frozenset()
            held: list[Attribute | Value] = list(record.values.values())
            for each in record.classes.values():
                held += each.attributes.values()
            found = {key for each in held for key in each.keys}
            found.update(text for each in held for _, text in _QUOTED.findall(each.value))
            return frozenset(found)

        return self.lens.once(("quoted", module), work)

    def constructed(
        self, index: int, qual: str, record: Function, bases: Sequence[Symbol]
    ) -> Outcome:
        """An own ``__init__`` that may stand in for the base's: it must take what core passes."""
        if (index, qual) in self.made or record.wrapped or self.elsewhere(index, qual):
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
            forms = [site.form for site in self.sites(short)]
            calls = [form for form in forms if misfit(theirs, form) is None]
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

    def elsewhere(self, index: int, qual: str) -> bool:
        """Whether the plugin hands an own class on, so that who makes it cannot be told.

        One that is put in its base's place is made as the base is.
        """
        if (index, qual) in self.put:
            return False
        short = qual.rsplit(".", 1)[-1]
        return any(short in file.mentions.get(-1, ()) for file in self.files)


def _moved(own: Sequence[Parameter], theirs: Sequence[Parameter], form: Shape) -> Misfit | None:
    """An own parameter that another of upstream's arguments lands on."""
    ours = [each.name for each in own if each.kind <= ParameterKind.POSITIONAL]
    names = [each.name for each in theirs if each.kind <= ParameterKind.POSITIONAL]
    for name, other in zip(ours[: form.positional], names, strict=False):
        if name != other and name in names and other not in ours:
            return Misfit("moved", other)
    return None
