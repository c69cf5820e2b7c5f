"""Plugins built to hang or to break the analysis: it answers all the same."""

from __future__ import annotations

import msgspec
import pytest

from sglang_contracts.report import render
from sglang_contracts.report.document import frame
from sglang_contracts.surface import load_catalog
from sglang_contracts.verify import check_plugin, upgrade_report
from sglang_contracts.verify.commands.compatible_range import with_range
from sglang_contracts.verify.findings.finding import Verdict


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def check(tmp_path, catalog, text):
    (tmp_path / "plugin.py").write_text(text)
    return check_plugin(tmp_path, catalog, ["0.5.16"]).releases[0]


def test_a_hierarchy_full_of_diamonds_is_walked_once(tmp_path, catalog):
    classes = "".join(
        f"class A{i}(A{i - 1}, A{max(0, i - 2)}, A{max(0, i - 3)}): pass\n" for i in range(1, 60)
    )
    text = f"from sglang.srt.server_args import ServerArgs\nclass A0: pass\n{classes}A59().x\n"
    assert check(tmp_path, catalog, text).verdict is Verdict.COMPATIBLE


def test_a_long_chain_of_calls_ends_in_nothing_known(tmp_path, catalog):
    functions = "".join(f"def f{i}(x): return f{i - 1}(f{i - 1}(x))\n" for i in range(1, 200))
    text = (
        f"def f0(x): return x\n{functions}"
        "from sglang.srt.server_args import ServerArgs\nf199(ServerArgs(model_path='m')).foo\n"
    )
    assert check(tmp_path, catalog, text).findings == ()


def test_a_plugin_of_which_nothing_could_be_read_is_unknown(tmp_path, catalog):
    assert check(tmp_path, catalog, "def f(:\n").verdict is Verdict.UNKNOWN


def test_a_version_of_thousands_of_digits_is_no_version(tmp_path, catalog):
    text = (
        "import sglang\nfrom packaging.version import Version\n"
        f"if Version(sglang.__version__) >= Version('{'1' * 5000}'):\n"
        "    from sglang.srt.managers.schedule_batch import Req\n"
    )
    assert check(tmp_path, catalog, text).verdict is Verdict.COMPATIBLE


USES = "from sglang.srt.server_args import ServerArgs\n"


def test_a_file_that_names_sglang_and_cannot_be_read_leaves_it_unknown(tmp_path, catalog):
    (tmp_path / "good.py").write_text(USES)
    (tmp_path / "deep.py").write_text("import sglang\nx = " + "+".join(["1"] * 50000))
    (tmp_path / "bad.py").write_text("import sglang\nx = (\n")
    report = check_plugin(tmp_path, catalog, ["0.5.16"])
    assert report.releases[0].verdict is Verdict.UNKNOWN
    note = report.notes[0]
    assert note.text.startswith("bad.py was skipped: no valid Python")
    assert "no release is known to be compatible" in note.text
    assert note.hint == "mend it, or leave it out with --exclude bad.py"
    assert [each.unread for each in report.unread] == ["bad.py", "deep.py"]
    assert [each.get("unread") for each in frame(report)["notes"]] == ["bad.py", "deep.py"]
    without = check_plugin(tmp_path, catalog, ["0.5.16"], exclude=["bad.py", "deep.py"])
    assert without.releases[0].verdict is Verdict.COMPATIBLE


def test_a_file_that_cannot_be_read_and_never_names_sglang_changes_nothing(tmp_path, catalog):
    (tmp_path / "good.py").write_text(USES)
    (tmp_path / "bad.py").write_text("x = (\n")
    report = check_plugin(tmp_path, catalog, ["0.5.16"])
    assert report.releases[0].verdict is Verdict.COMPATIBLE
    assert [note.hint for note in report.notes] == [""]
    assert report.unread == ()
    assert ["unread" in each for each in frame(report)["notes"]] == [False]


def test_what_breaks_is_broken_whatever_else_could_not_be_read(tmp_path, catalog):
    (tmp_path / "worse.py").write_text("import sglang.srt.nonesuch\nx = (\n")
    (tmp_path / "good.py").write_text("import sglang.srt.managers.schedule_batch\n")
    (tmp_path / "old.py").write_text(
        "from sglang.srt.managers.schedule_batch import global_server_args_dict\n"
    )
    report = check_plugin(tmp_path, catalog, ["0.5.23"])
    assert report.releases[0].verdict is Verdict.BROKEN
    assert not report.releases[0].known


def test_no_range_is_claimed_and_no_way_is_called_free_past_an_unread_file(tmp_path, catalog):
    (tmp_path / "good.py").write_text(USES)
    (tmp_path / "bad.py").write_text("import sglang\nx = (\n")
    found = with_range(check_plugin(tmp_path, catalog, ["0.5.22", "0.5.23"]))
    assert (found.facts["compatible"], found.facts["requirement"]) == ([], None)
    page = render(msgspec.structs.replace(found, command="matrix"), "text")
    assert "no recorded release is known to be compatible" in page
    report = upgrade_report(tmp_path, catalog, "0.5.22", "0.5.23")
    assert report.releases[0].verdict is Verdict.UNKNOWN
