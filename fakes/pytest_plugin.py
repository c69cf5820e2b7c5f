"""``pytest --sglang-fake 0.5.16``: a fake SGLang in place before any test is collected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--sglang-fake``."""
    group = parser.getgroup("sglang-contracts")
    group.addoption(
        "--sglang-fake",
        metavar="RELEASE",
        help="put a fake of this SGLang release in place of sglang, such as 0.5.16",
    )


def _place(release: str) -> None:
    import pytest
    from sglang_contracts.fakes import install, installed

    from sglang_contracts.errors import ContractsError

    there = installed()
    if there is not None and there.release == release:
        return
    try:
        install(release)
    except ContractsError as error:
        raise pytest.UsageError(str(error)) from None


def pytest_load_initial_conftests(
    early_config: Any, parser: pytest.Parser, args: list[str]
) -> None:
    """Before the first ``conftest.py``: it may import ``sglang`` itself."""
    del parser, args
    release = early_config.known_args_namespace.sglang_fake
    if release:
        _place(release)


def pytest_configure(config: pytest.Config) -> None:
    """Where the plugin was not there in time for the first ``conftest.py``."""
    release = config.getoption("--sglang-fake", default=None)
    if release:
        _place(release)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say which release is faked."""
    release = config.getoption("--sglang-fake", default=None)
    return f"sglang: a fake of {release}" if release else None


def pytest_unconfigure(config: pytest.Config) -> None:
    """Take it out, for whoever runs pytest inside of another program."""
    if config.getoption("--sglang-fake", default=None):
        from sglang_contracts.fakes import uninstall

        uninstall()
