"""What a person reads, at a fixed width, without colour and with it."""

import re

import msgspec
import pytest

from sglang_contracts.report import Options, render, visible
from sglang_contracts.verify.findings.finding import (
    Finding,
    Location,
    Note,
    ReleaseReport,
    Report,
    Severity,
    Suggestion,
    Verdict,
)

TEN_SITES = """\
error    ForwardBatch.token_to_kv_pool is gone since 0.5.13 [field-removed]
         fix: use sglang.srt.model_executor.forward_context:get_token_to_kv_pool (or the pool the
         backend keeps from its model runner) [contract]
         impl/attention_backend.py:145,151,163,170,188,201,214,230,247,260
broken      0.5.16
kunlun-like 0.3.1: 1 error, 0 warnings, 0 notes"""

SEVERAL = """\
error    ForwardBatch.token_to_kv_pool is gone since 0.5.13 [field-removed]
         fix: use sglang.srt.model_executor.forward_context:get_token_to_kv_pool (or the pool the
         backend keeps from its model runner) [contract]
         impl/attention_backend.py:145,151,163,170,188,201,214,230,247,260  in 0.5.13 ... 0.5.16
error    SGLang reads the variable SGLANG_OLD no more, worked until 0.5.12 [env-removed]
         in 0.5.15, 0.5.16
resting on the name of an object alone:
warning  BACKENDS["a<b>&|%"] is not registered any more: 100 % `gone` really |
         <script>alert(1)</script> \ufffd, since 0.5.16 [registry-removed]
         odd, name:x/ä b.py:7  in 0.5.16
info     impl/bad.py:4: skipped: not Python
error    accepted finding matches nothing (remove the entry)
broken      0.5.13 ... 0.5.16 (3 of 4)
compatible  0.5.12 (1 of 4)
kunlun-like 0.3.1: 2 errors, 1 warning, 1 note; 1 of them on a name alone (--verbose shows the
notes)"""


@pytest.fixture
def ten_sites(reports):
    last = reports["broken"].releases[1]
    return msgspec.structs.replace(
        reports["broken"],
        releases=(ReleaseReport("0.5.16", Verdict.BROKEN, last.findings),),
        notes=(),
    )


def test_ten_broken_sites_take_a_handful_of_lines(ten_sites):
    text = render(ten_sites, "text", Options(width=100))
    assert text == TEN_SITES
    assert len(text.splitlines()) <= 12


def test_equal_findings_of_several_releases_are_told_once(reports):
    assert render(reports["broken"], "text", Options(width=100)) == SEVERAL


@pytest.mark.parametrize(
    ("status", "last_lines"),
    [
        ("compatible", ["compatible  0.5.12", "kunlun-like 0.3.1: 0 errors, 0 warnings, 0 notes"]),
        ("unknown", ["unknown     0.5.16", "kunlun-like 0.3.1: 0 errors, 0 warnings, 0 notes"]),
        (
            "notes-only",
            [
                "compatible  0.5.16",
                "kunlun-like 0.3.1: 0 errors, 0 warnings, 1 note (--verbose shows the notes)",
            ],
        ),
        (
            "hidden",
            [
                "broken      0.5.16",
                "kunlun-like 0.3.1: 0 errors, 0 warnings, 0 notes; not shown: 2 in the baseline",
            ],
        ),
        ("empty", ["no release was checked"]),
    ],
)
def test_each_status_has_its_words(reports, status, last_lines):
    assert render(reports[status], "text", Options(width=100)).splitlines() == last_lines


def test_notes_are_shown_on_demand(reports):
    text = render(reports["notes-only"], "text", Options(verbose=True))
    assert "note     module sglang.srt.layers.attention.fla.chunk is gone" in text


def test_colour_changes_nothing_but_colour(any_report):
    colored = render(any_report, "text", Options(color=True, width=90))
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == render(any_report, "text", Options(width=90))


def test_quiet_leaves_out_what_is_for_information(reports):
    text = render(reports["broken"], "text", Options(quiet=True))
    assert "skipped" not in text
    assert "matches nothing" in text


@pytest.mark.parametrize("width", [40, 60, 100])
def test_lines_keep_to_the_width_unless_a_word_is_longer(reports, width):
    for line in render(reports["broken"], "text", Options(width=width)).splitlines():
        assert len(line) <= width or " " not in line.strip() or line.lstrip().startswith("odd,")


def test_control_characters_never_reach_the_terminal(reports):
    assert "\x07" not in render(reports["broken"], "text", Options(verbose=True))


@pytest.mark.parametrize(
    "text",
    ["a\n", "\\\n", "\\\\\x1b", '"\n', '\\"\r', "\x7f", "\u200b", "\udcff", "\ufeff", "é\x00"],
)
def test_what_cannot_be_printed_is_found_beside_quotes_and_backslashes(text):
    [note] = visible(Report("check", (), notes=(Note(text),))).notes
    assert note.text.isprintable()
    assert note.text != text


@pytest.mark.parametrize("text", ["a", 'a"b', "a\\n", "\\", '\\"', "é", "\\u0007"])
def test_what_can_be_printed_stays(text):
    report = Report("check", (), notes=(Note(text),))
    assert visible(report) == report


MOVED = """\
error    fla.chunk is no longer in sglang.srt.layers since 0.5.13 [symbol-moved]
         p.py:1  fix: import sglang.kernels:chunk [moved], in 0.5.15"""


def test_a_break_whose_fix_differs_by_release_is_told_once_with_the_newest_fix():
    lost = Finding(
        "symbol-removed",
        Severity.ERROR,
        "sglang.srt.layers:fla.chunk",
        (Location("p.py", 1),),
        "0.5.12",
        "0.5.13",
    )
    moved = msgspec.structs.replace(
        lost, rule="symbol-moved", suggestion=Suggestion("sglang.kernels:chunk", "moved")
    )
    report = Report(
        "check",
        (
            ReleaseReport("0.5.13", Verdict.BROKEN, (lost,)),
            ReleaseReport("0.5.15", Verdict.BROKEN, (moved,)),
        ),
    )
    lines = render(report, "text").splitlines()
    assert "\n".join(lines[:2]) == MOVED
    assert lines[-1] == "1 error, 0 warnings, 0 notes"


def test_a_release_older_than_what_the_plugin_uses_has_lost_nothing():
    early = Finding(
        "field-removed", Severity.ERROR, "a.b:C.d", (Location("p.py", 1),), None, "0.4.6"
    )
    report = Report("check", (ReleaseReport("0.5.1", Verdict.BROKEN, (early,)),))
    assert render(report, "text").startswith("error    C.d is not there yet [field-removed]")


def test_what_an_object_lacks_is_said_with_where_to_put_it():
    symbol = "sglang.srt.layers.attention.base_attn_backend:AttentionBackend.req_to_token_pool"
    lacks = Finding("obligation-unmet", Severity.ERROR, symbol, (Location("b.py", 3),))
    edit = {"file": "b.py", "line": 3, "symbol": symbol, "rule": lacks.rule, "old": "class B:"}
    found = (ReleaseReport("0.5.16", Verdict.BROKEN, (lacks,)),)
    for command, form in (("check", "text"), ("upgrade", "text"), ("upgrade", "markdown")):
        facts = {"edits": [edit]} if command == "upgrade" else {}
        page = render(Report(command, found, facts=facts), form, Options(width=200))
        page = page.replace("\\", "").split("### Errors")[0]
        assert "define it or set self.req_to_token_pool in __init__" in page, (command, form)
