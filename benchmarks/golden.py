"""Golden answers: what the static commands said, to be compared byte for byte after a change.

    python benchmarks/golden.py inputs FOLDER [--wheel PLUGIN.whl]   freeze what is looked at
    python benchmarks/golden.py write FOLDER ANSWERS                 answer it with the present code
    python benchmarks/golden.py compare ANSWERS OTHER [--show NAME]  what differs, and how

The inputs are copies: the reference plugin, the third-party vendors of the tests, the fakes and the
framework itself as plugins, one plugin's wheel, and the fixtures of every rule beside the two
imaginary releases that they break on. A change of the tool's own code therefore changes no input:
freeze once, write before the change and after it. ``write`` prints a digest of each answer, short
enough to keep in a note.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import itertools
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
import textwrap
import zipfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parents[1]
TREES = ("kunlun_backend", "tests/vendor", "fakes", "sglang_contracts")
UPGRADES = (("0.5.3", "0.5.9"), ("0.5.12", "0.5.16"), ("0.5.16", "0.5.23"))


def freeze(folder: Path, wheel: Path | None) -> None:
    """Copy what is looked at into a folder."""
    trees = folder / "trees"
    for tree in TREES:
        ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / tree, trees / tree.replace("/", "-"), ignore=ignore)
    if wheel is not None:
        shutil.copy(wheel, trees)
    imaginary = runpy.run_path(str(ROOT / "tests" / "verify" / "imaginary.py"))
    for release, files in (("0.5.1", imaginary["OLD"]), ("0.5.2", imaginary["NEW"])):
        path = folder / "imaginary" / f"sglang-{release}-py3-none-any.whl"
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in files.items():
                archive.writestr(f"sglang/{name}", textwrap.dedent(text))
    for name, text in imaginary["CONTRACTS"].items():
        path = folder / "imaginary" / "contracts" / f"{name}.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for kind in ("fires", "silent"):
        for fixture in imaginary[kind.upper()]:
            path = folder / "fixtures" / f"{fixture.cause}-{kind}-{fixture.name}" / "plugin.py"
            path.parent.mkdir(parents=True)
            path.write_text(fixture.text, encoding="utf-8")


def command(*arguments: str) -> bytes:
    """What a command prints, in a process of its own; it must end with 0 or 1."""
    done = subprocess.run(
        [sys.executable, "-m", "sglang_contracts.cli", *arguments],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(arguments)} ended with {done.returncode}:\n{done.stderr.decode()}")
    return done.stdout


def answers(folder: Path, out: Path, only: str) -> None:
    """Answer the inputs with the present code, cold; ``only`` those whose names begin so."""
    from sglang_contracts.surface import load_catalog

    out.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)

    def said(name: str, data: bytes) -> None:
        (out / f"{name}.json").write_bytes(data)
        print(name, hashlib.sha256(data).hexdigest()[:16], flush=True)

    def keep(name: str, *commands: Sequence[str]) -> None:
        if name.startswith(only):
            said(name, b"".join(command(*each, "--format", "json") for each in commands))

    keep("verify", ["verify"])
    neighbours = itertools.pairwise(load_catalog().releases)
    keep("diff", *(["diff", old, new] for old, new in neighbours))
    for tree in sorted(path.name for path in Path("trees").iterdir()):
        place = f"trees/{tree}"
        keep(f"matrix-{tree}", ["matrix", place])
        keep(f"uses-{tree}", ["uses", place])
        keep(
            f"upgrade-{tree}",
            *(["upgrade", place, "--from", old, "--to", new] for old, new in UPGRADES),
        )
    if "rules".startswith(only):
        said("rules", rules())


def rules() -> bytes:
    """Every rule's fixtures on the imaginary releases, notes included."""
    sys.path.insert(0, str(ROOT))  # the code beside this script, whatever is installed
    from sglang_contracts.contract import load_contract
    from sglang_contracts.surface import Catalog
    from sglang_contracts.surface.record import record
    from sglang_contracts.verify import check_plugin

    with tempfile.TemporaryDirectory() as temporary:
        kept = Path(temporary)
        for wheel in sorted(Path("imaginary").glob("*.whl")):
            record(str(wheel), Catalog(kept / "shipped", kept / "user"))
        catalog = Catalog(kept / "shipped", kept / "user")
        paths = sorted(Path("imaginary/contracts").glob("*.toml"))
        contracts = tuple(load_contract(path) for path in paths)
        found = {
            folder.name: check_plugin(folder, catalog, catalog.releases, contracts=contracts)
            for folder in sorted(Path("fixtures").iterdir())
        }
    return msgspec.json.format(msgspec.json.encode(found, enc_hook=str))


def compare(one: Path, other: Path, show: str) -> int:
    """Print what differs between two folders of answers; 0 where nothing does."""
    names = sorted({path.name for folder in (one, other) for path in folder.glob("*.json")})
    differing = []
    for name in names:
        texts = [
            (folder / name).read_bytes() if (folder / name).exists() else b""
            for folder in (one, other)
        ]
        if texts[0] == texts[1]:
            continue
        differing.append(name)
        if show and name.startswith(show):
            lines = [
                msgspec.json.format(text).decode().splitlines() if text[:1] == b"{" else []
                for text in texts
            ]
            sys.stdout.writelines(
                f"{line}\n" for line in difflib.unified_diff(*lines, "before", "after", lineterm="")
            )
    print(f"{len(names) - len(differing)} of {len(names)} equal; differing: {differing or 'none'}")
    return int(bool(differing))


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    freezing = commands.add_parser("inputs", help="freeze what is looked at")
    freezing.add_argument("folder", type=Path)
    freezing.add_argument("--wheel", type=Path, help="a plugin's wheel, as a fifth tree")
    writing = commands.add_parser("write", help="answer it with the present code")
    writing.add_argument("folder", type=Path)
    writing.add_argument("answers", type=Path)
    writing.add_argument("--only", default="", help="answers whose names begin so")
    comparing = commands.add_parser("compare", help="what differs")
    comparing.add_argument("one", type=Path)
    comparing.add_argument("other", type=Path)
    comparing.add_argument("--show", default="", help="print the difference of answers so named")
    chosen = parser.parse_args()
    if chosen.command == "inputs":
        freeze(chosen.folder, chosen.wheel)
        return 0
    if chosen.command == "compare":
        return compare(chosen.one, chosen.other, chosen.show)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["SGLANG_CONTRACTS_CACHE"] = cache
        answers(chosen.folder.resolve(), chosen.answers.resolve(), chosen.only)
    return 0


if __name__ == "__main__":
    sys.exit(main())
