"""JUnit XML: a test suite for each release, a test case for each finding."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from sglang_contracts.report.merge import order
from sglang_contracts.report.options import Options
from sglang_contracts.report.words import message
from sglang_contracts.verify.findings.finding import (
    Finding,
    ReleaseReport,
    Report,
    Severity,
    Verdict,
)

# What XML 1.0 cannot hold at all, not even as a reference.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: Report, options: Options) -> str:
    """The report as XML.

    An error is a failure, a warning or a note a passed case that says so in its output. A release
    without a finding is one passed case, one of which nothing is known a skipped case. A note that
    fails the run is an error of the suite ``settings``.
    """
    root = ET.Element("testsuites", name="sglang-contracts")
    for entry in report.releases:
        _suite(root, entry, report)
    failing = [note for note in report.notes if note.fails]
    if failing:
        suite = ET.SubElement(root, "testsuite", name="settings")
        for note in failing:
            case = _case(suite, "sglang-contracts.settings", note.text)
            text = _clean(note.text + (f" ({note.hint})" if note.hint else ""))
            ET.SubElement(case, "failure", message=text, type="settings").text = text
    for suite in root:
        _count(suite)
    _count(root)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode")


def _suite(root: ET.Element, entry: ReleaseReport, report: Report) -> None:
    suite = ET.SubElement(root, "testsuite", name=f"SGLang {entry.release}")
    group = f"sglang-{entry.release}".replace(".", "_")
    if report.plugin is not None:
        group = f"{_clean(report.plugin.name)}.{group}"
    for finding in sorted(entry.findings, key=order):
        _finding(suite, group, finding)
    if entry.verdict is Verdict.UNKNOWN:
        case = _case(suite, group, "verdict")
        ET.SubElement(case, "skipped", message="unknown: not everything could be checked")
    elif not any(f.severity is Severity.ERROR for f in entry.findings):
        # A suite without a case is dropped by most readers, and the release with it.
        case = _case(suite, group, "verdict")
        if entry.verdict is Verdict.BROKEN:
            ET.SubElement(case, "system-out").text = "broken; what breaks it is known already"


def _finding(suite: ET.Element, group: str, finding: Finding) -> None:
    case = _case(suite, group, f"{finding.rule} {finding.symbol}")
    if finding.locations:
        case.set("file", _clean(finding.locations[0].file))
        case.set("line", str(finding.locations[0].line))
    places = "\n".join(f"{place.file}:{place.line}" for place in finding.locations)
    text = _clean(f"{message(finding)}\n{places}".rstrip())
    if finding.severity is Severity.ERROR:
        failure = ET.SubElement(case, "failure", type=finding.rule)
        failure.set("message", _clean(message(finding)))
        failure.text = text
    else:
        ET.SubElement(case, "system-out").text = f"{finding.severity.value}: {text}"


def _case(suite: ET.Element, group: str, name: str) -> ET.Element:
    return ET.SubElement(suite, "testcase", classname=group, name=_clean(name), time="0")


def _count(element: ET.Element) -> None:
    element.set("tests", str(len(list(element.iter("testcase")))))
    element.set("failures", str(len(list(element.iter("failure")))))
    element.set("errors", "0")
    element.set("skipped", str(len(list(element.iter("skipped")))))
    element.set("time", "0")


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
