"""A run file from Hugging Face's own model, to hold a server to where the model is known.

``python -m sglang_contracts.serving.hugging_face MODEL FILE`` imports torch and transformers, so it
is a process of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sglang_contracts import __version__
from sglang_contracts.live import shim, tiny
from sglang_contracts.serving.run_file import (
    KIND,
    NEW_TOKENS,
    SCHEMA,
    TEXTS,
    Recorded,
    RunFile,
    save,
)


def run_file(model: Path, texts: Sequence[str] = TEXTS) -> RunFile:
    """Greedy answers to the texts, and log-probabilities, in bfloat16.

    Args:
        model: Folder of the model.
        texts: The prompts.
    """
    shim.install()  # transformers imports torchvision
    import torch
    import transformers

    torch.set_num_threads(1)
    tokenizer: Any = transformers.AutoTokenizer.from_pretrained(model)
    served: Any = transformers.AutoModelForCausalLM.from_pretrained(model, dtype=torch.bfloat16)
    found = []
    for text in texts:
        prompt = [int(each) for each in tokenizer(text)["input_ids"]]
        ids = list(prompt)
        lead, logprobs = [], []
        with torch.no_grad():
            for _ in range(NEW_TOKENS):
                scores = served(torch.tensor([ids])).logits[0].float().log_softmax(-1)
                best = scores[-1].topk(2)
                lead.append(float(best.values[0] - best.values[1]))
                logprobs.append(float(best.values[0]))
                ids.append(int(best.indices[0]))
            given = scores[: len(prompt) - 1].gather(1, torch.tensor(prompt)[1:, None])[:, 0]
        found.append(
            Recorded(
                tuple(prompt),
                tuple(ids[len(prompt) :]),
                tuple(map(float, given)),
                tuple(logprobs),
                tuple(lead),
            )
        )
    made_by = f"Hugging Face transformers {transformers.__version__}"
    return RunFile(KIND, SCHEMA, made_by, model.name, __version__, tuple(found))


def main(arguments: Sequence[str]) -> None:
    """Make the model in folder ``arguments[0]`` if it is not there, and its run file."""
    model, target = Path(arguments[0]), Path(arguments[1])
    if not (model / "config.json").exists():
        tiny.make(model)
    save(run_file(model), target)


if __name__ == "__main__":
    main(sys.argv[1:])
