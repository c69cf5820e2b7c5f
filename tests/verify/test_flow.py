"""A value is followed to where it is used, whatever it passes through on the way."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sglang_contracts.verify.findings.finding import Finding

CheckText = Callable[[str], dict[str, list[Finding]]]

HEAD = """\
import contextlib
import copy
import dataclasses
import functools
import threading
from typing import List, TypeVar, Union
from sglang.srt.batch import Batch
"""
READ = "def g(b):\n    return b.lost_field\n"
WAYS = {
    "a match": "def f(b):\n    match b:\n        case Batch():\n            b.lost_field\n",
    "a type alias": "A = Union[Batch, None]\ndef f(b: A):\n    b.lost_field\n",
    "a type variable": "T = TypeVar('T', bound=Batch)\ndef f(b: T):\n    b.lost_field\n",
    "a copy": "def f(b: Batch):\n    copy.copy(b).lost_field\n",
    "a changed copy": "def f(b: Batch):\n    dataclasses.replace(b, kept=1).lost_field\n",
    "an iterator": "def f(bs: List[Batch]):\n    next(iter(bs)).lost_field\n",
    "a generator": "def g(bs: List[Batch]):\n    for b in bs:\n        yield b\n\n\n"
    "def f(bs: List[Batch]):\n    for b in g(bs):\n        b.lost_field\n",
    "a context": "@contextlib.contextmanager\ndef g(b: Batch):\n    yield b\n\n\n"
    "def f(x: Batch):\n    with g(x) as b:\n        b.lost_field\n",
    "a partial": READ + "def f(b: Batch):\n    return functools.partial(g, b)\n",
    "a thread": READ + "def f(b: Batch):\n    threading.Thread(target=g, args=(b,)).start()\n",
    "an executor": READ + "def f(pool, b: Batch):\n    pool.submit(g, b)\n",
    "a map": READ + "def f(bs: List[Batch]):\n    return list(map(g, bs))\n",
    "a static method": "class C:\n    @staticmethod\n    def g(b):\n        b.lost_field\n\n"
    "    def f(self, b: Batch):\n        C.g(b)\n",
}


@pytest.mark.parametrize("way", WAYS)
def test_what_a_value_passes_through_does_not_hide_it(way: str, check_text: CheckText) -> None:
    found = check_text(HEAD + WAYS[way])
    assert found["0.5.1"] == []
    assert [f.symbol for f in found["0.5.2"]] == ["sglang.srt.batch:Batch.lost_field"]


@pytest.mark.parametrize("way", WAYS)
def test_what_is_there_is_there_on_every_way(way: str, check_text: CheckText) -> None:
    found = check_text(HEAD + WAYS[way].replace("lost_field", "kept"))
    assert found["0.5.1"] + found["0.5.2"] == []


def test_an_argument_beyond_the_256th_is_none_of_the_next_function(check_text: CheckText) -> None:
    call = f"    f({'0, ' * 256}b)\n"
    text = "def f(*all):\n    pass\n\n\ndef g(x):\n    x.lost_field\n\n\ndef h(b: Batch):\n" + call
    found = check_text(HEAD + text)
    assert found["0.5.1"] + found["0.5.2"] == []
