"""``launch-check``: one launch command against a release, with a plugin in view or without."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sglang_contracts.plugin.plugin import Opened, open_plugin
from sglang_contracts.verify.commands.analysis import release_report
from sglang_contracts.verify.findings.finding import Finding, Location, PluginInfo, Report, Severity
from sglang_contracts.verify.findings.merge import merge
from sglang_contracts.verify.rules.launch_flags import Given
from sglang_contracts.verify.rules.launch_value_wrong import SERVER_ARG_VALUE
from sglang_contracts.verify.rules.launch_word_gone import ONLY_WITH_A_PLUGIN, Launches
from sglang_contracts.verify.rules.registry import MERGES_WITH
from sglang_contracts.verify.suggest.call_forms import said_by
from sglang_contracts.verify.suggest.replacements import Replacements

if TYPE_CHECKING:
    from sglang_contracts.surface import Catalog

NEITHER = "neither the release nor {plugin} registers this name"
NO_KERNEL = (
    "{plugin} is a platform and names no kernel for it: SGLang falls back to its own, which a "
    "vendor's card does not run, or runs slowly"
)
_QUANTIZATION = "--quantization"
_QUOTED = re.compile(rb"""["']([A-Za-z][\w.-]{1,39})["']""")
_PLATFORM = re.compile(rb"sglang\.srt\.platforms|SRTPlatform")


class Names(msgspec.Struct, frozen=True):
    """What a plugin may register, by name, as far as its text tells."""

    plugin: str
    names: frozenset[str]
    platform: bool
    """Whether it brings a platform of its own."""


def names_of(opened: Opened) -> Names:
    """Every name that a plugin's Python code writes down, and whether it brings a platform."""
    found: set[str] = set()
    platform = False
    for source in opened.sources.files:
        if source.kind == "python":
            found.update(each.decode() for each in _QUOTED.findall(source.data))
            platform = platform or _PLATFORM.search(source.data) is not None
    return Names(opened.sources.name, frozenset(found), platform)


def launch_check(
    command: Sequence[str],
    catalog: Catalog,
    release: str,
    *,
    environment: Mapping[str, str] | None = None,
    plugin: Path | str | None = None,
) -> Report:
    """The flags, their values and the environment of one launch command against a release.

    ``command`` may begin with ``NAME=value`` words, as a shell's does. A flag or a value that no
    recorded release knows is an error, too.

    Args:
        command: Its words.
        catalog: The recorded releases.
        release: The one to hold it against.
        environment: Variables that are set beside those of the command.
        plugin: A plugin that is installed then: names that it registers are known.

    Raises:
        ContractsError: The command launches no server of SGLang's, the release is unknown, or
            there is no such plugin.
    """
    from sglang_contracts.contract import load_contracts
    from sglang_contracts.plugin.launch.command_words import words

    known = catalog.known(release)
    given = [
        Given(word.name, word.value, Location("command", 1, word.column), word.program)
        for word in words(command)
    ]
    given += [
        Given(name, value, Location("environment", 1))
        for name, value in (environment or {}).items()
        if name.startswith(("SGLANG_", "SGL_"))
    ]
    launches = Launches(catalog, Replacements(catalog, said_by(load_contracts())))
    found = launches.at(given, catalog.releases.index(known), strict=True)
    info = None
    if plugin is not None:
        opened = open_plugin(plugin)
        read = opened.sources
        info = PluginInfo(read.name, read.version, read.path)
        found = _with_plugin(found, given, names_of(opened))
    return Report("launch-check", (release_report(known, merge(found, MERGES_WITH)),), info)


def _with_plugin(found: Sequence[Finding], given: Sequence[Given], names: Names) -> list[Finding]:
    """The findings where a plugin's names count."""
    kept = []
    for each in found:
        if each.detail == ONLY_WITH_A_PLUGIN:
            value = each.symbol.partition("(")[2].removesuffix(")")
            if value in names.names:
                continue
            detail = NEITHER.format(plugin=names.plugin)
            each = msgspec.structs.replace(each, severity=Severity.ERROR, detail=detail)
        kept.append(each)
    said = {place for each in kept for place in each.locations}
    for word in given:
        unnamed = word.value and not word.value.startswith("$") and word.value not in names.names
        if word.name != _QUANTIZATION or not names.platform or word.location in said:
            continue
        if unnamed:
            kept.append(
                Finding(
                    SERVER_ARG_VALUE.id,
                    Severity.WARNING,
                    f"flag:{word.name}({word.value})",
                    (word.location,),
                    role="launch",
                    detail=NO_KERNEL.format(plugin=names.plugin),
                )
            )
    return kept
