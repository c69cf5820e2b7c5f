"""TOML → :class:`Contract`; errors name file, line, offending text and the nearest valid one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from sglang_contracts.contract import keys
from sglang_contracts.contract.entries import (
    Entries,
    are_texts,
    as_number,
    as_text,
    as_texts,
    names_of,
    place_of,
)
from sglang_contracts.contract.expression import ExpressionError, parse
from sglang_contracts.contract.layout import LayoutError, layout
from sglang_contracts.contract.locate import Path as KeyPath
from sglang_contracts.contract.model import (
    Clause,
    Contract,
    Kind,
)
from sglang_contracts.contract.text import INVENTORY, TomlText, read_text
from sglang_contracts.errors import ContractsError, nearest

MAX_CLAUSES = 5_000
"""Most clauses in one file."""

T = TypeVar("T")

_KINDS = {
    "fields": Kind.FIELD,
    "attributes": Kind.ATTRIBUTE,
    "methods": Kind.METHOD,
    "functions": Kind.FUNCTION,
    "classes": Kind.CLASS,
    "modules": Kind.MODULE,
    "members": Kind.MEMBER,
    "flags": Kind.FLAG,
    "flag_values": Kind.FLAG_VALUE,
    "environment": Kind.ENVIRONMENT,
    "registries": Kind.REGISTRY,
}
_OF_TARGET = frozenset({"fields", "attributes", "methods", "members"})


def parse_contract(text: str, file: str, inventory: str | None = None) -> Contract:
    """One contract from the text of its file, and of its inventory where it has one.

    Args:
        text: TOML.
        file: File name; its stem must be the contract's id.
        inventory: TOML of the file of the same name in ``inventory/``.

    Raises:
        ContractsError: Anything wrong with it, with file, line, offending text and hint.
    """
    names = TomlText(inventory, f"{INVENTORY}/{file}") if inventory is not None else None
    return _Loader(TomlText(text, file), names).contract()


def read_contract(path: Path) -> Contract:
    """One contract from its file, and from its inventory beside it.

    Raises:
        ContractsError: One of them cannot be read, or anything is wrong with it.
    """
    inventory = path.parent / INVENTORY / path.name
    names = read_text(inventory) if inventory.exists() else None
    return parse_contract(read_text(path), path.name, names)


class _Loader(Entries):
    """The whole of one contract."""

    def contract(self) -> Contract:
        for name in self.raw:
            if name not in keys.TOP:
                self.unknown((name,), "table", name, keys.TOP)
        if "contract" not in self.raw:
            self.fail(
                (), "there is no [contract] table", "start the file with [contract] and its id"
            )
        head = self.table(("contract",), self.raw["contract"], keys.CONTRACT)
        self.id = as_text(head["id"])
        stem = self.file.removesuffix(".toml")
        if self.id != stem:
            self.fail(
                ("contract", "id"),
                f"the id '{self.id}' is not the name of the file '{self.file}'",
                f'write id = "{stem}" or rename the file',
            )
        self.targets = self.symbols(("contract", "target"), head.get("target"))
        self.default_range = self.range(("contract", "sglang"), head["sglang"])
        self.dims = self.read_dims()
        clauses = [*self.section_clauses(), *self.statement_clauses()]
        self.check_ids(clauses)
        return Contract(
            id=self.id,
            title=as_text(head["title"]),
            provider=as_text(head["provider"]),
            consumer=as_text(head["consumer"]),
            targets=self.targets,
            sglang=self.default_range,
            known_as=as_texts(head.get("known_as")),
            dims=self.dims,
            layouts=self.read_layouts(),
            note=as_text(head.get("note")),
            purpose=as_text(head.get("purpose")).strip(),
            last_change=as_text(head.get("last_change")).strip(),
            clauses=tuple(clauses),
            file=self.file,
        )

    def read_dims(self) -> dict[str, str]:
        raw = self.raw.get("dims", {})
        if not isinstance(raw, dict):
            self.fail(("dims",), "'dims' must be a table")
        for name, text in raw.items():
            if not name.isidentifier():
                self.fail(("dims", name), f"'{name}' is no name for a dimension")
            self.one(("dims", name), text)
        return dict(raw)

    def read_layouts(self) -> dict[str, tuple[str, ...]]:
        raw = self.raw.get("layouts", {})
        if not isinstance(raw, dict):
            self.fail(("layouts",), "'layouts' must be a table")
        found = {}
        for name, axes in raw.items():
            if not are_texts(axes):
                self.fail(("layouts", name), f"layout '{name}' must be a list of axes")
            try:
                found[name] = layout(axes).axes
            except LayoutError as error:
                self.fail(("layouts", name), f"layout '{name}': {error}")
        return found

    def section_clauses(self) -> list[Clause]:
        found: list[Clause] = []
        sections = sorted(keys.SECTIONS, key=lambda name: name != "classes")
        for section in sections:
            raw = self.raw.get(section, {})
            if not isinstance(raw, dict):
                self.fail((section,), f"'{section}' must be a table of tables")
            for name, value in raw.items():
                path: KeyPath = (section, name)
                table = self.table(path, value, keys.SECTIONS[section])
                found.append(self.section_clause(section, name, path, table))
                if len(found) > MAX_CLAUSES:
                    self.fail(path, f"more than {MAX_CLAUSES} clauses", "split the contract")
        return found

    def section_clause(
        self, section: str, name: str, path: KeyPath, table: Mapping[str, object]
    ) -> Clause:
        owner: tuple[str, ...] = ()
        last = name
        if section in _OF_TARGET:
            owner, last = self.owner(path, name)
            separator = "." if ":" in (owner or ("",))[0] else ":"
            symbols = tuple(f"{spelling}{separator}{last}" for spelling in owner)
        else:
            symbols = self.spellings(section, name, path, table)
            if section == "classes":
                self.classes[name] = symbols
            last = as_text(table.get("key")) or name
        texts = self.several
        return Clause(
            id=f"{self.id}/{as_text(table.get('id')) or name}",
            kind=_KINDS[section],
            name=last,
            symbols=symbols,
            owner=owner,
            sglang=self.own_range(path, table),
            optional=bool(table.get("optional", False)),
            modes=as_texts(table.get("modes")),
            dtype=self.variants((*path, "dtype"), table.get("dtype"), texts),
            shape=self.variants((*path, "shape"), table.get("shape"), self.shape),
            type=self.variants((*path, "type"), table.get("type"), self.one),
            device=as_text(table.get("device")),
            parameters=self.variants(
                (*path, "parameters"), table.get("parameters"), self.parameters
            ),
            returns=self.variants((*path, "returns"), table.get("returns"), self.returns),
            kv_writes=self.kv_writes((*path, "kv_writes"), table["kv_writes"])
            if "kv_writes" in table
            else None,
            host_transfers=as_number(table["host_transfers"], 0)
            if "host_transfers" in table
            else None,
            replaced_by=self.replaced_by((*path, "replaced_by"), table.get("replaced_by")),
            known_as=as_texts(table.get("known_as")),
            distinctive=bool(table.get("distinctive", False)),
            note=as_text(table.get("note")),
            source=as_text(table.get("source")),
            line=self.line(path),
            inventory=self.is_inventory(path),
        )

    def owner(self, path: KeyPath, name: str) -> tuple[tuple[str, ...], str]:
        head, _, last = name.rpartition(".")
        if head:
            if head not in self.classes:
                self.unknown(path, "class", head, self.classes)
            return self.classes[head], last
        if not self.targets:
            self.fail(
                path,
                f"{place_of(path)} is on the contract's target, and there is none",
                "give [contract] a target, or write Class.member with a [classes.Class]",
            )
        return self.targets, name

    def spellings(
        self, section: str, name: str, path: KeyPath, table: Mapping[str, object]
    ) -> tuple[str, ...]:
        if section in ("flags", "flag_values"):
            if not name.startswith("-"):
                self.fail(path, f"'{name}' is no flag", 'write it with its dashes: "--tp-size"')
            return (f"flag:{name}",)
        if section == "environment":
            return (f"env:{name}",)
        symbols = self.symbols((*path, "symbol"), table["symbol"])
        if section == "registries":
            key = as_text(table.get("key")) or name
            return tuple(f'{symbol}["{key}"]' for symbol in symbols)
        return symbols

    def statement_clauses(self) -> list[Clause]:
        found: list[Clause] = []
        for section, allowed in keys.STATEMENTS.items():
            raw = self.raw.get(section, {})
            if not isinstance(raw, dict):
                self.fail(
                    (section,),
                    f"'{section}' must be a table of tables",
                    f"write [{section}.ID] instead of [[{section}]] and id",
                )
            for name, value in raw.items():
                path: KeyPath = (section, name)
                table = self.table(path, value, allowed)
                found.append(getattr(self, f"{section}_clause")(name, path, table))
        return found

    def invariants_clause(self, name: str, path: KeyPath, table: Mapping[str, object]) -> Clause:
        text = as_text(table["holds"])
        at = (*path, "holds")
        try:
            names = parse(text).names
        except ExpressionError as error:
            self.fail(at, f"'{error.text}': {error.message}", error.hint)
        known = self.readable()
        for field in sorted(names):
            if field not in known and field.partition(".")[0] not in known:
                close = nearest(field, known, 1)
                hint = f"did you mean '{close[0]}'?" if close else "known: " + ", ".join(known)
                self.fail(at, f"'{text}' reads an unknown field '{field}'", hint)
        return Clause(
            id=f"{self.id}/{name}",
            kind=Kind.INVARIANT,
            name=name,
            sglang=self.own_range(path, table),
            modes=as_texts(table.get("modes")),
            optional=bool(table.get("optional", False)),
            holds=text,
            note=as_text(table.get("note")),
            source=as_text(table.get("source")),
            line=self.line(path),
        )

    def readable(self) -> tuple[str, ...]:
        """The names an invariant may read: fields, attributes, dims, parameters, and ``mode``."""
        found: dict[str, None] = dict.fromkeys(self.dims)
        for section in ("fields", "attributes", "methods", "functions"):
            raw = self.raw.get(section)
            for name, table in raw.items() if isinstance(raw, dict) else ():
                if section in ("fields", "attributes"):
                    found[name] = None
                for variant in self.variants((), table.get("parameters"), self.parameters):
                    found.update(dict.fromkeys(names_of(variant.value)))
        found.update(dict.fromkeys(("mode", "result")))
        found.pop("", None)
        return tuple(found)

    def behaviours_clause(self, name: str, path: KeyPath, table: Mapping[str, object]) -> Clause:
        on = self.on((*path, "on"), table["on"])
        symbol = as_text(table.get("symbol")) or on.symbol
        self.symbol((*path, "symbol"), symbol)
        return Clause(
            id=f"{self.id}/{name}",
            kind=Kind.BEHAVIOUR,
            name=name,
            symbols=(symbol,),
            sglang=self.own_range(path, table),
            on=on,
            was=as_text(table.get("was")),
            now=as_text(table["now"]),
            use=as_text(table.get("use")),
            severity=as_text(table.get("severity")) or "error",
            rule=as_text(table.get("rule")),
            shown=self.shown((*path, "shown"), table.get("shown")),
            note=as_text(table.get("note")),
            source=as_text(table.get("source")),
            line=self.line(path),
        )

    def obligations_clause(self, name: str, path: KeyPath, table: Mapping[str, object]) -> Clause:
        owner = self.targets
        of = as_text(table.get("of"))
        if of:
            if of not in self.classes:
                self.unknown((*path, "of"), "class", of, self.classes)
            owner = self.classes[of]
        read = as_text(table.get("name")) or name
        return Clause(
            id=f"{self.id}/{name}",
            kind=Kind.OBLIGATION,
            name=read,
            symbols=tuple(f"{spelling}.{read}" for spelling in owner),
            owner=owner,
            sglang=self.own_range(path, table),
            optional=bool(table.get("optional", False)),
            receivers=as_texts(table["receivers"]),
            called=bool(table.get("called", False)),
            replaced_by=self.replaced_by((*path, "replaced_by"), table.get("replaced_by")),
            note=as_text(table.get("note")),
            source=as_text(table.get("source")),
            line=self.line(path),
        )

    def check_ids(self, clauses: Sequence[Clause]) -> None:
        seen: dict[str, Clause] = {}
        for clause in clauses:
            first = seen.setdefault(clause.id, clause)
            if first is not clause:
                file = self.file_of(clause.inventory)
                where = f"in line {first.line}"
                if first.inventory != clause.inventory:
                    where = f"in {self.file_of(first.inventory)}, line {first.line}"
                raise ContractsError(
                    f"{file}:{clause.line}: the clause '{clause.id}' stands already {where}",
                    "give one of them an id of its own",
                )
