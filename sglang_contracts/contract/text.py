"""Reads the files of a contract: text bounded in size, TOML with the line of each key."""

from __future__ import annotations

import sys
from pathlib import Path

from sglang_contracts.contract.locate import Locator
from sglang_contracts.contract.locate import Path as KeyPath
from sglang_contracts.errors import ContractsError

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover - the same parser under its older name
    import tomli as tomllib

MAX_BYTES = 1_000_000
"""Largest contract file."""
INVENTORY = "inventory"
"""Folder, beside the contracts, of the files with the names that only have bounds."""


def read_text(path: Path) -> str:
    """The text of a contract file, bounded in size.

    Raises:
        ContractsError: It cannot be read, is too large, or is not UTF-8.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ContractsError(
                f"{path.name}: larger than {MAX_BYTES} bytes", "split the contract"
            )
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ContractsError(f"{path.name}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ContractsError(
            f"{path.name}: byte {error.start} is not UTF-8", "save the file as UTF-8"
        ) from None


class TomlText:
    """One TOML file: its values, and the line of each key.

    Args:
        text: The file's.
        file: Its name, for errors.

    Raises:
        ContractsError: The text is not TOML.
    """

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self._text = text
        self._locator: Locator | None = None
        try:
            self.raw: dict[str, object] = tomllib.loads(text)
        except (ValueError, RecursionError) as error:  # or a number of thousands of digits
            raise _broken(text, file, error) from None

    def line(self, path: KeyPath) -> int:
        """The line on which a key stands."""
        if self._locator is None:
            self._locator = Locator(self._text)
        return self._locator.line(path)


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
