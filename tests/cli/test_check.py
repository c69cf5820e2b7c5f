"""``check``, ``matrix``, ``uses``, ``upgrade``, ``launch-check`` on engines that answer at will."""

import json
from pathlib import Path

import jsonschema
import pytest

from sglang_contracts.contract.load import parse_contract
from sglang_contracts.verify.commands import check as uses
from sglang_contracts.verify.commands import launch
from sglang_contracts.verify.findings.finding import (
    Finding,
    ReleaseReport,
    Report,
    Severity,
    Verdict,
)

from .conftest import RELEASES, SYMBOL, FakeCatalog, answer, lost

SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"


def document(ran):
    found = json.loads(ran.out)
    schema = json.loads((SCHEMAS / f"{found['command']}.schema.json").read_text())
    jsonschema.validate(found, schema, jsonschema.Draft202012Validator)
    return found


def releases(ran):
    return [entry["release"] for entry in document(ran)["releases"]]


def settings(plugin, text):
    (plugin / "pyproject.toml").write_text(f"[tool.sglang-contracts]\n{text}\n")


def test_findings_are_exit_one_and_none_is_zero(run, plugin):
    assert run("check", plugin, "--release", "0.5.13").code == 1
    assert run("check", plugin, "--release", "0.5.12").code == 0


def test_releases_add_up(run, plugin):
    ran = run("check", plugin, "-r", "0.5.12", "--releases", ">=0.5.13", "-f", "json")
    assert releases(ran) == ["0.5.12", "0.5.13", "0.5.16"]


def test_settings_say_what_is_supported(run, plugin):
    settings(plugin, 'supported = "<0.5.12.post1"')
    assert releases(run("check", plugin, "-f", "json")) == ["0.5.12", "0.5.16"]


def test_broken_settings_stop(run, plugin):
    settings(plugin, 'suported = "<0.5.12.post1"')
    ran = run("check", plugin)
    assert ran.code == 2
    assert "pyproject.toml:2: unknown setting 'suported'" in ran.err


def test_settings_may_lie_elsewhere(run, plugin, tmp_path):
    other = tmp_path / "other.toml"
    other.write_text('[tool.sglang-contracts]\nsupported = "==0.5.12"\n')
    assert releases(run("check", plugin, "--config", other, "-f", "json")) == ["0.5.12", "0.5.16"]
    assert run("check", plugin, "--config", tmp_path / "none.toml").code == 2


def test_settings_reach_the_engine(run, plugin, monkeypatch):
    seen = {}

    def engine(where, catalog, wanted, **given):
        seen.update(given)
        return answer(wanted)

    monkeypatch.setattr(uses, "check_plugin", engine)
    settings(plugin, 'exclude = ["a/*"]\nknown-as = { fb = "sglang.srt.a:B" }')
    run("check", plugin, "--exclude", "b/*")
    assert seen == {"exclude": ("a/*", "b/*"), "known_as": {"fb": "sglang.srt.a:B"}}


def test_accepted_findings_do_not_fail(run, plugin):
    settings(
        plugin,
        f'[[tool.sglang-contracts.accept]]\nrule = "field-removed"\nsymbol = "{SYMBOL}"\n'
        'reason = "our hook sets it"',
    )
    ran = run("check", plugin)
    assert ran.code == 0
    assert "not shown: 1 accepted" in ran.out


def test_an_accepted_finding_of_another_release_is_not_stale(run, plugin):
    settings(
        plugin,
        f'[[tool.sglang-contracts.accept]]\nrule = "field-removed"\nsymbol = "{SYMBOL}"\n'
        'reason = "our hook sets it"',
    )
    assert run("check", plugin, "--release", "0.5.12").code == 0


def test_a_stale_accepted_finding_fails_with_its_line(run, plugin):
    settings(
        plugin,
        '[[tool.sglang-contracts.accept]]\nrule = "retired"\nsymbol = "a:b"\nreason = "x"',
    )
    ran = run("check", plugin, "--release", "0.5.12")
    assert ran.code == 1
    assert "pyproject.toml:2: accepted finding retired on a:b matches nothing" in ran.out


def test_a_comment_in_the_source_takes_its_finding_out(run, plugin):
    (plugin / "plugin.py").write_text(
        "def f(forward_batch):\n"
        "    forward_batch.token_to_kv_pool  # sglang-contracts: ignore[field-removed] old only\n"
    )
    ran = run("check", plugin)
    assert ran.code == 0
    assert "1 ignored by a comment" in ran.out


