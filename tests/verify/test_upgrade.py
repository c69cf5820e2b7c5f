"""What a plugin uses, and what it takes to move it, on the recorded releases."""

import functools

import pytest

from sglang_contracts.surface import load_catalog
from sglang_contracts.verify import upgrade_report, uses_of

PLUGIN = """\
import os

import sglang
from packaging.version import Version
from sglang.srt.layers.attention.base_attn_backend import AttentionBackend
from sglang.srt.layers.attention.fla.chunk import chunk_gated_delta_rule

try:
    from sglang.srt.model_executor.forward_context import get_token_to_kv_pool
except ImportError:
    get_token_to_kv_pool = None

os.environ["SGLANG_LOG_MS"] = "1"


class Backend(AttentionBackend):
    def forward_decode(self, q, k, v, layer, forward_batch, save_kv_cache=True):
        if Version(sglang.__version__) < Version("0.5.13"):
            pool = forward_batch.token_to_kv_pool
        else:
            pool = get_token_to_kv_pool()
        pool = forward_batch.token_to_kv_pool
        return self.helper(pool)

    def helper(self, pool):
        return pool
"""
BATCH = "sglang.srt.model_executor.forward_batch_info:ForwardBatch"


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


@pytest.fixture(scope="module")
def plugin(tmp_path_factory):
    root = tmp_path_factory.mktemp("plugin")
    (root / "p.py").write_text(PLUGIN)
    return root


@pytest.fixture(scope="module")
def upgraded(plugin, catalog):
    """From the last release but one before the pool left the batch to one well after."""
    return upgrade_report(plugin, catalog, "0.5.12", "0.5.16")


@pytest.fixture(scope="module")
def upgraded_late(plugin, catalog):
    return upgrade_report(plugin, catalog, "0.5.13", "0.5.16")


def line_of(text):
    return next(n for n, line in enumerate(PLUGIN.splitlines(), 1) if text in line)


@pytest.fixture(scope="module")
def uses(plugin, catalog):
    @functools.cache
    def at(release):
        report = uses_of(plugin, catalog, release, contracts=())
        return {(use["symbol"], use["role"]): use for use in report.facts["uses"]}

    return at


def test_uses_are_named_as_the_release_resolves_them(uses):
    found = uses("0.5.12")
    base = "sglang.srt.layers.attention.base_attn_backend:AttentionBackend"
    assert (base, "import") in found
    assert (f"{base}.forward_decode", "override") in found
    assert not found[f"{BATCH}.token_to_kv_pool", "read"]["missing"]
    assert uses("0.5.16")[f"{BATCH}.token_to_kv_pool", "read"]["missing"]


def test_what_the_plugin_made_itself_is_no_use(uses):
    assert not [symbol for symbol, _ in uses("0.5.12") if "helper" in symbol]


def test_a_use_with_a_way_out_is_marked(uses):
    context = "sglang.srt.model_executor.forward_context:get_token_to_kv_pool"
    assert uses("0.5.13")[context, "import"]["guarded"]


def test_a_called_thing_is_listed_once(uses):
    found = uses("0.5.13")
    context = "sglang.srt.model_executor.forward_context:get_token_to_kv_pool"
    assert (context, "call") in found
    assert (context, "read") not in found


def test_edits_come_in_order_with_their_line_and_a_new_form(upgraded):
    assert (upgraded.facts["from"], upgraded.facts["to"]) == ("0.5.12", "0.5.16")
    edits = upgraded.facts["edits"]
    assert [edit["line"] for edit in edits] == sorted(edit["line"] for edit in edits)
    (pool,) = [edit for edit in edits if edit["symbol"] == f"{BATCH}.token_to_kv_pool"]
    assert (pool["file"], pool["line"]) == ("p.py", line_of("pool = forward_batch") + 3)
    assert pool["old"] == "pool = forward_batch.token_to_kv_pool"
    assert pool["new"].endswith("forward_context:get_token_to_kv_pool")
    assert pool["since"] == pool["works_since"] == "0.5.13"
    assert not pool["both"]
    assert not pool["already"]
    assert "0.5.12" not in pool["covers"]


def test_an_import_that_moved_is_written_out(upgraded):
    (moved,) = [edit for edit in upgraded.facts["edits"] if "fla.chunk" in edit["symbol"]]
    assert (
        moved["old"] == "from sglang.srt.layers.attention.fla.chunk import chunk_gated_delta_rule"
    )
    assert moved["new"].startswith("from sglang.")
    assert moved["new"].endswith(" import chunk_gated_delta_rule")


def test_guards_that_went_one_way_and_now_always_the_other_are_needless(upgraded):
    found = {guard["line"]: guard["always"] for guard in upgraded.facts["needless"]}
    assert found == {line_of("try:"): True, line_of("if Version"): False}


def test_nothing_becomes_needless_between_releases_that_a_guard_treats_alike(upgraded_late):
    assert upgraded_late.facts["needless"] == []


def test_what_was_broken_before_is_said_to_be(upgraded_late):
    edits = upgraded_late.facts["edits"]
    assert [e["already"] for e in edits if e["symbol"] == f"{BATCH}.token_to_kv_pool"] == [True]
