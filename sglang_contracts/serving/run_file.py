"""Run files: what a server answered, to hold another machine's answers to.

A run file is made once where the answers are trusted (a CUDA machine, say) and holds for a set of
fixed prompts the tokens and log-probabilities of prompt and answer. The model under test is then
asked twice: for its own greedy answer, and for the log-probabilities of the recorded one, so that a
single token that falls differently does not hide everything behind it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import msgspec

from sglang_contracts import __version__
from sglang_contracts.errors import ContractsError
from sglang_contracts.files import read_regular, write_atomically
from sglang_contracts.serving.client import Answer, Client, Prompt

KIND = "sglang-contracts run file"
SCHEMA = 1
MAX_BYTES = 64 << 20
NEW_TOKENS = 16

TEXTS = (
    "The capital of France is",
    "def fibonacci(n):\n    ",
    "Once upon a time, in a village between two rivers, there lived a",
    "法国的首都是",
    "2, 4, 8, 16, 32,",
    '{"name": "Ada", "born": 1815, "known for": "',
    "Q: A train leaves at 9:40 and arrives at 12:15. How long does it take?\nA:",
    "In a shared pool of pages, a page may be handed out again when " * 6,
)
"""Text, code, Chinese, numbers, JSON, a question, and one prompt of several pages."""


class Recorded(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One prompt and what it was answered with."""

    prompt: tuple[int, ...]
    """Token ids."""
    ids: tuple[int, ...]
    """Token ids of the greedy answer."""
    prompt_logprobs: tuple[float, ...]
    """Of each token of the prompt but the first."""
    logprobs: tuple[float, ...]
    """Of each token of the answer."""
    lead: tuple[float, ...] = ()
    """By how much the chosen token led the next one, at each place; empty: not known."""


class RunFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a machine answered."""

    kind: str
    schema: int
    made_by: str
    """What answered, in a few words."""
    model: str
    version: str
    """Of this project."""
    answers: tuple[Recorded, ...]


def record(client: Client, model: str, made_by: str, prompts: Sequence[Prompt] = ()) -> RunFile:
    """Ask a server for all prompts and keep what it says.

    Args:
        client: Asks it.
        model: Name of the model.
        made_by: What answers, in a few words.
        prompts: Instead of :data:`TEXTS`.

    Raises:
        ServingError: It did not answer.
    """
    wanted = prompts or [Prompt(text=text) for text in TEXTS]
    found = tuple(recorded(client.generate(_asked(prompt))) for prompt in wanted)
    return RunFile(KIND, SCHEMA, made_by, model, __version__, found)


def _asked(prompt: Prompt) -> Prompt:
    return Prompt(prompt.ids, prompt.text, NEW_TOKENS, logprobs=True, prompt_logprobs=True, top=2)


def recorded(answer: Answer) -> Recorded:
    """An answer as a run file keeps it."""
    lead = tuple(place[0][1] - place[1][1] for place in answer.top if len(place) > 1)
    return Recorded(
        answer.prompt_ids,
        answer.ids,
        answer.prompt_logprobs,
        answer.logprobs,
        lead if len(lead) == len(answer.ids) else (),
    )


def save(run: RunFile, path: Path) -> None:
    """Write a run file, whole or not at all.

    Raises:
        ContractsError: It cannot be written.
    """
    text = json.dumps(msgspec.to_builtins(run), ensure_ascii=False, indent=1)
    write_atomically(path, (text + "\n").encode(), "choose another --record")


def load(path: Path) -> RunFile:
    """Read a run file.

    Raises:
        ContractsError: It cannot be read, or is none.
    """
    hint = "make one with sglang-contracts serve-check --record FILE"
    try:
        data = read_regular(path, MAX_BYTES)
    except OSError as error:
        raise ContractsError(f"cannot read {path}: {error.strerror or error}", hint) from None
    try:
        found = msgspec.json.decode(data, type=RunFile)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ContractsError(f"{path} is no run file: {error}", hint) from None
    if found.kind != KIND or found.schema != SCHEMA or not found.answers:
        raise ContractsError(f"{path} is no run file of this version", hint)
    return found
