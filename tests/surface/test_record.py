"""Recording: deterministic, append-only, whole or not at all."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sglang_contracts
from sglang_contracts.errors import ContractsError
from sglang_contracts.surface import obtain
from sglang_contracts.surface.catalog import Catalog
from sglang_contracts.surface.record import record

OLD = {
    "srt/kept.py": "def same(a, b=1): ...",
    "srt/changed.py": "class C:\n    f: int = 0\n    def g(self, x): ...",
    "srt/gone.py": "x = 1",
}
NEW = {
    "srt/kept.py": "def same(a, b=1): ...",
    "srt/changed.py": "class C:\n    f: int = 0\n    def g(self, x, y): ...",
    "srt/fresh.py": "y = 1",
}


@pytest.fixture
def catalog(tmp_path):
    return lambda: Catalog(tmp_path / "shipped", tmp_path / "user")


def test_a_second_release_adds_only_what_changed(catalog, make_wheel):
    record(str(make_wheel("0.5.1", OLD)), catalog())
    record(str(make_wheel("0.5.2", NEW)), catalog())
    pack = catalog().pack("0.5.2")
    modules = {name for name in pack.where if name.startswith("m:")}
    assert modules == {"m:sglang.srt.changed", "m:sglang.srt.fresh"}
    assert "m:sglang.srt.gone" in pack.removed
    assert pack.header.base == "0.5.1"
    assert catalog().changed("0.5.2") == {
        "sglang.srt.changed",
        "sglang.srt.fresh",
        "sglang.srt.gone",
    }


def test_both_releases_read_back_whole(catalog, make_wheel):
    record(str(make_wheel("0.5.1", OLD)), catalog())
    record(str(make_wheel("0.5.2", NEW)), catalog())
    old, new = catalog().surface("0.5.1"), catalog().surface("0.5.2")
    assert old.module_names() == {"sglang.srt.kept", "sglang.srt.changed", "sglang.srt.gone"}
    assert new.module_names() == {"sglang.srt.kept", "sglang.srt.changed", "sglang.srt.fresh"}
    assert len(new.parse("sglang.srt.changed:C.g").node.parameters) == 3
    assert len(old.parse("sglang.srt.changed:C.g").node.parameters) == 2


def test_identity_of_a_record_tells_whether_it_changed(make_wheel, tmp_path):
    record(str(make_wheel("0.5.1", OLD)), Catalog(tmp_path / "shipped", tmp_path / "user"))
    record(str(make_wheel("0.5.2", NEW)), Catalog(tmp_path / "shipped", tmp_path / "user"))
    catalog = Catalog(tmp_path / "shipped", tmp_path / "user")
    old, new = catalog.surface("0.5.1"), catalog.surface("0.5.2")
    assert old.record_id("sglang.srt.kept") == new.record_id("sglang.srt.kept")
    assert old.record_id("sglang.srt.changed") != new.record_id("sglang.srt.changed")
    assert new.record_id("sglang.srt.gone") is None


def test_a_post_release_recorded_later_stands_on_its_own_base(catalog, make_wheel):
    record(str(make_wheel("0.5.1", OLD)), catalog())
    record(str(make_wheel("0.5.2", NEW)), catalog())
    record(str(make_wheel("0.5.1.post1", OLD)), catalog())
    assert catalog().releases == ("0.5.1", "0.5.1.post1", "0.5.2")
    assert catalog().pack("0.5.1.post1").header.base == "0.5.1"
    assert catalog().pack("0.5.2").header.base == "0.5.1"


def test_recording_twice_gives_the_same_bytes(catalog, make_wheel, tmp_path):
    wheel = make_wheel("0.5.1", OLD)
    first = record(str(wheel), catalog()).path.read_bytes()
    again = record(str(wheel), catalog(), force=True)
    assert again.fresh
    assert again.path.read_bytes() == first


def test_several_processes_give_the_same_bytes_as_one(catalog, make_wheel):
    wheel = make_wheel("0.5.1", OLD)
    alone = record(str(wheel), catalog()).path.read_bytes()
    assert record(str(wheel), catalog(), force=True, jobs=2).path.read_bytes() == alone


@pytest.mark.parametrize("python", ["python3.10", "python3.12", "python3.13"])
def test_another_python_extracts_the_same_records(python, make_wheel, tmp_path):
    """What could differ between Pythons is the text of expressions: compare it over real code."""
    probe = shutil.which(python) and subprocess.run([python, "--version"], capture_output=True)
    if not probe or probe.returncode:
        pytest.skip(f"there is no {python} on this machine")
    code = (
        "import sys, ast; sys.path.insert(0, sys.argv[1])\n"
        "import hashlib, importlib.util, types\n"
        "from sglang_contracts.surface import expression\n"
        "tree = ast.parse(open(sys.argv[2]).read())\n"
        "print(hashlib.sha256('\\n'.join(expression.text(node) for node in ast.walk(tree)"
        " if isinstance(node, ast.expr)).encode()).hexdigest())"
    )
    root = Path(sglang_contracts.__file__).parent
    # The package's own __init__ of surface imports msgspec, which another Python may not have.
    bare = tmp_path / "bare" / "sglang_contracts" / "surface"
    bare.mkdir(parents=True)
    (bare / "__init__.py").write_text("")
    (bare.parent / "__init__.py").write_text("")
    shutil.copy(root / "surface" / "expression.py", bare)
    source = root / "surface" / "resolve.py"
    digests = set()
    for each in (sys.executable, python):
        done = subprocess.run(
            [each, "-c", code, str(tmp_path / "bare"), str(source)], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        digests.add(done.stdout)
    assert len(digests) == 1


def test_syntax_the_running_python_cannot_read_is_recorded_as_far_as_it_can_be(catalog, make_wheel):
    wheel = make_wheel(
        "0.5.1",
        {"srt/a.py": "def before(): ...\n\ndef broken(:\n    pass\n\nclass After:\n    x = 1"},
    )
    done = record(str(wheel), catalog())
    surface = catalog().surface("0.5.1")
    assert surface.parse("sglang.srt.a:before") is not None
    assert surface.parse("sglang.srt.a:After.x") is not None
    assert "SyntaxError" in done.problems["sglang.srt.a"]
    assert surface.is_open(surface.parse("sglang.srt.a"))


def test_what_is_on_record_is_left_alone(catalog, make_wheel):
    wheel = make_wheel("0.5.1", OLD)
    assert record(str(wheel), catalog()).fresh
    assert not record(str(wheel), catalog()).fresh
    assert not record("0.5.1", catalog()).fresh


def _record(arguments):
    wheel, shipped, user = arguments
    record(str(wheel), Catalog(shipped, user), force=True)


def test_two_recorders_at_once_leave_one_whole_file(make_wheel, tmp_path):
    wheel = make_wheel("0.5.1", OLD)
    work = [(wheel, tmp_path / "shipped", tmp_path / "user")] * 4
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.map(_record, work)
    assert [path.name for path in (tmp_path / "user").iterdir()] == ["0.5.1.surface"]
    surface = Catalog(tmp_path / "shipped", tmp_path / "user").surface("0.5.1")
    assert surface.parse("sglang.srt.kept:same") is not None


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to a read-only folder")
def test_a_read_only_cache_is_named_before_the_work(make_wheel, tmp_path):
    (tmp_path / "user").mkdir(mode=0o555)
    with pytest.raises(ContractsError, match="cannot write"):
        record(str(make_wheel("0.5.1", OLD)), Catalog(tmp_path / "shipped", tmp_path / "user"))


def test_a_cache_that_is_a_file_is_named(make_wheel, tmp_path):
    (tmp_path / "user").write_text("")
    with pytest.raises(ContractsError, match="cannot write") as caught:
        record(str(make_wheel("0.5.1", OLD)), Catalog(tmp_path / "shipped", tmp_path / "user"))
    assert "SGLANG_CONTRACTS_CACHE" in caught.value.hint


@pytest.mark.parametrize("spec", ["latest", "0.5.x", ""])
def test_what_is_no_release_is_named(spec, catalog):
    with pytest.raises(ContractsError, match="neither a release nor a wheel"):
        record(spec, catalog())


def pip_that_says(monkeypatch, stderr, returncode=1, stdout=""):
    def run(command, **_):
        return subprocess.CompletedProcess(command, returncode, stdout, stderr)

    monkeypatch.setattr(obtain.subprocess, "run", run)


def test_a_release_the_index_does_not_have_is_named(catalog, monkeypatch):
    pip_that_says(monkeypatch, "ERROR: No matching distribution found for sglang==9.9.9")
    with pytest.raises(ContractsError, match=r"SGLang 9\.9\.9.*No matching distribution"):
        record("9.9.9", catalog())


def test_without_a_network_the_error_says_what_pip_said(catalog, monkeypatch):
    pip_that_says(monkeypatch, "ERROR: Could not connect to the index")
    with pytest.raises(ContractsError, match="Could not connect") as caught:
        record("9.9.9", catalog())
    assert "network" in caught.value.hint
    with pytest.raises(ContractsError, match="Could not connect"):
        obtain.available()


def test_without_pip_the_error_says_how_to_get_it(catalog, monkeypatch):
    pip_that_says(monkeypatch, "/usr/bin/python: No module named pip")
    with pytest.raises(ContractsError, match="no pip") as caught:
        record("9.9.9", catalog())
    assert "ensurepip" in caught.value.hint


def test_the_index_is_asked_for_final_and_post_releases_only(monkeypatch):
    pip_that_says(
        monkeypatch,
        "",
        0,
        "sglang (0.5.2)\n"
        "Available versions: 0.5.2, 0.5.2rc1, 0.5.1.post1, 0.5.1, 0.4.5, 0.5.dev1\n",
    )
    assert obtain.available() == ("0.5.1", "0.5.1.post1", "0.5.2")


ODD = {
    "nothing that begins a statement": "1 +\n",
    "null bytes": "\0\0",
    "no such encoding": "# -*- coding: hex -*-\n",
    "a lone parenthesis": "(" * 10_000,
    "a deep chain": "x = a" + ".b" * 10_000,
    "deep but valid": "if a:\n    b = 1\n" + "elif a:\n    b = 1\n" * 700,
    "inherits itself": "class A(A): ...\nclass B(C): ...\nclass C(B): ...\n",
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
@pytest.mark.parametrize("jobs", [1, 2])
def test_one_odd_module_does_not_keep_a_release_from_being_recorded(
    catalog, make_wheel, text, jobs
):
    wheel = make_wheel("0.5.1", {**OLD, "srt/odd.py": text})
    recorded = record(str(wheel), catalog(), jobs=jobs)
    assert recorded.modules == len(OLD) + 1
    assert set(recorded.problems) <= {"sglang.srt.odd"}
    assert catalog().surface("0.5.1").parse("sglang.srt.changed:C.g") is not None


def test_statements_nested_too_deeply_are_left_out_and_said(catalog, make_wheel):
    deep = "if a:\n    b = 1\n" + "elif a:\n    b = 1\n" * 700
    wheel = make_wheel("0.5.1", {"srt/odd.py": f"before = 1\n{deep}after = 2\n"})
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(600)
        recorded = record(str(wheel), catalog())
    finally:
        sys.setrecursionlimit(limit)
    assert "RecursionError" in recorded.problems["sglang.srt.odd"]
    surface = catalog().surface("0.5.1")
    assert surface.parse("sglang.srt.odd:before") is not None
    assert surface.parse("sglang.srt.odd:after") is not None


@pytest.mark.parametrize("version", ["0.5.23rc1", "0.5.23.dev1", "0.5.23+mine"])
def test_only_final_and_post_releases_are_recorded(catalog, make_wheel, monkeypatch, version):
    monkeypatch.setattr(obtain, "download", lambda *_: pytest.fail("asked the index for it"))
    for spec in (version, str(make_wheel(version, OLD))):
        with pytest.raises(ContractsError, match="is a pre-release") as caught:
            record(spec, catalog())
        assert "only final and post releases" in caught.value.hint
    assert catalog().releases == ()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are POSIX's")
def test_a_pipe_is_refused_instead_of_waited_for(catalog, tmp_path):
    pipe = tmp_path / "sglang-0.5.1-py3-none-any.whl"
    os.mkfifo(pipe)
    with pytest.raises(ContractsError, match="is no file"):
        record(str(pipe), catalog())
    (tmp_path / "user").mkdir()
    os.mkfifo(tmp_path / "user" / "0.5.1.surface")
    with pytest.raises(ContractsError, match="is no regular file"):
        catalog().pack("0.5.1")


OFFLINE = (
    "WARNING: Retrying (Retry(total=1)) after connection broken by 'NewConnectionError(...)'\n"
    "ERROR: Could not find a version that satisfies the requirement sglang==0.5.24\n"
    "ERROR: No matching distribution found for sglang==0.5.24\n"
)
"""What pip prints where there is no network: it takes the release for missing."""


@pytest.mark.parametrize(
    "ask", [lambda _: obtain.available(), lambda at: obtain.download("0.5.24", at)]
)
def test_an_index_that_cannot_be_reached_is_asked_once_and_named(monkeypatch, tmp_path, ask):
    asked = []

    def run(command, **_):
        asked.append(command)
        return subprocess.CompletedProcess(command, 1, stdout="", stderr=OFFLINE)

    monkeypatch.setattr(obtain.subprocess, "run", run)
    with pytest.raises(ContractsError, match="the index cannot be reached"):
        ask(tmp_path)
    assert len(asked) == 1


def test_what_lies_in_the_cache_under_a_prerelease_is_no_release(catalog, make_wheel, tmp_path):
    recorded = record(str(make_wheel("0.5.1", OLD)), catalog())
    for name in ("0.5.2rc1", "0.5.2+mine"):
        shutil.copy(recorded.path, tmp_path / "user" / f"{name}.surface")
    assert catalog().releases == ("0.5.1",)


def test_a_folder_in_place_of_a_surface_file_is_named_with_its_path_and_the_fix(catalog, tmp_path):
    folder = tmp_path / "user" / "0.5.1.surface"
    folder.mkdir(parents=True)
    with pytest.raises(ContractsError) as caught:
        catalog().pack("0.5.1")
    assert str(folder) in caught.value.message
    assert "delete it" in caught.value.hint
