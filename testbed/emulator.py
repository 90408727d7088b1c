"""The emulator: the middlebox in the middle of an impaired link, as commands. Pure, no I/O.

It is a bump in the wire: four devices in a namespace of its own, frames pass from one to the next unchanged.

    first end ── end0 ─► wire0 ══ wire1 ─► end1 ── second end          (forward)
                        delay     loss     rate and buffer

- wire0 (for the way back, wire1) delays. With hosts whose NICs segment (`nic: offload`) a superpacket is still one
  object here, which is what makes long paths cheap; on leaving it is cut into MTU packets, as a NIC does.
- the other end of the wire counts the data packets and drops 1 in X.
- end1 sends at the link's rate from a drop-tail buffer of MTU packets: a token bucket of a few microseconds.

Random loss and jitter must see MTU packets: with superpackets on wire0 they, and the delay with them, stand before the
rate on end1.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Literal

from . import ruleset
from .command import PREFIX, Command
from .impairment import Direction, GilbertElliott, Loss, PeriodicLoss, RandomLoss
from .stage import DELAY, RATE, Emulator, Stage, Way
from .topology import Link

ETHERNET_BYTES = 14
DEFAULT_BUFFER_FRAMES = 100
"""A rate without a buffer gets one BDP, and at least this many frames."""

NETEM_LIMIT = 2**31 - 1
"""Packets in a delay: never what limits a path. What is on its way there is not bounded by the link's rate."""
STAGES = {"forward": ("wire0", "wire1", "end1"), "backward": ("wire1", "wire0", "end0")}
"""For each direction: the device that delays, the one where loss is counted, the one with the rate and its buffer."""

BURST_NS = 5_000
"""What a token bucket holds, as time at its rate: packets leave up to this much early, a group for one timer."""

REAL_TIME_BURST_NS = 1_000_000
"""The same on the wall clock, where timers come late by up to about a millisecond."""


def emulator(link: Link, data_way: Way, seed: int, *, superpackets: bool) -> Emulator:
    """The emulator for a link whose data goes `data_way`; `seed` draws the phase of a seeded periodic loss."""

    def stage(way: Way, direction: Direction) -> Stage:
        first, loss_device, last = STAGES[way]
        loss = direction.loss or (link.data_loss if way == data_way else None)
        wants_packets = direction.jitter is not None or isinstance(loss, RandomLoss | GilbertElliott)
        limit, unit = _buffer(direction, link)
        return Stage(
            way,
            direction,
            loss,
            _phase(loss, f"{seed}/{link.name}/{way}"),
            limit,
            unit,
            last if superpackets and wants_packets else first,
            loss_device,
            last,
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


def commands(emulator: Emulator, *, superpackets: bool, real_time: bool, exempt_control: bool) -> Iterator[Command]:
    """Sets up the four devices, which exist already and are called end0, wire0, wire1, end1."""
    for device in ("end0", "wire0", "wire1", "end1"):
        if superpackets:  # Every device sends single MTU frames, and a host's NIC may merge what end0 and end1 send.
            yield Command("ethtool", ("-K", device, "tso", "off", "gso", "off"), emulator.netns)
    for stage in emulator.stages:
        yield from _qdiscs(stage, emulator, real_time)
    yield from ruleset.commands(emulator, exempt_control)


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


def _phase(loss: Loss | None, seed: str) -> int:
    if not isinstance(loss, PeriodicLoss):
        return 0
    return random.Random(seed).randrange(loss.every) if loss.phase == "seeded" else loss.phase


def _qdiscs(stage: Stage, emulator: Emulator, real_time: bool) -> Iterator[Command]:
    """netem for the delay and random loss, tbf with its buffer for the rate; parents before children."""
    delay = ("delay", _tc_time(stage.asked.delay_ns)) if stage.asked.delay_ns else ()
    words = (*delay, *_jitter(stage.asked), *_random_loss(stage.loss))
    if words:
        yield _qdisc(emulator, stage.delay_place, ("root",), ("netem", "limit", str(NETEM_LIMIT), *words))
    if stage.asked.rate_bps is None:
        return
    parent = ("parent", f"{DELAY}1") if words and stage.is_nested else ("root",)
    frame = frame_bytes(emulator.mtu_bytes)
    size = stage.limit if stage.limit_unit == "bytes" else frame
    burst = _burst(stage.asked.rate_bps, frame, real_time)
    rate = ("tbf", "rate", f"{stage.asked.rate_bps}bit", "burst", str(burst), "limit", str(size))
    yield _qdisc(emulator, stage.rate_place, parent, rate)
    if stage.limit_unit == "packets":
        yield _qdisc(emulator, stage.buffer_place, ("parent", f"{RATE}1"), ("pfifo", "limit", str(stage.limit)))


def _qdisc(emulator: Emulator, place: tuple[str, str], parent: tuple[str, ...], words: tuple[str, ...]) -> Command:
    device, handle = place
    target = ("dev", device, *parent)
    return Command(
        "tc",
        ("qdisc", "add", *target, "handle", handle, *words),
        emulator.netns,
        ("qdisc", "del", *target) if parent == ("root",) else None,
    )


def _burst(rate_bps: int, frame: int, real_time: bool) -> int:
    """Bytes that may leave at once: at least one frame and a half, for a bucket of one could lose what a late timer
    leaves over.
    """
    return max(frame * 3 // 2, rate_bps * (REAL_TIME_BURST_NS if real_time else BURST_NS) // (8 * 10**9))


def _jitter(asked: Direction) -> tuple[str, ...]:
    """netem sends each packet at its own time, so later ones overtake; with a rate it keeps them in order, and one
    of 100 Tbit/s takes no time.
    """
    if asked.jitter is None:
        return ()
    words: tuple[str, ...] = (_tc_time(asked.jitter.sd_ns),)
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
    return f"{float(probability * 100):.15f}".rstrip("0").rstrip(".") + "%"
