"""The work on a file grows with its length, not with its square, whatever stands in it.

Steps are calls of functions, Python's and built-in ones, as the interpreter counts them: the same
on a busy machine and on an idle one.
"""

from __future__ import annotations

import sys

import pytest

from sglang_contracts.verify import check_plugin

POOL = """
class Pool:
    def __init__(self, size): self.size = size
    def store(self, layer): return layer
    def load(self, layer): return layer

def run(pool: Pool):
    pool.store(1)
    return pool.load(1)
"""
RELEASE = {"srt/pool.py": POOL}
HEAD = "from sglang.srt.pool import Pool, run\n"


def lines(line, count, before="", after=""):
    return before + "".join(line.format(n=n) for n in range(count)) + after


TABLE = "T = {\n"

TEXTS = {
    "equal uses": lambda n: lines("    p.gone\n", n, "def f(p: Pool):\n"),
    "calls that do not fit": lambda n: lines("run(1, a{n}=1)\n", n),
    "attributes put on a class": lambda n: lines("Pool.m{n} = lambda self: 1\n", n),
    "writes and reads of one name": lambda n: lines(
        "    p.x = 1\n    p.x\n", n, "def f(p: Pool):\n"
    ),
    "functions that write one name": lambda n: lines("def f{n}(p: Pool):\n    p.x = 1\n", n),
    "a chain of elif": lambda n: lines(
        "    elif x == {n}: p.size\n", n, "def f(p: Pool, x):\n    if x < 0: p.size\n"
    ),
    "early returns": lambda n: lines(
        "    if x == {n}: return p.size\n", n, "def f(p: Pool, x):\n"
    ),
    "a chain of or": lambda n: lines(
        "(x == {n} and p.size) or ", n, "def f(p: Pool, x):\n    return ", "x\n"
    ),
    "version branches": lambda n: lines(
        "elif sglang.__version__ == '0.0.{n}': p = 1\n",
        n,
        "import sglang\nif sglang.__version__ == '1': p = 1\n",
    ),
    "imports with a fallback": lambda n: lines(
        "try:\n    from sglang.srt.pool import gone{n}\nexcept ImportError:\n    x{n} = None\n", n
    ),
    "a table": lambda n: lines("    'k{n}': Pool,\n", n, TABLE, "}\nfor k in T: T[k].gone\n"),
    "overrides": lambda n: lines("class C{n}(Pool):\n    def store(self): return 1\n", n),
    "launch flags": lambda n: lines(
        "'--nope-{n}', ", n, "run(['python', '-m', 'sglang.launch_server', ", "])\n"
    ),
}  # fmt: skip


def steps(work):
    """How many calls a piece of work makes."""
    count = 0

    def tick(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(tick)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("kind", TEXTS)
def test_four_times_the_text_is_not_sixteen_times_the_work(kind, tmp_path, recorded):
    catalog = recorded(RELEASE, RELEASE)

    def work(length):
        plugin = tmp_path / f"plugin{length}.py"
        plugin.write_text(HEAD + TEXTS[kind](length))
        return steps(lambda: check_plugin(plugin, catalog, ["0.5.2"], contracts=()))

    work(5)  # what is read once, whatever the plugin
    none, small, large = work(0), work(60), work(240)
    assert large - none <= 7 * (small - none)
