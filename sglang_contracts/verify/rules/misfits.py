"""Findings on calls that a signature or a result no longer fits."""

from __future__ import annotations

from sglang_contracts.plugin.ir.records import Use
from sglang_contracts.surface.model import Function
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.findings.finding import Finding, Severity, Suggestion
from sglang_contracts.verify.rules.argument_place import other_than
from sglang_contracts.verify.rules.case import Case
from sglang_contracts.verify.rules.lost import Lost
from sglang_contracts.verify.rules.operation_on_kind import (
    ARITHMETIC,
    HASHED,
    INDEX,
    JOIN,
    KEY,
    NUMBER,
    SERIES,
    TRUTH,
    UNPACK,
)
from sglang_contracts.verify.values import builtin_kinds as kinds

_NEEDED = {
    KEY: "{} takes no text as a key",
    INDEX: "{} takes no number as an index",
    UNPACK: "{} does not unpack to {}",
    NUMBER: "{} may be None: a number is needed here",
    TRUTH: "{} is never true",
    ARITHMETIC: "{} is no number",
    SERIES: "{} is no series of values",
    JOIN: "{} is no list to join with one",
    HASHED: "elements of {} are found under no key",
}
"""Need → what is wrong with a kind (and a count)."""


class Misfits(Lost):
    """Words what no longer fits."""

    def _misfit(self, case: Case, use: Use) -> Finding | None:
        outcome = case.entry.outcome
        owner = outcome.owner
        if owner is None:
            return None
        old, new = self.releases[case.good], self.releases[case.at]
        before, after = self.catalog.surface(old), self.catalog.surface(new)
        good = self._good(case).found
        was = good[0] if good else None
        severity = self._severity(case)
        suggestion: Suggestion | None
        match outcome.detail:
            case "unknown-keyword" | "ignored-keyword":
                suggestion = self.replacements.of_keyword(owner, outcome.name, was, before, after)
                renamed = suggestion is not None and suggestion.evidence in (
                    "same-position",
                    "same-annotation",
                )
                rule = "parameter-renamed" if renamed else "parameter-removed"
                symbol = outcome.symbol
                if not symbol.endswith(f".{outcome.name}"):
                    symbol = f"{outcome.symbol}({outcome.name})"
                if owner.qual == "ServerArgs":
                    rule = "server-arg-removed"
                if outcome.detail == "ignored-keyword":
                    severity = min(severity, Severity.WARNING, key=lambda each: each.rank)
            case "missing":
                rule = "parameter-required"
                symbol = outcome.symbol
                if not symbol.endswith(f".{outcome.name}"):
                    symbol = f"{outcome.symbol}({outcome.name})"
                suggestion = self.replacements.of_call(owner, outcome.name, new, after)
            case "keyword-only":
                rule = "keyword-only"
                symbol = f"{outcome.symbol}({outcome.name})"
                suggestion = self.replacements.of_call(owner, outcome.name, new, after)
            case _:
                rule = "parameter-removed"
                symbol = outcome.symbol
                gone = self._dropped(was, owner, before, after)
                if gone:
                    symbol = f"{outcome.symbol}({gone})"
                suggestion = self.replacements.of_call(owner, "", new, after)
        return self._base(
            case,
            rule=rule,
            severity=severity,
            symbol=symbol,
            locations=self._location(case),
            suggestion=suggestion,
            role="call",
            old=self._signature(was, before),
            new=self._signature(owner, after),
        )

    def _dropped(self, was: Symbol | None, now: Symbol, before: object, after: object) -> str:
        """The one parameter that went, where it was exactly one."""
        old = self.replacements.parameters(was, before) if was is not None else None  # type: ignore[arg-type]
        new = self.replacements.parameters(now, after)  # type: ignore[arg-type]
        if old is None or new is None:
            return ""
        names = {each.name for each in new}
        gone = [each.name for each in old if each.name not in names]
        return gone[0] if len(gone) == 1 else ""

    def _type(self, case: Case) -> Finding | None:
        outcome = case.entry.outcome
        if outcome.owner is None or case.last_ok is None:
            return None  # what was never of another type is annotated wrongly, or not looked at
        new = self.releases[case.at]
        after = self.catalog.surface(new)
        said = self.replacements.contract(outcome.symbol, new)
        types = after.annotation_type(outcome.owner.module, outcome.new)
        short = outcome.owner.qual.removesuffix(".__init__").rsplit(".", 1)[-1]
        suggestion = said
        if suggestion is None and types:
            suggestion = Suggestion(
                f"{short}({types[0].qual})", "signature", note=f"{outcome.name}: {types[0].name}"
            )
        elif suggestion is None:
            suggestion = Suggestion(f"{short}({outcome.name})", "signature", note=outcome.new)
        return self._base(
            case,
            rule="dtype-changed",
            severity=self._severity(case),
            symbol=f"{outcome.symbol}({outcome.name})",
            locations=self._location(case),
            suggestion=suggestion,
            role="call",
            new=outcome.new,
            detail=f"{outcome.name} is {outcome.new} now",
        )

    def _kind(self, case: Case) -> Finding | None:
        """A field or result that was of a kind with the attribute is of another one now."""
        outcome, good = case.entry.outcome, self._good(case)
        if outcome.owner is None or case.last_ok is None:
            return None
        # A class of the release that lacks it, or the field (function) that is of a builtin kind.
        lacking = outcome.owner.qual if outcome.what == "attribute" else outcome.new
        stated = good.found[0] if good.what == "kind" else outcome.owner
        returned = isinstance(stated.node, Function)
        old = kinds.stated(stated) if good.what == "kind" else ""
        return self._base(
            case,
            rule="return-changed" if returned else "dtype-changed",
            severity=self._severity(case),
            symbol=stated.name,
            locations=self._location(case),
            suggestion=self.replacements.contract(stated.name, self.releases[case.at]),
            role="call" if returned else "read",
            old=old,
            new=lacking,
            detail=f"{lacking} has no {outcome.name}" + (f"; it was {old}" if old else ""),
        )

    def _place(self, case: Case) -> Finding | None:
        """An argument for a parameter that is gone, taken for the one that stands there now."""
        outcome, good = case.entry.outcome, self._good(case).found
        if outcome.owner is None or case.last_ok is None or not good:
            return None
        if not other_than(good[0], outcome.owner, outcome.name, outcome.new):
            return None
        old, new = self.releases[case.good], self.releases[case.at]
        before, after = self.catalog.surface(old), self.catalog.surface(new)
        return self._base(
            case,
            rule="parameter-removed",
            severity=self._severity(case),
            symbol=f"{outcome.symbol}({outcome.name})",
            locations=self._location(case),
            suggestion=self.replacements.of_call(outcome.owner, "", new, after),
            role="call",
            old=self._signature(good[0], before),
            new=self._signature(outcome.owner, after),
            detail=f"what is given for {outcome.name} goes to {outcome.new} now",
        )

    def _need(self, case: Case) -> Finding | None:
        """A field or result is of a kind now that does not take what is done with it."""
        outcome, good = case.entry.outcome, self._good(case)
        if outcome.owner is None or case.last_ok is None or not good.found:
            return None
        returned = isinstance(outcome.owner.node, Function)
        soft = outcome.detail in (NUMBER, TRUTH, HASHED)  # no call of it need fail
        worst = Severity.WARNING if soft else Severity.ERROR
        return self._base(
            case,
            rule="return-changed" if returned else "dtype-changed",
            severity=self._severity(case, worst),
            symbol=outcome.symbol,
            locations=self._location(case),
            suggestion=self.replacements.contract(outcome.symbol, self.releases[case.at]),
            role="call" if returned else "read",
            old=kinds.stated(good.found[0]),
            new=outcome.new,
            detail=_NEEDED[outcome.detail].format(outcome.new, outcome.name),
        )

    def _text(self, case: Case) -> Finding | None:
        """What was the name of an enum's member is the text its class gives now."""
        outcome = case.entry.outcome
        if outcome.owner is None or case.last_ok is None:
            return None
        return self._base(
            case,
            rule="behaviour-changed",
            severity=self._severity(case, Severity.WARNING),
            symbol=outcome.symbol,
            locations=self._location(case),
            suggestion=Suggestion(".name or .value", "signature"),
            role="read",
            old=f"its text is {outcome.name}MEMBER",
            new="its text is what __str__ gives",
        )

    def _retired(self, case: Case) -> Finding | None:
        outcome = case.entry.outcome
        if outcome.owner is None:
            return None
        new = self.releases[case.at]
        return self._base(
            case,
            rule="retired",
            severity=self._severity(case),
            symbol=outcome.symbol,
            locations=self._location(case),
            suggestion=self.replacements.of_message(outcome.owner, new, self.catalog.surface(new)),
            role="call",
        )

    def _shift(self, case: Case) -> Finding | None:
        """A positional argument that lands on another parameter than it did."""
        outcome = case.entry.outcome
        if outcome.owner is None or case.last_ok is None:
            return None
        new = self.releases[case.at]
        after = self.catalog.surface(new)
        # of one type with what it lands on, it goes wrong silently; of another, it fails
        worst = Severity.ERROR if outcome.detail == "types" else Severity.WARNING
        return self._base(
            case,
            rule="parameter-moved",
            severity=self._severity(case, worst),
            symbol=f"{outcome.symbol}({outcome.name})",
            locations=self._location(case),
            suggestion=self.replacements.of_call(outcome.owner, outcome.name, new, after),
            role="call",
            detail=f"the argument lands on {outcome.new}",
        )

    def _awaited(self, case: Case) -> Finding | None:
        """A coroutine where there was a result, or the other way round."""
        outcome = case.entry.outcome
        if outcome.owner is None or case.last_ok is None:
            return None
        now = outcome.detail == "coroutine"
        return self._base(
            case,
            rule="return-changed",
            severity=self._severity(case),
            symbol=outcome.symbol,
            locations=self._location(case),
            suggestion=self.replacements.contract(outcome.symbol, self.releases[case.at]),
            role="call",
            detail="it is a coroutine: await it" if now else "it is no coroutine: do not await it",
        )

    def _result(self, case: Case) -> Finding | None:
        """What was an object with attributes is a tuple now."""
        outcome = case.entry.outcome
        if outcome.owner is None:
            return None
        after = self.catalog.surface(self.releases[case.at])
        node = outcome.owner.node
        said = self.replacements.contract(outcome.symbol, self.releases[case.at])
        return self._base(
            case,
            rule="return-changed",
            severity=self._severity(case),
            symbol=outcome.symbol,
            locations=self._location(case),
            suggestion=said or self.replacements.of_return(outcome.owner, 0, after),
            role="call",
            detail=f"it returns {node.returns if isinstance(node, Function) else 'a tuple'}, "
            f"which has no {outcome.name}",
        )

    def _unpack(self, case: Case) -> Finding | None:
        outcome = case.entry.outcome
        if outcome.owner is None:
            return None
        after = self.catalog.surface(self.releases[case.at])
        node = outcome.owner.node
        was = self._good(case).found
        old = kinds.stated(was[0]) if was and isinstance(was[0].node, Function) else ""
        return self._base(
            case,
            rule="return-changed",
            severity=self._severity(case),
            symbol=outcome.symbol,
            locations=self._location(case),
            suggestion=self.replacements.contract(outcome.symbol, self.releases[case.at])
            or self.replacements.of_return(outcome.owner, 0, after),
            role="call",
            old=old or outcome.name.lstrip("-") + " values",
            new=(node.returns if isinstance(node, Function) else "") or outcome.new + " values",
        )
