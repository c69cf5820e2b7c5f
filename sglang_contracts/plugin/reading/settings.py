"""``[tool.sglang-contracts]`` in a plugin's ``pyproject.toml``, read strictly.

A key that is not known is an error with its line and the nearest known one: a setting that is
silently without effect is worse than none.
"""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from sglang_contracts.errors import ContractsError, nearest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLE = "sglang-contracts"
MAX_BYTES = 4 << 20
"""A larger ``pyproject.toml`` is not read: no hand has written it."""


class Accept(msgspec.Struct, frozen=True, omit_defaults=True):
    """A finding that the maintainer has judged, so that it is no longer reported."""

    rule: str
    """A rule's name, or ``*``."""
    symbol: str
    """The finding's symbol; ``*`` stands for any characters."""
    reason: str
    expires: datetime.date | None = None
    """Last day on which it counts; after it the run fails. None: it has no end."""
    file: str = ""
    """Only in files that this glob matches; empty: in all."""
    line: int = 0
    """Where the entry stands in the settings file."""


class ExpectedFailure(msgspec.Struct, frozen=True, omit_defaults=True):
    """A check of the suite that is known to fail; one that passes is a failure."""

    check: str
    """Check id, ``family.what-must-hold``."""
    reason: str
    releases: str = ""
    """Specifier set of the SGLang releases in which it fails; empty: all."""
    expires: datetime.date | None = None
    line: int = 0


