"""What is kept between runs is true for whoever reads it, or is not read."""

from __future__ import annotations

import os
import random
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from sglang_contracts import disk_cache, files
from sglang_contracts.disk_cache import DiskCache

DATA = bytes(range(256)) * 4


@pytest.fixture
def cache(tmp_path, monkeypatch) -> DiskCache:
    monkeypatch.setenv("SGLANG_CONTRACTS_CACHE", str(tmp_path / "cache"))
    return DiskCache("things", most=3)


def test_what_is_written_is_read(cache):
    assert cache.read("a") is None
    cache.write("a", DATA)
    cache.write("empty", b"")
    assert cache.read("a") == DATA
    assert cache.read("empty") == b""


def test_no_flipped_bit_and_no_cut_is_read(cache):
    cache.write("a", DATA)
    whole = cache.path("a").read_bytes()
    dice = random.Random(7)
    for _ in range(200):
        damaged = bytearray(whole)
        damaged[dice.randrange(len(whole))] ^= 1 << dice.randrange(8)
        cache.path("a").write_bytes(damaged)
        assert cache.read("a") is None
    for length in (0, 1, 15, 16, 17, len(whole) - 1):
        cache.path("a").write_bytes(whole[:length])
        assert cache.read("a") is None
    cache.path("a").write_bytes(whole + b"\0")
    assert cache.read("a") is None


def test_an_entry_under_another_key_or_kind_is_not_read(cache):
    cache.write("a", DATA)
    cache.path("a").rename(cache.path("b"))
    assert cache.read("b") is None
    other = DiskCache("others", most=3)
    other.path("b").parent.mkdir(parents=True)
    cache.path("b").rename(other.path("a"))
    assert other.read("a") is None


def test_a_link_is_not_followed_and_is_replaced(cache, tmp_path):
    cache.write("a", DATA)
    elsewhere = tmp_path / "elsewhere"
    cache.path("a").rename(elsewhere)
    cache.path("a").symlink_to(elsewhere)
    assert cache.read("a") is None
    cache.write("a", b"new")
    assert not cache.path("a").is_symlink()
    assert cache.read("a") == b"new"
    assert elsewhere.read_bytes().endswith(DATA)


def test_a_pipe_is_not_waited_for_and_a_folder_is_none(cache):
    cache.path("a").parent.mkdir(parents=True)
    os.mkfifo(cache.path("a"))
    assert cache.read("a") is None
    cache.write("a", DATA)
    assert cache.read("a") == DATA
    cache.path("b").mkdir()
    cache.write("b", DATA)
    assert cache.read("b") is None


def test_what_is_too_large_is_neither_read_nor_kept(cache, monkeypatch):
    cache.write("a", DATA)
    with cache.path("a").open("ab") as stream:
        stream.truncate(2**40)  # sparse: a terabyte that takes no room
    assert cache.read("a") is None
    monkeypatch.setattr(disk_cache, "LIMIT", len(DATA))
    cache.write("b", DATA)
    assert not cache.path("b").exists()


def test_a_cache_that_is_a_file_costs_no_answer(cache, tmp_path):
    (tmp_path / "cache").write_text("")
    cache.write("a", DATA)
    assert cache.read("a") is None


def test_the_oldest_entries_go_and_leftovers_of_killed_runs(cache):
    for age, key in enumerate("dcba"):
        cache.write(key, DATA)
        os.utime(cache.path(key), (1000 - age, 1000 - age))
    folder = cache.path("a").parent
    left, young = (folder / f".{name}.x{files.PARTIAL}" for name in ("left", "young"))
    left.write_text("half")
    young.write_text("half")
    os.utime(left, (1, 1))
    cache.write("e", DATA)
    kept = sorted(each.name for each in folder.iterdir())
    assert kept == [young.name, "c.msgpack", "d.msgpack", "e.msgpack"]


def test_entries_take_no_more_room_than_they_may_and_the_newest_stays(cache, monkeypatch):
    monkeypatch.setattr(disk_cache, "TOTAL", 2 * len(DATA))
    for age, key in enumerate("ba"):
        cache.write(key, DATA)
        os.utime(cache.path(key), (1000 - age, 1000 - age))
    cache.write("c", DATA)
    assert [each.stem for each in cache.path("c").parent.iterdir()] == ["c"]


def test_a_write_that_is_killed_leaves_what_the_sweep_finds(cache, monkeypatch):
    monkeypatch.setattr(files.os, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    monkeypatch.setattr(files.Path, "unlink", lambda *_, **__: None)
    with pytest.raises(KeyboardInterrupt):
        cache.write("a", DATA)
    [left] = cache.path("a").parent.iterdir()
    assert left.name.endswith(files.PARTIAL)


def test_a_name_as_long_as_a_file_may_have_can_be_written(tmp_path):
    for name in ("x" * 255, "ü" * 127, chr(0x1F600) * 63):
        files.write_atomically(tmp_path / name, b"1")
        assert (tmp_path / name).read_bytes() == b"1"


def scratch_of(where: Path) -> list[Path]:
    return sorted(where.glob("sglang-contracts-*"))


@pytest.fixture
def temporary(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_scratch_folder_is_empty_ours_and_gone_at_the_end(temporary):
    with files.scratch_folder() as folder:
        assert list(folder.iterdir()) == []
        assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
        (folder / "x").write_text("")
    assert scratch_of(temporary) == []


def test_the_folder_of_a_killed_run_is_swept_and_that_of_a_live_one_is_not(temporary):
    code = (
        "import os, sys; from sglang_contracts.files import scratch_folder\n"
        "with scratch_folder() as folder:\n"
        "    (folder / 'wheel').write_text('x'); print(folder, flush=True); sys.stdin.read()\n"
    )
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            env=os.environ | {"TMPDIR": str(temporary)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    killed, live = (Path(run.stdout.readline().strip()).parent for run in runs)
    runs[0].kill()
    runs[0].wait()
    for folder in (killed, live):
        os.utime(folder, (time.time() - 1000,) * 2)
    with files.scratch_folder():
        assert not killed.exists()
        assert (live / "work" / "wheel").exists()
    runs[1].communicate("")
    assert scratch_of(temporary) == []


def test_a_strangers_link_in_the_place_of_a_scratch_folder_is_left_alone(temporary, tmp_path):
    real = tmp_path / "precious"
    (real / "work").mkdir(parents=True)
    (real / ".lock").write_text("")
    (temporary / "sglang-contracts-x").symlink_to(real)
    os.utime(real, (1, 1))
    with files.scratch_folder():
        assert (real / "work").is_dir()
