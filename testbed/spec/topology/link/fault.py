"""How files write faults: outages, packets that come twice, damaged, late or in bursts, lost ACKs. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from .... import units
from ....codec.fault import Fault
from ....codec.keyed import Keyed, Kind, key, keyed, named, read
from ....codec.kind import FRACTION, LONGEST, matching
from ....codec.scalar import quantity, text_of
from ....error import ValueRefused, one_of
from ....model.link.extent import DELAY_MAX, whole_us
from ....model.link.fault import BY_HAND, Down, Outage, Pick, Reorder, reorder_by
from ....model.link.impairment import EVERY, EVERY_MAX, EVERY_MIN, PHASE, Direction
from ....model.schedule import Change
from ....model.topology import Link
from .direction import of_data

PICK_ALLOWED = "none, 1 in X, {every: X, phase: …}, {random: 0.1 %}"
REORDER_ALLOWED = "none, {every: 100, by: 2 ms}, {random: 1 %, by: 3 packets}"
DOWN_ALLOWED = "none, by hand, {from: 10 s, for: 2 s}, {from: 10 s, for: 2 s, every: 30 s}"
LEAST_SHARE = Fraction(1, 10**9)
"""Shares are multiples of it: nftables draws a number below 10^9."""
WORDS: dict[str | bool, bool] = {"true": True, "false": False, True: True, False: False}
"""YAML leaves them as text."""
BY_PACKETS_MAX = 10_000


@keyed
class PickKeys(Keyed):
    """Which packets: one data packet in `every`, or a share of all."""

    every: int | None = key("every", EVERY, default=None)
    phase: Any = key("phase", PHASE, default=0)
    random: Fraction | None = key("random", FRACTION, default=None)

    def pick(self) -> Pick:
        if (self.every is None) == (self.random is None):
            raise ValueRefused("this does not say which packets", "every: X, or random: a share")
        if self.random is not None:
            if self.phase:
                raise ValueRefused("a share has no phase", "every: X with a phase", ("phase",))
            return Pick(share=_share(self.random, ("random",)))
        assert self.every is not None, "BUG: neither a number nor a share"
        if self.phase != "seeded" and self.phase >= self.every:
            raise ValueRefused(f"a phase of {self.phase} is too large", f"0 to {self.every - 1}, seeded", ("phase",))
        return Pick(self.every, self.phase)


def _share(share: Fraction, at: tuple[str, ...]) -> Fraction:
    if not 0 < share < 1:
        raise ValueRefused("it would be no packet or every packet", "more than 0 % and less than 100 %", at)
    if share % LEAST_SHARE:
        raise ValueRefused("the share is too fine", "a multiple of 0.0000001 %", at)
    return share


def read_pick(value: object) -> Pick | None:
    if isinstance(value, dict):
        return read(PickKeys, value).pick()
    text = text_of(value, PICK_ALLOWED)
    if text == "none":
        return None
    try:
        every = units.parse_one_in(text)
    except ValueRefused:
        raise ValueRefused(f"{text!r} does not say which packets", PICK_ALLOWED) from None
    if not EVERY_MIN <= every <= EVERY_MAX:
        raise ValueRefused(f"{text!r} is out of range", f"1 in {EVERY_MIN} to 1 in {EVERY_MAX}")
    return Pick(every)


def write_pick(pick: Pick | None) -> Any:
    if pick is None:
        return "none"
    if pick.every is None:
        return {"random": units.format_fraction(pick.share)}
    return {"every": pick.every, "phase": pick.phase} if pick.phase else units.format_one_in(pick.every)


def _by(value: object) -> tuple[int | None, int | None]:
    text = text_of(value, "a time such as 2 ms, or a number of packets")
    if text.rstrip().endswith(("packet", "packets")):
        count = units.parse_packets(text)
        if not 0 < count <= BY_PACKETS_MAX:
            raise ValueRefused(f"{text!r} is out of range", f"1 to {BY_PACKETS_MAX} packets")
        return None, count
    time_ns = units.parse_time(text)
    if time_ns < 1:
        raise ValueRefused("a packet that is not late is overtaken by none", "more than 0: a time, or packets")
    if time_ns > DELAY_MAX[0]:
        raise ValueRefused(f"{text!r} is too large", DELAY_MAX[1])
    return whole_us(time_ns, text), None


@named
class ReorderKeys(PickKeys):
    """Which packets come late, and by how much."""

    by: tuple[int | None, int | None] = key(
        "by",
        Kind(
            _by,
            lambda by: reorder_by(Reorder(Pick(), *by)),
            matching(f"{units.TIME.pattern}|{units.PACKETS.pattern}", "How late they come.", "2 ms", "3 packets"),
        ),
    )


def read_reorder(value: object) -> Reorder | None:
    if value == "none":
        return None
    if not isinstance(value, dict):
        raise ValueRefused("this does not say which packets come late", REORDER_ALLOWED)
    file = read(ReorderKeys, value)
    return Reorder(file.pick(), *file.by)


def write_reorder(reorder: Reorder | None) -> Any:
    if reorder is None:
        return "none"
    pick = write_pick(reorder.pick)
    which = pick if isinstance(pick, dict) else {"every": reorder.pick.every}
    return {**which, "by": reorder_by(reorder)}


def read_later_down(value: object) -> bool:
    found = WORDS.get(value) if isinstance(value, str | bool) else None
    if found is None:
        raise ValueRefused("a schedule says only whether the link is down", "true, false")
    return found


def read_down(value: object) -> Outage | Down | None:
    if value == "none":
        return None
    if value == BY_HAND:
        return BY_HAND
    if value in ("true", True):
        raise ValueRefused("a link that is down from the start carries no workload", DOWN_ALLOWED)
    if not isinstance(value, dict):
        raise ValueRefused("this does not say when the link is down", DOWN_ALLOWED)
    for name in value:
        if name not in ("from", "for", "every"):
            raise ValueRefused(f"unknown key {name!r}", one_of(("from", "for", "every"), str(name)), (str(name),))
    for name in ("from", "for"):
        if name not in value:
            raise ValueRefused(f"missing key {name!r}", DOWN_ALLOWED)
    times = {}
    for name, said in value.items():
        try:
            times[name] = quantity(units.parse_time, units.TIME.allowed, high=LONGEST)(said) or 0
        except ValueRefused as refused:
            raise ValueRefused(refused.what, refused.allowed, (name,)) from None
        if name != "from" and times[name] < 1:
            raise ValueRefused("this takes no time", "more than 0", (name,))
    outage = Outage(times["from"], times["for"], times.get("every"))
    if outage.every_ns is not None and outage.for_ns >= outage.every_ns:
        what = f"it would be down for {units.format_time(outage.for_ns)} of every {units.format_time(outage.every_ns)}"
        raise ValueRefused(what, "less than 'every'", ("for",))
    return outage


def write_down(value: Outage | Down | None) -> Any:
    if not isinstance(value, Outage):
        return "none" if value is None else value
    every = {} if value.every_ns is None else {"every": units.format_time(value.every_ns)}
    return {"from": units.format_time(value.from_ns), "for": units.format_time(value.for_ns), **every}


def without_outages(forward: Direction, backward: Direction) -> tuple[Direction, Direction, tuple[Change, ...]]:
    """The directions without the outages that files write at a link, and these as changes of a schedule."""
    there, back = (each.value("down") for each in (forward, backward))
    found = [outage for outage in dict.fromkeys((there, back)) if isinstance(outage, Outage)]
    down = (("down", True),)
    changes = tuple(
        Change(
            each.from_ns,
            each.every_ns,
            each.for_ns,
            forward=down if there == each else (),
            backward=down if back == each else (),
        )
        for each in found
    )
    return _without_outage(forward), _without_outage(backward), changes


def _without_outage(direction: Direction) -> Direction:
    return direction.with_value("down", None) if isinstance(direction.value("down"), Outage) else direction


def reorder_faults(link: Link) -> Iterator[Fault]:
    """Packets need a rate to be counted as time."""
    for way, direction in link.directions:
        reorder = direction.value("reorder")
        if reorder is not None and reorder.by_packets is not None and direction.rate_bps is None:
            what = "packets are counted as the time that the link takes for them, and it has no rate"
            yield Fault(("reorder", way), what, "a rate on the link, or a time")
        elif reorder is not None and reorder.by_packets is not None and (direction.shaper or direction.trace):
            what = "packets are counted as the time that the link takes for them, and its rate varies"
            yield Fault(("reorder", way), what, "a time")
        elif reorder is not None and reorder.by_packets is not None:
            frames = (2 * reorder.by_packets + 1) * (link.mtu_bytes + 14)
            if frames * 4 * 10**9 > DELAY_MAX[0] * (direction.rate_bps or 1):
                what = f"this link takes {frames * 4 / (direction.rate_bps or 1):.0f} s for so many packets"
                yield Fault(("reorder", way), what, f"fewer packets, which take {DELAY_MAX[1]}")


def aggregate_faults(link: Link) -> Iterator[Fault]:
    """Bursts must be able to carry a packet, and what the rate brings."""
    for way, direction in link.directions:
        aggregate = direction.value("aggregate")
        if aggregate is not None and aggregate.burst_bytes is not None and aggregate.burst_bytes < link.mtu_bytes + 14:
            what = f"a burst of {units.format_size(aggregate.burst_bytes)} holds no full packet"
            yield Fault(("aggregate", way), what, f"{link.mtu_bytes + 14} bytes or more")


_MAPPING: dict[str, Any] = {"type": "object", "additionalProperties": False}
_ONE_IN = matching(units.ONE_IN_PATTERN, "1 in X data packets, or none.", "1 in 100", none=True)
_TIME = matching(units.TIME.pattern, "A time.", "10 s")
_OUTAGE = {**_MAPPING, "properties": dict.fromkeys(("from", "for", "every"), _TIME), "required": ["from", "for"]}

PICK = Kind(read_pick, write_pick, {"anyOf": [_ONE_IN, {"$ref": PickKeys}], "description": PICK_ALLOWED}, none="none")
REORDER = Kind(
    read_reorder,
    write_reorder,
    {"anyOf": [{"const": "none"}, {"$ref": ReorderKeys}], "description": REORDER_ALLOWED},
    none="none",
)
DOWN = Kind(
    read_down,
    write_down,
    {"anyOf": [{"enum": ["none", BY_HAND]}, {"type": "boolean"}, _OUTAGE], "description": DOWN_ALLOWED},
    none="none",
)
LINK_ACK_LOSS = of_data(PICK, "ACKs that are lost.", "LinkAckLoss")
