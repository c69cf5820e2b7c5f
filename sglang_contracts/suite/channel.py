"""How a run that ``certify`` has started tells what came out: over a socket, with tokens.

The parent gives a token for each check that begins, and takes the check's result only with it. What
a plugin writes there is no result: it has no token, and the parent tells that somebody else has
written. Within one process nothing can be hidden: a plugin that reads the suite's own frames finds
the token (``docs/certification.md`` says what that means for a certificate).
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
from typing import Any

VARIABLE = "SGLANG_CONTRACTS_CHANNEL"
"""Number of the file descriptor of the socket."""

_TOKEN_BYTES = 64


class Channel:
    """The worker's end of the socket.

    Args:
        connected: It.
    """

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._pid = os.getpid()

    def send(self, line: dict[str, Any]) -> None:
        """Send one line. A fork of this process, which the plugin may make, sends nothing."""
        if os.getpid() == self._pid:
            self._socket.sendall(json.dumps(line, sort_keys=True).encode() + b"\n")

    def token(self, line: dict[str, Any]) -> str:
        """Send a line that is answered with a token.

        Raises:
            ConnectionError: The parent is gone, or something has closed the socket.
        """
        self.send(line)
        if os.getpid() != self._pid:
            return ""
        told = b""
        while not told.endswith(b"\n"):
            part = self._socket.recv(_TOKEN_BYTES)
            if not part:
                raise ConnectionError("the process that certifies has closed the channel")
            told += part
        return told.decode().strip()


def opened() -> Channel | None:
    """The channel that the parent has opened; None: nobody listens.

    What the plugin starts does not inherit it, and does not learn of it.
    """
    told = os.environ.pop(VARIABLE, "")
    if not told:
        return None
    number = int(told)
    with contextlib.suppress(OSError):
        os.set_inheritable(number, False)
        return Channel(socket.socket(fileno=number))
    return None
