"""The emulator: the middlebox in the middle of an impaired link, as commands. Pure, no I/O.

It is a bump in the wire: four devices in their own namespace, which pass frames on unchanged.

    first end ── end0 ─► wire0 ══ wire1 ─► end1 ── second end          (forward)
                        delay     loss     rate and buffer

- wire0 (backward: wire1) delays. If the hosts' NICs segment (`nic: offload`), a superpacket is still one object here,
  which makes long paths cheap. When it leaves, it is cut into MTU packets, as by a NIC.
- wire1 (backward: wire0) counts the data packets and drops 1 in X. A policy drops here, too.
- end1 (backward: end0) sends at the link's rate from a drop-tail buffer of MTU packets: a token bucket of a few
  microseconds.

Random loss and jitter must see MTU packets. If wire0 carries superpackets, random loss, jitter and delay move to end1,
in front of the rate.

A stage of nothing but a delay, a loss of 1 in X and a rate or a shaper with a fifo needs few packets by themselves
before they leave. Where the kernel's token buckets hold superpackets (kernel/lab/patches/0003, that of a shaper 0002),
they are cut there, when their turn has come; the one that holds the packet to drop is cut before it is counted (0005).
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Literal, TypeAlias

from ...error import UserError
from ...model.link.buffer import Buffer
from ...model.link.impairment import UNIMPAIRED, Direction, Loss, PeriodicLoss, Policy, Way
from ...model.schedule import course
from ...model.topology import Link
from ...model.workload import ControlConnection
from ..command import PREFIX, Command
from ..linux import CUTS, EXACT_NETEM, Offloads, Qdisc
from . import fault, fault_rules, paced, queue, ruleset
from .impairment import IN_ORDER, NETEM_LIMIT, Context, Words, is_in_order, makings, needs_netem, netem_options
from .setting import TC_NS
from .stage import DELAY, PER_FLOW, POLICE, RATE, Emulator, Policing, Stage, State, frame_bytes

Device: TypeAlias = tuple[str, str]
"""Device and handle of a qdisc."""

DEFAULT_BUFFER_FRAMES = 100
"""A rate without a buffer gets one BDP, and at least this many frames."""

STAGES = {"forward": ("wire0", "wire1", "end1"), "backward": ("wire1", "wire0", "end0")}
"""For each direction: the device that delays, the one where loss is counted, the one with the rate and its buffer."""


def emulator(
    link: Link, data_way: Way, seed: int, until_ns: int = 0, cuts_late: bool = False, *, superpackets: bool
) -> Emulator:
    """The emulator of a link whose data goes in the direction `data_way`, with its schedule up to `until_ns`.

    `seed` draws the phases of seeded periodic losses and the volume of a policy; `cuts_late` says whether the kernel's
    token bucket holds superpackets.
    """

    def stage(way: Way) -> Stage:
        first, loss_device, last = STAGES[way]
        asked = link.asked(way, is_data=way == data_way)
        where = f"{seed}/{link.name}/{way}"
        limit, unit = buffer(asked, link.rtt_ns, link.mtu_bytes)
        made = Stage(way, asked, _phase(asked.loss, where), limit, unit, first, loss_device, last)
        made = replace(made, where=where, mtu_bytes=link.mtu_bytes)
        made = replace(made, queue=_made_queue(made, asked, link.mtu_bytes), flow_bytes=_flow_bytes(asked, link))
        later = course(asked, link.schedule, way, way == data_way, until_ns)
        policing = _policing(asked.policy, link, where)
        made = replace(made, states=tuple(_states(made, later, link, where)), policing=policing)
        last = fault.rate_device(made)
        of_packets = superpackets and any(netem_options(state, of_packets=True) for state in made.history)
        device = last if of_packets else first
        made = replace(made, rate_device=last)
        if made.queue is not None and made.queue.type == "fq":
            _check_fq(made, link, superpackets)
        late = superpackets and cuts_late and _needs_no_packets(made)
        return replace(
            made, delay_device=device, keeps_order=_shrinks(made), has_netem=needs_netem(made), cuts_late=late
        )

    return Emulator(
        link.name,
        emulator_netns(link.name),
        link.mtu_bytes,
        stage("forward"),
        stage("backward"),
        link.emulator,
    )


def _needs_no_packets(stage: Stage) -> bool:
    """Whether a stage delays, drops 1 in X, sends from a fifo at a rate or as a shaper does, and never does anything
    else. Without a delay the bucket would hold what the sender's socket still counts, and TCP's small queues could tell
    when it is cut.
    """
    return all(
        state.asked.delay_ns > 0
        and state.asked.rate_bps is not None
        and (state.loss is None or isinstance(state.loss, PeriodicLoss))
        and replace(state.asked, rate_bps=None, delay_ns=0, buffer=None, loss=None, shaper=None) == UNIMPAIRED
        for state in stage.history
    )


def _check_fq(stage: Stage, link: Link, superpackets: bool) -> None:
    for refused, which, allowed in (
        (superpackets, "some of the packets that a NIC cuts have none", "nic: plain"),
        (fault.ever(stage, "duplicate"), "the copies that 'duplicate' makes have none", "duplicate: none"),
    ):
        if refused:
            raise UserError(
                f"the fq of the link {link.name} tells flows apart by their sockets, and {which}: it would reorder "
                f"them; allowed: {allowed}, or another queue such as fq_codel or sfq"
            )


def _states(stage: Stage, later: Iterator[tuple[int, Direction]], link: Link, where: str) -> Iterator[State]:
    """The later states. A buffer keeps its initial size when the rate changes, until a change sets it."""
    before = stage.start
    for at_ns, now in later:
        limit, phase, generation = before.limit, before.phase, before.generation
        if now.buffer != before.asked.buffer:
            limit = stage.limit if now.buffer == stage.asked.buffer else buffer(now, link.rtt_ns, link.mtu_bytes)[0]
        if now.loss != before.loss:
            phase, generation = _phase(now.loss, f"{where}/{at_ns}"), generation + 1
        before = State(at_ns, now, phase, limit, generation, _made_queue(stage, now, link.mtu_bytes))
        yield before


def _made_queue(stage: Stage, now: Direction, mtu_bytes: int) -> queue.MadeQueue | None:
    """The queue that a state asks for. What follows from the rate follows from that of the start."""
    asked = now.queue
    if asked is None or stage.asked.rate_bps is None:
        return None
    assert stage.limit is not None, "BUG: a rate without a limit"
    return queue.made(asked, stage.limit, frame_bytes(mtu_bytes), stage.asked.rate_bps)


def _policing(policy: Policy | None, link: Link, where: str) -> Policing | None:
    if policy is None:
        return None
    after_bytes = random.Random(f"{where}/policy").randint(policy.low_bytes, policy.high_bytes)
    return Policing(after_bytes, policy.rate_bps, link.mtu_bytes)


def _shrinks(stage: Stage) -> bool:
    """Whether the delay ever decreases."""
    delays = [state.asked.delay_ns for state in stage.history]
    return any(later < sooner for sooner, later in pairwise(delays))


def emulator_netns(link: str) -> str:
    """The namespace of a link's emulator. No node's name has a dot, so this is never the namespace of a node."""
    return f"{PREFIX}{link}.emulator"


def commands(
    emulator: Emulator, *, superpackets: bool, real_time: bool, control: ControlConnection | None
) -> Iterator[Command]:
    """Sets up the four devices end0, wire0, wire1 and end1, which exist already."""
    late = {stage.delay_device for stage in emulator.stages if stage.cuts_late}
    for device in ("end0", "wire0", "wire1", "end1"):
        # Every device must send single MTU frames; a host's NIC may merge what end0 and end1 send.
        if superpackets:
            words = ("tso", "on", "gso", "on") if device in late else CUTS
            yield Offloads(device, words, netns=emulator.netns)
    for stage in emulator.stages:
        for device, words in fault_rules.offloads(stage):
            yield Offloads(device, words, netns=emulator.netns)
    for stage in emulator.stages:
        yield from _qdiscs(stage, emulator, real_time)
    yield from ruleset.commands(emulator, control)


def change(emulator: Emulator, stage: Stage, before: State, state: State, *, real_time: bool) -> Iterator[Command]:
    """The commands from one state to the next. They change the qdiscs in place, so that no waiting packet is lost."""
    if _netem(stage, state) != _netem(stage, before):
        yield _tc("change", emulator, stage.delay_place, None, _netem(stage, state))
        yield from _exactly(emulator, stage, state)
    rates = [_rate(emulator, stage, each, real_time, change=True) for each in (before, state)]
    for one, later in zip(*rates, strict=True):
        # A token bucket hands its limit down to a fifo, which needs its own again; other queues keep theirs.
        is_set_again = rates[0] != rates[1] and stage.queue is None and later[2][0] != paced.PER_FLOW
        if one != later or is_set_again:
            device, parent, words = later
            yield _tc("change", emulator, device, parent, paced.later(words))
    late = fault_rules.queues(stage, before)
    for now, earlier in zip(fault_rules.queues(stage, state), late, strict=True):
        if now != earlier:
            yield _tc("change", emulator, now[0], None, now[1])
    yield from ruleset.change(emulator, stage, before, state)


def buffer(direction: Direction, rtt_ns: int, mtu_bytes: int) -> tuple[int | None, Literal["packets", "bytes"]]:
    """The size and the unit of the buffer of a direction's rate; the size is None without a rate. Queues that were
    asked have units of their own.
    """
    if direction.rate_bps is None:
        return None, "bytes"
    frame = frame_bytes(mtu_bytes)
    bdp_bytes = Fraction(direction.rate_bps * rtt_ns, 8 * 10**9)
    default_bytes = max(math.ceil(bdp_bytes), DEFAULT_BUFFER_FRAMES * frame)
    asked = None if direction.buffer is None else _buffer(direction.buffer, bdp_bytes, frame)
    own = direction.queue
    if own is not None:
        size = queue.limit(own, asked, default_bytes, frame)
        return size, "packets" if own.kind.limit_unit == "packets" else "bytes"
    return asked or (_counted(default_bytes), "bytes")


def _buffer(asked: Buffer, bdp_bytes: Fraction, frame: int) -> tuple[int, Literal["packets", "bytes"]]:
    if asked.unit == "packets":
        return max(1, math.floor(asked.amount)), "packets"
    amount = asked.amount * (bdp_bytes if asked.unit == "bdp" else 1)
    return _counted(max(frame, math.floor(amount))), "bytes"


def _flow_bytes(asked: Direction, link: Link) -> int:
    """How much of each flow waits that has a cap: as much as the buffer of a link of that rate holds."""
    cap = asked.per_flow
    if cap is None or cap.polices:
        return 0
    size, unit = buffer(Direction(rate_bps=cap.rate_bps, buffer=cap.buffer), link.rtt_ns, link.mtu_bytes)
    return _counted((size or 0) * (frame_bytes(link.mtu_bytes) if unit == "packets" else 1))


def _counted(size_bytes: int) -> int:
    """Raises UserError for a buffer that no kernel can count."""
    if size_bytes > queue.COUNTED_MAX:
        what = f"a buffer of {size_bytes} bytes is more than the kernel can count"
        raise UserError(f"{what}; allowed: up to {queue.COUNTED_MAX} bytes, or fewer bdp")
    return size_bytes


def _phase(loss: Loss | None, seed: str) -> int:
    if not isinstance(loss, PeriodicLoss):
        return 0
    return random.Random(seed).randrange(loss.every) if loss.phase == "seeded" else loss.phase


def _qdiscs(stage: Stage, emulator: Emulator, real_time: bool) -> Iterator[Command]:
    """netem for the delay and random loss, tbf with its buffer for the rate; parents before children."""
    if stage.has_netem:
        yield _tc("add", emulator, stage.delay_place, None, _netem(stage, stage.start))
        yield from _exactly(emulator, stage, stage.start)
    for qdisc in _rate(emulator, stage, stage.start, real_time):
        yield _tc("add", emulator, *qdisc)
    for place, words in fault_rules.queues(stage, stage.start):
        yield _tc("add", emulator, place, None, words)


def _netem(stage: Stage, state: State) -> Words:
    words = netem_options(state)
    in_order = IN_ORDER if is_in_order(stage, state) and IN_ORDER[0] not in words else ()
    return ("netem", "limit", str(NETEM_LIMIT), *words, *in_order)


def _exactly(emulator: Emulator, stage: Stage, state: State) -> Iterator[Command]:
    """Sets times to the nanosecond, where tc cuts off parts of a microsecond."""
    jitter_ns = 0 if state.asked.jitter is None else state.asked.jitter.netem_ns
    times = {"delay": state.asked.delay_ns, "jitter": jitter_ns}
    if any(time_ns % TC_NS for time_ns in times.values()):
        words = (word for name, time_ns in times.items() for word in (name, str(time_ns)))
        yield _tc("change", emulator, stage.delay_place, None, (EXACT_NETEM, *words))


def _rate(
    emulator: Emulator, stage: Stage, state: State, real_time: bool, *, change: bool = False
) -> tuple[tuple[Device, str | None, Words], ...]:
    """The qdiscs that send at a rate: the device, the parent and the words of each."""
    parent = f"{DELAY}1" if stage.has_netem and stage.is_nested else None
    context = Context(emulator.mtu_bytes, real_time)
    policers = [(stage.police_place, parent, row.policer(state)) for row in makings()]
    parent = f"{POLICE}1" if any(words for *_, words in policers) else parent
    caps = [(stage.per_flow_place, parent, row.per_flow(stage, state, context)) for row in makings()]
    parent = f"{PER_FLOW}1" if any(words for *_, words in caps) else parent
    shapers = [(stage.rate_place, parent, row.shaper(stage, state, context)) for row in makings()]
    queues = [(stage.buffer_place, f"{RATE}1", row.queue(stage, state, change)) for row in makings()]
    return tuple(qdisc for qdisc in (*policers, *caps, *shapers, *queues) if qdisc[2])


def begins(emulator: Emulator) -> Iterator[Command]:
    """Lets the traces of a link begin, with the workload."""
    for stage in emulator.stages:
        if stage.asked.trace is not None:
            ((device, parent, _),) = [
                each for each in _rate(emulator, stage, stage.start, False) if each[2][:1] == (paced.TRACE,)
            ]
            yield _tc("change", emulator, device, parent, paced.begin_words())


def _tc(verb: Literal["add", "change"], emulator: Emulator, device: Device, parent: str | None, words: Words) -> Qdisc:
    name, handle = device
    kind, *options = words
    return Qdisc(verb, name, parent, handle, kind, tuple(options), netns=emulator.netns)
