"""What a trial's result tells of nodes with a kernel or with programs of their own. Pure, no I/O.

Base units; absent is None.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class VmResult:
    """One virtual machine. `accelerator` is `kvm` or `tcg` (emulated), `why_no_kvm` says why KVM was not used.

    `boot_s` is from its start to the first answer of its agent. `kernel` is the name it was asked by, or `image` the
    disk that it booted by itself. `cpu_busy` is the share of its processors' time that it was not idle while the
    workload ran (None where the workload has no end in it), `host_cpus` how many of this computer's QEMU took.
    """

    accelerator: str
    why_no_kvm: str | None
    qemu: str
    boot_s: float
    kernel_release: str
    kernel: str | None
    image: str | None
    memory_bytes: int
    cpus: int
    model: str
    vhost: bool
    cpu_busy: float | None
    host_cpus: float | None


@dataclass(frozen=True)
class MachineResult:
    """One real machine. `release` is its kernel's, `host` its own name, and `versions` maps programs to what they say.

    Its CLOCK_MONOTONIC was ahead of ours by `clock_ahead_ns`, as near as the quickest of a few round trips tells;
    `reached_s` is how long connecting took. `cpu_busy` is as in VmResult.
    """

    release: str
    host: str
    architecture: str
    cpus: int
    versions: Mapping[str, str]
    clock_ahead_ns: int
    round_trip_ns: int
    reached_s: float
    cpu_busy: float | None


@dataclass(frozen=True)
class SwitchResult:
    """One Open vSwitch. `datapath` is the one that ran (kernel, user), `flows_` how many entries its tables had.

    `ports` is by how much each counter of each port, by its OpenFlow number, moved while the workload ran. In that time
    its datapath forwarded `hit_packets` by itself and asked ovs-vswitchd about `missed_packets`; `lost_packets`, of the
    whole trial, did not get there. `connected_` says whether it had its controller; None if it has none.
    """

    datapath: str
    version: str
    flows_before: int
    flows_after: int
    ports: Mapping[str, Mapping[str, int]]
    hit_packets: int
    missed_packets: int
    lost_packets: int
    connected_before: bool | None
    connected_after: bool | None


@dataclass(frozen=True)
class ControllerResult:
    """One OpenFlow controller. `packet_ins` is how many packets each switch sent to it in the whole trial; `events` are
    what it wrote down, `ports` and `flows` what its monitor was answered, each with `time_s` from the workload's start.
    """

    packet_ins: Mapping[str, int]
    events: tuple[Mapping[str, Any], ...]
    ports: tuple[Mapping[str, Any], ...]
    flows: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class SdnResult:
    """Switches and controllers by name."""

    switches: Mapping[str, SwitchResult]
    controllers: Mapping[str, ControllerResult]
