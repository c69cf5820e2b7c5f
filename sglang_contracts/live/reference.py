"""What every engine run must reproduce: the requests, and the answers of ``torch_native``.

The tiny model, SGLang's own ``torch_native`` answers and Hugging Face's log-probabilities are made
once, by whichever live environment comes first, under a lock.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from sglang_contracts import subprocesses
from sglang_contracts.errors import ContractsError
from sglang_contracts.live import shim, tiny
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
VARIED = Group(
    PROMPTS,
    new_tokens=3,
    logprobs=True,
    sampling=(
        {"temperature": 0.7, "top_k": 20, "top_p": 0.9, "min_p": 0.01},
        {"temperature": 1.0, "frequency_penalty": 0.5, "presence_penalty": 0.5},
        {"temperature": 0.5, "repetition_penalty": 1.1, "logit_bias": {"7": -1.0}},
        {},
    ),
    asked={"top_logprobs_num": 2, "token_ids_logprob": [5, 6]},
)
"""What fills fields that a greedy request leaves empty. Its answers are drawn: not compared."""


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


def _folder(work: Path) -> Path:
    code = b"".join(Path(str(module)).read_bytes() for module in (__file__, tiny.__file__))
    return work / f"reference-{hashlib.sha256(code).hexdigest()[:12]}"


def reference(work: Path, release: str) -> Reference:
    """The reference; made now, in a process of its own, if it is not there yet.

    Args:
        work: Folder that all live environments share.
        release: The installed SGLang.

    Raises:
        ContractsError: It could not be made; the end of the output is in the message.
    """
    folder = _folder(work)
    file = folder / "reference.json"
    with locked(work / "reference.lock"):
        if not file.exists():
            done = subprocess.run(  # noqa: S603 - our own module
                subprocesses.python(
                    "-m", "sglang_contracts.live.reference", str(work.absolute()), release
                ),
                cwd=work,
                env=shim.environment(),
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                tail = "\n".join(done.stderr.splitlines()[-20:])
                raise ContractsError("the reference answers could not be made", tail)
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


def _make(folder: Path, release: str) -> None:
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
    temporary = folder / "reference.new"
    temporary.write_text(json.dumps(found), encoding="utf-8")
    temporary.replace(folder / "reference.json")


if __name__ == "__main__":
    _make(_folder(Path(sys.argv[1])), sys.argv[2])
