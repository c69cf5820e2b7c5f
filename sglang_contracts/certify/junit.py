"""A certificate as JUnit XML, for CI."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from sglang_contracts.certify.certificate import Certificate
from sglang_contracts.inert import no_log_commands
from sglang_contracts.suite.registry import LEVELS


def _clean(text: str) -> str:
    """Lines without what cannot be printed: XML cannot hold it, or it steers a terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)


def render(certificate: Certificate) -> str:
    """A test suite for each level, a test case for each check.

    An expected failure is a skipped case with its reason. A planned check that did not run is an
    error.
    """
    root = ET.Element("testsuites", name="sglang-contracts certify")
    ran = {each.id: each for each in certificate.checks}
    release = certificate.sglang.release
    totals = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for level in range(certificate.level_asked + 1):
        mine = [each for each in certificate.checks if each.level == level]
        name = f"level {level} on SGLang {release} ({certificate.sglang.kind})"
        seconds = sum(each.milliseconds for each in mine) / 1000
        suite = ET.SubElement(root, "testsuite", name=name, time=f"{seconds:.3f}")
        counts = dict.fromkeys(totals, 0)
        for each in mine:
            counts["tests"] += 1
            case = ET.SubElement(
                suite,
                "testcase",
                classname=f"sglang-contracts.{release}.level-{level}",
                name=_clean(each.id),
                time=f"{each.milliseconds / 1000:.3f}",
            )
            text = _clean("\n\n".join(p for p in (each.message, each.reproduction) if p))
            first = _clean(each.message.partition("\n")[0])
            if each.outcome == "fail":
                counts["failures"] += 1
                kind = "raised" if each.crash else "violated"
                ET.SubElement(case, "failure", message=first, type=kind).text = text
            elif each.outcome == "error":
                counts["errors"] += 1
                ET.SubElement(case, "error", message=first, type="suite").text = text
            elif each.outcome in ("skip", "expected"):
                counts["skipped"] += 1
                ET.SubElement(case, "skipped", message=_clean(each.reason))
        for key, value in counts.items():
            suite.set(key, str(value))
            totals[key] += value
        suite.set("id", LEVELS[level].partition(":")[0])
    missing = [name for name in certificate.not_run if name not in ran]
    if missing:
        suite = ET.SubElement(root, "testsuite", name="not run", tests=str(len(missing)))
        suite.set("errors", str(len(missing)))
        for planned in missing:
            case = ET.SubElement(
                suite, "testcase", classname="sglang-contracts.plan", name=_clean(planned)
            )
            ET.SubElement(case, "error", message="planned, and did not run", type="plan")
        totals["tests"] += len(missing)
        totals["errors"] += len(missing)
    for key, value in totals.items():
        root.set(key, str(value))
    ET.indent(root)
    text = no_log_commands(ET.tostring(root, encoding="unicode"), "&#58;")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'
