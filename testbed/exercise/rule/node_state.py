"""Rules about a node: its routes, its open ports, what a command in it says. Pure, no I/O."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Literal

from ...codec.fault import Fault
from ...codec.keyed import key, named
from ...codec.kind import NAME, SPAN, TEXT, word
from ...plan.step import Step
from . import echo
from .common import ADDRESS, COUNT, NUMBER, Found, Kind, Net, NotChecked, expression_faults, said, shortened

CONNECT = 'exec 3<>"/dev/tcp/$1/$2"'
CONNECT_S = 4
PING = re.compile(r"\bping\b")


@named
class Route(Kind):
    """What `node` sends to the address `to` goes to the neighbour `via` (`none`: it has no route there)."""

    node: str = key("node", NAME)
    to: str = key("to", TEXT)
    via: str = key("via", TEXT)
    device: str | None = key("device", TEXT, default=None)

    @property
    def is_negative(self) -> bool:
        return self.via == "none"

    def nodes(self) -> tuple[str, ...]:
        return (self.node,)

    def steps(self, net: Net, name: str) -> Iterator[Step]:
        yield net.run(self.node, 'ip -j route get "$1"', f"{name}.out", net.address(self.to))

    def judge(self, net: Net, name: str, found: Found) -> str | None:
        status, text = said(found, f"{name}.out")
        if status:
            if "unreachable" not in text.lower() and "no route" not in text.lower():
                raise NotChecked(f"the route of {self.node} could not be read: {shortened(text)}")
            return None if self.via == "none" else f"{self.node} has no route to {self.to}"
        try:
            (way,) = json.loads(text)
            via = str(way.get("gateway", "direct"))
        except (ValueError, AttributeError):
            raise NotChecked(f"the route of {self.node} could not be read: {shortened(text)}") from None
        if way.get("type") == "local":
            return f"{self.to} is an address of {self.node} itself"
        allowed = self.via if self.via in ("none", "direct") else self._addresses(net)
        if (via in allowed if isinstance(allowed, tuple) else via == allowed) and self.device in (None, way.get("dev")):
            return None
        return f"{self.node} sends what is for {self.to} via {via}, and should send it via {self.via}"

    def _addresses(self, net: Net) -> tuple[str, ...]:
        """Those of the neighbour, of which any will do if it is a node."""
        return (self.via,) if ADDRESS.fullmatch(self.via) else tuple(str(each.ip) for each in net.addresses(self.via))


@named
class Port(Kind):
    """From `from` a TCP connection to port `tcp` of `node` can be opened, or (`open: false`) cannot."""

    node: str = key("node", NAME)
    source: str = key("from", NAME)
    tcp: int = key("tcp", COUNT)
    open: Literal["true", "false"] = key("open", word("true", "false"), default="true")

    @property
    def is_negative(self) -> bool:
        return self.open == "false"

    def nodes(self) -> tuple[str, ...]:
        return (self.node, self.source)

    def steps(self, net: Net, name: str) -> Iterator[Step]:
        words = f"timeout -k 1 {CONNECT_S} bash -c '{CONNECT}' bash \"$@\""
        yield net.run(self.source, words, f"{name}.out", net.address(self.node), str(self.tcp))

    def judge(self, net: Net, name: str, found: Found) -> str | None:
        status, text = said(found, f"{name}.out")
        is_open = status == 0
        if not is_open and status != 124 and "/dev/tcp" not in text:
            raise NotChecked(f"{self.source} could not try it: {shortened(text)}")
        if is_open == (self.open == "true"):
            return None
        return f"{self.source} can{'' if is_open else 'not'} open TCP port {self.tcp} of {self.node}"


@named
class Output(Kind):
    """A shell command in `node` ends with `status` and says what `matches` and not what `lacks`, which are regular
    expressions; it may take as long as `within`. What its pings say was answered, the pinged node itself must have
    answered.
    """

    node: str = key("node", NAME)
    run: str = key("run", TEXT)
    matches: str | None = key("matches", TEXT, default=None)
    lacks: str | None = key("lacks", TEXT, default=None)
    status: int | None = key("status", NUMBER, default=None)
    within: int = key("within", SPAN, default=30_000_000_000)

    @property
    def is_negative(self) -> bool:
        return self.matches is None and self.status != 0

    def faults(self) -> Iterator[Fault]:
        if self.matches is None and self.lacks is None and self.status is None:
            yield Fault((), "any output would do", "matches, lacks, status", named=True)
        yield from expression_faults("matches", self.matches)
        yield from expression_faults("lacks", self.lacks)

    def nodes(self) -> tuple[str, ...]:
        return (self.node,)

    def steps(self, net: Net, name: str) -> Iterator[Step]:
        asked = net.run(self.node, net.filled(self.run), f"{name}.out", patience_s=self.within / 1e9)
        yield from echo.watched(net, self.node, name, [asked]) if PING.search(self.run) else [asked]

    def judge(self, net: Net, name: str, found: Found) -> str | None:
        status, text = said(found, f"{name}.out")
        if status in (124, 137):
            return f"`{self.run}` in {self.node} did not end in time: {shortened(text) or '(nothing)'}"
        if status in (126, 127):
            raise NotChecked(f"`{self.run}` in {self.node} could not be run: {shortened(text)}")
        if self.status is not None and status != self.status:
            return f"`{self.run}` in {self.node} ended with status {status}: {shortened(text)}"
        if self.matches is not None and not re.search(net.filled(self.matches), text, re.MULTILINE):
            return f"`{self.run}` in {self.node} said: {shortened(text) or '(nothing)'}"
        if self.lacks is not None and re.search(net.filled(self.lacks), text, re.MULTILINE):
            return f"`{self.run}` in {self.node} said: {shortened(text)}"
        if PING.search(self.run):
            return echo.stand_in(net, self.node, text, found, name)
        return None


KINDS: dict[str, Any] = {"route": Route, "port": Port, "output": Output}
