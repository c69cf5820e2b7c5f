"""The JSON schemas of contract files, for editors; generated from :mod:`contract.keys`.

``python -m sglang_contracts.contract.schema`` prints that of contracts, and with ``inventory`` as
argument that of their inventories; what it prints is committed as
``contracts/contract.schema.json`` and ``contracts/inventory/inventory.schema.json``.
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
    for name, table in {**keys.SECTIONS, **keys.STATEMENTS}.items():
        properties[name] = {"type": "object", "additionalProperties": _table(table)}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "sglang-contracts contract",
        "type": "object",
        "additionalProperties": False,
        "required": ["contract"],
        "properties": properties,
    }


def inventory_schema() -> dict[str, object]:
    """The schema that every file in ``contracts/inventory/`` satisfies."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "sglang-contracts inventory of a contract",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            name: {"type": "object", "additionalProperties": _table(table)}
            for name, table in keys.INVENTORY.items()
        },
    }


def schema_text(schema: Mapping[str, object]) -> str:
    """The committed text of a schema."""
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    chosen = inventory_schema() if sys.argv[1:] == ["inventory"] else json_schema()
    sys.stdout.write(schema_text(chosen))
