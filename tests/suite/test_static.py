import pytest

from sglang_contracts.suite.checks.static import _everything_was_read
from sglang_contracts.suite.violation import Violation
from sglang_contracts.verify.findings.finding import Note, Report


def test_a_note_that_only_asks_for_something_fails_no_plugin():
    _everything_was_read(Report("check", notes=(Note("a stale entry", hint="remove it"),)))


def test_a_file_that_may_use_sglang_and_was_skipped_fails_it_and_is_named():
    note = Note("bad.py was skipped", hint="mend it", unread="bad.py")
    with pytest.raises(Violation, match=r"bad\.py was skipped: mend it"):
        _everything_was_read(Report("check", notes=(note,)))
