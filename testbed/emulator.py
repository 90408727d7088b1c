"""The emulator: the middlebox in the middle of an impaired link, as commands. Pure, no I/O.

It is a bump in the wire: four devices in a namespace of its own, frames pass from one to the next unchanged.

    first end ── end0 ─► wire0 ══ wire1 ─► end1 ── second end          (forward)
                        queue      loss     late delay

- wire0 (and wire1 for the way back) sends at the link's rate from a drop-tail buffer: a token bucket that holds one
  frame and a half, so that whatever comes in, single MTU frames go out and wait in the buffer.
- the other end of the wire counts the data packets and drops 1 in X.
- the delay stands on the next device, end1; or, for hosts whose NICs segment (`nic: offload`), before the rate on
  wire0, where a superpacket is still one object. Both orders add the same time to every packet; jitter and random loss
  must see single packets and are always on the last device.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from .command import PREFIX, Command
from .impairment import Direction, GilbertElliott, Loss, PeriodicLoss, RandomLoss
from .topology import Link

ETHERNET_BYTES = 14
SMALLEST_FRAME_BYTES = 60
DEFAULT_BUFFER_FRAMES = 100
"""A rate without a buffer gets one BDP, and at least this many frames."""

LONGEST_ACK_BYTES = 100
"""An IPv6 header of 40 bytes and a TCP header of 60. A longer TCP packet carries data."""

CONTROL_PORT, DATA_PORTS = 5201, (50_000, 50_127)
"""iperf3's control connection goes to this port like its data, but its data comes from client ports in this range."""

NETEM_LIMIT_MAX = 2**31 - 1
STAGES = {"forward": ("wire0", "wire1", "end1"), "backward": ("wire1", "wire0", "end0")}
"""For each direction: the device that queues, the one where loss is counted, the one with the late delay."""

Way = Literal["forward", "backward"]


@dataclass(frozen=True)
class Stage:
    """One direction through an emulator: what was asked of it, and where its counters are.

    `loss` is what applies in this direction, `phase` the number of data packets by which a periodic one comes early.
    `limit` is the buffer of the rate in `limit_unit`; None without a rate. `early_delay` says that the delay stands
    before the rate.
    """

    way: Way
    asked: Direction
    loss: Loss | None
    phase: int
    limit: int | None
    limit_unit: Literal["packets", "bytes"]
    delay_limit_packets: int
    queue_device: str
    loss_device: str
    exit_device: str
    early_delay: bool

    @property
    def data_counter(self) -> str:
        return f"data-{self.way}"

    @property
    def drop_counter(self) -> str:
        return f"dropped-{self.way}"

    @property
    def oversize_counter(self) -> str:
        return f"oversize-{self.way}"

    def handles(self, device: str) -> tuple[str, ...]:
        """The queueing disciplines of this stage on a device: 1: early delay, 2: rate, 3: its buffer, 4: late delay."""
        return {self.queue_device: ("1:", "2:", "3:"), self.exit_device: ("4:",)}.get(device, ())


@dataclass(frozen=True)
class Emulator:
    """The emulator of one link."""

    link: str
    netns: str
    mtu_bytes: int
    forward: Stage
    backward: Stage

    @property
    def stages(self) -> tuple[Stage, Stage]:
        return self.forward, self.backward

    def stage(self, way: Way) -> Stage:
        return self.forward if way == "forward" else self.backward


def emulator(link: Link, data_way: Way, seed: int, *, superpackets: bool) -> Emulator:
    """The emulator for a link whose data goes `data_way`; `seed` draws the phase of a seeded periodic loss."""

    def stage(way: Way, direction: Direction) -> Stage:
        queue, loss_device, last = STAGES[way]
        loss = direction.loss or (link.data_loss if way == data_way else None)
        limit, unit = _buffer(direction, link)
        return Stage(
            way,
            direction,
            loss,
            _phase(loss, f"{seed}/{link.name}/{way}"),
            limit,
            unit,
            _delay_limit(direction),
            queue,
            loss_device,
            last,
            early_delay=superpackets and direction.jitter is None,
        )

    return Emulator(
        link.name,
        emulator_netns(link.name),
        link.mtu_bytes,
        stage("forward", link.forward),
        stage("backward", link.backward),
    )


def emulator_netns(link: str) -> str:
    """A dot cannot stand in a node's name, so this is never the namespace of a node."""
    return f"{PREFIX}{link}.emulator"


