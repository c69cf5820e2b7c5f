"""``can-upgrade`` and the digest of what is used, on two releases of an imaginary sglang."""

import json

import pytest

from sglang_contracts.cli import main
from sglang_contracts.verify import uses_of
from sglang_contracts.verify.commands.can_upgrade import starting_release
from sglang_contracts.verify.commands.used_surface import changed_forms, used_forms
from sglang_contracts.verify.findings.finding import ReleaseReport, Report, Verdict

PLUGIN = """
from sglang.srt.pool import Pool, draw, TABLE

class Ours(Pool):
    def store(self, layer, slots):
        return slots

def run(pool: Pool):
    draw(1)
    Pool(4)
    TABLE["kept"]
    return pool.size
"""
OLD = {
    "__init__.py": "",
    "srt/__init__.py": "",
    "srt/pool.py": """
    TABLE = {"kept": 1, "other": 2}

    class Pool:
        spare: int = 0

        def __init__(self, size):
            self.size = size

        def store(self, layer, slots):
            return slots

        def unused(self, a):
            return a

    def draw(count):
        return count

    def unrelated(a):
        return a
    """,
    "srt/core.py": """
    def step(pool, layer, slots):
        pool.store(layer, slots)
    """,
}


def changed_by(recorded, tmp_path, file, old, new):
    assert old in OLD[file]
    catalog = recorded(OLD, {**OLD, file: OLD[file].replace(old, new)})
    plugin = tmp_path / "plugin.py"
    plugin.write_text(PLUGIN)
    forms = [
        used_forms(uses_of(plugin, catalog, release).facts["uses"], catalog.surface(release))
        for release in ("0.5.1", "0.5.2")
    ]
    digests = {uses_of(plugin, catalog, each).facts["digest"] for each in ("0.5.1", "0.5.2")}
    changed = changed_forms(*forms)
    assert (len(digests) == 2) is bool(changed)
    return [symbol.rpartition(":")[2] for symbol in changed]


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("srt/pool.py", "def unrelated(a)", "def unrelated(a, b)"),
        ("srt/pool.py", "def unused(self, a)", "def unused(self, a, b)"),
        ("srt/pool.py", "spare: int = 0", "spare: int = 1"),
        ("srt/core.py", "def step(pool, layer, slots)", "def step(pool, layer, slots, more)"),
    ],
)
def test_what_is_not_used_changes_nothing(recorded, tmp_path, file, old, new):
    assert changed_by(recorded, tmp_path, file, old, new) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "what"),
    [
        ("srt/pool.py", "def draw(count)", "def draw(count, seed=0)", "draw"),
        ("srt/pool.py", "def __init__(self, size)", "def __init__(self, size, page=1)", "Pool"),
        ("srt/pool.py", "class Pool:", "class Pool(dict):", "Pool"),
        ("srt/pool.py", "def store(self, layer, slots)", "def store(self, layer, loc)", "store"),
        ("srt/core.py", "pool.store(layer, slots)", "pool.store(layer, loc=slots)", "store"),
        ("srt/pool.py", '"other": 2', '"another": 2', "TABLE"),
    ],
)
def test_what_is_used_is_told(recorded, tmp_path, file, old, new, what):
    assert any(what in symbol for symbol in changed_by(recorded, tmp_path, file, old, new))


@pytest.fixture
def answer(recorded, tmp_path, monkeypatch, capsys):
    def command(old, new, *more):
        catalog = recorded(OLD, {**OLD, "srt/pool.py": OLD["srt/pool.py"].replace(old, new)})
        monkeypatch.setattr("sglang_contracts.surface.load_catalog", lambda: catalog)
        monkeypatch.setenv("SGLANG_CONTRACTS_CACHE", str(tmp_path / "cache"))
        plugin = tmp_path / "plugin"
        plugin.mkdir(exist_ok=True)
        (plugin / "plugin.py").write_text(PLUGIN)
        code = main(["can-upgrade", str(plugin), "0.5.2", *more])
        return code, capsys.readouterr().out.strip()

    return command


def test_nothing_changed_needs_no_retest(answer):
    code, said = answer("def unrelated(a)", "def unrelated(a, b)")
    assert (code, said) == (0, "yes: 0.5.2: nothing it uses changed since 0.5.1: no retest needed")


def test_a_change_that_holds_is_yes_with_a_retest(answer):
    code, said = answer("def draw(count)", "def draw(count, seed=0)")
    assert code == 0
    assert said.startswith("yes: 0.5.2: all ")
    assert said.endswith("1 of them changed since 0.5.1: run the conformance suite")
    _, listed = answer("def draw(count)", "def draw(count, seed=0)", "--verbose")
    assert listed.splitlines()[1:] == ["  changed: draw"]


def test_a_break_is_no_with_its_reason(answer):
    code, said = answer("def draw(count)", "def draw(count, seed)")
    assert code == 1
    assert said.startswith("no: 0.5.2: ")
    assert "draw" in said


def test_json_has_the_answer(answer):
    code, text = answer("def draw(count)", "def draw(count, seed)", "--format", "json")
    assert code == 1
    facts = json.loads(text)
    assert (facts["answer"], facts["from"], facts["to"]) == ("no", "0.5.1", "0.5.2")


def test_the_same_release_twice_is_no_question(answer):
    assert answer("def draw(count)", "def draw(count, seed)", "--from", "0.5.2")[0] == 2


def test_the_newest_older_compatible_release_is_where_it_starts():
    verdicts = {"0.5.1": "compatible", "0.5.2": "compatible", "0.5.3": "broken", "0.5.4": "unknown"}
    report = Report(
        "check", tuple(ReleaseReport(name, Verdict(word)) for name, word in verdicts.items())
    )
    assert starting_release(report, "0.5.4", "") == "0.5.2"
    assert starting_release(report, "0.5.4", "<0.5.2") == "0.5.1"
    assert starting_release(report, "0.5.1", "") is None
