"""Which faults a stage ever has, and where: their devices, counters, phases and numbers. Pure, no I/O.

A stage with faults has up to four pairs of devices more than the four of every emulator:

    wire1 ─► exit0 ══ exit1 ─► end1       the rate moves to exit0, so that what leaves it can still be late or lost
             late0 ══ late1 ─► end1       packets that others overtake wait here (reorder)
             twin0 ══ twin1 ─► exit0      packets that come twice (duplicate)
             once0 ══ once1 ─► exit0      the others, where some come twice

What comes out of a veth waits in one queue of the processor, whatever the device: packets that take the way over `once`
and those that take the way over `twin` keep their order.

Bursts are made at end1 (aggregate). Backward is the mirror image, on the same pairs.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, TypeAlias

from ...model.link.fault import Aggregate, Pick, Reorder
from .setting import TC_NS
from .stage import Emulator, Stage, State, frame_bytes

LATE, TWIN, BURST = "7:", "8:", "9:"
"""Handles of the netems of reorder, duplicate and aggregate."""
HANDLES = (LATE, TWIN, BURST)

PICKING = ("ack_loss", "corrupt", "duplicate", "reorder")
"""Faults that meet some of the packets, in the order in which packets meet them."""
COUNTED = (*PICKING, "down")
"""Faults that have counters."""

PAIRS = {"duplicate": ("once", "twin"), "reorder": ("exit", "late"), "down": ("exit",), "aggregate": ("exit",)}
"""The pairs of devices that a fault needs."""

IN, OUT = {"forward": "0", "backward": "1"}, {"forward": "1", "backward": "0"}
ENTRY, END = {"forward": "end0", "backward": "end1"}, {"forward": "end1", "backward": "end0"}
"""Where packets come into the emulator, and where they leave it."""

NETEMS = {"reorder": ("to come late", LATE), "duplicate": ("to come twice", TWIN), "aggregate": ("for a burst", BURST)}
"""What packets wait for in the netem of a fault, and its handle."""
NO_BOUND, ALL, SLOT_TIMES = 2**31 - 1, 2**32 - 1, ("slot_min_ns", "slot_max_ns")
"""What netem has for no bound of packets and bytes, and for a share of 1; its names of the time between bursts."""

Number: TypeAlias = tuple[str, int, str, str]
"""What it is, its value, the handle, and its name for Qdisc.value()."""

DRAIN_BPS = 10**11
"""The rate at which packets that wait in a link that goes down come to where they are counted and dropped."""

SHARE_OF = 10**9
"""A share is counted in parts of this."""


def ever(stage: Stage, key: str) -> bool:
    """Whether a stage has a fault in any state; for `down` also if it only can."""
    return key in stage.changes


def asked(state: State, key: str) -> Any:
    """The value of a fault in a state; None if it is absent."""
    return state.asked.value(key)


def is_down(state: State) -> bool:
    """Whether a link is down in a state."""
    return state.asked.value("down") is True


def rate_bps(state: State) -> int | None:
    """The rate of the token bucket; None without one. While the link is down, what waits there is thrown away."""
    asked_bps = state.asked.rate_bps
    return DRAIN_BPS if asked_bps is not None and is_down(state) else asked_bps


def pick(state: State, key: str) -> Pick | None:
    """Which packets meet a fault of PICKING in a state."""
    value = state.asked.value(key)
    return value.pick if isinstance(value, Reorder) else value


def pairs(*stages: Stage) -> tuple[str, ...]:
    """The pairs of devices that the faults of these stages need, by their names without 0 and 1."""
    wanted = (pair for key, names in PAIRS.items() for stage in stages if ever(stage, key) for pair in names)
    return tuple(sorted(set(wanted)))


def into(stage: Stage, pair: str) -> str:
    """The device of a pair at which packets enter it, which has a queue."""
    return f"{pair}{IN[stage.way]}"


def out_of(stage: Stage, pair: str) -> str:
    """The device of a pair at which they come out."""
    return f"{pair}{OUT[stage.way]}"


def rate_device(stage: Stage) -> str:
    """The device that sends at the rate."""
    return into(stage, "exit") if "exit" in pairs(stage) else END[stage.way]


def behind_losses(stage: Stage) -> str:
    """The device to which packets go that passed the losses, unless they come twice."""
    return into(stage, "once") if ever(stage, "duplicate") else stage.rate_device


def generation(stage: Stage, state: State, key: str) -> int:
    """How often a fault has changed until a state: each time it gets counters of its own."""
    return stage.changed(state, key)


def phase(stage: Stage, state: State, key: str) -> int:
    """By how many packets an exact fault comes early; a seeded phase is drawn for each change."""
    found = pick(state, key)
    if found is None or found.every is None or found.phase != "seeded":
        return 0 if found is None or found.phase == "seeded" else found.phase
    return random.Random(f"{stage.where}/{key}/{generation(stage, state, key)}").randrange(found.every)


def counter(stage: Stage, state: State, key: str, what: str) -> str:
    """Of a fault in a state: `came` are the packets that it looked at, `met` those that it met. Of `down`, `lost` are
    those that a link lost because it was down, `left` those that left it.
    """
    number = generation(stage, state, key)
    return f"{key}-{what}-{stage.way}" + (f"-{number}" if number else "")


def counters(key: str) -> tuple[str, str]:
    """What is counted of a fault."""
    return ("lost", "left") if key == "down" else ("came", "met")


def firsts(stage: Stage, key: str) -> tuple[State, ...]:
    """The first state of each generation of a fault; those without it have no counters, except of `down`."""
    found: dict[int, State] = {}
    for state in stage.history if ever(stage, key) else ():
        found.setdefault(generation(stage, state, key), state)
    return tuple(state for state in found.values() if key == "down" or state.asked.value(key) is not None)


def names(stage: Stage, state: State) -> tuple[str, ...]:
    """The counters of all faults in a state."""
    keys = (key for key in COUNTED if ever(stage, key) and (key == "down" or asked(state, key) is not None))
    return tuple(counter(stage, state, key, what) for key in keys for what in counters(key))


def dropping(stage: Stage) -> tuple[str, ...]:
    """The counters of packets that faults lose by themselves, at any time."""
    return tuple(name for key in ("ack_loss", "down") for name in _main(stage, key))


def told(*stages: Stage) -> dict[str, tuple[str, ...]]:
    """For each fault that these stages ever have: the counters of packets that it meets, or loses."""
    found = {key: tuple(name for stage in stages for name in _main(stage, key)) for key in COUNTED}
    return {key: names for key, names in found.items() if names}


def _main(stage: Stage, key: str) -> tuple[str, ...]:
    return tuple(counter(stage, state, key, "lost" if key == "down" else "met") for state in firsts(stage, key))


def late_ns(stage: Stage, state: State) -> int:
    """How long packets wait that come late: as asked in this state, or, if none is, in the last one before it that
    asks, or the first one; a time by packets is rounded up to what tc can set.
    """
    asking = firsts(stage, "reorder")
    number = generation(stage, state, "reorder")
    chosen = (
        state
        if asked(state, "reorder") is not None
        else max(
            (each for each in asking if generation(stage, each, "reorder") <= number),
            key=lambda each: generation(stage, each, "reorder"),
            default=asking[0],
        )
    )
    reorder = asked(chosen, "reorder")
    assert isinstance(reorder, Reorder), "BUG: nothing comes late"
    if reorder.by_ns is not None:
        return reorder.by_ns
    rate_bps = chosen.asked.rate_bps
    assert rate_bps is not None, "BUG: packets without a rate"
    half_packets = 2 * (reorder.by_packets or 0) + 1
    return -(-half_packets * frame_bytes(stage.mtu_bytes) * 8 * 10**9 // (2 * rate_bps * TC_NS)) * TC_NS


def aggregate(stage: Stage) -> Aggregate | None:
    """How packets are gathered; a schedule cannot change it."""
    found: Aggregate | None = asked(stage.start, "aggregate")
    return found


def places(stage: Stage) -> tuple[tuple[str, str], ...]:
    """Device and handle of each netem that a fault has."""
    rows = (
        ("reorder", into(stage, "late"), LATE),
        ("duplicate", into(stage, "twin"), TWIN),
        ("aggregate", END[stage.way], BURST),
    )
    return tuple((device, handle) for key, device, handle in rows if ever(stage, key))


def devices(emulator: Emulator) -> tuple[str, ...]:
    """The devices that faults add to an emulator."""
    return tuple(f"{pair}{number}" for pair in pairs(*emulator.stages) for number in (0, 1))


def numbers(stage: Stage, state: State, key: str) -> Iterator[Number]:
    """What netlink must report of the netem of a fault."""
    if not ever(stage, key) or key not in NETEMS:
        return
    what, handle = NETEMS[key]
    yield f"packets that can wait {what}", NO_BOUND, handle, "limit"
    if key == "duplicate":
        yield "share that leaves twice of what is to, in 2^-32", ALL, handle, "duplicate"
    yield f"delay {what}, in ns", late_ns(stage, state) if key == "reorder" else 0, handle, "delay_ns"
    yield f"jitter {what}, in ns", 0, handle, "jitter_ns"
    gathered = aggregate(stage)
    if key == "aggregate" and gathered is not None:
        yield from ((f"{name} between bursts", gathered.time_ns, handle, name) for name in SLOT_TIMES)
        yield "bytes of a burst", gathered.burst_bytes or 0, handle, "slot_bytes"
        yield "packets of a burst", 0, handle, "slot_packets"
