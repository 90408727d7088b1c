"""Token buckets of a link: one that shapes as a cloud's instances are shaped, and one that polices. Pure, no I/O.

Both count whole Ethernet frames, as the rate of a link does.
"""

from __future__ import annotations

from dataclasses import dataclass

from ... import units

RATE_MAX_BPS = 10**11
"""The fastest bucket: its bytes of a second, counted in 10^-9 bytes, fit into the kernel's 64 bits."""


@dataclass(frozen=True)
class Shaper:
    """Packets leave at `rate_bps` while there is credit, at `refill_bps` without any; the others wait in the buffer.

    There is credit for `burst_bytes` at first and at most. It comes back at `refill_bps` all the time. The rates are
    multiples of 8, and `refill_bps` is less than `rate_bps`.
    """

    rate_bps: int
    burst_bytes: int
    refill_bps: int


@dataclass(frozen=True)
class Policer:
    """What exceeds `rate_bps`, a multiple of 8, and a burst of `burst_bytes` is dropped; nothing waits."""

    rate_bps: int
    burst_bytes: int


def shaper_words(shaper: Shaper) -> str:
    """Such as "10 Gbit/s for 325 GB, then 750 Mbit/s"."""
    rate, refill = units.format_rate(shaper.rate_bps), units.format_rate(shaper.refill_bps)
    return f"{rate} for {units.format_size(shaper.burst_bytes)}, then {refill}"


def policer_words(policer: Policer) -> str:
    """Such as "10 Mbit/s with a burst of 64 KiB"."""
    return f"{units.format_rate(policer.rate_bps)} with a burst of {units.format_size(policer.burst_bytes)}"


def knee_ns(shaper: Shaper) -> int:
    """How long a sender that never pauses has the full rate: burst / (rate - refill), rounded up."""
    return -(-8 * shaper.burst_bytes * 10**9 // (shaper.rate_bps - shaper.refill_bps))


def carried_bytes(shaper: Shaper, time_ns: int) -> int:
    """What passes in that time from a full bucket, if packets always wait: min(rate * t, burst + refill * t)."""
    at_rate, refilled = (rate_bps * time_ns // (8 * 10**9) for rate_bps in (shaper.rate_bps, shaper.refill_bps))
    return min(at_rate, shaper.burst_bytes + refilled)
