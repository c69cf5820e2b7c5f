"""A plugin against releases: the entry points of the static check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sglang_contracts.contract import Contract
    from sglang_contracts.surface import Catalog
    from sglang_contracts.verify.finding import Report


def check_plugin(
    root: Path | str,
    catalog: Catalog,
    releases: Sequence[str],
    *,
    exclude: Sequence[str] = (),
    known_as: Mapping[str, str] | None = None,
    contracts: Sequence[Contract] | None = None,
) -> Report:
    """What a plugin relies on, held against releases.

    Args:
        root: A source tree, a ``.py`` file, a wheel, or the name of an installed distribution.
        catalog: The recorded releases; all of them serve as history.
        releases: Those to report on, in the order of the report.
        exclude: Globs, relative to the root, of files to leave out.
        known_as: Further conventional names of objects: name -> ``module:Class``.
        contracts: The contracts whose notes, names and obligations count; None: those shipped.

    Returns:
        One :class:`ReleaseReport` a release. ``facts`` has ``files`` and ``uses`` (counts).

    Raises:
        ContractsError: Nothing to check there, or an unknown release.
    """
    raise NotImplementedError


def matrix_report(
    root: Path | str,
    catalog: Catalog,
    *,
    exclude: Sequence[str] = (),
    known_as: Mapping[str, str] | None = None,
    contracts: Sequence[Contract] | None = None,
) -> Report:
    """:func:`check_plugin` over every recorded release; the command is ``matrix``."""
    raise NotImplementedError


def uses_of(
    root: Path | str,
    catalog: Catalog,
    release: str | None = None,
    *,
    exclude: Sequence[str] = (),
    known_as: Mapping[str, str] | None = None,
    contracts: Sequence[Contract] | None = None,
) -> Report:
    """What a plugin relies on.

    ``facts["uses"]`` is a list of ``{"symbol", "module", "role", "locations": [{"file", "line"}],
    "guarded": bool, "by_name": bool}``, sorted by module and symbol, as they resolve in
    ``release`` (the newest recorded one by default).
    """
    raise NotImplementedError


def upgrade_report(
    root: Path | str,
    catalog: Catalog,
    old: str,
    new: str,
    *,
    exclude: Sequence[str] = (),
    known_as: Mapping[str, str] | None = None,
    contracts: Sequence[Contract] | None = None,
) -> Report:
    """The dossier from one release to another.

    ``releases`` has one entry, ``new``, with the findings that ``old`` has not. ``facts`` has
    ``edits``: in order of file and line ``{"file", "line", "rule", "symbol", "old", "new",
    "since", "covers": [releases], "both": bool}`` (``both``: the new form works in ``old`` as
    well), and ``needless``: guards ``{"file", "line", "text"}`` whose other branch no release
    from ``new`` on takes.
    """
    raise NotImplementedError


def launch_check(
    command: Sequence[str],
    catalog: Catalog,
    release: str,
    *,
    environment: Mapping[str, str] | None = None,
) -> Report:
    """The flags, their values and the environment of one launch command against a release.

    ``command`` may begin with ``NAME=value`` words, as a shell's does.
    """
    raise NotImplementedError
