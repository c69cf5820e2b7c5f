"""The table of certified combinations, from a folder of certificates."""

import json

import msgspec
import pytest

from sglang_contracts.certify.certificate import Sglang, sealed, write_certificate
from sglang_contracts.certify.combinations import combinations, html, markdown
from sglang_contracts.cli import main
from sglang_contracts.errors import ContractsError


@pytest.fixture
def folder(tmp_path, certificate):
    """Certificates of two releases; the driver of the second is noted."""
    for name, release, versions in (
        ("new", "0.5.23", {"python": "3.11.7", "torch": "2.9", "acme-driver": "5|1"}),
        ("old", "0.5.9", {"python": "3.10.1", "torch": "2.8"}),
    ):
        (tmp_path / name).mkdir()
        made = msgspec.structs.replace(
            certificate, sglang=Sglang(release, "installed", ""), environment=versions
        )
        write_certificate(sealed(made), tmp_path / name / "certificate.json")
    (tmp_path / "other.json").write_text("[1]")
    return tmp_path


def test_a_row_for_each_by_release(folder):
    found, said = combinations(folder)
    assert [(each.sglang, each.torch) for each in found] == [("0.5.9", "2.8"), ("0.5.23", "2.9")]
    assert found[1].further == {"acme-driver": "5|1"}
    assert said == ()


def test_one_that_was_changed_is_not_counted(folder):
    place = folder / "old" / "certificate.json"
    document = json.loads(place.read_text())
    document["verdict"] = "passed"
    place.write_text(json.dumps(document))
    found, said = combinations(folder)
    assert [each.sglang for each in found] == ["0.5.23"]
    assert "old/certificate.json: its digest" in said[0]


def test_what_is_no_certificate_any_more_is_said(folder):
    (folder / "old" / "certificate.json").write_text("{")
    assert len(combinations(folder)[1]) == 1


def test_cells_cannot_break_the_table(folder):
    found, _ = combinations(folder)
    assert "acme-driver 5\\|1" in markdown(found)
    assert "<td>acme-driver 5|1</td>" in html(found)


def test_the_command_prints_and_writes_it(folder, capsys, tmp_path):
    page = tmp_path / "table.html"
    assert main(["matrix", "--certificates", str(folder), "--html", str(page)]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0].startswith("| plugin | SGLang | Python | torch |")
    assert "| 0.5.9 | 3.10.1 | 2.8 |" in out
    assert "Certified combinations" in page.read_text()
    assert main(["matrix", "--certificates", str(folder), "-f", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["combinations"]) == 2


def test_neither_a_plugin_nor_a_folder(capsys, tmp_path):
    assert main(["matrix"]) == 2
    with pytest.raises(ContractsError, match="no folder"):
        combinations(tmp_path / "none")


def test_a_host_that_is_not_the_locked_combination_is_not_certified(capsys, tmp_path):
    config = tmp_path / "pyproject.toml"
    config.write_text('[tool.sglang-contracts.combination]\npython = "<3"\nsglang = "1"\n')
    words = ("sglang-kunlun-reference", "--sglang", "fake:0.5.16", "--config", str(config))
    assert main(["certify", *words]) == 2
    said = capsys.readouterr().err
    assert "locked <3" in said
    assert "sglang" not in said.partition("locks: ")[2].partition("hint")[0]
