"""When what a plugin is too new for comes, and until when what it cannot meet is asked of it."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from sglang_contracts.contract import load_contracts
from sglang_contracts.surface import load_catalog
from sglang_contracts.verify import check_plugin
from sglang_contracts.verify.findings.finding import Finding, Severity


def findings(tmp_path: Path, text: str, release: str) -> dict[str, Finding]:
    (tmp_path / "plugin.py").write_text(textwrap.dedent(text))
    report = check_plugin(tmp_path, load_catalog(), [release], contracts=load_contracts())
    return {each.symbol: each for each in report.releases[0].findings}


WORKER = "sglang.srt.managers.tp_worker:TpModelWorker.forward_batch_generation"
CALL = """
    from sglang.srt.managers.tp_worker import TpModelWorker

    def run(worker: TpModelWorker, batch):
        worker.forward_batch_generation(batch, capture_hidden_mode=1, return_kv_loc_plan=True)
"""


@pytest.mark.parametrize(
    ("release", "parameter", "comes"),
    [("0.5.14", "capture_hidden_mode", "0.5.16"), ("0.5.16", "return_kv_loc_plan", "0.5.22")],
)
def test_a_parameter_comes_when_it_does_and_not_with_all_others(
    release: str, parameter: str, comes: str, tmp_path: Path
) -> None:
    found = findings(tmp_path, CALL, release)
    assert found[f"{WORKER}({parameter})"].detail == f"comes with {comes}"


def test_a_module_comes_before_what_is_taken_from_it(tmp_path: Path) -> None:
    text = "from sglang.srt.layers.layer_boundary import layer_stack\n"
    module = "sglang.srt.layers.layer_boundary"
    assert findings(tmp_path, text, "0.5.20")[module].detail == "comes with 0.5.21"
    assert findings(tmp_path, text, "0.5.21")[f"{module}:layer_stack"].detail == "comes with 0.5.22"


def test_what_is_asked_for_only_by_older_releases_does_not_come(tmp_path: Path) -> None:
    text = """
        from sglang.srt.layers.attention.base_attn_backend import AttentionBackend

        class Backend(AttentionBackend):
            def __init__(self, runner):
                self.token_to_kv_pool = self.req_to_token_pool = None
    """
    name = "sglang.srt.layers.attention.base_attn_backend:AttentionBackend.init_forward_metadata"
    found = findings(tmp_path, text, "0.5.12")[name]
    assert found.rule == "hook-missing"
    assert found.detail == "not any more from 0.5.13 on"


POOL = "sglang.srt.layers.attention.base_attn_backend:AttentionBackend.token_to_kv_pool"
BACKEND = """
    from sglang.srt.layers.attention.base_attn_backend import AttentionBackend
    from sglang.srt.model_executor.forward_context import get_token_to_kv_pool

    class Backend(AttentionBackend):
        def forward_decode(self, q, k, v, layer, forward_batch, save_kv_cache=True, **kwargs):
            pool = get_token_to_kv_pool()
"""


def test_who_asks_by_the_accessor_is_warned_that_nothing_is_there(tmp_path: Path) -> None:
    assert findings(tmp_path, BACKEND, "0.5.23")[POOL].severity is Severity.WARNING


def test_who_does_not_ask_may_be_given_it(tmp_path: Path) -> None:
    text = BACKEND.replace("get_token_to_kv_pool()", "None").replace(
        "from sglang.srt.model_executor.forward_context import get_token_to_kv_pool", ""
    )
    assert findings(tmp_path, text, "0.5.23")[POOL].severity is Severity.NOTE


def test_what_the_plugin_sets_somewhere_is_there(tmp_path: Path) -> None:
    text = BACKEND + "\n    def make(runner):\n        made = Backend()\n"
    text += "        made.token_to_kv_pool = runner.token_to_kv_pool\n        return made\n"
    assert POOL not in findings(tmp_path, text, "0.5.23")
