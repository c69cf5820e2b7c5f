"""How long ``check`` takes beside what one would use without it: ty and griffe, in one run.

    python benchmarks/check.py [PLUGIN] [--new 0.5.23] [--old 0.5.22] [--repeat 3]

PLUGIN is a source tree or a wheel; by default the largest of the public plugins that docs/
real-plugins.md judges is fetched by pip. So are two SGLang wheels, unpacked into a temporary folder
for ty (which checks the plugin against one release) and griffe (which compares two releases and
knows no plugin). Every figure is the time of a whole command in a process of its own, the memory is
the largest that any of ours took. Needs ty and griffe beside this Python.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import defaultdict
from pathlib import Path

from sglang_contracts.surface import load_catalog

PLUGIN = "eagle-harness==0.1.3"
GRIFFE = """
import sys
import griffe
old, new = (
    griffe.load("srt", search_paths=[folder], allow_inspection=False) for folder in sys.argv[1:]
)
print(sum(1 for _ in griffe.find_breaking_changes(old, new)))
"""


def run(command: list[str], cwd: Path, cache: Path | None = None) -> tuple[float, str]:
    """Seconds of a command, and what it printed; it must end with 0 or 1 (it found something)."""
    env = dict(os.environ)
    if cache is not None:
        env["SGLANG_CONTRACTS_CACHE"] = str(cache)
    start = time.perf_counter()
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    return seconds, done.stdout


def ours(plugin: Path, cwd: Path, cache: Path, releases: list[str]) -> float:
    """Seconds of ``check`` of these releases."""
    command = [sys.executable, "-m", "sglang_contracts.cli", "check", str(plugin), "--quiet"]
    for each in releases:
        command += ["--release", each]
    return run(command, cwd, cache)[0]


def fetch(requirement: str, folder: Path) -> Path:
    """A wheel, fetched with the user's own pip."""
    folder.mkdir()
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", "."]
    run([*command, requirement], folder)
    return next(folder.glob("*.whl"))


def unpacked(wheel: Path, folder: Path) -> Path:
    """The folder a wheel was unpacked to; nothing of it is imported."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("plugin", type=Path, nargs="?")
    parser.add_argument("--new", default="0.5.23", help="the release ty checks against")
    parser.add_argument("--old", default="0.5.22", help="griffe compares it with --new")
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    releases = list(load_catalog().releases)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plugin = args.plugin.resolve() if args.plugin else fetch(PLUGIN, folder / "plugin")
        source = unpacked(plugin, folder / "source") if plugin.suffix == ".whl" else plugin
        new, old = (
            unpacked(fetch(f"sglang=={each}", folder / each), folder / f"sglang-{each}")
            for each in (args.new, args.old)
        )
        cold, warm, ty = [], [], []
        growth: dict[int, list[float]] = defaultdict(list)
        for number in range(args.repeat):
            cache = folder / f"cache{number}"
            cold.append(ours(plugin, folder, cache, releases))
            warm.append(ours(plugin, folder, cache, releases))
            for start in (len(releases) - 1, len(releases) // 2):
                some = releases[start:]
                seconds = ours(plugin, folder, folder / f"from{start}-{number}", some)
                growth[start].append((cold[-1] - seconds) / start * 1000)
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
            command = ["ty", "check", str(source), "--extra-search-path", str(new), "--exit-zero"]
            ty.append(run(command, folder)[0])
            print(f"  run {number + 1} of {args.repeat} done", file=sys.stderr)
        command = [sys.executable, "-c", GRIFFE, str(old / "sglang"), str(new / "sglang")]
        griffe, changes = run(command, folder)
        print(f"{plugin.name}, {len(releases)} releases; medians of {args.repeat}")
        times = {key: statistics.median(each) for key, each in (("cold", cold), ("warm", warm))}
        print(f"  check, cold, all releases     {times['cold']:6.2f} s")
        print(f"  check, warm, all releases     {times['warm']:6.2f} s")
        for start, each in growth.items():
            begin = f"from the newest {len(releases) - start}"
            print(
                f"  a further release, cold       {statistics.median(each):6.1f} ms   ({begin} on)"
            )
        print(f"  peak memory                   {peak:6d} MB")
        median = statistics.median(ty)
        print(f"  ty, one release               {median:6.2f} s")
        print(f"  griffe, two releases          {griffe:6.2f} s   ({changes.strip()} changes)")
        for peer, seconds in (("ty", median), ("griffe", griffe)):
            for key, value in times.items():
                print(f"  {key:4} / {peer:6}                 {value / seconds:6.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
