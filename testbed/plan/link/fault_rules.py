"""The commands of faults: rules of nftables that choose, count, damage, divert and drop packets, and the queues of the
devices to which they divert. Pure, no I/O.

A packet that enters gets a mark, the number of the time for which the link is up (or down). It goes on only while that
number is still the same. So what was in the link or waited in it when it went down is lost, and nothing gets in while
it is down; all of it is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...model.link.fault import Pick
from ..command import Command
from ..linux import Table
from . import fault
from .fault import BURST, COUNTED, LATE, PICKING, SHARE_OF, TWIN
from .impairment import NETEM_LIMIT, Words, tc_time
from .stage import Stage, State

TABLE = ("netdev", "testbed")
"""That of all rules of an emulator."""

LONGEST_ACK_BYTES = 100
"""An IPv6 header of 40 bytes and a TCP header of 60. A longer TCP packet carries data."""

FLIPPED = "@th,64,8"
"""The byte whose lowest bit a damaged packet has wrong: the ninth behind the IP header. In TCP that is the
acknowledgement number, in UDP the first byte of data. Every wrong bit makes the same checksum fail."""

DATA: tuple[Words, ...] = (
    ("meta", "l4proto", "tcp", "meta", "length", ">", str(LONGEST_ACK_BYTES)),
    ("meta", "l4proto", "udp"),
)
"""Data packets, which losses and exact faults count."""
WITH_CHECKSUM: tuple[Words, ...] = (("meta", "l4proto", "tcp"), ("meta", "l4proto", "udp"))
EVERYTHING: tuple[Words, ...] = ((),)
PURE_ACK: tuple[Words, ...] = tuple(
    ("@th,104,8", "&", "0x17", "==", "0x10", ip, "length", str(headers + 4 * words), "tcp", "doff", str(words))
    for ip, headers in (("ip", 20), ("ip6", 0))
    for words in range(5, 16)
)
"""An acknowledgement alone: of FIN, SYN, RST and ACK only the last, and nothing behind the header of TCP, whose length
is `doff` words of four bytes. The length of IPv6 is that of what follows its header."""

BEFORE_RATE = PICKING[:3]

SHARED = {"ack_loss": PURE_ACK, "corrupt": WITH_CHECKSUM, "duplicate": EVERYTHING, "reorder": EVERYTHING}
"""Of which packets a share is."""


def packets(key: str, pick: Pick) -> tuple[Words, ...]:
    """What a packet must be for a fault to look at it, in words of nftables; each packet is one of them at most."""
    return DATA if pick.every is not None and key != "ack_loss" else SHARED[key]


def chains(nft: Table, stage: Stage) -> Iterator[Command]:
    """The chains and counters of a stage's faults, and their rules at the start."""
    for key in PICKING:
        if fault.ever(stage, key):
            yield nft.chain(f"{key}-{stage.way}-met")
            yield nft.chain(f"{key}-{stage.way}")
    if fault.ever(stage, "down"):
        yield from (nft.chain(f"{name}-{stage.way}") for name in ("enter", "cut"))
    if "exit" in fault.pairs(stage):
        yield nft.chain(f"leave-{stage.way}")
    yield from (nft.counter(name) for name in fault.names(stage, stage.start))
    for key in COUNTED:
        if fault.ever(stage, key):
            yield from _rules(nft, stage, stage.start, key)
    if "exit" in fault.pairs(stage) and not fault.ever(stage, "down"):
        yield nft.rule(f"leave-{stage.way}", "fwd", "to", f'"{fault.END[stage.way]}"')


def devices(nft: Table, stage: Stage, ingress: Callable[[str], Command]) -> Iterator[Command]:
    """What packets meet where they come out of the pairs; `ingress` makes the chain of a device."""
    pairs = fault.pairs(stage)
    for pair, words in (
        *((pair, (("fwd", "to", f'"{stage.rate_device}"'),)) for pair in fault.PAIRS["duplicate"]),
        ("exit", (*_jump(stage, "reorder"), ("jump", f"leave-{stage.way}"))),
        ("late", (("jump", f"leave-{stage.way}"),)),
    ):
        if pair in pairs:
            device = fault.out_of(stage, pair)
            yield ingress(device)
            yield from (nft.rule(f"from-{device}", *each) for each in words)


def _jump(stage: Stage, key: str) -> tuple[Words, ...]:
    return (("jump", f"{key}-{stage.way}"),) if fault.ever(stage, key) else ()


def entering(stage: Stage) -> tuple[Words, ...]:
    """What packets meet first in the emulator."""
    return (("jump", f"enter-{stage.way}"),) if fault.ever(stage, "down") else ()


def before_losses(stage: Stage) -> tuple[Words, ...]:
    """What packets meet behind the delay, before the losses."""
    return (("jump", f"cut-{stage.way}"),) if fault.ever(stage, "down") else ()


def behind_losses(stage: Stage) -> tuple[Words, ...]:
    """What packets meet between the losses and the rate. A policy has marks of its own."""
    again = entering(stage) if stage.policing is not None else ()
    return (*again, *(word for key in BEFORE_RATE for word in _jump(stage, key)))