def frame_bytes(mtu_bytes: int) -> int:
    """What a full packet weighs in a queue and against a rate: with the Ethernet header, without preamble and gap."""
    return mtu_bytes + ETHERNET_BYTES


def commands(
    emulator: Emulator, *, superpackets: bool, real_time: bool, exempt_control: bool
) -> Iterator[Command]:
    """Sets up the four devices, which exist already and are called end0, wire0, wire1, end1."""
    for device in ("end0", "wire0", "wire1", "end1"):
        if (
            superpackets
        ):  # Every device sends single MTU frames, and a host's NIC may merge what end0 and end1 send.
            yield Command("ethtool", ("-K", device, "tso", "off", "gso", "off"), emulator.netns)
    for stage in emulator.stages:
        yield from _qdiscs(stage, emulator, real_time)
    yield from _ruleset(emulator, exempt_control)


def _buffer(direction: Direction, link: Link) -> tuple[int | None, Literal["packets", "bytes"]]:
    if direction.rate_bps is None:
        return None, "bytes"
    frame = frame_bytes(link.mtu_bytes)
    bdp_bytes = Fraction(direction.rate_bps * link.rtt_ns, 8 * 10**9)
    if direction.buffer is None:
        return max(math.ceil(bdp_bytes), DEFAULT_BUFFER_FRAMES * frame), "bytes"
    if direction.buffer.unit == "packets":
        return max(1, math.floor(direction.buffer.amount)), "packets"
    amount = direction.buffer.amount * (bdp_bytes if direction.buffer.unit == "bdp" else 1)
    return max(frame, math.floor(amount)), "bytes"


def _delay_limit(direction: Direction) -> int:
    """Packets that can be on their way at once, if all are as small as they can be; never what limits the path."""
    if direction.rate_bps is None:
        return NETEM_LIMIT_MAX
    longest_ns = direction.delay_ns + (8 * direction.jitter.sd_ns if direction.jitter else 0)
    return min(
        NETEM_LIMIT_MAX,
        1000 + math.ceil(direction.rate_bps * longest_ns / (8 * 10**9 * SMALLEST_FRAME_BYTES)),
    )


def _phase(loss: Loss | None, seed: str) -> int:
    if not isinstance(loss, PeriodicLoss):
        return 0
    return random.Random(seed).randrange(loss.every) if loss.phase == "seeded" else loss.phase


def _qdiscs(stage: Stage, emulator: Emulator, real_time: bool) -> Iterator[Command]:
    """netem for the delay and random loss, tbf with its buffer for the rate; parents before children."""
    delay = ("delay", _tc_time(stage.asked.delay_ns)) if stage.asked.delay_ns else ()
    limit = ("limit", str(stage.delay_limit_packets))
    late = (*(() if stage.early_delay else delay), *_jitter(stage.asked), *_random_loss(stage.loss))
    parent: tuple[str, ...] = ("root",)
    if stage.early_delay and delay:
        yield _qdisc(emulator, stage.queue_device, parent, "1:", ("netem", *limit, *delay))
        parent = ("parent", "1:1")
    if stage.asked.rate_bps is not None:
        rate = ("tbf", "rate", f"{stage.asked.rate_bps}bit", "burst", str(_burst(stage, emulator, real_time)))
        size = stage.limit if stage.limit_unit == "bytes" else frame_bytes(emulator.mtu_bytes)
        yield _qdisc(emulator, stage.queue_device, parent, "2:", (*rate, "limit", str(size)))
        if stage.limit_unit == "packets":
            child = ("parent", "2:1")
            yield _qdisc(emulator, stage.queue_device, child, "3:", ("pfifo", "limit", str(stage.limit)))
    if late:
        yield _qdisc(emulator, stage.exit_device, ("root",), "4:", ("netem", *limit, *late))


def _qdisc(
    emulator: Emulator, device: str, parent: tuple[str, ...], handle: str, words: tuple[str, ...]
) -> Command:
    place = ("dev", device, *parent)
    return Command(
        "tc",
        ("qdisc", "add", *place, "handle", handle, *words),
        emulator.netns,
        ("qdisc", "del", *place) if parent == ("root",) else None,
    )


