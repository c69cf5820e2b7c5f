"""Evidence files: text that a diff can be read of, written whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from sglang_contracts.errors import ContractsError
from sglang_contracts.live.evidence.model import FORMAT, Evidence

_AGAIN = "record it again: SGLANG_CONTRACTS_RECORD=1 tox -e sglang-<release>"


def dump(evidence: Evidence) -> str:
    """The file's text: one batch, call form, class or attribute a line."""
    raw = msgspec.to_builtins(evidence)
    pieces = []
    for key, value in raw.items():
        if key == "batches":
            rows = ",\n    ".join(json.dumps(row, sort_keys=True) for row in value)
            pieces.append(f'  "batches": [\n    {rows}\n  ]')
        elif key == "objects":
            roles = ",\n".join(_object_text(role, item) for role, item in value.items())
            pieces.append(f'  "objects": {{\n{roles}\n  }}')
        elif key in ("symbols", "flags"):
            rows = ",\n    ".join(
                f"{json.dumps(name)}: {json.dumps(each)}" for name, each in value.items()
            )
            pieces.append(f'  "{key}": {{\n    {rows}\n  }}')
        else:
            pieces.append(f"  {json.dumps(key)}: {json.dumps(value, sort_keys=True)}")
    return "{\n" + ",\n".join(pieces) + "\n}\n"


def _object_text(role: str, item: dict[str, Any]) -> str:
    parts = []
    for key, value in item.items():
        if isinstance(value, dict) and value:
            rows = ",\n        ".join(
                f"{json.dumps(name)}: {json.dumps(each, sort_keys=True)}"
                for name, each in value.items()
            )
            parts.append(f"      {json.dumps(key)}: {{\n        {rows}\n      }}")
        else:
            parts.append(f"      {json.dumps(key)}: {json.dumps(value)}")
    return f"    {json.dumps(role)}: {{\n" + ",\n".join(parts) + "\n    }"


def save(evidence: Evidence, folder: Path, what: str = "") -> Path:
    """Write the file into ``folder``, whole or not at all.

    Args:
        evidence: What to write.
        folder: Made if it is not there.
        what: Empty for the runs of the release's tox line; else the name of a further run.

    Returns:
        ``<release>.json`` or ``<release>.<what>.json``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{evidence.release}{'.' if what else ''}{what}.json"
    temporary = target.with_suffix(".new")
    temporary.write_text(dump(evidence), encoding="utf-8")
    temporary.replace(target)
    return target


def load(file: Path) -> Evidence:
    """Read an evidence file.

    Raises:
        ContractsError: It is no evidence file of this format.
    """
    try:
        head = msgspec.json.decode(file.read_bytes(), type=dict[str, msgspec.Raw])
        number = msgspec.json.decode(head.get("format", msgspec.Raw(b"0")), type=int)
        if number != FORMAT:
            raise ContractsError(f"{file} has format {number}, this version reads {FORMAT}", _AGAIN)
        return msgspec.json.decode(file.read_bytes(), type=Evidence)
    except (OSError, msgspec.DecodeError) as error:
        raise ContractsError(f"{file} is no evidence file: {error}", _AGAIN) from None


def load_all(folder: Path) -> tuple[Evidence, ...]:
    """Every evidence file in ``folder``, by release; a release's own runs before further ones."""
    from packaging.version import Version

    found = [(file.name.count("."), file.name, load(file)) for file in folder.glob("*.json")]
    ordered = sorted(found, key=lambda each: (Version(each[2].release), *each[:2]))
    return tuple(evidence for _, _, evidence in ordered)
