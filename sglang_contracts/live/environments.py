"""The live environments: one heavy base, and a thin layer for each release.

The base holds torch and all that SGLang imports on a CPU, a gigabyte that is the same for every
release. It is built once, under a lock, by pip alone. A tox environment holds one SGLang wheel and
a ``.pth`` file that names the base. This file runs by its path, before anything is installed, so it
needs nothing but the standard library (``packaging`` only where releases are ordered).

    python environments.py link --work .tox/live     give this interpreter the base
    python environments.py matrix --label live       a matrix for GitHub Actions, as JSON
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
SPREAD = ("0.5.3", "0.5.9", "0.5.12", "0.5.13", "0.5.16", "0.5.20", "0.5.22", "0.5.23")
"""The releases that ``tox`` without arguments runs: each side of every large change."""

SPARE = "import gc; gc.set_threshold(50_000, 50, 100)"
"""Importing SGLang makes millions of objects that stay: collecting among them again and again takes
a quarter of the time."""

LINK = "_sglang_contracts_base.pth"
PYTHON = "3.11"
"""SGLang's wheels from 0.5.11 on are built for CPython 3.11 alone."""

_VERSION = re.compile(r"\d+(\.\d+)+(\.post\d+)?")


def releases(project: Path = PROJECT) -> tuple[str, ...]:
    """The recorded releases, ascending; the spread where none is recorded yet.

    Args:
        project: The top of the checkout.

    Returns:
        The versions in ``matrix/releases.toml``.
    """
    from packaging.version import Version

    try:
        text = (project / "matrix" / "releases.toml").read_text(encoding="utf-8")
    except FileNotFoundError:
        return SPREAD
    # tomllib is not there on Python 3.10, and tox need not bring tomli: one key of one file.
    found = re.findall(r'^version\s*=\s*"([^"]+)"', text, flags=re.MULTILINE)
    return tuple(sorted({v for v in found if _VERSION.fullmatch(v)}, key=Version)) or SPREAD


def is_minor(release: str) -> bool:
    """Whether ``release`` is of the form X.Y.Z: no post release."""
    return re.fullmatch(r"\d+\.\d+\.\d+", release) is not None


def has_registry(release: str) -> bool:
    """Whether an attention backend can be registered: from 0.5.3 on; builders alone before."""
    from packaging.version import Version

    return Version(release) >= Version("0.5.3")


def labels(release: str) -> tuple[str, ...]:
    """The tox labels of a release: ``live`` for the spread, ``all`` for each minor."""
    names = [("live", release in SPREAD), ("all", is_minor(release))]
    return tuple(name for name, holds in names if holds)


