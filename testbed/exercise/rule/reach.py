"""Rules about who reaches whom, and on which way. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...codec.fault import Fault
from ...codec.keyed import key, named
from ...codec.kind import TEXT, listed
from ...plan.step import Step
from .common import COUNT, Found, Kind, Net, NotChecked, said

SENT = re.compile(r"^ping (\S+)\n(.*?)^end$", re.MULTILINE | re.DOTALL)
COUNTS = re.compile(r"(\d+) packets transmitted, (\d+) received")
UNREACHABLE = re.compile(r"[Nn]etwork is unreachable|[Nn]o route to host")
PINGS = (
    'pings=$1; shift; for each; do echo "ping $each"; ping -n -q -c "$pings" -i 0.2 -W 1 "$each"; echo end; done; true'
)
HOPS_MAX = 12
TRACE = (
    'for ttl in $(seq 1 $2); do echo "hop $ttl"; ping -n -c 1 -t $ttl -W 1 "$1"; '
    'ping -n -c 1 -t $ttl -W 1 "$1" | grep -q " 0% packet loss" && break; done; true'
)
HOP = re.compile(r"^hop (\d+)$", re.MULTILINE)
FROM = re.compile(r"(?:From |bytes from )([0-9a-f.:]+?):? (?:icmp_seq|time=)")

NAMES = listed(TEXT, 1)


@named
class _Pings(Kind):
    source: tuple[str, ...] = key("from", NAMES, default=())
    destination: tuple[str, ...] = key("to", NAMES, default=())
    among: tuple[str, ...] = key("among", NAMES, default=())
    pings: int = key("pings", COUNT, default=3)

    def faults(self) -> Iterator[Fault]:
        if bool(self.among) == bool(self.source or self.destination) or bool(self.source) != bool(self.destination):
            yield Fault((), "this does not say who pings whom", "from and to, or among", named=True)
        elif not list(self.pairs()):
            yield Fault((), "nobody pings anybody", "two nodes that differ", named=True)

    def nodes(self) -> tuple[str, ...]:
        return (*self.source, *self.destination, *self.among)

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Who pings whom."""
        for source in self.source or self.among:
            yield from ((source, other) for other in self.destination or self.among if other != source)

    def steps(self, net: Net, name: str) -> Iterator[Step]:
        for number, source in enumerate(dict.fromkeys(source for source, _ in self.pairs())):
            to = [net.address(other) for each, other in self.pairs() if each == source]
            most_s = 10 + len(to) * (3 + self.pings * 1.3)
            yield net.run(source, PINGS, f"{name}-{number}.out", str(self.pings), *to, patience_s=most_s)

    def received(self, net: Net, name: str, found: Found) -> Iterator[tuple[str, str, int]]:
        """How many answers each pair got. Raises NotChecked."""
        for number, source in enumerate(dict.fromkeys(source for source, _ in self.pairs())):
            _, text = said(found, f"{name}-{number}.out")
            blocks = {each[1]: each[2] for each in SENT.finditer(text + "\n")}
            for _, other in (pair for pair in self.pairs() if pair[0] == source):
                block = blocks.get(net.address(other), "")
                counts = COUNTS.search(block)
                if counts is None and not UNREACHABLE.search(block):
                    raise NotChecked(f"{source} could not ping {other}: {block.strip() or 'ping said nothing'}")
                if counts is not None and int(counts[1]) != self.pings:
                    raise NotChecked(f"{source} sent {counts[1]} pings to {other} instead of {self.pings}")
                yield source, other, 0 if counts is None else int(counts[2])


@named
class Reach(_Pings):
    """Each of `from` pings each of `to`, or of `among` the others; at least `answers` of the pings are answered."""

    answers: int | None = key("answers", COUNT, default=None)

    def faults(self) -> Iterator[Fault]:
        yield from super().faults()
        if self.answers is not None and self.answers > self.pings:
            yield Fault(("answers",), "so many pings are not sent", f"1 to {self.pings}", named=True)

    def judge(self, net: Net, name: str, found: Found) -> str | None:
        wanted = self.answers or max(1, self.pings - 1)
        lost = [
            f"{source} → {other}: {got} of {self.pings} pings answered"
            for source, other, got in self.received(net, name, found)
            if got < wanted
        ]
        return _listed(lost)


class NoReach(_Pings):
    """No ping of these is answered."""

    refuses = True

    def judge(self, net: Net, name: str, found: Found) -> str | None:
        got = [f"{source} reaches {other}" for source, other, got in self.received(net, name, found) if got]
        return _listed(got)


@named
class Path(Kind):
    """What `from` sends to `to` passes these routers, in this order, and no other."""

    source: str = key("from", TEXT)
    destination: str = key("to", TEXT)
    through: tuple[str, ...] = key("through", listed(TEXT), default=())

    def nodes(self) -> tuple[str, ...]:
        return (self.source, self.destination, *self.through)

    def steps(self, net: Net, name: str) -> Iterator[Step]:
        yield net.run(self.source, TRACE, f"{name}.out", net.address(self.destination), str(HOPS_MAX))

    def judge(self, net: Net, name: str, found: Found) -> str | None:
        _, text = said(found, f"{name}.out")
        owners = {str(each.ip): port.node for port in net.plan.book.ports for each in port.addresses}
        parts = HOP.split(text)[2::2]
        seen = [(FROM.search(part) or [None, None])[1] for part in parts]
        if not seen:
            raise NotChecked(f"{self.source} could not trace: {text.strip()[:200]}")
        names = [owners.get(each, each) if each else "nobody" for each in seen]
        wanted = [*self.through, owners.get(net.address(self.destination), self.destination)]
        return None if names == wanted else f"it passes {', '.join(names)}, and should pass {', '.join(wanted)}"


def _listed(problems: list[str], most: int = 6) -> str | None:
    if not problems:
        return None
    more = f"; and {len(problems) - most} more" if len(problems) > most else ""
    return "; ".join(problems[:most]) + more


KINDS: dict[str, Any] = {"reach": Reach, "no-reach": NoReach, "path": Path}