def _burst(stage: Stage, emulator: Emulator, real_time: bool) -> int:
    """Bytes that may leave at once. Less than two frames, so that no superpacket passes whole; on the wall clock, where
    a timer comes late by up to about a millisecond, what the rate makes up for in that time."""
    frame = frame_bytes(emulator.mtu_bytes)
    assert stage.asked.rate_bps is not None, "BUG: a burst without a rate"
    return frame * 3 // 2 + (stage.asked.rate_bps // 8000 if real_time else 0)


def _jitter(asked: Direction) -> tuple[str, ...]:
    """netem sends each packet at its own time, so later ones overtake; with a rate it keeps them in order, and one
    of 100 Tbit/s takes no time."""
    if asked.jitter is None:
        return ()
    words = (_tc_time(asked.jitter.sd_ns),)
    if asked.jitter.distribution != "uniform":
        words += ("distribution", asked.jitter.distribution)
    return words if asked.jitter.reorder else (*words, "rate", "100tbit")


def _random_loss(loss: Loss | None) -> tuple[str, ...]:
    if isinstance(loss, RandomLoss):
        return ("loss", "random", _percent(loss.probability))
    if isinstance(loss, GilbertElliott):
        chances = (loss.p, loss.r, loss.loss_bad, loss.loss_good)
        return ("loss", "gemodel", *map(_percent, chances))
    return ()


def _tc_time(ns: int) -> str:
    """tc refuses ns, and cuts what a fraction of a microsecond comes to: 0.4 ns more than is meant survives the cut."""
    whole, rest = divmod(ns, 1000)
    return f"{whole}.{rest:03}4us" if rest else f"{whole}us"


def _percent(probability: Fraction) -> str:
    return f"{float(probability * 100):.9f}".rstrip("0").rstrip(".") + "%"


def _ruleset(emulator: Emulator, exempt_control: bool) -> Iterator[Command]:
    """Frames go from end to wire and from wire to end; on leaving the wire data packets are counted, and dropped."""

    def nft(*words: str) -> Command:
        return Command("nft", words, emulator.netns)

    table = ("netdev", "testbed")
    yield Command("nft", ("add", "table", *table), emulator.netns, ("delete", "table", *table))
    for stage in emulator.stages:
        yield nft("add", "counter", *table, stage.data_counter)
        yield nft("add", "counter", *table, stage.drop_counter)
        yield nft("add", "counter", *table, stage.oversize_counter)
    for end, wire in (("end0", "wire0"), ("end1", "wire1")):
        yield _chain(nft, table, end)
        yield nft("add", "rule", *table, f"from-{end}", "fwd", "to", f'"{wire}"')
    for stage in emulator.stages:
        data = f"data-{stage.way}"
        yield nft("add", "chain", *table, data)
        yield nft("add", "rule", *table, data, "counter", "name", f'"{stage.data_counter}"')
        too_long = ("meta", "length", ">", str(emulator.mtu_bytes))
        yield nft("add", "rule", *table, data, *too_long, "counter", "name", f'"{stage.oversize_counter}"')
        if isinstance(stage.loss, PeriodicLoss):
            every = stage.loss.every
            when = ("numgen", "inc", "mod", str(every), "==", str(every - 1 - stage.phase))
            yield nft(
                "add", "rule", *table, data, *when, "counter", "name", f'"{stage.drop_counter}"', "drop"
            )
        yield _chain(nft, table, stage.loss_device)
        rule = ("add", "rule", *table, f"from-{stage.loss_device}")
        if exempt_control:
            for control in _control_connection():
                yield nft(*rule, *control, "fwd", "to", f'"{stage.exit_device}"')
        yield nft(
            *rule, "meta", "l4proto", "tcp", "meta", "length", ">", str(LONGEST_ACK_BYTES), "jump", data
        )
        yield nft(*rule, "meta", "l4proto", "udp", "jump", data)
        yield nft(*rule, "fwd", "to", f'"{stage.exit_device}"')


def _chain(nft, table: tuple[str, ...], device: str) -> Command:  # type: ignore[no-untyped-def]
    hook = ("{", "type", "filter", "hook", "ingress", "device", f'"{device}"', "priority", "0", ";", "}")
    return nft("add", "chain", *table, f"from-{device}", *hook)


def _control_connection() -> Iterator[tuple[str, ...]]:
    low, high = DATA_PORTS
    for server, client in (("dport", "sport"), ("sport", "dport")):
        yield ("tcp", server, str(CONTROL_PORT), "tcp", client, "!=", f"{low}-{high}")
