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

DUMP = "ovs-ofctl -O OpenFlow13 --no-names dump-flows br0 && ovs-ofctl -O OpenFlow13 --no-names dump-groups br0"
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
GROUP = re.compile(
    r"^ *group_id=(\d+),type=(?:indirect|all),bucket=(?:[a-z_]+:[^,]+,)*actions=((?:(?!bucket=).)*)$", re.M
)
"""A group with one bucket that is always used: its number, and the actions of the bucket."""
WRITES = re.compile(r"write_actions\((.*)\)")
SENDS = re.compile(r"(group|output|enqueue|CONTROLLER|IN_PORT|FLOOD|ALL|NORMAL|LOCAL)\b")
"""The actions after which a set of actions is done."""


@named
class Flow(Kind):
    """A switch has an entry with such a match and such actions. `match` maps fields to values (`any`: has the field,
    `none`: has it not); `actions` is a regular expression that is found in the actions, as ovs-ofctl prints them or in
    the form of `plain`.
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
        groups = dict(GROUP.findall(text))
        entries = [entry(line) for line in text.splitlines() if " actions=" in line]
        entries = [each | {"plain": plain(each["actions"], groups)} for each in entries]
        return sum(not self.lacks(net, each) for each in entries), entries

    def lacks(self, net: Net, each: dict[str, str]) -> list[str]:
        """What an entry has in place of what it should have; nothing, if it is such a one."""
        found = []
        for name, value in self.match.items():
            wanted, has = net.filled(value).lower(), each.get(f"match {SPELLINGS.get(name, name)}")
            if (wanted == "none") != (has is None) or (wanted not in ("none", "any") and _plain(has) != _plain(wanted)):
                found.append(f"no {name}" if has is None else f"{name}={has}")
        expression = None if self.actions is None else net.filled(self.actions)
        if expression is not None and not any(re.search(expression, each[form]) for form in ("actions", "plain")):
            found.append(f"actions={each['actions']}")
        if self.table not in (None, table_ := int(each.get("table", 0))):
            found.append(f"table={table_}")
        if self.priority not in (None, priority := int(each.get("priority", 32768))):
            found.append(f"priority={priority}")
        packets = int(each.get("n_packets", 0))
        return [*found, f"{packets} packets"] if packets < self.packets else found

    def judge(self, net: Net, name: str, found: Found) -> str | None:
        count, entries = self.found(net, name, found)
        if count >= self.entries:
            return None
        near = min(filter(None, (self.lacks(net, each) for each in entries)), key=len, default=[])
        nearest = f"; the nearest other one has {', '.join(near)}" if near else ""
        return f"{self.switch} has {count} such entries of {len(entries)}, and should have {self.entries}{nearest}"


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


def plain(actions: str, groups: Mapping[str, str]) -> str:
    """The actions of an entry after which no other table is looked at, as those that are applied in their order: a set
    of actions that is written, or behind a group with one bucket (in `groups`, by number), in the order in which a
    switch carries it out; "drop" if there are none. Others are left as they are.
    """
    written = WRITES.search(actions)
    in_set = [] if written is None else _ordered(written[1])
    if "goto_table" in actions or in_set is None:
        return actions
    done = [each for each in _split(WRITES.sub("", actions)) if each not in ("clear_actions", "drop")] + in_set
    left = dict(groups)
    while done and (bucket := left.pop(done[-1].removeprefix("group:"), None)) is not None:
        behind = _ordered(bucket) if done[-1].startswith("group:") else None
        if behind is None:
            break
        done[-1:] = behind
    return ",".join(done) or "drop"


def _ordered(actions: str) -> list[str] | None:
    """A set of actions as a list; None for one that sends a packet in two ways, of which a switch carries out one."""
    found = [each for each in _split(actions) if each != "drop"]
    sends = [each for each in found if SENDS.match(each)]
    return [each for each in found if each not in sends] + sends if len(sends) < 2 else None


def _split(text: str) -> list[str]:
    """Actions one by one: at the commas that are not in brackets."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            found.append("")
        else:
            found[-1] += letter
    return [each for each in found if each]


def _plain(value: str | None) -> str:
    """A number without its base, an address without the mask of all its bits."""
    text = (value or "").removesuffix("/32").removesuffix("/255.255.255.255").removesuffix("/ff:ff:ff:ff:ff:ff")
    return str(int(text, 0)) if re.fullmatch(r"0x[0-9a-f]+|[1-9][0-9]*|0", text) else text


KINDS: dict[str, Any] = {"flow": Flow, "no-flow": NoFlow}
