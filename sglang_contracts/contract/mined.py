"""Writes the inventory of a class: every public name that some release has, with sharp bounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from sglang_contracts.contract.ranges import sharp
from sglang_contracts.contract.signature import signature
from sglang_contracts.errors import ContractsError

if TYPE_CHECKING:
    from sglang_contracts.surface import Catalog, Symbol

_WIDTH = 96
_SECTIONS = {
    "attribute": "fields",
    "property": "attributes",
    "enum-member": "members",
    "method": "methods",
}
"""Kind of a recorded member → the table of a contract that speaks of such."""


def inventory(spelling: str, catalog: Catalog) -> tuple[tuple[str, ...], str]:
    """The names of a class over all recorded releases.

    Args:
        spelling: ``module:Class``.
        catalog: The recorded releases.

    Returns:
        The range of the class, and the text of an inventory with its public members: for each
        the range where it is not the class's own, for each method its parameters by release.

    Raises:
        ContractsError: No release has such a class.
    """
    classes = {release: _class(catalog, release, spelling) for release in catalog.releases}
    if not any(classes.values()):
        raise ContractsError(
            f"no recorded release has a class {spelling}",
            "write module:Class; `sglang-contracts explain NAME` finds where a name is",
        )
    whole = sharp({release: found is not None for release, found in classes.items()})
    sections: dict[str, str] = {}
    members: dict[str, dict[str, tuple[str, ...] | None]] = {}
    for release, found in classes.items():
        if found is None:
            continue
        for name, member in sorted(catalog.surface(release).members(found).items()):
            section = _SECTIONS.get(member.kind)
            if section and not name.startswith("_"):
                sections[name] = section  # an attribute may have become a property: the newest
                there = members.setdefault(name, {})
                there[release] = _parameters(member) if section == "methods" else None
    blocks = []
    for name in sorted(members, key=lambda each: _rank(sections[each])):
        there = members[name]
        lines = [f"[{sections[name]}.{name}]"]
        own = sharp({release: release in there for release in catalog.releases})
        if own != whole:
            lines.append(f"sglang = {_texts(own)}")
        if sections[name] == "methods":
            lines += _signatures(there, catalog.releases)
        blocks.append("\n".join(lines))
    return whole, "\n\n".join(blocks) + "\n" if blocks else ""


def _rank(section: str) -> int:
    return list(_SECTIONS.values()).index(section)


def _class(catalog: Catalog, release: str, spelling: str) -> Symbol | None:
    found = catalog.surface(release).parse(spelling)
    return found if found is not None and found.kind == "class" else None


def _parameters(member: Symbol) -> tuple[str, ...] | None:
    from sglang_contracts.surface.model import Function

    return signature(member.node, True) if isinstance(member.node, Function) else None


def _signatures(
    there: Mapping[str, tuple[str, ...] | None], releases: Sequence[str]
) -> Iterable[str]:
    """``parameters`` of a method: one list, or one for each range with another."""
    different = list(dict.fromkeys(each for each in there.values() if each is not None))
    if not different:
        return []
    if len(different) == 1:
        return [f"parameters = {_list(different[0])}"]
    rows = ["parameters = ["]
    for parameters in different:
        where = sharp({release: there.get(release) == parameters for release in releases})
        rows.append(f"  {{ sglang = {_texts(where)}, value = {_list(parameters)} }},")
    return [*rows, "]"]


def _texts(parts: Sequence[str]) -> str:
    return f'"{parts[0]}"' if len(parts) == 1 else _list(parts)


def _list(texts: Sequence[str]) -> str:
    """A TOML list of strings, over several lines where it is long."""
    quoted = [f'"{each}"' for each in texts]
    line = f"[{', '.join(quoted)}]"
    if len(line) <= _WIDTH:
        return line
    return "[\n" + "".join(f"  {each},\n" for each in quoted) + "]"
