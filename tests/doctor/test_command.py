"""``doctor`` on the command line, and what a running server tells."""

import importlib.util
import json
from pathlib import Path

import jsonschema
import pytest

from sglang_contracts.cli import main
from sglang_contracts.doctor import Host, Status, diagnose
from sglang_contracts.errors import ContractsError
from sglang_contracts.plugin.reading.settings import Settings, parse_settings
from sglang_contracts.report.schema import schema
from sglang_contracts.serving.client import Client

PLUGIN = "sglang-kunlun-reference"


@pytest.fixture
def server():
    """Starts fake servers with faults."""
    place = Path(__file__).parents[1] / "serving" / "fake_server.py"
    spec = importlib.util.spec_from_file_location("doctor_fake_server", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    started = []

    def start(*faults):
        started.append(module.FakeServer(faults))
        return Client(started[-1].url, "K", {"x-fake-token": "T"}, timeout=30)

    yield start
    for each in started:
        each.end()


def asked(client):
    capabilities = {
        "kernels": {"prefill": ["fake_ops:prefill"], "decode": ["fake_ops:decode"]},
        "service": {"kernel-metric": "fake:batches_total"},
    }
    host = Host(settings=Settings(capabilities=capabilities), client=client)
    return {check.id: diagnosis for check, diagnosis in diagnose(host)}


def test_a_healthy_server_gives_no_finding(server):
    client = server()
    asked(client)  # it has served something
    found = asked(client)
    assert found["answers.are-not-mixed-up"].status is Status.OK
    assert found["kernels.are-the-declared-ones"].status is Status.OK
    assert found["memory.pool-suffices"].status is Status.OK


def test_a_server_that_mixes_up_answers(server):
    said = asked(server("swapped"))["answers.are-not-mixed-up"]
    assert said.status is Status.FOUND
    assert "of request" in said.evidence[0]


def test_a_server_that_runs_on_a_fall_back_kernel(server):
    client = server("fallback")
    asked(client)
    said = asked(client)["kernels.are-the-declared-ones"]
    assert said.evidence == ("EXTEND ran on torch.sdpa; declared: fake_ops.prefill",)


def test_a_server_that_is_not_there_ends_nothing():
    found = asked(Client("http://127.0.0.1:9", timeout=5))
    assert found["memory.pool-suffices"].status is Status.UNKNOWN
    assert found["platform.plugins-are-loaded"].status is not None


def test_each_check_is_printed_and_the_json_is_as_its_schema_says(capsys, tmp_path):
    log = tmp_path / "server.log"
    log.write_text("KV cache pool is full. Retract requests.\n")
    code = main(["doctor", PLUGIN, "--log", str(log), "--format", "json"])
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schema("doctor"))
    assert code == 1
    by_id = {each["check"]: each for each in document["diagnoses"]}
    assert by_id["memory.pool-suffices"]["status"] == "found"
    assert main(["doctor", PLUGIN, "--log", str(log)]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "seen as: worse with concurrency mend: a larger --mem-fraction-static" in said
    assert main(["doctor", PLUGIN, "--log", str(log), "--format", "markdown", "-q"]) == 1
    assert "| found | `memory.pool-suffices` |" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["no-such-plugin"], "is installed"),
        ([PLUGIN, "--log", "/no/such.log"], "cannot read"),
        ([PLUGIN, "--server", "http://127.0.0.1:1", "--header", "x"], "has no value"),
        ([PLUGIN, "--server", "nowhere"], "is no URL"),
    ],
)
def test_what_cannot_be_looked_at_cannot_run(capsys, words, said):
    assert main(["doctor", *words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('[tool.sglang-contracts.doctor]\nkernel_cache = "x"', "kernel-cache"),
        ('[tool.sglang-contracts.combination]\ntorch = ">=two"', "no version|not a version"),
        ("[tool.sglang-contracts.combination]\ntorch = 2", "must be a string"),
        ("[tool.sglang-contracts]\ndoctor = 1", "must be a table"),
    ],
)
def test_settings_that_mean_nothing_are_refused(table, said):
    with pytest.raises(ContractsError, match=said):
        parse_settings(table, "pyproject.toml")
