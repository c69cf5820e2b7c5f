"""The published schemas are those of the code, and schemas."""

from pathlib import Path

import jsonschema
import pytest

from sglang_contracts.report.schema import FACTS, schema, schema_text

FOLDER = Path(__file__).parents[2] / "docs" / "schemas"


@pytest.mark.parametrize("command", sorted(FACTS))
def test_published_schema_is_current(command):
    assert (FOLDER / f"{command}.schema.json").read_text(encoding="utf-8") == schema_text(command)


@pytest.mark.parametrize("command", sorted(FACTS))
def test_schema_is_a_schema(command):
    jsonschema.Draft202012Validator.check_schema(schema(command))
