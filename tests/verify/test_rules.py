"""Every rule fires on its own fixtures, stays silent on its others, and minds nobody else's."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

from sglang_contracts.verify.findings.finding import Finding, Severity
from sglang_contracts.verify.rules import registry
from sglang_contracts.verify.rules.registry import RULES

_SPEC = importlib.util.spec_from_file_location(
    "_fixtures", Path(__file__).with_name("imaginary.py")
)
assert _SPEC is not None
assert _SPEC.loader is not None
_MODULE = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_MODULE)
CAUSES = _MODULE.CAUSES

FIRING = [
    pytest.param(each.rule, each.text, id=f"{each.cause}-{each.name}") for each in _MODULE.FIRES
]
SILENT = [pytest.param(each.text, id=f"{each.cause}-{each.name}") for each in _MODULE.SILENT]
CheckText = Callable[[str], dict[str, list[Finding]]]


def test_every_rule_has_fixtures_of_both_kinds() -> None:
    for fixtures in (_MODULE.FIRES, _MODULE.SILENT):
        assert {each.rule for each in fixtures} == set(RULES)


def test_every_cause_has_fixtures_of_both_kinds() -> None:
    modules = set(registry.ORDER)
    assert {path.name for path in CAUSES.iterdir()} == modules
    for fixtures in (_MODULE.FIRES, _MODULE.SILENT):
        assert {each.cause for each in fixtures} == modules


@pytest.mark.parametrize(("rule", "text"), FIRING)
def test_a_rule_fires_on_its_fixture_and_no_other_rule_does(
    rule: str, text: str, check_text: CheckText
) -> None:
    found = check_text(text)
    assert [f.rule for f in found["0.5.1"]] == []
    assert {f.rule for f in found["0.5.2"]} == {rule}


@pytest.mark.parametrize(("rule", "text"), FIRING)
def test_a_finding_is_dated_and_placed(rule: str, text: str, check_text: CheckText) -> None:
    for finding in check_text(text)["0.5.2"]:
        assert finding.first_broken == "0.5.2"
        assert finding.last_ok == "0.5.1"
        assert finding.locations
        for place in finding.locations:
            assert place.file == "plugin.py"
            assert 1 <= place.line <= len(text.splitlines())


@pytest.mark.parametrize("text", SILENT)
def test_nothing_is_said_where_nothing_breaks(text: str, check_text: CheckText) -> None:
    found = check_text(text)
    assert [(f.rule, f.symbol) for f in found["0.5.1"] + found["0.5.2"]] == []


def test_a_swallowed_import_error_without_a_way_out_is_a_warning(check_text: CheckText) -> None:
    text = (
        "try:\n    from sglang.srt.names import dropped\nexcept ImportError:\n    dropped = None\n"
    )
    [finding] = check_text(text)["0.5.2"]
    assert finding.severity is Severity.WARNING


def test_a_clause_on_an_argument_of_unknown_type_is_a_warning(check_text: CheckText) -> None:
    head = "from sglang.srt.meaning import shifted\n"
    [certain] = check_text(head + "shifted([1])\n")["0.5.2"]
    [unproven] = check_text(head + "def f(rows):\n    return shifted(rows)\n")["0.5.2"]
    assert (certain.severity, unproven.severity) == (Severity.ERROR, Severity.WARNING)


def test_an_import_error_that_is_raised_again_is_an_error(check_text: CheckText) -> None:
    text = (
        "try:\n    from sglang.srt.names import dropped\n"
        "except ImportError as e:\n    raise RuntimeError('no') from e\n"
    )
    [finding] = check_text(text)["0.5.2"]
    assert finding.severity is Severity.ERROR


def test_what_a_plugin_sets_itself_it_may_read(check_text: CheckText) -> None:
    text = (
        "from sglang.srt.batch import Batch\n\n\ndef prepare(b: Batch):\n    b.lost_field = 1\n\n\n"
        "def f(b: Batch):\n    return b.lost_field\n"
    )
    found = check_text(text)["0.5.2"]
    assert not [f for f in found if f.severity is Severity.ERROR]


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    try:\n        from sglang.srt.moved import Mover\n        return Mover\n"
        "    except Exception:\n        pass\n    try:\n"
        "        from sglang.srt.names import Mover\n        return Mover\n"
        "    except Exception:\n        return None\n",
        "x = first('sglang.srt.moved:Mover', 'sglang.srt.names:Mover')\n",
        "import importlib\nfor path in ['sglang.srt.gone', 'sglang.srt.names']:\n    try:\n"
        "        m = importlib.import_module(path)\n        break\n"
        "    except ImportError:\n        continue\n",
    ],
)
def test_one_of_several_ways_is_enough(text: str, check_text: CheckText) -> None:
    found = check_text(text)
    assert [f.symbol for f in found["0.5.1"] + found["0.5.2"]] == []


def test_a_name_means_nothing_in_a_file_of_another_framework(check_text: CheckText) -> None:
    text = "import vllm\n\n\ndef f(server_args):\n    return server_args.lost_arg\n"
    assert check_text(text)["0.5.2"] == []
    told = check_text(text.replace("import vllm\n", "import json\n"))["0.5.2"]
    assert [f.symbol.rsplit(".", 1)[-1] for f in told] == ["lost_arg"]
    assert all(f.by_name for f in told)
