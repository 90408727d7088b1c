"""Rules about who reaches whom, and on which way. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...codec.fault import Fault
from ...codec.keyed import key, named
from ...codec.kind import TEXT, listed
from ...plan.step import Step
from . import echo
from .common import COUNT, Found, Kind, Net, NotChecked, said

SENT = re.compile(r"^ping (\S+)\n(.*?)^end$", re.MULTILINE | re.DOTALL)
COUNTS = re.compile(r"(\d+) packets transmitted, (\d+) received")
UNREACHABLE = re.compile(r"[Nn]etwork is unreachable|[Nn]o route to host")
PINGS = echo.ECHOES + (
    'pings=$1; shift; while [ $# -gt 0 ]; do echo "ping $1"; echoes "$2"; ping -n -q -c "$pings" -i 0.2 -W 1 "$1"; '
    'echoes "$2"; echo end; shift 2; done; true'
)
"""How many pings; then pairs of an address and the namespace of the node that has it."""
HOPS_MAX = 12
TRACE = echo.ECHOES + (
    'echoes "$3"; for ttl in $(seq 1 $2); do echo "hop $ttl"; ping -n -c 1 -t $ttl -W 1 "$1"; '
    'ping -n -c 1 -t $ttl -W 1 "$1" | grep -q " 0% packet loss" && break; done; '
    'echoes "$3"; true'
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
            words = [word for each in to for word in (each, echo.namespace(net, each))]
            yield net.run(source, PINGS, f"{name}-{number}.out", str(self.pings), *words, patience_s=most_s)

    def received(self, net: Net, name: str, found: Found) -> Iterator[tuple[str, str, int, int]]:
        """How many answers each pair got, and how many the other one itself gave; of an address that no node has, the
        same number. Raises NotChecked.
        """
        for number, source in enumerate(dict.fromkeys(source for source, _ in self.pairs())):
            _, text = said(found, f"{name}-{number}.out")
            blocks = {each[1]: each[2] for each in SENT.finditer(text + "\n")}
            for _, other in (pair for pair in self.pairs() if pair[0] == source):
                block = blocks.get(net.address(other), "")
                counts = COUNTS.search(block)
                if counts is None and not UNREACHABLE.search(block):
                    why = echo.READ.sub("", block).strip() or "ping said nothing"
                    raise NotChecked(f"{source} could not ping {other}: {why}")
                if counts is not None and int(counts[1]) != self.pings:
                    raise NotChecked(f"{source} sent {counts[1]} pings to {other} instead of {self.pings}")
                got, node = 0 if counts is None else int(counts[2]), net.owner(net.address(other))
                yield source, other, got, got if node is None or not got else echo.answered(block, node)


@named
class Reach(_Pings):
    """Each of `from` pings each of `to`, or of `among` the others; at least `answers` of the pings are answered, by the
    node that was pinged and no other in its place.
    """

    answers: int | None = key("answers", COUNT, default=None)

    def faults(self) -> Iterator[Fault]:
        yield from super().faults()
        if self.answers is not None and self.answers > self.pings:
            yield Fault(("answers",), "so many pings are not sent", f"1 to {self.pings}", named=True)

    def judge(self, net: Net, name: str, found: Found) -> str | None:
        wanted = self.answers or max(1, self.pings - 1)
        lost = []
        for source, other, got, own in self.received(net, name, found):
            if got < wanted:
                lost.append(f"{source} → {other}: {got} of {self.pings} pings answered")
            elif own < got:
                lost.append(f"{source} → {other}: {echo.in_its_place(got, other, own)}")
        return _listed(lost)


class NoReach(_Pings):
    """No ping of these is answered."""

    refuses = True

    def judge(self, net: Net, name: str, found: Found) -> str | None:
        got = [f"{source} reaches {other}" for source, other, got, _ in self.received(net, name, found) if got]
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
        to = net.address(self.destination)
        yield net.run(self.source, TRACE, f"{name}.out", to, str(HOPS_MAX), echo.namespace(net, to))

    def judge(self, net: Net, name: str, found: Found) -> str | None:
        _, text = said(found, f"{name}.out")
        parts = HOP.split(text)[2::2]
        seen = [(FROM.search(part) or [None, None])[1] for part in parts]
        if not seen:
            raise NotChecked(f"{self.source} could not trace: {text.strip()[:200]}")
        names = [(net.owner(each) or each) if each else "nobody" for each in seen]
        node = net.owner(net.address(self.destination))
        wanted = [*self.through, node or self.destination]
        if names == wanted and node is not None and not echo.answered(text, node):
            return f"{node} answered no ping: another node answers in its place"
        return None if names == wanted else f"it passes {', '.join(names)}, and should pass {', '.join(wanted)}"


def _listed(problems: list[str], most: int = 6) -> str | None:
    if not problems:
        return None
    more = f"; and {len(problems) - most} more" if len(problems) > most else ""
    return "; ".join(problems[:most]) + more


KINDS: dict[str, Any] = {"reach": Reach, "no-reach": NoReach, "path": Path}
