"""The examples: every command in their page prints what the page says, every file works."""

import importlib
import re
import shlex
import sys
from pathlib import Path

import pytest
import yaml

from sglang_contracts import fakes
from sglang_contracts.cli import main

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
PAGES = ("README.md", "README.zh-CN.md", "docs/commands.md")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def run(monkeypatch, capsys, cache):
    """Run a command line in a folder: its exit code and what it prints."""
    monkeypatch.setenv("SGLANG_CONTRACTS_CACHE", str(cache))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")

    def one(folder, command):
        monkeypatch.chdir(folder)
        program, *arguments = shlex.split(command)
        assert program == "sglang-contracts"
        code = main(arguments)
        return code, capsys.readouterr().out

    return one


def transcript(page):
    """Each command of a page's console blocks with the lines that follow it."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", page, flags=re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            found.append((command, shown))
    return found


TRANSCRIPT = [
    pair
    for pair in transcript((EXAMPLES / "README.md").read_text(encoding="utf-8"))
    if pair[0].startswith("sglang-contracts")
]


def test_the_page_has_commands():
    assert len(TRANSCRIPT) == 2


@pytest.mark.parametrize(("command", "shown"), TRANSCRIPT, ids=[each[0] for each in TRANSCRIPT])
def test_a_command_of_the_page_prints_what_the_page_says(run, command, shown):
    assert run(EXAMPLES, command)[1] == shown


def test_the_plugin_breaks_where_it_must(run):
    code, out = run(EXAMPLES, "sglang-contracts check before --release 0.5.23")
    assert code == 1
    assert out.count("error    ") == 7


@pytest.mark.parametrize("release", ["0.5.12", "0.5.13", "0.5.23"])
def test_the_mended_plugin_registers_its_backend(release, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.syspath_prepend(EXAMPLES / "after")
    with fakes.install(release):
        importlib.import_module("acme_sglang.entry").register()
        registry = importlib.import_module("sglang.srt.layers.attention.attention_registry")
        assert "acme" in registry.ATTENTION_BACKENDS
        importlib.import_module("acme_sglang.attention")
    for name in [each for each in sys.modules if each.split(".")[0] == "acme_sglang"]:
        del sys.modules[name]


def test_every_step_of_the_workflow_ends_well(run, monkeypatch):
    path = EXAMPLES / "after" / ".github" / "workflows" / "sglang-contracts.yml"
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    steps = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    ours = [step.partition(">>")[0] for step in steps if step.startswith("sglang-contracts")]
    assert len(ours) == 2
    for step in ours:
        assert run(EXAMPLES / "after", step)[0] == 0, step


def test_the_workflow_fails_where_the_plugin_breaks(run):
    assert run(EXAMPLES / "before", "sglang-contracts check . --format github")[0] == 1


def taught(text):
    """The hooks that a pre-commit configuration names, by repository."""
    return {
        each["repo"]: [hook["id"] for hook in each["hooks"]]
        for each in yaml.safe_load(text)["repos"]
    }


def test_the_hook_that_is_shipped_is_the_one_that_is_taught():
    (hook,) = HOOKS
    example = (EXAMPLES / "after" / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert list(taught(example).values()) == [[hook["id"]]]
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        (block,) = (
            block
            for block in re.findall(r"```yaml\n(.*?)```", text, flags=re.DOTALL)
            if "hooks:" in block
        )
        assert taught(block) == taught(example), page


@pytest.mark.parametrize(("folder", "code"), [("before", 1), ("after", 0)])
def test_the_hook_does_what_it_says(run, folder, code):
    assert run(EXAMPLES / folder, HOOKS[0]["entry"])[0] == code


def test_the_projects_own_hooks_have_the_versions_of_tox():
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    pinned = dict(
        re.findall(r"^\s+(\w+)==([\d.]+)$", (ROOT / "tox.ini").read_text(), flags=re.MULTILINE)
    )
    revisions = {each["repo"]: each.get("rev", "") for each in config["repos"]}
    assert revisions["https://github.com/astral-sh/ruff-pre-commit"] == f"v{pinned['ruff']}"
    assert revisions["https://github.com/pre-commit/mirrors-mypy"] == f"v{pinned['mypy']}"


def test_the_projects_own_hooks_name_tests_that_are_there():
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    local = next(each for each in config["repos"] if each["repo"] == "local")
    named = [
        word for hook in local["hooks"] for word in hook["entry"].split() if word.endswith(".py")
    ]
    assert named
    assert [word for word in named if not (ROOT / word).exists()] == []
