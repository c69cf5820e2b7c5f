"""What ``new check`` and ``new mutant`` write."""

from pathlib import Path

import pytest

from sglang_contracts import paths
from sglang_contracts.errors import ContractsError
from sglang_contracts.suite.mutants import mutant_files
from sglang_contracts.suite.session import load_mutant
from sglang_contracts.suite.stub import MAX_NAME, new_check, new_mutant

ROOT = Path(__file__).parents[2]
CHECK = "allocator.counts-what-is-free"


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    for folder in ("contracts", "docs", "tests/mutants", "sglang_contracts/suite/checks"):
        (tmp_path / folder).mkdir(parents=True)
    text = (ROOT / "docs" / "certification.md").read_text(encoding="utf-8")
    (tmp_path / "docs" / "certification.md").write_text(text, encoding="utf-8")
    monkeypatch.setattr(paths, "package", lambda: tmp_path / "sglang_contracts")
    return tmp_path


@pytest.mark.parametrize("level", range(5))
def test_a_new_check_has_a_module_a_mutant_and_a_row_in_its_level(checkout, level):
    module, mutant, page = new_check("sampler.ties-go-low", level)
    assert module == checkout / "sglang_contracts" / "suite" / "checks" / ("sampler_ties_go_low.py")
    compile(module.read_text(), str(module), "exec")
    loaded = load_mutant(mutant)
    assert loaded.killed_by == "sampler.ties-go-low"
    assert mutant_files(checkout / "tests" / "mutants") == (mutant,)
    before = (ROOT / "docs" / "certification.md").read_text(encoding="utf-8").splitlines()
    after = page.read_text(encoding="utf-8").splitlines()
    (row,) = [line for line in after if line not in before]
    assert row.startswith("| `sampler.ties-go-low` | TODO")
    above = after[: after.index(row)]
    assert [line for line in above if line.startswith("### Level")][-1].startswith(
        f"### Level {level}:"
    )
    assert above[-1].startswith("| `")
    assert [line for line in after if line != row] == before


def test_a_check_that_is_there_already_is_refused(checkout):
    with pytest.raises(ContractsError, match="already"):
        new_check(CHECK, 2)
    new_check("sampler.ties-go-low", 3)
    with pytest.raises(ContractsError, match="already there"):
        new_check("sampler.ties-go-low", 3)


@pytest.mark.parametrize("id", ["", "x", "A.b", "a.b_c", "../a.b", "a." + "w" * MAX_NAME])
def test_a_bad_id_is_refused(checkout, id):
    with pytest.raises(ContractsError, match="no id"):
        new_check(id, 1)


def test_a_new_mutant_names_the_check_that_must_catch_it(checkout):
    path = new_mutant("a_page_is_lost", CHECK)
    assert path == checkout / "tests" / "mutants" / "a_page_is_lost.py"
    assert load_mutant(path).killed_by == CHECK
    with pytest.raises(ContractsError, match="already there"):
        new_mutant("a_page_is_lost", CHECK)


def test_a_mutant_of_no_check_gets_the_nearest(checkout):
    with pytest.raises(ContractsError) as caught:
        new_mutant("a_page_is_lost", "allocator.counts-what-is-fre")
    assert CHECK in caught.value.hint


@pytest.mark.parametrize("name", ["", "A", "a-b", "../a", "1a", "w" * (MAX_NAME + 1)])
def test_a_bad_name_is_refused(checkout, name):
    with pytest.raises(ContractsError, match="no name"):
        new_mutant(name, CHECK)


def test_an_installed_copy_is_not_written_into(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(paths, "package", lambda: tmp_path / "site-packages" / "sglang_contracts")
    for make in (
        lambda: new_mutant("a_page_is_lost", CHECK),
        lambda: new_check("sampler.ties-go-low", 3),
    ):
        with pytest.raises(ContractsError, match="no checkout") as caught:
            make()
        assert "pip install -e" in caught.value.hint
    assert list(tmp_path.iterdir()) == []
