"""Counters of the hosts' TCP: by how much they rose while the workload ran. Reads files of the trial's folder."""

from __future__ import annotations

from pathlib import Path

from ..orders.file_name import checksums_file, netstat_file

SUSPECT_COUNTERS = (
    "TCPMemoryPressures",
    "PruneCalled",
    "RcvPruned",
    "OfoPruned",
    "TCPRcvCollapsed",
    "TCPRcvQDrop",
    "TCPBacklogDrop",
    "TCPZeroWindowDrop",
)
"""TcpExt counters that rise only when a host, not the network, holds a flow back."""

DUPLICATES = ("TCPDSACKOldSent", "TCPDSACKOfoSent")
"""TcpExt counters of the duplicates that came to receivers."""
OLD = "PAWSEstab"
"""The TcpExt counter of segments that a receiver threw away as older than one that it had (RFC 7323, section 5)."""
LOST_AGAIN = "TCPLostRetransmit"
"""The TcpExt counter of segments that had been sent again, and that their sender took for lost once more."""
RESENDING_COUNTERS = ("TCPTimeouts", "TCPLossProbes", "TCPDSACKRecvSegs", *DUPLICATES, OLD, LOST_AGAIN)
"""TcpExt counters of what makes TCP send segments again that no emulator dropped: timeouts, probes, duplicates that
receivers reported, and those that came to them, what they threw away, and what was taken for lost once more.
"""


def rose(folder: Path, nodes: tuple[str, ...]) -> dict[str, int]:
    """How much each counter rose on all nodes together. Lacks the counters that a node did not report."""
    total: dict[str, list[int]] = {}
    for node in nodes:
        before, after = (_netstat(folder / netstat_file(node, when)) for when in ("before", "after"))
        for name in (*SUSPECT_COUNTERS, *RESENDING_COUNTERS):
            if name in before and name in after:
                total.setdefault(name, []).append(after[name] - before[name])
    return {name: sum(grew) for name, grew in total.items() if len(grew) == len(nodes)}


def checksum_errors(folder: Path, nodes: tuple[str, ...]) -> int | None:
    """How many more packets of TCP and UDP had a wrong checksum on all nodes together; None if one does not tell."""
    total = 0
    for node in nodes:
        before, after = (_checksums(folder, node, when) for when in ("before", "after"))
        if before is None or after is None:
            return None
        total += after - before
    return total


def _checksums(folder: Path, node: str, when: str) -> int | None:
    """InCsumErrors of TCP, of both versions of IP, and of UDP, in /proc/net/snmp and, for UDP over IPv6, snmp6; None if
    one is missing.
    """
    path, six = (folder / checksums_file(node, when, version) for version in (4, 6))
    if not path.exists():
        return None
    found: dict[str, int] = {}
    lines = path.read_text().splitlines()
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        group, *keys = names.split()
        found |= {f"{group}{key}": int(value) for key, value in zip(keys, values.split()[1:], strict=True)}
    wanted = [found.get(f"{group}:InCsumErrors") for group in ("Tcp", "Udp")]
    if six.exists():
        wanted.append(
            {name: int(value) for name, value in map(str.split, six.read_text().splitlines())}.get("Udp6InCsumErrors")
        )
    return None if None in wanted else sum(each or 0 for each in wanted)


def _netstat(path: Path) -> dict[str, int]:
    """The TcpExt counters of /proc/net/netstat: pairs of lines, names and values, each headed by the group's name."""
    lines = path.read_text().splitlines()
    counters: dict[str, int] = {}
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        if names.startswith("TcpExt:"):
            counters.update(zip(names.split()[1:], map(int, values.split()[1:]), strict=True))
    return counters
