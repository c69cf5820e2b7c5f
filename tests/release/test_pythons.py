"""The static commands on every Python that users have: the same answers, the same exit codes.

Pythons are looked for on the path and among those of pyenv; those that are not there are skipped
with a sentence. Each gets the project installed by pip, as a user would.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "examples" / "before"
VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")

Run = Callable[..., subprocess.CompletedProcess]


def interpreter(version: str) -> str | None:
    """A Python of that version that starts; None: there is none on this machine."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    named = [f"python{version}", *map(str, sorted(pyenv.glob(f"{version}.*/bin/python")))]
    for each in named:
        try:
            done = subprocess.run([each, "--version"], capture_output=True, text=True, check=False)
        except OSError:
            continue
        if done.returncode == 0 and done.stdout.startswith(f"Python {version}."):
            return each
    return None


@pytest.fixture(scope="module", params=VERSIONS)
def run(request, tmp_path_factory) -> Run:
    """Runs a command of the project, installed into an environment of one Python."""
    python = interpreter(request.param)
    if python is None:
        pytest.skip(f"there is no Python {request.param} on this machine")
    home = tmp_path_factory.mktemp(f"python{request.param}")
    subprocess.run([python, "-I", "-m", "venv", home / "venv"], check=True)
    own = home / "venv" / "bin" / "python"
    install = [own, "-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", ROOT]
    subprocess.run(install, check=True)
    variables = {**os.environ, "SGLANG_CONTRACTS_CACHE": str(home / "cache")}
    variables.pop("PYTHONPATH", None)

    def command(*arguments: object, to: str = "") -> subprocess.CompletedProcess:
        words = [str(home / "venv" / "bin" / "sglang-contracts"), *map(str, arguments)]
        with open(to or os.devnull, "w") as stdout:  # noqa: PTH123 - a device
            return subprocess.run(
                words,
                cwd=home,
                env=variables,
                stdout=stdout if to else subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )

    command.home = home
    return command


ANSWERS = {
    "check": (("check", PLUGIN, "--format", "json"), 1),
    "matrix": (("matrix", PLUGIN, "--format", "json"), 1),
    "uses": (("uses", PLUGIN, "--format", "json"), 0),
    "upgrade": (("upgrade", PLUGIN, "--from", "0.5.12", "--to", "0.5.16", "--format", "json"), 1),
    "verify": (("verify", "--format", "json"), 0),
    "explain": (("explain", "sglang.srt.server_args:ServerArgs.tp_size"), 0),
}
first: dict[str, str] = {}
"""The answer of the first Python: the others must give the same bytes."""


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_are_the_same_to_the_byte(name, run):
    command, code = ANSWERS[name]
    cold, warm = run(*command), run(*command)
    assert cold.returncode == code, cold.stderr
    assert "Traceback" not in cold.stderr
    assert warm.stdout == cold.stdout
    assert cold.stdout == first.setdefault(name, cold.stdout)


ODD = {
    "brackets.py": "import sglang\nx = " + "(" * 300 + "1" + ")" * 300,
    "signs.py": "import sglang\nx = " + "-" * 20_000 + "1",
    "a_chain.py": "import sglang\nx = sglang" + ".a" * 20_000,
    "a_null.py": "import sglang\n\0",
    "from_3_12.py": "import sglang\nx = f'{a['b']}'\ntype Y = int\n",
    "of_python_2.py": "import sglang\nprint 'a'",
}


@pytest.mark.parametrize("name", ODD)
def test_a_file_that_is_hard_to_parse_is_no_traceback(name, run):
    (run.home / name).write_text(ODD[name])
    done = run("check", name, "--release", "0.5.23")
    assert done.returncode in (0, 1, 2)
    assert "Traceback" not in done.stderr
    assert "defect" not in done.stderr
    strict = run("check", name, "--release", "0.5.23", "--strict")
    assert (strict.returncode != 0) == ("unknown" in done.stdout or done.returncode != 0)


CODES = {
    "no such plugin": (("check", "nothing"), 2),
    "no such command": (("chekc", "."), 2),
    "no such release": (("check", PLUGIN, "--release", "9.9.9"), 2),
    "never fails": (("check", PLUGIN, "--fail-on", "never"), 0),
    "help": (("--help",), 0),
    "version": (("--version",), 0),
}


@pytest.mark.parametrize("name", CODES)
def test_exit_codes_are_the_same(name, run):
    command, code = CODES[name]
    done = run(*command)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["--help", "check --help", "--version", "explain --list"])
def test_a_full_device_is_exit_two(command, run):
    if not Path("/dev/full").exists():
        pytest.skip("needs a device that is always full")
    done = run(*command.split(), to="/dev/full")
    assert done.returncode == 2
    assert done.stderr.startswith("error: cannot read or write: No space left on device")
    assert "Exception ignored" not in done.stderr


def test_links_that_lead_to_each_other_are_no_output(run):
    for name, target in (("itself", "itself"), ("one", "other"), ("other", "one")):
        (run.home / name).symlink_to(target)
    for output in ("itself", "one", "one/x"):
        done = run("check", PLUGIN, "--output", output)
        assert done.returncode == 2
        assert "leads to itself" in done.stderr
    assert (run.home / "itself").is_symlink()
