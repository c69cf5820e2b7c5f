"""Speed-up of several cards is odd: whether the ranks' links and NUMA nodes are known and fit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from sglang_contracts.doctor.diagnosis import Status, check
from sglang_contracts.doctor.host import Host

FAR = frozenset({"SYS", "NODE"})
"""Links that cross a NUMA node, or its host bridges, by the names that cards' tools print."""


@check(
    "topology.does-not-cross-numa",
    symptom="the speed-up of several cards is odd",
    title="neighbouring ranks share a NUMA node: no ring has more far links than it needs",
    mend="order the ranks by PCIe bus, keep one model inside one interconnect domain, and compare "
    "ring with tree",
)
def does_not_cross_numa(host: Host) -> tuple[Status, Sequence[str]]:
    """Count the far links of the ring of ranks in the plugin's topology file."""
    variable = host.said("topology-variable")
    named = host.environment.get(str(variable), "") if variable else ""
    if not named:
        return Status.UNKNOWN, ["no topology file is named (topology-variable of the plugin)"]
    place = Path(named)
    if not place.is_file():
        return Status.FOUND, [f"{variable}={named}: there is no such file"]
    try:
        matrix = json.loads(place.read_text(encoding="utf-8"))
        size = len(matrix)
        if not size or any(len(row) != size for row in matrix):
            raise ValueError("it is not square")
    except (ValueError, TypeError, OSError) as error:
        return Status.FOUND, [f"{named} is no topology: {error}"]
    nodes = _nodes(matrix)
    far = [(a, (a + 1) % size) for a in range(size) if matrix[a][(a + 1) % size] in FAR]
    needed = len(nodes) if len(nodes) > 1 else 0
    said = f"{size} ranks on {len(nodes)} nodes, {len(far)} far links in the ring of ranks"
    if size > 2 and len(far) > needed:
        pairs = ", ".join(f"{a}-{b}" for a, b in far)
        return Status.FOUND, [f"{said}, where {needed} would do: {pairs}"]
    return Status.OK, [said]


def _nodes(matrix: Sequence[Sequence[str]]) -> list[set[int]]:
    """Ranks that near links join."""
    found: list[set[int]] = []
    for rank, row in enumerate(matrix):
        near = {rank, *(other for other, link in enumerate(row) if link not in FAR)}
        joined = [each for each in found if each & near]
        found = [each for each in found if each not in joined]
        found.append(near.union(*joined))
    return found
