"""Nothing from the folder that a command stands in is imported: it may be a stranger's."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

NAMES = (
    "__future__ _bootlocale argparse ast base64 bisect click concurrent configparser csv ctypes"
    " datetime decimal distutils email encodings fractions getpass gzip hashlib html http"
    " importlib_metadata json locale logging msgspec multiprocessing netrc numbers optparse"
    " packaging pathlib pip pkg_resources platform platformdirs queue random re rich secrets"
    " setuptools sglang shutil signal sitecustomize socket ssl statistics string struct subprocess"
    " sysconfig tempfile textwrap threading tomli tomlkit tomllib torch traceback truststore typing"
    " typing_extensions unicodedata urllib urllib3 uuid usercustomize xml yaml zipfile zlib"
    " zstandard"
)
PLANTED = NAMES.split()

AUDIT = """
import os, sys
_folder = os.environ.get("AUDITED_FOLDER", "")
_log = os.open(os.environ["AUDIT_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT) if _folder else -1

def _hook(event, arguments):
    if event == "exec":
        path = getattr(arguments[0], "co_filename", "")
    elif event in ("open", "os.listdir"):
        path = arguments[0]
    else:
        return
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    if not isinstance(path, str) or path.startswith("<"):
        return
    absolute = os.path.isabs(path)
    path = os.path.join(os.getcwd(), path)
    # A folder that is removed is opened relative to another's descriptor, which no event tells.
    if not absolute and not os.path.lexists(path):
        return
    if path == _folder or path.startswith(_folder + os.sep):
        os.write(_log, (event + " " + path + "\\n").encode())

if _folder:
    sys.addaudithook(_hook)
    os.write(_log, ("started " + repr(sys.orig_argv) + "\\n").encode())
"""


@pytest.fixture(scope="module")
def interpreter(tmp_path_factory) -> Path:
    """A Python with this one's packages, that writes down what it does with the audited folder.

    The hook is in a ``.pth`` file: neither ``-I`` nor ``-E`` leaves it out.
    """
    home = tmp_path_factory.mktemp("interpreter")
    venv.create(home, symlinks=True)
    paths = {"base": str(home), "platbase": str(home)}
    site = Path(sysconfig.get_path("purelib", vars=paths))
    shared = [each for each in sys.path if each.endswith("-packages")]
    adding = "; ".join(f"site.addsitedir({each!r})" for each in shared)
    # A checkout that is only found by the folder that the tests run in is found by the name.
    package = Path(__file__).parents[2]
    (site / "_shared.pth").write_text(f"import site; {adding}\n{package}\n")
    (site / "_audit.py").write_text(AUDIT)
    (site / "_audit.pth").write_text("import _audit\n")
    script = home / "bin" / "sglang-contracts"
    script.write_text("import sys\nfrom sglang_contracts.cli import main\nsys.exit(main())\n")
    return home


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A plugin's folder in which a stranger has put modules of well-known names."""
    folder = tmp_path_factory.mktemp("stranger")
    (folder / "pyproject.toml").write_text(
        "[project]\nname = 'p'\nversion = '1'\n[tool.sglang-contracts]\n"
    )
    (folder / "plugin.py").write_text("from sglang.srt.utils import get_device\n")
    for name in PLANTED:
        (folder / f"{name}.py").write_text("PLANTED = True\n")
    return folder


@pytest.fixture(scope="module")
def wheels(tmp_path_factory) -> Path:
    """An index with one release."""
    folder = tmp_path_factory.mktemp("wheels")
    name = "sglang-99.0.0"
    with zipfile.ZipFile(folder / f"{name}-py3-none-any.whl", "w") as archive:
        archive.writestr("sglang/__init__.py", "")
        archive.writestr("sglang/srt/utils.py", "def get_device(): ...\n")
        archive.writestr(f"{name}.dist-info/METADATA", "Name: sglang\nVersion: 99.0.0\n")
        archive.writestr(f"{name}.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{name}.dist-info/RECORD", "")
    return folder


@pytest.fixture
def traced(interpreter, folder, wheels, tmp_path):
    """Run a command in the stranger's folder: (what it printed, what was done with the folder)."""
    log = tmp_path / "audit.log"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    variables = kept | {
        "AUDITED_FOLDER": str(folder),
        "AUDIT_LOG": str(log),
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheels),
        "SGLANG_CONTRACTS_CACHE": str(tmp_path / "cache"),
    }

    def run(start: list[str], *arguments: str) -> tuple[subprocess.CompletedProcess, list[str]]:
        command = [str(interpreter / "bin" / "python"), *start, *arguments]
        done = subprocess.run(
            command, cwd=folder, env=variables, capture_output=True, text=True, check=False
        )
        return done, log.read_text().splitlines()

    return run


MODULE = ["-m", "sglang_contracts.cli"]


def executed(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("exec ")]


STATIC = {
    "check": ("check", ".", "--release", "0.5.23"),
    "check for GitHub": ("check", ".", "--release", "0.5.23", "--format", "github"),
    "matrix": ("matrix", ".", "--releases", ">=0.5.23"),
    "uses": ("uses", "."),
    "can-upgrade": ("can-upgrade", ".", "0.5.23", "--from", "0.5.22"),
    "upgrade": ("upgrade", ".", "--from", "0.5.22", "--to", "0.5.23"),
    "diff": ("diff", "0.5.22", "0.5.23", "--for", "."),
    "launch-check": ("launch-check", "--", "sglang", "serve", "--model-path", "m"),
    "explain": ("explain", "field-removed"),
    "verify": ("verify", "--release", "0.5.23", "-c", "forward-batch"),
    "releases --offline": ("releases", "--offline"),
    "help": ("--help",),
}
ONLINE = {
    "check --online": ("check", ".", "--release", "0.5.23", "--online"),
    "check --record": ("check", ".", "--release", "99.0.0", "--record"),
    "bump": ("bump", "99.0.0"),
    "record": ("record", "99.0.0"),
    "releases": ("releases",),
}
ABOUT_NO_PLUGIN = {"explain", "verify", "releases --offline", "help", "record", "releases"}


@pytest.mark.parametrize("name", STATIC | ONLINE)
def test_nothing_of_the_current_folder_runs(name, interpreter, traced):
    command = (STATIC | ONLINE)[name]
    done, lines = traced([str(interpreter / "bin" / "sglang-contracts")], *command)
    assert done.returncode in (0, 1), done.stderr
    assert executed(lines) == []
    if name in ABOUT_NO_PLUGIN:
        assert [line for line in lines if not line.startswith("started ")] == []
    if name in ONLINE:
        assert any("'pip'" in line for line in lines), "pip was not traced"
        assert "99.0.0" in done.stdout + done.stderr


@pytest.mark.parametrize("name", ["check", "releases"])
def test_nothing_of_it_runs_where_the_command_is_started_as_a_module(name, traced, folder):
    done, lines = traced(MODULE, *(STATIC | ONLINE)[name])
    assert done.returncode in (0, 1), done.stderr
    assert executed(lines) == []


def test_the_trace_sees_what_runs(traced):
    done, lines = traced(["-c", "import re, json"])
    assert executed(lines) or "PLANTED" in done.stderr


def test_as_many_names_are_planted_as_a_stranger_would():
    assert len(PLANTED) == len(set(PLANTED)) >= 30
