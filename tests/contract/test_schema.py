import sys
from pathlib import Path

import jsonschema
import pytest

from sglang_contracts.contract.schema import json_schema, schema_text

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CONTRACTS = Path(__file__).parents[2] / "contracts"
FILES = sorted(CONTRACTS.glob("*.toml"))


def test_the_committed_schema_is_current():
    assert (CONTRACTS / "contract.schema.json").read_text(encoding="utf-8") == schema_text()


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(json_schema())


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
