"""Every machine-readable format, on every status, validated as its readers would."""

import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import jsonschema

from sglang_contracts.report import FORMATS, Options, render
from sglang_contracts.report.words import message
from sglang_contracts.verify.findings.finding import PluginInfo, Report, Severity
from sglang_contracts.verify.rules.registry import RULES

HERE = Path(__file__).parent
SCHEMAS = HERE.parents[1] / "docs" / "schemas"


def test_every_format_says_something_on_every_status(any_report):
    for name in FORMATS:
        text = render(any_report, name)
        assert isinstance(text, str)
        assert text or name == "github"


def test_json_is_valid_by_the_published_schema(any_report):
    document = json.loads(render(any_report, "json"))
    schema = json.loads((SCHEMAS / "check.schema.json").read_text())
    jsonschema.validate(document, schema, jsonschema.Draft202012Validator)


def test_json_has_the_stable_frame(reports):
    document = json.loads(render(reports["broken"], "json"))
    assert document["schema"] == 1
    assert document["tool"].startswith("sglang-contracts ")
    assert document["plugin"] == {
        "name": "kunlun-like",
        "version": "0.3.1",
        "path": "plugins/kunlun",
    }
    assert [(r["release"], r["verdict"]) for r in document["releases"]] == [
        ("0.5.12", "compatible"),
        ("0.5.13", "broken"),
        ("0.5.15", "broken"),
        ("0.5.16", "broken"),
    ]
    (finding,) = document["releases"][1]["findings"]
    assert finding["rule"] == "field-removed"
    assert finding["severity"] == "error"
    assert finding["symbol"].endswith(":ForwardBatch.token_to_kv_pool")
    assert finding["locations"][0] == {"file": "impl/attention_backend.py", "line": 145}
    assert (finding["last_ok"], finding["first_broken"]) == ("0.5.12.post1", "0.5.13")
    assert finding["suggestion"]["evidence"] == "contract"
    assert finding["message"] == (
        "ForwardBatch.token_to_kv_pool is gone since 0.5.13 (worked until 0.5.12.post1); use "
        "sglang.srt.model_executor.forward_context:get_token_to_kv_pool (or the pool the backend "
        "keeps from its model runner) [contract]"
    )


def test_json_says_null_where_nothing_is_known(reports):
    document = json.loads(render(reports["broken"], "json"))
    orphan = next(f for f in document["releases"][2]["findings"] if f["rule"] == "env-removed")
    assert orphan["first_broken"] is None
    assert orphan["suggestion"] is None
    assert orphan["locations"] == []


def test_sarif_is_valid_by_its_schema(any_report):
    document = json.loads(render(any_report, "sarif"))
    schema = json.loads((HERE / "data" / "sarif-2.1.0.schema.json").read_text())
    jsonschema.validate(document, schema, jsonschema.Draft7Validator)


def test_sarif_has_one_result_for_a_finding_of_several_releases(reports):
    (run,) = json.loads(render(reports["broken"], "sarif"))["runs"]
    (field,) = [r for r in run["results"] if r["ruleId"] == "field-removed"]
    assert field["level"] == "error"
    assert field["properties"]["releases"] == ["0.5.13", "0.5.15", "0.5.16"]
    assert len(field["locations"]) == 10
    assert run["tool"]["driver"]["rules"][field["ruleIndex"]]["id"] == "field-removed"


def test_junit_counts_what_it_holds(any_report):
    root = ET.fromstring(render(any_report, "junit"))
    assert root.tag == "testsuites"
    errors = sum(
        f.severity is Severity.ERROR for release in any_report.releases for f in release.findings
    )
    failing_notes = sum(note.fails for note in any_report.notes)
    assert int(root.get("failures")) == len(root.findall(".//failure")) == errors + failing_notes
    assert int(root.get("tests")) == len(root.findall(".//testcase"))
    for suite in root:
        assert int(suite.get("tests")) == len(suite.findall("testcase")) >= 1


def test_junit_never_passes_an_unknown_release(reports):
    root = ET.fromstring(render(reports["unknown"], "junit"))
    assert int(root.get("skipped")) == int(root.get("tests")) == 1


_COMMAND = re.compile(r"::(error|warning|notice)( [a-z]+=[^,:\r\n]*(,[a-z]+=[^,:\r\n]*)*)?::.+")


def test_github_lines_are_workflow_commands(any_report):
    for line in render(any_report, "github").splitlines():
        assert _COMMAND.fullmatch(line), line


def test_github_annotates_every_place(reports):
    lines = render(reports["broken"], "github").splitlines()
    places = [re.search(r"file=impl/attention_backend.py,line=(\d+)", line) for line in lines]
    assert [int(m[1]) for m in places if m] == [145, 151, 163, 170, 188, 201, 214, 230, 247, 260]


def test_paths_start_at_the_repository_where_the_plugin_is_a_folder_in_it(tmp_path, reports):
    import msgspec

    root = tmp_path / "plugins" / "kunlun"
    root.mkdir(parents=True)
    report = msgspec.structs.replace(
        reports["broken"], plugin=PluginInfo("kunlun-like", "1", str(root))
    )
    options = Options(base=str(tmp_path))
    assert "file=plugins/kunlun/impl/attention_backend.py,line=145" in render(
        report, "github", options
    )
    assert '"uri": "plugins/kunlun/impl/attention_backend.py"' in render(report, "sarif", options)


class _Tags(HTMLParser):
    VOID = frozenset({"meta", "br"})

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_html_is_whole_and_loads_nothing(any_report):
    parser = _Tags()
    parser.feed(render(any_report, "html"))
    assert parser.open == []
    tags = [tag for tag, _ in parser.seen]
    assert "script" not in tags
    assert not [a for _, attrs in parser.seen for a in attrs if a in ("src", "href")]


def test_markdown_escapes_what_a_plugin_may_hold(reports):
    text = render(reports["broken"], "markdown")
    assert "<script>" not in text
    for line in text.splitlines():
        if line.startswith("| 0.5"):
            assert len(re.findall(r"(?<!\\)\|", line)) == 6


def test_markdown_shows_every_verdict(any_report):
    text = render(any_report, "markdown")
    for release in any_report.releases:
        assert f"| {release.release} |" in text
        assert release.verdict.value in text


def test_every_rule_has_a_sentence_that_names_the_symbol(reports):
    import msgspec

    sample = reports["broken"].releases[1].findings[0]
    for rule in RULES:
        text = message(msgspec.structs.replace(sample, rule=rule))
        assert "token_to_kv_pool" in text, rule
        assert "{" not in text, rule


def test_a_rule_without_wording_is_told_by_its_detail(reports):
    import msgspec

    sample = reports["broken"].releases[1].findings[0]
    odd = msgspec.structs.replace(sample, rule="brand-new", detail="it shrank")
    assert "brand-new: ForwardBatch.token_to_kv_pool: it shrank" in message(odd)


def test_facts_never_overwrite_the_frame():
    document = json.loads(render(Report("check", facts={"schema": 99, "files": 2}), "json"))
    assert document["schema"] == 1
    assert document["files"] == 2
