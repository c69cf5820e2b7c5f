import os
import subprocess
import sys
from pathlib import Path

import pytest

from sglang_contracts import paths
from sglang_contracts.contract import load_contract
from sglang_contracts.contract.stub import MAX_NAME, new_contract
from sglang_contracts.errors import ContractsError
from sglang_contracts.surface import load_catalog
from sglang_contracts.verify.clauses.verify_clauses import verify_contracts

NAMES = ["my-thing", "load", "class", "a", "x1-2-y", "w" * MAX_NAME]
TARGETS = [
    "sglang.srt.layers.radix_attention:RadixAttention",
    "sglang.srt.model_executor.forward_batch_info:ForwardBatch",
    "sglang.srt.model_executor.forward_context:ForwardContext",
    "sglang.srt.mem_cache.memory_pool:MHATokenToKVPool",
    "sglang.srt.eplb.expert_location:ExpertLocationMetadata",  # an attribute became a property
]


def run_test(path, tmp_path):
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(path)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )


def test_the_stub_loads_and_its_test_fails_until_it_is_filled_in(tmp_path):
    contract, written = new_contract("my-thing", tmp_path)
    assert load_contract(contract).id == "my-thing"
    run = run_test(written, tmp_path)
    assert run.returncode == 1
    assert "1 failed" in run.stdout
    contract.write_text(contract.read_text().replace("TODO", "x"))
    assert run_test(written, tmp_path).returncode == 0


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    for folder in ("contracts", "tests/contract", "sglang_contracts/contract"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setattr(paths, "package", lambda: tmp_path / "sglang_contracts")
    return tmp_path


@pytest.mark.parametrize("name", NAMES)
def test_in_a_checkout_everything_lies_where_it_belongs(checkout, name):
    contract, written = new_contract(name)
    assert contract == checkout / "contracts" / f"{name}.toml"
    stem = f"test_{name.replace('-', '_')}_contract"
    assert written == checkout / "tests" / "contract" / f"{stem}.py"
    assert not (Path(__file__).parent / written.name).exists()
    assert run_test(written, checkout).returncode == 1


@pytest.mark.parametrize("target", TARGETS)
def test_the_names_of_a_target_are_written_with_bounds_that_are_true(tmp_path, target):
    catalog = load_catalog()
    contract, names, _ = new_contract("mine", tmp_path, target, catalog)
    assert names == tmp_path / "inventory" / "mine.toml"
    loaded = load_contract(contract)
    assert loaded.clauses
    assert all(clause.inventory for clause in loaded.clauses)
    report = verify_contracts((loaded,), catalog, catalog.releases)
    assert [each.findings for each in report.releases if each.findings] == []


def test_a_target_that_no_release_has_is_an_error(tmp_path):
    with pytest.raises(ContractsError, match="no recorded release has a class") as caught:
        new_contract("mine", tmp_path, "sglang.srt.nowhere:Class", load_catalog())
    assert "explain" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("there", ["my-thing.toml", "inventory/my-thing.toml"])
def test_nothing_is_written_over(tmp_path, there):
    (tmp_path / "inventory").mkdir()
    (tmp_path / there).write_text("")
    with pytest.raises(ContractsError, match="already there"):
        new_contract("my-thing", tmp_path)


@pytest.mark.parametrize("name", ["", "My", "a_b", "../x", "a--b", "x/y", "w" * (MAX_NAME + 1)])
def test_a_bad_name_is_refused(tmp_path, name):
    with pytest.raises(ContractsError, match="no name"):
        new_contract(name, tmp_path)


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ContractsError, match="cannot write"):
        new_contract("my-thing", tmp_path / "file")


def test_an_installed_package_is_not_written_into(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(paths, "package", lambda: tmp_path / "site-packages" / "sglang_contracts")
    with pytest.raises(ContractsError, match="no checkout") as caught:
        new_contract("my-thing")
    assert "--into" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


def test_an_installed_copy_beside_a_checkout_says_how_to_install_that_one(
    checkout, monkeypatch, tmp_path_factory
):
    site = tmp_path_factory.mktemp("site-packages")
    monkeypatch.setattr(paths, "package", lambda: site / "sglang_contracts")
    monkeypatch.chdir(checkout / "contracts")
    with pytest.raises(ContractsError, match="runs from an installed copy") as caught:
        new_contract("my-thing")
    assert f"pip install -e '{checkout}[suite]'" in caught.value.hint
