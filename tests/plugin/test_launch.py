"""Launch commands: only SGLang's own, wherever they stand."""

from __future__ import annotations

import ast

import pytest

from sglang_contracts.plugin.launch.command_words import Word, scan_python, scan_text, words


def flags(found: list[Word]) -> list[tuple[str, str | None, int]]:
    return [(word.name, word.value, word.line) for word in found if word.is_flag]


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        (
            "shell",
            "python -m sglang.launch_server --tp 2 \\\n  --dp=4\nls --all\n",
            [("--tp", "2", 1), ("--dp", "4", 2)],
        ),
        ("shell", "sglang serve --port 1\n", [("--port", "1", 1)]),
        ("shell", "# python -m sglang.launch_server --tp 2\ngrep --color x\n", []),
        (
            "docker",
            'CMD ["python", "-m", "sglang.launch_server", "--tp", "2"]\n',
            [("--tp", "2", 1)],
        ),
        (
            "yaml",
            "args:\n  - sglang.launch_server\n  - --tp\n  - --dp=2\nother:\n  x: --no\n",
            [("--tp", None, 3), ("--dp", "2", 4)],
        ),
        (
            "yaml",
            "args:\n  - sglang.launch_server\n  - --tp\n  - '2'\n  - --dp\n  - $(DP)\n",
            [("--tp", "2", 3), ("--dp", "$", 5)],
        ),
        (
            "markdown",
            "use `sglang.launch_server --no 1`\n```bash\n"
            "python -m sglang.launch_server --tp 2\n```\n--later\n",
            [("--tp", "2", 3)],
        ),
        (  # grown word by word, and only where a launch names it
            "shell",
            'ARGS="--tp 2"\nif x; then\n  ARGS="$ARGS --dp 4"\nfi\nARGS+=" --ep 8"\n'
            'OTHER="--no 1"\nother $OTHER\npython -m sglang.launch_server $ARGS\n',
            [("--tp", "2", 1), ("--dp", "4", 3), ("--ep", "8", 5)],
        ),
        (  # lists, over several lines, one named by another
            "shell",
            "MORE=(--dp 4)\nexport ARGS=(\n  --tp 2\n  ${MORE[@]}\n)\nARGS+=(--ep 8)\n"
            'exec sglang serve --model-path /m \\\n  "${ARGS[@]}"\n',
            [
                ("--model-path", "/m", 7),
                ("--tp", "2", 3),
                ("--ep", "8", 6),
                ("--dp", "4", 1),
            ],
        ),
        (  # a variable that is the command; what launches it has flags of its own
            "shell",
            'CMD="docker run --gpus all x \\\n  python -m sglang.launch_server --tp 2"\n'
            'CMD+=" --dp 4"\neval "$CMD"\n',
            [("--tp", "2", 2), ("--dp", "4", 3)],
        ),
        (
            "docker",
            'ENV ARGS="--tp 2" LOG="--no 1"\nCMD python -m sglang.launch_server $ARGS\n',
            [("--tp", "2", 1)],
        ),
    ],
)
def test_flags_of_a_launch_command_are_found_and_no_others(
    kind: str, text: str, expected: list[tuple[str, str | None, int]]
) -> None:
    assert flags(scan_text(text, kind)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "c = ['python', '-m', 'sglang.launch_server', '--tp', '2', '--flag', '--dp=3']",
            [("--tp", "2", 1), ("--flag", None, 1), ("--dp", "3", 1)],
        ),
        ("c = ['sglang', 'serve']\nc += ['--tp', '2']", [("--tp", "2", 2)]),
        ("c = 'python -m sglang.launch_server --tp 2'", [("--tp", "2", 1)]),
        (
            "from sglang.srt.server_args import prepare_server_args\n"
            "prepare_server_args(['--tp', '2'])",
            [("--tp", "2", 2)],
        ),
        (
            "c = 'python -m sglang.launch_server'\nc += ' --tp 2 --flag'\nd = ' --- no'",
            [("--tp", "2", 2), ("--flag", "$", 2)],
        ),
        (
            "POD = '''\ncommand: [python3, -m, sglang.launch_server]\nargs:\n  - --tp\n"
            "  - 2  # cards\n  - --flag\n  - --dp=3\n'''",
            [("--tp", "2", 4), ("--flag", None, 6), ("--dp", "3", 7)],
        ),
        (
            "c = ['sglang', 'serve']\nd = {'--tp': '2', '--flag': x}\n"
            "for k, v in d.items():\n    c += [k, v]",
            [("--tp", "2", 2), ("--flag", "$", 2)],
        ),
        ("c = ['ls', '--all']", []),
        ("c = ['sglang.launch_server']\np.add_argument('--ours')", []),
        ("def f():\n    '''sglang.launch_server --tp 2'''", []),
    ],
)
def test_flags_in_python_are_found_where_sglang_is_launched(
    text: str, expected: list[tuple[str, str | None, int]]
) -> None:
    assert flags(scan_python(tuple(ast.walk(ast.parse(text))))) == expected


