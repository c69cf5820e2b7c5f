import pytest

from sglang_contracts.contract import load, text
from sglang_contracts.contract.store import load_contract, load_contracts, select
from sglang_contracts.errors import ContractsError

TEXT = """\
[contract]
id = "{name}"
title = "t"
target = "sglang.srt.m:C"
provider = "sglang"
consumer = "plugin"
sglang = ">=0.4.6"
[fields.x]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SGLANG_CONTRACTS_CACHE", str(tmp_path / "cache"))
    found = tmp_path / "contracts"
    found.mkdir()
    for name in ("b", "a"):
        (found / f"{name}.toml").write_text(TEXT.format(name=name))
    return found


def entries(folder):
    return list((folder.parent / "cache" / "contracts").glob("*"))


def forbid_parsing(monkeypatch):
    def fail(*_):
        raise AssertionError("parsed again")

    monkeypatch.setattr(load, "parse_contract", fail)


def test_contracts_come_by_id_and_from_the_cache_the_second_time(folder, monkeypatch):
    first = load_contracts(folder)
    assert [contract.id for contract in first] == ["a", "b"]
    forbid_parsing(monkeypatch)
    assert load_contracts(folder) == first


def test_a_changed_file_is_read_anew(folder):
    load_contracts(folder)
    (folder / "a.toml").write_text(TEXT.format(name="a") + "[fields.y]\n")
    assert len(load_contracts(folder)[0].clauses) == 2


@pytest.mark.parametrize("damage", [b"", b"junk", None])
def test_a_corrupt_cache_is_ignored_and_written_anew(folder, damage, monkeypatch):
    first = load_contracts(folder)
    (entry,) = entries(folder)
    entry.write_bytes(entry.read_bytes()[:-3] if damage is None else damage)
    assert load_contracts(folder) == first
    forbid_parsing(monkeypatch)
    assert load_contracts(folder) == first


def test_a_cache_that_cannot_be_written_is_done_without(folder):
    (folder.parent / "cache").write_text("a file where the folder should be")
    assert len(load_contracts(folder)) == 2


def test_the_cache_does_not_grow_without_end(folder):
    for count in range(12):
        (folder / "a.toml").write_text(TEXT.format(name="a") + "\n" * count)
        load_contracts(folder)
    assert len(entries(folder)) <= 8


def test_a_wrong_file_stops_the_load(folder):
    (folder / "c.toml").write_text("[contract]\n")
    with pytest.raises(ContractsError, match=r"c\.toml:1"):
        load_contracts(folder)


def test_an_unknown_contract_gets_the_nearest_ones(folder):
    contracts = load_contracts(folder)
    assert select(contracts, ()) == contracts
    assert [each.id for each in select(contracts, ("b",))] == ["b"]
    with pytest.raises(ContractsError) as caught:
        select(contracts, ("aa",))
    assert "a" in caught.value.hint


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff", "not UTF-8"),
        (b"#" * (text.MAX_BYTES + 1), "larger than"),
        (None, "cannot be read"),
    ],
)
def test_a_file_that_is_no_text_is_an_error(folder, content, message):
    path = folder / "d.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ContractsError, match=message):
        load_contract(path)


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(ContractsError, match="no folder"):
        load_contracts(tmp_path / "none")
