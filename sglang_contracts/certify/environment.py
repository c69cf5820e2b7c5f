"""Where a certificate was made, in a few words."""

from __future__ import annotations

import getpass
import importlib.metadata
import platform
import socket
from collections.abc import Iterable

_PACKAGES = ("torch", "numpy", "pytest", "hypothesis", "triton", "sglang")


def environment(locked: Iterable[str] = ()) -> dict[str, str]:
    """Python, system and the packages that matter → their versions.

    Args:
        locked: Further distributions that matter: those of the plugin's combination.
    """
    found = {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }
    for name in dict.fromkeys((*_PACKAGES, *locked)):
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
