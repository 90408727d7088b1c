"""Rules about how long the network needs until it works again. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...codec.fault import Fault
from ...codec.keyed import key, named
from ...codec.kind import NAME, SPAN, listed, record
from ...plan.step import Run, Sleep, Step, Stop
from . import echo
from .action import Action
from .common import STATUS, Found, Kind, Net, NotChecked

BEFORE_S, AFTER_S = 1.0, 1.0
"""Pings of this time must be answered before anything happens, and at the end."""
SEQUENCE = re.compile(r"icmp_seq=(\d+) ttl=")


@named
class Converges(Kind):
    """Pings from `from` to `to` are answered, then `when` happens, and after `within` at most they are answered again,
    and stay so for a second.
    """

    source: str = key("from", NAME)
    destination: str = key("to", NAME)
    when: tuple[Action, ...] = key("when", listed(record(Action), 1))
    within: int = key("within", SPAN)
    interval: int = key("interval", SPAN, default=10_000_000)

    def faults(self) -> Iterator[Fault]:
        for number, action in enumerate(self.when):
            yield from (fault.under("when", number) for fault in action.faults())
        if self.interval < 1_000_000 or self.interval > self.within:
            yield Fault(("interval",), "this is no useful interval", "1 ms up to what within says", named=True)

    def nodes(self) -> tuple[str, ...]:
        return (self.source, self.destination)

    @property
    def count(self) -> int:
        """The pings of the whole time."""
        return int((BEFORE_S + self.within / 1e9 + 2 * AFTER_S) / (self.interval / 1e9))

    def steps(self, net: Net, name: str) -> Iterator[Step]:
        yield from echo.watched(net, self.source, name, self._pings(net, name))

    def _pings(self, net: Net, name: str) -> Iterator[Step]:
        words = ("ping", "-n", "-c", str(self.count), "-i", f"{self.interval / 1e9:g}", "-W", "1")
        script = f'"$@"; s=$?; echo; echo {STATUS} $s'
        shell = ("sh", "-c", script, "sh", *words, net.address(self.destination))
        where = net.plan.where(net.node(self.source))
        yield Run(shell, "check", where, out=f"{name}.out", err=f"{name}.err", background=f"{name}-ping")
        yield Sleep(BEFORE_S)
        for number, action in enumerate(self.when):
            yield from action.steps(net, f"{name}-{number}")
        yield Sleep(self.within / 1e9 + 2 * AFTER_S + 3)
        yield Stop(f"{name}-ping")

    def judge(self, net: Net, name: str, found: Found) -> str | None:
        text = found.get(f"{name}.out", "")
        if f"\n{STATUS} " not in text:
            raise NotChecked("the pings did not come to their end")
        answered = {int(number) for number in SEQUENCE.findall(text)}
        first = int(BEFORE_S / 2 / (self.interval / 1e9))
        if not all(number in answered for number in range(2, first)):
            raise NotChecked(f"{self.source} did not reach {self.destination} before anything happened")
        lost = [number for number in range(first, self.count + 1) if number not in answered]
        if not lost:
            return echo.stand_in(net, self.source, text, found, name)
        last_s = (self.count - max(lost)) * self.interval / 1e9
        if last_s < AFTER_S:
            return f"{self.source} does not reach {self.destination} {self.within / 1e9:g} s later"
        gone_s = (max(lost) - min(lost) + 1) * self.interval / 1e9
        if gone_s <= self.within / 1e9:
            return echo.stand_in(net, self.source, text, found, name)
        return f"it took {gone_s:.2f} s until {self.source} reached {self.destination} again"


KINDS: dict[str, Any] = {"converges": Converges}
