"""The model that is served where none is named, and what Hugging Face answers on it."""

import subprocess
import sys

import pytest

from sglang_contracts.serving import plugin
from sglang_contracts.serving.run_file import TEXTS

ASKED = """
import sys
from pathlib import Path
from sglang_contracts.live import shim, tiny
shim.install()
from transformers import AutoTokenizer
from sglang_contracts.serving import run_file
model, run = Path(sys.argv[1]), run_file.load(Path(sys.argv[2]))
tokenizer = AutoTokenizer.from_pretrained(model)
for text, answer in zip(run_file.TEXTS, run.answers, strict=True):
    assert tokenizer.decode(answer.prompt) == text
    assert len(tokenizer) == tiny.VOCABULARY
    (wanted,) = tiny.logprobs(model, [(*answer.prompt, *answer.ids)])
    found = (*answer.prompt_logprobs, *answer.logprobs)
    assert max(abs(a - b) for a, b in zip(wanted, found, strict=True)) < 0.01
print("same")
"""


def test_the_model_is_made_once_and_its_run_file_is_what_the_model_says(tmp_path, monkeypatch):
    pytest.importorskip("transformers")
    monkeypatch.setenv("SGLANG_CONTRACTS_CACHE", str(tmp_path))
    model, run = plugin.tiny_model()
    assert len(run.answers) == len(TEXTS)
    assert run.made_by.startswith("Hugging Face")
    monkeypatch.setattr(plugin.subprocess, "run", None)  # it is there: nothing is made again
    assert plugin.tiny_model() == (model, run)
    monkeypatch.undo()
    command = [sys.executable, "-c", ASKED, str(model), str(model.with_name("run.json"))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "same", done.stderr
