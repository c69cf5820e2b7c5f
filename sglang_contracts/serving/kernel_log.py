"""Which backend and which kernel served a request, as a plugin's log says it.

The form is ``backend=NAME kernel=MODULE.FUNCTION mode=MODE requests=RID,RID`` anywhere in a line;
how a plugin comes to write it stands in docs/vendor-guide.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_LINE = re.compile(
    r"\bbackend=(?P<backend>\S+) kernel=(?P<kernel>\S+) mode=(?P<mode>\S+) requests=(?P<rids>\S+)"
)


@dataclass(frozen=True)
class Served:
    """One line of the log.

    Attributes:
        backend: Name of the attention backend.
        kernel: ``module.function``.
        mode: SGLang's forward mode, in capitals.
        rids: Requests that the kernel served for the first time.
    """

    backend: str
    kernel: str
    mode: str
    rids: tuple[str, ...]


def served(lines: Iterable[str]) -> Iterator[Served]:
    """What the lines of a server's log say."""
    for line in lines:
        match = _LINE.search(line)
        if match is not None:
            rids = tuple(rid for rid in match["rids"].split(",") if rid)
            yield Served(match["backend"], match["kernel"], match["mode"], rids)


def kernel_name(declared: str) -> str:
    """A declared kernel, ``module:function``, as the log spells it."""
    return declared.replace(":", ".")
