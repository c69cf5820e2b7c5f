"""What took the place of something that a release has lost, and why we think so.

Evidence, strongest first: a contract says so; upstream's own message says so; the same name is
defined elsewhere now; what upstream's own users of the lost thing use instead; a member that came
when the lost one went and looks like it; a name that is nearly the same. Where none of it holds,
nothing is suggested. Kind and shape have to agree. How sure each has to be was set by what
``benchmarks/suggestions.py`` measures: of what is suggested nine in ten are right, for each kind of
evidence.
"""

from __future__ import annotations

from sglang_contracts.surface.catalog import Catalog
from sglang_contracts.surface.model import Class
from sglang_contracts.surface.surface import Surface
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.findings.finding import Suggestion
from sglang_contracts.verify.suggest import renames
from sglang_contracts.verify.suggest.call_forms import Contracted, Forms
from sglang_contracts.verify.suggest.likeness import (
    likeness,
    nearness,
    neighbours,
    renamed_alike,
    same_shape,
    words,
)

_USED_INSTEAD = 0.45
"""How alike the name has to be that upstream's own users import instead,"""
_USED_SHAPE = 0.25
"""and how alike the shape of a class."""
_IN_ITS_PLACE = 0.5
"""How alike a new name has to be that stands where the lost one stood,"""
_OF_ITS_TYPE = 0.7
"""and one that has just its signature."""
_SIMILAR_SHAPE = 0.3
"""How alike the shape of what has nearly the same name."""
_MODULE_RENAMED = 0.8
"""How alike the name of a new module has to be, beside the lost one."""
_CONTRACTED = 20
"""How much it weighs where the class went that a module is named after."""


