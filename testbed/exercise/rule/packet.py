"""Rules about packets that pass a point of the network. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...codec.fault import Fault
from ...codec.keyed import key, named
from ...codec.kind import NAME, TEXT
from ...plan.step import Run, Sleep, Step, Stop
from ...units import counted
from .common import NUMBER, Found, Kind, Net, NotChecked, said

LISTENS_S, RETIRES_S = 1.0, 2.0
"""How long tcpdump takes until it listens, and packets until they have reached it."""
COUNTED = re.compile(r"^(\d+) packets? captured", re.MULTILINE)
DROPPED = re.compile(r"^(\d+) packets? dropped by kernel", re.MULTILINE)


@named
class Seen(Kind):
    """While `while` runs in `node`, so many packets that `filter` describes, as for tcpdump, pass the node `at`, on its
    `link` or, left out, its first port.
    """

    at: str = key("at", NAME)
    link: str | None = key("link", NAME, default=None)
    filter: str = key("filter", TEXT)
    doing: str = key("while", TEXT)
    node: str = key("node", NAME)
    least: int | None = key("least", NUMBER, default=None)
    most: int | None = key("most", NUMBER, default=None)

    @property
    def is_negative(self) -> bool:
        return not self.least

    def faults(self) -> Iterator[Fault]:
        if self.least is None and self.most is None:
            yield Fault((), "any number of packets would do", "least, most", named=True)
        elif self.least == 0 and self.most is None:
            yield Fault(("least",), "any number of packets would do", "1 or more, or most", named=True)
        elif self.least is not None and self.most is not None and self.least > self.most:
            yield Fault(("most",), "no number of packets would do", f"{self.least} or more", named=True)

    def nodes(self) -> tuple[str, ...]:
        return (self.at, self.node)

    def steps(self, net: Net, name: str) -> Iterator[Step]:
        device = net.device(self.at, self.link)
        words = ("tcpdump", "-i", device, "-n", "-p", "-s", "128", "-w", "/dev/null", "--relinquish-privileges=root")
        where, background = net.plan.where(self.at), f"{name}-tcpdump"
        yield Run((*words, net.filled(self.filter)), "capture", where, err=f"{name}.err", background=background)
        yield Sleep(LISTENS_S)
        yield net.run(self.node, net.filled(self.doing), f"{name}-while.out")
        yield Sleep(RETIRES_S)
        yield Stop(background)

    def judge(self, net: Net, name: str, found: Found) -> str | None:
        said(found, f"{name}-while.out")
        text = found.get(f"{name}.err", "")
        count, dropped = COUNTED.search(text), DROPPED.search(text)
        if count is None or dropped is None or int(dropped[1]):
            raise NotChecked(f"packets at {self.at} could not be counted: {text.strip()[-200:]}")
        number = int(count[1])
        if (self.least is None or number >= self.least) and (self.most is None or number <= self.most):
            return None
        wanted = f"{self.least or 0} or more" if self.most is None else f"{self.least or 0} to {self.most}"
        return f"{counted(number, 'packet')} ({self.filter}) passed {self.at}, and should be {wanted}"


KINDS: dict[str, Any] = {"seen": Seen}
