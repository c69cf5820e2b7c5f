"""A catalog of two imaginary releases, recorded once."""

from __future__ import annotations

import importlib.util
import sys
import textwrap
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType

import pytest

from sglang_contracts.contract import Contract, load_contract
from sglang_contracts.surface import Catalog
from sglang_contracts.surface.record import record
from sglang_contracts.verify import check_plugin
from sglang_contracts.verify.findings.finding import Finding, Severity

collect_ignore_glob = [
    "rules/*",
    "silences/*",
]  # fixtures: what they hold is SGLang's and plugins', no tests


def _imaginary() -> ModuleType:
    name = "imaginary_releases"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            name, Path(__file__).with_name("imaginary.py")
        )
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


@pytest.fixture(scope="session")
def imaginary() -> ModuleType:
    """The two releases and the fixtures of every rule."""
    return _imaginary()


def _recorded(folder: Path, old: Mapping[str, str], new: Mapping[str, str]) -> Catalog:
    """``0.5.1`` and ``0.5.2`` of an imaginary sglang: path in the package → text."""
    catalog = Catalog(folder / "shipped", folder / "user")
    for version, files in (("0.5.1", old), ("0.5.2", new)):
        wheel = folder / f"sglang-{version}-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            for name, text in files.items():
                archive.writestr(f"sglang/{name}", textwrap.dedent(text))
        record(str(wheel), catalog)
        catalog = Catalog(folder / "shipped", folder / "user")
    return catalog


@pytest.fixture(scope="session")
def two_releases(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """``0.5.1`` and ``0.5.2`` of the imaginary sglang."""
    module = _imaginary()
    return _recorded(tmp_path_factory.mktemp("imaginary"), module.OLD, module.NEW)


Recorded = Callable[[Mapping[str, str], Mapping[str, str]], Catalog]


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Records two releases by their files; the same ones once in a session."""
    made: dict[str, Catalog] = {}

    def catalog(old: Mapping[str, str], new: Mapping[str, str]) -> Catalog:
        key = repr((sorted(old.items()), sorted(new.items())))
        if key not in made:
            made[key] = _recorded(tmp_path_factory.mktemp("recorded"), old, new)
        return made[key]

    return catalog


@pytest.fixture
def broken_by(tmp_path: Path, recorded: Recorded) -> Callable[..., list[str]]:
    """Told what a change between two releases breaks: ``severity rule symbol:line`` of each."""

    def told(old: Mapping[str, str], new: Mapping[str, str], plugin: str) -> list[str]:
        (tmp_path / "plugin").mkdir()
        (tmp_path / "plugin" / "plugin.py").write_text(textwrap.dedent(plugin))
        catalog = recorded(old, new)
        report = check_plugin(tmp_path / "plugin", catalog, ["0.5.1", "0.5.2"], contracts=())
        assert not report.releases[0].findings
        return [
            f"{each.severity.value} {each.rule} {each.symbol}:{place.line}"
            for each in report.releases[1].findings
            for place in each.locations
        ]

    return told


@pytest.fixture
def trouble(tmp_path: Path, recorded: Recorded) -> Callable[..., list[str]]:
    """Told what is wrong with a plugin in either of two releases: ``severity symbol``, no notes."""

    def told(old: Mapping[str, str], new: Mapping[str, str], plugin: str) -> list[str]:
        (tmp_path / "plugin").mkdir()
        (tmp_path / "plugin" / "plugin.py").write_text(plugin)
        releases = ["0.5.1", "0.5.2"]
        report = check_plugin(tmp_path / "plugin", recorded(old, new), releases, contracts=())
        return [
            f"{each.severity.value} {each.symbol}"
            for release in report.releases
            for each in release.findings
            if each.severity is not Severity.NOTE
        ]

    return told


@pytest.fixture(scope="session")
def two_contracts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Contract, ...]:
    """Contracts on the imaginary releases."""
    folder = tmp_path_factory.mktemp("contracts")
    loaded = []
    for name, text in _imaginary().CONTRACTS.items():
        path = folder / f"{name}.toml"
        path.write_text(text)
        loaded.append(load_contract(path))
    return tuple(loaded)


CheckText = Callable[[str], dict[str, list[Finding]]]


@pytest.fixture
def check_text(
    two_releases: Catalog,
    two_contracts: tuple[Contract, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> CheckText:
    """``check_text(source)`` → release → its errors and warnings, and what is a note at worst."""
    monkeypatch.setenv("SGLANG_CONTRACTS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SGLANG_CONTRACTS_DEBUG", "1")

    def check(text: str) -> dict[str, list[Finding]]:
        from sglang_contracts.verify import check_plugin
        from sglang_contracts.verify.rules.registry import RULES

        mild = {rule.id for rule in RULES.values() if rule.severity is Severity.NOTE}
        root = tmp_path / "plugin"
        root.mkdir(exist_ok=True)
        (root / "plugin.py").write_text(text)
        report = check_plugin(root, two_releases, two_releases.releases, contracts=two_contracts)
        return {
            entry.release: [
                f for f in entry.findings if f.severity is not Severity.NOTE or f.rule in mild
            ]
            for entry in report.releases
        }

    return check