def test_a_baseline_release_need_not_be_selected(run, plugin):
    ran = run("check", plugin, "-r", "0.5.16", "--baseline", "0.5.13", "-f", "json")
    assert ran.code == 0
    assert releases(ran) == ["0.5.16"]
    assert document(ran)["releases"][0]["findings"] == []
    assert document(ran)["hidden"] == {"in 0.5.13 already": 1}


def test_a_baseline_file_goes_round(run, plugin, tmp_path):
    file = tmp_path / "baseline.json"
    ran = run("check", plugin, "--write-baseline", file)
    assert ran.code == 0
    assert run("check", plugin, "--baseline-file", file).code == 0
    settings(plugin, 'baseline = "../baseline.json"')
    assert run("check", plugin).code == 0
    file.write_text(file.read_text().replace("field-removed", "retired"))
    ran = run("check", plugin)
    assert ran.code == 1
    assert "matches nothing" in ran.out


def test_only_new_tells_a_break_in_its_first_release_only(run, plugin):
    ran = run("check", plugin, "--only-new", "-f", "json")
    found = {e["release"]: len(e["findings"]) for e in document(ran)["releases"]}
    assert found == {"0.5.12": 0, "0.5.12.post1": 0, "0.5.13": 1, "0.5.16": 0}


@pytest.mark.parametrize(
    ("arguments", "code"), [([], 0), (["--strict"], 1), (["--fail-on", "warning"], 1)]
)
def test_warnings_fail_on_demand(run, plugin, monkeypatch, arguments, code):
    warning = Finding("retired", Severity.WARNING, "a.b:c")
    report = Report("check", (ReleaseReport("0.5.16", Verdict.COMPATIBLE, (warning,)),))
    monkeypatch.setattr(uses, "check_plugin", lambda *_args, **_options: report)
    assert run("check", plugin, "-r", "0.5.16", *arguments).code == code


def test_a_plugin_that_is_not_there(run, plugin):
    ran = run("check", plugin.parent / "plugni")
    assert ran.code == 2
    assert f"did you mean {plugin}?" in ran.err
    ran = run("check", "no-such-distribution-anywhere")
    assert ran.code == 2
    assert "neither a path nor an installed distribution" in ran.err


def test_matrix_prints_every_release_and_the_requirement(run, plugin):
    ran = run("matrix", plugin)
    assert ran.code == 1
    assert ran.out == (
        "0.5.12        compatible\n"
        "0.5.12.post1  compatible\n"
        "0.5.13        broken      plugin.py:2 field-removed ForwardBatch.token_to_kv_pool\n"
        "0.5.16        broken      plugin.py:2 field-removed ForwardBatch.token_to_kv_pool\n"
        "\n"
        "compatible: 0.5.12 ... 0.5.12.post1 (2 of 4)\n"
        "requirement: sglang>=0.5.12,<0.5.13\n"
        "4 releases: 1 error, 0 warnings, 0 notes (different ones)\n"
    )


def test_matrix_tells_a_claim_that_does_not_hold(run, plugin):
    settings(plugin, 'supported = "<0.5.14"')
    says = "the settings claim <0.5.14, which holds 0.5.13 (broken)"
    assert says in " ".join(run("matrix", plugin).out.split())
    settings(plugin, 'supported = "<0.5.13"')
    assert "the settings claim" not in run("matrix", plugin).out


def test_matrix_of_some_releases_claims_nothing_for_the_others(run, plugin):
    ran = run("matrix", plugin, "-r", "0.5.12", "-f", "json")
    assert document(ran)["requirement"] == "sglang>=0.5.12,<0.5.12.post1"


def test_matrix_writes_a_page(run, plugin, tmp_path):
    page = tmp_path / "m.html"
    run("matrix", plugin, "--html", page)
    text = page.read_text()
    assert "sglang&gt;=0.5.12,&lt;0.5.13" in text
    assert text.count("<tr>") == len(RELEASES) + 1


