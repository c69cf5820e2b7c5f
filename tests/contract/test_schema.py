import sys
from pathlib import Path

import jsonschema
import pytest

from sglang_contracts.contract.schema import inventory_schema, json_schema, schema_text

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CONTRACTS = Path(__file__).parents[2] / "contracts"
FILES = sorted(CONTRACTS.glob("*.toml"))
INVENTORY = CONTRACTS / "inventory"


def test_the_committed_schemas_are_current():
    committed = (CONTRACTS / "contract.schema.json").read_text(encoding="utf-8")
    assert committed == schema_text(json_schema())
    committed = (INVENTORY / "inventory.schema.json").read_text(encoding="utf-8")
    assert committed == schema_text(inventory_schema())


def test_the_schemas_are_schemas():
    jsonschema.Draft202012Validator.check_schema(json_schema())
    jsonschema.Draft202012Validator.check_schema(inventory_schema())


@pytest.mark.parametrize("path", sorted(INVENTORY.glob("*.toml")), ids=lambda path: path.stem)
def test_every_inventory_satisfies_its_schema(path):
    jsonschema.validate(tomllib.loads(path.read_text(encoding="utf-8")), inventory_schema())


@pytest.mark.parametrize(
    "bad", [{"behaviours": []}, {"contract": {"id": "a"}}, {"fields": {"x": {"note": "n"}}}]
)
def test_the_schema_of_inventories_refuses_what_the_loader_refuses(bad):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(bad, inventory_schema())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_contract_satisfies_the_schema(path):
    jsonschema.validate(tomllib.loads(path.read_text(encoding="utf-8")), json_schema())


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"contract": {"id": "a"}},
        {"contract": {"id": "a", "title": "t", "provider": "x", "consumer": "user", "sglang": ""}},
        {
            "contract": {
                "id": "a",
                "title": "t",
                "provider": "sglang",
                "consumer": "user",
                "sglang": ">=0.5",
            },
            "fields": {"x": {"dtpye": "int64"}},
        },
    ],
)
def test_the_schema_refuses_what_the_loader_refuses(bad):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(bad, json_schema())
