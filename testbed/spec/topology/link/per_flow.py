"""The cap of each flow as a topology file writes it, and what is wrong with one. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .... import units
from ....codec.fault import Fault
from ....codec.keyed import Keyed, Kind, key, keyed
from ....codec.kind import FLAG, RATE, sound
from ....codec.scalar import text_of
from ....model.link.bucket import BUCKET_RATE, VOLUME, PerFlow
from ....model.link.buffer import Buffer
from ....model.topology import Link
from .buffer import BUFFER

ALLOWED = "none, 5 Gbit/s, {rate: 5 Gbit/s, buffer: 1 bdp}, {rate: 5 Gbit/s, burst: 64 KiB, police: true}"


@keyed
class PerFlowKeys(Keyed):
    """The most that each flow gets; what comes faster waits, or is dropped."""

    rate: int = key("rate", BUCKET_RATE)
    buffer: Buffer | None = key("buffer", BUFFER, "How much of each flow waits.", default=None)
    burst: int | None = key("burst", VOLUME, "How much of a flow passes at once.", default=None)
    police: bool = key("police", FLAG, "Whether what comes faster is dropped and does not wait.", default=False)

    def faults(self) -> Iterator[Fault]:
        if self.police and self.buffer is not None:
            what = "a cap that polices drops what comes faster, and nothing waits"
            yield Fault(("buffer",), what, "no buffer, or no police", named=True)
        if self.police and self.burst is None:
            what = "a cap that polices drops what exceeds its burst, and there is none"
            yield Fault(("police",), what, "burst: how much of a flow passes at once", named=True)


def _read(value: object) -> PerFlow | None:
    if not isinstance(value, dict):
        text = text_of(value, ALLOWED)
        return None if text == "none" else PerFlow(BUCKET_RATE.read(text))
    found = sound(PerFlowKeys, value)
    return PerFlow(found.rate, found.buffer, found.burst, found.police)


def _write(cap: PerFlow | None) -> Any:
    if cap is None:
        return "none"
    if cap == PerFlow(cap.rate_bps):
        return units.format_rate(cap.rate_bps)
    return PerFlowKeys(cap.rate_bps, cap.buffer, cap.burst_bytes, cap.polices).written()


PER_FLOW = Kind(
    _read,
    _write,
    {"anyOf": [RATE.schema, {"$ref": PerFlowKeys}], "description": ALLOWED},
    none="none",
)


def down_faults(link: Link, key: str, way: str) -> Iterator[Fault]:
    """What waits in a link that goes down is thrown away at an endless rate, which only the bucket of a rate has."""
    later = any(name == "down" for each in link.schedule for name, _ in each.all_pairs)
    if later or any(each.value("down") for each in (link.forward, link.backward)):
        yield Fault((key, way), f"a link cannot have '{key}' and go down", f"'{key}', or 'down'")


def per_flow_faults(link: Link) -> Iterator[Fault]:
    """What is wrong between the cap of a flow and the rest of a link; paths begin at the link."""
    for way, direction in link.directions:
        cap = direction.per_flow
        if cap is None:
            continue
        if not cap.polices:
            yield from down_faults(link, "per_flow", way)
        if cap.burst_bytes is not None and cap.burst_bytes < link.mtu_bytes + 14:
            what = "a full packet is larger than the burst, and none would pass"
            yield Fault(("per_flow", way), what, f"{link.mtu_bytes + 14} B or more")
        if direction.rate_bps is not None and direction.rate_bps <= cap.rate_bps and direction.trace is None:
            what = f"the link itself carries no more than {units.format_rate(direction.rate_bps)}"
            yield Fault(("per_flow", way), f"{what}: no flow would be held back", "a cap below the rate of the link")
        if cap.buffer is not None and cap.buffer.unit == "bdp" and not link.rtt_ns:
            what = "a buffer in bdp is rate × round-trip time, and there is no rtt"
            yield Fault(("per_flow", way), what, "an rtt on the link, or a buffer in packets or bytes")
