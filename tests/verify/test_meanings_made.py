"""What a change of meaning asks for may be done by a function of the plugin's that is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from sglang_contracts.contract import load_contracts
from sglang_contracts.surface import load_catalog
from sglang_contracts.verify import check_plugin
from sglang_contracts.verify.findings.finding import Severity

HELPERS = (
    "from array import array\n"
    "def as_ids(ids):\n    return array('q', ids)\n"
    "def as_list(ids):\n    return list(ids)\n"
)
SEND = """
from sglang.srt.managers.io_struct import TokenizedGenerateReqInput
from helpers import as_ids, as_list
def send(ids, params):
    {before}
    return TokenizedGenerateReqInput(
        input_text="", input_ids={given}, mm_inputs=None, sampling_params=params,
        return_logprob=False, logprob_start_len=-1, top_logprobs_num=0,
        token_ids_logprob=None, stream=False, {more}
    )
"""
DONE = {
    "in the call": ("pass", "as_ids(ids)", ""),
    "before it": ("made = as_ids(ids)", "made", ""),
}
NOT_DONE = {
    "as it came": ("pass", "ids", ""),
    "by a function that makes something else": ("pass", "as_list(ids)", ""),
}


def told(root: Path, before: str, given: str, more: str) -> list[str]:
    """Symbols of the warnings on the meaning of something in 0.5.21."""
    (root / "helpers.py").write_text(HELPERS)
    (root / "send.py").write_text(SEND.format(before=before, given=given, more=more))
    report = check_plugin(root, load_catalog(), ["0.5.21"], contracts=load_contracts())
    return [
        each.symbol
        for each in report.releases[0].findings
        if each.rule == "behaviour-changed" and each.severity is not Severity.NOTE
    ]


@pytest.mark.parametrize("way", DONE)
def test_argument_that_a_helper_makes_as_asked_is_not_told(tmp_path: Path, way: str) -> None:
    assert told(tmp_path, *DONE[way]) == []


@pytest.mark.parametrize("way", NOT_DONE)
def test_argument_that_nothing_makes_as_asked_is_told(tmp_path: Path, way: str) -> None:
    assert len(told(tmp_path, *NOT_DONE[way])) == 1
