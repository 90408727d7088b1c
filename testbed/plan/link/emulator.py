"""The emulator: the middlebox in the middle of an impaired link, as commands. Pure, no I/O.

It is a bump in the wire: four devices in a namespace of its own, frames pass from one to the next unchanged.

    first end ── end0 ─► wire0 ══ wire1 ─► end1 ── second end          (forward)
                        delay     loss     rate and buffer

- wire0 (for the way back, wire1) delays. With hosts whose NICs segment (`nic: offload`) a superpacket is still one
  object here, which is what makes long paths cheap; on leaving it is cut into MTU packets, as a NIC does.
- the other end of the wire counts the data packets and drops 1 in X.
- end1 sends at the link's rate from a drop-tail buffer of MTU packets: a token bucket of a few microseconds.

- a policy drops between the two.

Random loss and jitter must see MTU packets: with superpackets on wire0 they, and the delay with them, stand before the
rate on end1.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Literal

from ...model.impairment import Direction, GilbertElliott, Loss, PeriodicLoss, Policy, RandomLoss, Way
from ...model.schedule import course
from ...model.topology import Link
from ...model.workload import ControlConnection
from ..command import PREFIX, Command
from . import ruleset
from .stage import DELAY, RATE, Emulator, Policing, Stage, State

ETHERNET_BYTES = 14
DEFAULT_BUFFER_FRAMES = 100
"""A rate without a buffer gets one BDP, and at least this many frames."""

NETEM_LIMIT = 2**31 - 1
"""Packets in a delay: never what limits a path. What is on its way there is not bounded by the link's rate."""
IN_ORDER = ("rate", "100tbit")
"""netem sends each packet at its own time, so later ones overtake; with a rate it keeps them in order, and one of
100 Tbit/s takes no time."""

STAGES = {"forward": ("wire0", "wire1", "end1"), "backward": ("wire1", "wire0", "end0")}
"""For each direction: the device that delays, the one where loss is counted, the one with the rate and its buffer."""

BURST_NS = 5_000
"""What a token bucket holds, as time at its rate: packets leave up to this much early, a group for one timer."""

REAL_TIME_BURST_NS = 1_000_000
"""The same on the wall clock, where timers come late by up to about a millisecond."""


def emulator(link: Link, data_way: Way, seed: int, until_ns: int = 0, *, superpackets: bool) -> Emulator:
    """The emulator for a link whose data goes `data_way`, with what its schedule does up to `until_ns`.

    `seed` draws the phases of seeded periodic losses and the volume of a policy.
    """

    def stage(way: Way, direction: Direction) -> Stage:
        first, loss_device, last = STAGES[way]
        is_data = way == data_way
        loss = direction.loss or (link.data_loss if is_data else None)
        policy = direction.policy or (link.data_policy if is_data else None)
        where = f"{seed}/{link.name}/{way}"
        limit, unit = buffer(direction, link.rtt_ns, link.mtu_bytes)
        made = Stage(way, direction, loss, _phase(loss, where), limit, unit, first, loss_device, last)
        later = course(replace(direction, loss=loss), link.schedule, way, is_data, until_ns)
        made = replace(made, states=tuple(_states(made, later, link, where)), policing=_policing(policy, link, where))
        return replace(
            made,
            delay_device=last if superpackets and any(_wants_packets(state) for state in made.history) else first,
            keeps_order=_shrinks(made),
        )

    return Emulator(
        link.name,
        emulator_netns(link.name),
        link.mtu_bytes,
        stage("forward", link.forward),
        stage("backward", link.backward),
        link.emulator,
    )


def _states(stage: Stage, later: Iterator[tuple[int, Direction]], link: Link, where: str) -> Iterator[State]:
    """A buffer stays as large as it was at first, whatever the rate becomes, until a change says another."""
    before = stage.start
    for at_ns, now in later:
        limit, phase, generation = before.limit, before.phase, before.generation
        if now.buffer != before.asked.buffer:
            limit = stage.limit if now.buffer == stage.asked.buffer else buffer(now, link.rtt_ns, link.mtu_bytes)[0]
        if now.loss != before.loss:
            phase, generation = _phase(now.loss, f"{where}/{at_ns}"), generation + 1
        before = State(at_ns, now, now.loss, phase, limit, generation)
        yield before


def _policing(policy: Policy | None, link: Link, where: str) -> Policing | None:
    if policy is None:
        return None
    after_bytes = random.Random(f"{where}/policy").randint(policy.low_bytes, policy.high_bytes)
    return Policing(after_bytes, policy.rate_bps, link.mtu_bytes)


def _wants_packets(state: State) -> bool:
    return state.asked.jitter is not None or isinstance(state.loss, RandomLoss | GilbertElliott)


def _shrinks(stage: Stage) -> bool:
    """Whether the delay ever becomes less than it was before."""
    delays = [state.asked.delay_ns for state in stage.history]
    return any(later < sooner for sooner, later in pairwise(delays))


def emulator_netns(link: str) -> str:
    """A dot cannot stand in a node's name, so this is never the namespace of a node."""
    return f"{PREFIX}{link}.emulator"


def frame_bytes(mtu_bytes: int) -> int:
    """What a full packet weighs in a queue and against a rate: with the Ethernet header, without preamble and gap."""
    return mtu_bytes + ETHERNET_BYTES


