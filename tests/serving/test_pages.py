"""Plots, pages, metrics and logs: what is written and what is read."""

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from sglang_contracts.serving import kernel_log, metrics, page, registry, report
from sglang_contracts.serving.plot import Plot, svg
from sglang_contracts.suite.result import Result

GUIDE = Path(__file__).parents[2] / "docs" / "certification.md"
PUBLISHED = Path(__file__).parents[2] / "docs" / "schemas" / "serving.schema.json"


def test_the_published_schema_is_that_of_the_report():
    assert json.loads(PUBLISHED.read_text(encoding="utf-8")) == report.schema()


def test_every_check_stands_in_the_guide():
    text = GUIDE.read_text(encoding="utf-8")
    titles = {each.id: each.title[0].upper() + each.title[1:] for each in registry.checks()}
    assert [id for id, said in titles.items() if f"| `{id}` | {said} |" not in text] == []


@pytest.mark.parametrize(
    "plot",
    [
        Plot("One <point>", "x & y", "ms", (5.0,), (3.0,)),
        Plot("Same", "x", "ms", (1.0, 1.0), (0.0, 0.0)),
        Plot("Small", "x", "ms", (0.001, 0.002), (1e-6, 2e-6)),
        Plot("Many", "x", "ms", tuple(map(float, range(5000))), tuple(map(float, range(5000)))),
        Plot("Line", "x", "ms", (), (), (1.0, 900.0), (2.0, 1e6), 400.0, "a step"),
    ],
)
def test_a_plot_is_well_formed_and_stays_inside(plot):
    root = ElementTree.fromstring(svg(plot))
    assert root.tag.endswith("svg")
    points = root.findall(".//{*}circle")
    assert len(points) <= 600
    for point in points:
        assert 0 <= float(point.get("cx")) <= 720
        assert 0 <= float(point.get("cy")) <= 300
    if plot.mark is not None:
        assert any(text.text == "a step" for text in root.iter() if text.text)


def test_nothing_measured_draws_nothing():
    assert svg(Plot("Empty", "x", "y", (), ())) == ""


def test_a_page_escapes_what_a_server_says():
    result = Result("a.b", 5, "<i>", "fail", message="<script>", omitted=("<b>",))
    found = report.Report(
        "k",
        1,
        "<u>",
        {"url": "<a>"},
        "quick",
        "failed",
        ("a.b", "c.d"),
        ("c.d",),
        "<em>",
        (result,),
        {"<td>": {"x": [1, "<s>"]}},
        {"p": Plot("<p>", "x", "y", (1.0,), (2.0,))},
    )
    text = page.render(found)
    for tag in ("<i>", "<script>", "<b>", "<u>", "<a>", "<em>", "<td><td>", "<s>", "<p>"):
        assert tag not in text
    assert "Not run" in text
    assert "does not hold" in text


def test_metrics_are_read_with_labels_and_totals():
    found = metrics.parse(
        '# HELP x\nx_total{a="b",c="d\\"e"} 2\nx_total{a="z"} 3.5\ny 1e3\nz NaN\nbad line here x\n'
    )
    assert found.names == {"x_total", "y", "z"}
    assert found.total("x_total") == 5.5
    assert found.total("nothing") is None
    assert next(found.of("x_total")).labels == {"a": "b", "c": 'd\\"e'}


def test_the_log_says_which_kernel_served_whom():
    lines = [
        "[2026] backend=kunlun kernel=kunlun_ops.prefill mode=EXTEND requests=a,b",
        "INFO backend=kunlun something else",
    ]
    (found,) = kernel_log.served(lines)
    assert (found.kernel, found.mode, found.rids) == ("kunlun_ops.prefill", "EXTEND", ("a", "b"))
    assert kernel_log.kernel_name("m.n:f") == "m.n.f"
