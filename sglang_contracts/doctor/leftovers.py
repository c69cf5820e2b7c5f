"""Edits in site-packages: files of SGLang that are not what its wheel held."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
from collections.abc import Sequence
from pathlib import Path

from sglang_contracts.doctor.diagnosis import Status, check
from sglang_contracts.doctor.host import Host

SHOWN = 8
"""Files that are named."""


@check(
    "sglang.is-unpatched",
    symptom="it works on this host alone, or no longer after an upgrade",
    title="the installed files of SGLang are those of its wheel",
    mend="reinstall SGLang (pip install --force-reinstall --no-deps sglang==V) and move the edits "
    "into the plugin: hooks, registries, the platform",
)
def is_unpatched(host: Host) -> tuple[Status, Sequence[str]]:
    """Hold each Python file against the digest in ``RECORD``."""
    try:
        distribution = importlib.metadata.distribution("sglang")
    except importlib.metadata.PackageNotFoundError:
        return Status.UNKNOWN, ["SGLang is not installed here"]
    files = [each for each in distribution.files or () if each.suffix == ".py"]
    held = [each for each in files if each.hash is not None]
    if not held:
        return Status.UNKNOWN, ["its RECORD holds no digests (an editable installation?)"]
    wrong = []
    for file in held:
        place = Path(str(distribution.locate_file(file)))
        assert file.hash is not None
        try:
            data = place.read_bytes()
        except OSError:
            wrong.append(f"{file}: is gone")
            continue
        digest = hashlib.new(file.hash.mode, data).digest()
        if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != file.hash.value:
            wrong.append(f"{file}: is not what the wheel held")
    known = {str(each) for each in files}
    roots = {
        Path(str(distribution.locate_file(each))).parents[len(each.parts) - 1] for each in held
    }
    for root in sorted(roots):
        for place in sorted((root / "sglang").rglob("*.py")):
            name = place.relative_to(root).as_posix()
            if name not in known:
                wrong.append(f"{name}: the wheel has no such file")
    if wrong:
        more = [f"and {len(wrong) - SHOWN} more"] if wrong[SHOWN:] else []
        return Status.FOUND, [*wrong[:SHOWN], *more]
    return Status.OK, [f"{len(held)} files of SGLang {distribution.version}"]