class Settings(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a plugin says about itself."""

    file: str = ""
    """The file they come from, as it was named; empty: there are none."""
    supported: str = ""
    """Specifier set of the SGLang releases the plugin claims to work with."""
    fork: str = ""
    """Which fork of SGLang the plugin is for; empty: it is for SGLang itself."""
    platform: str = ""
    """Name of the platform that the plugin registers."""
    plugins: tuple[str, ...] = ()
    """Entry-point names of the plugin."""
    attention_backend: str = ""
    """Name under which the attention backend is registered."""
    exclude: tuple[str, ...] = ()
    """Globs, relative to the plugin's root, of files that are not checked."""
    known_as: Mapping[str, str] = {}
    """Further conventional names of objects → ``module:Class``."""
    capabilities: Mapping[str, Any] = {}
    """What the plugin declares it can do; the suite knows and checks the keys."""
    combination: Mapping[str, str] = {}
    """What is certified together: ``python`` or a distribution → its version or a specifier."""
    doctor: Mapping[str, str] = {}
    """What a diagnosis of a host has to know: keys of :data:`DIAGNOSIS`."""
    accept: tuple[Accept, ...] = ()
    expected_failures: tuple[ExpectedFailure, ...] = ()
    baseline: str = ""
    """Baseline file, relative to the settings' folder."""
    fail_on: str = ""
    """Default of ``--fail-on``."""
    strict: bool = False
    """Default of ``--strict``."""


DIAGNOSIS = ("kernel-cache", "kernel-cache-variable", "compiles", "topology-variable")
"""Keys of ``[tool.sglang-contracts.doctor]``: the usual folder of compiled kernels and the variable
that names another, a regular expression for lines that tell of a compilation, the variable that
names the topology file."""


def find_settings(root: Path) -> Path | None:
    """The ``pyproject.toml`` that holds the settings for ``root``: there, or in a folder above.

    A folder above counts only if its file has the table (a monorepo), and the search ends at the
    top of the repository.
    """
    start = root.resolve()
    folder = start if start.is_dir() else start.parent
    for place in (folder, *folder.parents):
        candidate = place / "pyproject.toml"
        if candidate.is_file():
            if place == folder:
                return candidate
            try:
                if candidate.stat().st_size <= MAX_BYTES and (
                    f"[tool.{TABLE}" in candidate.read_text(encoding="utf-8", errors="replace")
                ):
                    return candidate
            except OSError:
                return None
        if (place / ".git").exists():
            return None
    return None


def load_settings(path: Path, rules: Collection[str] = ()) -> Settings:
    """Read the settings in a ``pyproject.toml``; without the table: all defaults.

    Args:
        path: The file.
        rules: Names of rules that an accepted finding may have; empty: any.

    Raises:
        ContractsError: It cannot be read, is not TOML, or holds something unknown.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ContractsError(f"{path} is larger than {MAX_BYTES >> 20} MiB", "is it that file?")
        raw = path.read_bytes()
    except OSError as error:
        raise ContractsError(f"cannot read {path}: {error.strerror or error}") from error
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ContractsError(f"{path}:{line}: not UTF-8", "TOML is always UTF-8") from error
    return parse_settings(text, str(path), rules)


def parse_settings(text: str, file: str, rules: Collection[str] = ()) -> Settings:
    """The settings in the text of a ``pyproject.toml``.

    Args:
        text: The whole file.
        file: How to name it in errors.
        rules: Names of rules that an accepted finding may have; empty: any.

    Raises:
        ContractsError: As :func:`load_settings`.
    """
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # no TOML, or a number of thousands of digits
        raise ContractsError(
            f"{file}: not valid TOML: {error or 'nested too deeply'}",
            "the settings are not used before this is mended",
        ) from error
    tool = document.get("tool")
    if not isinstance(tool, dict) or TABLE not in tool:
        return Settings()
    return _Reader(text, file, rules).settings(tool[TABLE])


class _Reader:
    """Turns the table into :class:`Settings`; every complaint has a line."""

    def __init__(self, text: str, file: str, rules: Collection[str]) -> None:
        self._text = text
        self._file = file
        self._rules = rules

    def line(self, *path: str | int) -> int:
        from sglang_contracts.contract.locate import Locator

        return Locator(self._text).line(("tool", TABLE, *path))

    def fail(self, message: str, hint: str, *path: str | int) -> NoReturn:
        raise ContractsError(f"{self._file}:{self.line(*path)}: {message}", hint)

    def settings(self, table: Any) -> Settings:
        if not isinstance(table, dict):
            self.fail(f"tool.{TABLE} must be a table", f"write [tool.{TABLE}]")
        readers: dict[str, Callable[[Any, str], Any]] = {
            "supported": self._specifier,
            "fork": self._text_value,
            "platform": self._text_value,
            "plugins": self._texts,
            "attention-backend": self._text_value,
            "exclude": self._texts,
            "known-as": self._symbols,
            "capabilities": self._capabilities,
            "combination": self._versions,
            "doctor": self._diagnosis,
            "accept": self._accept,
            "expected-failures": self._expected_failures,
            "baseline": self._text_value,
            "fail-on": self._fail_on,
            "strict": self._flag,
        }
        values: dict[str, Any] = {"file": self._file}
        for key, value in table.items():
            self._known(key, readers, "setting", key)
            values[key.replace("-", "_")] = readers[key](value, key)
        return Settings(**values)

    def _known(self, key: str, known: Collection[str], what: str, *path: str | int) -> None:
        if key in known:
            return
        close = nearest(key.replace("_", "-"), known, 1) or nearest(key, known, 1)
        hint = f"did you mean '{close[0]}'?" if close else f"known are {', '.join(sorted(known))}"
        self.fail(f"unknown {what} '{key}'", hint, *path)

    def _text_value(self, value: Any, *path: str | int) -> str:
        if not isinstance(value, str):
            self.fail(f"{_place(path)} must be a string, not {_kind(value)}", "quote it", *path)
        if not value.strip():
            self.fail(f"{_place(path)} is empty", "give it a value, or leave it out", *path)
        return value

    def _flag(self, value: Any, *path: str | int) -> bool:
        if not isinstance(value, bool):
            self.fail(
                f"{_place(path)} must be true or false, not {_kind(value)}", "without quotes", *path
            )
        return value

    def _texts(self, value: Any, *path: str | int) -> tuple[str, ...]:
        if isinstance(value, str):
            return (self._text_value(value, *path),)
        if not isinstance(value, list):
            self.fail(f"{_place(path)} must be a list of strings, not {_kind(value)}", "", *path)
        return tuple(self._text_value(item, *path, index) for index, item in enumerate(value))

    def _specifier(self, value: Any, *path: str | int) -> str:
        from packaging.specifiers import SpecifierSet

        text = self._text_value(value, *path)
        try:
            SpecifierSet(text).contains("0.5.3")  # only this reads the versions in it
        except ValueError:  # InvalidSpecifier, or more digits than Python reads
            self.fail(
                f"'{text}' is not a version specifier", "write one like '>=0.5.3,<0.5.13'", *path
            )
        return text

    def _symbols(self, value: Any, *path: str | int) -> dict[str, str]:
        if not isinstance(value, dict):
            self.fail(f"{_place(path)} must be a table of names, not {_kind(value)}", "", *path)
        for name, symbol in value.items():
            if not name.isidentifier():
                self.fail(f"'{name}' is no name of a variable", "", *path, name)
            module, _, qual = self._text_value(symbol, *path, name).partition(":")
            parts = [*module.split("."), *qual.split(".")]
            if not all(part.isidentifier() for part in parts):
                self.fail(
                    f"'{symbol}' is no symbol",
                    "write module:Class, e.g. "
                    "sglang.srt.model_executor.forward_batch_info:ForwardBatch",
                    *path,
                    name,
                )
        return dict(value)

    def _table(self, value: Any, *path: str | int) -> dict[str, str]:
        if not isinstance(value, dict):
            self.fail(f"{_place(path)} must be a table, not {_kind(value)}", "", *path)
        return {name: self._text_value(text, *path, name) for name, text in value.items()}

    def _versions(self, value: Any, *path: str | int) -> dict[str, str]:
        found = self._table(value, *path)
        for name, text in found.items():
            if text[0] in "<>=!~":
                self._specifier(text, *path, name)
        return found

    def _diagnosis(self, value: Any, *path: str | int) -> dict[str, str]:
        found = self._table(value, *path)
        for name in found:
            self._known(name, DIAGNOSIS, "key", *path, name)
        return found

    def _capabilities(self, value: Any, *path: str | int) -> dict[str, Any]:
        if not isinstance(value, dict):
            self.fail(f"capabilities must be a table, not {_kind(value)}", "", *path)
        return dict(value)

    def _fail_on(self, value: Any, *path: str | int) -> str:
        text = self._text_value(value, *path)
        self._known(text, ("error", "warning", "note", "never"), "severity", *path)
        return text

    def _tables(
        self, value: Any, required: Collection[str], optional: Collection[str], key: str
    ) -> list[dict[str, Any]]:
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self.fail(
                f"{key} must be an array of tables, not {_kind(value)}",
                f"write [[tool.{TABLE}.{key}]]",
                key,
            )
        for index, item in enumerate(value):
            for name in item:
                self._known(name, {*required, *optional}, f"key in {key}", key, index, name)
            for name in required:
                if name not in item:
                    self.fail(f"an entry of {key} without '{name}'", "add it", key, index)
        return value

    def _accept(self, value: Any, key: str) -> tuple[Accept, ...]:
        entries = []
        optional = ("expires", "file")
        for index, item in enumerate(
            self._tables(value, ("rule", "symbol", "reason"), optional, key)
        ):
            rule = self._text_value(item["rule"], key, index, "rule")
            if self._rules and rule != "*":
                self._known(rule, self._rules, "rule", key, index, "rule")
            entries.append(
                Accept(
                    rule=rule,
                    symbol=self._text_value(item["symbol"], key, index, "symbol"),
                    reason=self._text_value(item["reason"], key, index, "reason"),
                    expires=self._date(item.get("expires"), key, index, "expires"),
                    file=self._text_value(item["file"], key, index, "file")
                    if "file" in item
                    else "",
                    line=self.line(key, index),
                )
            )
        return tuple(entries)

    def _expected_failures(self, value: Any, key: str) -> tuple[ExpectedFailure, ...]:
        entries = []
        for index, item in enumerate(
            self._tables(value, ("check", "reason"), ("releases", "expires"), key)
        ):
            entries.append(
                ExpectedFailure(
                    check=self._text_value(item["check"], key, index, "check"),
                    reason=self._text_value(item["reason"], key, index, "reason"),
                    releases=self._specifier(item["releases"], key, index, "releases")
                    if "releases" in item
                    else "",
                    expires=self._date(item.get("expires"), key, index, "expires"),
                    line=self.line(key, index),
                )
            )
        return tuple(entries)

    def _date(self, value: Any, *path: str | int) -> datetime.date | None:
        if value is None:
            return None
        if isinstance(value, datetime.datetime):
            return value.date()
        if isinstance(value, datetime.date):
            return value
        try:
            return datetime.date.fromisoformat(value)
        except (TypeError, ValueError):
            self.fail(f"'{value}' is no date", "write one like 2027-01-31", *path)


def _place(path: tuple[str | int, ...]) -> str:
    """The last key of a path with the indices behind it, as in ``exclude[0]``."""
    first = max(at for at, each in enumerate(path) if isinstance(each, str))
    return f"{path[first]}" + "".join(f"[{each}]" for each in path[first + 1 :])


def _kind(value: Any) -> str:
    """What a TOML value is, in TOML's words."""
    names = {bool: "a boolean", str: "a string", int: "an integer", float: "a float"}
    names |= {list: "an array", dict: "a table"}
    return names.get(type(value), "a date or time")
