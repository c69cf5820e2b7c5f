"""A contract in two files: what a person reads, and the names that only have bounds."""

import pytest

from sglang_contracts.contract import load_contract, load_contracts
from sglang_contracts.contract.load import parse_contract
from sglang_contracts.errors import ContractsError

MAIN = """\
[contract]
id = "batch"
title = "t"
target = "sglang.srt.m:C"
provider = "sglang"
consumer = "plugin"
sglang = ">=0.4.6"

[classes.Other]
symbol = "sglang.srt.m:Other"
note = "told"

[fields.x]
dtype = "int64"
"""
NAMES = """\
# a comment

[fields.y]
sglang = ">=0.5.3"

[methods."Other.run"]
parameters = ["a"]
"""


def load(inventory, main=MAIN):
    return parse_contract(main, "batch.toml", inventory)


def failure(inventory, main=MAIN):
    with pytest.raises(ContractsError) as caught:
        load(inventory, main)
    return caught.value


def test_both_files_make_one_contract_as_one_file_would():
    joined = {clause.id: clause for clause in load(NAMES).clauses}
    alone = {clause.id: clause for clause in load(None, MAIN + NAMES).clauses}
    assert joined.keys() == alone.keys()
    for name, clause in joined.items():
        assert clause.symbols == alone[name].symbols
        assert clause.sglang == alone[name].sglang


def test_a_clause_knows_its_file_and_line():
    contract = load(NAMES)
    places = {
        clause.id: (contract.file_of(clause), clause.line)
        for clause in contract.clauses
        if clause.name in ("x", "y", "run")
    }
    assert places == {
        "batch/x": ("batch.toml", 13),
        "batch/y": ("inventory/batch.toml", 3),
        "batch/Other.run": ("inventory/batch.toml", 6),
    }
    assert contract.file_of() == "batch.toml"


@pytest.mark.parametrize(
    ("inventory", "message"),
    [
        ("\n[fields.y]\nsglagn = '>=0.5'\n", "inventory/batch.toml:3: unknown key 'sglagn'"),
        ("[fields.y]\nsglang = '>0.5'\n", "inventory/batch.toml:2: bad version range"),
        ("[fields.y\n", "inventory/batch.toml:1: broken TOML"),
        ("fields = 3\n", "inventory/batch.toml:1: 'fields' must be a table of tables"),
        ("[fields]\ny = 3\n", "inventory/batch.toml:2: 'y' must be a table"),
        ("[fields.'No.y']\n", "inventory/batch.toml:1: unknown class 'No'"),
        ("\n[fields.y]\nnote = 'n'\n", "inventory/batch.toml:3: 'note' says more than a name"),
        ("\n[fields.x]\n", "inventory/batch.toml:2: [fields.x] stands already in batch.toml"),
        ("[invariants.a]\n", "inventory/batch.toml:1: 'invariants' has no place"),
        ("[contract]\nid = 'batch'\n", "inventory/batch.toml:1: 'contract' has no place"),
        ("[fields.y]\nid = 'x'\n", "inventory/batch.toml:1: the clause 'batch/x' stands already"),
    ],
)
def test_an_error_names_the_inventory_and_its_line(inventory, message):
    assert failure(inventory).message.startswith(message)


def test_an_id_that_stands_in_both_files_names_both():
    assert "in batch.toml, line 13" in failure("[fields.y]\nid = 'x'\n").message


@pytest.mark.parametrize(
    ("main", "message"),
    [
        (MAIN + "[fields.z]\nsglagn = 1\n", "batch.toml:16: unknown key 'sglagn'"),
        (MAIN.replace("[fields.x]", "[fieldz.x]"), "batch.toml:13: unknown table 'fieldz'"),
    ],
)
def test_an_error_in_the_contract_still_names_the_contract(main, message):
    assert failure(NAMES, main).message.startswith(message)


def test_a_section_that_is_no_table_is_said_of_the_contract():
    main = MAIN.replace("[contract]", "fields = 1\n[contract]").partition("[fields")[0]
    assert failure(NAMES, main).message.startswith("batch.toml:1: 'fields' must be a table")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SGLANG_CONTRACTS_CACHE", str(tmp_path / "cache"))
    found = tmp_path / "contracts"
    (found / "inventory").mkdir(parents=True)
    (found / "batch.toml").write_text(MAIN)
    (found / "inventory" / "batch.toml").write_text(NAMES)
    return found


def test_a_folder_is_read_with_its_inventory(folder):
    (contract,) = load_contracts(folder)
    assert {"x", "y", "run"} <= {clause.name for clause in contract.clauses}
    assert load_contract(folder / "batch.toml") == contract


def test_a_changed_inventory_is_read_anew(folder):
    before = len(load_contracts(folder)[0].clauses)
    (folder / "inventory" / "batch.toml").write_text(NAMES + "[fields.z]\n")
    assert len(load_contracts(folder)[0].clauses) == before + 1


def test_an_inventory_without_its_contract_is_an_error(folder):
    (folder / "inventory" / "other.toml").write_text(NAMES)
    with pytest.raises(ContractsError, match=r"inventory/other\.toml: there is no other\.toml"):
        load_contracts(folder)
