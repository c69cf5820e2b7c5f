#!/usr/bin/env python3
"""Recording ``sglang/srt`` of one release against griffe's dump of the same package.

    python benchmarks/record.py [--release 0.5.23] [--rounds 3]

Both read the same wheel in as many processes (one), take turns in one run, and must have seen the
same modules. Prints the median of each and the ratio.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from sglang_contracts.surface import obtain
from sglang_contracts.surface.frames import frames
from sglang_contracts.surface.record import read_modules
from sglang_contracts.surface.wheel import Wheel

PACKAGE = "sglang.srt"


def ours(wheel: Path) -> tuple[float, set[str]]:
    """Read every module in a process of its own, down to the bytes that would be stored."""
    code = (
        "import sys, time; from pathlib import Path\n"
        "sys.path.insert(0, sys.argv[2])\n"
        "import record\n"
        "print(record.record_once(Path(sys.argv[1])))"
    )
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, str(wheel), str(Path(__file__).parent)],
        check=True,
        capture_output=True,
        text=True,
    )
    return time.perf_counter() - started, set(json.loads(done.stdout))


def record_once(wheel: Path) -> str:
    """What the subprocess does: the modules' names as JSON."""
    modules = read_modules(Wheel(wheel), PACKAGE)
    assert len(frames(modules)) > len(modules)
    return json.dumps(sorted(modules))


def griffe(folder: Path) -> tuple[float, set[str]]:
    """``griffe dump srt -s <wheel>/sglang``; as ``sglang`` it would skip ``srt``."""
    output = folder / "dump.json"
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "griffe", "dump", "srt", "-s", str(folder / "sglang"), "-o", output],
        check=True,
        capture_output=True,
    )
    taken = time.perf_counter() - started
    return taken, set(_modules(json.loads(output.read_text()), "sglang"))


def complete(root: Path) -> set[str]:
    """Give each folder of modules an ``__init__.py``: inside a package griffe skips those without.

    Returns:
        The modules this makes, which are in no release.
    """
    made = set()
    for folder in {path.parent for path in root.rglob("*.py")}:
        for each in (folder, *folder.parents):
            if each == root:
                break
            if not (each / "__init__.py").exists():
                (each / "__init__.py").touch()
                made.add(".".join(["sglang", "srt", *each.relative_to(root).parts]))
    return made


def _modules(tree: dict, prefix: str) -> list[str]:  # type: ignore[type-arg]
    found: list[str] = []
    for name, node in tree.items():
        if node.get("kind") == "module":
            found.append(f"{prefix}.{name}")
            found += _modules(node.get("members", {}), f"{prefix}.{name}")
    return found


def main() -> None:
    """Run both in turn and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--release", default="0.5.23")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--wheel", type=Path, help="use this wheel instead of fetching one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        wheel = options.wheel or obtain.download(options.release, folder / "wheel")
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.startswith("sglang/srt/") and name.endswith(".py"):
                    archive.extract(name, folder)
        made = complete(folder / "sglang" / "srt")
        times: dict[str, list[float]] = {"ours": [], "griffe": []}
        for _ in range(options.rounds):
            taken, modules = ours(wheel)
            times["ours"].append(taken)
            taken, theirs = griffe(folder)
            times["griffe"].append(taken)
            # ``srt`` itself has no file of its own: a package to griffe, none to us.
            missed = (theirs - made - {PACKAGE}) ^ modules
            if missed:
                raise SystemExit(f"not the same modules were seen: {sorted(missed)[:10]}")
    medians = {name: statistics.median(values) for name, values in times.items()}
    print(f"{len(modules)} modules, {options.rounds} rounds, one process each")
    for name, value in medians.items():
        print(f"{name:8} {value:6.1f} s")
    print(f"ratio    {medians['ours'] / medians['griffe']:6.2f}")


if __name__ == "__main__":
    main()
