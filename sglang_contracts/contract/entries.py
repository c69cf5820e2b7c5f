"""What stands in a contract file, key by key: held against what the key takes, and read.

Errors name the file, the line, the offending text and the nearest valid one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NoReturn, TypeVar

from sglang_contracts.contract import keys, signature
from sglang_contracts.contract.dimensions import dimension_names
from sglang_contracts.contract.expression import ExpressionError, parse
from sglang_contracts.contract.keys import Form, Key
from sglang_contracts.contract.locate import Path as KeyPath
from sglang_contracts.contract.model import (
    KvWrites,
    On,
    Replacement,
    Returns,
    Role,
    Shown,
    Variant,
)
from sglang_contracts.contract.ranges import Range, RangeError
from sglang_contracts.contract.text import TomlText
from sglang_contracts.errors import ContractsError, nearest

T = TypeVar("T")

_FORMS_OF_TEXT = frozenset({Form.TEXT, Form.SEVERITY, Form.DEVICE, Form.SIDE})
_CHOICES = {
    Form.SEVERITY: ("error", "warning", "note"),
    Form.DEVICE: ("compute", "host"),
    Form.SIDE: keys.SIDES,
}


class Entries:
    """The keys of one contract: of its file, and of its inventory where it has one.

    Args:
        main: The contract's file.
        inventory: The file with the names that only have bounds.

    Raises:
        ContractsError: The inventory has what does not belong there, or stands in both files.
    """

    def __init__(self, main: TomlText, inventory: TomlText | None = None) -> None:
        self.file = main.file
        self._main = main
        self._inventory = inventory
        self.id = ""
        self.targets: tuple[str, ...] = ()
        self.classes: dict[str, tuple[str, ...]] = {}
        self.default_range: tuple[str, ...] = ()
        self.dims: dict[str, str] = {}
        self._only_bounds: set[KeyPath] = set()
        self.raw = self._joined() if inventory is not None else main.raw

    def _joined(self) -> dict[str, object]:
        assert self._inventory is not None
        joined = dict(self._main.raw)
        for section, names in self._inventory.raw.items():
            self._only_bounds.add((section,))
            if section not in keys.SECTIONS:
                self.fail(
                    (section,),
                    f"'{section}' has no place in the inventory: it holds names with their bounds",
                    f"write it in {self.file}",
                )
            own = joined.get(section, {})
            if not isinstance(names, dict):
                self.fail((section,), f"'{section}' must be a table of tables")
            self._only_bounds.discard((section,))
            if not isinstance(own, dict):
                continue  # said of the contract's own file when its tables are read
            for name, table in names.items():
                self._only_bounds.add((section, name))
                self._refuse_meaning((section, name), table)
                if name in own:
                    line = self._main.line((section, name))
                    self.fail(
                        (section, name),
                        f"[{section}.{name}] stands already in {self.file}, line {line}",
                        "keep the one that says more",
                    )
            joined[section] = {**own, **names}
        return joined

    def _refuse_meaning(self, path: KeyPath, table: object) -> None:
        for name in table if isinstance(table, dict) else ():
            if name in keys.MEANING:
                self.fail(
                    (*path, name),
                    f"'{name}' says more than a name and its bounds, which an inventory holds",
                    f"move {place_of(path)} to {self.file}",
                )

    def is_inventory(self, path: KeyPath) -> bool:
        """Whether a key stands in the inventory."""
        return path[:2] in self._only_bounds or path[:1] in self._only_bounds

    def file_of(self, inventory: bool) -> str:
        """The name of the contract's file, or of its inventory."""
        return self._inventory.file if inventory and self._inventory else self._main.file

    # -- errors

    def line(self, path: KeyPath) -> int:
        """The line on which a key stands, in the file in which it does."""
        inventory = self._inventory if self.is_inventory(path) else None
        return (inventory or self._main).line(path)

    def fail(self, path: KeyPath, message: str, hint: str = "") -> NoReturn:
        """Raise what is wrong at a key, with file and line."""
        file = self.file_of(self.is_inventory(path))
        raise ContractsError(f"{file}:{self.line(path)}: {message}", hint)

    # -- pieces

    def table(self, path: KeyPath, value: object, allowed: Mapping[str, Key]) -> dict[str, object]:
        """A table whose keys are all allowed, none is missing, and each value has its form."""
        if not isinstance(value, dict):
            self.fail(path, f"'{path[-1]}' must be a table")
        for name in value:
            if name not in allowed:
                self.unknown((*path, name), "key", name, allowed)
        for name, key in allowed.items():
            if key.required and name not in value:
                self.fail(path, f"{place_of(path)} needs the key '{name}'", key.text)
            if name in value:
                self.form((*path, name), value[name], key)
        return value

    def unknown(self, path: KeyPath, what: str, name: str, known: Iterable[str]) -> NoReturn:
        """Raise that a name is none of those known; the nearest one is named."""
        known = list(known)
        close = nearest(name, known, 1)
        hint = f"did you mean '{close[0]}'?" if close else "known: " + ", ".join(known)
        self.fail(path, f"unknown {what} '{name}' in {place_of(path[:-1])}", hint)

    def form(self, path: KeyPath, value: object, key: Key) -> None:
        """Hold a value against the form that its key takes."""
        form = key.form
        fits = True
        if form in _FORMS_OF_TEXT:
            fits = isinstance(value, str)
        elif form is Form.TEXTS:
            fits = isinstance(value, str) or are_texts(value)
        elif form is Form.LIST:
            fits = are_texts(value)
        elif form is Form.NUMBER:
            fits = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        elif form is Form.FLAG:
            fits = isinstance(value, bool)
        if not fits:
            self.fail(path, f"'{path[-1]}' must be {form.value}, not {spelled(value)}", key.text)
        choices = _CHOICES.get(form)
        if choices and isinstance(value, str) and value not in choices:
            close = nearest(value, choices, 1)
            hint = f"did you mean '{close[0]}'?" if close else "one of " + ", ".join(choices)
            self.fail(path, f"'{path[-1]}' cannot be '{value}'", hint)

    def range(self, path: KeyPath, value: object) -> tuple[str, ...]:
        """A version range: a string, or several of which one must hold."""
        parts = as_texts(value)
        try:
            Range.of(parts)
        except RangeError as error:
            self.fail(path, f"bad version range '{error.text}': {error.message}", error.hint)
        return parts

    def own_range(self, path: KeyPath, table: Mapping[str, object]) -> tuple[str, ...]:
        """The range of a table; that of the contract where it states none."""
        if "sglang" not in table:
            return self.default_range
        return self.range((*path, "sglang"), table["sglang"])

    def variants(
        self, path: KeyPath, value: object, read: Callable[[KeyPath, object], T]
    ) -> tuple[Variant[T], ...]:
        """A value, or one for each of several ranges."""
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
                    self.fail(at, f"{place_of(at)} needs the keys 'sglang' and 'value'")
                found.append(
                    Variant(
                        self.range((*at, "sglang"), row["sglang"]),
                        read((*at, "value"), row["value"]),
                    )
                )
            return tuple(found)
        return (Variant((), read(path, value)),)

    def one(self, path: KeyPath, value: object) -> str:
        """A string."""
        if not isinstance(value, str):
            self.fail(path, f"{place_of(path)} must be a string, not {spelled(value)}")
        return value

    def several(self, path: KeyPath, value: object) -> tuple[str, ...]:
        """A string, or a list of them."""
        if not isinstance(value, str) and not are_texts(value):
            self.fail(
                path,
                f"{place_of(path)} must be a string or a list of strings, not {spelled(value)}",
            )
        return as_texts(value)

    def shape(self, path: KeyPath, value: object) -> tuple[str, ...]:
        """A shape: each dimension an expression over known names."""
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
        """The parameters of a function, as Python writes them."""
        texts = self.several(path, value)
        for text, name in zip(texts, names_of(texts), strict=True):
            if name and not name.isidentifier():
                self.fail(
                    path,
                    f"'{text}' is no parameter",
                    "write name, name= (has a default), *, /, *args or **kwargs",
                )
        return texts

    def returns(self, path: KeyPath, value: object) -> Returns:
        """What a function returns."""
        table = self.table(path, value, keys.RETURNS)
        shape = self.shape((*path, "shape"), table["shape"]) if "shape" in table else None
        return Returns(
            dtype=as_texts(table.get("dtype")),
            shape=shape,
            device=as_text(table.get("device")),
            type=as_text(table.get("type")),
            arity=as_number(table.get("arity"), 0),
        )

    def kv_writes(self, path: KeyPath, value: object) -> KvWrites:
        """Which slots of the KV cache a call writes."""
        table = self.table(path, value, keys.KV_WRITES)
        return KvWrites(
            method=as_text(table["method"]),
            times=as_number(table.get("times"), 1),
            when=as_text(table.get("when")),
            loc=as_text(table.get("loc")),
        )

    def replaced_by(self, path: KeyPath, value: object) -> tuple[Replacement, ...]:
        """What took the place of something, each from some release on."""
        if value is None:
            return ()
        many = isinstance(value, list)
        found = []
        for index, row in enumerate(value if isinstance(value, list) else [value]):
            at = (*path, index) if many else path
            table = self.table(at, row, keys.REPLACEMENT)
            sglang = self.range((*at, "sglang"), table["sglang"]) if "sglang" in table else ()
            found.append(
                Replacement(
                    use=as_text(table["use"]), sglang=sglang, note=as_text(table.get("note"))
                )
            )
        return tuple(found)

    def on(self, path: KeyPath, value: object) -> On:
        """What in a plugin a behaviour concerns."""
        table = self.table(path, value, keys.ON)
        roles = {role.value: role for role in Role}
        role = as_text(table["role"])
        if role not in roles:
            close = nearest(role, roles, 1)
            hint = f"did you mean '{close[0]}'?" if close else "one of " + ", ".join(roles)
            self.fail((*path, "role"), f"unknown role '{role}'", hint)
        self.symbol((*path, "symbol"), as_text(table["symbol"]))
        if "position" in table and "argument" not in table and role != "caller":
            self.fail((*path, "position"), "'position' needs 'argument'", "name the argument")
        return On(
            symbol=as_text(table["symbol"]),
            role=roles[role],
            argument=as_text(table.get("argument")),
            position=as_number(table.get("position"), -1),
            unless_type=as_texts(table.get("unless_type")),
            with_arguments=as_texts(table.get("with_arguments")),
            without_arguments=as_texts(table.get("without_arguments")),
            reads=as_texts(table.get("reads")),
            writes=as_texts(table.get("writes")),
            off=as_text(table.get("off")),
            unpacks=as_number(table.get("unpacks"), 0),
            defines=as_texts(table.get("defines")),
            lacks=as_texts(table.get("lacks")),
            requires_parameters=as_texts(table.get("requires_parameters")),
            lacks_parameters=as_texts(table.get("lacks_parameters")),
            key=as_text(table.get("key")),
            without_key=as_text(table.get("without_key")),
            mentions=as_texts(table.get("mentions")),
            unless_mentions=as_texts(table.get("unless_mentions")),
            unless_in=as_texts(table.get("unless_in")),
            unless_made_by=as_texts(table.get("unless_made_by")),
            until=as_texts(table.get("until")),
            text=as_texts(table.get("text")),
        )

    def shown(self, path: KeyPath, value: object) -> Shown | None:
        """How a behaviour is shown on a running release."""
        if value is None:
            return None
        table = self.table(path, value, keys.SHOWN)
        shown = Shown(
            call=as_text(table.get("call")),
            argument=as_text(table.get("argument")),
            position=as_number(table.get("position"), -1),
            type=as_text(table.get("type")),
            keywords=as_texts(table.get("keywords")),
            holds=as_text(table.get("holds")),
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
        """Hold a spelling of a symbol against the forms there are."""
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
        """One spelling of a symbol, or several."""
        texts = as_texts(value)
        for index, text in enumerate(texts):
            self.symbol((*path, index) if isinstance(value, list) else path, text)
        return texts


def place_of(path: KeyPath) -> str:
    """Where a key stands, as an error says it."""
    names = [str(part) for part in path if isinstance(part, str)]
    return f"[{'.'.join(names)}]" if names else "the file"


def spelled(value: object) -> str:
    """A value as Python writes it, shortened."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def are_texts(value: object) -> bool:
    """Whether a value is a list of strings."""
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def as_texts(value: object) -> tuple[str, ...]:
    """A string or a list as strings; none for anything else."""
    if isinstance(value, str):
        return (value,)
    return tuple(str(each) for each in value) if isinstance(value, list) else ()


def as_text(value: object) -> str:
    """A string; empty for anything else."""
    return value if isinstance(value, str) else ""


def as_number(value: object, default: int) -> int:
    """A number; the default for anything else."""
    return value if isinstance(value, int) else default


def names_of(parameters: tuple[str, ...]) -> tuple[str, ...]:
    """Names of parameters; empty for the bare ``*`` and ``/``."""
    return tuple("" if text in ("*", "/") else signature.bare(text) for text in parameters)
