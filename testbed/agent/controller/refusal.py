"""Refusals: what a switch did not accept from an app, in words. Keeps the last messages of the apps of this process.

An error message names its kind by two numbers and repeats the first 64 bytes of what it is about. So what was sent is
remembered, by its number, and told with what it lacks: OpenFlow 1.3.5, 7.2.3.8 (prerequisites of fields) and 7.4.4.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

KEPT = 4096
"""So many messages are remembered; a switch answers at once."""

IPV4, IPV6, ARP = 0x0800, 0x86DD, 0x0806
TYPES: Mapping[str, tuple[int, ...]] = {
    "ipv4_": (IPV4,), "ipv6_": (IPV6,), "arp_": (ARP,), "mpls_": (0x8847, 0x8848),
    "ip_": (IPV4, IPV6), "tcp_": (IPV4, IPV6), "udp_": (IPV4, IPV6), "sctp_": (IPV4, IPV6),
    "icmpv4_": (IPV4,), "icmpv6_": (IPV6,),
}  # fmt: skip
"""By the beginning of a field's name, the values of eth_type of which it needs one."""
PROTOCOLS = {"tcp_": 6, "udp_": 17, "sctp_": 132, "icmpv4_": 1, "icmpv6_": 58}
"""Likewise, of ip_proto."""

CODES = {
    "HELLO_FAILED": "OFPHFC_", "BAD_REQUEST": "OFPBRC_", "BAD_ACTION": "OFPBAC_", "BAD_INSTRUCTION": "OFPBIC_",
    "BAD_MATCH": "OFPBMC_", "FLOW_MOD_FAILED": "OFPFMFC_", "GROUP_MOD_FAILED": "OFPGMFC_",
    "PORT_MOD_FAILED": "OFPPMFC_", "TABLE_MOD_FAILED": "OFPTMFC_", "QUEUE_OP_FAILED": "OFPQOFC_",
    "SWITCH_CONFIG_FAILED": "OFPSCFC_", "ROLE_REQUEST_FAILED": "OFPRRFC_", "METER_MOD_FAILED": "OFPMMFC_",
    "TABLE_FEATURES_FAILED": "OFPTFFC_",
}  # fmt: skip
"""By the name of an error's type (OFPET_…), how the names of its codes begin."""

MEANINGS = {
    "OFPBMC_BAD_PREREQ": "a field of its match needs another field",
    "OFPBMC_BAD_FIELD": "its match has a field that the switch does not know",
    "OFPBMC_BAD_VALUE": "a field of its match has a value that it cannot have",
    "OFPBMC_BAD_MASK": "a field of its match has a mask that it cannot have",
    "OFPBMC_BAD_NW_ADDR_MASK": "an address of its match has a mask that it cannot have",
    "OFPBMC_BAD_DL_ADDR_MASK": "a MAC address of its match has a mask that it cannot have",
    "OFPBMC_DUP_FIELD": "its match has a field twice",
    "OFPBAC_BAD_TYPE": "it has an action that the switch does not know",
    "OFPBAC_BAD_OUT_PORT": "it sends packets to a port that the switch has not got",
    "OFPBAC_BAD_OUT_GROUP": "it sends packets to a group that the switch has not got: add the group first",
    "OFPBAC_BAD_ARGUMENT": "an action has an argument that it cannot have",
    "OFPBAC_BAD_SET_TYPE": "it sets a field that cannot be set",
    "OFPBAC_BAD_SET_ARGUMENT": "it sets a field to a value that the field cannot have",
    "OFPBAC_MATCH_INCONSISTENT": "an action needs a field that its match has not got",
    "OFPBAC_TOO_MANY": "it has too many actions",
    "OFPBIC_BAD_TABLE_ID": "it goes to a table that the switch has not got, or not to a later one",
    "OFPBIC_UNSUP_INST": "it has an instruction that the switch does not know",
    "OFPBRC_BUFFER_UNKNOWN": "the switch no longer has the packet of its buffer_id",
    "OFPBRC_BUFFER_EMPTY": "the packet of its buffer_id was sent already",
    "OFPBRC_BAD_LEN": "its length is wrong",
    "OFPBRC_BAD_TABLE_ID": "it names a table that the switch has not got",
    "OFPFMFC_TABLE_FULL": "the table is full",
    "OFPFMFC_BAD_TABLE_ID": "it names a table that the switch has not got",
    "OFPFMFC_OVERLAP": "it overlaps an entry of the same priority, and it asks for a check of that",
    "OFPFMFC_BAD_COMMAND": "its command is none of flow entries",
    "OFPGMFC_GROUP_EXISTS": "the switch has a group of this number: modify it, or delete it first",
    "OFPGMFC_UNKNOWN_GROUP": "the switch has no group of this number",
    "OFPGMFC_INVALID_GROUP": "the group cannot be such a one",
    "OFPGMFC_LOOP": "the groups would send packets in a circle",
    "OFPMMFC_METER_EXISTS": "the switch has a meter of this number: modify it, or delete it first",
    "OFPMMFC_UNKNOWN_METER": "the switch has no meter of this number",
    "OFPMMFC_BAD_RATE": "the rate of its band cannot be such a one",
}
"""What a code means, where the message itself does not show it."""

NOUNS = {
    "OFPFlowMod": "a flow entry", "OFPGroupMod": "a group", "OFPMeterMod": "a meter", "OFPPacketOut": "a packet-out",
}  # fmt: skip


