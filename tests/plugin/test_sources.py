"""What is read of a plugin, and what is left out with a reason."""

from __future__ import annotations

import contextlib
import io
import json
import os
import zipfile
from pathlib import Path

import pytest

from sglang_contracts.errors import ContractsError
from sglang_contracts.plugin import load_plugin
from sglang_contracts.plugin.ir.records import File, UseKind
from sglang_contracts.plugin.reading import files as sources
from sglang_contracts.plugin.reading.files import LIMIT, notebook_text, read_sources
from sglang_contracts.plugin.reading.unreadable import Search

IMPORT = "from sglang.srt.x import Y\n"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SGLANG_CONTRACTS_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "plugin"
    folder.mkdir()
    return folder


def imports(root: Path) -> dict[str, int]:
    plugin = load_plugin(root)
    return {
        file.path: sum(use.kind is UseKind.IMPORT for use in file.uses) for file in plugin.files
    }


def problems(root: Path) -> dict[str, str]:
    return {file.path: file.problem for file in load_plugin(root).files if file.problem}


def test_a_file_that_is_no_python_is_skipped_and_said_and_others_are_read(root: Path) -> None:
    (root / "bad.py").write_text("def broken(:\n")
    (root / "good.py").write_text(IMPORT)
    assert list(problems(root)) == ["bad.py"]
    assert imports(root)["good.py"] == 1


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("latin.py", "# -*- coding: latin-1 -*-\n# caf\xe9\n".encode("latin-1") + IMPORT.encode()),
        ("bom.py", b"\xef\xbb\xbf" + IMPORT.encode()),
        ("crlf.py", IMPORT.replace("\n", "\r\n").encode()),
        ("utf16.py", IMPORT.encode("utf-16")),
    ],
)
def test_odd_encodings_are_read(root: Path, name: str, data: bytes) -> None:
    (root / name).write_bytes(data)
    assert imports(root) == {name: 1}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x00\x01\x02", "binary"),
        (b"# -*- coding: no-such -*-\n", "encoding"),
        (b"# \xff\xfe in a comment\n", "encoding"),
        (b"#" * (LIMIT + 1), "larger"),
        (b"x = " + b"(" * 3000 + b")" * 3000, ""),
    ],
)
def test_what_cannot_be_read_is_said(root: Path, data: bytes, reason: str) -> None:
    (root / "odd.py").write_bytes(data)
    assert reason in problems(root)["odd.py"]


def test_code_cells_of_a_notebook_are_read_and_magics_are_not(root: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# from sglang.srt.x import A"]},
        {"cell_type": "code", "source": ["%pip install sglang\n", "!ls\n", IMPORT]},
        {"cell_type": "code", "source": "%%bash\nls"},
    ]
    (root / "demo.ipynb").write_text(json.dumps({"cells": cells}))
    assert imports(root) == {"demo.ipynb": 1}
    with pytest.raises(ValueError, match="no notebook"):
        notebook_text(b"{}")


def test_links_that_go_round_or_nowhere_are_not_followed(root: Path) -> None:
    (root / "good.py").write_text(IMPORT)
    (root / "loop").symlink_to(root)
    (root / "twin.py").symlink_to(root / "good.py")
    (root / "dangling.py").symlink_to(root / "none.py")
    (root / "round.py").symlink_to(root / "round.py")
    (root / ".#good.py").symlink_to("someone@host.1")  # an editor's lock
    assert imports(root) == {"good.py": 1, "dangling.py": 0, "round.py": 0}
    assert problems(root) == {
        "dangling.py": "is a symbolic link that leads nowhere",
        "round.py": "is a symbolic link that leads to itself",
    }


def test_a_folder_of_nothing_but_a_link_to_itself_names_the_link(root: Path) -> None:
    (root / "a.py").symlink_to(root / "a.py")
    with pytest.raises(ContractsError, match=r"no file to check.*a\.py is a symbolic link that"):
        load_plugin(root)


def test_virtual_environments_and_caches_are_no_part_of_a_plugin(root: Path) -> None:
    for folder in (".venv/lib", "env/lib", "__pycache__", ".git", "node_modules/x"):
        (root / folder).mkdir(parents=True)
        (root / folder / "a.py").write_text(IMPORT)
    (root / "env" / "pyvenv.cfg").write_text("")
    (root / "own.py").write_text(IMPORT)
    assert imports(root) == {"own.py": 1}


def test_globs_leave_files_out(root: Path) -> None:
    (root / "tests").mkdir()
    (root / "tests" / "a.py").write_text(IMPORT)
    (root / "own.py").write_text(IMPORT)
    assert [file.path for file in read_sources(root, ["tests/*"]).files] == ["own.py"]


