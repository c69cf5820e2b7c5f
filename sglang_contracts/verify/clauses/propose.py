"""Writing proposed ranges into contract files, for a human to review with ``git diff``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sglang_contracts.errors import ContractsError

if TYPE_CHECKING:
    from sglang_contracts.contract import Contract


def write_proposals(
    contracts: Sequence[Contract],
    folder: Path,
    proposals: Iterable[Mapping[str, object]],
) -> dict[str, list[str]]:
    """Edit the ``sglang`` range of each clause in place; comments and order stay.

    Args:
        contracts: Those the proposals are about.
        folder: Where their files lie.
        proposals: ``facts["proposals"]`` of a ``verify`` report.

    Returns:
        File, as a path in the folder → ids of the clauses edited. Clauses that no release has are
        left alone.

    Raises:
        ContractsError: A file cannot be written.
    """
    from sglang_contracts.files import write_atomically

    by_clause = {
        clause.id: (contract, clause) for contract in contracts for clause in contract.clauses
    }
    texts: dict[Path, list[str]] = {}
    edited: dict[str, list[str]] = {}
    # From the end of a file to its beginning: an inserted line moves only what was done already.
    ordered = sorted(proposals, key=lambda each: -by_clause[str(each["clause"])][1].line)
    for proposal in ordered:
        if proposal["never"]:
            continue
        contract, clause = by_clause[str(proposal["clause"])]
        path = folder / contract.file_of(clause)
        if path not in texts:
            try:
                texts[path] = path.read_text(encoding="utf-8").splitlines()
            except OSError as error:
                raise ContractsError(f"cannot read {path}: {error.strerror}") from None
        parts = proposal["sharp"]
        assert isinstance(parts, (list, tuple))  # a tuple until it has been through a file
        if _edit(texts[path], clause.line, [str(part) for part in parts]):
            edited.setdefault(path.relative_to(folder).as_posix(), []).append(clause.id)
    for path, lines in texts.items():
        if path.relative_to(folder).as_posix() in edited:
            write_atomically(path, ("\n".join(lines) + "\n").encode())
    return {name: sorted(ids) for name, ids in sorted(edited.items())}


def _edit(lines: list[str], line: int, parts: list[str]) -> bool:
    """Set ``sglang`` in the table whose header stands in ``line`` (from 1)."""
    if len(parts) == 1:
        value = f'"{parts[0]}"'
    else:
        value = "[" + ", ".join(f'"{part}"' for part in parts) + "]"
    start = line - 1
    if not 0 <= start < len(lines) or not lines[start].lstrip().startswith("["):
        return False  # an inline table: shown, but left to the reviewer
    end = start + 1
    while end < len(lines) and not lines[end].lstrip().startswith("["):
        if lines[end].split("=")[0].strip() == "sglang":
            if parts:
                lines[end] = f"sglang = {value}"
            else:
                del lines[end]
            return True
        end += 1
    if parts:
        lines.insert(start + 1, f"sglang = {value}")
    return True