def test_uses_are_grouped_by_module(run, plugin, monkeypatch):
    facts = {
        "uses": [
            {
                "symbol": SYMBOL,
                "module": SYMBOL.partition(":")[0],
                "role": "use",
                "locations": [{"file": "a.py", "line": 3}, {"file": "a.py", "line": 9}],
                "guarded": True,
                "by_name": False,
            },
            {"symbol": "env:SGLANG_X", "module": "", "role": "launch", "locations": []},
        ]
    }
    monkeypatch.setattr(
        "sglang_contracts.verify.commands.uses.uses_of",
        lambda *_a, **_o: Report("uses", facts=facts),
    )
    ran = run("uses", plugin)
    assert ran.code == 0
    assert ran.out == (
        "(environment variables)\n"
        "  (the variable) SGLANG_X  [launch]\n"
        "sglang.srt.model_executor.forward_batch_info\n"
        "  ForwardBatch.token_to_kv_pool  [use, guarded]  a.py:3,9\n"
        "2 symbols of 2 modules\n"
    ).replace("(the variable) ", "")
    assert len(document(run("uses", plugin, "-f", "json"))["uses"]) == 2
    assert "### `sglang.srt.model_executor" in run("uses", plugin, "-f", "markdown").out


UPGRADE = Report(
    "upgrade",
    (ReleaseReport("0.5.16", Verdict.BROKEN, (lost(),)),),
    facts={
        "from": "0.5.12",
        "to": "0.5.16",
        "edits": [
            {
                "file": "plugin.py",
                "line": 2,
                "rule": "field-removed",
                "symbol": SYMBOL,
                "old": "forward_batch.token_to_kv_pool",
                "new": "get_token_to_kv_pool()",
                "since": "0.5.13",
                "covers": ["0.5.13", "0.5.16"],
                "works_since": "0.5.13",
                "both": False,
            }
        ],
        "needless": [
            {
                "file": "plugin.py",
                "line": 9,
                "text": "if version < 0.5.11",
                "always": False,
                "kind": "condition",
            }
        ],
    },
)


def test_upgrade_is_a_dossier(run, plugin, monkeypatch):
    monkeypatch.setattr(
        "sglang_contracts.verify.commands.upgrade.upgrade_report", lambda *_a, **_o: UPGRADE
    )
    ran = run("upgrade", plugin, "--from", "0.5.12", "--to", "0.5.16")
    assert ran.code == 1
    assert ran.out == (
        "0.5.12 -> 0.5.16: broken, 1 break\n"
        "\n"
        "1 edit, in order:\n"
        "  1. ForwardBatch.token_to_kv_pool [field-removed]\n"
        "     plugin.py:2 forward_batch.token_to_kv_pool\n"
        "     -> get_token_to_kv_pool()\n"
        "     since 0.5.13; the new form works from 0.5.13 on, older ones need the old\n"
        "\n"
        "needless from there on:\n"
        "     plugin.py:9  if version < 0.5.11  (always false)\n"
    )
    document(run("upgrade", plugin, "--from", "0.5.12", "--to", "0.5.16", "-f", "json"))
    assert run("upgrade", plugin, "--from", "0.5.12", "--to", "0.5.12").code == 2


def test_launch_check_takes_the_newest_release_and_a_quoted_command(run, plugin, monkeypatch):
    seen = []

    def engine(words, catalog, release, **_):
        seen.append((words, release))
        flag = Finding(
            "server-arg-removed",
            Severity.ERROR,
            "flag:--old",
            first_broken="0.5.16",
            last_ok="0.5.15",
        )
        return Report("launch-check", (ReleaseReport(release, Verdict.BROKEN, (flag,)),))

    monkeypatch.setattr(launch, "launch_check", engine)
    ran = run("launch-check", "--", "A=1", "sglang", "serve", "--old", "x y")
    assert ran.code == 1
    assert "server argument --old is gone" in ran.out
    run("launch-check", "-r", "0.5.12", "-r", "0.5.13", "sglang serve --old 'x y'")
    assert seen == [
        (["A=1", "sglang", "serve", "--old", "x y"], "0.5.16"),
        (["sglang", "serve", "--old", "x y"], "0.5.12"),
        (["sglang", "serve", "--old", "x y"], "0.5.13"),
    ]
    assert run("launch-check", "sglang serve 'x").code == 2