def test_a_command_line_is_taken_apart_with_its_environment() -> None:
    found = list(
        words(["SGLANG_X=1", "python", "-m", "sglang.launch_server", "--a", "1", "--b=2", "--c"])
    )
    assert [(word.name, word.value) for word in found] == [
        ("SGLANG_X", "1"),
        ("--a", "1"),
        ("--b", "2"),
        ("--c", None),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "S = 'python -m sglang.launch_server'\nrun(['ray', 'stop', '--force'])",
        "S = 'python -m sglang.launch_server'\nrun(['python', 'x.py', '--tokenizer_path', 'm'])",
        "S = 'python -m sglang.launch_server'\nraise SystemExit('--baseline-file must be given')",
        "run(['pkill', '-f', 'sglang.launch_server'])\nrun(['ls', '--all'])",
        "d = ['docker', 'run', '--gpus', 'all']\nc = d + ['python', '-m', 'sglang.launch_server']",
        "run(['bash', '-c', 'python -m sglang.launch_server; ray stop --force'])",
        "run(['sglang', 'generate', '--num-gpus', '2'])",
        "run(['sglang', 'serve', '--model-type', 'diffusion', '--num-gpus', '2'])",
        "run(['python', '-m', 'sglang.bench_serving', '--backend', 'sglang'])",
        "run(['python', '-m', 'sglang_router.launch_router', '--policy', 'x'])",
        "def run(c):\n    call(c)\nrun(['sglang', 'serve'])\nrun(['ray', 'stop', '--force'])",
    ],
)
def test_flags_of_other_programs_are_theirs(text: str) -> None:
    assert flags(scan_python(tuple(ast.walk(ast.parse(text))))) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "M = 'sglang.launch_server'\nc = [python, '-m', M, '--tp', '2']",
            [("--tp", "2", 2)],
        ),
        (  # a map joined to flags
            "O = {'model-path': 'm', 'tp_size': 8}\nc = ['sglang', 'serve']\n"
            "for k, v in O.items():\n    c += [f'--{k}', str(v)]",
            [("--model-path", "m", 1), ("--tp-size", "8", 1)],
        ),
        (
            "def launch(args):\n    run(['python', '-m', 'sglang.launch_server', *args])\n"
            "launch(['--tp', '2'])\nother(['--no'])",
            [("--tp", "2", 3)],
        ),
        (
            "class S:\n    def __init__(self):\n        self.c = ['sglang', 'serve']\n"
            "        self.c.append('--tp')\n        self.o = []\n        self.o.append('--no')",
            [("--tp", "$", 4)],
        ),
        (
            "def args():\n    a = ['--tp', '2']\n    a.extend(['--dp', str(n)])\n    return a\n"
            "c = ['python', '-m', 'sglang.launch_server'] + args()",
            [("--tp", "2", 2), ("--dp", "$", 3)],
        ),
        (
            "c = f'python -m sglang.launch_server --tp {n} {more}'\nmore = '--dp 2'\nno = '--no'",
            [("--tp", "$", 1), ("--dp", "2", 2)],
        ),
        (
            "c = ' '.join(['python -m sglang.launch_server', '--tp 2', f'--dp {n}'])",
            [("--tp", "2", 1), ("--dp", "$", 1)],
        ),
        (
            "c = 'python -m sglang.launch_server --tp {} {}'.format(2, '--dp 3')",
            [("--tp", "$", 1), ("--dp", "3", 1)],
        ),
        (
            "def base():\n    return ['sglang', 'serve']\nc = base()\nc += ['--tp', '2']",
            [("--tp", "2", 4)],
        ),
        (
            "A = {'a': ['--tp', '2'], 'b': ['--dp', '3']}\nc = ['sglang', 'serve', *A['b']]",
            [("--dp", "3", 1)],
        ),
        ("popen_launch_server(m, u, timeout=3, other_args=['--tp', '2'])", [("--tp", "2", 1)]),
        (
            "p = ArgumentParser()\nServerArgs.add_cli_args(p)\np.add_argument('--mine')\n"
            "p.parse_args(['--tp', '2', '--mine', '3'])",
            [("--tp", "2", 4)],
        ),
    ],
)
def test_what_flows_into_a_launch_belongs_to_it(
    text: str, expected: list[tuple[str, str | None, int]]
) -> None:
    assert flags(scan_python(tuple(ast.walk(ast.parse(text))))) == expected


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        (
            "shell",
            "ray stop --force; python -m sglang.launch_server --tp 2 | tee --append log\n"
            "python other.py --no\n",
            [("--tp", "2", 1)],
        ),
        (
            "shell",
            'go() {\n  python -m sglang.launch_server "$@"\n}\ngo --tp 2\nstop --no\n',
            [("--tp", "2", 4)],
        ),
        (
            "docker",
            'FROM x\nENTRYPOINT ["python3", "-m", "sglang.launch_server"]\nCMD ["--tp", "2"]\n',
            [("--tp", "2", 3)],
        ),
        (
            "yaml",
            "a:\n  entrypoint: python3 -m sglang.launch_server\n  command: >\n    --model-path x\n"
            "    --tp 2\nb:\n  command: [x, --no]\n",
            [("--model-path", "x", 4), ("--tp", "2", 5)],
        ),
        (
            "yaml",
            "containers:\n{{- range .x }}\n- image: lmsysorg/sglang:v1\n  args:\n"
            "  - --tp={{ .tp }}\n  - --dp\n  - '4'\n{{- end }}\n",
            [("--tp", "$", 5), ("--dp", "4", 6)],
        ),
    ],
)
def test_only_the_command_that_starts_the_server_is_its(
    kind: str, text: str, expected: list[tuple[str, str | None, int]]
) -> None:
    assert flags(scan_text(text, kind)) == expected
