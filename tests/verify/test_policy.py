"""What counts of a report, and the exit code."""

import datetime
import os

import msgspec
import pytest

from sglang_contracts.errors import ContractsError
from sglang_contracts.plugin.reading.ignore_comments import Ignore
from sglang_contracts.plugin.reading.settings import Accept
from sglang_contracts.verify.commands.compatible_range import with_range
from sglang_contracts.verify.findings.baseline import (
    Entry,
    Matcher,
    baseline_of,
    baseline_text,
    load_baseline,
)
from sglang_contracts.verify.findings.finding import (
    Finding,
    Location,
    Note,
    ReleaseReport,
    Report,
    Severity,
    Verdict,
)
from sglang_contracts.verify.findings.policy import Policy, exit_code, select

TODAY = datetime.date(2026, 12, 1)
SYMBOL = "sglang.srt.x:Class.field"


def finding(*lines, rule="field-removed", severity=Severity.ERROR, first="0.5.13", symbol=SYMBOL):
    places = tuple(Location("p.py", line) for line in lines)
    return Finding(rule, severity, symbol, places, "0.5.12", first)


def report(*findings, release="0.5.16", verdict=Verdict.BROKEN):
    return Report("check", (ReleaseReport(release, verdict, findings),))


def run(found, everywhere=None, **policy):
    return select(found, Policy(today=TODAY, **policy), everywhere)


def accept(symbol=SYMBOL, rule="field-removed", **others):
    return Accept(rule, symbol, "because", line=9, **others)


def ignore(line, *rules, reason="because"):
    return Ignore("p.py", line, rules or ("field-removed",), reason, line, line)


def test_an_error_fails():
    outcome = run(report(finding(3)))
    assert outcome.exit_code == 1
    assert outcome.report.releases[0].verdict is Verdict.BROKEN


def test_nothing_found_is_fine():
    assert run(report(verdict=Verdict.COMPATIBLE)).exit_code == 0


@pytest.mark.parametrize(
    ("severity", "policy", "code"),
    [
        (Severity.WARNING, {}, 0),
        (Severity.WARNING, {"strict": True}, 1),
        (Severity.WARNING, {"fail_on": "warning"}, 1),
        (Severity.NOTE, {"strict": True}, 0),
        (Severity.NOTE, {"fail_on": "note"}, 1),
        (Severity.ERROR, {"fail_on": "never"}, 0),
        (Severity.ERROR, {"fail_on": "error"}, 1),
    ],
)
def test_what_fails_can_be_chosen(severity, policy, code):
    found = report(finding(3, severity=severity), verdict=Verdict.COMPATIBLE)
    assert run(found, **policy).exit_code == code


def test_an_unknown_release_fails_when_strict_and_stays_unknown():
    found = report(verdict=Verdict.UNKNOWN)
    assert run(found).exit_code == 0
    assert run(found, strict=True).exit_code == 1
    assert run(found, accept=[]).report.releases[0].verdict is Verdict.UNKNOWN


def test_an_accepted_finding_no_longer_breaks():
    outcome = run(report(finding(3)), accept=[accept()])
    assert outcome.exit_code == 0
    assert outcome.report.releases == (ReleaseReport("0.5.16", Verdict.COMPATIBLE, ()),)
    assert outcome.report.facts["hidden"] == {"accepted": 1}


def test_what_was_not_read_stays_unknown_when_the_rest_is_accepted():
    entry = ReleaseReport("0.5.16", Verdict.BROKEN, (finding(3),), known=False)
    outcome = run(Report("check", (entry,)), accept=[accept()])
    assert outcome.report.releases == (ReleaseReport("0.5.16", Verdict.UNKNOWN, (), known=False),)


@pytest.mark.parametrize("symbol", ["sglang.srt.x:*", "*", "sglang.srt.*.field"])
def test_a_star_stands_for_any_part_of_the_symbol(symbol):
    assert run(report(finding(3)), accept=[accept(symbol)]).exit_code == 0


