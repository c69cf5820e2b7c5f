"""What ``certify`` prints and exits with, without a run."""

import importlib

import msgspec
import pytest

from sglang_contracts.certify import digests
from sglang_contracts.certify.certificate import Issued, Plugin, Suite, sealed, write_certificate
from sglang_contracts.cli import main
from sglang_contracts.cli.certify import _print


@pytest.fixture
def verified(certificate, tmp_path, monkeypatch):
    """Verifies a certificate with some of its content changed, its digest made anew."""
    module = importlib.import_module("sglang_contracts.certify.verify")
    monkeypatch.setattr(module, "__version__", certificate.suite.version)
    monkeypatch.setattr(module, "suite_files", dict)
    this = Suite(certificate.suite.version, digests.combined({}))
    monkeypatch.setattr("sglang_contracts.certify.consistency._unplanned", lambda _: ())

    def run(*arguments, installed=True, edit=None, **changes):
        if installed:
            monkeypatch.setattr(module, "plugin_files", lambda name: certificate.plugin.files)
        path = tmp_path / "certificate.json"
        write_certificate(sealed(msgspec.structs.replace(certificate, suite=this, **changes)), path)
        if edit is not None:
            path.write_text(path.read_text().replace(*edit))
        return main(["certify", "--verify", str(path), *arguments])

    return run


def test_a_certificate_of_a_plugin_that_failed_is_unchanged_and_says_failed(verified, capsys):
    assert verified() == 0
    assert ": unchanged: a-plugin 1.0 on SGLang 0.5.16 (fake): failed, no level reached" in (
        capsys.readouterr().out
    )
    assert verified("--require-passed") == 1


def test_one_that_passed_is_what_is_required(verified, certificate):
    checks = tuple(each for each in certificate.checks if each.outcome == "pass")
    passed = {
        **{"checks": checks, "planned": tuple(each.id for each in checks), "not_run": ()},
        **{"verdict": "passed", "level_asked": 0, "level_reached": 0, "mostly_skipped": ()},
        "not_exercised": (),
    }
    assert verified("--require-passed", **passed) == 0


def test_a_plugin_that_is_not_there_hides_no_fault_of_the_file(verified, capsys):
    assert verified(installed=False) == 2
    assert "no distribution 'a-plugin' is installed" in capsys.readouterr().err
    assert verified(installed=False, edit=('"a-plugin"', '"b-plugin"')) == 1
    assert "its digest does not belong to its content" in capsys.readouterr().out


def test_what_is_in_the_file_moves_no_cursor(verified, certificate, capsys):
    plugin = msgspec.structs.replace(certificate.plugin, version="1\x1b[2J")
    assert isinstance(plugin, Plugin)
    verified(issued=Issued("me\nholds: everything\x1b[2J\u202e", "now"), plugin=plugin)
    told = capsys.readouterr().out
    assert "\x1b" not in told
    assert "\u202e" not in told
    assert "issued now by me\\nholds: everything\\x1b[2J\\u202e\n" in told


def test_causes_come_first_then_skips_each_reason_once(certificate, outcome, capsys):
    skips = tuple(outcome(id, 1, "skip", reason="it has none") for id in ("b.a", "b.b"))
    alone = outcome("b.c", 1, "skip", reason="no graphs")
    checks = (*certificate.checks[:2], *skips, alone)
    _print(msgspec.structs.replace(certificate, checks=checks), quiet=False)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["causes:", "  fail        1 check  a.c: no\\x00"]
    assert lines[2] == "skip: 2 checks: b.a, b.b: it has none"
    assert lines[3] == "skip: b.c: no graphs"
    assert lines[4].startswith("fail: a.c")


def test_a_place_where_a_report_cannot_be_is_refused_before_the_run(tmp_path, capsys):
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    (tmp_path / "out" / "certificate.json").mkdir(parents=True)
    for out, words in (("link", "is a link to what is not there"), ("out", "is a folder")):
        given = ["certify", "a-plugin", "--sglang", "fake:0.5.16", "--out", str(tmp_path / out)]
        assert main(given) == 2
        assert words in capsys.readouterr().err


def test_a_report_may_not_lie_in_the_package_that_it_certifies(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sglang_contracts.certify.digests.packages", lambda name: [tmp_path])
    given = ["certify", "a-plugin", "--sglang", "fake:0.5.16", "--out", str(tmp_path / "report")]
    assert main(given) == 2
    assert "lies in a package of a-plugin" in capsys.readouterr().err
    assert not (tmp_path / "report").exists()
