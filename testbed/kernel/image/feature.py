"""What a kernel has, by its own account: congestion controls, queueing disciplines with options, rules of nftables.

Names of its configuration are no answer: CONFIG_TCP_CONG_HSTCP is `highspeed` to programs. So each kernel is asked when
it boots for the first time, and the answer stands in `features.json` beside its image. Reads and writes that file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, field
from pathlib import Path

from ...codec.frozen import dataclass
from ...error import one_of
from ...plan.linux import OWN_QDISCS
from .. import shelf

FILE = "features.json"
CONTROLS = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
SAID = "testbed-features:"
"""Begins the line with which a guest that booted for the first time answers; JSON or plain words follow."""

ROOT_QDISC = ("tc", "qdisc", "add", "dev", "lo", "root")

UNKNOWN = "tc -V > /dev/null || exit 127; case $(tc qdisc add dev lo root {} 2>&1) in *nknown*) exit 1;; esac"
"""A kind of ours needs more than tc can say, but a kernel without it does not even know its name."""
QUEUES = ("codel", "fq_codel", "pie", "fq_pie", "cake", "red", "sfq", "fq")
"""Types of queues that links can have and tc sets up. Debian's tc is too old to try dualpi2."""
RED = ("limit", "90000", "avpkt", "1000")

CUTS_LATE = "cuts-all-late"
"""Token buckets (tbf, shapers) that hold superpackets uncut, and periodic losses that cut only those with a packet to
drop. No command can tell, so here the configuration answers: the options are ours, and that of losses needs that of
tbf.
"""

ACKS = "acks"
"""Records of each ACK that a sender takes: an option of ours, which no command can try."""

PROBES: dict[str, tuple[tuple[str, ...], str]] = {
    "netem": ((*ROOT_QDISC, "netem", "limit", "10"), "sch_netem"),
    "tbf": ((*ROOT_QDISC, "tbf", "rate", "1mbit", "burst", "2000", "limit", "2000"), "sch_tbf"),
    "htb": ((*ROOT_QDISC, "htb", "default", "1"), "sch_htb"),
    "nft": (
        (
            "nft",
            "add table netdev t; add chain netdev t c { type filter hook ingress device lo priority 0; }; "
            "add rule netdev t c numgen inc mod 2 == 1 counter drop; add rule netdev t c fwd to lo",
        ),
        "nft_fwd_netdev",
    ),
    "quota": (
        (
            "nft",
            "add table netdev t; add chain netdev t c; add rule netdev t c quota over 1000 bytes meta mark set 1; "
            "add rule netdev t c limit rate over 1000 bytes/second burst 1000 bytes drop",
        ),
        "nft_quota nft_limit",
    ),
    "vlan_filtering": (
        ("ip", "link", "add", "br0", "type", "bridge", "vlan_filtering", "1", "vlan_default_pvid", "0"),
        "bridge",
    ),
    "802.1Q": (
        (
            "sh",
            "-ec",
            "ip link add eth0 type veth peer eth1; ip link add link eth0 name v type vlan protocol 802.1Q id 1",
        ),
        "8021q",
    ),
    "nat": (
        (
            "nft",
            "add table ip t; add chain ip t c { type nat hook postrouting priority 100; }; add rule ip t c masquerade; "
            "add chain ip t d { type nat hook prerouting priority -100; }; add rule ip t d dnat to 10.0.0.1",
        ),
        "nft_masq nft_nat",
    ),
    "ct": (
        (
            "nft",
            "add table inet t; add chain inet t c { type filter hook forward priority 0; }; "
            "add rule inet t c ct state established accept",
        ),
        "nft_ct",
    ),
    **{name: ((*ROOT_QDISC, name, *(RED if name == "red" else ())), f"sch_{name}") for name in QUEUES},
}
"""What a plan may need of the kernel: a command that tries it in its own network namespace, and the module."""

OPTIONS: dict[str, tuple[str, ...]] = {
    "random": (*ROOT_QDISC, "netem", "loss", "random", "1%"),
    "gemodel": (*ROOT_QDISC, "netem", "loss", "gemodel", "1%", "10%", "100%", "0%"),
    "distribution": (*ROOT_QDISC, "netem", "delay", "10ms", "1ms", "distribution", "normal"),
    "100tbit": (*ROOT_QDISC, "netem", "delay", "10ms", "1ms", "rate", "100tbit"),
    "pfifo": (*ROOT_QDISC, "pfifo", "limit", "10"),
    **{kind: ("sh", "-c", UNKNOWN.format(kind)) for kind in OWN_QDISCS},
    CUTS_LATE: (
        *("sh", "-c"),
        "command -v zcat > /dev/null || exit 127; "
        "test $(zcat /proc/config.gz | grep -cE '^CONFIG_(NFT_NUMGEN|NET_SCH_TESTBED)_LATE=y') = 2",
    ),
    ACKS: ("sh", "-c", "command -v zcat > /dev/null || exit 127; zcat /proc/config.gz | grep -q ^CONFIG_TCP_TESTBED=y"),
}
"""Further words of a plan's commands, each with a command that tries it."""

ATTEMPTS = {**{name: words for name, (words, _) in PROBES.items()}, **OPTIONS}


@dataclass(frozen=True)
class Features:
    """The congestion controls by the kernel's names, sorted. Of the ATTEMPTS, those that were `tried`, and what was
    said of those that failed; a kernel for virtual machines emulates nothing, and tries none.
    """

    congestion_controls: tuple[str, ...]
    tried: tuple[str, ...] = ()
    refusals: Mapping[str, str] = field(default_factory=dict)

    @property
    def cuts_late(self) -> bool:
        """Whether superpackets stay uncut until their turn in the token bucket, and count as what they stand for."""
        return CUTS_LATE in self.tried and CUTS_LATE not in self.refusals

    @property
    def records_acks(self) -> bool:
        """Whether it can record each ACK that a sender takes."""
        return ACKS in self.tried and ACKS not in self.refusals

    def lacks_control(self, name: str) -> str | None:
        """A clause that says so, with what is allowed; None if the kernel has this congestion control."""
        if name in self.congestion_controls:
            return None
        meant = OTHER_NAMES.get(name, name.removeprefix("tcp_"))
        return f"no congestion control {name}; allowed: {one_of(self.congestion_controls, meant)}"


OTHER_NAMES = {"hstcp": "highspeed", "newreno": "reno", "hamilton": "htcp", "stcp": "scalable"}
"""What people, or the kernel's configuration, call some congestion controls that have other names in the kernel."""


def of_controls(text: str, tried: tuple[str, ...] = (), refusals: Mapping[str, str] | None = None) -> Features:
    """From the text of CONTROLS. Raises ValueError if it names none: every kernel with TCP has reno."""
    controls = tuple(sorted(text.split()))
    if "reno" not in controls:
        raise ValueError(f"{CONTROLS} reads {text.strip()!r}, without reno")
    return Features(controls, tried, refusals or {})


def read(folder: Path) -> Features | None:
    """The answer that is kept in a kernel's folder; None if there is none, or a damaged one."""
    try:
        known = json.loads((folder / FILE).read_text())
        return of_controls(" ".join(known["congestion_controls"]), tuple(known["tried"]), dict(known["refusals"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def write(folder: Path, found: Features) -> None:
    """Keeps an answer. Raises OSError where the folder cannot be written."""
    shelf.write(folder / FILE, asdict(found))
