"""How often a suggestion is right, for each kind of evidence, on losses whose answer is known.

    python benchmarks/suggestions.py [--show]

Contracts say what took the place of some hundreds of names and members. Each of them is asked for
here without the contracts: in the first release that lacks it, against the last one that has it. A
suggestion is right where its last name stands in the contract's answer. ``--show`` lists the wrong
ones. What evidence may be printed at all is set by this: nine in ten have to be right.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from sglang_contracts.contract import load_contracts
from sglang_contracts.contract.model import Clause, Kind
from sglang_contracts.surface import Catalog, load_catalog
from sglang_contracts.verify.findings.finding import Suggestion
from sglang_contracts.verify.suggest.replacements import Replacements

KINDS = (Kind.FIELD, Kind.ATTRIBUTE, Kind.METHOD, Kind.MEMBER, Kind.FUNCTION, Kind.CLASS)


class Loss(NamedTuple):
    """Something that is gone, and what a contract says to use instead."""

    symbol: str
    answer: str
    suggestion: Suggestion | None

    @property
    def right(self) -> bool:
        """Whether the last name of what is suggested stands in the answer."""
        made = self.suggestion
        if made is None:
            return False
        spelled = made.note if ":" in made.note and " " not in made.note else made.symbol
        return re.split(r"[.:]", spelled)[-1] in re.findall(r"\w+", self.answer)


def losses(catalog: Catalog) -> Iterator[Loss]:
    """All losses with an answer, and what is suggested for each without the contracts."""
    replacements = Replacements(catalog)
    for contract in load_contracts():
        for clause in contract.clauses:
            if clause.kind in KINDS and clause.replaced_by:
                for symbol in clause.symbols:
                    found = _loss(replacements, clause, symbol.partition("(")[0])
                    if found is not None:
                        yield found


def _loss(replacements: Replacements, clause: Clause, symbol: str) -> Loss | None:
    catalog = replacements.catalog
    releases = catalog.releases
    had = [at for at, each in enumerate(releases) if catalog.surface(each).parse(symbol)]
    if ":" not in symbol or not had or had[-1] + 1 == len(releases):
        return None
    old, new = releases[had[-1]], releases[had[-1] + 1]
    spellings = [each.partition("(")[0] for each in clause.symbols]
    answer = clause.replacement(new)
    if answer is None or any(catalog.surface(new).parse(each) for each in spellings):
        return None
    found = catalog.surface(old).parse(symbol)
    assert found is not None
    if found.owner is not None:
        made = replacements.of_member(found, old, new)
    else:
        made = replacements.of_symbol(symbol, found, old, new)
    return Loss(symbol, f"{answer.use} {answer.note}", made)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="How often suggestions are right.")
    parser.add_argument("--show", action="store_true", help="list the wrong ones")
    show = parser.parse_args().show
    by_evidence: dict[str, list[Loss]] = defaultdict(list)
    for each in losses(load_catalog()):
        by_evidence[each.suggestion.evidence if each.suggestion else "(none)"].append(each)
    for evidence, found in sorted(by_evidence.items()):
        right = sum(each.right for each in found)
        share = f"{right} right, {right / len(found):.0%}" if evidence != "(none)" else ""
        print(f"{evidence:16} {len(found):4}  {share}")
        for each in found if show else ():
            if each.suggestion and not each.right:
                print(f"    {each.symbol}: {each.suggestion.symbol}, not {each.answer}")


if __name__ == "__main__":
    main()
