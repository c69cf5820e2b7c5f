from pathlib import Path

import pytest

from sglang_contracts.errors import ContractsError
from sglang_contracts.suite.capabilities import Capabilities, documented, parse, plain

GUIDE = Path(__file__).parents[2] / "docs" / "vendor-guide.md"


def test_nothing_declared_is_the_least():
    assert parse({}) == Capabilities()


def test_a_table_is_read_with_dashes():
    found = parse(
        {"page-sizes": [1, 64], "heads": [[8, 2]], "kv-layout": ["page", "head", "offset", "dim"]}
    )
    assert found.page_sizes == (1, 64)
    assert found.heads == ((8, 2),)
    assert found.kv_layout == ("page", "head", "offset", "dim")


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"page-size": [1]}, "did you mean 'page-sizes'"),
        ({"modes": ["decod"]}, "'decod' is not known"),
        ({"modes": []}, "empty"),
        ({"heads": [[6, 4]]}, "cannot share"),
        ({"heads": [[6, 3, 1]]}, "no pair"),
        ({"page-sizes": [0]}, "from 1"),
        ({"kv-layout": ["slot", "head"]}, "kv-layout"),
        ({"graph-capture": "yes"}, "true or false"),
        ({"backend": "module.Class"}, "module:name"),
        ({"kernels": {"prefil": []}}, "did you mean 'prefill'"),
        ({"quantization": []}, "must be a table"),
        ({"runtime-environment": {"X": 1}}, "runtime-environment.X"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_way_out(table, words):
    with pytest.raises(ContractsError) as refused:
        parse(table)
    assert words in str(refused.value)


def test_a_target_may_be_the_object_itself():
    assert parse({"backend": dict}).backend is dict
    assert plain(parse({"backend": dict}))["backend"] == "builtins:dict"


def test_declares_asks_for_properties_and_modes():
    found = parse({"modes": ["extend"], "graph-capture": True})
    assert found.declares("graph-capture")
    assert found.declares("mode:extend")
    assert not found.declares("mode:decode")
    assert not found.declares("sampler")


def test_each_property_stands_in_the_vendor_guide():
    text = GUIDE.read_text(encoding="utf-8")
    assert [name for name in documented() if f"`{name}`" not in text] == []
