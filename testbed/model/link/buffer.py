"""How much waits at a link, as a value. Pure, no I/O."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from ... import units
from ...codec.frozen import dataclass


@dataclass(frozen=True)
class Buffer:
    """How much a drop-tail queue holds beyond the packet being sent; more than 0.

    One "bdp" is the rate of the direction times the round-trip time of the link.
    """

    amount: Fraction
    unit: Literal["packets", "bytes", "bdp"]


def buffer_words(buffer: Buffer) -> str:
    """Such as "1 bdp", "100 packets" or "64 KiB", as files write it."""
    if buffer.unit == "bdp":
        return units.format_bdp(buffer.amount)
    write = units.format_packets if buffer.unit == "packets" else units.format_size
    return write(int(buffer.amount))