def test_a_wheel_is_read_inside_the_archive(tmp_path: Path) -> None:
    path = tmp_path / "my_plugin-1.2-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("my_plugin/__init__.py", IMPORT)
        archive.writestr("my_plugin-1.2.dist-info/METADATA", "Name: my-plugin\n")
    plugin = load_plugin(path)
    assert (plugin.name, plugin.version) == ("my_plugin", "1.2")
    assert [file.path for file in plugin.files] == ["my_plugin/__init__.py"]


@pytest.mark.parametrize("name", ["no-such-distribution-anywhere", "missing/folder"])
def test_nothing_of_that_name_is_an_error_with_a_hint(name: str) -> None:
    with pytest.raises(ContractsError) as caught:
        load_plugin(name)
    assert caught.value.hint


def test_a_broken_wheel_and_an_empty_folder_are_errors(tmp_path: Path, root: Path) -> None:
    (tmp_path / "x.whl").write_bytes(b"no zip")
    with pytest.raises(ContractsError, match="no readable wheel"):
        load_plugin(tmp_path / "x.whl")
    with pytest.raises(ContractsError, match="no file to check"):
        load_plugin(root)


def test_unchanged_files_come_from_the_cache_and_a_broken_cache_is_made_again(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "own.py").write_text(IMPORT)
    first = load_plugin(root)

    def never(*args: object) -> File:
        raise AssertionError("read again")

    with monkeypatch.context() as patched:
        patched.setattr("sglang_contracts.plugin.plugin.extract", never)
        assert load_plugin(root) == first
    [stored] = (tmp_path / "cache" / "plugins").iterdir()
    stored.write_bytes(b"\x93garbage")
    assert load_plugin(root) == first


def test_nothing_of_a_plugin_is_executed(root: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    (root / "own.py").write_text(f"open({str(mark)!r}, 'w').write('x')\nimport own2\n")
    (root / "setup.py").write_text(f"open({str(mark)!r}, 'w').write('x')\n")
    load_plugin(root)
    assert not mark.exists()


needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are POSIX's")


@needs_pipes
def test_a_pipe_in_the_tree_is_skipped_and_said_instead_of_waited_for(root: Path) -> None:
    os.mkfifo(root / "pipe.py")
    os.mkfifo(root / "pyproject.toml")
    (root / "good.py").write_text(IMPORT)
    assert problems(root) == {"pipe.py": "is no regular file"}
    assert imports(root)["good.py"] == 1


@needs_pipes
def test_a_pipe_given_as_the_plugin_is_told_for_what_it_is(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    with pytest.raises(ContractsError, match=r"pipe\.py is a device, a pipe or a socket"):
        read_sources(tmp_path / "pipe.py")


def test_a_project_file_without_end_is_not_read(root: Path) -> None:
    if not Path("/dev/zero").exists():
        pytest.skip("needs a device that never ends")
    (root / "pyproject.toml").symlink_to("/dev/zero")
    (root / "good.py").write_text(IMPORT)
    assert read_sources(root).name == "plugin"


def test_a_project_file_nested_too_deeply_is_left_to_the_settings(root: Path) -> None:
    (root / "pyproject.toml").write_text("x = " + "[" * 20_000)
    (root / "good.py").write_text(IMPORT)
    assert read_sources(root).name == "plugin"


@pytest.mark.parametrize(("name", "limit"), [("TOTAL", 3 * len(IMPORT)), ("FILES", 3)])
def test_a_wheel_that_unpacks_to_too_much_is_refused_before_it_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, limit: int
) -> None:
    path = tmp_path / "bomb-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(4):
            archive.writestr(f"bomb/m{number}.py", IMPORT)
    assert len(read_sources(path).files) == 4
    monkeypatch.setattr(sources, name, limit)
    with pytest.raises(ContractsError, match="unpacks to more than a plugin holds"):
        read_sources(path)


def test_a_wheel_damaged_in_any_byte_is_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "demo-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("demo/a.py", IMPORT * 20)
    whole = path.read_bytes()
    for at in range(len(whole)):
        for value in (0, 0xFF, whole[at] ^ 0x11):
            path.write_bytes(whole[:at] + bytes([value]) + whole[at + 1 :])
            with contextlib.suppress(ContractsError):
                read_sources(path)


def test_a_link_that_leads_to_itself_is_left_out(root: Path) -> None:
    (root / "loop.py").symlink_to("loop.py")
    (root / "good.py").write_text(IMPORT)
    read = [file.path for file in read_sources(root).files if not file.problem]
    assert read == ["good.py"]


@pytest.mark.parametrize(
    "cell",
    [
        [1, None],
        {"a": 1},
        "files = !ls\nx = %time 1\nlist?\n",
        "%%time\ny = 1\n",
        "%%bash\nls (\n",
    ],
)
def test_what_only_a_notebook_understands_keeps_no_cell_from_being_read(
    root: Path, cell: object
) -> None:
    cells = [{"cell_type": "code", "source": source} for source in (IMPORT, cell, IMPORT)]
    (root / "n.ipynb").write_text(json.dumps({"cells": cells}))
    assert problems(root) == {}
    assert imports(root) == {"n.ipynb": 2}


def test_the_python_below_a_timing_magic_is_read(root: Path) -> None:
    cell = {"cell_type": "code", "source": "%%time\n" + IMPORT}
    (root / "n.ipynb").write_text(json.dumps({"cells": [cell]}))
    assert imports(root) == {"n.ipynb": 1}


def test_a_notebook_nested_too_deeply_is_skipped_and_said(root: Path) -> None:
    (root / "n.ipynb").write_text('{"cells": ' + "[" * 100_000)
    assert problems(root) == {"n.ipynb": "is no notebook"}


def unread(root: Path) -> dict[str, bool]:
    return {file.path: file.unread for file in load_plugin(root).files if file.problem}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.py", b"import sglang\nx = (\n"),
        ("a.py", b"import SGLang_fork\nx = (\n"),
        ("a.py", "import sglang\nx = (\n".encode("utf-16")),
        ("a.ipynb", b"sglang"),
        ("a.py", b"# sglang" + b"#" * LIMIT),
        ("a.py", b"#" * ((1 << 20) - 3) + b"sglang" + b"#" * LIMIT),  # over two pieces
    ],
)
def test_a_file_that_is_not_read_and_names_sglang_is_told(
    root: Path, name: str, data: bytes
) -> None:
    (root / name).write_bytes(data)
    assert unread(root) == {name: True}
    if name == "a.py":
        with zipfile.ZipFile(root / "p-1-py3-none-any.whl", "w") as archive:
            archive.writestr("p/a.py", data)
        plugin = load_plugin(root / "p-1-py3-none-any.whl")
        assert [file.unread for file in plugin.files] == [True]


