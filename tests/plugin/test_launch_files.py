"""Every form of file: its launch flags are found at their lines, and nobody else's."""

from __future__ import annotations

import pytest

from sglang_contracts.plugin.ir.records import UseKind
from sglang_contracts.plugin.plugin import open_plugin
from sglang_contracts.surface import load_catalog
from sglang_contracts.verify import check_plugin

GONE, KEPT = "--cuda-graph-max-bs", "--max-running-requests"
"""A flag that 0.5.20 has no more, and one that every release has."""
S = "python -m sglang.launch_server --model-path m"
FORMS = {
    "run.sh": (f"ray stop --force\n{S} \\\n  FLAG 8\n", 3),
    "run.bash": (f'A=(--dp 2)\nA+=(FLAG 8)\n{S} "${{A[@]}}"\n', 2),
    "serve": (f"#!/bin/sh\nexec {S} FLAG 8\n", 2),
    "job.slurm": (f"#SBATCH --gpus 8\nsrun {S} FLAG 8\n", 2),
    "Makefile": (f"ARGS := FLAG 8\nserve:\n\t{S} $(ARGS)\n", 1),
    "justfile": (f"serve:\n  {S} FLAG 8\n", 2),
    "rules.mk": (f"serve:\n\t{S} FLAG 8\n", 2),
    "a.service": (f"[Service]\nExecStart=/usr/bin/{S} FLAG 8\n", 2),
    "super.conf": (f"[program:a]\ncommand={S}\n  FLAG 8\n", 3),
    "super.ini": (f"[program:a]\ncommand={S} FLAG 8\n", 2),
    "Procfile": (f"web: {S} FLAG 8\n", 1),
    "run.bat": (f"{S} ^\n  FLAG 8\n", 2),
    "run.ps1": (f"{S} `\n  FLAG 8\n", 2),
    "run.sh.j2": (f"{S} {{{{ more }}}} \\\n{{% if x %}}\n  FLAG 8\n", 3),
    "Jenkinsfile": (f"stage('x') {{\n  sh '{S} FLAG 8'\n}}\n", 2),
    "Dockerfile": (
        'FROM x\nENTRYPOINT ["python", "-m", "sglang.launch_server"]\nCMD ["FLAG", "8"]\n',
        3,
    ),
    "x.dockerfile": (f"FROM x\nRUN ls --all\nCMD {S} FLAG 8\n", 3),
    "compose.yaml": (
        f"services:\n  a:\n    entrypoint: {S}\n    command: FLAG 8\n  b:\n    command: x --no\n",
        4,
    ),
    "pod.yml": (
        "containers:\n- image: lmsysorg/sglang:v1\n  args:\n  - FLAG\n  - '8'\n",
        4,
    ),
    "chart.yaml.j2": (
        f'{{{{- if x }}}}\na:\n  command: [sh, -c, "{S} FLAG 8"]\n{{{{- end }}}}\n',
        3,
    ),
    "values.yaml": ("sglang_config:\n  model_path: m\n  KEY: 8\n", 3),
    "serve.yaml": ("llm:\n  backend: sglang\n  engine_kwargs:\n    KEY: 8\n", 4),
    "config.yaml": ("# sglang\nmodel-path: m\nKEY: 8\n", 3),
    "launch.json": ('{"a": [{"module": "sglang.launch_server", "args": ["FLAG", "8"]}]}\n', 1),
    "run.toml": (f'[run]\ncommand = "{S} FLAG 8"\n', 2),
    "list.toml": ('[run]\nc = ["sglang", "serve", "FLAG", "8"]\n', 2),
    "main.tf": ('command = ["python", "-m", "sglang.launch_server", "FLAG", "8"]\n', 1),
    "doc.md": (f"Use --no.\n\n```bash\n$ {S} FLAG 8\n```\n", 4),
    "doc.mdx": (f"```shell\n{S} \\\n  FLAG 8\n```\n", 3),
    "code.md": ("```python\nc = ['sglang', 'serve', 'FLAG', '8']\n```\n", 2),
    "list.py": ("C = ['python', '-m', 'sglang.launch_server', 'FLAG', '8']\n", 1),
    "map.py": (
        "O = {'KEY': 8}\nc = ['sglang', 'serve']\nfor k, v in O.items():\n"
        "    c += [f'--{k}', str(v)]\n",
        1,
    ),
    "test_utils.py": ("popen_launch_server(m, u, 3, other_args=['FLAG', '8'])\n", 1),
    "parse.py": (
        "p = ArgumentParser()\nServerArgs.add_cli_args(p)\np.parse_args(['FLAG', '8'])\n",
        3,
    ),
    "nb.ipynb": (
        '{"cells": [{"cell_type": "code", "source": '
        '["c = [\\"sglang\\", \\"serve\\", \\"FLAG\\", \\"8\\"]"]}], '
        '"nbformat": 4, "nbformat_minor": 5, "metadata": {}}\n',
        1,
    ),
}


def flags(folder):
    return [
        (use.name, use.line)
        for file in open_plugin(folder).extract().files
        for use in file.uses
        if use.kind is UseKind.FLAG and use.name != "--model-path"
    ]


def write(folder, name, flag):
    text = FORMS[name][0].replace("FLAG", flag).replace("KEY", flag[2:])
    (folder / name).write_text(text)


@pytest.mark.parametrize("name", FORMS)
def test_a_flag_is_found_at_its_line_and_no_other(tmp_path, name):
    write(tmp_path, name, GONE)
    found = [each for each in flags(tmp_path) if each[0] != "--dp"]
    assert found == [(GONE, FORMS[name][1])]


@pytest.mark.parametrize("flag", [GONE, KEPT])
def test_a_retired_flag_is_reported_in_each_form_and_a_valid_one_in_none(tmp_path, flag):
    for name in FORMS:
        write(tmp_path, name, flag)
    (tmp_path / "test_utils.py").rename(tmp_path / "utils.py")
    [release] = check_plugin(tmp_path, load_catalog(), ["0.5.23"]).releases
    told = {place.file for each in release.findings for place in each.locations}
    wanted = {"utils.py" if name == "test_utils.py" else name for name in FORMS}
    assert told == (wanted if flag == GONE else set())


@pytest.mark.parametrize("name", ["pyproject.toml", "data.json", "Makefile", "x.conf", "LICENSE"])
def test_a_file_that_starts_no_server_is_not_read(tmp_path, name):
    (tmp_path / "p.py").write_text("")
    (tmp_path / name).write_text("[a.'sglang.srt.plugins']\nx = ['--no', '1']\n")
    assert [each.path for each in open_plugin(tmp_path).sources.files] == ["p.py"]


def test_variables_of_sglangs_own_without_its_prefix(tmp_path):
    (tmp_path / "p.py").write_text(
        "import os, sglang\nos.environ['USE_VLLM_CUTLASS_W8A8_FP8_KERNEL'] = '1'\n"
        "os.environ['TORCH_CUDA_ARCH_LIST'] = '9.0'\n"
    )
    [release] = check_plugin(tmp_path, load_catalog(), ["0.5.11"]).releases
    assert [each.symbol for each in release.findings] == ["env:USE_VLLM_CUTLASS_W8A8_FP8_KERNEL"]
