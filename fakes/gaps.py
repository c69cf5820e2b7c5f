"""Whether an error says more about a fake than about whoever ran into it."""

from __future__ import annotations

from sglang_contracts.fakes.classes import BORN
from sglang_contracts.fakes.errors import FakeError, MissingAttributeError

_DEEPEST = 20


def gap(error: BaseException) -> str:
    """What a fake lacks, as half a sentence; empty: the error is not for that.

    What was raised while a fake's error was handled, or from it, is for the same gap: on the real
    release it would not have come to that.
    """
    waiting: list[BaseException | None] = [error]
    for _ in range(_DEEPEST):
        if not waiting:
            break
        found = waiting.pop(0)
        if found is None:
            continue
        told = _told(found)
        if told:
            return told
        waiting.append(found.__cause__)
        waiting.append(None if found.__suppress_context__ else found.__context__)
    return ""


def _told(error: BaseException) -> str:
    if isinstance(error, FakeError):
        more = f": {error.detail}" if error.detail else ""
        return f"the fake of SGLang {error.release} has only the shape of {error.symbol}{more}"
    if isinstance(error, MissingAttributeError):
        held = error.obj if isinstance(error.obj, type) else type(error.obj)
        for each in held.__mro__:
            born = vars(each).get(BORN)
            if born is not None:
                fake, symbol = born
                if fake.surface.member(symbol, error.name) is None:
                    return ""  # the release has no such name either
                return f"the fake of SGLang {fake.release} does not set {symbol.name}.{error.name}"
    return ""
