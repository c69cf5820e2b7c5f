"""Names of a plugin steer nobody who shows a report: each format under its own reader."""

from __future__ import annotations

import html.parser
import json
import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sglang_contracts.inert import LONGEST, one_line
from sglang_contracts.report import FORMATS, Options, render, visible
from sglang_contracts.report.merge import merged
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

PIECES = (
    *("\x1b[31m", "\x1b]0;title\x07", "\x9b2J", "\r", "\n", "\n\n", "\t", "\b", "\u2028", "\u202e"),
    *("::error::x", " ::stop-commands::t", "\n::set-env name=a::b", "##[group]", "##vso[x]y", "::"),
    *(
        "`",
        "``",
        "```",
        "\n```\n",
        "~~~",
        "~~x~~",
        "|",
        "\\",
        "\\|",
        "*",
        "_",
        "**x**",
        "<!--",
        "-->",
    ),
    *("<script>", "</details>", "<b", "&lt;", "&", "[a](b)", "![a](b)", "[a]", "<http://x.y>"),
    *("http://x.y", "www.x.y", "- ", "+ ", "1. ", "2) ", "# ", "---", "===", "> ", "    ", "$x$"),
    *(
        "@a",
        "%0A",
        "%",
        ",",
        ":",
        "x" * 400,
        "]]>",
        "\ud800",
        "\0",
        '"',
        "'",
        "{",
        "}",
        "a",
        "b.py",
    ),
)
hostile = (
    st.lists(st.sampled_from(PIECES) | st.characters(), min_size=1, max_size=6)
    .map("".join)
    .filter(lambda text: one_line(text).strip())
)
maybe = st.just("") | hostile
places = st.builds(Location, hostile, st.integers(1, 9), st.integers(0, 9))
findings = st.builds(
    Finding,
    rule=st.sampled_from(["field-removed", "override-signature", "parameter-removed", "new-one"]),
    severity=st.sampled_from(Severity),
    symbol=hostile,
    locations=st.lists(places, max_size=2).map(tuple),
    last_ok=st.none() | st.just("0.5.1"),
    first_broken=st.none() | st.just("0.5.2"),
    suggestion=st.none() | st.builds(Suggestion, hostile, hostile, maybe),
    old=maybe,
    new=maybe,
    detail=maybe,
    by_name=st.booleans(),
)
edits = st.fixed_dictionaries(
    {
        "file": hostile,
        "line": st.integers(1, 9),
        "rule": hostile,
        "symbol": hostile,
        "old": maybe,
        "new": maybe,
        "note": maybe,
        "since": st.just("0.5.2"),
    }
)
uses = st.fixed_dictionaries(
    {
        "symbol": hostile,
        "module": maybe,
        "role": st.just("call"),
        "locations": st.lists(
            st.fixed_dictionaries({"file": hostile, "line": st.integers(1, 9)}), max_size=2
        ),
        "guarded": st.booleans(),
    }
)
needless = st.fixed_dictionaries({"file": hostile, "line": st.integers(1, 9), "text": hostile})
FACTS = {
    "check": st.just({}),
    "matrix": st.fixed_dictionaries({"requirement": hostile}),
    "upgrade": st.fixed_dictionaries(
        {
            "from": st.just("0.5.1"),
            "edits": st.lists(edits, max_size=2),
            "needless": st.lists(needless, max_size=2),
        }
    ),
    "uses": st.fixed_dictionaries({"uses": st.lists(uses, max_size=2)}),
    "diff": st.just({"old": "0.5.1", "new": "0.5.2", "compared": 2}),
    "bump": st.fixed_dictionaries(
        {
            "recorded": st.just({"release": "0.5.2", "modules": 1, "fresh": True}),
            "previous": st.just("0.5.1"),
            "clauses": st.just(1),
            "wrong": st.just(0),
            "proposals": st.just([]),
            "differences": st.lists(
                st.fixed_dictionaries({"rule": st.just("removed"), "symbol": hostile}), max_size=2
            ),
            "plugins": st.lists(
                st.fixed_dictionaries(
                    {
                        "plugin": hostile,
                        "verdict": st.just("broken"),
                        "errors": st.just(1),
                        "warnings": st.just(0),
                    }
                ),
                max_size=2,
            ),
        }
    ),
}


