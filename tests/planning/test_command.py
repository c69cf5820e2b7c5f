"""``plan`` on the command line."""

import json
import subprocess
import sys

import jsonschema
import pytest

from sglang_contracts.cli import main
from sglang_contracts.report.schema import schema


def ran(capsys, *words):
    code = main(["plan", *map(str, words)])
    return code, capsys.readouterr()


def test_it_says_how_the_card_is_divided(model, capsys):
    code, said = ran(
        capsys, model(), "--tp-size", 8, "--card-memory", 64, "--mem-fraction-static", 0.85
    )
    assert code == 0
    assert "435.2 GiB in all" in said.out
    assert "keys and values of shared heads (GQA)" in said.out


def test_what_does_not_start_exits_1_and_says_what_to_do(model, capsys):
    code, said = ran(capsys, model(), "--card-memory", "64GiB", "--mem-fraction-static", 0.8)
    assert code == 1
    text = " ".join(said.out.split())
    assert "error: the weights take 61.0 GiB of the 51.2 GiB" in text
    assert "--mem-fraction-static 0.9" in text


@pytest.mark.parametrize(("strict", "code"), [((), 0), (("--strict",), 1)])
def test_requests_that_queue_fail_where_it_is_strict(model, capsys, strict, code):
    words = (model(), "--tp-size", 8, "--card-memory", 32, "--requests", 128, "--context", 8192)
    found, said = ran(capsys, *words, *strict)
    assert found == code
    assert "128 are wanted" in " ".join(said.out.split())


def test_the_json_is_as_its_schema_says(model, capsys):
    code, said = ran(capsys, model(), "--tp-size", 3, "--card-memory", 64, "--format", "json")
    document = json.loads(said.out)
    jsonschema.validate(document, schema("plan"))
    assert code == 1
    assert document["plan"]["release"]
    assert document["concerns"][0]["id"] == "heads-do-not-divide"


def test_markdown_has_a_table_and_the_concerns(model, capsys):
    _, said = ran(capsys, model(), "--tp-size", 3, "--card-memory", 64, "--format", "markdown")
    assert "| KV pool |" in said.out
    assert "- **error**: 40 query heads" in said.out


@pytest.mark.parametrize("memory", ["64", "64GiB", "64g", "65536MiB", "68.719476736GB"])
def test_memory_is_written_as_people_do(model, capsys, memory):
    _, said = ran(capsys, model(), "--tp-size", 8, "--card-memory", memory, "--format", "json")
    assert json.loads(said.out)["card"] == 64 << 30


def test_what_is_no_memory_cannot_run(model, capsys):
    code, said = ran(capsys, model(), "--card-memory", "much")
    assert code == 2
    assert "64GiB" in said.err


def test_it_needs_neither_torch_nor_sglang(model):
    code = (
        "import sys\nfrom sglang_contracts.cli import main\n"
        f"code = main(['plan', {str(model())!r}, '--card-memory', '96', '-q'])\n"
        "bad = {m.split('.')[0] for m in sys.modules} & {'torch', 'sglang', 'numpy'}\n"
        "sys.exit(str(bad) if bad else code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
