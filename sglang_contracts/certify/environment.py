"""Where a certificate was made, in a few words."""

from __future__ import annotations

import getpass
import importlib.metadata
import platform
import socket

_PACKAGES = ("torch", "numpy", "pytest", "hypothesis", "triton", "sglang")


def environment() -> dict[str, str]:
    """Python, system and the packages that matter → their versions."""
    found = {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def issuer() -> str:
    """Who runs this: user and host."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError, ImportError):
        user = "unknown"
    return f"{user}@{socket.gethostname()}"
