"""What every engine run must reproduce: the requests, and the answers of ``torch_native``.

The tiny model, SGLang's own ``torch_native`` answers and Hugging Face's log-probabilities are made
once, by whichever live environment comes first, under a lock.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from sglang_contracts.live import tiny
from sglang_contracts.live.engine import TORCH_NATIVE, Answer, Group, Job, run
from sglang_contracts.live.environments import locked

CHUNK = 64
"""Tokens of a prefill chunk: the longest prompt takes two, the second on a prefix."""

# Chosen so that no greedy step is close: the best token leads by more than 0.017 everywhere, ten
# times what rounding in bfloat16 moves. Releases round differently (norms, rotary embedding).
SHORT = tuple(range(10, 14))
MIDDLE = tuple(range(77, 114))
LONG = tuple(3 + (42 * index * index + index) % 500 for index in range(100))
PROMPTS = (SHORT, SHORT, MIDDLE, LONG)
GROUPS = (
    Group(PROMPTS),
    Group(((*MIDDLE, 99),), new_tokens=4),  # all but the last token was served before
    Group(PROMPTS, logprobs=True),
)


@dataclass(frozen=True)
class Reference:
    """The expected answers.

    Attributes:
        model: Folder of the tiny model.
        release: The SGLang whose ``torch_native`` gave the answers.
        answers: For each group of :data:`GROUPS`.
        logprobs: For each prompt of the last group, what Hugging Face says (bfloat16) of each
            token but the first, prompt and answer together.
    """

    model: Path
    release: str
    answers: tuple[tuple[Answer, ...], ...]
    logprobs: tuple[tuple[float, ...], ...]


def reference(work: Path, release: str) -> Reference:
    """The reference; made now if it is not there yet.

    Args:
        work: Folder that all live environments share.
        release: The installed SGLang.
    """
    code = b"".join(Path(str(module)).read_bytes() for module in (__file__, tiny.__file__))
    folder = work / f"reference-{hashlib.sha256(code).hexdigest()[:12]}"
    file = folder / "reference.json"
    with locked(work / "reference.lock"):
        if not file.exists():
            _make(folder, release, file.write_text)
    found = json.loads(file.read_text(encoding="utf-8"))
    return Reference(
        model=folder / "model",
        release=found["release"],
        answers=tuple(
            tuple(
                Answer(
                    tuple(each["ids"]),
                    each["cached"],
                    tuple(each["input_logprobs"]),
                    tuple(each["output_logprobs"]),
                )
                for each in group
            )
            for group in found["answers"]
        ),
        logprobs=tuple(tuple(each) for each in found["logprobs"]),
    )


def _make(folder: Path, release: str, write: Callable[[str], object]) -> None:
    model = tiny.make(folder / "model")
    options = {"chunked_prefill_size": CHUNK}
    job = Job(model, TORCH_NATIVE, page_size=1, groups=GROUPS, options=options)
    result = run(job, release, folder / "run")
    sequences = [
        (*prompt, *answer.ids) for prompt, answer in zip(PROMPTS, result.answers[-1], strict=True)
    ]
    found = {
        "release": release,
        "answers": [[asdict(answer) for answer in group] for group in result.answers],
        "logprobs": tiny.logprobs(model, sequences),
    }
    write(json.dumps(found))
