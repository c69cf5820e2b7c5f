"""What is asked: this host's environment and distributions, a log, a server."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sglang_contracts.plugin.reading.settings import Settings
from sglang_contracts.serving.client import Client

PLATFORMS, PLUGINS = "sglang.srt.platforms", "sglang.srt.plugins"


@dataclass
class Host:
    """A host, and what is known of the plugin that is to serve on it.

    Attributes:
        plugin: The plugin's distribution; empty: none is named.
        settings: What it declares.
        environment: Variables of the processes that are to serve.
        log: Lines of a server's log; None: none was given.
        client: Asks a running server; None: none was named.
        sysfs: Where the kernel tells of devices.
        metrics: Samples of the server's ``/metrics`` by name, read once.
    """

    plugin: str = ""
    settings: Settings = field(default_factory=Settings)
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    log: Sequence[str] | None = None
    client: Client | None = None
    sysfs: str = "/sys"

    @property
    def python(self) -> str:
        """The version of the running Python."""
        return platform.python_version()

    def version(self, name: str) -> str:
        """The installed version of a distribution; empty: it is not installed."""
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            return ""

    def entry_points(self, group: str) -> list[importlib.metadata.EntryPoint]:
        """The entry points of a group, each once."""
        found = {
            (each.name, each.value): each for each in importlib.metadata.entry_points(group=group)
        }
        return list(found.values())

    def declared(self, *path: str) -> Any:
        """A value of the plugin's capabilities; None: it is not declared."""
        found: Any = self.settings.capabilities
        for name in path:
            found = found.get(name) if isinstance(found, Mapping) else None
        return found

    def said(self, name: str) -> Any:
        """A value that the plugin declares for its diagnosis; None: it is not declared."""
        return self.settings.doctor.get(name)