@st.composite
def reports(draw: st.DrawFn) -> Report:
    command = draw(st.sampled_from(sorted(FACTS)))
    entry = st.builds(
        ReleaseReport,
        st.sampled_from(["0.5.1", "0.5.2", "0.5.3"]),
        st.sampled_from(Verdict),
        st.lists(findings, max_size=2).map(tuple),
    )
    return Report(
        command,
        tuple(draw(st.lists(entry, max_size=2, unique_by=lambda each: each.release))),
        draw(st.none() | st.builds(PluginInfo, hostile, maybe, maybe)),
        tuple(draw(st.lists(st.builds(Note, hostile, st.none() | places, maybe), max_size=2))),
        draw(FACTS[command]),
    )


def with_names(*names: str) -> Report:
    """A report in which each of these names stands in each place."""
    found = tuple(
        Finding(
            "field-removed",
            severity,
            name,
            (Location(name, 1),),
            suggestion=Suggestion(name, "contract", name),
            old=name,
            new=name,
        )
        for name in names
        for severity in Severity
    )
    return Report(
        "check",
        (ReleaseReport("0.5.1", Verdict.BROKEN, found),),
        PluginInfo(names[0], names[0], names[0]),
        tuple(Note(name, Location(name, 1), name) for name in names),
    )


SEEDS = with_names(*(piece + "x" for piece in PIECES))

checked = settings(max_examples=60, deadline=None)


def no_command_for_a_runner(text: str) -> None:
    """As the runners of GitHub (``::x::``, ``##[x]``) and Azure (``##vso[x]``) read a log."""
    for line in re.split(r"\r\n|\n|\r", text):
        assert not line.lstrip().startswith("::"), line
        assert "##[" not in line, line
        assert "##vso[" not in line, line


DRAWING = {"draw", "linefeed", "carriage_return", "select_graphic_rendition"}


def what_a_terminal_does(text: str) -> tuple[set[str], list[str]]:
    """The events that a terminal emulator sees in a text, and the lines that it shows."""
    pyte = pytest.importorskip("pyte")
    events: set[str] = set()
    lines = [""]

    class Screen:
        def __getattr__(self, event):
            def handle(*arguments, **_):
                events.add(event)
                if event == "draw":
                    lines[-1] += arguments[0]
                elif event == "linefeed":
                    lines.append("")

            return handle

    pyte.Stream(Screen()).feed(text.replace("\n", "\r\n"))
    return events, lines


@checked
@given(reports(), st.booleans(), st.integers(40, 120))
@example(SEEDS, True, 80)
def test_text_only_draws(report, color, width):
    text = render(report, "text", Options(color=color, width=width, verbose=True))
    events, lines = what_a_terminal_does(text)
    assert events <= DRAWING
    assert all(line.isprintable() for line in lines)
    assert max(map(len, " ".join(lines).split()), default=0) < 3 * LONGEST
    no_command_for_a_runner(text)


@checked
@given(reports())
@example(SEEDS)
def test_github_gets_the_commands_that_are_meant_and_no_other(report):
    text = render(report, "github")
    found = []
    for line in filter(None, re.split(r"\r\n|\n|\r|\x85|\u2028|\u2029", text)):
        command = re.fullmatch(r"::(error|warning|notice)(?: ([^:]*))?::(.*)", line)
        assert command is not None, line
        pairs = [pair.split("=", 1) for pair in (command[2] or "").split(",") if pair]
        assert {key for key, _ in pairs} <= {"file", "line", "col", "title"}
        assert all(",".isprintable() and unescaped(value).isprintable() for _, value in pairs)
        assert unescaped(command[3]).isprintable()
        found.append(dict(pairs).get("file"))
    expected = [
        one_line(place.file.encode("utf-8", "replace").decode()) if place else None
        for item in merged(visible(report))
        for place in (item.finding.locations or (None,))
    ]
    notes = len(report.notes) + sum(e.verdict is Verdict.UNKNOWN for e in report.releases)
    assert len(found) == len(expected) + notes


