"""A process of a tiny model that takes too much memory says where."""

import subprocess
import sys

import pytest

from sglang_contracts.live import memory_limit
from sglang_contracts.live.engine import Job, environment

TAKES = """
from sglang_contracts.live import memory_limit
memory_limit.apply()
kept = bytearray(3 << 30)
"""


@pytest.mark.parametrize(("bound", "code"), [(str(2 << 30), 1), ("", 0), (str(16 << 30), 0)])
def test_more_than_the_bound_is_an_error_where_it_is_taken(monkeypatch, bound, code):
    monkeypatch.setenv(memory_limit.VARIABLE, bound)
    done = subprocess.run(
        [sys.executable, "-c", TAKES], capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    assert ("MemoryError" in done.stderr) is bool(code)


def test_engines_are_bound(tmp_path):
    found = environment(Job(tmp_path, "kunlun", 16, ()), "0.5.23")
    assert found[memory_limit.VARIABLE] == str(memory_limit.TINY)