def matrix(label: str, project: Path = PROJECT) -> dict[str, list[dict[str, str]]]:
    """A job matrix in GitHub Actions' form.

    Args:
        label: ``live``, ``all`` or ``recorded`` (every recorded release).
        project: The top of the checkout.

    Returns:
        ``{"include": [{"release": …, "tox": …, "python": …}, …]}``, ascending.
    """
    chosen = [r for r in releases(project) if label == "recorded" or label in labels(r)]
    return {"include": [{"release": r, "tox": f"sglang-{r}", "python": PYTHON} for r in chosen]}


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on ``path`` between processes (released when the process ends).

    Who has to wait is told so: what another environment makes may take minutes.
    """
    import fcntl

    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"waiting for the process that holds {path}", file=sys.stderr, flush=True)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _run(command: Sequence[str | Path], hint: str = "") -> None:
    done = subprocess.run([str(part) for part in command], check=False)  # noqa: S603 - our own
    if done.returncode:
        said = f"failed ({done.returncode}): {' '.join(map(str, command))}"
        raise SystemExit(f"{said}\n{hint}" if hint else said)


def _digest(*files: Path) -> str:
    found = hashlib.sha256(sys.version.encode())
    for file in files:
        found.update(file.read_bytes() if file.exists() else b"")
    return found.hexdigest()[:12]


def _site(environment: Path) -> Path:
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return environment / "lib" / version / "site-packages"


def _torch_imports(python: Path) -> bool:
    code = "import torch; torch.zeros(1)"
    done = subprocess.run([str(python), "-I", "-c", code], check=False, capture_output=True)  # noqa: S603
    return done.returncode == 0


def base(work: Path, project: Path = PROJECT) -> Path:
    """Build the shared base if it is not there, and return its ``site-packages``.

    Args:
        work: Where it lies; a folder of its own for each list of requirements and Python.
        project: The checkout, installed into the base in editable form with its reference plugin.

    Returns:
        The folder to put on the module path.
    """
    requirements = project / "matrix" / "live-requirements.txt"
    folder = work / f"base-{_digest(requirements)}"
    python, complete = folder / "bin" / "python", folder / "complete"
    with locked(work / "base.lock"):
        if complete.exists() and not (_site(folder) / "torch").is_dir():
            print(f"{folder} has lost its packages: building it again", flush=True)
            complete.unlink()
        if not complete.exists():
            started = time.monotonic()
            print(f"building the shared live environment in {folder} (once)", flush=True)
            shutil.rmtree(folder, ignore_errors=True)
            # pip prefers a local version (2.13.0+cpu) to the plain one wherever it finds both.
            _run([sys.executable, "-I", "-m", "venv", folder])
            install: list[str | Path] = [python, "-I", "-m", "pip", "install", "--quiet"]
            install.append("--no-compile")
            _run(
                [*install, "--no-deps", "-r", requirements],
                f"pip's message above names the package of {requirements} that it cannot get; "
                "with it at hand (PIP_FIND_LINKS, PIP_INDEX_URL) run the same again",
            )
            if not _torch_imports(python):
                print("pip found only a CUDA build of torch: adding its libraries", flush=True)
                torch = re.search(r"^torch==\S+", requirements.read_text(), flags=re.MULTILINE)
                _run([*install, torch.group() if torch else "torch"])
            complete.write_text(f"{time.monotonic() - started:.0f} s\n", encoding="utf-8")
            print(f"built in {time.monotonic() - started:.0f} s", flush=True)
        _install_project(python, folder, project)
    return _site(folder)


def _install_project(python: Path, folder: Path, project: Path) -> None:
    """Editable installs carry the entry points; redone only when a pyproject.toml changes."""
    parts = [p for p in (project, project / "kunlun_backend") if (p / "pyproject.toml").exists()]
    wanted = _digest(*(part / "pyproject.toml" for part in parts))
    stamp = folder / "project"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return
    flags = ["--quiet", "--no-deps", "--no-build-isolation"]
    editable = [str(word) for part in parts for word in ("--editable", part)]
    _run([python, "-I", "-m", "pip", "install", *flags, *editable])
    stamp.write_text(wanted, encoding="utf-8")


def link(work: Path, project: Path = PROJECT) -> Path:
    """Give the running interpreter's environment the base, after its own packages.

    ``site.addsitedir`` also runs the base's own ``.pth`` files, the editable installs among them.
    Each interpreter of the environment, spawned ones too, starts with :data:`SPARE`.
    """
    site = base(work, project)
    pth = Path(sysconfig.get_paths()["purelib"]) / LINK
    text = f"{SPARE}; import site; site.addsitedir({str(site)!r})\n"
    if not pth.exists() or pth.read_text(encoding="utf-8") != text:
        temporary = pth.with_suffix(".new")
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(pth)
    return site


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line: ``link`` or ``matrix``."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    commands = parser.add_subparsers(dest="command", required=True)
    linking = commands.add_parser("link", help="give this environment the shared base")
    linking.add_argument("--work", type=Path, required=True, help="folder for what is shared")
    printing = commands.add_parser("matrix", help="print a GitHub Actions matrix")
    printing.add_argument("--label", choices=("live", "all", "recorded"), default="live")
    chosen = parser.parse_args(arguments)
    if chosen.command == "link":
        link(chosen.work.resolve())
    else:
        print(json.dumps(matrix(chosen.label)))


if __name__ == "__main__":
    main()
