"""The JSON schema of contract files, for editors; generated from :mod:`contract.keys`.

``python -m sglang_contracts.contract.schema`` prints it; what it prints is committed as
``contracts/contract.schema.json``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping

from sglang_contracts.contract import keys
from sglang_contracts.contract.keys import Form, Key
from sglang_contracts.contract.model import Role

_TEXT: dict[str, object] = {"type": "string"}
_LIST: dict[str, object] = {"type": "array", "items": _TEXT}
_TEXTS: dict[str, object] = {"anyOf": [_TEXT, _LIST]}


def _by_release(value: Mapping[str, object]) -> dict[str, object]:
    row = {
        "type": "object",
        "additionalProperties": False,
        "required": ["sglang", "value"],
        "properties": {"sglang": _TEXTS, "value": dict(value)},
    }
    return {"anyOf": [dict(value), {"type": "array", "items": row}]}


def _table(table: Mapping[str, Key]) -> dict[str, object]:
    properties = {name: _form(key, name) for name, key in table.items()}
    required = [name for name, key in table.items() if key.required]
    found: dict[str, object] = {
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
    }
    if required:
        found["required"] = required
    return found


def _form(key: Key, name: str) -> dict[str, object]:
    replacement = _table(keys.REPLACEMENT) if key.form is Form.REPLACED_BY else {}
    forms: dict[Form, dict[str, object]] = {
        Form.TEXT: _TEXT,
        Form.TEXTS: _TEXTS,
        Form.LIST: _LIST,
        Form.NUMBER: {"type": "integer", "minimum": 0},
        Form.FLAG: {"type": "boolean"},
        Form.SEVERITY: {"enum": ["error", "warning", "note"]},
        Form.DEVICE: {"enum": ["compute", "host"]},
        Form.SIDE: {"enum": list(keys.SIDES)},
        Form.BY_RELEASE_TEXT: _by_release(_TEXT),
        Form.BY_RELEASE_TEXTS: _by_release(_TEXTS),
        Form.REPLACED_BY: {"anyOf": [replacement, {"type": "array", "items": replacement}]},
    }
    if key.form is Form.RETURNS:
        found = _by_release(_table(keys.RETURNS))
    elif key.form is Form.KV_WRITES:
        found = _table(keys.KV_WRITES)
    elif key.form is Form.ON:
        found = _table(keys.ON)
    elif key.form is Form.SHOWN:
        found = _table(keys.SHOWN)
    else:
        found = dict(forms[key.form])
    if name == "role":
        found = {"enum": [role.value for role in Role]}
    found["description"] = key.text
    return found


def json_schema() -> dict[str, object]:
    """The schema (JSON Schema draft 2020-12) that every contract file satisfies."""
    properties: dict[str, object] = {
        "contract": _table(keys.CONTRACT),
        "dims": {"type": "object", "additionalProperties": _TEXT},
        "layouts": {"type": "object", "additionalProperties": _LIST},
    }
    for name, table in keys.SECTIONS.items():
        properties[name] = {"type": "object", "additionalProperties": _table(table)}
    for name, table in keys.LISTS.items():
        properties[name] = {"type": "array", "items": _table(table)}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "sglang-contracts contract",
        "type": "object",
        "additionalProperties": False,
        "required": ["contract"],
        "properties": properties,
    }


def schema_text() -> str:
    """The committed text of the schema."""
    return json.dumps(json_schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
