"""The frame of the command line: help, exit codes, what an error looks like."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from sglang_contracts.cli import main, options
from sglang_contracts.cli.group import COMMANDS, cli
from sglang_contracts.cli.progress import EVERY, lines
from sglang_contracts.report import FORMATS, SHORT_FORMATS
from sglang_contracts.report.schema import FACTS
from sglang_contracts.verify.commands import check as uses
from sglang_contracts.verify.findings.finding import ReleaseReport, Report, Verdict


def test_help_lists_every_command(run):
    ran = run("--help")
    assert ran.code == 0
    for name, (_, text) in COMMANDS.items():
        assert name in ran.out
        assert text in " ".join(ran.out.split())


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_each_command_has_help_with_examples(run, name):
    ran = run(name, "--help")
    assert ran.code == 0
    assert "Examples:" in ran.out
    assert f"sglang-contracts {name}" in ran.out


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_listed_help_is_the_commands_own(name):
    module = importlib.import_module(f"sglang_contracts.cli.{COMMANDS[name][0]}")
    assert module.command.name == name
    assert module.command.get_short_help_str(200) == COMMANDS[name][1]


def test_help_imports_no_engine():
    code = (
        "import sys\nfrom sglang_contracts.cli import main\nmain(['--help'])\n"
        "bad = [m for m in sys.modules if m.split('.')[0] in"
        " ('rich', 'msgspec', 'zstandard', 'tomlkit', 'packaging')"
        " or m.startswith(('sglang_contracts.verify', 'sglang_contracts.surface'))]\n"
        "sys.exit(str(bad) if bad else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_formats_are_those_of_the_reports():
    assert options.FORMATS == FORMATS
    assert options.SHORT_FORMATS == SHORT_FORMATS


@pytest.mark.parametrize(
    "arguments",
    [["chekc"], ["check"], ["check", ".", "--format", "yaml"], ["--no-such"], ["upgrade", "."]],
)
def test_wrong_usage_is_exit_two(run, arguments):
    ran = run(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert "Error" in ran.err


def test_an_unknown_command_is_answered_with_the_nearest(run):
    assert "Did you mean check?" in run("chekc").err


def test_an_unknown_command_that_is_like_none_is_answered_with_all(run):
    assert "There are check, matrix, uses," in run("qqqqqq").err


def test_an_option_of_the_launch_command_is_told_where_to_stand(run):
    launch = ("python", "-m", "sglang.launch_server", "--model", "x")
    err = " ".join(run("launch-check", "--release", "0.5.16", *launch).err.split())
    assert "No such option '-m'." in err
    assert "put -- before that: sglang-contracts launch-check --release V -- python" in err
    assert "put --" not in run("launch-check", "--nope", "--", *launch).err


def test_help_says_which_command_is_not_static(run):
    assert "All but certify and serve-check is static" in " ".join(run("--help").out.split())


def test_a_log_gets_a_line_of_progress_now_and_then(capsys, monkeypatch):
    clock = iter([0.0, 1.0, EVERY, EVERY + 1, 3 * EVERY])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    step = lines("verifying")
    for done in range(4):
        step(done, 9)
    assert capsys.readouterr().err == "verifying: 1 of 9\nverifying: 3 of 9\n"


@pytest.mark.parametrize(("options", "said"), [((), "verifying: 1 of 2\n"), (("--quiet",), "")])
def test_verify_shows_progress_without_a_terminal_unless_it_is_to_be_quiet(
    run, plugin, monkeypatch, options, said
):
    def verified(_contracts, _catalog, releases, progress=None):
        if progress is not None:
            progress(1, 2)
        return Report("verify", tuple(ReleaseReport(r, Verdict.COMPATIBLE) for r in releases))

    monkeypatch.setattr("sglang_contracts.verify.clauses.verify_clauses.verify_contracts", verified)
    monkeypatch.setattr("sglang_contracts.cli.progress.EVERY", 0.0)
    ran = run("verify", *options)
    assert (ran.code, ran.err) == (0, said)


def test_version_says_which_releases_are_recorded(run, plugin):
    ran = run("--version")
    assert ran.code == 0
    assert ran.out.startswith("sglang-contracts 0")
    assert "4 SGLang releases recorded: 0.5.12 to 0.5.16" in ran.out


def test_what_cannot_run_is_one_line_and_a_hint(run, plugin):
    ran = run("check", plugin, "--release", "0.5.15")
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.splitlines() == [
        "error: SGLang 0.5.15 is not recorded; nearest: 0.5.12.post1, 0.5.13, 0.5.16",
        "hint: sglang-contracts record 0.5.15 adds it to your cache, if the index has it",
    ]


def boom(*_args, **_options):
    raise ValueError("left\nhand")


def test_a_defect_of_ours_asks_for_a_report_without_a_traceback(run, plugin, monkeypatch):
    monkeypatch.setattr(uses, "check_plugin", boom)
    ran = run("check", plugin)
    assert ran.code == 2
    assert "error: unexpected ValueError: left hand" in ran.err
    assert "Traceback" not in ran.err
    assert "SGLANG_CONTRACTS_DEBUG=1" in ran.err


def test_the_traceback_comes_on_demand(run, plugin, monkeypatch):
    monkeypatch.setattr(uses, "check_plugin", boom)
    monkeypatch.setenv("SGLANG_CONTRACTS_DEBUG", "1")
    assert "Traceback" in run("check", plugin).err


def test_an_interrupt_is_130(run, plugin, monkeypatch):
    def interrupted(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(uses, "check_plugin", interrupted)
    ran = run("check", plugin)
    assert ran.code == 130
    assert "Traceback" not in ran.err


def test_a_closed_pipe_is_quiet():
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "sglang_contracts.cli", "--version"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert done.stderr == ""
    assert done.returncode in (0, 1, 141)


def test_color_is_for_terminals_only_and_can_be_forced(run, plugin, monkeypatch):
    assert "\x1b[" not in run("check", plugin).out
    assert "\x1b[" in run("check", plugin, "--color", "always").out
    assert "\x1b[" not in run("check", plugin, "--color", "never").out


def test_no_color_is_obeyed_on_a_terminal(monkeypatch):
    from sglang_contracts.cli.console import wants_color

    class Terminal:
        @staticmethod
        def isatty():
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert wants_color(Terminal, "auto")
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_color(Terminal, "auto")
    assert wants_color(Terminal, "always")
    monkeypatch.setenv("NO_COLOR", "")
    monkeypatch.setenv("TERM", "dumb")
    assert not wants_color(Terminal, "auto")


def test_output_is_written_whole_and_replaces_what_was_there(run, plugin, tmp_path):
    file = tmp_path / "report.json"
    file.write_text("old")
    file.chmod(0o640)
    ran = run("check", plugin, "--format", "json", "--output", file)
    assert (ran.code, ran.out) == (1, "")
    assert json.loads(file.read_text())["schema"] == 1
    assert file.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_output_to_a_folder_or_a_missing_one_is_an_error(run, plugin, tmp_path):
    ran = run("check", plugin, "--output", tmp_path)
    assert ran.code == 2
    assert "is a folder" in ran.err
    ran = run("check", plugin, "--output", tmp_path / "no" / "x.json")
    assert ran.code == 2
    assert "does not exist" in ran.err


def test_output_where_nothing_may_be_written_is_an_error(run, plugin, tmp_path, monkeypatch):
    def sealed(**_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkstemp", sealed)
    ran = run("check", plugin, "--output", tmp_path / "x")
    assert ran.code == 2
    assert f"cannot write {tmp_path / 'x'}: Permission denied" in ran.err


def test_a_full_disk_leaves_the_old_file_alone(run, plugin, tmp_path, monkeypatch):
    file = tmp_path / "report.json"
    file.write_text("old")
    monkeypatch.setattr("os.fdopen", full)
    ran = run("check", plugin, "--output", file)
    assert ran.code == 2
    assert "No space left" in ran.err
    assert file.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def full(handle, *_args, **_options):
    os.close(handle)
    raise OSError(28, "No space left on device")


def test_output_may_be_a_device(run, plugin):
    assert run("check", plugin, "--output", os.devnull).code == 1


def test_main_without_arguments_shows_help(run):
    ran = run()
    assert "Usage" in ran.out + ran.err


def test_commands_with_a_report_have_a_published_schema():
    # The others write documents of their own kind: a stub, a certificate.
    own = {"new", "certify", "serve-check", "init", "doctor", "plan"}
    assert set(COMMANDS) - own <= set(FACTS)


def test_group_is_a_click_group():
    assert isinstance(cli, click.Group)
    assert main(["--help"]) == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_no_defect_of_ours(run):
    ran = run("explain", "--list", "--output", "/dev/full")
    assert ran.code == 2
    assert "No space left on device" in ran.err
    assert "hint: free some space" in ran.err
    assert "defect" not in ran.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", ["--help", "check --help", "--version", "explain --list"])
def test_an_answer_that_nobody_can_read_is_exit_two(arguments):
    command = f'"{sys.executable}" -m sglang_contracts.cli {arguments} >/dev/full'
    done = subprocess.run(command, shell=True, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", ["check nope", "nope", "explain nope"])
def test_a_complaint_that_nobody_can_hear_is_exit_two_all_the_same(arguments):
    command = f'"{sys.executable}" -m sglang_contracts.cli {arguments} 2>/dev/full'
    assert subprocess.run(command, shell=True, check=False).returncode == 2


@pytest.mark.parametrize("command", ["check", "uses", "matrix"])
def test_a_name_longer_than_the_system_takes_is_said_shortly(run, command):
    ran = run(command, "a" * 5000)
    assert ran.code == 2
    assert "defect" not in ran.err
    assert len(ran.err) < 500


def test_an_output_that_is_a_link_to_itself_is_named(run, tmp_path):
    link = tmp_path / "loop"
    link.symlink_to(link)
    ran = run("explain", "--list", "--output", link)
    assert ran.code == 2
    assert f"{link} is a symbolic link that leads to itself" in ran.err.replace("\n", " ")
    assert link.is_symlink()


def test_an_output_below_links_that_lead_to_each_other_is_named(run, tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    ran = run("explain", "--list", "--output", tmp_path / "a" / "x")
    assert ran.code == 2
    assert "leads to itself" in ran.err


def test_an_output_that_links_to_a_file_yet_to_come_is_written_there(run, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert run("explain", "--list", "--output", tmp_path / "link").code == 0
    assert (tmp_path / "link").is_symlink()
    assert "field-removed" in (tmp_path / "file").read_text()


def test_an_error_does_not_steer_the_terminal(run):
    ran = run("check", "a\x1b[31m\rb")
    assert ran.code == 2
    assert "a\\x1b[31m\\rb" in ran.err
    assert "\x1b" not in ran.err
    assert "\r" not in ran.err


@pytest.mark.parametrize("closed", ["1", "2", "0"])
def test_a_closed_stream_changes_no_exit_code(closed):
    command = f'"{sys.executable}" -m sglang_contracts.cli explain field-removed {closed}>&-'
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=False)
    assert done.returncode == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", ""),
        ("check", ".", "--release", ""),
        ("check", ".", "--releases", ""),
        ("check", ".", "--baseline", ""),
        ("uses", ".", "--release", ""),
    ],
)
def test_an_empty_value_is_refused_not_taken_for_another(run, tmp_path, monkeypatch, arguments):
    (tmp_path / "a.py").write_text("import sglang\n")
    monkeypatch.chdir(tmp_path)
    ran = run(*arguments)
    assert ran.code == 2
    assert "empty" in ran.err or "'' is not a version" in ran.err


def test_a_version_of_more_digits_than_python_reads_is_no_version(run, tmp_path):
    (tmp_path / "a.py").write_text("import sglang\n")
    ran = run("check", tmp_path, "--release", "1" * 5000)
    assert ran.code == 2
    assert "is not a version" in ran.err
    assert len(ran.err) < 500
