import os
import subprocess
import sys
from pathlib import Path

import pytest

from sglang_contracts.contract import load_contract
from sglang_contracts.contract.stub import new_contract
from sglang_contracts.errors import ContractsError


def test_the_stub_loads_and_its_test_fails_until_it_is_filled_in(tmp_path, monkeypatch):
    contract, test = new_contract("my-thing", tmp_path / "contracts", tmp_path / "tests")
    assert load_contract(contract).id == "my-thing"
    monkeypatch.setenv("SGLANG_CONTRACTS_CACHE", str(tmp_path / "cache"))
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert run.returncode == 1
    assert "1 failed" in run.stdout


def test_nothing_is_written_over(tmp_path):
    new_contract("my-thing", tmp_path, tmp_path)
    with pytest.raises(ContractsError, match="already there"):
        new_contract("my-thing", tmp_path, tmp_path)


@pytest.mark.parametrize("name", ["", "My", "a_b", "../x", "a--b", "x/y"])
def test_a_bad_name_is_refused(tmp_path, name):
    with pytest.raises(ContractsError, match="no name"):
        new_contract(name, tmp_path, tmp_path)


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ContractsError, match="cannot write"):
        new_contract("my-thing", tmp_path / "file", tmp_path)


def test_an_installed_package_is_not_written_into(tmp_path, monkeypatch):
    from sglang_contracts import paths

    monkeypatch.setattr(paths, "package", lambda: tmp_path / "site-packages" / "sglang_contracts")
    with pytest.raises(ContractsError, match="no checkout") as caught:
        new_contract("my-thing")
    assert "--into" in caught.value.hint
    assert list(tmp_path.iterdir()) == []
