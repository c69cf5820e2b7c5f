"""Which program of SGLang's a command line starts, and where its own arguments begin."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from sglang_contracts.plugin.launch.word import BACKEND, SERVER, Token

MENTION = re.compile(
    r"sglang[./](?:srt[./]|bench|launch|compile|profiler)|sglang[ \"',]+(?:serve|generate)\b"
)
"""What a text has that may start a program of SGLang's: nothing else is looked at more closely."""

_PROGRAMS = {
    "sglang.launch_server": SERVER,
    "sglang.srt.entrypoints.http_server": SERVER,
    "sglang.bench_one_batch": "sglang.bench_one_batch",
    "sglang.benchmark.one_batch": "sglang.bench_one_batch",
    "sglang.bench_offline_throughput": "sglang.bench_offline_throughput",
    "sglang.benchmark.offline_throughput": "sglang.bench_offline_throughput",
    "sglang.compile_deep_gemm": "sglang.compile_deep_gemm",
}
"""Modules that are started, and the program whose arguments they take. Others are not held against
any parser: their flags are their own."""
OTHER = ""
"""A program of SGLang's whose flags are not known."""
_PYTHON = re.compile(r"(?:.*/)?(?:pypy|python)[\d.]*(?:\.exe)?\Z|uv\Z|torchrun\Z|accelerate\Z")


class Start(NamedTuple):
    """Where a program starts in a command line."""

    program: str
    position: int
    """Of the first of its arguments."""


def start(tokens: Sequence[Token]) -> Start | None:
    """The program of SGLang's that a command line starts; None where it starts none.

    ``pkill -f sglang.launch_server`` starts none, nor does a text that speaks of one.
    """
    for position, token in enumerate(tokens):
        text = token.text
        following = tokens[position + 1].text if position + 1 < len(tokens) else ""
        if text == "-m" and following.startswith("sglang."):
            return Start(_PROGRAMS.get(following, OTHER), position + 2)
        if text.startswith("-msglang."):
            return Start(_PROGRAMS.get(text[2:], OTHER), position + 1)
        if text.rpartition("/")[2] in ("sglang", "sglang.exe") and following in (
            "serve",
            "generate",
        ):
            served = following == "serve" and not _other_backend(tokens[position + 2 :])
            return Start(SERVER if served else OTHER, position + 2)
        if position == 0 and text in _PROGRAMS:  # what ``python -m`` of an entry point is given
            return Start(_PROGRAMS[text], 1)
        if _is_script(text) and (position == 0 or _runs(tokens[:position])):
            return Start(SERVER, position + 1)
    return None


def _is_script(text: str) -> bool:
    """Whether a word is the path of SGLang's own script."""
    return text.endswith("sglang/launch_server.py") or text == "launch_server.py"


def _runs(before: Sequence[Token]) -> bool:
    """Whether what stands before a script runs it: an interpreter and its options."""
    for token in reversed(before):
        if _PYTHON.match(token.text):
            return True
        if not token.text.startswith("-"):
            return False
    return False


def _other_backend(arguments: Sequence[Token]) -> bool:
    for position, token in enumerate(arguments):
        name, equals, value = token.text.partition("=")
        if name == BACKEND:
            if not equals and position + 1 < len(arguments):
                value = arguments[position + 1].text
            return value not in ("llm", "auto")
    return False
