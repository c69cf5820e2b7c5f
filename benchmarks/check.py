"""How long ``check`` takes, and against what: griffe's diff of the API, ty's type check.

    python benchmarks/check.py PLUGIN [--sglang FOLDER] [--old FOLDER] [--repeat 3]

PLUGIN is a source tree or wheel. FOLDER holds an unpacked SGLang (for ty, and with ``--old`` for
griffe); without it only our own times are taken. One run prints: cold (nothing cached), warm, one
release, what a further release costs, peak memory, and the ratios to the others' times.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

PEAK = """
import json, resource, sys, time
start = time.perf_counter()
from sglang_contracts.surface import load_catalog
from sglang_contracts.verify import check_plugin
catalog = load_catalog()
releases = catalog.releases if sys.argv[2] == "all" else catalog.releases[-int(sys.argv[2]):]
report = check_plugin(sys.argv[1], catalog, releases)
print(json.dumps({
    "seconds": time.perf_counter() - start,
    "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    "releases": len(report.releases),
    "uses": report.facts["uses"],
}))
"""


def ours(plugin: Path, releases: str, cache: Path) -> dict[str, float]:
    """One run in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(plugin), releases],
        env={**os.environ, "SGLANG_CONTRACTS_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    result: dict[str, float] = json.loads(done.stdout)
    return result


def timed(command: list[str], folder: Path) -> float | None:
    """Seconds of a command; None where it is not installed."""
    if shutil.which(command[0]) is None:
        return None
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, capture_output=True, check=False)
    return time.perf_counter() - start


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("plugin", type=Path)
    parser.add_argument("--sglang", type=Path)
    parser.add_argument("--old", type=Path)
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "cache"
        cold = ours(args.plugin, "all", cache)
        warm = statistics.median(
            ours(args.plugin, "all", cache)["seconds"] for _ in range(args.repeat)
        )
        fresh = [Path(folder) / f"cache{number}" for number in range(3)]
        one = ours(args.plugin, "1", fresh[0])["seconds"]
        ten = ours(args.plugin, "10", fresh[1])["seconds"]
        further = (cold["seconds"] - ten) / max(cold["releases"] - 10, 1) * 1000
        print(f"plugin {args.plugin.name}: {cold['uses']} uses, {cold['releases']:.0f} releases")
        print(f"  cold, all releases   {cold['seconds']:7.2f} s   {cold['megabytes']:.0f} MB peak")
        print(f"  cold, one release    {one:7.2f} s")
        print(f"  warm, all releases   {warm:7.2f} s")
        print(
            f"  a further release    {further:7.1f} ms cold, "
            f"{warm / max(cold['releases'], 1) * 1000:.1f} ms warm"
        )
        source = args.plugin
        if source.suffix == ".whl":
            source = Path(folder) / "source"
            with zipfile.ZipFile(args.plugin) as archive:
                archive.extractall(source)
        if args.sglang is not None:
            seconds = timed(
                ["ty", "check", str(source), "--extra-search-path", str(args.sglang)], source
            )
            if seconds is not None:
                print(
                    f"  ty, one release      {seconds:7.2f} s   ours warm / ty {warm / seconds:.2f}"
                )
            if args.old is not None:
                seconds = timed(
                    ["griffe", "check", "srt", "--search", str(args.sglang / "sglang"),
                     "--against-path", str(args.old / "sglang")], source,
                )  # fmt: skip
                if seconds is not None:
                    print(
                        f"  griffe, two releases {seconds:7.2f} s   ours warm / griffe "
                        f"{warm / seconds:.2f}"
                    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
