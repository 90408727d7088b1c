"""What tc and the kernel can hold of a link's times, rates and sizes; what is beyond is refused. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from ... import units
from ...codec.fault import Fault
from ...codec.keyed import Kind
from ...codec.kind import RATE, TIME, or_none
from ...codec.scalar import quantity
from ...error import ValueRefused

TICK_NS = 1000
"""tc 6.1 cuts off what is less of the time by which packets come late."""
DELAY_MAX = (270 * 10**9, "up to 270 s")
"""It counts a delay in 2^32 ticks of 64 ns."""
RATE_LEAST_BPS, RATE_MAX = 1000, (10**14, "1 kbit/s to 100 Tbit/s")
"""The time of the smallest token bucket at the lowest rate is counted like a delay; netem keeps the order of packets
with the highest one.
"""
BUFFER_MAX = 2**32 - 1
"""Of bytes and of packets, by the fields of netlink."""
BURST_MAX = (9 * 10**14, "up to 900 TB (7200 Tbit)")
"""Counters of a trial are below 10^15."""
SLOT_MAX = (2**31 - 1, "up to 2147483647 B")
"""Of the bytes of a slot of netem, signed."""
VOLUME_MAX = (10**18, "up to 1000000 TB")

SHARE_LEAST, SHARE_LEAST_WRITTEN = Fraction(1, 2**32), "0.0000000233 %"
"""netem counts a share in parts of 2^-32: less of it becomes nothing."""


def share_faults(share: Fraction, *path: str) -> Iterator[Fault]:
    """A share that is neither 0 nor 1, and that netem would round to one of them."""
    if 0 < share < SHARE_LEAST:
        allowed = f"at least {SHARE_LEAST_WRITTEN}"
        yield Fault(path, "netem counts in parts of 2^-32: this would be none", allowed, named=True)
    if 1 - SHARE_LEAST < share < 1:
        allowed = f"at least {SHARE_LEAST_WRITTEN} below 100 %"
        yield Fault(path, "netem counts in parts of 2^-32: this would be all", allowed, named=True)


def whole_us(time_ns: int, written: object) -> int:
    """Raises ValueRefused for a time that tc cannot set."""
    if time_ns % TICK_NS:
        raise ValueRefused(f"{written!r} is finer than tc can set", "a multiple of 1 us")
    return time_ns


def read_rate(value: object) -> int | None:
    found = quantity(units.parse_rate, units.RATE.allowed, low=1, none=True, high=RATE_MAX)(value)
    if found is not None and found < RATE_LEAST_BPS:
        raise ValueRefused(f"{value!r} is too small", RATE_MAX[1])
    return found


DELAY = Kind(quantity(units.parse_time, units.TIME.allowed, high=DELAY_MAX), units.format_time, TIME.schema)
LINK_RATE = Kind(read_rate, or_none(units.format_rate), RATE.schema, none="none")