def commands(
    emulator: Emulator, *, superpackets: bool, real_time: bool, control: ControlConnection | None
) -> Iterator[Command]:
    """Sets up the four devices, which exist already and are called end0, wire0, wire1, end1."""
    for device in ("end0", "wire0", "wire1", "end1"):
        if superpackets:  # Every device sends single MTU frames, and a host's NIC may merge what end0 and end1 send.
            yield Command("ethtool", ("-K", device, "tso", "off", "gso", "off"), emulator.netns)
    for stage in emulator.stages:
        yield from _qdiscs(stage, emulator, real_time)
    yield from ruleset.commands(emulator, control)


def change(emulator: Emulator, stage: Stage, before: State, state: State, *, real_time: bool) -> Iterator[Command]:
    """From one state to the next. Everything is changed in place: what waits and what is on its way stays there."""
    if _netem(stage, state) != _netem(stage, before):
        yield _changed(emulator, stage.delay_place, ("root",), _netem(stage, state))
    if (
        _tbf(emulator, stage, state, real_time) != _tbf(emulator, stage, before, real_time)
        or state.limit != before.limit
    ):
        yield _changed(emulator, stage.rate_place, _rate_parent(stage), _tbf(emulator, stage, state, real_time))
        if stage.limit_unit == "packets":  # the token bucket hands its limit down, whatever it counts
            yield _changed(emulator, stage.buffer_place, ("parent", f"{RATE}1"), ("pfifo", "limit", str(state.limit)))
    if state.generation != before.generation:
        yield from ruleset.change(emulator, stage, state)


def _changed(emulator: Emulator, place: tuple[str, str], parent: tuple[str, ...], words: tuple[str, ...]) -> Command:
    device, handle = place
    return Command("tc", ("qdisc", "change", "dev", device, *parent, "handle", handle, *words), emulator.netns)


def buffer(direction: Direction, rtt_ns: int, mtu_bytes: int) -> tuple[int | None, Literal["packets", "bytes"]]:
    """The buffer of a direction's rate and its unit; None without a rate."""
    if direction.rate_bps is None:
        return None, "bytes"
    frame = frame_bytes(mtu_bytes)
    bdp_bytes = Fraction(direction.rate_bps * rtt_ns, 8 * 10**9)
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
    if _has_netem(stage):
        yield _qdisc(emulator, stage.delay_place, ("root",), _netem(stage, stage.start))
    if stage.asked.rate_bps is None:
        return
    yield _qdisc(emulator, stage.rate_place, _rate_parent(stage), _tbf(emulator, stage, stage.start, real_time))
    if stage.limit_unit == "packets":
        yield _qdisc(emulator, stage.buffer_place, ("parent", f"{RATE}1"), ("pfifo", "limit", str(stage.limit)))


def _has_netem(stage: Stage) -> bool:
    """Whether there is ever any delay or random loss."""
    return any(state.asked.delay_ns or _wants_packets(state) for state in stage.history)


def _netem(stage: Stage, state: State) -> tuple[str, ...]:
    delay = ("delay", tc_time(state.asked.delay_ns)) if state.asked.delay_ns else ()
    words = (*delay, *_jitter(state.asked), *_random_loss(state.loss))
    in_order = IN_ORDER if stage.keeps_order and not (state.asked.jitter and state.asked.jitter.reorder) else ()
    return ("netem", "limit", str(NETEM_LIMIT), *words, *(() if IN_ORDER[0] in words else in_order))


def _rate_parent(stage: Stage) -> tuple[str, ...]:
    return ("parent", f"{DELAY}1") if _has_netem(stage) and stage.is_nested else ("root",)


def _tbf(emulator: Emulator, stage: Stage, state: State, real_time: bool) -> tuple[str, ...]:
    rate_bps, frame = state.asked.rate_bps, frame_bytes(emulator.mtu_bytes)
    if rate_bps is None:
        return ()
    size = state.limit if stage.limit_unit == "bytes" else frame
    burst = _burst(rate_bps, frame, real_time)
    return ("tbf", "rate", f"{rate_bps}bit", "burst", str(burst), "limit", str(size))


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
    if asked.jitter is None:
        return ()
    words: tuple[str, ...] = (tc_time(asked.jitter.sd_ns),)
    if asked.jitter.distribution != "uniform":
        words += ("distribution", asked.jitter.distribution)
    return words if asked.jitter.reorder else (*words, *IN_ORDER)


def _random_loss(loss: Loss | None) -> tuple[str, ...]:
    if isinstance(loss, RandomLoss):
        return ("loss", "random", _percent(loss.probability))
    if isinstance(loss, GilbertElliott):
        chances = (loss.p, loss.r, loss.loss_bad, loss.loss_good)
        return ("loss", "gemodel", *map(_percent, chances))
    return ()


def tc_time(ns: int) -> str:
    """tc refuses ns, and cuts what a fraction of a microsecond comes to: 0.4 ns more than is meant survives the cut."""
    whole, rest = divmod(ns, 1000)
    return f"{whole}.{rest:03}4us" if rest else f"{whole}us"


def _percent(probability: Fraction) -> str:
    return f"{float(probability * 100):.15f}".rstrip("0").rstrip(".") + "%"
