"""The names of the files that a trial leaves in its folder. Pure, no I/O."""

from __future__ import annotations

RTT_CHECK, UPSTREAM_CHECK = "rtt-check.out", "rtt-check-upstream.out"


SAMPLES, READ_BACK, AFTER, CHANGES = "samples.bin", "read-back.bin", "after.bin", "changes.bin"

OBSERVER = "observer"

LOG, TIMELINE = "log.jsonl", "timeline.jsonl"

HYPERVISOR = "hypervisor.json"
"""How the virtual machines ran, if there are any."""


MININET_REPORT = "mininet.json"


def chains_file(link: str) -> str:
    """All rules of nftables of an emulator after the workload, in JSON."""
    return f"chains-{link}.json"


def rules_file(router: str, when: str) -> str:
    """All rules of nftables of a router, in JSON."""
    return f"rules-{router}-{when}.json"


def netstat_file(node: str, when: str) -> str:
    return f"netstat-{node}-{when}.txt"


def checksums_file(node: str, when: str, version: int = 4) -> str:
    return f"checksums{'' if version == 4 else version}-{node}-{when}.txt"


def sysctls_file(node: str) -> str:
    """All settings of TCP and IP of a host."""
    return f"sysctls-{node}.txt"


def cpu_file(when: str) -> str:
    return f"cpu-{when}.txt"


def machine_cpu_file(machine: str, when: str) -> str:
    return f"cpu-{machine}-{when}.txt"


def process_file(when: str, node: str) -> str:
    """What this computer's kernel reports on the QEMU process of a virtual machine."""
    return f"qemu-{node}-{when}.txt"


def capture_file(place: str, device: str) -> str:
    """The place is as in `capture.capture_points`."""
    return f"{place}-{device}.pcap"
