"""Readers: how a scalar or a list of a spec file becomes a value, or is refused. Pure, no I/O.

A reader takes data (text, or numbers from JSON) and raises ValueRefused with what would be allowed.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Collection
from typing import Any

from .. import units
from ..error import ValueRefused, one_of
from .fault import MAPPING

NAME_PATTERN = r"[a-z0-9][a-z0-9-]{0,31}"
NAME_ALLOWED = "1 to 32 of a-z, 0-9 and '-', beginning with a letter or digit"
NIC_PATTERN = r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,14}"
NIC_ALLOWED = "the name of a network interface of this computer, as `ip link` shows it"
END_PATTERN = rf"{NAME_PATTERN}(\.[1-9][0-9]{{0,3}})?"
END_ALLOWED = "the name of a node, or on a trunk NAME.VLAN, such as router.10"
SYSCTL_PATTERN = r"[a-z0-9_]+([./][A-Za-z0-9_-]+)+"
SYSCTL_VALUE_PATTERN = r"[A-Za-z0-9_.,:+-]+( +[A-Za-z0-9_.,:+-]+)*"
SYSCTL_VALUE_ALLOWED = "numbers, or words of letters, digits and _.,:+-, such as 4096 131072 6291456"
SYSCTL_VALUE_MAX = 255
ADDRESS_ALLOWED = "an IPv4 or IPv6 address with its prefix length, such as 10.0.0.1/24"
PREFIX_ALLOWED = "a network such as 10.0.2.0/24, or default"
MAC_PATTERN = r"[0-9a-f][02468ace](:[0-9a-f]{2}){5}"
MAC_ALLOWED = "a MAC address of one device such as 00:00:00:00:00:01"
IP_ALLOWED = "an IPv4 or IPv6 address such as 10.0.0.1"


CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that are not to be seen but do something: end a line, move a terminal's cursor, turn the reading order."""
LINES_ALLOWED = "text, in which newline and tab are the only control characters"


def text_of(value: object, allowed: str) -> str:
    """The scalar as written; numbers come as such from JSON. Raises ValueRefused for lists and mappings, and for
    control characters, such as a newline: what is read here gets into commands, scripts and terminals.
    """
    text = _as_written(value, allowed)
    _refuse_control(text, text, allowed)
    return text


def lines_of(value: object) -> str:
    """The same for text that may have several lines."""
    text = _as_written(value, LINES_ALLOWED)
    _refuse_control(text.replace("\n", " ").replace("\t", " "), text, LINES_ALLOWED)
    return text


