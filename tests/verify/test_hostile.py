"""Plugins built to hang or to break the analysis: it answers all the same."""

from __future__ import annotations

import pytest

from sglang_contracts.surface import load_catalog
from sglang_contracts.verify import check_plugin
from sglang_contracts.verify.finding import Verdict


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def check(tmp_path, catalog, text):
    (tmp_path / "plugin.py").write_text(text)
    return check_plugin(tmp_path, catalog, ["0.5.16"]).releases[0]


def test_a_hierarchy_full_of_diamonds_is_walked_once(tmp_path, catalog):
    classes = "".join(
        f"class A{i}(A{i - 1}, A{max(0, i - 2)}, A{max(0, i - 3)}): pass\n" for i in range(1, 60)
    )
    text = f"from sglang.srt.server_args import ServerArgs\nclass A0: pass\n{classes}A59().x\n"
    assert check(tmp_path, catalog, text).verdict is Verdict.COMPATIBLE


def test_a_long_chain_of_calls_ends_in_nothing_known(tmp_path, catalog):
    functions = "".join(f"def f{i}(x): return f{i - 1}(f{i - 1}(x))\n" for i in range(1, 200))
    text = (
        f"def f0(x): return x\n{functions}"
        "from sglang.srt.server_args import ServerArgs\nf199(ServerArgs()).foo\n"
    )
    assert check(tmp_path, catalog, text).findings == ()


def test_a_plugin_of_which_nothing_could_be_read_is_unknown(tmp_path, catalog):
    assert check(tmp_path, catalog, "def f(:\n").verdict is Verdict.UNKNOWN


def test_a_version_of_thousands_of_digits_is_no_version(tmp_path, catalog):
    text = (
        "import sglang\nfrom packaging.version import Version\n"
        f"if Version(sglang.__version__) >= Version('{'1' * 5000}'):\n"
        "    from sglang.srt.managers.schedule_batch import Req\n"
    )
    assert check(tmp_path, catalog, text).verdict is Verdict.COMPATIBLE
