"""Switches that a release turned round: told where the plugin stands on the old default."""

from __future__ import annotations

import pytest

ENVIRON = """
class EnvBool:
    def __init__(self, default): self.default = default
    def get(self): return self.default
    def set(self, value): pass

class Envs:
    SGLANG_QUICK = EnvBool({})

envs = Envs()
"""
OLD, NEW = ({"srt/environ.py": ENVIRON.format(default)} for default in (False, True))
PLUGIN = """
import os
from sglang.srt.environ import envs

def quick(kernel):
    {}
"""
SAID = ["warning behaviour-changed env:SGLANG_QUICK:6"]


@pytest.mark.parametrize(
    "does",
    [
        "return envs.SGLANG_QUICK.get()",
        "kernel.quick = envs.SGLANG_QUICK.get()",
        'return os.environ.get("SGLANG_QUICK", "0") == "1"',
    ],
)
def test_what_stands_on_the_old_default_is_told(broken_by, does):
    assert broken_by(OLD, NEW, PLUGIN.format(does)) == SAID


@pytest.mark.parametrize(
    "does",
    [
        "envs.SGLANG_QUICK.set(False)",
        "envs.SGLANG_QUICK.set(False); return envs.SGLANG_QUICK.get()",
        "return 1 if envs.SGLANG_QUICK.get() else 2",
        "return envs.SGLANG_QUICK.get() and kernel()",
        "return kernel() if not envs.SGLANG_QUICK.get() else 2",
        "return envs.SGLANG_QUICK",
    ],
)
def test_what_sets_it_or_has_a_way_for_either_answer_is_fine(broken_by, does):
    assert not broken_by(OLD, NEW, PLUGIN.format(does))
