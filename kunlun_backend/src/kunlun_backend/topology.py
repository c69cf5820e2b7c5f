"""Which ranks belong together: groups and rings that stay inside a NUMA node.

A topology is a square matrix of links as the card's own tool prints it: from `PIX` (one PCIe
switch) to `NODE` (one NUMA node) and `SYS` (across nodes), or as numbers, larger for farther.
"""

from __future__ import annotations

from collections.abc import Sequence

LINKS = {"X": 0, "PIX": 1, "PXB": 2, "PHB": 3, "NODE": 4, "SYS": 5}
SAME_NODE = LINKS["NODE"]  # links up to this one stay inside a NUMA node

Groups = tuple[tuple[int, ...], ...]


def _distances(matrix: Sequence[Sequence[int | str]]) -> list[list[int]]:
    rows = [[LINKS[link] if isinstance(link, str) else link for link in row] for row in matrix]
    if any(len(row) != len(rows) for row in rows):
        raise ValueError("a topology is a square matrix: one row and one column a rank")
    return rows


def numa_nodes(matrix: Sequence[Sequence[int | str]]) -> Groups:
    """The ranks of each NUMA node, each in order of rank."""
    distances = _distances(matrix)
    nodes: list[list[int]] = []
    for rank, row in enumerate(distances):
        home = next((node for node in nodes if row[node[0]] <= SAME_NODE), None)
        if home is None:
            nodes.append([rank])
        else:
            home.append(rank)
    return tuple(map(tuple, nodes))


def groups(matrix: Sequence[Sequence[int | str]], size: int) -> Groups:
    """Split the ranks into groups of `size`, crossing a NUMA node only where sizes force it."""
    nodes = numa_nodes(matrix)
    if size < 1 or len(matrix) % size:
        raise ValueError(f"{len(matrix)} ranks cannot be split into groups of {size}")
    whole = [
        node[start : start + size]
        for node in nodes
        for start in range(0, len(node) // size * size, size)
    ]
    rest = [rank for node in nodes for rank in node[len(node) // size * size :]]
    return (*whole, *(tuple(rest[start : start + size]) for start in range(0, len(rest), size)))


def ring_order(matrix: Sequence[Sequence[int | str]]) -> tuple[int, ...]:
    """The ranks in an order that goes through one node after the other, nearest first."""
    distances = _distances(matrix)
    order: list[int] = []
    for node in numa_nodes(matrix):
        left = list(node)
        while left:
            last = order[-1] if order else left[0]
            left.remove(nearest := min(left, key=lambda rank: (distances[last][rank], rank)))
            order.append(nearest)
    return tuple(order)
