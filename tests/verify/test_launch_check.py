"""``launch-check``: values, devices, and the names that a plugin brings."""

from __future__ import annotations

import pytest

from sglang_contracts.surface import load_catalog
from sglang_contracts.verify import launch_check

SERVER = ["python", "-m", "sglang.launch_server", "--model-path", "m"]
RELEASES = ("0.4.6", "0.5.3", "0.5.11", "0.5.16", "0.5.23")


def found(release, *words, plugin=None):
    report = launch_check([*SERVER, *words], load_catalog(), release, plugin=plugin)
    return [
        (each.rule, each.severity.value, each.symbol, each.detail)
        for each in report.releases[0].findings
    ]


@pytest.mark.parametrize("release", RELEASES)
def test_the_usual_slips_are_told_on_each_release(release):
    for words, says in (
        (("--tp", "eight"), "whole number"),
        (("--mem-fraction-static", "1.85"), "at most 1"),
        (("--port", "70000"), "1 to 65535"),
        (("--trust-remote-code", "true"), "no value"),
        (("--max-running-requests",), "a value"),
    ):
        [(rule, severity, _, detail)] = found(release, *words)
        assert (rule, severity) == ("server-arg-value", "error")
        assert says in detail


@pytest.mark.parametrize("release", RELEASES)
def test_what_serves_everywhere_is_silent(release):
    words = ("--tp", "8", "--mem-fraction-static", "0.85", "--port", "30000", "--device", "cuda:0")
    assert found(release, *words, "--trust-remote-code") == []


@pytest.mark.parametrize("release", RELEASES)
def test_a_vendors_device_is_told_how_to_start(release):
    [(_, severity, symbol, detail)] = found(release, "--device", "kunlun")
    assert (severity, symbol) == ("error", "flag:--device(kunlun)")
    assert "leave --device out" in detail
    has_platforms = load_catalog().surface(release).has_module("sglang.srt.platforms")
    assert ("SGLANG_PLATFORM=kunlun" in detail) is has_platforms


def test_a_deprecated_flag_is_a_note_that_names_what_comes_next():
    report = launch_check([*SERVER, "--disable-cuda-graph"], load_catalog(), "0.5.23")
    [finding] = report.releases[0].findings
    assert (finding.rule, finding.severity.value) == ("server-arg-deprecated", "note")
    assert finding.suggestion.symbol.startswith("--cuda-graph-backend-")


def test_a_flag_that_lost_its_value_says_when():
    report = launch_check([*SERVER, "--enable-multimodal", "true"], load_catalog(), "0.5.23")
    [finding] = report.releases[0].findings
    assert finding.rule == "server-arg-value"


@pytest.fixture
def plugin(tmp_path):
    (tmp_path / "p.py").write_text(
        "from sglang.srt.platforms.interface import SRTPlatform\n"
        "from sglang.srt.layers.attention.attention_registry import register_attention_backend\n"
        "NAME = 'card'\n\n\n@register_attention_backend(NAME)\ndef make(runner): ...\n"
    )
    return tmp_path


def test_a_name_that_the_plugin_registers_is_known(plugin):
    assert found("0.5.23", "--attention-backend", "card", plugin=plugin) == []


def test_a_name_that_nobody_registers_is_an_error(plugin):
    [(_, severity, _, detail)] = found("0.5.23", "--attention-backend", "cart", plugin=plugin)
    assert severity == "error"
    assert detail.startswith("neither the release nor")


def test_a_quantisation_that_the_platform_has_no_kernel_for_is_a_warning(plugin):
    [(_, severity, symbol, detail)] = found("0.5.23", "--quantization", "fp8", plugin=plugin)
    assert (severity, symbol) == ("warning", "flag:--quantization(fp8)")
    assert "falls back" in detail
    (plugin / "p.py").write_text((plugin / "p.py").read_text() + "QUANTS = ['fp8']\n")
    assert found("0.5.23", "--quantization", "fp8", plugin=plugin) == []
