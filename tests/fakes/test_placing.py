"""A fake is there under the name ``sglang``, and nothing of a real one is ever reached."""

import importlib
import importlib.metadata
import importlib.util
import subprocess
import sys

import pytest

from sglang_contracts import fakes
from sglang_contracts.errors import ContractsError


def test_it_is_there_within_the_statement_only():
    with fakes.install("0.5.16"):
        import sglang

        assert sglang.__version__ == "0.5.16"
        assert importlib.metadata.version("sglang") == "0.5.16"
        assert importlib.util.find_spec("sglang.srt.nothing_of_the_kind") is None
    assert "sglang" not in sys.modules
    assert fakes.installed() is None
    if importlib.util.find_spec("sglang") is None:
        with pytest.raises(importlib.metadata.PackageNotFoundError):
            importlib.metadata.version("sglang")


def test_another_release_takes_its_place():
    place = "sglang.srt.model_executor.forward_batch_info"
    fakes.install("0.5.12")
    try:
        assert "DRAFT_EXTEND" in importlib.import_module(place).ForwardMode.__members__
        fakes.install("0.5.16")
        assert "DRAFT_EXTEND" not in importlib.import_module(place).ForwardMode.__members__
    finally:
        fakes.uninstall()


def test_an_unknown_release_names_the_nearest():
    with pytest.raises(ContractsError, match=r"0\.5\.166 is not recorded"):
        fakes.install("0.5.166")
    with pytest.raises(ContractsError, match=r"the nearest are .*0\.5\.23\n"):
        fakes.install("0.5.99")  # the newest is what is meant


def real_looking(folder):
    below = folder / "sglang" / "srt"
    below.mkdir(parents=True)
    (folder / "sglang" / "__init__.py").write_text("real = True\n")
    (below / "only_real.py").write_text("real = True\n")


def test_what_lies_on_disk_is_never_reached(tmp_path, monkeypatch):
    real_looking(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with fakes.install("0.5.16"):
        import sglang

        assert not hasattr(sglang, "real")
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module("sglang.srt.only_real")


def test_a_real_one_in_the_process_is_refused(tmp_path, monkeypatch):
    real_looking(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("sglang")
    try:
        with pytest.raises(ContractsError, match="already imported"):
            fakes.install("0.5.16")
    finally:
        for name in [n for n in sys.modules if n.partition(".")[0] == "sglang"]:
            del sys.modules[name]


def test_it_needs_neither_torch_nor_the_reference_plugin():
    code = (
        "import sys\n"
        "from sglang_contracts import fakes\n"
        "fakes.install('0.5.16')\n"
        "from sglang.srt.model_executor.forward_batch_info import ForwardMode\n"
        "from sglang.srt.plugins import load_plugins\n"
        "assert ForwardMode.DECODE.is_decode()\n"
        "print(sorted({n.partition('.')[0] for n in sys.modules} & {'torch', 'kunlun_backend'}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_derives_from_a_fake_is_forgotten_with_it(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "a_plugin.py").write_text(
        "from sglang.srt.mem_cache.memory_pool import MHATokenToKVPool as Base\n"
    )
    with fakes.install("0.5.12", forget=["a_plugin"]):
        first = importlib.import_module("a_plugin").Base
    with fakes.install("0.5.16", forget=["a_plugin"]):
        assert importlib.import_module("a_plugin").Base is not first
    assert "a_plugin" not in sys.modules


def test_pytest_places_it_before_the_first_conftest(tmp_path):
    (tmp_path / "conftest.py").write_text("import sglang\nassert sglang.__version__ == '0.5.20'\n")
    (tmp_path / "test_it.py").write_text(
        "from sglang.srt.mem_cache.memory_pool import KVWriteLoc\n\n\ndef test_it():\n    pass\n"
    )
    plugin = ["-p", "sglang_contracts.fakes.pytest_plugin", "--sglang-fake"]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *plugin]
    done = subprocess.run([*command, "0.5.20"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "sglang: a fake of 0.5.20" in done.stdout
    done = subprocess.run([*command, "0.1.1"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "0.1.1 is not recorded" in done.stderr


def test_after_an_inner_statement_the_outer_ones_is_back():
    place = "sglang.srt.model_executor.forward_batch_info"
    with fakes.install("0.5.9") as outer:
        mode = importlib.import_module(place).ForwardMode
        with fakes.install("0.5.16"):
            assert importlib.import_module("sglang").__version__ == "0.5.16"
        assert importlib.import_module("sglang").__version__ == "0.5.9"
        assert importlib.import_module(place).ForwardMode is mode
        assert fakes.installed() is outer
    assert fakes.installed() is None
    assert "sglang" not in sys.modules


def test_the_end_of_a_statement_takes_out_its_own_only():
    first = fakes.install("0.5.9")
    second = fakes.install("0.5.16")
    try:
        first.__exit__(None, None, None)
        assert fakes.installed() is second
        assert importlib.import_module("sglang").__version__ == "0.5.16"
    finally:
        fakes.uninstall()


def test_one_that_has_ended_meanwhile_does_not_come_back():
    with fakes.install("0.5.9") as outer, fakes.install("0.5.16"):
        outer.__exit__(None, None, None)
    assert fakes.installed() is None
    assert not [each for each in sys.meta_path if type(each).__module__.endswith("fakes.finder")]


@pytest.mark.parametrize(
    ("release", "forget", "words"),
    [
        (None, (), "None is no release"),
        (5, (), "5 is no release"),
        ("", (), "'' is no release"),
        ("0.1.1", (), "not recorded"),
        ("0.5.16", [5], "forget=5 is no package"),
        ("0.5.16", ["sglang_contracts"], "cannot be forgotten"),
    ],
)
def test_what_cannot_be_placed_leaves_what_is_there(release, forget, words):
    with fakes.install("0.5.9") as there:
        with pytest.raises(ContractsError, match=words):
            fakes.install(release, forget)
        assert fakes.installed() is there
        assert importlib.import_module("sglang").__version__ == "0.5.9"


def test_the_spelling_of_certify_is_understood():
    with fakes.install("fake:0.5.16") as there:
        assert there.release == "0.5.16"


def test_a_package_to_forget_may_be_one_string(monkeypatch):
    for name in ("a_plugin", "a"):
        monkeypatch.setitem(sys.modules, name, type(sys)(name))
    with fakes.install("0.5.16", forget="a_plugin"):
        assert "a_plugin" not in sys.modules
        assert "a" in sys.modules


def test_the_modules_of_a_package_are_listed():
    import pkgutil

    with fakes.install("0.5.20") as there:
        models = importlib.import_module("sglang.srt.models")
        found = {each.name: each.ispkg for each in pkgutil.iter_modules(models.__path__)}
        assert found["llama"] is False
        assert {f"sglang.srt.models.{name}" for name in found} <= {*there.fake.module_names()}
        below = pkgutil.walk_packages(models.__path__, "sglang.srt.models.")
        assert {each.name for each in below} >= {f"sglang.srt.models.{name}" for name in found}
    assert not [each for each in sys.path_importer_cache if "sglang-fake" in each]


def test_running_a_module_says_that_there_is_no_code():
    import runpy

    with fakes.install("0.5.20"), pytest.raises(fakes.FakeError, match="there is no code to run"):
        runpy.run_module("sglang.launch_server", run_name="__main__")
