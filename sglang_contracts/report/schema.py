"""JSON schemas of the JSON reports; ``python -m sglang_contracts.report.schema DIR`` writes them.

One for each command, each whole in itself: what all have in common stands in ``$defs``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

_TEXT = {"type": "string"}
_NUMBER = {"type": "integer", "minimum": 0}
_TEXTS = {"type": "array", "items": _TEXT}
_OR_NULL = {"type": ["string", "null"]}


def _record(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "required": list(required),
        "properties": {**required, **optional},
    }


_DEFS: dict[str, Any] = {
    "location": _record(
        {"file": _TEXT, "line": {"type": "integer", "minimum": 0}},
        column={"type": "integer", "minimum": 1},
    ),
    "suggestion": _record({"symbol": _TEXT, "evidence": _TEXT}, note=_TEXT),
    "finding": _record(
        {
            "rule": {"type": "string", "pattern": "^[a-z][a-z-]*$"},
            "severity": {"enum": ["error", "warning", "note"]},
            "symbol": _TEXT,
            "locations": {"type": "array", "items": {"$ref": "#/$defs/location"}},
            "last_ok": _OR_NULL,
            "first_broken": _OR_NULL,
            "suggestion": {"oneOf": [{"type": "null"}, {"$ref": "#/$defs/suggestion"}]},
            "role": _TEXT,
            "by_name": {"type": "boolean"},
            "message": _TEXT,
        },
        old=_TEXT,
        new=_TEXT,
        detail=_TEXT,
        clause=_TEXT,
        softened=_TEXT,
    ),
    "release": _record(
        {
            "release": _TEXT,
            "verdict": {"enum": ["compatible", "broken", "unknown"]},
            "findings": {"type": "array", "items": {"$ref": "#/$defs/finding"}},
        },
        unresolved={"type": "array", "items": {"$ref": "#/$defs/unresolved"}},
        silenced={"$ref": "#/$defs/silenced"},
        looked_at=_record({"resolved": _NUMBER, "by_name": _NUMBER, "unresolved": _NUMBER}),
        silences={"type": "array", "items": {"$ref": "#/$defs/silence"}},
    ),
    "silenced": {"type": "object", "additionalProperties": _NUMBER},
    "silence": _record(
        {"reason": _TEXT, "symbol": _TEXT, "message": _TEXT},
        location={"$ref": "#/$defs/location"},
    ),
    "unresolved": _record(
        {"reason": _TEXT, "symbol": _TEXT}, location={"$ref": "#/$defs/location"}
    ),
    "note": _record(
        {"text": _TEXT, "fails": {"type": "boolean"}},
        location={"$ref": "#/$defs/location"},
        hint=_TEXT,
        unread=_TEXT,
    ),
    "plugin": _record({"name": _TEXT, "version": _TEXT, "path": _TEXT}),
}

_HIDDEN = {"type": "object", "additionalProperties": _NUMBER}

_USE = _record(
    {"symbol": _TEXT, "module": _TEXT, "role": _TEXT},
    locations={"type": "array", "items": {"$ref": "#/$defs/location"}},
    guarded={"type": "boolean"},
    by_name={"type": "boolean"},
    missing={"type": "boolean"},
)
_EDIT = _record(
    {"file": _TEXT, "line": _NUMBER, "rule": _TEXT, "symbol": _TEXT},
    old=_TEXT,
    new=_TEXT,
    note=_TEXT,
    severity={"enum": ["error", "warning"]},
    since=_OR_NULL,
    covers=_TEXTS,
    works_since=_OR_NULL,
    both={"type": "boolean"},
    already={"type": "boolean"},
)

_NEEDLESS = _record(
    {"file": _TEXT, "line": _NUMBER},
    text=_TEXT,
    always={"type": "boolean"},
    kind={"enum": ["condition", "try"]},
)

FACTS: dict[str, dict[str, Any]] = {
    "check": {"files": _NUMBER, "uses": _NUMBER, "hidden": _HIDDEN},
    "matrix": {
        "files": _NUMBER,
        "uses": _NUMBER,
        "hidden": _HIDDEN,
        "compatible": _TEXTS,
        "ranges": _TEXTS,
        "requirement": _OR_NULL,
    },
    "uses": {
        "release": _TEXT,
        "files": _NUMBER,
        "digest": _TEXT,
        "uses": {"type": "array", "items": _USE},
    },
    "can-upgrade": {
        "answer": {"enum": ["yes", "no", "unknown"]},
        "from": _OR_NULL,
        "to": _TEXT,
        "used": _NUMBER,
        "changed": _TEXTS,
    },
    "upgrade": {
        "from": _TEXT,
        "to": _TEXT,
        "edits": {"type": "array", "items": _EDIT},
        "needless": {"type": "array", "items": _NEEDLESS},
        "hidden": _HIDDEN,
    },
    "launch-check": {},
    "doctor": {
        "diagnoses": {
            "type": "array",
            "items": _record(
                {
                    "check": _TEXT,
                    "title": _TEXT,
                    "symptom": _TEXT,
                    "status": {"enum": ["ok", "found", "cannot tell"]},
                    "evidence": _TEXTS,
                    "mend": _TEXT,
                }
            ),
        },
    },
    "plan": {
        "model": _TEXT,
        "card": _NUMBER,
        "reserved": _NUMBER,
        "cards": _NUMBER,
        "context": _NUMBER,
        "weights_source": {"enum": ["headers", "shape"]},
        "plan": _record(
            {
                "release": _TEXT,
                "attention": {"enum": ["mha", "gqa", "mla", "swa"]},
                "dtype": _TEXT,
                "fraction": {"type": "number"},
                "own_fraction": {"type": "number"},
                "least_fraction": {"type": "number"},
                **dict.fromkeys(
                    (
                        "weights",
                        "weights_on_card",
                        "kv_bytes_a_token",
                        "static",
                        "rest",
                        "own_rest",
                        "tokens",
                        "window_tokens",
                        "largest_context",
                        "requests",
                    ),
                    _NUMBER,
                ),
                "pool": {"type": "integer"},
            }
        ),
        "concerns": {
            "type": "array",
            "items": _record(
                {
                    "id": _TEXT,
                    "severity": {"enum": ["error", "warning", "note"]},
                    "numbers": {"type": "object", "additionalProperties": {"type": "number"}},
                }
            ),
        },
    },
    "verify": {
        "clauses": _NUMBER,
        "checked": _NUMBER,
        "unproved": _NUMBER,
        "coverage": {
            "type": "object",
            "additionalProperties": {"type": "array", "items": _NUMBER, "minItems": 2},
        },
        "proposals": {
            "type": "array",
            "items": _record(
                {"clause": _TEXT, "written": _TEXTS, "sharp": _TEXTS, "never": {"type": "boolean"}}
            ),
        },
        "evidence": {
            "type": "array",
            "items": _record(
                {
                    "clause": _TEXT,
                    "status": _TEXT,
                    "seen": _TEXTS,
                    "present": _TEXTS,
                    "declared": _TEXTS,
                    "contradicted": _TEXTS,
                    "absent": _TEXTS,
                    "modes": _TEXTS,
                }
            ),
        },
        "evidence_releases": _TEXTS,
    },
    "diff": {"old": _TEXT, "new": _TEXT, "compared": _NUMBER},
    "explain": {
        "kind": {"enum": ["symbol", "clause", "contract", "rule", "silence", "list"]},
        "name": _TEXT,
        "alive": {"type": "boolean"},
        "gone_since": _OR_NULL,
        "intervals": {"type": "array", "items": _record({"first": _TEXT, "last": _TEXT})},
        "forms": {
            "type": "array",
            "items": _record({"since": _TEXT, "text": _TEXT, "defined": _TEXT}),
        },
        "replaced_by": {
            "type": "array",
            "items": _record({"use": _TEXT, "sglang": _TEXTS, "note": _TEXT}, evidence=_TEXT),
        },
        "clauses": {"type": "array", "items": {"type": "object"}},
        "purpose": _TEXT,
        "last_change": _TEXT,
    },
    "releases": {
        "recorded": {
            "type": "array",
            "items": _record(
                {
                    "release": _TEXT,
                    "modules": _NUMBER,
                    "user": {"type": "boolean"},
                    "digest": _TEXT,
                    "problems": _NUMBER,
                }
            ),
        },
        "missing": {"type": "array", "items": _record({"release": _TEXT, "reason": _TEXT})},
        "beyond": _TEXTS,
        "index_asked": _OR_NULL,
    },
    "record": {
        "recorded": {
            "type": "array",
            "items": _record(
                {"release": _TEXT, "path": _TEXT, "modules": _NUMBER, "fresh": {"type": "boolean"}}
            ),
        }
    },
    "bump": {
        "recorded": _record({"release": _TEXT, "modules": _NUMBER, "fresh": {"type": "boolean"}}),
        "previous": _OR_NULL,
        "clauses": _NUMBER,
        "wrong": _NUMBER,
        "proposals": {"type": "array", "items": {"type": "object"}},
        "differences": {
            "type": "array",
            "items": _record({"rule": _TEXT, "symbol": _TEXT, "old": _TEXT, "new": _TEXT}),
        },
        "plugins": {
            "type": "array",
            "items": _record(
                {"plugin": _TEXT, "verdict": _TEXT, "errors": _NUMBER, "warnings": _NUMBER}
            ),
        },
    },
}
"""Command → what its report holds beyond the frame."""


def schema(command: str) -> dict[str, Any]:
    """The JSON schema of one command's report."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Report of sglang-contracts {command}",
        "type": "object",
        "required": ["schema", "tool", "command", "releases", "notes"],
        "properties": {
            "schema": {"const": 1},
            "tool": {"type": "string", "pattern": "^sglang-contracts \\S+$"},
            "command": {"const": command},
            "plugin": {"$ref": "#/$defs/plugin"},
            "releases": {"type": "array", "items": {"$ref": "#/$defs/release"}},
            "notes": {"type": "array", "items": {"$ref": "#/$defs/note"}},
            "silenced": {"$ref": "#/$defs/silenced"},
            **FACTS[command],
        },
        "$defs": _DEFS,
    }


def schema_text(command: str) -> str:
    """The text of the published file."""
    return json.dumps(schema(command), indent=2) + "\n"


def write_all(folder: Path) -> None:
    """Write ``<command>.schema.json`` for every command."""
    for command in FACTS:
        (folder / f"{command}.schema.json").write_text(schema_text(command), encoding="utf-8")


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))