@pytest.fixture
def recorder(monkeypatch):
    """A recorder that only notes what it was asked to record."""
    asked = []

    def record(spec, catalog, **_):
        asked.append(spec)
        monkeypatch.setattr(FakeCatalog, "releases", (*RELEASES, spec))

    monkeypatch.setattr("sglang_contracts.surface.record.record", record)
    monkeypatch.setattr(
        uses,
        "check_plugin",
        lambda where, catalog, releases, **_: Report(
            "check", tuple(ReleaseReport(each, Verdict.COMPATIBLE) for each in releases)
        ),
    )
    return asked


def test_an_unknown_release_is_recorded_on_demand(run, plugin, recorder):
    assert run("check", plugin, "-r", "0.5.17").code == 2
    assert recorder == []
    ran = run("check", plugin, "-r", "0.5.17", "--record", "-f", "json")
    assert ran.code == 0
    assert recorder == ["0.5.17"]
    assert releases(ran) == ["0.5.17"]
    assert run("check", plugin, "-r", "0.5.18rc1", "--record").code == 2


def test_a_person_at_a_terminal_is_asked(run, plugin, recorder, monkeypatch):
    from sglang_contracts.cli import recording

    monkeypatch.setattr(recording, "_wanted", lambda release: True)
    assert run("check", plugin, "-r", "0.5.17").code == 0
    assert recorder == ["0.5.17"]


def test_the_index_is_asked_only_when_told_and_then_remembered(run, plugin, monkeypatch):
    def never():
        raise AssertionError

    monkeypatch.setattr("sglang_contracts.surface.obtain.available", never)
    assert "the index" not in run("check", plugin, "-r", "0.5.12").out
    monkeypatch.setattr("sglang_contracts.surface.obtain.available", lambda: ("0.5.16", "0.5.99"))
    says = "the index has a release beyond those recorded: 0.5.99 (sglang-contracts record 0.5.99)"
    assert says in run("check", plugin, "-r", "0.5.12", "--online").out
    monkeypatch.setattr("sglang_contracts.surface.obtain.available", never)
    assert says in run("check", plugin, "-r", "0.5.12").out
    assert says in run("matrix", plugin, "-r", "0.5.12").out


def test_diff_for_a_plugin_compares_what_it_uses(run, plugin, monkeypatch):
    from sglang_contracts.surface import Catalog, catalog

    monkeypatch.setattr("sglang_contracts.surface.load_catalog", catalog.load_catalog)
    assert isinstance(catalog.load_catalog(), Catalog)
    facts = {"uses": [{"symbol": SYMBOL, "module": "m", "role": "use"}]}
    monkeypatch.setattr(
        "sglang_contracts.verify.commands.uses.uses_of",
        lambda *_a, **_o: Report("uses", facts=facts),
    )
    ran = run("diff", "0.5.12", "0.5.13", "--for", plugin)
    assert ran.code == 1
    assert "removed (1)" in ran.out
    assert "in 1 compared" in ran.out
    assert run("diff", "0.5.13", "0.5.14", "--for", plugin).code == 0


def test_bump_holds_everything_against_the_release(run, plugin, monkeypatch):
    from sglang_contracts.surface import catalog

    monkeypatch.setattr("sglang_contracts.surface.load_catalog", catalog.load_catalog)
    found = parse_contract(
        '[contract]\nid = "fb"\ntitle = "t"\n'
        f'target = "{SYMBOL.rpartition(".")[0]}"\nprovider = "sglang"\nconsumer = "backend"\n'
        'sglang = ">=0.4.6"\n[fields.token_to_kv_pool]\nsglang = "<0.5.13"\n[fields.seq_lens]\n',
        "fb.toml",
    )
    monkeypatch.setattr("sglang_contracts.contract.load_contracts", lambda: (found,))
    settings(plugin, "")
    monkeypatch.chdir(plugin.parent)
    ran = run("bump", "0.5.13")
    assert ran.code == 1
    assert "SGLang 0.5.13: recorded already" in ran.out
    assert "contracts: 2 clauses checked, 0 wrong" in ran.out
    assert "since 0.5.12.post1: 1 removed" in ran.out
    assert "plugin plugin: broken, 1 error, 0 warnings" in ran.out
    assert "plugin/plugin.py:2" in ran.out
    document(run("bump", "0.5.13", "-f", "json"))
    assert "## SGLang 0.5.13" in run("bump", "0.5.13", plugin, "-f", "markdown").out
