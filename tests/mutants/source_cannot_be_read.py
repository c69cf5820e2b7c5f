"""A source file does not parse: what it uses of SGLang is not known, and it fails when imported."""

import dataclasses
import tempfile
from pathlib import Path

NAME = "A source file that uses SGLang does not parse"
KILLED_BY = "plugin.every-use-resolves"

_SOURCE = """
from sglang.srt.model_executor.forward_batch_info import ForwardBatch


def decode(forward_batch: ForwardBatch -> None:
    pass
"""


def make(reference):
    folder = Path(tempfile.mkdtemp(prefix="sglang-contracts-mutant-"))
    (folder / "backend.py").write_text("VENDOR = 'kunlun'\n", encoding="utf-8")
    (folder / "warm_up.py").write_text(_SOURCE, encoding="utf-8")
    return dataclasses.replace(reference, root=folder)