def _as_written(value: object, allowed: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        what = {dict: "a mapping", list: "a list", bool: "true or false"}.get(type(value), "not text")
        raise ValueRefused(f"this is {what}", allowed)
    return str(value)


def _refuse_control(searched: str, text: str, allowed: str) -> None:
    if (found := CONTROL.search(searched)) is not None:
        raise ValueRefused(f"{_part(text, found.start())!r} has the control character {found[0]!r}", allowed)


def _part(text: str, at: int) -> str:
    """What stands around a place of a text that may be long."""
    return text[max(0, at - 20) : at + 20]


LARGEST = 2**63 - 1
"""What a signed number of 64 bits holds, as kernels and clocks count."""


def quantity(
    parse: Callable[[str], int], allowed: str, low: int = 0, none: bool = False, high: tuple[int, str] | None = None
) -> Callable[[Any], int | None]:
    """A reader of text with a unit; of "none" as well, if `none`. `high` is the most, also in words."""
    most, said = high or (LARGEST, f"less than 2^63 of the smallest unit: {allowed}")

    def read(value: object) -> int | None:
        text = text_of(value, allowed)
        if none and text == "none":
            return None
        found = parse(text)
        if found < low:
            raise ValueRefused(f"{text!r} is too small", f"more than 0: {allowed}" if low == 1 else allowed)
        if found > most:
            raise ValueRefused(f"{text!r} is too large", said)
        return found

    return read


def whole(low: int, high: int | None = None) -> Callable[[Any], int]:
    """A reader of whole numbers from `low` to `high` (None: no end)."""
    allowed = f"a whole number from {low}" + ("" if high is None else f" to {high}")

    def read(value: object) -> int:
        text = text_of(value, allowed)
        if not re.fullmatch(r"-?[0-9]{1,18}", text):
            raise ValueRefused(f"{text!r} is not a whole number", allowed)
        if int(text) < low or (high is not None and int(text) > high):
            raise ValueRefused(f"{text} is out of range", allowed)
        return int(text)

    return read


def byte_count(low: int, high: int) -> Callable[[Any], int]:
    """A reader of a small number of bytes, with the unit or without."""
    allowed = f"{low} to {high} bytes"

    def read(value: object) -> int:
        text = text_of(value, allowed)
        found = int(text) if re.fullmatch(r"[0-9]{1,9}", text) else units.parse_size(text)
        if not low <= found <= high:
            raise ValueRefused(f"{text!r} is out of range", allowed)
        return found

    return read


def word(pattern: str, noun: str, allowed: str) -> Callable[[Any], str]:
    """A reader of text that matches a pattern in full."""

    def read(value: object) -> str:
        text = text_of(value, allowed)
        if not re.fullmatch(pattern, text):
            raise ValueRefused(f"{text!r} is not {noun}", allowed)
        return text

    return read


def tag_of(value: Any, key: str, allowed: Collection[str]) -> str:
    """The word under `key` of a mapping. Raises ValueRefused unless it is one of those allowed."""
    if not isinstance(value, dict):
        raise ValueRefused("this is not a mapping", MAPPING)
    tag = value.get(key)
    if tag is None:
        raise ValueRefused(f"the key {key!r} is missing", f"{key}: {', '.join(allowed)}")
    if not isinstance(tag, str) or tag not in allowed:
        raise ValueRefused(f"{str(tag)!r} is not known", one_of(tuple(allowed), str(tag)), (key,))
    return tag


def ends(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise ValueRefused("these are not two ends", "two nodes, such as [client, server]")
    return tuple(map(name, value))


def end_name(value: object) -> str:
    """A node, on a trunk with one of its VLANs."""
    text = text_of(value, END_ALLOWED)
    if not re.fullmatch(END_PATTERN, text):
        raise ValueRefused(f"{text!r} is not an end of a link", END_ALLOWED)
    return text


def address(value: object) -> str:
    text = text_of(value, ADDRESS_ALLOWED)
    try:
        if "/" not in text:
            raise ValueError
        return str(ipaddress.ip_interface(_unscoped(text, ADDRESS_ALLOWED)))
    except ValueRefused:
        raise
    except ValueError:
        raise ValueRefused(f"{text!r} is not an address with its prefix length", ADDRESS_ALLOWED) from None


def addresses(value: object) -> tuple[str, ...]:
    if value == "dhcp":
        raise ValueRefused("only a host, on its only link, can take its address from a DHCP server", ADDRESS_ALLOWED)
    return tuple(map(address, value)) if isinstance(value, list | tuple) else (address(value),)


def prefix(value: object) -> str:
    text = text_of(value, PREFIX_ALLOWED)
    try:
        return text if text == "default" else str(ipaddress.ip_network(_unscoped(text, PREFIX_ALLOWED)))
    except ValueRefused:
        raise
    except ValueError as error:
        raise ValueRefused(f"{text!r} is not a prefix: {error}", PREFIX_ALLOWED) from None


def ip(value: object) -> str:
    text = text_of(value, IP_ALLOWED)
    try:
        return str(ipaddress.ip_address(_unscoped(text, IP_ALLOWED)))
    except ValueRefused:
        raise
    except ValueError:
        raise ValueRefused(f"{text!r} is not an address", IP_ALLOWED) from None


def _unscoped(text: str, allowed: str) -> str:
    """Refuses `fe80::1%eth0`: the devices get their names from the testbed, and `ip` takes no scope."""
    if "%" in text:
        raise ValueRefused(f"{text!r} has a scope ({text.partition('%')[2]})", allowed)
    return text


def mac(value: object) -> str:
    """In lower case; that of a group, or of nobody, is none."""
    text = text_of(value, MAC_ALLOWED).lower()
    if not re.fullmatch(MAC_PATTERN, text) or not text.strip("0:"):
        raise ValueRefused(f"{text!r} is not the MAC address of a device", MAC_ALLOWED)
    return text


def ecn(value: object) -> str | None:
    """A choice of ECN; "on" and "off" are true and false in YAML of version 1.1."""
    if value is None:
        return None
    text = ("on" if value else "off") if isinstance(value, bool) else text_of(value, "off, on, accurate")
    if text not in ("off", "on", "accurate"):
        raise ValueRefused(f"{text!r} is no choice of ECN", "off, on, accurate")
    return text


def flag(value: object) -> bool:
    if isinstance(value, bool):
        return value
    text = text_of(value, "true, false")
    if text.casefold() not in ("true", "false"):
        raise ValueRefused(f"{text!r} is neither true nor false", "true, false")
    return text.casefold() == "true"


def sysctls(value: object) -> object:
    """What may be read as sysctls."""
    if not isinstance(value, dict):
        raise ValueRefused("this is not a mapping", f"{MAPPING} such as 'net.ipv4.tcp_ecn: 1'")
    return value


def sysctl_value(value: object) -> str:
    text = text_of(value, "a number or text")
    if not re.fullmatch(SYSCTL_VALUE_PATTERN, text) or len(text) > SYSCTL_VALUE_MAX:
        raise ValueRefused(f"{text[:SYSCTL_VALUE_MAX]!r} is not the value of a sysctl", SYSCTL_VALUE_ALLOWED)
    return text


sysctl_name = word(SYSCTL_PATTERN, "the name of a sysctl", "a name such as net.ipv4.tcp_ecn")
name = word(NAME_PATTERN, "a name", NAME_ALLOWED)


def real_nic(value: object) -> str:
    """The name of a NIC; those words that say how a host's interfaces behave are none."""
    text = text_of(value, NIC_ALLOWED)
    if text in ("offload", "plain") or not re.fullmatch(NIC_PATTERN, text):
        raise ValueRefused(f"{text!r} is not a network interface", NIC_ALLOWED)
    return text
