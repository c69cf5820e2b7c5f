"""Incidents made from the recorded releases themselves: what differs between neighbours, used.

    python tests/cases/generate.py --count 2000 --seed 1

Each incident is one file of a throw-away plugin. It works in one release and breaks in the next
(or, of kind ``silent``, works in both); what is expected is read off the two surfaces, never off
the analysis.
Printed per kind: how many there were, how many were found on the right symbol with the right first
release, and how many files were reported on where nothing may be said.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sglang_contracts.surface import Catalog, Surface, Symbol, load_catalog
from sglang_contracts.surface.model import Class, Function, Kind, ParameterKind, Role
from sglang_contracts.verify.commands.analysis import Analysis
from sglang_contracts.verify.findings.finding import Severity


class Incident(NamedTuple):
    """One use that breaks from one release to the next, or must not."""

    kind: str
    text: str
    symbol: str
    """What a finding has to name (its last part); empty: nothing may be said."""


def plain(name: str) -> bool:
    """A name one would use from outside."""
    return not name.startswith("__") and name.isidentifier()


def importable(surface: Surface, module: str, name: str) -> bool:
    """Whether a class or function can be imported from its own module without conditions."""
    found = surface.find(module, name)
    return (
        found is not None
        and found.module == module
        and found.kind in ("class", "function")
        and not getattr(found.node, "condition", 0)
        and not module.startswith(("sglang.test", "sglang.multimodal_gen"))
    )


def classes(surface: Surface, module: str) -> Iterator[tuple[str, Symbol]]:
    """Classes of a module that can be imported."""
    record = surface.module(module)
    for name in record.classes if record is not None else ():
        if importable(surface, module, name):
            found = surface.find(module, name)
            assert found is not None
            yield name, found


def elsewhere(surface: Surface, owner: Symbol, name: str) -> bool:
    """Whether some other class of the release has the member: an object may be one of those."""
    return any(":" in place for place in surface.places(name)) or bool(
        surface.writers(owner.qual.lower())
    )


def members(old: Surface, new: Surface, module: str) -> Iterator[Incident]:
    """Kinds a, b, f, i: members that went."""
    for name, was in classes(old, module):
        now = new.find(module, name)
        if now is None or now.kind != "class" or new.is_open(now) or old.is_open(was):
            continue
        if new.kind(now) & Kind.PROTOCOL:
            continue
        head = f"from {module} import {name}\n\n"
        for member in sorted(old.member_names(was) - new.member_names(now)):
            if not plain(member) or elsewhere(new, now, member):
                continue
            found = old.member(was, member)
            if found is None:
                continue
            if found.kind == "enum-member":
                if not new.kind(now) & Kind.ENUM:
                    continue  # its members may be set at run time now
                yield Incident("f", f"{head}def use(x):\n    return x == {name}.{member}\n", member)
            elif found.kind == "method":
                if len(member) % 2:  # what one file patches, no other misses
                    yield Incident(
                        "b", f"{head}def use(x: {name}, a):\n    return x.{member}(*a)\n", member
                    )
                else:
                    yield Incident(
                        "b",
                        f"{head}original = {name}.{member}\n\n\ndef mine(self, *a, **k):\n"
                        f"    return original(self, *a, **k)\n\n\n{name}.{member} = mine\n",
                        member,
                    )
                target = f"{module}.{name}.{member}"
                if old.has_module("sglang.srt.plugins.hook_registry"):
                    yield Incident(
                        "i",
                        "from sglang.srt.plugins.hook_registry import HookRegistry, HookType\n\n\n"
                        "def around(original, *a, **k):\n    return original(*a, **k)\n\n\n"
                        f'HookRegistry.register("{target}", around, HookType.AROUND)\n',
                        member,
                    )
                else:
                    yield Incident(
                        "i",
                        "from unittest import mock\n\n\ndef mine(self, *a, **k):\n"
                        f'    return None\n\n\nmock.patch("{target}", mine).start()\n',
                        member,
                    )
            else:
                yield Incident("a", f"{head}def use(x: {name}):\n    return x.{member}\n", member)
        for member in sorted(old.member_names(was) & new.member_names(now))[:2]:
            if plain(member):
                yield Incident("silent", f"{head}def use(x: {name}):\n    return x.{member}\n", "")
        added = sorted(new.member_names(now) - old.member_names(was))
        for member in added[:2]:
            if plain(member):
                text = f"{head}def use(x: {name}):\n    return getattr(x, '{member}', None)\n"
                yield Incident("silent", text, "")


def signatures(old: Surface, new: Surface, module: str) -> Iterator[Incident]:
    """Kinds d and j: functions and methods whose form changed."""
    record = old.module(module)
    if record is None:
        return
    for name, was in record.functions.items():
        after = new.find(module, name)
        if not importable(old, module, name) or not importable(new, module, name) or after is None:
            continue
        now = after.node
        if not isinstance(now, Function) or was.decorators or now.decorators:
            continue
        if not plain(name) or now.role & Role.RETIRED:
            continue
        head = f"from {module} import {name}\n\n\ndef use(*a, **k):\n"
        had = {each.name for each in was.parameters}
        has = {each.name for each in now.parameters}
        variadic = any(each.kind in (2, 4) for each in now.parameters)
        needed = [
            each.name
            for each in was.parameters
            if each.required and each.kind <= ParameterKind.POSITIONAL
        ]
        arguments = ", ".join(f"k['{each}']" for each in needed)
        if any(p.kind == ParameterKind.KEYWORD_ONLY and p.required for p in was.parameters):
            continue
        for gone in sorted(had - has):
            if not variadic and gone not in needed:
                comma = ", " if arguments else ""
                yield Incident(
                    "d", f"{head}    return {name}({arguments}{comma}{gone}=k[0])\n", gone
                )
        new_needs = [each for each in now.parameters if each.required and each.name not in had]
        if new_needs and not variadic and had <= has:
            yield Incident("d", f"{head}    return {name}({arguments})\n", new_needs[0].name)
        if was.parameters == now.parameters:
            yield Incident("silent", f"{head}    return {name}({arguments})\n", "")
        one, two = set(was.arities), set(now.arities)
        sure = lambda each: len(each) == 1 and min(each) > 1  # noqa: E731
        if sure(one) and sure(two) and one != two:
            targets = ", ".join(f"v{at}" for at in range(next(iter(one))))
            yield Incident("j", f"{head}    {targets} = {name}(*a, **k)\n    return v0\n", name)


def imports(old: Surface, new: Surface, module: str) -> Iterator[Incident]:
    """Kind e: names and modules that went; silent: those that are re-exported still."""
    record = old.module(module)
    if record is None:
        return
    names = [*record.classes, *record.functions]
    for name in names:
        if not importable(old, module, name) or name.startswith("_"):
            continue
        text = f"def use():\n    from {module} import {name}\n    return {name}\n"
        found = new.find(module, name)
        owner = new.find(module)
        if found is None and (owner is None or not new.is_open(owner)):
            yield Incident("e", text, name)
            yield Incident(
                "e",
                f"import importlib\n\n\ndef use():\n"
                f"    return importlib.import_module('{module}').{name}\n",
                name,
            )
            places = [each for each in new.places(name) if ":" not in each]
            for place in places[:1]:
                yield Incident(
                    "silent",
                    f"try:\n    from {place} import {name}\nexcept ImportError:\n"
                    f"    from {module} import {name}\n\nvalue = {name}\n",
                    "",
                )
        elif found is not None and found.module != module and found.kind != "external":
            yield Incident("silent", text, "")


def hooks(old: Surface, new: Surface, module: str) -> Iterator[Incident]:
    """Kind c: methods that became abstract."""
    for name, was in classes(old, module):
        now = new.find(module, name)
        if now is None or not isinstance(now.node, Class) or old.is_open(was) or new.is_open(now):
            continue
        if new.kind(now) & Kind.PROTOCOL:
            continue

        def lacking(surface: Surface, owner: Symbol, role: Role) -> set[str]:
            return {
                each.qual.rsplit(".", 1)[-1]
                for each in surface.members(owner).values()
                if isinstance(each.node, Function) and each.node.role & role
            }

        before = lacking(old, was, Role.ABSTRACT | Role.UNIMPLEMENTED)
        after = lacking(new, now, Role.ABSTRACT)
        text = f"from {module} import {name}\n\n\nclass Mine({name}):\n"
        body = "".join(
            f"    def {each}(self, *a, **k):\n        return None\n\n" for each in sorted(before)
        )
        if before and after - before:
            yield Incident("c", text + body, sorted(after - before)[0])
        elif before and after <= before:
            yield Incident("silent", text + body, "")


def flags(old: Surface, new: Surface) -> Iterator[Incident]:
    """Kind h: flags, their values and variables that went."""
    had, has = old.flags_of("sglang.launch_server"), new.flags_of("sglang.launch_server")
    for name in had:
        text = (
            "import subprocess\n\nsubprocess.Popen(['python', '-m', 'sglang.launch_server',\n"
            f"                  '--model-path', 'm', '{name}'])\n"
        )
        if name not in has and not any(each.startswith(name) for each in has):
            yield Incident("h", text, name)
        elif name in has and len(name) % 9 == 0:
            yield Incident("silent", text, "")
        one, two = old.flag_choices(name), new.flag_choices(name)
        if one and two and name in has:
            for gone in sorted(set(one) - set(two)):
                yield Incident("h", text.replace(f"'{name}'", f"'{name}', '{gone}'"), name)
    for name in set(old.environment()) - set(new.environment()):
        renamed = name.startswith("SGL_") and f"SGLANG_{name[4:]}" in new.environment()
        if name.startswith(("SGLANG_", "SGL_")) and not renamed:  # the old prefix is rewritten
            yield Incident("h", f"import os\n\nos.environ['{name}'] = '1'\n", name)


def incidents(catalog: Catalog, old: str, new: str) -> list[Incident]:
    """Everything that can be made of two neighbours."""
    before, after = catalog.surface(old), catalog.surface(new)
    changed = [
        each
        for each in sorted(catalog.changed(new))
        if each.startswith("sglang.srt.") and before.module(each) is not None
    ]
    found: list[Incident] = []
    for module in changed:
        for make in (members, signatures, imports, hooks):
            found += make(before, after, module)
    return found + list(flags(before, after))


class Score(NamedTuple):
    """What came of the incidents of one kind."""

    total: collections.Counter[str]
    found: collections.Counter[str]
    dated: collections.Counter[str]
    false: collections.Counter[str]
    missed: list[tuple[str, str, Incident]]
    wrong: list[tuple[str, str, str, Incident]]


def run(catalog: Catalog, pairs: list[tuple[str, str]], per_pair: int, seed: int) -> Score:
    """Make incidents for pairs of neighbours and hold them against the check."""
    score = Score(*(collections.Counter() for _ in range(4)), [], [])
    chance = random.Random(seed)
    for old, new in pairs:
        everything = incidents(catalog, old, new)
        by_kind: dict[str, list[Incident]] = {}
        for each in everything:
            by_kind.setdefault(each.kind, []).append(each)
        chosen: list[Incident] = []
        share = max(per_pair // max(len(by_kind), 1), 1)
        for group in by_kind.values():
            chosen += chance.sample(group, min(share, len(group)))
        with tempfile.TemporaryDirectory() as folder:
            for number, each in enumerate(chosen):
                (Path(folder) / f"case_{number}.py").write_text(each.text)
            judge(catalog, Path(folder), old, new, chosen, score)
    return score


def judge(
    catalog: Catalog, folder: Path, old: str, new: str, chosen: list[Incident], score: Score
) -> None:
    """Compare what was found with what was expected."""
    from sglang_contracts.plugin import load_plugin

    analysis = Analysis(load_plugin(folder), catalog, wanted=[old, new], contracts=())
    reported: dict[str, dict[str, list[tuple[str, str | None]]]] = {old: {}, new: {}}
    for release in (old, new):
        for finding in analysis.at(release):
            if finding.severity is Severity.NOTE:
                continue
            for place in finding.locations:
                reported[release].setdefault(place.file, []).append(
                    (finding.symbol, finding.first_broken)
                )
    for number, each in enumerate(chosen):
        file = f"case_{number}.py"
        score.total[each.kind] += 1
        before, after = reported[old].get(file, []), reported[new].get(file, [])
        noise = before + (after if each.kind == "silent" else [])
        if noise:
            score.false[each.kind] += 1
            score.wrong.append((old, new, noise[0][0], each))
        if each.kind == "silent":
            continue
        module = each.text.split("import", 1)[0].split("from ")[-1].strip()
        hits = [
            first
            for symbol, first in after
            if each.symbol in symbol
            or (module and symbol.startswith(module))
            or ("." in symbol and each.text.find(symbol) >= 0)
        ]
        if hits:
            score.found[each.kind] += 1
            score.dated[each.kind] += new in hits
        else:
            score.missed.append((old, new, each))


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--surfaces", type=Path)
    parser.add_argument("--verbose", type=int, default=0, help="examples to show of each kind")
    args = parser.parse_args()
    catalog = load_catalog(args.surfaces)
    releases = catalog.releases
    pairs = list(itertools.pairwise(releases))
    score = run(catalog, pairs, -(-args.count // len(pairs)), args.seed)
    for kind in sorted(score.total):
        total = score.total[kind]
        line = f"{kind:7} {total:5}  reported where it must not be {score.false[kind]:3}"
        if kind != "silent":
            line += f"  found {score.found[kind]:5} ({score.found[kind] / total:.3f})"
            line += f"  dated right {score.dated[kind]:5}"
        print(line)
    everything = sum(n for kind, n in score.total.items() if kind != "silent")
    found = sum(score.found.values())
    print(
        f"all     {sum(score.total.values()):5}  recall {found / max(everything, 1):.4f}"
        f"  false {sum(score.false.values())}"
    )
    for old, new, each in score.missed[: args.verbose]:
        print(f"-- missed {old} -> {new} {each.kind} {each.symbol}\n{each.text}")
    for old, new, symbol, each in score.wrong[: args.verbose]:
        print(f"-- false {old} -> {new} {each.kind} {symbol}\n{each.text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