def unescaped(text: str) -> str:
    for code, mark in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(code, mark)
    return text


BLOCKS = {
    *("heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline"),
    *("bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"),
    *("table_open", "table_close", "thead_open", "thead_close", "tbody_open", "tbody_close"),
    *("tr_open", "tr_close", "th_open", "th_close", "td_open", "td_close"),
}
SPANS = {"text", "code_inline", "strong_open", "strong_close", "em_open", "em_close"}
OWN_HTML = {"<details><summary>Notes</summary>", "</details>"}


@checked
@given(reports())
@example(SEEDS)
def test_markdown_has_the_structure_that_is_ours(report):
    text = render(report, "markdown", Options(width=80, verbose=True))
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    for token in tokens:
        if token.type == "html_block":
            assert token.content.strip() in OWN_HTML
        elif token.type == "fence":
            assert report.command == "bump"
        else:
            assert token.type in BLOCKS, token
        for child in token.children or ():
            assert child.type in SPANS, child
            if child.type == "text":
                assert "://" not in child.content or r":\/" in text
    headings = [t.content for t in tokens if t.type == "inline" and t.level == 1]
    rows = sum(token.type == "tr_open" for token in tokens)
    cells = sum(token.type in ("td_open", "th_open") for token in tokens)
    if report.command in ("check", "matrix"):
        assert rows == (len(report.releases) + 1 if report.releases else 0)
        assert cells == 5 * rows
    assert sum(token.type == "heading_open" for token in tokens) <= 6 + 2 * len(headings)
    no_command_for_a_runner(text)


@checked
@given(hostile)
@example("``x`|y`")
def test_a_name_reads_back_from_markdown_as_it_is(name):
    shown_name = one_line(name)
    shown = " ".join(shown_name.split())
    report = Report(
        "check",
        (ReleaseReport("0.5.1", Verdict.COMPATIBLE),),
        PluginInfo(name, "", ""),
        (Note("a note", Location(name, 1)),),
    )
    tokens = MarkdownIt("commonmark").enable("table").parse(render(report, "markdown"))
    title, *_, note = [token for token in tokens if token.type == "inline"]
    assert "".join(c.content for c in title.children).endswith(f": {shown}")
    assert [c.content for c in note.children if c.type == "code_inline"] == [
        " ".join(f"{shown_name}:1".split())
    ]


class Reader(html.parser.HTMLParser):
    """What a browser would make of a page: elements, attributes, and the text between them."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def handle_comment(self, data):
        raise AssertionError(data)


OURS = {
    *("html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "div", "span", "table"),
    *("thead", "tbody", "tr", "th", "td", "ul", "li", "b", "br", "code", "small", "footer"),
}


@checked
@given(reports())
@example(SEEDS)
def test_a_page_has_the_elements_that_are_ours(report):
    page = render(report, "html")
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    assert reader.tags <= OURS
    assert reader.attributes <= {"class", "charset", "name", "content", "title", "lang"}
    assert all(line.isprintable() for line in page.splitlines())
    no_command_for_a_runner(page)


@checked
@given(reports())
@example(SEEDS)
def test_formats_for_programs_hold_every_name_as_it_is(report):
    text = render(report, "json")
    no_command_for_a_runner(text)
    found = json.loads(text)
    names = [note["text"] for note in found["notes"]]
    assert names == [note.text.encode("utf-8", "replace").decode() for note in report.notes]
    sarif = render(report, "sarif")
    no_command_for_a_runner(sarif)
    json.loads(sarif)
    junit = render(report, "junit")
    no_command_for_a_runner(junit)
    ET.fromstring(junit)


def test_every_format_is_read_here():
    assert set(FORMATS) == {"text", "github", "markdown", "html", "json", "sarif", "junit"}
