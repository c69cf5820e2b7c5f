"""How a check says no, and how that differs from a crash.

Only a :class:`Violation` is a check's own assertion. What the backend under test raises is a
:class:`SubjectError`: it fails the check that was running, but proves nothing about what that
check is for (a mutant is not killed by it), unless the check is about exactly that
(:attr:`~sglang_contracts.suite.registry.Check.forbids_raising`). Anything else that is raised
is a fault of the suite, and never the backend's.
"""

from __future__ import annotations

import functools
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from sglang_contracts import paths

T = TypeVar("T")


class Violation(AssertionError):  # noqa: N818 - its name is what messages and documents say
    """What a check holds does not hold.

    Args:
        message: What was expected and what was found: shapes, dtypes, devices, positions; never
            the contents of a tensor.
        reproduction: Python that fails alone for the same reason; may be filled in later.
    """

    def __init__(self, message: str, reproduction: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.reproduction = reproduction

    def __str__(self) -> str:
        if not self.reproduction:
            return self.message
        return f"{self.message}\n\nreproduce:\n{self.reproduction}"


class SubjectError(Exception):
    """The backend under test raised.

    Args:
        doing: What it was asked for.
        cause: What it raised.
    """

    def __init__(self, doing: str, cause: BaseException) -> None:
        super().__init__(doing, cause)
        self.doing = doing
        self.cause = cause
        self.reproduction = ""

    def why(self) -> str:
        """What was raised and where, in a line: the same for every check that it fails."""
        text = said(self.cause).partition("\n")[0]
        told = f"{type(self.cause).__name__}: {text}" if text else type(self.cause).__name__
        return told + place_of(self.cause)

    def __str__(self) -> str:
        text = f"{self.doing} raised {type(self.cause).__name__}: {said(self.cause)}"
        place = place_of(self.cause)
        if place:
            text += f"\n {place}"
        if isinstance(self.cause, TypeError) and "'module' object is not callable" in text:
            text += (
                "\n  a module stands where that line calls a function: importing a submodule of "
                "the same name puts it in the function's place"
            )
        if self.reproduction:
            text += f"\n\nreproduce:\n{self.reproduction}"
        return text


def place_of(error: BaseException) -> str:
    """Where something was raised: the last line of the vendor's own, `` at file:line in name``."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return ""
    others = _not_the_vendors()
    own = [f for f in frames if not f.filename.startswith("<") and not _below(f.filename, others)]
    last = (own or frames)[-1]
    return f" at {'/'.join(Path(last.filename).parts[-2:])}:{last.lineno} in {last.name}"


@functools.cache
def _not_the_vendors() -> tuple[str, ...]:
    """Folders of what calls the vendor's code, and of what it calls."""
    import sysconfig

    found = [str(paths.package()), *_fakes()]
    found += [sysconfig.get_paths()["stdlib"]]
    for name in ("torch", "numpy", "sglang"):
        spec = getattr(sys.modules.get(name), "__spec__", None)
        found += list(getattr(spec, "submodule_search_locations", None) or ())
    return tuple(found)


@functools.cache
def _fakes() -> tuple[str, ...]:
    import sglang_contracts.fakes

    return tuple(map(str, sglang_contracts.fakes.__path__))


def _below(file: str, folders: tuple[str, ...]) -> bool:
    if "site-packages" in file:  # below the library's folder, and not of it
        folders = tuple(each for each in folders if "site-packages" in each)
    return any(file.startswith(f"{each}/") for each in folders)


class Inapplicable(Exception):  # noqa: N818 - it is no error: the check is skipped with a sentence
    """A check cannot apply here.

    Args:
        reason: A sentence that a customer can read.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def ask(doing: str, function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Call the backend under test.

    Args:
        doing: What is asked of it, for the message.
        function: What is called.
        args: Positional arguments.
        kwargs: Keyword arguments.

    Raises:
        SubjectError: It raised.
    """
    try:
        return function(*args, **kwargs)
    except (SubjectError, Violation, Inapplicable) as error:
        if _is_ours(error):
            raise
        raise SubjectError(doing, error) from error
    except BaseException as error:  # a plugin that ends the process is no crash of ours
        if is_ctrl_c(error):
            raise
        raise SubjectError(doing, error) from error


def _is_ours(error: BaseException) -> bool:
    """Whether the suite itself raised it, out of what the plugin has called of it.

    A plugin that raises the suite's own exceptions would have checks skipped, or say why they fail.
    """
    frames = traceback.extract_tb(error.__traceback__)
    ours = (str(paths.package()), *_fakes())
    return not frames or _below(frames[-1].filename, ours)


def is_ctrl_c(error: BaseException) -> bool:
    """Whether somebody at the keyboard interrupts; where nobody can, the plugin raised it."""
    listening = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    return isinstance(error, KeyboardInterrupt) and listening


def said(error: BaseException) -> str:
    """The text of what a plugin raised: its ``__str__`` is the plugin's, too, and may raise."""
    try:
        return str(error)
    except BaseException as another:
        return f"(its text cannot be read: __str__ raises {type(another).__name__})"


def expect(condition: bool, message: str) -> None:
    """Fail the running check with ``message`` unless ``condition`` holds."""
    if not condition:
        raise Violation(message)


def describe(tensor: Any) -> str:
    """A tensor as messages show it: shape, dtype, device, strides; never its contents."""
    if tensor is None:
        return "None"
    if not hasattr(tensor, "dtype") or not hasattr(tensor, "shape"):
        return type(tensor).__name__
    dtype = str(tensor.dtype).removeprefix("torch.")
    stride = tuple(tensor.stride()) if hasattr(tensor, "stride") else "?"
    return f"{dtype}{list(tensor.shape)} on {tensor.device}, strides {stride}"
