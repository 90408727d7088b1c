"""Token buckets of a link: one that shapes as a cloud's instances are shaped, one that polices, and one for each flow.

Pure, no I/O.

Both count whole Ethernet frames, as the rate of a link does.
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import units
from ...codec.fault import Fault
from ...codec.frozen import dataclass
from ...codec.keyed import Keyed, Kind, key, keyed
from ...codec.kind import RATE, matching, none_or
from ...codec.scalar import quantity, text_of
from ...error import ValueRefused
from .buffer import Buffer, buffer_words
from .extent import BURST_MAX

RATE_MAX_BPS = 10**11
"""The fastest bucket: its bytes of a second, counted in 10^-9 bytes, fit into the kernel's 64 bits."""


SHAPER_ALLOWED = "none, or {rate: 10 Gbit/s, burst: 2.6 Tbit, refill: 750 Mbit/s}"
POLICER_ALLOWED = "none, or {rate: 10 Mbit/s, burst: 64 KiB}"
VOLUME_ALLOWED = f"{units.SIZE.allowed}; or in {', '.join(units.BITS.units)}, such as '2.6 Tbit'"


def _rate(value: object) -> int:
    rate_bps = quantity(units.parse_rate, units.RATE.allowed, low=1)(value) or 0
    if rate_bps % 8 or rate_bps > RATE_MAX_BPS:
        why = "is not a whole number of bytes per second" if rate_bps % 8 else "is too fast for a bucket"
        raise ValueRefused(f"{value!r} {why}", f"a multiple of 8 bit/s up to {units.format_rate(RATE_MAX_BPS)}")
    return rate_bps


def _volume(value: object) -> int:
    text = text_of(value, VOLUME_ALLOWED)
    if not text.rstrip().endswith("bit"):
        return quantity(units.parse_size, VOLUME_ALLOWED, low=1, high=BURST_MAX)(value) or 0
    bits = units.parse_bits(text)
    if not bits or bits % 8:
        raise ValueRefused(f"{text!r} is not a whole number of bytes, or none", VOLUME_ALLOWED)
    if bits // 8 > BURST_MAX[0]:
        raise ValueRefused(f"{text!r} is too large", BURST_MAX[1])
    return bits // 8


BUCKET_RATE = Kind(_rate, units.format_rate, RATE.schema)
VOLUME = Kind(
    _volume,
    units.size_words,
    matching(rf"{units.SIZE.pattern}|{units.BITS.pattern}", "A volume of whole frames.", "2.6 Tbit", "64 KiB"),
)


@keyed
class Shaper(Keyed):
    """A rate while there is credit, and the rate at which credit comes back, which holds without any.

    Packets leave at `rate_bps` while there is credit, at `refill_bps` without any; the others wait in the buffer.

    There is credit for `burst_bytes` at first and at most. It comes back at `refill_bps` all the time. The rates are
    multiples of 8, and `refill_bps` is less than `rate_bps`.
    """

    rate_bps: int = key("rate", BUCKET_RATE)
    burst_bytes: int = key("burst", VOLUME)
    refill_bps: int = key("refill", BUCKET_RATE)

    def faults(self) -> Iterator[Fault]:
        if self.refill_bps >= self.rate_bps:
            what = f"the credit comes back at {units.format_rate(self.refill_bps)}, and would never end"
            yield Fault(("refill",), what, f"less than the rate of {units.format_rate(self.rate_bps)}", named=True)


@keyed
class Policer(Keyed):
    """A rate and a burst; what exceeds them is dropped.

    What exceeds `rate_bps`, a multiple of 8, and a burst of `burst_bytes` is dropped; nothing waits.
    """

    rate_bps: int = key("rate", BUCKET_RATE)
    burst_bytes: int = key("burst", VOLUME)


@dataclass(frozen=True)
class PerFlow:
    """A cap of each flow: what comes faster than `rate_bps`, a multiple of 8, waits for its turn in a queue of the flow
    that holds `buffer`; None leaves the size to the plan. If it `polices`, what exceeds the rate and a burst of
    `burst_bytes` is dropped, and nothing waits; None, if it does not, is the bucket of a link of that rate.

    A flow is all IP packets with the same addresses, protocol and ports.
    """

    rate_bps: int
    buffer: Buffer | None = None
    burst_bytes: int | None = None
    polices: bool = False


SHAPER = none_or(Shaper, "this is not a shaper", SHAPER_ALLOWED)
POLICER = none_or(Policer, "this is not a policer", POLICER_ALLOWED)


def shaper_words(shaper: Shaper) -> str:
    """Such as "10 Gbit/s for 325 GB, then 750 Mbit/s"."""
    rate, refill = units.format_rate(shaper.rate_bps), units.format_rate(shaper.refill_bps)
    return f"{rate} for {units.size_words(shaper.burst_bytes)}, then {refill}"


def policer_words(policer: Policer) -> str:
    """Such as "10 Mbit/s with a burst of 64 KiB"."""
    return f"{units.format_rate(policer.rate_bps)} with a burst of {units.size_words(policer.burst_bytes)}"


def per_flow_words(cap: PerFlow) -> str:
    """Such as "5 Gbit/s", or "5 Gbit/s with a burst of 64 KiB, policed"."""
    burst = "" if cap.burst_bytes is None else f" with a burst of {units.size_words(cap.burst_bytes)}"
    buffer = "" if cap.buffer is None else f" with {buffer_words(cap.buffer)} each"
    return f"{units.format_rate(cap.rate_bps)}{burst}{buffer}{', policed' if cap.polices else ''}"


def carried_bytes(shaper: Shaper, time_ns: int) -> int:
    """What passes in that time from a full bucket, if packets always wait: min(rate * t, burst + refill * t)."""
    at_rate, refilled = (rate_bps * time_ns // (8 * 10**9) for rate_bps in (shaper.rate_bps, shaper.refill_bps))
    return min(at_rate, shaper.burst_bytes + refilled)
