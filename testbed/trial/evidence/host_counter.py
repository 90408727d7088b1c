"""Counters of the hosts' TCP: by how much they rose while the workload ran. Reads files of the trial's folder."""

from __future__ import annotations

from pathlib import Path

from ..orders.file_name import netstat_file

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

RESENDING_COUNTERS = ("TCPTimeouts", "TCPLossProbes", "TCPDSACKRecvSegs")
"""TcpExt counters of what makes TCP send segments again that are not known to be lost, and of duplicates that receivers
reported.
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


def _netstat(path: Path) -> dict[str, int]:
    """The TcpExt counters of /proc/net/netstat: pairs of lines, names and values, each headed by the group's name."""
    lines = path.read_text().splitlines()
    counters: dict[str, int] = {}
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        if names.startswith("TcpExt:"):
            counters.update(zip(names.split()[1:], map(int, values.split()[1:]), strict=True))
    return counters
