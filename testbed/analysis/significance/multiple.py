"""p-values adjusted for the chance of any false positive among many tests. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float], weights: Sequence[float] | None = None) -> tuple[float, ...]:
    """p-values adjusted for the chance of any false positive among them: Holm, Scand. J. Stat. 6, 1979, section 3.

    In the order given. A test's share of the error is its weight over that of all tests that are not yet significant;
    without weights all are equal. No independence is needed. Raises ValueError for a p outside of [0, 1] or a weight
    that is not above 0.
    """
    weights = [1.0] * len(p_values) if weights is None else weights
    if any(not 0 <= p <= 1 for p in p_values):
        raise ValueError("a p-value is not in [0, 1]")
    if any(weight <= 0 for weight in weights):
        raise ValueError("a weight of a test is not above 0")
    order = sorted(range(len(p_values)), key=lambda index: p_values[index] / weights[index])
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        left = sum(weights[other] for other in order[rank:])
        largest = max(largest, min(1.0, p_values[index] * left / weights[index]))
        adjusted[index] = largest
    return tuple(adjusted)


def shares(is_primary: Sequence[bool], primary: float) -> tuple[float, ...]:
    """The share of the error that each test gets: the primary ones `primary` in equal parts, the others the rest.

    They add up to 1; if all are primary, or none is, they are equal.
    """
    count = sum(is_primary)
    if count in (0, len(is_primary)):
        return tuple(1 / len(is_primary) for _ in is_primary)
    return tuple(primary / count if each else (1 - primary) / (len(is_primary) - count) for each in is_primary)
