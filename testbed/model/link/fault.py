"""What a link does to packets beside delaying, queueing and losing them: it goes down, sends packets twice, damages,
reorders or gathers them, and loses acknowledgements; as values. Pure, no I/O.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Literal, TypeAlias

from ... import units
from ...codec.fault import Fault
from ...codec.frozen import dataclass
from ...codec.keyed import Keyed, key, keyed
from ...codec.kind import SIZE, SPAN, none_or
from .extent import DELAY_MAX, SLOT_MAX


@dataclass(frozen=True)
class Pick:
    """Which packets meet a fault: exactly one in `every`, or (None) each by itself with the probability `share`.

    With phase 0 it is the `every`-th, the 2·`every`-th, …; phase k (up to `every` - 1) makes the first one come k
    packets earlier; "seeded" draws k from the trial's seed. `share` is strictly between 0 and 1, a multiple of 1e-9.
    """

    every: int | None = None
    phase: int | Literal["seeded"] = 0
    share: Fraction = Fraction(0)


@dataclass(frozen=True)
class Reorder:
    """The packets of `pick` are held back behind the rate: for `by_ns`, or for as long as the link's rate takes for
    `by_packets` full packets and a half. One of the two is None.
    """

    pick: Pick
    by_ns: int | None = None
    by_packets: int | None = None


@keyed
class Aggregate(Keyed):
    """Bursts: the time between them, and the most bytes of each.

    Packets leave in bursts: `time_ns` after the one before or later, and up to the packet that makes `burst_bytes`
    of Ethernet frames full; None is no bound.
    """

    time_ns: int = key("time", SPAN)
    burst_bytes: int | None = key("bytes", SIZE, default=None)

    def faults(self) -> Iterator[Fault]:
        for name, value, (most, said) in (
            ("time", self.time_ns, DELAY_MAX),
            ("bytes", self.burst_bytes or 0, SLOT_MAX),
        ):
            if value > most:
                yield Fault((name,), "this is too large", said, named=True)


AGGREGATE_ALLOWED = "none, {time: 4 ms}, {time: 4 ms, bytes: 32 KiB}"
AGGREGATE = none_or(Aggregate, "this does not say how packets are gathered", AGGREGATE_ALLOWED, about=AGGREGATE_ALLOWED)


BY_HAND: Literal["by hand"] = "by hand"
Down: TypeAlias = bool | Literal["by hand"]
"""Whether a link is down; BY_HAND: it is up, and people can take it down."""


@dataclass(frozen=True)
class Outage:
    """A link is down from `from_ns` after the start of the workload on, for `for_ns`; again after each `every_ns`, or
    (None) once. Files write it at a link; the link has it in its schedule.
    """

    from_ns: int
    for_ns: int
    every_ns: int | None = None


def pick_words(pick: Pick) -> str:
    """Such as "1 in 100" or "random 1 %"."""
    if pick.every is None:
        return f"random {units.format_fraction(pick.share)}"
    one_in = units.format_one_in(pick.every)
    return f"{one_in}, phase {pick.phase}" if pick.phase else one_in


def reorder_words(reorder: Reorder) -> str:
    """Such as "1 in 100 by 2 ms"."""
    return f"{pick_words(reorder.pick)} by {reorder_by(reorder)}"


def reorder_by(reorder: Reorder) -> str:
    """Such as "2 ms" or "3 packets"."""
    if reorder.by_ns is not None:
        return units.format_time(reorder.by_ns)
    return units.format_packets(reorder.by_packets or 0)


def aggregate_words(aggregate: Aggregate) -> str:
    """Such as "every 4 ms up to 32 KiB"."""
    most = "" if aggregate.burst_bytes is None else f" up to {units.format_size(aggregate.burst_bytes)}"
    return f"every {units.format_time(aggregate.time_ns)}{most}"


def down_words(down: Down) -> str:
    """What a direction does about it at one time."""
    return down if down == BY_HAND else "now" if down else "not now"


def reorder_note(reorder: Reorder) -> tuple[str, str]:
    """For readers of the result."""
    what = f"packets ({pick_words(reorder.pick)}) come {reorder_by(reorder)} late, and others overtake them"
    return what, "TCP may take that for loss, and send segments again"


def aggregate_note(aggregate: Aggregate) -> tuple[str, str]:
    """For readers of the result."""
    time = units.format_time(aggregate.time_ns)
    return f"packets leave in bursts, {aggregate_words(aggregate)}", f"a packet by itself waits for {time}"
