"""Rules about the flow tables of switches. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...codec.fault import Fault
from ...codec.keyed import key, named
from ...codec.kind import NAME, TEXT, WORD, table
from ...plan.step import Step
from .common import COUNT, NUMBER, Found, Kind, Net, NotChecked, expression_faults, said

DUMP = "ovs-ofctl -O OpenFlow13 --no-names dump-flows br0"
FIELD = re.compile(r"[a-z_0-9]+=[^,\s]+|[a-z_0-9]+")
PROTOCOLS = {
    "ip": {"eth_type": "0x0800"}, "arp": {"eth_type": "0x0806"}, "ipv6": {"eth_type": "0x86dd"},
    "icmp": {"eth_type": "0x0800", "ip_proto": "1"}, "tcp": {"eth_type": "0x0800", "ip_proto": "6"},
    "udp": {"eth_type": "0x0800", "ip_proto": "17"},
}  # fmt: skip
"""What the short words of ovs-ofctl mean."""
SPELLINGS = {
    "dl_src": "eth_src", "dl_dst": "eth_dst", "dl_type": "eth_type", "nw_src": "ipv4_src", "nw_dst": "ipv4_dst",
    "nw_proto": "ip_proto", "tp_dst": "port_dst", "tp_src": "port_src", "tcp_dst": "port_dst", "tcp_src": "port_src",
    "udp_dst": "port_dst", "udp_src": "port_src", "dl_vlan": "vlan_vid",
}  # fmt: skip
"""ovs-ofctl's names of fields, and those of OpenFlow, as one name."""
NO_MATCH = ("cookie", "duration", "n_packets", "n_bytes", "idle_age", "hard_age", "table", "priority", "idle_timeout",
            "hard_timeout", "importance", "send_flow_rem", "check_overlap", "reset_counts")  # fmt: skip


@named
class Flow(Kind):
    """A switch has an entry with such a match and such actions. `match` maps fields to values (`any`: has the field,
    `none`: has it not); `actions` is a regular expression that is found in the actions.
    """

    switch: str = key("switch", NAME)
    match: Mapping[str, str] = key("match", table(WORD, TEXT), "Fields and their values.", default={})
    actions: str | None = key("actions", TEXT, default=None)
    table: int | None = key("table", NUMBER, default=None)
    priority: int | None = key("priority", NUMBER, default=None)
    packets: int = key("packets", NUMBER, "The least packets that it has carried.", default=0)
    entries: int = key("entries", COUNT, "The least such entries.", default=1)

    def faults(self) -> Iterator[Fault]:
        yield from expression_faults("actions", self.actions)
        if not (self.match or self.actions or self.priority is not None or self.table is not None):
            yield Fault((), "every entry would do", "match, actions, priority or table", named=True)

    def nodes(self) -> tuple[str, ...]:
        return (self.switch,)

    def steps(self, net: Net, name: str) -> Iterator[Step]:
        if net.topology.node(net.node(self.switch)).kind.openflow != "switch":
            raise NotChecked(f"{self.switch} is no Open vSwitch")
        for text in self.match.values():
            net.filled(text)
        yield net.run(self.switch, DUMP, f"{name}.out")

    def found(self, net: Net, name: str, found: Found) -> tuple[int, list[dict[str, str]]]:
        """How many entries fit, and all entries. Raises NotChecked."""
        status, text = said(found, f"{name}.out")
        if status:
            raise NotChecked(f"the flow table of {self.switch} could not be read: {text.strip()[:200]}")
        entries = [entry(line) for line in text.splitlines() if "actions=" in line]
        return sum(self.fits(net, each) for each in entries), entries

    def fits(self, net: Net, each: dict[str, str]) -> bool:
        """Whether an entry is such a one."""
        wanted = {SPELLINGS.get(name, name): net.filled(value).lower() for name, value in self.match.items()}
        for name, value in wanted.items():
            has = each.get(f"match {name}")
            if (value == "none") != (has is None) or (value not in ("none", "any") and _plain(has) != _plain(value)):
                return False
        return (
            (self.actions is None or re.search(net.filled(self.actions), each["actions"]) is not None)
            and (self.table is None or int(each.get("table", 0)) == self.table)
            and (self.priority is None or int(each.get("priority", 32768)) == self.priority)
            and int(each.get("n_packets", 0)) >= self.packets
        )

    def judge(self, net: Net, name: str, found: Found) -> str | None:
        count, entries = self.found(net, name, found)
        if count >= self.entries:
            return None
        return f"{self.switch} has {count} such entries of {len(entries)}, and should have {self.entries}"


class NoFlow(Flow):
    """A switch has no such entry."""

    refuses = True

    def judge(self, net: Net, name: str, found: Found) -> str | None:
        count, _ = self.found(net, name, found)
        return f"{self.switch} has {count} such entries, and should have none" if count else None


def entry(line: str) -> dict[str, str]:
    """A line of `ovs-ofctl dump-flows`: its fields, those of the match as "match FIELD", and its actions."""
    head, _, actions = line.strip().partition(" actions=")
    found = {"actions": actions}
    for word in FIELD.findall(head.replace(", ", ",").replace(",", " ")):
        key, _, value = word.partition("=")
        if key in NO_MATCH:
            found[key] = value
        elif not value:
            found |= {f"match {name}": text for name, text in PROTOCOLS.get(key, {key: ""}).items()}
        else:
            found[f"match {SPELLINGS.get(key, key)}"] = value.lower()
    return found


def _plain(value: str | None) -> str:
    """A number without its base, an address without the mask of all its bits."""
    text = (value or "").removesuffix("/32").removesuffix("/255.255.255.255").removesuffix("/ff:ff:ff:ff:ff:ff")
    return str(int(text, 0)) if re.fullmatch(r"0x[0-9a-f]+|[1-9][0-9]*|0", text) else text


KINDS: dict[str, Any] = {"flow": Flow, "no-flow": NoFlow}
