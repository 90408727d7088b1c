"""Counters of the hosts' TCP: by how much they rose while the workload ran, and whether a host, not the network, held
flows back. Reads files of the trial's folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ...codec.frozen import dataclass
from ...model.scenario import Trial
from ...plan.link import fault
from ...plan.network import Plan
from ...plan.step import Read, Step
from ..evidence.case import Case, Subject, When
from ..result import Finding
from . import control_module
from .machine import machine_cpu_file
from .network import TCP_SETTINGS, sysctls_file

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
HANDSHAKES = "TCPSynRetrans"
"""The TcpExt counter of SYNs, and answers to them, that were sent again. Of the hosts that send data alone: those of
the others are in no number of a flow.
"""
RESENDING_COUNTERS = ("TCPTimeouts", "TCPLossProbes", "TCPDSACKRecvSegs", *DUPLICATES, OLD, LOST_AGAIN, HANDSHAKES)
"""TcpExt counters of what makes TCP send segments again that no emulator dropped: timeouts, probes, duplicates that
receivers reported, and those that came to them, what they threw away, what was taken for lost once more, and
handshakes.
"""


@dataclass(frozen=True)
class HostCounters:
    """By how much each counter of TCP rose on all hosts together (HANDSHAKES: on those that send data): 0 for what was
    looked at, without what was not.
    `checksum_errors` are the packets that hosts found damaged, also those of the background; None if nobody looked or a
    host does not report it.
    """

    rose: Mapping[str, int]
    checksum_errors: int | None = None


def netstat_file(node: str, when: str) -> str:
    return f"netstat-{node}-{when}.txt"


def checksums_file(node: str, when: str, version: int = 4) -> str:
    return f"checksums{'' if version == 4 else version}-{node}-{when}.txt"


def receivers(trial: Trial) -> tuple[str, ...]:
    """The hosts that packets go to: those of the workload, then those of the background."""
    others = (host for _, each in trial.background for host in (each.source, each.destination))
    return tuple(dict.fromkeys((*trial.workload.hosts, *others)))


def steps(trial: Trial, plan: Plan, when: When) -> Iterator[Step]:
    return _steps(trial, plan, when) if when in ("before", "after") else iter(())


def _checksum_files(plan: Plan, node: str, when: str) -> dict[str, str]:
    """What tells of wrong checksums, if packets are ever damaged."""
    if not any(fault.ever(stage, "corrupt") for emulator in plan.emulators for stage in emulator.stages):
        return {}
    paths = [each for each in (plan.data_path, *plan.background) if each is not None]
    six = any(each.destination_ip.version == 6 for each in paths)
    files = {checksums_file(node, when): "/proc/thread-self/net/snmp"}
    return files | ({checksums_file(node, when, 6): "/proc/thread-self/net/snmp6"} if six else {})


def _steps(trial: Trial, plan: Plan, when: str) -> Iterator[Step]:
    for node in receivers(trial)[len(dict.fromkeys(trial.workload.hosts)) :]:
        if files := _checksum_files(plan, node, when):
            yield Read("netstat", tuple(files.items()), plan.where(node))
    for node in trial.workload.hosts:
        files = {netstat_file(node, when): "/proc/thread-self/net/netstat"} | _checksum_files(plan, node, when)
        if node == next((host for host in trial.workload.hosts if host not in plan.remote), None):
            files |= control_module.files(trial, when)
        if node in plan.remote:
            files[machine_cpu_file(node, when)] = "/proc/stat"
        if when == ("before" if node in plan.remote else "after"):
            files[sysctls_file(node)] = TCP_SETTINGS
        yield Read("netstat", tuple(files.items()), plan.where(node))


def read(trial: Trial, plan: Plan, folder: Path) -> HostCounters:
    hosts, senders = trial.workload.hosts, dict.fromkeys(source for source, _ in trial.workload.pairs)
    grew = {host: _grew(folder, host) for host in hosts}
    rose = {}
    for name in (*SUSPECT_COUNTERS, *RESENDING_COUNTERS):
        own = senders if name == HANDSHAKES else hosts
        if all(name in grew[host] for host in own):
            rose[name] = sum(grew[host][name] for host in own)
    return HostCounters(rose, checksum_errors(folder, receivers(trial)))


def _grew(folder: Path, host: str) -> dict[str, int]:
    """How much each counter of a host rose. Lacks those that it did not report."""
    before, after = (_netstat(folder / netstat_file(host, when)) for when in ("before", "after"))
    return {name: after[name] - before[name] for name in before.keys() & after.keys()}


def checksum_errors(folder: Path, nodes: tuple[str, ...]) -> int | None:
    """How many more packets of TCP and UDP had a wrong checksum on all nodes together; None if one does not tell."""
    total = 0
    for node in nodes:
        before, after = (_wrong_checksums(folder, node, when) for when in ("before", "after"))
        if before is None or after is None:
            return None
        total += after - before
    return total


def _wrong_checksums(folder: Path, node: str, when: str) -> int | None:
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


def reported(case: Case, seen: HostCounters) -> Iterator[Finding]:
    """An older kernel may not have a counter."""
    lacking = [name for name in (*SUSPECT_COUNTERS, *RESENDING_COUNTERS) if name not in seen.rose]
    if lacking:
        what = f"missing: the hosts' counters {', '.join(lacking)}"
        yield Finding("memory", "suspect", what, "the kernel of a host does not report them")


def held_back(case: Case, seen: HostCounters) -> Iterator[Finding]:
    for name in SUSPECT_COUNTERS:
        if seen.rose.get(name):
            yield Finding(
                "memory",
                "suspect",
                f"{name} rose by {seen.rose[name]}",
                "a host, not the path, held the flows back: give it more memory",
            )


HOST_COUNTERS = Subject(
    name="host_counters", kind=HostCounters, read=read, steps=steps, reported=reported, checks=(held_back,)
)
