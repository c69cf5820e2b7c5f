"""Commands that write, stopped at each of their writes: nothing is lost, nothing half written."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
import textwrap
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from sglang_contracts.cli import main
from sglang_contracts.contract import load_contracts
from sglang_contracts.files import PARTIAL
from sglang_contracts.surface.catalog import Catalog
from sglang_contracts.surface.record import record
from sglang_contracts.surface.roster import load_roster

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="faults are made in a fork")

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_PASSED = 99
"""Exit code of a child that came to its end before the fault."""


class Faults:
    """Counts what a process does to files below a folder; the n-th time it makes a fault instead.

    An audit hook cannot be taken out again: it lives in a forked child.
    """

    def __init__(self, folder: Path, number: int, fault: Callable[[], NoReturn]) -> None:
        self.folder = str(folder)
        self.left = number
        self.fault = fault

    def hook(self, event: str, arguments: tuple) -> None:
        if event == "open":
            writing = isinstance(arguments[2], int) and arguments[2] & _WRITING
            self.count(arguments[0] if writing else None)
        elif event in ("os.rename", "os.remove", "os.mkdir", "os.chmod", "os.rmdir"):
            self.count(arguments[0])

    def count(self, path: object) -> None:
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if not isinstance(path, (str, os.PathLike)) or not os.fspath(path).startswith(self.folder):
            return
        self.left -= 1
        if self.left == 0:
            self.fault()

    def fdopen(self, real: Callable) -> Callable:
        """Opens files that write half of what they are given, and then make a fault."""
        faults = self

        def opened(handle: int, mode: str) -> object:
            stream = real(handle, mode)
            written = stream.write

            class Half:
                def __enter__(self):
                    return self

                def __exit__(self, *error):
                    stream.close()

                def __getattr__(self, name):
                    return getattr(stream, name)

                def write(self, data):
                    faults.left -= 1
                    if faults.left == 0:
                        written(data[: len(data) // 2])
                        stream.flush()
                        faults.fault()
                    return written(data)

            return Half()

        return opened


def full() -> NoReturn:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def interrupted() -> NoReturn:
    raise KeyboardInterrupt


def killed() -> NoReturn:
    os._exit(137)


FAULTS = {"a full disk": (full, 2), "Ctrl-C": (interrupted, 130), "a kill": (killed, 137)}


def stopped(command: list[str], folder: Path, number: int, fault: Callable[[], NoReturn]) -> int:
    """Run a command in a child that meets a fault at its n-th write; its exit code."""
    child = os.fork()
    if child == 0:
        try:
            devnull = os.open(os.devnull, os.O_WRONLY)
            os.dup2(devnull, 1)
            os.dup2(devnull, 2)
            faults = Faults(folder, number, fault)
            from sglang_contracts import files

            files.os.fdopen = faults.fdopen(os.fdopen)
            sys.addaudithook(faults.hook)
            code = main(command)
            os._exit(_PASSED if faults.left > 0 else code)
        finally:
            os._exit(70)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


OLD = {"srt/x.py": "def kept(a): ...\ndef gone(): ...\n"}
NEW = {"srt/x.py": "def kept(a, b): ...\n", "srt/y.py": "class New:\n    field: int = 1\n"}


def wheel(folder: Path, version: str, files: dict[str, str]) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"sglang-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(f"sglang/{name}"), textwrap.dedent(text))
    return path


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """A checkout with one release, a plugin, and a cache; all that is written lies below it."""
    place = tmp_path / "place"
    shipped = place / "matrix" / "surfaces"
    shipped.mkdir(parents=True)
    (place / "temporary").mkdir()
    (place / "plugin").mkdir()
    (place / "plugin" / "pyproject.toml").write_text("[tool.sglang-contracts]\n")
    (place / "plugin" / "a.py").write_text("from sglang.srt.x import gone\n")
    monkeypatch.setenv("SGLANG_CONTRACTS_CACHE", str(place / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(place / "temporary"))
    monkeypatch.chdir(place)

    def catalog(own: Path | None = None, user: Path | None = None) -> Catalog:
        return Catalog(own or shipped, user or place / "cache" / "surfaces-2")

    record(str(wheel(tmp_path / "wheels", "0.5.1", OLD)), catalog(), folder=shipped)
    few = load_contracts()[:1]
    monkeypatch.setattr("sglang_contracts.surface.load_catalog", catalog)
    monkeypatch.setattr("sglang_contracts.contract.load_contracts", lambda *_: few)
    monkeypatch.setattr("sglang_contracts.cli.recording.os.cpu_count", lambda: 1)
    return place


def state(place: Path) -> dict[str, bytes]:
    """Every file below, but what was only worked out and what nobody reads."""
    return {
        path.relative_to(place).as_posix(): path.read_bytes()
        for path in sorted(place.rglob("*"))
        if path.is_file()
        and not path.is_relative_to(place / "temporary")
        and path.parent.name not in ("results", "plugins", "contracts", "verify")
    }


def said_once(files: dict[str, bytes]) -> dict[str, bytes]:
    """Without what a report says of a release that was recorded before it was stopped."""
    return {path: data.replace(b"recorded already", b"recorded") for path, data in files.items()}


COMMANDS = {
    "record": ["record", "{wheel}"],
    "record again": ["record", "{wheel}", "--force"],
    "record into a checkout": ["record", "{wheel}", "--shipped"],
    "bump": ["bump", "{wheel}", "plugin", "--output", "bump.md", "--format", "markdown"],
    "upgrade": [
        *("upgrade", "plugin", "--from", "0.5.1", "--to", "0.5.2"),
        *("--output", "upgrade.json", "--format", "json"),
    ],
    "a baseline": ["check", "plugin", "--release", "0.5.1", "--write-baseline", "baseline.json"],
}


def numbers(limit: int = 200) -> Iterator[int]:
    yield from range(1, limit)
    raise AssertionError("it never comes to its end")


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_stopped_at_any_write_loses_nothing(name, fault, place, tmp_path, capsys):
    new = str(wheel(tmp_path / "wheels", "0.5.2", NEW))
    command = [part.format(wheel=new) for part in COMMANDS[name]]
    for file in ("bump.md", "upgrade.json", "baseline.json"):
        (place / file).write_text("what was there before\n")
    if name in ("record again", "upgrade"):
        main(["record", new])
    before = state(place)
    # What it comes to where nothing stops it.
    code = main(command)
    assert code in (0, 1), capsys.readouterr().err
    whole = state(place)
    assert whole.keys() >= before.keys()
    make, expected = FAULTS[fault]
    expectations = said_once(whole)
    for number in numbers():
        _restore(place, before)
        ended = stopped(command, place, number, make)
        if ended == _PASSED:
            break
        # A cache that cannot be written to costs no answer.
        assert ended in (expected, code), (number, ended)
        found = state(place)
        half = {path for path in found if path.endswith(PARTIAL)}
        assert not half or fault == "a kill"
        for path, data in found.items():
            if path not in half:
                done = said_once({path: data})[path] == expectations.get(path)
                assert done or data == before.get(path), (number, path)
        assert found.keys() >= before.keys(), number
        packs = Catalog(place / "matrix" / "surfaces", place / "cache" / "surfaces-2")
        assert "0.5.1" in packs.releases
        assert packs.damaged == ()
        if (place / "matrix" / "releases.toml").exists():
            load_roster(place / "matrix" / "releases.toml")
        if fault != "a kill":
            assert list((place / "temporary").iterdir()) == [], number
        # The same once more, and all is as it should be.
        assert main(command) == code
        again = state(place)
        again = {path: data for path, data in again.items() if path not in half}
        assert said_once(again) == said_once(whole), number
    assert number > 3, "no write was met"


def _restore(place: Path, files: dict[str, bytes]) -> None:
    import shutil

    for kind in ("cache", "temporary"):
        shutil.rmtree(place / kind, ignore_errors=True)
    (place / "temporary").mkdir()
    for path in state(place):
        (place / path).unlink()
    for path, data in files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(data)
