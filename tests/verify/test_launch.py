"""Launch commands: a value is only missed where some release listed it."""

from __future__ import annotations

import pytest

from sglang_contracts.surface import load_catalog
from sglang_contracts.verify import launch_check

SERVER = ["python", "-m", "sglang.launch_server", "--model", "m"]


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def symbols(catalog, *more):
    report = launch_check([*SERVER, *more], catalog, "0.5.23")
    return [each.symbol for each in report.releases[0].findings]


def test_a_backend_that_a_plugin_registers_is_no_finding(catalog):
    assert symbols(catalog, "--attention-backend", "kunlun") == []


def test_a_value_that_a_release_listed_is_missed_with_its_successor(catalog):
    found = symbols(catalog, "--load-balance-method", "shortest_queue")
    assert found == ["flag:--load-balance-method(shortest_queue)"]


def test_a_flag_that_took_any_value_is_missed_all_the_same(catalog):
    assert symbols(catalog, "--cuda-graph-max-bs", "64") == ["flag:--cuda-graph-max-bs"]
