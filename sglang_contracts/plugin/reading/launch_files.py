"""Files that are read only for the launch commands in them: their kinds, and which have any."""

from __future__ import annotations

import re

_SUFFIXES = {
    ".slurm": "shell",
    ".sbatch": "shell",
    ".ksh": "shell",
    ".fish": "shell",
    ".envrc": "shell",
    ".service": "shell",
    ".ini": "shell",
    ".cfg": "shell",
    ".conf": "shell",
    ".j2": "shell",
    ".jinja": "shell",
    ".jinja2": "shell",
    ".tpl": "shell",
    ".tmpl": "shell",
    ".groovy": "shell",
    ".just": "make",
    ".mk": "make",
    ".bat": "batch",
    ".cmd": "batch",
    ".ps1": "powershell",
    ".toml": "arrays",
    ".tf": "arrays",
    ".hcl": "arrays",
    ".json": "yaml",
    ".mdx": "markdown",
}
_NAMES = {
    "makefile": "make",
    "gnumakefile": "make",
    "justfile": "make",
    "procfile": "shell",
    "jenkinsfile": "shell",
}
_INNER = {".yaml": "yaml", ".yml": "yaml", ".json": "yaml", ".md": "markdown"}
_TEMPLATES = (".j2", ".jinja", ".jinja2", ".tpl", ".tmpl")
_SCRIPT = "script"
_STARTS = re.compile(
    rb"sglang[./]launch_server|sglang\.bench_|sglang[ \"',]+serve\b|lmsysorg/sglang"
)


def launch_kind(path: str) -> str:
    """What kind of file a path is that may hold a launch command; empty: none."""
    name = path.rsplit("/", 1)[-1].lower()
    if name in _NAMES:
        return _NAMES[name]
    stem, dot, suffix = name.rpartition(".")
    if not dot or not stem:
        return _SCRIPT if not dot else ""
    if f".{suffix}" in _TEMPLATES:  # ``run.yaml.j2`` is YAML with holes
        inner = f".{stem.rpartition('.')[2]}"
        return _INNER.get(inner, "shell")
    return _SUFFIXES.get(f".{suffix}", "")


def launch_text(kind: str, data: bytes) -> str:
    """The kind to read a file as, by what is in it; empty: nothing that starts SGLang."""
    if kind == _SCRIPT:
        kind = "shell" if data.startswith(b"#!") else ""
    return kind if kind and _STARTS.search(data) else ""