class Replacements(Forms):
    """Suggestions between pairs of releases, each worked out once."""

    def __init__(self, catalog: Catalog, contracted: Contracted | None = None) -> None:
        super().__init__(catalog, contracted)
        self._held: dict[tuple[str, ...], Suggestion | None] = {}
        self._users: dict[tuple[str, str], dict[tuple[str, str], set[str]]] = {}

    def of_symbol(
        self, written: str, found: Symbol | None, old: str, new: str, *, forward: bool = True
    ) -> Suggestion | None:
        """For a name that a module no longer has.

        Args:
            written: ``module:Qual`` as the plugin wrote it.
            found: What it resolved to in ``old``.
            old: A release that has it.
            new: One that does not.
            forward: Whether it was lost; otherwise it is not there yet, and only the very same
                thing in another place is an answer.
        """
        if not forward and self._is_nowhere(written, found, new):
            return None
        key = ("symbol", written, old, new)
        if key not in self._held:
            self._held[key] = self._of_symbol(written, found, old, new, forward)
        return self._held[key]

    def _of_symbol(
        self, written: str, found: Symbol | None, old: str, new: str, forward: bool
    ) -> Suggestion | None:
        for name in dict.fromkeys((written, found.name if found else written)):
            said = self.contract(name, new)
            if said is not None:
                return said
        module, _, qual = written.partition(":")
        before, after = self.catalog.surface(old), self.catalog.surface(new)
        if not qual:
            return self._of_module(module, before, after) if forward else None
        name = qual.rsplit(".", 1)[-1]
        if found is not None:
            found = before.find(found.module, found.qual) or found
        if "." in qual and found is not None and found.owner is not None:
            return self.of_member(found, old, new)
        if found is not None and found.kind == "module":
            return self._of_module(found.module, before, after)
        moved = self._elsewhere(name, found, before, after)
        if moved is not None or not forward:
            return moved
        used = self._by_users(module, name, found, before, after)
        if used is not None:
            return used
        return self._similar_top(module, name, found, before, after)

    def _is_nowhere(self, written: str, found: Symbol | None, release: str) -> bool:
        """Whether a release has nothing in place of a name that it does not have yet.

        It is asked of each release before one that has it: nearly always there is nothing.
        """
        if self.contract(written, release) is not None:
            return False
        if found is not None and (found.owner is not None or found.kind == "module"):
            return False
        if found is not None and self.contract(found.name, release) is not None:
            return False
        qual = written.partition(":")[2]
        name = qual.rsplit(".", 1)[-1]
        return not qual or not self._modules(name, self.catalog.surface(release))

    @staticmethod
    def _modules(name: str, surface: Surface) -> list[str]:
        """Modules that define a name at their top level."""
        return [place for place in surface.places(name) if ":" not in place]

    def _elsewhere(
        self, name: str, found: Symbol | None, before: Surface, after: Surface
    ) -> Suggestion | None:
        """The same name, defined in another module now."""
        modules = self._modules(name, after)
        if not modules:
            return None
        old_places = set(before.places(name))
        candidates: list[tuple[float, str]] = []
        for module in modules:
            symbol = after.top(module, name)
            if symbol is None or (found is not None and symbol.kind != found.kind):
                continue
            score = 0.0 if module in old_places else 2.0
            if found is not None:
                score += same_shape(found, symbol)
                score += nearness(found.module, module)
                # A module that moved as a whole keeps its own name: that is the likeliest place.
                if module.rpartition(".")[2] == found.module.rpartition(".")[2]:
                    score += 1.5
            candidates.append((score, symbol.name))
        if not candidates:
            return None
        best = max(candidates, key=lambda each: (each[0], -len(each[1])))
        if found is not None and best[0] < 1.5:
            return None
        return Suggestion(best[1], "moved")

    def _by_users(
        self, module: str, name: str, found: Symbol | None, before: Surface, after: Surface
    ) -> Suggestion | None:
        """What the modules that imported the lost name import instead."""
        homes = {module, found.module if found else module}
        votes: dict[tuple[str, str], int] = {}
        users = self.importers(before, after, homes, name)
        for user in users:
            one, two = before.module(user), after.module(user)
            if one is None or two is None:
                continue
            had = {(each.module, each.name) for each in one.imports.values()}
            for each in two.imports.values():
                target = (each.module, each.name)
                if each.name and target not in had and each.module.startswith("sglang"):
                    votes[target] = votes.get(target, 0) + 1
        best: tuple[float, tuple[str, str]] | None = None
        for target, count in votes.items():
            alike = likeness(name, target[1])
            symbol = after.find(target[0], target[1])
            if symbol is None or alike < _USED_INSTEAD:
                continue
            if words(name)[-1] not in words(target[1]):
                continue  # what the name says that it is
            if found is not None and (
                symbol.kind != found.kind
                or (symbol.kind == "class" and same_shape(found, symbol) < _USED_SHAPE)
            ):
                continue
            score = alike + 0.5 * count / max(len(users), 1)
            if best is None or score > best[0]:
                best = (score, target)
        if best is None:
            return None
        return Suggestion(f"{best[1][0]}:{best[1][1]}", "upstream-body")

    def importers(self, before: Surface, after: Surface, modules: set[str], name: str) -> list[str]:
        """Modules that imported a name and had to change with it: the next release has to tell."""
        if self.catalog.pack(after.release).header.base != before.release:
            return []
        key = (before.release, after.release)
        table = self._users.get(key)
        if table is None:
            table = self._users[key] = {}
            for user in sorted(self.catalog.changed(after.release)):
                if ".multimodal_gen." in user or ".test" in user:
                    continue
                record = before.module(user)
                if record is None:
                    continue
                for each in record.imports.values():
                    if each.name:
                        table.setdefault((each.module, each.name), set()).add(user)
        found: set[str] = set()
        for module in modules:
            found |= table.get((module, name), set())
        return sorted(found)

    def _similar_top(
        self, module: str, name: str, found: Symbol | None, before: Surface, after: Surface
    ) -> Suggestion | None:
        """A new name of the same kind, nearly the same, in the same module or package."""
        best: tuple[float, str] | None = None
        package = module.rpartition(".")[0]
        for other in after.module_names():
            if (other != module and other.rpartition(".")[0] != package) and (
                not other.startswith(module + ".")
            ):
                continue
            record = after.module(other)
            if record is None:
                continue
            had = before.module(other)
            for names in (record.classes, record.functions, record.values):
                for each in names:
                    if had is not None and (
                        each in had.classes or each in had.functions or each in had.values
                    ):
                        continue
                    symbol = after.top(other, each)
                    if symbol is None or (found is not None and symbol.kind != found.kind):
                        continue
                    if found is not None and same_shape(found, symbol) < _SIMILAR_SHAPE:
                        continue
                    alike = likeness(name, each)
                    if renamed_alike(name, each) and (best is None or alike > best[0]):
                        best = (alike, symbol.name)
        return Suggestion(best[1], "similar-name") if best is not None else None

    def _of_module(self, module: str, before: Surface, after: Surface) -> Suggestion | None:
        """Where the contents of a module went."""
        record = before.module(module)
        last = module.rpartition(".")[2]
        votes: dict[str, float] = {}
        if record is not None:
            names = [*record.classes, *record.functions]
            for name in names[:60]:
                old = set(before.places(name))
                for place in after.places(name):
                    if ":" not in place and place not in old:
                        votes[place] = votes.get(place, 0) + 1
                said = self.contract(f"{module}:{name}", after.release)
                if said is not None and ":" in said.symbol and " " not in said.symbol:
                    place = said.symbol.partition(":")[0]
                    weight = _CONTRACTED if words(name) == words(last) else 1
                    votes[place] = votes.get(place, 0) + weight
        if votes:
            best = max(votes, key=lambda each: (votes[each], nearness(module, each), -len(each)))
            while "." in best:  # a whole new package is named by its top
                package = best.rpartition(".")[0]
                if before.has_module(package) or votes[max(votes, key=votes.__getitem__)] > 3:
                    break
                best = package
            return Suggestion(best, "moved")
        package = module.rpartition(".")[0]
        found: tuple[float, str] | None = None
        for other in after.module_names():
            if other in before.module_names():
                continue
            alike = likeness(last, other.rpartition(".")[2])
            if other.rpartition(".")[0] == package:
                alike += 0.2
            elif alike < 0.95:
                continue
            if alike >= _MODULE_RENAMED and (found is None or alike > found[0]):
                found = (alike, other)
        return Suggestion(found[1], "similar-name") if found is not None else None

    def of_member(self, found: Symbol, old: str, new: str) -> Suggestion | None:
        """For a member that a class no longer has (``found``: what it was in ``old``)."""
        key = ("member", found.name, old, new)
        if key not in self._held:
            self._held[key] = self._of_member(found, old, new)
        return self._held[key]

    def _of_member(self, found: Symbol, old: str, new: str) -> Suggestion | None:
        said = self.contract(found.name, new)
        if said is not None:
            return said
        before, after = self.catalog.surface(old), self.catalog.surface(new)
        owner = found.owner
        name = found.qual.rsplit(".", 1)[-1]
        if owner is None:
            return None
        was = before.find(owner.module, owner.qual) or owner
        now = self._class_now(owner, after)
        if now is not None and isinstance(was.node, Class) and isinstance(now.node, Class):
            exchanged = renames.renamed(name, was.node, now.node)
            if exchanged is not None and exchanged.startswith("_") <= name.startswith("_"):
                return self._member_suggestion(now, exchanged, "same-position")
        renamed = None
        if now is not None:
            renamed = self._renamed(found, name, was, now, before, after)
        sure = renamed is not None and renamed[0] >= 0.75 and renamed[2] != "similar-name"
        places = self._new_places(name, before, after, was)
        top = [each for each in places if each[1]]
        if top:
            return top[0][0]
        if sure and renamed is not None and now is not None:
            return self._member_suggestion(now, renamed[1], renamed[2])
        getter = [each for each in self._new_places(f"get_{name}", before, after, was) if each[1]]
        if getter:
            return getter[0][0]
        if renamed is not None and renamed[0] >= 0.75 and now is not None:
            return self._member_suggestion(now, renamed[1], renamed[2])
        if places and len(words(name)) > 1:
            return places[0][0]
        if renamed is not None and now is not None:
            return self._member_suggestion(now, renamed[1], renamed[2])
        return None

    @staticmethod
    def _member_suggestion(now: Symbol, name: str, evidence: str) -> Suggestion:
        return Suggestion(
            f"{now.qual.rsplit('.', 1)[-1]}.{name}", evidence, note=f"{now.name}.{name}"
        )

    @staticmethod
    def _class_now(owner: Symbol, after: Surface) -> Symbol | None:
        found = after.find(owner.module, owner.qual)
        if found is not None and found.kind == "class":
            return found
        for place in after.places(owner.qual):
            if ":" not in place:
                other = after.top(place, owner.qual)
                if other is not None and other.kind == "class":
                    return other
        return None

    def _renamed(
        self,
        found: Symbol,
        name: str,
        was: Symbol,
        now: Symbol,
        before: Surface,
        after: Surface,
    ) -> tuple[float, str, str] | None:
        """The member of the class that looks like the lost one: score, name, evidence."""
        had, has = before.members(was), after.members(now)
        lost = [each for each in had if each not in has]
        best: tuple[float, str, str] | None = None
        for other, symbol in has.items():
            if not _same_kind(found, symbol) or other.startswith("_") > name.startswith("_"):
                continue
            new = other not in had
            alike, shape = likeness(name, other), same_shape(found, symbol)
            spelled = renamed_alike(name, other)
            evidence = ""
            score = alike
            if new:
                score += 0.2 + (0.25 * shape if shape >= 0.5 else 0)
                if spelled and shape >= _SIMILAR_SHAPE:
                    evidence = "similar-name"
                if shape >= 0.9 and (spelled or (alike >= _OF_ITS_TYPE and found.kind == "method")):
                    evidence = "same-annotation"
                if neighbours(list(had), name, list(has), other):
                    score += 0.2
                    if len(lost) <= 3:
                        score += 0.15
                        if alike >= _IN_ITS_PLACE:
                            evidence = "same-position"
            elif words(name) == words(other) or (spelled and len(words(other)) > len(words(name))):
                evidence = "similar-name"  # there before, and what is left of the two
            if words(name) == words(other):
                score += 0.5  # one for all, or all for one
            if evidence and score >= 0.62 and (best is None or score > best[0]):
                best = (score, other, evidence)
        return best

    def _new_places(
        self, name: str, before: Surface, after: Surface, was: Symbol
    ) -> list[tuple[Suggestion, bool]]:
        """Definitions of a name that the older release does not have, and whether at top level."""
        old = set(before.places(name))
        ranked: list[tuple[float, str, bool]] = []
        for place in after.places(name):
            module, _, owner = place.partition(":")
            if ".multimodal_gen" in place and ".multimodal_gen" not in was.module:
                continue
            if module.startswith("sglang.test"):
                continue
            fresh = place not in old
            if not owner:
                if fresh or name.startswith("get_"):
                    public = _public(after, module, name)
                    near = nearness(was.module, module)
                    ranked.append((2.0 + fresh + near, f"{public}:{name}", True))
            elif fresh and owner != was.qual:
                near = nearness(was.module, module) + likeness(was.qual, owner)
                ranked.append((near, f"{module}:{owner}.{name}", False))
        ranked.sort(key=lambda each: (-each[0], len(each[1])))
        return [(Suggestion(symbol, "moved"), top) for _, symbol, top in ranked]


def _same_kind(one: Symbol, other: Symbol) -> bool:
    """Whether both are called, or both are read."""
    called = one.kind == "method"
    return called == (other.kind == "method")


def _public(surface: Surface, module: str, name: str) -> str:
    """The shortest package that offers a function defined in one of its modules."""
    parts = module.split(".")
    for end in range(3, len(parts)):
        package = ".".join(parts[:end])
        found = surface.find(package, name)
        if found is not None and found.module == module:
            return package
    return module
