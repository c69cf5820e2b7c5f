"""What a plugin requires of SGLang is read where it stands, and nowhere else."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from sglang_contracts.plugin.reading.claims import Claim, claim_of

RECORDED = ("0.5.12", "0.5.12.post1", "0.5.13", "0.5.23")


def pyproject(dependencies: str = "[]", extras: str = "") -> str:
    return (
        f'[project]\nname = "p"\nversion = "1"\ndependencies = {dependencies}\n'
        f"[project.optional-dependencies]\n{extras}\n"
    )


WRITTEN = {
    "a range": ({"pyproject.toml": pyproject('["torch", "sglang>=0.5.13,<0.5.16"]')}, "<0.5.16"),
    "a pin": ({"pyproject.toml": pyproject('["sglang==0.5.15"]')}, "==0.5.15"),
    "with extras of SGLang's": ({"pyproject.toml": pyproject('["sglang[all]~=0.5.16"]')}, "~="),
    "an extra": ({"pyproject.toml": pyproject(extras='engine = ["SGLang==0.5.14"]')}, "==0.5.14"),
    "setup.cfg": (
        {"setup.cfg": "[options]\ninstall_requires =\n    torch\n    sglang==0.5.12\n"},
        "==0.5.12",
    ),
    "an extra in setup.cfg": (
        {"setup.cfg": "[options.extras_require]\nengine =\n    sglang==0.5.12\n"},
        "==0.5.12",
    ),
    "requirements": ({"requirements.txt": "torch\nsglang==0.5.9  # as deployed\n"}, "==0.5.9"),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_requirement_is_read(name: str, tmp_path: Path) -> None:
    files, expected = WRITTEN[name]
    for file, text in files.items():
        (tmp_path / file).write_text(text)
    claim = claim_of(tmp_path)
    assert claim is not None
    assert len(claim.specifiers) == 1
    assert expected in claim.specifiers[0]


NOTHING = {
    "no requirement": {"pyproject.toml": pyproject('["torch"]')},
    "any release": {"pyproject.toml": pyproject('["sglang"]')},
    "another distribution": {"pyproject.toml": pyproject('["sglang-router==0.1"]')},
    "no TOML": {"pyproject.toml": "[project\n"},
    "no requirement that is one": {"pyproject.toml": pyproject('["sglang=0.5"]')},
    "a number of many digits": {"pyproject.toml": pyproject(f'["sglang>={"9" * 5000}"]')},
    "tables of another kind": {"pyproject.toml": "[project]\ndependencies = 3\n"},
    "no files": {},
}


@pytest.mark.parametrize("name", NOTHING)
def test_what_says_nothing_claims_nothing(name: str, tmp_path: Path) -> None:
    for file, text in NOTHING[name].items():
        (tmp_path / file).write_text(text)
    assert claim_of(tmp_path) is None


def test_the_requirement_itself_comes_before_its_extras(tmp_path: Path) -> None:
    text = pyproject('["sglang==0.5.13"]', 'old = ["sglang==0.5.9"]')
    (tmp_path / "pyproject.toml").write_text(text)
    assert claim_of(tmp_path) == Claim(("==0.5.13",), "dependencies in pyproject.toml")


def test_one_of_several_extras_is_enough(tmp_path: Path) -> None:
    text = pyproject(extras='new = ["sglang==0.5.23"]\nold = ["sglang==0.5.12"]')
    (tmp_path / "pyproject.toml").write_text(text)
    claim = claim_of(tmp_path)
    assert claim is not None
    assert [each for each in RECORDED if claim.admits(each)] == ["0.5.12", "0.5.23"]


def test_a_wheel_is_read_by_its_metadata(tmp_path: Path) -> None:
    wheel = tmp_path / "p-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        lines = "Name: p\nRequires-Dist: torch\nRequires-Dist: sglang>=0.5.13; extra == 'srt'\n"
        archive.writestr("p-1.dist-info/METADATA", lines)
    claim = claim_of(wheel)
    assert claim == Claim((">=0.5.13",), "Requires-Dist of the extra 'srt'")


def test_a_damaged_wheel_claims_nothing(tmp_path: Path) -> None:
    wheel = tmp_path / "p-1-py3-none-any.whl"
    wheel.write_bytes(b"no archive")
    assert claim_of(wheel) is None


def test_a_folder_above_counts_in_its_own_repository_alone(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(pyproject('["sglang==0.5.13"]'))
    inner = tmp_path / "src" / "p"
    inner.mkdir(parents=True)
    assert claim_of(inner) is None
    (tmp_path / ".git").mkdir()
    claim = claim_of(inner)
    assert claim is not None
    assert claim.specifiers == ("==0.5.13",)


def test_a_requirement_by_address_is_one_on_a_fork(tmp_path: Path) -> None:
    address = "git+https://example.org/sglang.git@v1"
    (tmp_path / "pyproject.toml").write_text(pyproject(f'["sglang @ {address}"]'))
    assert claim_of(tmp_path) == Claim((), "dependencies in pyproject.toml", address)


@pytest.mark.parametrize(
    ("specifier", "beyond"),
    [(">=0.6", True), ("==0.5.24", True), (">=0.5.13", False), ("<0.5", False), ("~=0.6.1", True)],
)
def test_what_is_newer_than_all_that_is_recorded(specifier: str, beyond: bool) -> None:
    assert Claim((specifier,), "").is_beyond(RECORDED) is beyond
