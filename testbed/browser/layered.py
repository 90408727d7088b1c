"""Networks of layers, such as trees and fat trees: a row for each layer. Pure, no I/O.

Sugiyama, Tagawa and Toda, Methods for Visual Understanding of Hierarchical System Structures, 1981: the order of a row
follows from the means of its neighbours, up and down in turns.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from ..analysis.statistic import FloatArray

LEAST = 3
"""With fewer layers, as in a star, distances say more than rows."""
SWEEPS = 8
HIGH = 1.6
"""How far rows are apart, in places of the fullest row."""


def layers(count: int, edges: Sequence[tuple[int, int]], leaves: Collection[int]) -> tuple[int, ...] | None:
    """How many links each node is from the nearest of `leaves`; None if the network is not one of layers: a link joins
    two nodes of one layer, a node has no way to a leaf, or there are fewer than LEAST.
    """
    near = _neighbours(count, edges)
    found = dict.fromkeys(leaves, 0)
    waiting = deque(leaves)
    while waiting:
        node = waiting.popleft()
        for other in near[node]:
            if other not in found:
                found[other] = found[node] + 1
                waiting.append(other)
    if len(found) < count or any(found[a] == found[b] for a, b in edges) or max(found.values()) + 1 < LEAST:
        return None
    return tuple(found[node] for node in range(count))


def place(layer: Sequence[int], edges: Sequence[tuple[int, int]]) -> FloatArray:
    """A row (x, y) for each node, the leaves at the bottom; nodes of one layer are 1 apart or more."""
    near = _neighbours(len(layer), edges)
    rows = [[node for node, at in enumerate(layer) if at == level] for level in range(max(layer) + 1)]
    wide = max(map(len, rows))
    across = dict[int, float]()
    for row in rows:
        across |= _even(row, wide)
    best, fewest = across, np.inf
    for sweep in range(SWEEPS):
        is_up = sweep % 2 == 0
        for level in range(1, len(rows)) if is_up else range(len(rows) - 2, -1, -1):
            beside = level - 1 if is_up else level + 1
            means = {
                node: float(np.mean([across[other] for other in near[node] if layer[other] == beside] or across[node]))
                for node in rows[level]
            }
            rows[level] = sorted(rows[level], key=lambda node: (means[node], across[node]))
            across = across | _even(rows[level], wide)
        crossed = _crossings(layer, edges, across)
        if crossed < fewest:
            best, fewest = across, crossed
    return np.array([[best[node], (max(layer) - at) * HIGH] for node, at in enumerate(layer)], dtype=np.float64)


def _crossings(layer: Sequence[int], edges: Sequence[tuple[int, int]], across: Mapping[int, float]) -> int:
    """How many pairs of links between the same two rows cross."""
    found = 0
    for level in range(max(layer)):
        ends = [sorted(edge, key=lambda node: layer[node]) for edge in edges if min(layer[n] for n in edge) == level]
        low, high = np.array([[across[a], across[b]] for a, b in ends]).T
        found += int(np.sum((low[:, None] < low) & (high[:, None] > high)))
    return found


def _even(row: Sequence[int], wide: int) -> dict[int, float]:
    """Spread over the width of the fullest row."""
    return {node: (number + 0.5) * wide / len(row) for number, node in enumerate(row)}


def _neighbours(count: int, edges: Sequence[tuple[int, int]]) -> list[list[int]]:
    near: list[list[int]] = [[] for _ in range(count)]
    for a, b in edges:
        near[a].append(b)
        near[b].append(a)
    return near