class Sent:
    """The last messages to switches, by switch and number."""

    def __init__(self) -> None:
        self.messages: OrderedDict[tuple[int | None, int], Any] = OrderedDict()

    def watch(self, datapath_class: Any) -> None:
        """From now on remembers what any app sends."""
        send = datapath_class.send_msg

        def remembered(datapath: Any, msg: Any, *args: Any, **kwargs: Any) -> Any:
            done = send(datapath, msg, *args, **kwargs)
            self.note(datapath.id, msg)
            return done

        datapath_class.send_msg = remembered

    def note(self, dpid: int | None, msg: Any) -> None:
        self.messages[dpid, msg.xid] = msg
        if len(self.messages) > KEPT:
            self.messages.popitem(last=False)

    def of(self, dpid: int | None, xid: int) -> Any:
        """What had this number; None if nothing is known of it."""
        return self.messages.get((dpid, xid))


def told(error: Any, sent: Any, switch: str) -> str:
    """An OFPErrorMsg in a line: who refused what, and why. `sent` is the message that it is about, or None."""
    kind, code = names(error.datapath.ofproto, error.type, error.code)
    what = "a message" if sent is None else described(sent)
    why = "" if sent is None else "; ".join(lacking(sent))
    why = why or MEANINGS.get(code, "")
    return f"{switch} refused {what}: {why} ({code})" if why else f"{switch} refused {what}: {kind} {code}"


def names(ofproto: Any, type: int, code: int) -> tuple[str, str]:
    """The names that OpenFlow has for an error; numbers, if it has none."""
    kind = next((name for name in sorted(vars(ofproto)) if _is(ofproto, name, "OFPET_", type)), f"type {type}")
    begin = CODES.get(kind.removeprefix("OFPET_"))
    found = (name for name in sorted(vars(ofproto)) if begin is not None and _is(ofproto, name, begin, code))
    return kind, next(found, f"code {code}")


def _is(ofproto: Any, name: str, begin: str, value: int) -> bool:
    return name.startswith(begin) and getattr(ofproto, name) == value


def described(msg: Any) -> str:
    """Such as "a flow entry (ipv4_src=10.0.0.1 → output:2)"."""
    noun = NOUNS.get(type(msg).__name__, f"{type(msg).__name__.removeprefix('OFP')}")
    match, actions = dict(_match(msg)), [*_actions(msg)]
    if "match" not in vars(msg):
        number = next((f" {getattr(msg, key)}" for key in ("group_id", "meter_id") if hasattr(msg, key)), "")
        return f"{noun}{number}"
    about = ", ".join(f"{key}={_value(key, value)}" for key, value in match.items()) or "any packet"
    return f"{noun} ({about} → {', '.join(map(_action, actions)) or 'drop'})"


def lacking(msg: Any) -> Iterator[str]:
    """What fields of its match, and those that its actions set, need and have not got."""
    match = dict(_match(msg))
    written = [*match, *(action.key for action in _actions(msg) if hasattr(action, "key"))]
    found: dict[str, list[str]] = {}
    for name in dict.fromkeys(written):
        if needs := " and ".join(_needs(name, match)):
            found.setdefault(needs, []).append(name)
    for needs, fields in found.items():
        names = " and ".join(filter(None, (", ".join(fields[:-1]), fields[-1])))
        yield f"{names} {'need' if fields[1:] else 'needs'} {needs} in the match"


def _needs(name: str, match: Mapping[str, Any]) -> Iterator[str]:
    begin = next((each for each in TYPES if name.startswith(each)), None)
    if begin is not None and match.get("eth_type") not in TYPES[begin]:
        fitting = TYPES[begin][:1] if any(key.startswith("ipv4_") for key in match) else TYPES[begin]
        yield " or ".join(f"eth_type={each:#06x}" for each in fitting)
    if begin in PROTOCOLS and match.get("ip_proto") != PROTOCOLS[begin]:
        yield f"ip_proto={PROTOCOLS[begin]}"
    if name == "vlan_pcp" and "vlan_vid" not in match:
        yield "vlan_vid"


def _match(msg: Any) -> Iterator[tuple[str, Any]]:
    """The fields of a message, those of OpenFlow 1.0 too, without those that match everything."""
    items = getattr(getattr(msg, "match", None), "items", None)
    if items is not None:
        yield from sorted(items())


def _actions(msg: Any) -> Iterator[Any]:
    yield from getattr(msg, "actions", None) or ()
    for each in getattr(msg, "instructions", None) or ():
        yield from getattr(each, "actions", None) or ()


def _value(key: str, value: Any) -> str:
    if isinstance(value, tuple):
        return "/".join(str(each) for each in value)
    return f"{value:#06x}" if key == "eth_type" and isinstance(value, int) else str(value)


def _action(action: Any) -> str:
    if hasattr(action, "port"):
        return f"output:{PORTS.get(action.port, action.port)}"
    if hasattr(action, "key"):
        return f"set_field {action.key}={_value(action.key, action.value)}"
    if hasattr(action, "group_id"):
        return f"group:{action.group_id}"
    return type(action).__name__.removeprefix("OFPAction")


PORTS = {
    0xFFFFFFF8: "IN_PORT", 0xFFFFFFF9: "TABLE", 0xFFFFFFFA: "NORMAL", 0xFFFFFFFB: "FLOOD", 0xFFFFFFFC: "ALL",
    0xFFFFFFFD: "CONTROLLER", 0xFFFFFFFE: "LOCAL",
}  # fmt: skip