def change(nft: Table, stage: Stage, before: State, state: State) -> Iterator[Command]:
    """The rules of a later state, of what it changes."""
    changed = [key for key in COUNTED if fault.ever(stage, key) and fault.asked(before, key) != fault.asked(state, key)]
    fresh = set(fault.names(stage, state)) - set(fault.names(stage, before))
    yield from (nft.counter(name) for name in fault.names(stage, state) if name in fresh)
    for key in changed:
        yield from (nft.flush(chain) for chain in _chains_of(stage, key))
        yield from _rules(nft, stage, state, key)


def _chains_of(stage: Stage, key: str) -> tuple[str, ...]:
    names = ("enter", "cut", "leave") if key == "down" else (key,)
    return (*(f"{name}-{stage.way}" for name in names), *(() if key == "down" else (f"{key}-{stage.way}-met",)))


def _rules(nft: Table, stage: Stage, state: State, key: str) -> Iterator[Command]:
    if key == "down":
        yield from _down(nft, stage, state)
        return
    pick = fault.pick(state, key)
    if pick is None:
        return
    chain = f"{key}-{stage.way}"
    for which in packets(key, pick):
        yield nft.rule(chain, *which, "jump", f"{chain}-met")
    came, met = (f'"{fault.counter(stage, state, key, what)}"' for what in fault.counters(key))
    yield nft.rule(f"{chain}-met", "counter", "name", came)
    yield nft.rule(f"{chain}-met", *_chosen(stage, state, key, pick), "counter", "name", met, *_act(stage, key))


def _chosen(stage: Stage, state: State, key: str, pick: Pick) -> Words:
    if pick.every is None:
        return ("numgen", "random", "mod", str(SHARE_OF), "<", str(int(pick.share * SHARE_OF)))
    return ("numgen", "inc", "mod", str(pick.every), "==", str(pick.every - 1 - fault.phase(stage, state, key)))


def _act(stage: Stage, key: str) -> Words:
    return {
        "ack_loss": ("drop",),
        "corrupt": (FLIPPED, "set", FLIPPED, "^", "0x1"),
        "duplicate": ("fwd", "to", f'"{fault.into(stage, "twin")}"'),
        "reorder": ("fwd", "to", f'"{fault.into(stage, "late")}"'),
    }[key]


def _down(nft: Table, stage: Stage, state: State) -> Iterator[Command]:
    lost, left = (fault.counter(stage, state, "down", what) for what in fault.counters("down"))
    number = fault.generation(stage, state, "down")
    yield from _gates(nft, stage, number, lost, left, is_down=fault.is_down(state))


def switch(nft: Table, stage: Stage, number: int, *, is_down: bool) -> Iterator[Command]:
    """Takes a link down or up again by hand, in one direction; `number` is another each time, from 1 on. Its counters
    are those of the start.
    """
    lost, left = (fault.counter(stage, stage.start, "down", what) for what in fault.counters("down"))
    yield from (nft.flush(chain) for chain in _chains_of(stage, "down"))
    yield from _gates(nft, stage, number, lost, left, is_down=is_down)


def _gates(nft: Table, stage: Stage, number: int, lost: str, left: str, *, is_down: bool) -> Iterator[Command]:
    """What lets packets in, on and out only while the mark is still that of `number`."""
    mark = str(16 * (number + 1))
    late = () if is_down else ("meta", "mark", "!=", mark)
    drop = (*late, "counter", "name", f'"{lost}"', "drop")
    yield nft.rule(f"enter-{stage.way}", "meta", "mark", "set", mark)
    yield nft.rule(f"cut-{stage.way}", *drop)
    leave = f"leave-{stage.way}"
    yield nft.rule(leave, *drop)
    yield nft.rule(leave, "counter", "name", f'"{left}"')
    yield nft.rule(leave, "fwd", "to", f'"{fault.END[stage.way]}"')


def queues(stage: Stage, state: State) -> tuple[tuple[tuple[str, str], Words], ...]:
    """Device and handle, and the words, of each netem that a fault has."""
    netem: Words = ("netem", "limit", str(NETEM_LIMIT))
    words: dict[str, Words] = {}
    if fault.ever(stage, "reorder"):
        words[LATE] = (*netem, "delay", tc_time(fault.late_ns(stage, state)))
    if fault.ever(stage, "duplicate"):
        words[TWIN] = (*netem, "duplicate", "100%")
    gathered = fault.aggregate(stage)
    if gathered is not None:
        most = () if gathered.burst_bytes is None else ("bytes", str(gathered.burst_bytes))
        words[BURST] = (*netem, "slot", f"{gathered.time_ns}ns", f"{gathered.time_ns}ns", *most)
    return tuple((place, words[place[1]]) for place in fault.places(stage))


def offloads(stage: Stage) -> tuple[tuple[str, Words], ...]:
    """Devices that must compute checksums, so that receivers check them, and the words that make them."""
    off = ("tx", "off", "tso", "off", "gso", "off")
    return ((fault.into(stage, "wire"), off),) if fault.ever(stage, "corrupt") else ()
