"""What goes wrong on a fake, and how it is said.

A name that the release does not have fails as on the real release, with the same kind of
exception. Its text is put together only when somebody reads it: plugins probe with ``hasattr``, and
a look over sixty releases is not to be paid for each probe.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class FakeError(RuntimeError):
    """The release has it, but the fake has its shape only: it does not behave.

    Args:
        symbol: Full name of what was used, ``module:Qual.name``.
        release: The release that is faked.
        detail: What could not be done; by default that nothing stands behind the name.
    """

    def __init__(self, symbol: str, release: str, detail: str = "") -> None:
        self.symbol, self.release, self.detail = symbol, release, detail
        super().__init__(
            f"{symbol} is there in SGLang {release}, but this fake has only its shape: "
            f"{detail or 'it does not behave'}. "
            "Replace it in your test, or run the test on the real release "
            f"(tox -e sglang-{release})."
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """It goes from one process to another: the arguments, not the text, make it again."""
        return type(self), (self.symbol, self.release, self.detail)


class _Told:
    """Mixin: the text is the plain one of Python and, made on demand, what to do about it."""

    plain: str
    tell: Callable[[], str]
    _text: str = ""

    def __str__(self) -> str:
        if not self._text:  # once: one error is often told many times
            more = self.tell()
            self._text = f"{self.plain}; {more}" if more else self.plain
        return self._text

    def __reduce__(self) -> tuple[Any, ...]:
        """The text as it reads here; what makes it, and what was asked, stay in this process."""
        return _told_elsewhere, (type(self), str(self), getattr(self, "name", None))


def _told_elsewhere(kind: type[Any], text: str, name: str | None) -> Any:
    """An error whose text is known, as another process gets it."""
    if issubclass(kind, MissingAttributeError):
        return kind(text, _nothing_more, name or "", None)
    if issubclass(kind, WrongCallError):
        return kind(text, _nothing_more)
    return kind(text, _nothing_more, name or "")


def _nothing_more() -> str:
    return ""


class MissingAttributeError(_Told, AttributeError):
    """A name that this release's module, class or object does not have.

    Args:
        plain: What Python itself would say.
        tell: Makes the rest of the text.
        name: The name that is missing.
        obj: What it was looked for on.
    """

    def __init__(self, plain: str, tell: Callable[[], str], name: str, obj: object) -> None:
        super().__init__(plain, name=name, obj=obj)
        self.plain, self.tell = plain, tell


class MissingImportError(_Told, ImportError):
    """``from module import name`` of a name that this release's module does not have."""

    def __init__(self, plain: str, tell: Callable[[], str], module: str) -> None:
        super().__init__(plain, name=module)
        self.plain, self.tell = plain, tell


class MissingModuleError(_Told, ModuleNotFoundError):
    """A module that this release does not have."""

    def __init__(self, plain: str, tell: Callable[[], str], module: str) -> None:
        super().__init__(plain, name=module)
        self.plain, self.tell = plain, tell


class WrongCallError(_Told, TypeError):
    """A call that does not fit the signature that this release has."""

    def __init__(self, plain: str, tell: Callable[[], str]) -> None:
        super().__init__(plain)
        self.plain, self.tell = plain, tell
