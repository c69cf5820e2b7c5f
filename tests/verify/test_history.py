"""What is remembered from release to release is what would be found afresh."""

from __future__ import annotations

from pathlib import Path

import pytest

from sglang_contracts.plugin import load_plugin
from sglang_contracts.surface import Catalog, load_catalog
from sglang_contracts.verify.answers.lens import Lens
from sglang_contracts.verify.commands.analysis import Analysis
from sglang_contracts.verify.rules.clause_candidates import clauses_of
from sglang_contracts.verify.rules.detectors import Detectors
from sglang_contracts.verify.rules.history import Timeline
from sglang_contracts.verify.values.evaluator import Evaluator

PLUGIN = """
import sglang
from packaging import version
from sglang.srt.layers.attention.base_attn_backend import AttentionBackend
from sglang.srt.managers.scheduler import Scheduler
from sglang.srt.mem_cache.memory_pool import MHATokenToKVPool
from sglang.srt.model_executor.forward_batch_info import ForwardBatch, ForwardMode

try:
    from sglang.srt.utils.patch_torch import monkey_patch_torch_reductions
except ImportError:
    from sglang.srt.patch_torch import monkey_patch_torch_reductions


class Pool(MHATokenToKVPool):
    def get_cpu_copy(self, indices):
        return [indices]


class Backend(AttentionBackend):
    def __init__(self, model_runner):
        self.runner = model_runner

    def forward_decode(self, q, k, v, layer, forward_batch, save_kv_cache=True):
        pool = forward_batch.token_to_kv_pool
        return pool.get_value_buffer(layer.layer_id), self.runner.tp_group


def old(batch: ForwardBatch, scheduler: Scheduler):
    if batch.forward_mode == ForwardMode.DRAFT_EXTEND:
        return scheduler.get_next_batch_to_run()
    if version.parse(sglang.__version__) >= version.parse("0.5.13"):
        return None
    return batch.req_to_token_pool
"""


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


def _timeline(plugin: object, catalog: Catalog, releases: tuple[str, ...], first: str) -> Timeline:
    evaluator = Evaluator(
        plugin,
        Lens(catalog, first),
        {
            "model_runner": (  # type: ignore[arg-type]
                "sglang.srt.model_executor.model_runner:ModelRunner",
            )
        },
    )
    return Timeline(Detectors(evaluator, clauses_of(())), releases)


def test_moving_on_gives_what_a_fresh_look_gives(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SGLANG_CONTRACTS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "plugin.py").write_text(PLUGIN)
    plugin = load_plugin(tmp_path / "p")
    moved = _timeline(plugin, catalog, catalog.releases, catalog.releases[0])
    for index in range(0, len(catalog.releases), 6):
        release = catalog.releases[index]
        fresh = _timeline(plugin, catalog, (release,), release)
        for number in range(len(fresh.checks)):
            one, two = moved.entry(number, index), fresh.entry(number, 0)
            assert one == two, (release, fresh.checks[number])


def test_asking_for_one_release_gives_what_asking_for_all_gives(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SGLANG_CONTRACTS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "plugin.py").write_text(PLUGIN)
    plugin = load_plugin(tmp_path / "p")
    everything = Analysis(plugin, catalog)
    for release in ("0.5.3", "0.5.13", catalog.releases[-1]):
        assert Analysis(plugin, catalog, wanted=[release]).at(release) == everything.at(release)
