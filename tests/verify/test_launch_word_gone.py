"""Launch commands: a value is only missed where some release listed it."""

from __future__ import annotations

import pytest

from sglang_contracts.errors import ContractsError
from sglang_contracts.surface import load_catalog
from sglang_contracts.verify import launch_check

SERVER = ["python", "-m", "sglang.launch_server", "--model", "m"]


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def symbols(catalog, *more):
    report = launch_check([*SERVER, *more], catalog, "0.5.23")
    return [each.symbol for each in report.releases[0].findings]


def test_a_backend_that_only_a_plugin_registers_is_a_warning(catalog):
    report = launch_check([*SERVER, "--attention-backend", "kunlun"], catalog, "0.5.23")
    [finding] = report.releases[0].findings
    assert finding.severity.value == "warning"
    assert "only a plugin" in finding.detail


def test_a_value_that_a_release_listed_is_missed_with_its_successor(catalog):
    found = symbols(catalog, "--load-balance-method", "shortest_queue")
    assert found == ["flag:--load-balance-method(shortest_queue)"]


def test_a_flag_that_took_any_value_is_missed_all_the_same(catalog):
    assert symbols(catalog, "--cuda-graph-max-bs", "64") == ["flag:--cuda-graph-max-bs"]


@pytest.mark.parametrize(
    ("words", "symbol", "fix"),
    [
        (("--tp-szie", "2"), "flag:--tp-szie", "--tp-size"),
        (("--tp-szie=2",), "flag:--tp-szie", "--tp-size"),
        (
            ("--load-balance-method", "round"),
            "flag:--load-balance-method(round)",
            "round_robin",
        ),
        (("--attention-backend", "flashinfr"), "flag:--attention-backend(flashinfr)", "flashinfer"),
    ],
)
def test_what_no_release_knows_is_an_error_with_the_nearest(catalog, words, symbol, fix):
    report = launch_check([*SERVER, *words], catalog, "0.5.23")
    [finding] = report.releases[0].findings
    assert finding.symbol == symbol
    assert finding.severity.value == "error"
    assert (finding.first_broken, finding.last_ok) == (None, None)
    assert finding.suggestion.symbol == fix


def test_a_flag_that_is_like_none_gets_no_false_friend(catalog):
    report = launch_check([*SERVER, "--nonsense", "3"], catalog, "0.5.23")
    [finding] = report.releases[0].findings
    assert (finding.symbol, finding.suggestion) == ("flag:--nonsense", None)


def test_a_value_that_is_like_none_is_told_what_there_is(catalog):
    report = launch_check([*SERVER, "--kv-cache-dtype", "x"], catalog, "0.5.23")
    [finding] = report.releases[0].findings
    assert finding.suggestion is None
    assert finding.detail.startswith("it takes auto, ")


@pytest.mark.parametrize(
    "words",
    [
        ("--tp", "2"),
        ("--chunked-prefill-size", "-1"),
        ("--json-model-override-args", '{"a": -1, "--b": 2}'),
        ("--disable-radix", "--trust-remote-code"),
        ("--max-running-requests=8", "&&", "echo", "--no-such-flag"),
        ("--attention-backend", "$BACKEND"),
    ],
)
def test_what_argparse_takes_is_no_finding(catalog, words):
    assert symbols(catalog, *words) == []


@pytest.mark.parametrize(
    "front",
    [
        ("python3", "-u", "-m", "sglang.launch_server"),
        ("sglang", "serve"),
        ("/opt/env/bin/sglang", "serve"),
        ("env", "A=1", "python", "-m", "sglang.launch_server"),
        ("numactl", "--cpunodebind", "0", "python", "/x/sglang/launch_server.py"),
        ("docker", "run", "--gpus", "all", "-e", "HF_TOKEN=x", "img", "sglang", "serve"),
        (),
    ],
)
def test_only_what_is_meant_for_the_server_is_looked_at(catalog, front):
    report = launch_check([*front, "--tp-szie", "2"], catalog, "0.5.23")
    assert [each.symbol for each in report.releases[0].findings] == ["flag:--tp-szie"]


def test_a_misspelt_variable_is_a_warning(catalog):
    words = ["docker", "run", "-e", "SGLANG_VLM_CACHE_SIZE_M=3", "i", *SERVER]
    [finding] = launch_check(words, catalog, "0.5.23").releases[0].findings
    assert (finding.symbol, finding.severity.value) == ("env:SGLANG_VLM_CACHE_SIZE_M", "warning")
    assert launch_check(["NO_PROXY=x", *SERVER], catalog, "0.5.23").releases[0].findings == ()


@pytest.mark.parametrize("words", [["python", "train.py", "--lr", "3"], ["ls"], ["vllm", "serve"]])
def test_what_launches_no_server_cannot_be_checked(catalog, words):
    with pytest.raises(ContractsError) as raised:
        launch_check(words, catalog, "0.5.23")
    assert "sglang serve" in raised.value.hint
