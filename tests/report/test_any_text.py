"""Whatever a plugin's files hold, every format stays what it is."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sglang_contracts.report import FORMATS, Options, render
from sglang_contracts.verify.findings.finding import (
    Finding,
    Location,
    Note,
    PluginInfo,
    ReleaseReport,
    Report,
    Severity,
    Suggestion,
    Verdict,
)

SARIF = json.loads((Path(__file__).parent / "data" / "sarif-2.1.0.schema.json").read_text())

text = st.text(st.characters(), max_size=12)
words = text.filter(bool)
findings = st.builds(
    Finding,
    rule=st.sampled_from(["field-removed", "override-signature", "parameter-removed", "new-one"]),
    severity=st.sampled_from(Severity),
    symbol=words,
    locations=st.lists(st.builds(Location, words, st.integers(0, 9), st.integers(0, 9)), max_size=3)
    .map(tuple),
    last_ok=st.none() | words,
    first_broken=st.none() | words,
    suggestion=st.none() | st.builds(Suggestion, text, text, text),
    old=text,
    new=text,
    detail=text,
    by_name=st.booleans(),
)  # fmt: skip
reports = st.builds(
    Report,
    command=st.just("check"),
    releases=st.lists(
        st.builds(
            ReleaseReport,
            st.sampled_from(["0.5.1", "0.5.2", "0.5.3"]),
            st.sampled_from(Verdict),
            st.lists(findings, max_size=3).map(tuple),
        ),
        max_size=3,
        unique_by=lambda entry: entry.release,
    ).map(tuple),
    plugin=st.none() | st.builds(PluginInfo, text, text, text),
    notes=st.lists(
        st.builds(Note, text, st.none() | st.builds(Location, words, st.integers(1, 9)), text),
        max_size=2,
    ).map(tuple),
)


@settings(max_examples=20, deadline=None)
@given(reports)
def test_any_report_can_be_rendered_and_read_back(report):
    rendered = {name: render(report, name, Options(width=60)) for name in FORMATS}
    for out in rendered.values():
        out.encode("utf-8")
    json.loads(rendered["json"])
    jsonschema.validate(json.loads(rendered["sarif"]), SARIF, jsonschema.Draft7Validator)
    ET.fromstring(rendered["junit"])
    for line in rendered["github"].split("\n"):
        assert not line or line.startswith("::")
    for line in rendered["text"].split("\n"):
        assert line.isprintable()


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_name_that_is_no_text_can_be_printed(name):
    finding = Finding(
        "field-removed", Severity.ERROR, "a.b:C.d", (Location("bad\udcff.py", 1),), None, "0.5.1"
    )
    report = Report("check", (ReleaseReport("0.5.1", Verdict.BROKEN, (finding,)),))
    render(report, name).encode("utf-8")
