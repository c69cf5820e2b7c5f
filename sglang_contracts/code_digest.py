"""One digest of the installed code, in the key of everything that is kept between runs."""

from __future__ import annotations

import functools
import hashlib
import sys

from sglang_contracts import __version__, paths

STATIC = ("contract", "plugin", "surface", "verify")
"""The packages that static answers stand on, beside the modules at the top; ``data`` is digested
where it is read."""


@functools.cache
def code_digest() -> str:
    """Digest of the source files that static answers stand on, and of the running Python's version.

    Every module below them counts, however deep, by its path and its bytes (a megabyte: three
    milliseconds); sizes and times alone cannot tell two builds with fixed time stamps apart.
    Python's version counts because syntax trees differ between versions.

    Returns:
        40 hexadecimal digits.
    """
    total = hashlib.sha256(f"{__version__}\0{sys.version_info[:3]}\0".encode())
    top = paths.package()
    files = [*top.glob("*.py"), *(f for each in STATIC for f in (top / each).rglob("*.py"))]
    for path in sorted(files):
        data = path.read_bytes()
        total.update(f"{path.relative_to(top).as_posix()}\0{len(data)}\0".encode())
        total.update(data)
    return total.hexdigest()[:40]
