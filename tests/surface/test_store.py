"""A pack that is damaged is said to be, by name, with the fix."""

from __future__ import annotations

import pytest

from sglang_contracts.errors import ContractsError
from sglang_contracts.surface import store
from sglang_contracts.surface.catalog import Catalog
from sglang_contracts.surface.record import record


@pytest.fixture
def pack(make_wheel, tmp_path):
    source = "\n".join(f"def f{i}(a, b, c): ..." for i in range(200))
    wheel = make_wheel("0.5.1", {"srt/a.py": source})
    return record(str(wheel), Catalog(tmp_path / "shipped", tmp_path / "user")).path


def read_all(path):
    opened = store.Pack(path)
    return {name: opened.read(name, b"") for name in opened.where}


def test_every_frame_reads_back(pack):
    frames = read_all(pack)
    assert "m:sglang.srt.a" in frames
    assert store.digest(frames) == store.Pack(pack).header.digest


@pytest.mark.parametrize("keep", [0, 4, 11, 40, 0.5, 0.99])
def test_half_a_file_is_corrupt(keep, pack):
    data = pack.read_bytes()
    pack.write_bytes(data[: int(len(data) * keep) if isinstance(keep, float) else keep])
    with pytest.raises(ContractsError, match=r"0\.5\.1\.surface is corrupt") as caught:
        read_all(pack)
    assert "record 0.5.1 --force" in caught.value.hint


def test_any_flipped_byte_is_noticed(pack):
    data = pack.read_bytes()
    noticed = 0
    positions = range(0, len(data), max(1, len(data) // 200))
    for position in positions:
        broken = bytearray(data)
        broken[position] ^= 0x55
        pack.write_bytes(bytes(broken))
        with pytest.raises(ContractsError, match="corrupt"):
            read_all(pack)
        noticed += 1
    assert noticed == len(positions) > 100


def test_a_user_pack_on_another_recording_of_its_base_is_not_read(make_wheel, tmp_path):
    shipped, user = tmp_path / "shipped", tmp_path / "user"
    record(str(make_wheel("0.5.1", {"srt/a.py": "x = 1"})), Catalog(shipped, user), folder=shipped)
    record(str(make_wheel("0.5.2", {"srt/a.py": "x = 2"})), Catalog(shipped, user))
    assert Catalog(shipped, user).releases == ("0.5.1", "0.5.2")
    other = make_wheel("0.5.1", {"srt/a.py": "x = 3\ny = 4"})
    record(str(other), Catalog(shipped, user), folder=shipped, force=True)
    assert Catalog(shipped, user).releases == ("0.5.1",)


def test_an_unknown_release_names_the_nearest(make_wheel, tmp_path):
    catalog = Catalog(tmp_path / "shipped", tmp_path / "user")
    record(str(make_wheel("0.5.12", {"srt/a.py": "x = 1"})), catalog)
    catalog = Catalog(tmp_path / "shipped", tmp_path / "user")
    with pytest.raises(ContractsError, match=r"0\.5\.13 is not recorded.*0\.5\.12") as caught:
        catalog.surface("0.5.13")
    with pytest.raises(ContractsError, match=r"the nearest are 0\.5\.12\n"):
        catalog.known("9.0")  # near by number; by spelling nothing may be
    assert "sglang-contracts record 0.5.13" in caught.value.hint
    assert catalog.surface("v0.5.12").release == "0.5.12"


def test_one_damaged_pack_of_the_user_stops_no_other_release(make_wheel, tmp_path):
    shipped, user = tmp_path / "shipped", tmp_path / "user"
    record(str(make_wheel("0.5.1", {"srt/a.py": "x = 1"})), Catalog(shipped, user), folder=shipped)
    damaged = record(str(make_wheel("0.5.2", {"srt/a.py": "x = 2"})), Catalog(shipped, user)).path
    damaged.write_bytes(damaged.read_bytes()[:-3])
    catalog = Catalog(shipped, user)
    assert catalog.releases == ("0.5.1",)
    [error] = catalog.damaged
    assert str(damaged) in error.message
    assert "record 0.5.2 --force" in error.hint
    with pytest.raises(ContractsError, match="corrupt"):
        catalog.known("0.5.2")


@pytest.mark.parametrize("part", ["header", "frame"])
def test_want_of_memory_is_not_said_as_damage(part, make_surface, monkeypatch):
    surface = make_surface({"srt/x.py": "def f(): ..."})
    pack = surface.catalog.pack("0.5.1")

    class Poor:
        def decompress(self, *_, **__):
            raise MemoryError

    monkeypatch.setattr(store, "_decompressor", lambda _: Poor())
    first = pack.header.frames[0].name
    read = (lambda: store.Pack(pack.path)) if part == "header" else (lambda: pack.read(first, b""))
    with pytest.raises(MemoryError):
        read()
