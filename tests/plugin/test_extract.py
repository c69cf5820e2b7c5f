"""What a file can hold and still be checked."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

from sglang_contracts.plugin.extract import extract
from sglang_contracts.plugin.ir.nodes import Number
from sglang_contracts.plugin.ir.records import UseKind
from sglang_contracts.plugin.plugin import load_plugin
from sglang_contracts.surface import load_catalog
from sglang_contracts.verify import check_plugin


def test_a_lone_surrogate_in_a_string_stops_nothing(tmp_path):
    (tmp_path / "plugin.py").write_text(
        'x = "\\udcff"\n'
        "from sglang.srt.managers.schedule_batch import ModelWorkerBatch\n"
        'ModelWorkerBatch.get("\\udcff")\n',
        encoding="ascii",
    )
    report = check_plugin(tmp_path, load_catalog(), ["0.5.23"])
    assert [each.rule for each in report.releases[0].findings] == ["symbol-removed"]


def test_what_a_lambda_mentions_stands_in_the_function_around_it(tmp_path):
    (tmp_path / "plugin.py").write_text(
        "def outer(pool):\n    cache = pool.cache\n    return lambda i: cache.conv[i]\n\n\n"
        "def other(pool):\n    return pool.cache\n"
    )
    [file] = load_plugin(tmp_path).files
    named = {
        function.qual: file.mentions.get(number, ())
        for number, function in enumerate(file.functions)
    }
    assert "conv" in named["outer"]
    assert "conv" not in named["other"]


LOST = "from sglang.srt.managers.schedule_batch import ModelWorkerBatch\n"
"""Gone in 0.5.23."""
ODD = {
    "a long tuple of numbers": "SIZES = (512, 256, 128, 64, 32, 16, 8, 4, 2, 1)\n",
    "a long tuple of numbers, compared": "def f(x):\n"
    "    return x in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)\n",
    "a recursive alias": "from typing import List, Union\nTree = Union[int, List['Tree']]\n"
    "def f(x: Tree, y: 'Tree'): pass\n",
    "aliases of each other": "from typing import List\nA = List['B']\nB = List['A']\n"
    "def f(x: A): pass\n",
    "a type variable bound to itself": "from typing import TypeVar\nT = TypeVar('T', bound='T')\n"
    "def f(x: T) -> T: return x\n",
    "a string chosen among itself": "def f(c, k={}):\n    x = 'a'\n"
    "    x = 'b' + ('c' if c else x)\n"
    "    x = ['a', 'b' if c else x]\n    return k[x if c else x]\n",
    "a name that is bound to what holds it": "def f(c):\n    for x in ('a', 'b'):\n"
    "        x = (x, x if c else 'd')\n        for x in (x, x):\n            g(x if c else x)[x]\n",
    "numbers of more than 64 bits": "import sglang\nM = 0xffff_ffff_ffff_ffff_ffff\n"
    "N = (M, 123456789012345678901234567890)\n"
    "sglang.srt[99999999999999999999999](10**30, -18446744073709551616)\n",
    "bounds of a slice that are no numbers": "import sglang\nx = sglang.a[5:3j]\n"
    "y = sglang.a[...:'\\ud800']\nz = sglang.a[b'x':]\n",
    "hundreds of classes, one above the other": "from sglang.srt.layers.radix_attention import "
    "RadixAttention as C0\n"
    + "".join(f"class C{n + 1}(C{n}): pass\n" for n in range(400))
    + "C400().nothing\n",
    "an import of thousands of parts": "import sglang" + ".a" * 3000 + "\n",
    "a path of thousands of parts": "x = 'sglang" + ".a" * 9000 + "'\n",
    "a very long string of numbers": "T = (" + ", ".join(map(str, range(5000))) + ")\n",
}


@pytest.mark.parametrize("odd", ODD)
def test_what_is_odd_hides_nothing_beside_it(odd, tmp_path):
    (tmp_path / "plugin.py").write_text(ODD[odd] + LOST)
    report = check_plugin(tmp_path, load_catalog(), ["0.5.23"])
    assert report.notes == ()
    assert "symbol-removed" in [each.rule for each in report.releases[0].findings]


def test_python_s_own_library_is_read_whole(tmp_path):
    """Code of every style that is no plugin: nothing in it is too much."""
    folder = Path(sysconfig.get_path("stdlib"))
    for each in sorted([*folder.glob("*.py"), *folder.glob("asyncio/*.py")]):
        (tmp_path / each.name).write_bytes(each.read_bytes())
    plugin = load_plugin(tmp_path)
    assert len(plugin.files) > 100
    assert [(file.path, file.problem) for file in plugin.files if file.problem] == []


def test_a_class_has_what_its_body_binds(tmp_path):
    (tmp_path / "plugin.py").write_text(
        "from sglang.srt.layers.radix_attention import RadixAttention\n\n\n"
        "class Own(RadixAttention):\n"
        "    first = second = 1\n"
        "    third, (fourth, *fifth) = 1, (2, 3)\n"
        "    sixth = (seventh := 2)\n"
        "    eighth: int = 3\n"
        "    ninth: int\n"
        "    for tenth in (1, 2):\n        pass\n"
        "    eighth += 1\n"
        "    first = first\n"
    )
    [file] = load_plugin(tmp_path).files
    bound = set(file.classes["Own"].attributes) | set(file.classes["Own"].declared)
    words = "first second third fourth fifth sixth seventh eighth ninth tenth"
    assert bound == set(words.split())


def test_what_no_record_can_hold_stops_no_other_file(tmp_path, monkeypatch):
    def unstorable(source, module, own_modules):
        file = extract(source, module, own_modules)
        if source.path == "odd.py":
            file.nodes = [*file.nodes, Number(2j)]
        return file

    monkeypatch.setattr("sglang_contracts.plugin.plugin.extract", unstorable)
    monkeypatch.setenv("SGLANG_CONTRACTS_CACHE", str(tmp_path / "cache"))
    plugin = tmp_path / "plugin"
    plugin.mkdir()
    (plugin / "odd.py").write_text("import sglang\n")
    (plugin / "plugin.py").write_text(LOST)
    report = check_plugin(plugin, load_catalog(), ["0.5.23"])
    assert "symbol-removed" in [each.rule for each in report.releases[0].findings]
    [note] = report.notes
    assert note.unread == "odd.py"
    assert "could not be kept" in note.text


def test_what_with_statements_enter_is_recorded(tmp_path):
    (tmp_path / "plugin.py").write_text(
        "from sglang.srt.layers.one import a, B\n\n\n"
        "async def f(x: B):\n"
        "    with a(), x.lock as held, open('x'):\n        pass\n"
        "    async with a() as a:\n        pass\n"
    )
    [file] = load_plugin(tmp_path).files
    needs = [
        (each.name, type(file.nodes[each.node]).__name__, each.line)
        for each in file.uses
        if each.kind is UseKind.NEED
    ]
    assert needs == [("entered", "Call", 5), ("entered", "Attr", 5), ("entered-async", "Call", 7)]