@pytest.mark.parametrize("data", [b"x = (\n", b"#" * (LIMIT + 1)])
def test_a_file_that_is_not_read_and_never_names_sglang_is_none_of_them(
    root: Path, data: bytes
) -> None:
    (root / "a.py").write_bytes(data)
    assert unread(root) == {"a.py": False}


def test_what_lies_beyond_the_search_may_name_sglang() -> None:
    assert Search(4).finds(io.BytesIO(b"12345"))
    assert not Search(5).finds(io.BytesIO(b"12345"))


def test_a_file_that_may_not_be_read_may_use_sglang(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    (root / "a.py").write_text("")
    monkeypatch.setattr(Path, "read_bytes", refused)
    [file] = read_sources(root).files
    assert (file.problem, file.unread) == ("Permission denied", True)


def test_a_folder_that_cannot_be_listed_is_said(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "sub").mkdir()
    (root / "a.py").write_text(IMPORT)
    listing = os.scandir

    def refused(path: str) -> object:
        if Path(path).name == "sub":
            raise PermissionError(13, "Permission denied", str(path))
        return listing(path)

    monkeypatch.setattr(os, "scandir", refused)
    assert unread(root) == {"sub/": True}
    assert [each.path for each in read_sources(root, ["sub"]).files] == ["a.py"]


def test_what_is_said_of_a_file_is_not_kept_for_another_of_its_name(root: Path) -> None:
    (root / "good.py").write_text(IMPORT)
    (root / "a.py").write_bytes(b"#" * (LIMIT + 1))
    assert problems(root) == {"a.py": "larger than 2 MB"}
    (root / "a.py").write_bytes(b"")
    assert problems(root) == {}


needs_bytes = pytest.mark.skipif(os.name == "nt", reason="names are bytes on POSIX alone")


@needs_bytes
def test_a_name_that_is_no_utf_8_is_spelled_so_that_it_can_be_printed(tmp_path: Path) -> None:
    root = Path(os.fsdecode(os.fsencode(tmp_path) + b"/own\xfe"))
    root.mkdir()
    (root / os.fsdecode(b"\xff.py")).write_text(IMPORT)
    plugin = load_plugin(root)
    assert (plugin.name, [file.path for file in plugin.files]) == ("own\\xfe", ["\\xff.py"])
    plugin.path.encode()
    with pytest.raises(ContractsError, match="no file to check"):
        read_sources(root, [os.fsdecode(b"\xff.py")])


def test_a_script_in_an_older_encoding_is_read_all_the_same(root: Path) -> None:
    text = "# \u7814\u7a76\npython -m sglang.launch_server --tp-size 2\n"
    (root / "run.sh").write_bytes(text.encode("gbk"))
    [file] = load_plugin(root).files
    assert (file.problem, [use.name for use in file.uses]) == ("", ["--tp-size"])