def test_brackets_in_a_symbol_are_taken_literally():
    symbol = 'sglang.srt.x:TABLE["a"]'
    found = report(finding(3, symbol=symbol))
    assert run(found, accept=[accept(symbol)]).exit_code == 0
    assert run(found, accept=[accept('sglang.srt.x:*["a"]')]).exit_code == 0


def test_an_accepted_finding_may_be_bound_to_files():
    assert run(report(finding(3)), accept=[accept(file="p.py")]).exit_code == 0
    assert run(report(finding(3)), accept=[accept(file="q.py")]).exit_code == 1


@pytest.mark.parametrize("other", [{"rule": "retired"}, {"symbol": SYMBOL + "2"}])
def test_an_accepted_finding_that_matches_nothing_fails(other):
    outcome = run(report(verdict=Verdict.COMPATIBLE), accept=[accept(**other)])
    assert outcome.exit_code == 1
    (note,) = outcome.report.notes
    assert note.fails
    assert "matches nothing" in note.text
    assert note.location == Location("pyproject.toml", 9)


def test_an_accepted_finding_counts_up_to_its_last_day():
    last = accept(expires=TODAY)
    assert run(report(finding(3)), accept=[last]).exit_code == 0
    over = accept(expires=TODAY - datetime.timedelta(days=1))
    outcome = run(report(finding(3)), accept=[over])
    assert outcome.exit_code == 1
    assert outcome.report.releases[0].findings == (finding(3),)
    assert "expired on 2026-11-30" in outcome.report.notes[0].text


def test_an_entry_that_speaks_of_a_release_not_selected_is_not_stale():
    quiet = report(verdict=Verdict.COMPATIBLE)
    outcome = run(quiet, everywhere=lambda: report(finding(3)), accept=[accept()])
    assert outcome.exit_code == 0
    assert outcome.report.releases == quiet.releases
    assert "hidden" not in outcome.report.facts


def test_all_releases_are_looked_at_only_if_an_entry_matched_nothing():
    def never():
        raise AssertionError

    assert run(report(finding(3)), everywhere=never, accept=[accept()]).exit_code == 0


def test_a_comment_takes_out_its_line_only():
    outcome = run(report(finding(3, 4)), ignores=[ignore(3)])
    assert outcome.report.releases[0].findings[0].locations == (Location("p.py", 4),)
    assert outcome.exit_code == 1
    assert run(report(finding(3)), ignores=[ignore(3)]).exit_code == 0


def test_a_comment_is_for_its_rule_only():
    outcome = run(report(finding(3)), ignores=[ignore(3, "retired")])
    assert outcome.exit_code == 1
    assert "ignore[retired] matches nothing" in outcome.report.notes[0].text


@pytest.mark.parametrize(
    ("comment", "says"),
    [
        (ignore(8), "matches nothing"),
        (ignore(3, reason=""), "without a reason"),
        (Ignore("p.py", 3, (), "", 3, 3), "not understood"),
        (ignore(3, "field-gone"), "there is no rule field-gone"),
    ],
)
def test_a_comment_of_no_use_fails(comment, says):
    outcome = run(report(finding(3)), ignores=[comment], rules=["field-removed"])
    assert outcome.exit_code == 1
    assert says in outcome.report.notes[0].text
    assert outcome.report.notes[0].fails


def test_a_baseline_release_hides_what_it_has_but_the_verdict_stays():
    base = ReleaseReport("0.5.13", Verdict.BROKEN, (finding(3),))
    outcome = run(report(finding(3)), baseline_release=base)
    assert outcome.exit_code == 0
    assert outcome.report.releases == (ReleaseReport("0.5.16", Verdict.BROKEN, ()),)
    assert outcome.report.facts["hidden"] == {"in 0.5.13 already": 1}
    more = run(report(finding(3, 5)), baseline_release=base)
    assert more.report.releases[0].findings[0].locations == (Location("p.py", 5),)


