"""What is wrong between a link's shaper or policer and the rest of it. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator

from .... import units
from ....codec.fault import Fault
from ....model.topology import Link


def shaper_faults(link: Link) -> Iterator[Fault]:
    """What is wrong between a shaper and the rest of a link; paths begin at the link."""
    for way, direction in (("forward", link.forward), ("backward", link.backward)):
        shaper = direction.shaper
        if shaper is None:
            continue
        yield from down_faults(link, "shaper", way)
        if direction.rate_bps != shaper.rate_bps:
            what = "the shaper has a rate of its own, and the link has another one"
            yield Fault(("shaper", way), what, "no rate on the link")
        if shaper.burst_bytes < link.mtu_bytes + 14:
            yield Fault(("shaper", way), "a full packet is larger than the burst", f"{link.mtu_bytes + 14} B or more")


def down_faults(link: Link, key: str, way: str) -> Iterator[Fault]:
    """What waits in a link that goes down is thrown away at an endless rate, which no bucket and no trace has."""
    later = (change for each in link.schedule for change in (*each.forward, *each.backward, *each.data))
    if any(each.value("down") for each in (link.forward, link.backward)) or any(pair[0] == "down" for pair in later):
        yield Fault((key, way), f"a link cannot have '{key}' and go down", f"'{key}', or 'down'")


def policer_faults(link: Link) -> Iterator[Fault]:
    """What is wrong between a policer and the rest of a link; paths begin at the link."""
    for way, direction in (("forward", link.forward), ("backward", link.backward)):
        policer = direction.policer
        if policer is None:
            continue
        if policer.burst_bytes < link.mtu_bytes + 14:
            what = "a full packet is larger than the burst, and none would pass"
            yield Fault(("policer", way), what, f"{link.mtu_bytes + 14} B or more")
        if direction.rate_bps is not None and direction.rate_bps <= policer.rate_bps and direction.trace is None:
            what = f"the link itself carries no more than {units.format_rate(direction.rate_bps)}"
            yield Fault(("policer", way), f"{what}: nothing would be policed", "a rate below that of the link")
