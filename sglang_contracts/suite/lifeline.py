"""A pytest plugin for a run that ``certify`` has started: it tells its parent, and ends with it.

The parent holds the other end of a pipe. When that end is closed, however the parent came to its
end (``SIGKILL`` included), this process and what it has started are ended: a backend that hangs
must not hold its card when nobody is left to time it out.
"""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

from sglang_contracts.suite.channel import opened
from sglang_contracts.suite.collected import collected

VARIABLE = "SGLANG_CONTRACTS_LIFELINE"
"""Number of the file descriptor to read from."""


def pytest_configure(config: Any) -> None:
    """Open the channel and begin to listen; without the variables nothing happens."""
    channel = opened()
    if channel is not None:
        collected(config).channel = channel
    told = os.environ.pop(VARIABLE, "")  # a process that the plugin starts has no part in it
    if not told:
        return
    pipe = int(told)
    os.set_inheritable(pipe, False)
    # In a session of its own no Ctrl-C comes from a terminal: one that is raised is the plugin's.
    signal.signal(signal.SIGINT, _ignore)
    threading.Thread(target=_end_with_it, args=(pipe,), daemon=True).start()


def _end_with_it(pipe: int) -> None:
    while os.read(pipe, 64):
        continue
    os.killpg(os.getpgrp(), signal.SIGKILL)


def _ignore(*_: Any) -> None:
    """As a function, not ``SIG_IGN``: programs that the plugin starts would inherit that."""
