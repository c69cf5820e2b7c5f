"""A Kunlun-like backend against the recorded releases, by the command line alone."""

import json
from pathlib import Path

import jsonschema
import pytest

SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"

# Unannotated parameters: only that the methods override SGLang's tells what they are.
BACKEND = '''\
"""An attention backend as vendors write them."""

from sglang.srt.layers.attention.base_attn_backend import AttentionBackend


class KunlunBackend(AttentionBackend):
    def __init__(self, runner):
        super().__init__()
        self.page_size = runner.page_size

    def init_forward_metadata(self, forward_batch):
        self.lens = forward_batch.seq_lens

    def forward_extend(self, q, k, v, layer, forward_batch, save_kv_cache=True):
        if save_kv_cache:
            forward_batch.token_to_kv_pool.set_kv_buffer(layer, forward_batch.out_cache_loc, k, v)
        keys = forward_batch.token_to_kv_pool.get_key_buffer(layer.layer_id)
        values = forward_batch.token_to_kv_pool.get_value_buffer(layer.layer_id)
        pool = forward_batch.token_to_kv_pool
        dtype = forward_batch.token_to_kv_pool.dtype
        return self.run(q, keys, values, pool, dtype)

    def forward_decode(self, q, k, v, layer, forward_batch, save_kv_cache=True):
        if save_kv_cache:
            forward_batch.token_to_kv_pool.set_kv_buffer(layer, forward_batch.out_cache_loc, k, v)
        keys = forward_batch.token_to_kv_pool.get_key_buffer(layer.layer_id)
        values = forward_batch.token_to_kv_pool.get_value_buffer(layer.layer_id)
        pool = forward_batch.token_to_kv_pool
        dtype = forward_batch.token_to_kv_pool.dtype
        return self.run(q, keys, values, pool, dtype)

    def run(self, q, *rest):
        return q
'''
SITES = [n for n, line in enumerate(BACKEND.splitlines(), 1) if "batch.token_to_kv_pool" in line]
POOL = "sglang.srt.model_executor.forward_batch_info:ForwardBatch.token_to_kv_pool"


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """Contracts are compiled once, as they are for a user."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def backend(tmp_path, monkeypatch, cache):
    monkeypatch.setenv("SGLANG_CONTRACTS_CACHE", str(cache))
    root = tmp_path / "kunlun-like"
    root.mkdir()
    (root / "backend.py").write_text(BACKEND)
    return root


def test_the_ten_broken_sites_are_named_in_a_dozen_lines(run, backend):
    ran = run("check", backend, "--release", "0.5.16")
    assert ran.code == 1
    assert len(SITES) == 10
    lines = ran.out.splitlines()
    assert len(lines) <= 12
    head = "error    ForwardBatch.token_to_kv_pool is gone since 0.5.13 [field-removed]"
    assert head in lines
    assert f"backend.py:{','.join(map(str, SITES))}" in ran.out
    assert "forward_context:get_token_to_kv_pool" in ran.out
    assert "0 errors" not in lines[-1]
    assert "name alone" not in ran.out


def test_the_report_is_that_of_the_design(run, backend):
    ran = run("check", backend, "-r", "0.5.12.post1", "-r", "0.5.16", "-f", "json")
    report = json.loads(ran.out)
    schema = json.loads((SCHEMAS / "check.schema.json").read_text())
    jsonschema.validate(report, schema, jsonschema.Draft202012Validator)
    before, after = report["releases"]
    assert before["verdict"] == "compatible"
    (finding,) = [f for f in after["findings"] if f["rule"] == "field-removed"]
    assert after["verdict"] == "broken"
    assert finding["symbol"] == POOL
    assert (finding["last_ok"], finding["first_broken"]) == ("0.5.12.post1", "0.5.13")
    assert [place["line"] for place in finding["locations"]] == SITES
    assert finding["by_name"] is False
    assert finding["suggestion"]["symbol"].endswith("forward_context:get_token_to_kv_pool")


def test_the_requirement_ends_before_the_release_that_breaks(run, backend):
    ran = run("matrix", backend, "--releases", ">=0.5.9", "-f", "json")
    assert ran.code == 1
    report = json.loads(ran.out)
    assert report["requirement"].endswith(",<0.5.13")


def test_the_mended_backend_is_compatible_before_and_after(run, backend):
    text = BACKEND.replace("forward_batch.token_to_kv_pool", "self.token_to_kv_pool")
    text = text.replace(
        "self.page_size = runner.page_size",
        "self.token_to_kv_pool = runner.token_to_kv_pool\n"
        "        self.req_to_token_pool = runner.req_to_token_pool",
    )
    (backend / "backend.py").write_text(text)
    for release in ("0.5.12", "0.5.16"):
        ran = run("check", backend, "--release", release)
        assert (ran.code, ran.out.splitlines()[1]) == (0, f"compatible  {release}")
