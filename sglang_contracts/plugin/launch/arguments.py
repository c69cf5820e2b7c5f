"""The arguments of a program, already taken apart, as flags with their values."""

from __future__ import annotations

from collections.abc import Sequence

from sglang_contracts.plugin.launch.word import BACKEND, FLAG, HOLE, Token, Word, has_hole, no_value


def words_of(tokens: Sequence[Token], program: str, *, whole: bool = True) -> list[Word]:
    """Flags and their values.

    Args:
        tokens: The arguments, up to the end of the command.
        program: Whose they are; empty: nobody knows its flags, so that there are none.
        whole: Whether nothing follows them; else the last flag may get a value elsewhere.
    """
    if not program:
        return []
    found = []
    for position, token in enumerate(tokens):
        name, equals, value = token.text.partition("=")
        if not FLAG.match(name):
            continue
        if name == BACKEND:
            continue  # of the command that picks the server
        if equals:
            given: str | None = HOLE if has_hole(value) else value
        else:
            following = tokens[position + 1] if position + 1 < len(tokens) else None
            given = _value(following, whole)
        found.append(Word(name, token.line, token.column, given, program))
    return found


def _value(following: Token | None, whole: bool) -> str | None:
    if following is None:
        return None if whole else HOLE
    if has_hole(following.text):
        return HOLE
    return None if no_value(following.text) else following.text