def test_only_new_keeps_what_the_release_is_the_first_to_have():
    old, new = finding(3), finding(4, first="0.5.16")
    outcome = run(report(old, new), only_new=True)
    assert outcome.report.releases[0].findings == (new,)
    assert run(report(old), only_new=True).exit_code == 0


def test_a_baseline_file_holds_what_it_was_written_from(tmp_path):
    found = report(finding(3, 7), finding(9, severity=Severity.NOTE), finding(rule="env-removed"))
    file = tmp_path / "baseline.json"
    file.write_text(baseline_text(baseline_of(found, "t 1")))
    entries = load_baseline(file).entries
    assert len(entries) == 3
    outcome = run(found, baseline=entries)
    assert outcome.exit_code == 0
    assert [f.severity for f in outcome.report.releases[0].findings] == [Severity.NOTE]


def test_an_empty_baseline_can_be_read_back(tmp_path):
    file = tmp_path / "b.json"
    file.write_text(baseline_text(baseline_of(report(), "t 1")))
    assert load_baseline(file).entries == ()


def test_an_edit_above_does_not_make_a_finding_new_but_one_more_place_is():
    baseline = [
        Entry("field-removed", SYMBOL, "p.py", 3),
        Entry("field-removed", SYMBOL, "p.py", 7),
    ]
    moved = run(report(finding(13, 17)), baseline=baseline)
    assert moved.exit_code == 0
    more = run(report(finding(3, 5, 7)), baseline=baseline)
    assert more.report.releases[0].findings[0].locations == (Location("p.py", 5),)


def test_a_baseline_entry_that_matches_nothing_fails():
    outcome = run(report(finding(3)), baseline=[Entry("field-removed", SYMBOL, "p.py", 3),
                                               Entry("retired", SYMBOL, "p.py", 4)])  # fmt: skip
    assert outcome.exit_code == 1
    (note,) = outcome.report.notes
    assert "retired on sglang.srt.x:Class.field at p.py:4 matches nothing" in note.text


def test_an_entry_is_used_in_any_of_the_releases():
    matcher = Matcher([Entry("field-removed", SYMBOL, "p.py", 3)])
    assert matcher.covered([finding(3)])
    assert matcher.covered([finding(3)])
    assert matcher.unused == []


@pytest.mark.parametrize("text", ["", "[]", "{", '{"schema": 2, "entries": []}', '{"schema": 1}'])
def test_what_is_no_baseline_file_stops(tmp_path, text):
    file = tmp_path / "b.json"
    file.write_text(text)
    with pytest.raises(ContractsError):
        load_baseline(file)
    with pytest.raises(ContractsError, match="cannot read the baseline"):
        load_baseline(tmp_path / "none.json")


def test_a_note_that_fails_gives_exit_one():
    found = msgspec.structs.replace(
        report(verdict=Verdict.COMPATIBLE), notes=(Note("x", fails=True),)
    )
    assert exit_code(found) == 1
    assert exit_code(found, fail_on="never") == 0


def test_a_range_never_covers_a_release_that_was_not_looked_at():
    found = Report(
        "matrix",
        (
            ReleaseReport("0.5.3", Verdict.COMPATIBLE),
            ReleaseReport("0.5.5", Verdict.COMPATIBLE),
            ReleaseReport("0.5.6", Verdict.UNKNOWN),
        ),
    )
    facts = with_range(found, ["0.5.3", "0.5.4", "0.5.5", "0.5.6"]).facts
    assert facts["requirement"] == "sglang>=0.5.3,!=0.5.4,<0.5.6"
    assert facts["compatible"] == ["0.5.3", "0.5.5"]
    assert facts["ranges"] == ["0.5.3", "0.5.5"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are POSIX's")
def test_a_baseline_without_end_is_refused_instead_of_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(ContractsError, match=r"pipe\.json: is no regular file"):
        load_baseline(tmp_path / "pipe.json")
