"""What must hold of the machines of a topology file and the links that they carry. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...codec.fault import Fault
from ...error import one_of
from .file import LinkFile
from .node.machine import MachineFile

SYSCTLS = ("net.", "net/", "vm.", "vm/")
"""What a topology may set on somebody's computer."""


def machine_faults(nodes: Mapping[str, Any], links: Mapping[str, LinkFile]) -> Iterator[Fault]:
    """`nodes` and `links` are those that are well-formed by themselves."""
    machines = {name: node for name, node in nodes.items() if isinstance(node, MachineFile)}
    for name, link in links.items():
        yield from (fault.under("links", name) for fault in _emulator(name, link, nodes, machines))
        for end in link.ends:
            if end in machines:
                yield from _nic(end, machines[end], name, 1, f"it is an end of {name!r}")
        if link.emulator in machines and link.emulator not in link.ends:
            yield from _nic(link.emulator, machines[link.emulator], name, 2, f"it stands in the middle of {name!r}")
    for name, machine in machines.items():
        yield from _unused(name, machine, nodes, links)
        yield from _twice(name, machine)
        yield from _sysctls(name, machine)


def _emulator(
    name: str, link: LinkFile, nodes: Mapping[str, Any], machines: Mapping[str, MachineFile]
) -> Iterator[Fault]:
    of_machines = [end for end in link.ends if end in machines]
    if link.emulator is None:
        if len(of_machines) == 2 and link.link(name).is_emulated:
            what = (
                f"{of_machines[0]!r} and {of_machines[1]!r} are machines, and nothing between them can impair the link"
            )
            yield Fault((), what, "emulator: NODE, a machine with two NICs in the middle of the link")
        return
    if link.emulator not in machines:
        is_node = link.emulator in nodes
        what = f"{link.emulator!r} is not a machine" if is_node else f"there is no node {link.emulator!r}"
        yield Fault(("emulator",), what, one_of(tuple(machines), link.emulator, "a node of type machine"), named=True)
    elif link.emulator in link.ends and not machines[link.emulator].machine.forward:
        what = f"{link.emulator!r} is an end of the link, so it must route between this link and others"
        yield Fault(("emulator",), what, f"'forward: true' at {link.emulator}", named=True)
    if link.schedule:
        what = "the emulator is a machine with a clock of its own: the gate could not judge what a schedule does there"
        yield Fault(("schedule",), what, "no schedule, or no emulator: the link of this computer", named=True)


def _nic(node: str, machine: MachineFile, link: str, count: int, why: str) -> Iterator[Fault]:
    have = machine.machine.nics_of(link)
    if len(have) != count:
        example = "eth1" if count == 1 else "[eth1, eth2]"
        lacks = f"names {len(have)} of its NICs for the link, and needs {count}: {why}"
        yield Fault(("nodes", node, "nics"), f"{node!r} {lacks}", f"nics: {{{link}: {example}}}")


def _unused(
    name: str, machine: MachineFile, nodes: Mapping[str, Any], links: Mapping[str, LinkFile]
) -> Iterator[Fault]:
    own = [link for link, each in links.items() if name in each.ends or each.emulator == name]
    for link, _ in machine.machine.nics:
        if link not in own:
            allowed = one_of(own, link, "links that it is an end or the emulator of")
            yield Fault(("nodes", name, "nics", link), f"{link!r} is not a link of {name!r}", allowed, named=False)


def _sysctls(name: str, machine: MachineFile) -> Iterator[Fault]:
    for key, _ in machine.sysctls:
        if not key.startswith(SYSCTLS):
            what = (
                f"{key!r} is not about the network, and `testbed machines prepare` would set it for the whole computer"
            )
            yield Fault(("nodes", name, "sysctls", key), what, "sysctls of a machine that begin with net. or vm.")


def _twice(name: str, machine: MachineFile) -> Iterator[Fault]:
    seen: dict[str, str] = {}
    for link, nics in machine.machine.nics:
        for nic in nics:
            if seen.setdefault(nic, link) != link:
                what = f"{nic} of {name!r} already carries {seen[nic]!r}"
                yield Fault(("nodes", name, "nics", link), what, "a NIC for each link")
