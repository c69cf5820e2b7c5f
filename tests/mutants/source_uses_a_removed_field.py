"""The source reads a field that this release no longer has."""

import dataclasses
import tempfile
from pathlib import Path

NAME = "The source reads a field that this release no longer has"
KILLED_BY = "plugin.every-use-resolves"
RELEASES = ">=0.5.13"


_SOURCE = """
from sglang.srt.model_executor.forward_batch_info import ForwardBatch


def decode(forward_batch: ForwardBatch) -> None:
    forward_batch.token_to_kv_pool.get_key_buffer(0)
"""


def make(reference):
    folder = Path(tempfile.mkdtemp(prefix="sglang-contracts-mutant-"))
    (folder / "backend.py").write_text(_SOURCE, encoding="utf-8")
    return dataclasses.replace(reference, root=folder)
