"""What a row of MAKINGS yields and is told: numbers that netlink must report, rules of nftables. Pure, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Words: TypeAlias = tuple[str, ...]


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
