"""The import shim stands in for what is listed, where nobody guards it, and fails loudly."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from sglang_contracts.live import replacements, shim, stand_in_module, standins

PROJECT = Path(__file__).resolve().parents[2]


def run(tmp_path, code, **modules):
    """Run ``code`` in a started Python that has the shim; ``modules`` are upstream's files."""
    for name, text in {"__init__": "", **modules}.items():  # hides a real SGLang
        file = tmp_path / "sglang" / f"{name}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(textwrap.dedent(text))
    base = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(PROJECT)))}
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=shim.environment(base),
        capture_output=True,
        text=True,
        check=False,
    )


def out(result):
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_an_unguarded_import_gets_a_stand_in(tmp_path):
    code = """
        import sglang.kernels
        from sglang_contracts.live import stand_in_module
        print(sglang.kernels.Base.__name__, stand_in_module.log.stood_in["flashinfer"])
    """
    kernels = "from flashinfer.norm import Base\nclass Mine(Base): ...\nx: Base | None = None\n"
    printed = out(run(tmp_path, code, kernels=kernels))
    assert printed == f"Base {tmp_path}/sglang/kernels.py:1"


def test_a_guarded_import_fails_as_on_a_machine_without_the_package(tmp_path):
    kernels = """
        try:
            import flashinfer
        except ImportError:
            flashinfer = None
    """
    assert out(
        run(tmp_path, "import sglang.kernels as k; print(k.flashinfer)", kernels=kernels)
    ) == ("None")


def test_a_guard_further_up_the_chain_of_imports_counts(tmp_path):
    outer = """
        try:
            import sglang.inner
            found = True
        except ImportError:
            found = False
    """
    printed = out(
        run(
            tmp_path,
            "import sglang.outer as o; print(o.found)",
            outer=outer,
            inner="import flashinfer\n",
        )
    )
    assert printed == "False"


def test_who_loads_modules_by_name_does_not_guard_their_imports(tmp_path):
    registry = """
        import importlib
        def load(name):
            try:
                return importlib.import_module(name)
            except Exception:
                return None
    """
    code = "import sglang.registry as r; print(r.load('sglang.model').__name__)"
    printed = out(run(tmp_path, code, registry=registry, model="import flashinfer\n"))
    assert printed == "sglang.model"


def test_find_spec_is_a_question_and_gets_no(tmp_path):
    code = "import importlib.util as u; print(u.find_spec('flashinfer'))"
    assert out(run(tmp_path, code)) == "None"


def test_a_package_that_is_not_listed_stays_missing(tmp_path):
    result = run(tmp_path, "import sglang.a", a="import not_a_package_anywhere\n")
    assert "ModuleNotFoundError: No module named 'not_a_package_anywhere'" in result.stderr


@pytest.mark.parametrize("use", ["f(1)", "f()", "bool(f)", "list(f)", "f.inner(2)", "Sub()"])
def test_using_a_stand_in_raises_with_the_line_that_did_it(tmp_path, use):
    module = f"""
        from flashinfer import f
        class Sub(f): ...
        def go():
            return {use}
    """
    result = run(tmp_path, "import sglang.m; sglang.m.go()", m=module)
    assert result.returncode == 1
    assert "StandInCallError: flashinfer" in result.stderr
    assert f"{tmp_path}/sglang/m.py:5" in result.stderr
    assert standins.REASONS["flashinfer"] in result.stderr


def test_a_spawned_process_has_the_shim_too(tmp_path):
    code = """
        import multiprocessing, sglang.worker
        if __name__ == "__main__":
            context = multiprocessing.get_context("spawn")
            with context.Pool(1) as pool:
                print(pool.apply(sglang.worker.installed))
    """
    worker = "from sglang_contracts.live import shim\ninstalled = shim.installed\n"
    assert out(run(tmp_path, code, worker=worker)) == "True"


class CppExtension:
    """In place of ``torch.utils.cpp_extension``: tells what it would have compiled."""

    @staticmethod
    def load(name, sources):
        return f"{name} from {sources}"


def test_a_listed_extension_is_not_compiled_but_stood_in_for():
    replacements.PATCHES["torch.utils.cpp_extension"][0](patched := CppExtension())
    tree = patched.load("radix_tree_cpp", sources=["missing.cpp"])
    assert tree.RadixTree.__name__ == "RadixTree"
    with pytest.raises(stand_in_module.StandInCallError, match="off unless asked for"):
        tree.RadixTree(16)
    stand_in_module.log.called.clear()


def test_another_extension_is_compiled():
    replacements.PATCHES["torch.utils.cpp_extension"][0](patched := CppExtension())
    assert patched.load("hicache_hash_cpp", ["hash.cpp"]) == "hicache_hash_cpp from ['hash.cpp']"


def test_without_the_variable_nothing_is_installed(tmp_path):
    environment = shim.environment({**os.environ, "PYTHONPATH": str(PROJECT)})
    environment.pop(shim.VARIABLE)
    code = "from sglang_contracts.live import shim; print(shim.installed())"
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "False"


def test_the_hidden_sitecustomize_still_runs(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import builtins\nbuiltins.was_here = 1\n")
    assert out(run(tmp_path, "print(was_here)")) == "1"


def test_a_module_is_patched_right_after_its_import(tmp_path):
    code = """
        from sglang_contracts.live import shim
        shim.after_import("sglang.late", lambda module: setattr(module, "seen", module.value + 1))
        import sglang.late
        print(sglang.late.seen)
    """
    assert out(run(tmp_path, code, late="value = 41\n")) == "42"


def test_patching_what_is_imported_already_is_an_error():
    with pytest.raises(ImportError, match="imported already"):
        shim.after_import("sys", print)


def test_every_entry_says_for_which_releases_and_why():
    for entry in (*standins.STAND_INS, *standins.EXTENSIONS, *standins.PATCHES):
        assert len(entry.reason) > 10
        assert SpecifierSet(entry.sglang.partition(",==")[0])
    assert {patch.module for patch in standins.PATCHES} == set(replacements.PATCHES)
    packages = [stand_in.package for stand_in in standins.STAND_INS]
    assert len(set(packages)) == len(packages)
