"""A wheel is read as hostile input: refused with a sentence, never unpacked, never imported."""

from __future__ import annotations

import sys
import zipfile

import pytest

from sglang_contracts.errors import ContractsError
from sglang_contracts.surface import wheel as wheel_module
from sglang_contracts.surface.wheel import Wheel, covered


def write(path, entries):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return path


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../evil.py", "climbs out"),
        ("sglang/../../evil.py", "climbs out"),
        ("/etc/evil.py", "absolute path"),
        ("C:/evil.py", "absolute path"),
        ("sglang\\..\\evil.py", "absolute path"),
    ],
)
def test_an_entry_that_leads_outside_is_refused(name, why, tmp_path):
    path = write(tmp_path / "sglang-0.5.1-py3-none-any.whl", [("sglang/a.py", ""), (name, "")])
    with pytest.raises(ContractsError, match=why):
        Wheel(path)


def test_a_zip_bomb_is_refused_before_it_is_read(tmp_path):
    path = write(tmp_path / "sglang-0.5.1-py3-none-any.whl", [("sglang/a.py", b"#" * (8 << 20))])
    with pytest.raises(ContractsError, match="grows"):
        Wheel(path)


def test_a_file_beyond_the_limit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(wheel_module, "MAX_FILE", 10)
    path = write(tmp_path / "sglang-0.5.1-py3-none-any.whl", [("sglang/a.py", "x = 1234567890")])
    with pytest.raises(ContractsError, match="unpacks to too much"):
        Wheel(path)


def test_the_same_entry_twice_is_refused(tmp_path):
    with pytest.warns(UserWarning, match="Duplicate"):
        path = write(
            tmp_path / "sglang-0.5.1-py3-none-any.whl", [("sglang/a.py", "1"), ("sglang/a.py", "2")]
        )
    with pytest.raises(ContractsError, match="twice"):
        Wheel(path)


def test_half_a_download_is_named(tmp_path, make_wheel):
    whole = make_wheel("0.5.1", {"srt/a.py": "x = 1\n" * 1000})
    half = tmp_path / "sglang-0.5.1-py3-none-any.whl"
    half.write_bytes(whole.read_bytes()[:100])
    with pytest.raises(ContractsError, match=r"0\.5\.1.*cannot be read") as caught:
        Wheel(half)
    assert "half a download" in caught.value.hint


def test_damage_inside_is_named(make_wheel):
    path = make_wheel("0.5.1", {"srt/a.py": "x = 1\n" * 1000})
    data = bytearray(path.read_bytes())
    data[60] ^= 0xFF
    path.write_bytes(bytes(data))
    with pytest.raises(ContractsError, match="cannot be read"):
        Wheel(path).source("sglang.srt.a")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("torch-2.0-py3-none-any.whl", "not of sglang"),
        ("sglang.whl", "not the name of a wheel"),
        ("sglang-0.5.1.zip", "not the name of a wheel"),
    ],
)
def test_what_is_no_wheel_of_sglang_is_refused(name, why, tmp_path):
    write(tmp_path / name, [("sglang/a.py", "")])
    with pytest.raises(ContractsError, match=why):
        Wheel(tmp_path / name)


def test_a_wheel_without_the_package_is_refused(tmp_path):
    path = write(tmp_path / "sglang-0.5.1-py3-none-any.whl", [("other/a.py", "")])
    with pytest.raises(ContractsError, match="no package sglang"):
        Wheel(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ContractsError, match="there is no file"):
        Wheel(tmp_path / "sglang-0.5.1-py3-none-any.whl")


def test_a_wheel_for_another_python_is_read(make_wheel):
    path = make_wheel("0.5.1", {"srt/a.py": "x = 1"}, tag="cp399-cp399-manylinux_2_34_x86_64")
    assert Wheel(path).modules() == ["sglang.srt.a"]


def test_nothing_in_a_wheel_is_executed(make_surface):
    surface = make_surface({"srt/a.py": "import sys\nsys.sglang_contracts_was_here = True\nx = 1"})
    assert surface.parse("sglang.srt.a:x") is not None
    assert not hasattr(sys, "sglang_contracts_was_here")
    assert "sglang.srt.a" not in sys.modules


def test_only_what_plugins_import_is_recorded():
    assert covered("sglang")
    assert covered("sglang.srt.x")
    assert covered("sglang.bench_one_batch")
    assert covered("sglang.kernels.ops")
    assert not covered("sglang.multimodal_gen.x")
    assert not covered("torch")
