"""``matrix/releases.toml``: which releases are shipped, which could not be, and as of when."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec

from sglang_contracts import paths
from sglang_contracts.errors import ContractsError
from sglang_contracts.files import write_atomically
from sglang_contracts.surface.catalog import Catalog

_HEAD = """\
# Every release of SGLang from 0.4.6 on, as found on the index. Written by
# `sglang-contracts record --shipped`; the surfaces beside this file are what it lists.
"""


class Release(msgspec.Struct, frozen=True):
    """A recorded release."""

    version: str
    wheel: str
    sha256: str
    digest: str
    """Over all that is recorded of it."""


class Missing(msgspec.Struct, frozen=True):
    """A release on the index that is not recorded."""

    version: str
    reason: str


class Roster(msgspec.Struct, frozen=True):
    """The whole file."""

    checked: str
    """Date (YYYY-MM-DD) on which the index was asked last."""
    releases: tuple[Release, ...] = msgspec.field(name="release", default=())
    missing: tuple[Missing, ...] = ()


def load_roster(path: Path | None = None) -> Roster:
    """Read the shipped list.

    Raises:
        ContractsError: It is not there or broken.
    """
    path = path or paths.data("matrix") / "releases.toml"
    try:
        return msgspec.convert(_load(path.read_text(encoding="utf-8")), Roster)
    except OSError as error:
        raise ContractsError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, msgspec.MsgspecError) as error:
        raise ContractsError(f"{path} is broken: {error}", "reinstall sglang-contracts") from None


def write_roster(catalog: Catalog, checked: str, missing: tuple[Missing, ...], path: Path) -> None:
    """Write the list of what is shipped, from the packs themselves."""
    lines = [_HEAD, f'checked = "{checked}"\n']
    for each in missing:
        reason = each.reason.replace('"', "'")
        lines.append(f'\n[[missing]]\nversion = "{each.version}"\nreason = "{reason}"\n')
    for release in catalog.releases:
        if catalog.is_users(release):
            continue
        header = catalog.pack(release).header
        lines.append(
            f'\n[[release]]\nversion = "{release}"\nwheel = "{header.wheel}"\n'
            f'sha256 = "{header.sha256}"\ndigest = "{header.digest}"\n'
        )
    write_atomically(path, "".join(lines).encode())


def _load(text: str) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads(text)
