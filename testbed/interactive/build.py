"""A topology without a workload as a plan and the steps that execute it. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..codec.frozen import dataclass
from ..model.address import Port
from ..model.link.impairment import IMPAIRMENTS
from ..model.node.router import PROTOCOLS
from ..model.routing_protocol import speaks
from ..model.run_setting import Kernel
from ..model.scenario import Trial
from ..model.topology import Topology
from ..model.workload import PingWorkload
from ..plan import batch
from ..plan.link import fault
from ..plan.link.stage import Stage
from ..plan.link.timeline import has_events
from ..plan.network import Plan, plan
from ..plan.node import service, vm
from ..plan.node.control_channel import OVS_FOLDER
from ..plan.node.namespace import merging, node_netns
from ..plan.step import Location, Moment, Run, Step, Timeline
from ..spec.topology.file import LinkFile
from ..spec.topology.link.impairment import short
from ..trial.start import bring_up, remote
from ..trial.start.memory import memory_bytes
from ..trial.start.refusal import check_vms
from . import node_files

PORTS_UP = """
n=0
while bridge link | grep -q "state disabled" && [ $n -lt 60 ]; do sleep 0.05; n=$((n + 1)); done
"""
PROGRAMS_BYTES = 512 << 20
"""The memory of a lab kernel for the programs that people start in it."""


ASKED = frozenset(key for row in IMPAIRMENTS.values() for key in row.keys)
"""What people are told of a link that they have up: the keys of its impairments."""


@dataclass(frozen=True)
class Build:
    """`memory_bytes` is a ceiling for a lab kernel; it takes what it touches. `notes` are for the user."""

    topology: Topology
    kernel: Kernel
    plan: Plan
    steps: tuple[Step, ...]
    memory_bytes: int
    notes: tuple[str, ...]

    @property
    def timeline(self) -> Timeline | None:
        """What changes the links as their schedules say, from when it is carried out; None if nothing changes."""
        moments = tuple(Moment(each.at_ns, batch.steps(each.commands), ()) for each in self.plan.timeline)
        return Timeline(moments) if moments else None

    def to_dict(self) -> dict[str, Any]:
        """What clients need to know about the network."""
        return {
            "topology": self.topology.name,
            "kernel": self.kernel.kind,
            "memory_bytes": self.memory_bytes,
            "nodes": {node.name: self._node(node.name, node.type) for node in self.topology.nodes},
            "links": [self._link(link.name) for link in self.topology.links],
        }

    def _node(self, name: str, type: str) -> dict[str, Any]:
        book = self.plan.book
        ports = {port.device: [str(address) for address in port.addresses] for port in book.interfaces_of(name)}
        asked = (each.version for each in self.plan.channels if each.controller.versions and name in each.switches)
        node = self.topology.node(name)
        macs = [] if self.topology.node(name).kind.switches_frames else [port.mac for port in book.ports_of(name)]
        inside = node_files.environment(node, next(asked, None))
        found: dict[str, Any] = {"type": type, "where": self.plan.where(name).data(), "ports": ports}
        found |= {"environment": inside, "macs": macs}
        if node.kind.openflow is not None and self.topology.engine == "netns":
            found["daemons"] = f"{OVS_FOLDER}/{name}"
        spoken = [each for each in PROTOCOLS if speaks(node, each)]
        if node.serves:
            domain = None if node.dns is None else node.dns.domain
            found["serves"] = {"folder": service.folder(name), "dhcp": node.dhcp is not None, "dns": domain}
        return {**found, "routing": spoken} if node.finds_routes else found

    def _merges(self, port: Port) -> bool:
        """Whether a NIC merges what it receives: the kernel then counts it without its Ethernet headers."""
        return merging(port.device, node_netns(port.node)) in self.plan.commands

    def _link(self, name: str) -> dict[str, Any]:
        link, found = self.topology.link(name), self.plan.emulator(name)
        ports = [self.plan.book.port(end, name) for end in link.ends]
        return {
            "name": name,
            "ends": [{"node": port.node, "device": port.device} for port in ports],
            "asked": {key: short(value) for key, value in LinkFile.of(link).written().items() if key in ASKED},
            "emulator": None if found is None else found.netns,
            "merging": [self._merges(port) for port in ports],
            "changes": found is not None and any(stage.states for stage in found.stages),
            "drop_counters": []
            if found is None
            else [name for stage in found.stages for name in _drop_counters(stage)],
            "fault_counters": {}
            if found is None
            else {name: list(counters) for name, counters in fault.told(*found.stages).items()},
        }


def awaited_ports(topology: Topology) -> Iterator[Step]:
    """Waits until switches pass frames on: the kernel tells a bridge up to a second late that the other end of a port
    is up. A port that nothing is plugged into is waited for in vain.
    """
    for node in topology.nodes:
        is_bridge = node.kind.switches_frames and node.kind.openflow is None
        if is_bridge and topology.engine == "netns":
            yield Run(("sh", "-c", PORTS_UP), "switches", Location(node_netns(node.name)))


def _drop_counters(stage: Stage) -> tuple[str, ...]:
    """The nftables counters of packets that this direction's losses, policy and faults dropped."""
    return (*stage.drop_counters, *((stage.policed_counter,) if stage.policing else ()), *fault.dropping(stage))


def build(topology: Topology, kernel: Kernel) -> Build:
    """Raises UserError for what no kernel could do."""
    check_vms(topology, kernel)
    planned = plan(
        topology,
        real_time=True,
        endless=True,
        datapath=bring_up.datapath(kernel),
        counted=kernel.is_virtual_time,
    )
    reach = remote.reach_steps(_trial(topology, kernel), planned) if planned.machines else ()
    steps = bring_up.steps(topology, planned, kernel, reach)
    machines = vm.memory_bytes(topology) if kernel.kind != "host" else 0
    memory = memory_bytes(planned, None) + PROGRAMS_BYTES + machines
    return Build(topology, kernel, planned, steps, memory, tuple(_notes(topology)))


def _trial(topology: Topology, kernel: Kernel) -> Trial:
    """A trial with a ping, for what machines need: nobody knows yet what people will start."""
    first, second = ([node.name for node in topology.nodes if node.kind.runs_workloads] * 2)[:2]
    return Trial("up", (), 1, 0, topology, PingWorkload(first, second), kernel)


def _notes(topology: Topology) -> Iterator[str]:
    for link in topology.links:
        if has_events(link):
            yield f"link {link.name} has a schedule of events, which only the flows of a trial bring"
        elif link.schedule or link.wander:
            yield f"link {link.name} has a schedule, which begins with --schedule, and not by itself"
