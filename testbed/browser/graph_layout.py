"""Where the nodes of a network are drawn: stress majorization on hop distances. Pure, no I/O.

Gansner, Koren and North, Graph Drawing by Stress Majorization, 2004. It starts from classical scaling, so that the same
network is drawn the same way every time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..analysis.statistic import FloatArray

LARGE = 250
STEPS, FEW_STEPS = 120, 25
"""With more than LARGE nodes a few steps must do."""
ALMOST_FLAT = 0.05
UPRIGHT = 0.3


def place(count: int, edges: Sequence[tuple[int, int, float]], left: int = 0, right: int = 0) -> FloatArray:
    """A row (x, y) for each of `count` nodes; y points down, and a link of length 1 is about 1 long.

    `edges` are pairs of node numbers with the length that is wanted. Node `left` is left of node `right`, if they
    differ. Parts that no link joins are set side by side.
    """
    if count == 1:
        return np.zeros((1, 2))
    far = _distances(count, edges)
    places = _settled(_scaled(far), far, STEPS if count <= LARGE else FEW_STEPS)
    places = _turned(places, left, right)
    spread = np.ptp(places, axis=0)
    if spread[1] < ALMOST_FLAT * max(spread[0], 1e-9):
        places[:, 1] = 0.0
    lowest = places[np.argmax(np.abs(places[:, 1]) > 1e-9), 1]
    if lowest > 0:  # what is off the line first in the file is above it
        places[:, 1] *= -1
    return np.asarray(places - places.min(axis=0), dtype=np.float64)


def _distances(count: int, edges: Sequence[tuple[int, int, float]]) -> FloatArray:
    far = np.full((count, count), np.inf)
    np.fill_diagonal(far, 0.0)
    for a, b, length in edges:
        far[a, b] = far[b, a] = min(length, far[a, b])
    for node in range(count):  # Floyd and Warshall
        np.minimum(far, far[:, node, None] + far[node], out=far)
    found = np.isfinite(far)
    far[~found] = (far[found].max() if found.any() else 0.0) + 1.0
    return np.asarray(far, dtype=np.float64)


def _scaled(far: FloatArray) -> FloatArray:
    """Classical scaling: the two main axes of the squared distances."""
    count = len(far)
    centre = np.eye(count) - 1 / count
    values, vectors = np.linalg.eigh(-0.5 * centre @ (far**2) @ centre)
    order = np.argsort(values)[::-1][:2]
    found = vectors[:, order] * np.sqrt(np.maximum(values[order], 0))
    signs = np.sign(found[np.argmax(np.abs(found) > 1e-9, axis=0), range(found.shape[1])])
    found = found * np.where(signs == 0, 1, signs)
    nudge = np.column_stack([np.cos(np.arange(count) * 2.4), np.sin(np.arange(count) * 2.4)])
    return np.asarray(found + 1e-3 * nudge)  # two nodes in one place would never part


def _settled(places: FloatArray, far: FloatArray, steps: int) -> FloatArray:
    """Brings the distances on paper near those wanted, close pairs first in weight (SMACOF)."""
    weights = 1 / np.where(far > 0, far, np.inf) ** 2
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.inv(laplacian + 1 / len(far)) - 1 / len(far)
    for _ in range(steps):
        apart = np.linalg.norm(places[:, None] - places[None], axis=2)
        ratio = np.divide(weights * far, apart, out=np.zeros_like(apart), where=apart > 1e-12)
        places = np.asarray(inverse @ ((np.diag(ratio.sum(axis=1)) - ratio) @ places), dtype=np.float64)
    return places


def _turned(places: FloatArray, left: int, right: int) -> FloatArray:
    """With its longer side horizontal, or the line from left to right if that would stand upright."""
    _, _, axes = np.linalg.svd(places - places.mean(axis=0), full_matrices=False)
    x, y = axes[0]
    if left != right:
        line = places[right] - places[left]
        along = float(line @ axes[0])
        x, y = line if abs(along) < UPRIGHT * np.linalg.norm(line) else axes[0] * np.sign(along)
    length = float(np.hypot(x, y))
    cos, sin = x / length, y / length
    return np.asarray(places @ np.array([[cos, -sin], [sin, cos]]), dtype=np.float64)
