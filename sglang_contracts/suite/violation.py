"""How a check says no, and how that differs from a crash.

Only a :class:`Violation` is a check's own assertion. What the backend under test raises is a
:class:`SubjectError`: it fails the check that was running, but proves nothing about what that
check is for (a mutant is not killed by it), unless the check is about exactly that
(:attr:`~sglang_contracts.suite.registry.Check.forbids_raising`). Anything else that is raised
is a fault of the suite, and never the backend's.
"""

from __future__ import annotations

import signal
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

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

    def __str__(self) -> str:
        text = f"{self.doing} raised {type(self.cause).__name__}: {said(self.cause)}"
        frames = traceback.extract_tb(self.cause.__traceback__)
        if frames:
            last = frames[-1]
            text += f"\n  at {Path(last.filename).name}:{last.lineno} in {last.name}"
        if self.reproduction:
            text += f"\n\nreproduce:\n{self.reproduction}"
        return text


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
    except (SubjectError, Violation, Inapplicable):
        raise
    except BaseException as error:  # a plugin that ends the process is no crash of ours
        if is_ctrl_c(error):
            raise
        raise SubjectError(doing, error) from error


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
