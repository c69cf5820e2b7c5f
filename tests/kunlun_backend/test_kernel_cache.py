"""The kernel cache is one directory that only its user can write."""

import os
import stat

import pytest
from kunlun_backend.kernel_cache import ENVIRONMENT, KernelCacheError

from kunlun_backend import kernel_cache


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv(ENVIRONMENT, "")


def test_it_is_made_private_and_handed_on(tmp_path):
    wanted = tmp_path / "a" / "kernels"
    assert kernel_cache.prepare(wanted) == wanted
    assert stat.S_IMODE(wanted.stat().st_mode) == 0o700
    assert os.environ[ENVIRONMENT] == str(wanted)
    assert kernel_cache.prepare() == wanted, "a second process finds the same"


def test_the_default_is_in_the_users_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert kernel_cache.prepare() == tmp_path / ".cache" / "kunlun" / "kernels"


def test_a_directory_that_others_can_write_is_refused(tmp_path):
    tmp_path.chmod(0o777)
    with pytest.raises(KernelCacheError, match=r"written by others \(mode 777\).*mode 700"):
        kernel_cache.prepare(tmp_path)


def test_a_directory_of_another_user_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(KernelCacheError, match="belongs to another user"):
        kernel_cache.prepare(tmp_path)


def test_a_directory_that_cannot_be_written_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    with pytest.raises(KernelCacheError, match="cannot be written by this process"):
        kernel_cache.prepare(tmp_path)


def test_a_file_in_its_place_is_refused(tmp_path):
    (tmp_path / "kernels").write_text("", encoding="utf-8")
    with pytest.raises(KernelCacheError, match=f"cannot be made.*{ENVIRONMENT}"):
        kernel_cache.prepare(tmp_path / "kernels")
