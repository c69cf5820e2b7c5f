"""TOML → :class:`Contract`; errors name file, line, offending text and the nearest valid one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn, TypeVar

from sglang_contracts.contract import keys, signature
from sglang_contracts.contract.dimensions import dimension_names
from sglang_contracts.contract.expression import ExpressionError, parse
from sglang_contracts.contract.keys import Form, Key
from sglang_contracts.contract.layout import LayoutError, layout
from sglang_contracts.contract.locate import Locator
from sglang_contracts.contract.locate import Path as KeyPath
from sglang_contracts.contract.model import (
    Clause,
    Contract,
    Kind,
    KvWrites,
    On,
    Replacement,
    Returns,
    Role,
    Shown,
    Variant,
)
from sglang_contracts.contract.ranges import Range, RangeError
from sglang_contracts.contract.store import read_text
from sglang_contracts.errors import ContractsError, nearest

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover - the same parser under its older name
    import tomli as tomllib

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
_FORMS_OF_TEXT = frozenset({Form.TEXT, Form.SEVERITY, Form.DEVICE, Form.SIDE})
_CHOICES = {
    Form.SEVERITY: ("error", "warning", "note"),
    Form.DEVICE: ("compute", "host"),
    Form.SIDE: keys.SIDES,
}


def parse_contract(text: str, file: str) -> Contract:
    """One contract from the text of a file.

    Args:
        text: TOML.
        file: File name; its stem must be the contract's id.

    Raises:
        ContractsError: Anything wrong with it, with file, line, offending text and hint.
    """
    try:
        raw = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise _broken(text, file, error) from None
    return _Loader(text, file, raw).contract()


def read_contract(path: Path) -> Contract:
    """One contract from a file.

    Raises:
        ContractsError: It cannot be read, or anything is wrong with it.
    """
    return parse_contract(read_text(path), path.name)


def _broken(text: str, file: str, error: Exception) -> ContractsError:
    message = str(error) or "nested too deep"
    line = 0
    if "(at line " in message:
        message, _, rest = message.partition(" (at line ")
        line = int(rest.split(",")[0])
    elif "(at end of document)" in message:
        message = message.partition(" (at")[0]
        line = text.count("\n") + 1
    lines = text.splitlines()
    line = min(line, len(lines))
    shown = lines[line - 1].strip() if line else ""
    hint = "strings need quotes, every [ and { its closing partner, a key may stand only once"
    if "overwrite" in message.lower() or "twice" in message.lower():
        hint = "this table or key stands twice: keep one"
    elif shown and "=" in shown and shown.split("=", 1)[1].strip()[:1] in "<>=~!":
        hint = f'put the version range in quotes: {shown.split("=", 1)[0].strip()} = ">=0.5.3"'
    where = f"{file}:{line}" if line else file
    return ContractsError(
        f"{where}: broken TOML: {message}" + (f": {shown[:80]}" if shown else ""), hint
    )


class _Loader:
    def __init__(self, text: str, file: str, raw: dict[str, object]) -> None:
        self.file = file
        self.raw = raw
        self._text = text
        self._locator: Locator | None = None
        self.id = ""
        self.targets: tuple[str, ...] = ()
        self.classes: dict[str, tuple[str, ...]] = {}
        self.default_range: tuple[str, ...] = ()
        self.dims: dict[str, str] = {}

    # -- errors

    def line(self, path: KeyPath) -> int:
        if self._locator is None:
            self._locator = Locator(self._text)
        return self._locator.line(path)

    def fail(self, path: KeyPath, message: str, hint: str = "") -> NoReturn:
        raise ContractsError(f"{self.file}:{self.line(path)}: {message}", hint)

    # -- pieces

    def table(self, path: KeyPath, value: object, allowed: Mapping[str, Key]) -> dict[str, object]:
        if not isinstance(value, dict):
            self.fail(path, f"'{path[-1]}' must be a table")
        for name in value:
            if name not in allowed:
                self.unknown((*path, name), "key", name, allowed)
        for name, key in allowed.items():
            if key.required and name not in value:
                self.fail(path, f"{_shown(path)} needs the key '{name}'", key.text)
            if name in value:
                self.form((*path, name), value[name], key)
        return value

    def unknown(self, path: KeyPath, what: str, name: str, known: Iterable[str]) -> NoReturn:
        known = list(known)
        close = nearest(name, known, 1)
        hint = f"did you mean '{close[0]}'?" if close else "known: " + ", ".join(known)
        self.fail(path, f"unknown {what} '{name}' in {_shown(path[:-1])}", hint)

    def form(self, path: KeyPath, value: object, key: Key) -> None:
        form = key.form
        fits = True
        if form in _FORMS_OF_TEXT:
            fits = isinstance(value, str)
        elif form is Form.TEXTS:
            fits = isinstance(value, str) or _is_texts(value)
        elif form is Form.LIST:
            fits = _is_texts(value)
        elif form is Form.NUMBER:
            fits = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        elif form is Form.FLAG:
            fits = isinstance(value, bool)
        if not fits:
            self.fail(path, f"'{path[-1]}' must be {form.value}, not {_spell(value)}", key.text)
        choices = _CHOICES.get(form)
        if choices and isinstance(value, str) and value not in choices:
            close = nearest(value, choices, 1)
            hint = f"did you mean '{close[0]}'?" if close else "one of " + ", ".join(choices)
            self.fail(path, f"'{path[-1]}' cannot be '{value}'", hint)

    def range(self, path: KeyPath, value: object) -> tuple[str, ...]:
        parts = _texts(value)
        try:
            Range.of(parts)
        except RangeError as error:
            self.fail(path, f"bad version range '{error.text}': {error.message}", error.hint)
        return parts

    def own_range(self, path: KeyPath, table: Mapping[str, object]) -> tuple[str, ...]:
        if "sglang" not in table:
            return self.default_range
        return self.range((*path, "sglang"), table["sglang"])

    def variants(
        self, path: KeyPath, value: object, read: Callable[[KeyPath, object], T]
    ) -> tuple[Variant[T], ...]:
        if value is None:
            return ()
        if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
            found = []
            for index, row in enumerate(value):
                at = (*path, index)
                for name in row:
                    if name not in ("sglang", "value"):
                        self.unknown((*at, name), "key", name, ("sglang", "value"))
                if "sglang" not in row or "value" not in row:
                    self.fail(at, f"{_shown(at)} needs the keys 'sglang' and 'value'")
                found.append(
                    Variant(
                        self.range((*at, "sglang"), row["sglang"]),
                        read((*at, "value"), row["value"]),
                    )
                )
            return tuple(found)
        return (Variant((), read(path, value)),)

    def one(self, path: KeyPath, value: object) -> str:
        if not isinstance(value, str):
            self.fail(path, f"{_shown(path)} must be a string, not {_spell(value)}")
        return value

    def several(self, path: KeyPath, value: object) -> tuple[str, ...]:
        if not isinstance(value, str) and not _is_texts(value):
            self.fail(
                path, f"{_shown(path)} must be a string or a list of strings, not {_spell(value)}"
            )
        return _texts(value)

    def shape(self, path: KeyPath, value: object) -> tuple[str, ...]:
        texts = self.several(path, value)
        for index, text in enumerate(texts):
            at = (*path, index) if isinstance(value, list) else path
            try:
                names = dimension_names(text)
            except ExpressionError as error:
                self.fail(at, f"bad dimension '{text}': {error.message}", error.hint)
            for name in sorted(names - self.dims.keys()):
                close = nearest(name, self.dims, 1)
                hint = f"did you mean '{close[0]}'?" if close else "declare it in [dims]"
                self.fail(at, f"unknown dimension '{name}' in '{text}'", hint)
        return texts

    def parameters(self, path: KeyPath, value: object) -> tuple[str, ...]:
        texts = self.several(path, value)
        for text, name in zip(texts, _names(texts), strict=True):
            if name and not name.isidentifier():
                self.fail(
                    path,
                    f"'{text}' is no parameter",
                    "write name, name= (has a default), *, /, *args or **kwargs",
                )
        return texts

    def returns(self, path: KeyPath, value: object) -> Returns:
        table = self.table(path, value, keys.RETURNS)
        shape = self.shape((*path, "shape"), table["shape"]) if "shape" in table else None
        return Returns(
            dtype=_texts(table.get("dtype")),
            shape=shape,
            device=_text(table.get("device")),
            type=_text(table.get("type")),
            arity=_number(table.get("arity"), 0),
        )

    def kv_writes(self, path: KeyPath, value: object) -> KvWrites:
        table = self.table(path, value, keys.KV_WRITES)
        return KvWrites(
            method=_text(table["method"]),
            times=_number(table.get("times"), 1),
            when=_text(table.get("when")),
            loc=_text(table.get("loc")),
        )

    def replaced_by(self, path: KeyPath, value: object) -> tuple[Replacement, ...]:
        if value is None:
            return ()
        many = isinstance(value, list)
        found = []
        for index, row in enumerate(value if isinstance(value, list) else [value]):
            at = (*path, index) if many else path
            table = self.table(at, row, keys.REPLACEMENT)
            sglang = self.range((*at, "sglang"), table["sglang"]) if "sglang" in table else ()
            found.append(
                Replacement(use=_text(table["use"]), sglang=sglang, note=_text(table.get("note")))
            )
        return tuple(found)

    def on(self, path: KeyPath, value: object) -> On:
        table = self.table(path, value, keys.ON)
        roles = {role.value: role for role in Role}
        role = _text(table["role"])
        if role not in roles:
            close = nearest(role, roles, 1)
            hint = f"did you mean '{close[0]}'?" if close else "one of " + ", ".join(roles)
            self.fail((*path, "role"), f"unknown role '{role}'", hint)
        self.symbol((*path, "symbol"), _text(table["symbol"]))
        if "position" in table and "argument" not in table and role != "caller":
            self.fail((*path, "position"), "'position' needs 'argument'", "name the argument")
        return On(
            symbol=_text(table["symbol"]),
            role=roles[role],
            argument=_text(table.get("argument")),
            position=_number(table.get("position"), -1),
            unless_type=_texts(table.get("unless_type")),
            with_arguments=_texts(table.get("with_arguments")),
            without_arguments=_texts(table.get("without_arguments")),
            reads=_texts(table.get("reads")),
            writes=_texts(table.get("writes")),
            off=_text(table.get("off")),
            unpacks=_number(table.get("unpacks"), 0),
            defines=_texts(table.get("defines")),
            lacks=_texts(table.get("lacks")),
            requires_parameters=_texts(table.get("requires_parameters")),
            lacks_parameters=_texts(table.get("lacks_parameters")),
            key=_text(table.get("key")),
            without_key=_text(table.get("without_key")),
            mentions=_texts(table.get("mentions")),
            unless_mentions=_texts(table.get("unless_mentions")),
            text=_texts(table.get("text")),
        )

    def shown(self, path: KeyPath, value: object) -> Shown | None:
        if value is None:
            return None
        table = self.table(path, value, keys.SHOWN)
        shown = Shown(
            call=_text(table.get("call")),
            argument=_text(table.get("argument")),
            position=_number(table.get("position"), -1),
            type=_text(table.get("type")),
            keywords=_texts(table.get("keywords")),
            holds=_text(table.get("holds")),
        )
        by_call = bool(shown.call) and bool(shown.keywords) != bool(shown.argument and shown.type)
        if by_call == bool(shown.holds):
            self.fail(
                path,
                "a behaviour is shown by a call's 'keywords', by a call's 'argument' of a 'type', "
                "or by what 'holds'",
                'write { call = "alloc", argument = "reqs", position = 0, type = "list" }',
            )
        if shown.holds:
            try:
                parse(shown.holds)
            except ExpressionError as error:
                self.fail((*path, "holds"), f"'{error.text}': {error.message}", error.hint)
        return shown

    def symbol(self, path: KeyPath, text: str) -> None:
        head, _, tail = text.partition(":")
        good = bool(head) and all(part.isidentifier() for part in head.split("."))
        if head in ("flag", "env"):
            good = bool(tail)
        elif "[" in tail:
            good = good and tail.endswith('"]') and '["' in tail
        elif ":" in text:
            tail, bracket, parameter = tail.partition("(")
            good = good and all(part.isidentifier() for part in tail.split("."))
            good = good and (not bracket or parameter.removesuffix(")").isidentifier())
        if not good:
            self.fail(
                path,
                f"'{text}' is no symbol",
                "write module:Qual.name, module:Qual.function(parameter), a module alone, "
                'flag:--name, env:NAME or module:REGISTRY["key"]',
            )

    def symbols(self, path: KeyPath, value: object) -> tuple[str, ...]:
        texts = _texts(value)
        for index, text in enumerate(texts):
            self.symbol((*path, index) if isinstance(value, list) else path, text)
        return texts

    # -- the whole

    def contract(self) -> Contract:
        for name in self.raw:
            if name not in keys.TOP:
                self.unknown((name,), "table", name, keys.TOP)
        if "contract" not in self.raw:
            self.fail(
                (), "there is no [contract] table", "start the file with [contract] and its id"
            )
        head = self.table(("contract",), self.raw["contract"], keys.CONTRACT)
        self.id = _text(head["id"])
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
        clauses = [*self.section_clauses(), *self.list_clauses()]
        self.check_ids(clauses)
        return Contract(
            id=self.id,
            title=_text(head["title"]),
            provider=_text(head["provider"]),
            consumer=_text(head["consumer"]),
            targets=self.targets,
            sglang=self.default_range,
            known_as=_texts(head.get("known_as")),
            dims=self.dims,
            layouts=self.read_layouts(),
            note=_text(head.get("note")),
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
            if not _is_texts(axes):
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
            last = _text(table.get("key")) or name
        texts = self.several
        return Clause(
            id=f"{self.id}/{_text(table.get('id')) or name}",
            kind=_KINDS[section],
            name=last,
            symbols=symbols,
            owner=owner,
            sglang=self.own_range(path, table),
            optional=bool(table.get("optional", False)),
            modes=_texts(table.get("modes")),
            dtype=self.variants((*path, "dtype"), table.get("dtype"), texts),
            shape=self.variants((*path, "shape"), table.get("shape"), self.shape),
            type=self.variants((*path, "type"), table.get("type"), self.one),
            device=_text(table.get("device")),
            parameters=self.variants(
                (*path, "parameters"), table.get("parameters"), self.parameters
            ),
            returns=self.variants((*path, "returns"), table.get("returns"), self.returns),
            kv_writes=self.kv_writes((*path, "kv_writes"), table["kv_writes"])
            if "kv_writes" in table
            else None,
            host_transfers=_number(table["host_transfers"], 0)
            if "host_transfers" in table
            else None,
            replaced_by=self.replaced_by((*path, "replaced_by"), table.get("replaced_by")),
            known_as=_texts(table.get("known_as")),
            distinctive=bool(table.get("distinctive", False)),
            note=_text(table.get("note")),
            source=_text(table.get("source")),
            line=self.line(path),
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
                f"{_shown(path)} is on the contract's target, and there is none",
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
            key = _text(table.get("key")) or name
            return tuple(f'{symbol}["{key}"]' for symbol in symbols)
        return symbols

    def list_clauses(self) -> list[Clause]:
        found: list[Clause] = []
        for section, allowed in keys.LISTS.items():
            raw = self.raw.get(section, [])
            if not isinstance(raw, list):
                self.fail((section,), f"'{section}' must be an array of tables: [[{section}]]")
            for index, value in enumerate(raw):
                path: KeyPath = (section, index)
                table = self.table(path, value, allowed)
                found.append(getattr(self, f"{section}_clause")(path, table))
        return found

    def invariants_clause(self, path: KeyPath, table: Mapping[str, object]) -> Clause:
        text = _text(table["holds"])
        at = (*path, "holds")
        try:
            names = parse(text).names
        except ExpressionError as error:
            self.fail(at, f"'{error.text}': {error.message}", error.hint)
        known = self.readable()
        for name in sorted(names):
            if name not in known and name.partition(".")[0] not in known:
                close = nearest(name, known, 1)
                hint = f"did you mean '{close[0]}'?" if close else "known: " + ", ".join(known)
                self.fail(at, f"'{text}' reads an unknown field '{name}'", hint)
        return Clause(
            id=f"{self.id}/{_text(table['id'])}",
            kind=Kind.INVARIANT,
            name=_text(table["id"]),
            sglang=self.own_range(path, table),
            modes=_texts(table.get("modes")),
            optional=bool(table.get("optional", False)),
            holds=text,
            note=_text(table.get("note")),
            source=_text(table.get("source")),
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
                    found.update(dict.fromkeys(_names(variant.value)))
        found.update(dict.fromkeys(("mode", "result")))
        found.pop("", None)
        return tuple(found)

    def behaviours_clause(self, path: KeyPath, table: Mapping[str, object]) -> Clause:
        on = self.on((*path, "on"), table["on"])
        symbol = _text(table.get("symbol")) or on.symbol
        self.symbol((*path, "symbol"), symbol)
        return Clause(
            id=f"{self.id}/{_text(table['id'])}",
            kind=Kind.BEHAVIOUR,
            name=_text(table["id"]),
            symbols=(symbol,),
            sglang=self.own_range(path, table),
            on=on,
            was=_text(table.get("was")),
            now=_text(table["now"]),
            use=_text(table.get("use")),
            severity=_text(table.get("severity")) or "error",
            rule=_text(table.get("rule")),
            shown=self.shown((*path, "shown"), table.get("shown")),
            note=_text(table.get("note")),
            source=_text(table.get("source")),
            line=self.line(path),
        )

    def obligations_clause(self, path: KeyPath, table: Mapping[str, object]) -> Clause:
        owner = self.targets
        of = _text(table.get("of"))
        if of:
            if of not in self.classes:
                self.unknown((*path, "of"), "class", of, self.classes)
            owner = self.classes[of]
        name = _text(table["name"])
        return Clause(
            id=f"{self.id}/{_text(table.get('id')) or name}",
            kind=Kind.OBLIGATION,
            name=name,
            symbols=tuple(f"{spelling}.{name}" for spelling in owner),
            owner=owner,
            sglang=self.own_range(path, table),
            optional=bool(table.get("optional", False)),
            receivers=_texts(table["receivers"]),
            called=bool(table.get("called", False)),
            replaced_by=self.replaced_by((*path, "replaced_by"), table.get("replaced_by")),
            note=_text(table.get("note")),
            source=_text(table.get("source")),
            line=self.line(path),
        )

    def check_ids(self, clauses: Sequence[Clause]) -> None:
        seen: dict[str, int] = {}
        for clause in clauses:
            if clause.id in seen:
                raise ContractsError(
                    f"{self.file}:{clause.line}: the clause '{clause.id}' stands already "
                    f"in line {seen[clause.id]}",
                    "give one of them an id of its own",
                )
            seen[clause.id] = clause.line


def _shown(path: KeyPath) -> str:
    names = [str(part) for part in path if isinstance(part, str)]
    return f"[{'.'.join(names)}]" if names else "the file"


def _spell(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(str(each) for each in value) if isinstance(value, list) else ()


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object, default: int) -> int:
    return value if isinstance(value, int) else default


def _names(parameters: tuple[str, ...]) -> tuple[str, ...]:
    return tuple("" if text in ("*", "/") else signature.bare(text) for text in parameters)
