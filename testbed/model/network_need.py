"""What a network must have, or must not ask for, so that a kernel can build it and traffic can cross it. Pure, no I/O.

A fault's path begins at the topology, but for that of datagrams, which begins at their own keys.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..codec.fault import Fault
from .data_path import DataPath, lowest_rate_bps
from .run_setting import Kernel
from .topology import Topology
from .workload.udp import HEADERS_BYTES


def vm_faults(topology: Topology, kernel: Kernel) -> Iterator[Fault]:
    """Virtual machines that this kernel cannot have as they are asked for."""
    for node in topology.nodes:
        if node.vm is None:
            continue
        at = ("nodes", node.name)
        if kernel.kind != "host" and node.vm.vhost:
            what = f"{node.name} has vhost: true, but a lab kernel has no vhost-net: QEMU moves the packets"
            yield Fault((*at, "vhost"), what, "vhost: false, or kernel: host")
        if kernel.is_virtual_time and node.vm.cpus > 1:
            what = f"{node.name} has {node.vm.cpus} cpus, which would take turns in virtual time and so be one"
            yield Fault((*at, "cpus"), what, "cpus: 1, or kernel: host")
        if not kernel.is_virtual_time and node.vm.cpu is not None:
            what = f"{node.name} has cpu: {node.vm.cpu}, but in real time this computer decides how fast machines are"
            yield Fault((*at, "cpu"), what, f"kernel: lab, or {node.name} without cpu")


def rate_fault(topology: Topology, data_path: DataPath, traffic: str) -> Fault | None:
    """A path without a rate between nodes of a lab kernel: in virtual time nothing else slows traffic down. The
    processor of a virtual machine does.
    """
    ends = (topology.node(name) for name in (data_path.source, data_path.destination))
    if lowest_rate_bps(data_path.path) is not None or any(end.vm is not None for end in ends):
        return None
    names = [hop.link.name for hop in data_path.path]
    what = (
        f"no link between {data_path.source} and {data_path.destination} has a rate ({', '.join(names)}): in "
        f"virtual time nothing else would slow the {traffic} down"
    )
    return Fault(("links", *names[:1]), what, "a rate on one of them")


def datagram_fault(length_bytes: int, data_path: DataPath) -> Fault | None:
    """Datagrams that would be cut into fragments."""
    most = data_path.mtu_bytes - HEADERS_BYTES[data_path.destination_ip.version]
    if length_bytes <= most:
        return None
    what = (
        f"datagrams of {length_bytes} bytes do not fit into the MTU of {data_path.mtu_bytes} between "
        f"{data_path.source} and {data_path.destination}, and fragments would be counted and lost one by one"
    )
    return Fault(("length",), what, f"up to {most} bytes")
