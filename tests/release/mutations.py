"""Ways to spoil a source file: what a careless edit, a merge, a generator or an attacker leaves."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

Mutation = Callable[[bytes, Random], bytes]

_TOKEN = re.compile(rb"\w+|[^\w\s]|\s+")
_NAME = re.compile(rb"[A-Za-z_]\w*")
_INTERESTING = (
    *(b"None", b"...", b"*", b"**", b"@", b":=", b"await ", b"lambda: ", b"match x:\n", b"\\\n"),
    *(b"sglang.srt", b"import sglang", b"from . import *", b"self.", b"\xff", b"\0", b"\r", b"\f"),
    *(b"\xe2\x80\xae", b"\t", b"\xef\xbb\xbf", b"'''", b'"', b"#", b"(", b")", b"{", b"]", b"f'{"),
    *(b"# sglang-contracts: ignore[field-removed]", b"# sglang-contracts: ignore[" + b" " * 400),
    *(b"1" * 5000, b"0x" + b"f" * 5000, b"1e999", b"\\ud800", b"'\\N{BELL}'", b"x" * 5000),
)


def spans(data: bytes, dice: Random) -> bytes:
    """Delete, double, or move a run of lines."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    start = dice.randrange(len(lines))
    taken = lines[start : start + dice.randint(1, 20)]
    rest = lines[:start] + lines[start + len(taken) :]
    kind = dice.randrange(3)
    if kind == 0:
        return b"".join(rest)
    place = dice.randint(0, len(rest))
    return b"".join(rest[:place] + taken * (1 + (kind == 1) * dice.randint(1, 4)) + rest[place:])


def tokens(data: bytes, dice: Random) -> bytes:
    """Delete, double, swap or replace tokens."""
    found = _TOKEN.findall(data)
    for _ in range(dice.randint(1, 5)):
        if len(found) < 2:
            break
        here, there = dice.randrange(len(found)), dice.randrange(len(found))
        kind = dice.randrange(4)
        if kind == 0:
            del found[here]
        elif kind == 1:
            found.insert(here, found[there])
        elif kind == 2:
            found[here], found[there] = found[there], found[here]
        else:
            found[here] = dice.choice(_INTERESTING)
    return b"".join(found)


def octets(data: bytes, dice: Random) -> bytes:
    """Flip bits, or cut the file."""
    if not data:
        return data
    if dice.random() < 0.3:
        return data[: dice.randrange(len(data))]
    spoiled = bytearray(data)
    for _ in range(dice.randint(1, 8)):
        spoiled[dice.randrange(len(spoiled))] ^= 1 << dice.randrange(8)
    return bytes(spoiled)


def names(data: bytes, dice: Random) -> bytes:
    """Let one name mean another everywhere: classes that derive from themselves, and the like."""
    found = sorted(set(_NAME.findall(data)))
    if len(found) < 2:
        return data
    old, new = dice.choice(found), dice.choice(found)
    return re.sub(rb"\b" + old + rb"\b", new, data)


def nested(data: bytes, dice: Random) -> bytes:
    """Add something that is long or deep."""
    depth = dice.choice((10, 90, 400, 3000))
    some = dice.choice(sorted(set(_NAME.findall(data))) or [b"x"])
    added = dice.choice(
        (
            b"x = " + b"(" * depth + some + b")" * depth,
            b"x = " + b"-" * depth + b"1",
            b"x = " + some + b".a" * depth,
            b"x = " + some + b"()" * depth,
            b"x = " + b" + ".join([some] * depth),
            b"x = " + b" or ".join([some] * depth),
            b"x = [" + b", ".join([some] * depth) + b"]",
            b"".join(b"if a == %d:\n    pass\nel" % n for n in range(depth)) + b"se:\n    pass",
            b"def f(x):\n"
            + b"".join(b"    if x == %d: return %d\n" % (n, n) for n in range(depth)),
            b"".join(
                b"class C%d(%s): pass\n" % (n, b"C%d, C%d" % (n - 1, n - 2) if n > 1 else b"")
                for n in range(min(depth, 40))
            ),
            b"".join(b"class D%d(%s): f = 1\n" % (n, some) for n in range(min(depth, 400))),
            b"".join(b"%s = %s.a if a else %s\n" % (some, some, some) for _ in range(depth)),
            b"\n".join(b"%s(1, %d)" % (some, n) for n in range(depth)),
            b"# sglang-contracts: ignore[" + b" " * depth + b"x",
            b"--unknown-flag " * depth,
        )
    )
    lines = data.splitlines(keepends=True)
    place = dice.randint(0, len(lines))
    return b"".join([*lines[:place], added, b"\n", *lines[place:]])


MUTATIONS: tuple[Mutation, ...] = (spans, tokens, octets, names, nested)


def mutated(data: bytes, dice: Random) -> bytes:
    """The file after one to three mutations; at most 2 MB."""
    for _ in range(dice.randint(1, 3)):
        data = dice.choice(MUTATIONS)(data, dice)
    return data[: 2 * 2**20]
