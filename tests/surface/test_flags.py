"""Flags of a release: of which program, with what they take; routes and metrics beside them."""

from __future__ import annotations

import pytest

from sglang_contracts.surface import load_catalog
from sglang_contracts.surface.extract import extract
from sglang_contracts.surface.parsers import OF_SERVER, flags_of


def usage(text: str, module: str = "sglang.srt.server_args"):
    return extract(text.encode(), module, package=False)[1]


@pytest.mark.parametrize(
    ("annotation", "action", "kind", "nargs", "choices"),
    [
        ("int", "", "int", "", ""),
        ("Optional[float]", "", "float", "", ""),
        ("float | None", "", "float", "", ""),
        ("str", "", "", "", ""),
        ("bool", "store_true", "", "", ""),
        ("Optional[bool]", "store_true", "", "", ""),
        ("Optional[List[int]]", "", "int", "+", ""),
        ("list[str]", "", "", "+", ""),
        ("Optional[Literal['a', 'b']]", "", "", "", "['a', 'b']"),
    ],
)
def test_an_annotated_field_takes_what_the_release_makes_of_it(
    annotation, action, kind, nargs, choices
):
    text = f"class Fields:\n    some_name: A[{annotation}, 'help'] = None\n"
    [flag] = usage(text).flags
    assert flag.names == ("--some-name",)
    assert (flag.action, flag.type, flag.nargs, flag.choices) == (action, kind, nargs, choices)


def test_a_flag_that_stops_the_launch_is_refused():
    text = "p.add_argument('--old', action=DeprecatedAction, error_message='Use --new.')\n"
    [flag] = usage(text).flags
    assert (flag.refused, flag.deprecated) == (True, "Use --new.")


def test_a_variable_that_a_table_forwards_is_read():
    text = "_M = {'SGLANG_OLD_MS': 'SGLANG_NEW'}\nfor a, b in _M.items():\n    set(b, a)\n"
    assert usage(text, "sglang.srt.environ").environment == {
        "SGLANG_OLD_MS": "SGLANG_NEW",
        "SGLANG_NEW": "",
    }
    assert usage(text, "sglang.srt.other").environment == {}


def test_routes_and_metrics_are_registered():
    text = (
        "@app.get('/health')\ndef f(): ...\n"
        "@app.api_route('/generate', methods=['POST', 'PUT'])\ndef g(): ...\n"
        "client.get('/x', timeout=1, json={})\nsession.post('/y', body)\n"
        "Counter(name='sglang:requests_total', documentation='d')\n"
        "Gauge('sglang:tokens', 'd')\nname('sglang::scheduler')\n"
    )
    found = usage(text).registrations
    assert found["route"] == ("GET /health", "GET /x", "POST /generate", "PUT /generate")
    assert found["metric"] == ("sglang:requests_total", "sglang:tokens")


def test_a_program_takes_what_its_own_parser_registers():
    catalog = load_catalog()
    new = catalog.surface("0.5.23")
    server = new.flags_of(OF_SERVER)
    assert "--force" in new.flags()
    assert {"--tp-size", "--no-enable-tf32-matmul"} <= server.keys()
    assert not {"--force", "--num-gpus", "--batch-size"} & server.keys()
    assert "--batch-size" in new.flags_of("sglang.bench_one_batch")
    assert new.flags_of("sglang.bench_serving") == {}
    assert flags_of("no.program", []) == {}


def test_the_diffusion_servers_flags_are_recorded_apart():
    new = load_catalog().surface("0.5.23")
    assert "--num-gpus" not in new.flags()
    assert "--num-gpus" in new.flags_of("sglang.multimodal_gen")
