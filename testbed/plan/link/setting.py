"""What a row of MAKINGS yields and is told: numbers that netlink must report, rules of nftables. Pure, no I/O."""

from __future__ import annotations

from typing import TypeAlias

from ...codec.frozen import dataclass

Words: TypeAlias = tuple[str, ...]

TICK_NS = 64
"""The kernel's packet scheduler counts in ticks of 64 ns (PSCHED_SHIFT), so what tc sets is exact to a tick."""
TC_NS = 1000
"""tc cuts off parts of a microsecond."""


def slack_ns(time_ns: int) -> int:
    """By how much a delay may be off: what tc cannot set, our own program sets exactly."""
    return 0 if time_ns % TC_NS else TICK_NS


@dataclass(frozen=True)
class Setting:
    """A number that netlink must report of the qdisc with `handle`, give or take `slack`.

    `what` names it for people, with its unit; `name` is its name for Qdisc.value(). If `may_be_absent`, no such qdisc
    or number is as good as the one asked for.
    """

    what: str
    asked: int
    handle: str
    name: str
    slack: int = 0
    may_be_absent: bool = False


@dataclass(frozen=True)
class Chain:
    """Rules of nftables that every packet of a direction passes, and the counters that they name."""

    counters: tuple[str, ...]
    rules: tuple[Words, ...]


@dataclass(frozen=True)
class Context:
    """What a shaper needs to know besides the stage and its state."""

    mtu_bytes: int
    real_time: bool
