"""The plan of a network: the exact commands that build a topology and take it down. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from ipaddress import IPv4Address, IPv6Address

from ..codec.frozen import dataclass
from ..model.address import AddressBook, Port, address_book
from ..model.data_path import DataPath, PathHop, data_path_between, data_ways, lowest_rate_bps
from ..model.link.impairment import Way
from ..model.openflow import Datapath
from ..model.schedule import Came
from ..model.topology import MTU_DEFAULT, Link, Nic, Node, Topology
from ..model.workload import Workload
from . import mininet
from .command import Command, Facts, Wait, facts, remote_name, script, undos
from .link import emulator as emulation
from .link import fault
from .link import timeline as times
from .link.stage import Emulator, Stage
from .link.tclink import TcPort, is_emulated
from .link.timeline import Event, Moment
from .linux import Cable, End, Namespace, Write
from .node import control_channel, controller, frr, machine_link, make, open_vswitch, service, vm
from .node import namespace as nodes
from .node.control_channel import Channel
from .node.namespace import node_netns
from .node.real_nic import Wanted
from .step import Location


def building(
    topology: Topology,
    book: AddressBook,
    built: Iterable[Node],
    emulators: tuple[Emulator, ...],
    aside: tuple[Emulator, ...],
    channels: tuple[Channel, ...],
    datapath: Datapath,
) -> Iterator[Command]:
    """Namespaces, and the cables between them. What is apart from the network is never Mininet's."""
    apart = (*(each.netns for each in aside), *(each.netns for each in channels))
    if topology.engine == "mininet":
        yield mininet.command(topology, book, datapath)
        for each in emulators:
            yield Cable(("wire0", each.netns, None), ("wire1", each.netns, None), each.mtu_bytes)
        for netns in apart:
            yield Namespace(netns)
        return
    impairing = (each.netns for each in emulators)
    for netns in (*(node_netns(node.name) for node in built), *impairing, *apart):
        yield Namespace(netns)
    for link in topology.links:
        yield from _cables(link, topology, book)


def _cables(link: Link, topology: Topology, book: AddressBook) -> Iterator[Command]:
    """One veth pair, or three where the emulator stands in the middle. Removing a namespace removes its devices."""
    if machine_link.reaches_machine(link, topology):
        yield from machine_link.cables(link, emulation.emulator_netns(link.name), topology, book)
        return
    first, second = (_end(topology, book.port(end, link.name)) for end in link.ends)
    if not link.is_emulated:
        yield Cable(first, second, link.mtu_bytes)
        return
    netns = emulation.emulator_netns(link.name)
    yield Cable(first, ("end0", netns, None), link.mtu_bytes)
    yield Cable(("wire0", netns, None), ("wire1", netns, None), link.mtu_bytes)
    yield Cable(second, ("end1", netns, None), link.mtu_bytes)


def _end(topology: Topology, port: Port) -> End:
    return port.device, node_netns(port.node), vm.device_mac(topology, port)


def inner_cables(emulator: Emulator) -> Iterator[Command]:
    """The pairs of devices that the faults of a link need in its emulator."""
    for pair in fault.pairs(*emulator.stages):
        yield Cable((f"{pair}0", emulator.netns, None), (f"{pair}1", emulator.netns, None), emulator.mtu_bytes)


def openflow(
    topology: Topology, book: AddressBook, channels: tuple[Channel, ...], datapath: Datapath
) -> Iterator[Command]:
    """Controllers first, so that switches find them at once; Mininet has started its switches by then."""
    switches = control_channel.switches(topology) if topology.engine == "netns" else ()
    for switch in switches:
        yield from open_vswitch.databases(switch)
    for channel in channels:
        yield from controller.commands(channel, topology, book)
    if switches:
        yield Wait(open_vswitch.UP_S)
    for switch in switches:
        yield open_vswitch.daemon(switch)
        yield open_vswitch.bridge(switch, topology, book, datapath)
    for channel in channels:
        if channel.controller.start_ns is None:
            yield from (open_vswitch.connected(switch) for switch in channel.switches)


def routing(topology: Topology, book: AddressBook) -> Iterator[Command]:
    """Routing daemons, servers and leases, once all networks are there."""
    yield from frr.commands(topology, book)
    yield from service.commands(topology, book)


@dataclass(frozen=True)
class Plan:
    """The commands that build a network, and where everything is then.

    `data_path` leads to the workload's receiver, from the host that the receiver gets its data from; None without a
    workload. `upstream` is the data path from the origin to the cache; None without a cache. `background` are the data
    paths of other traffic. `channels` connect switches with controllers; those that are impaired are in `emulators`,
    too. `controlled` are the Open vSwitches with a controller that data and answers pass, one entry for each pass;
    `vswitches` counts the passes through any Open vSwitch. `tc_ports` are the ends of Mininet's TCLinks. `timeline` is
    what happens while the workload runs, up to `until_ns` after its start, and `events` what happens then at times that
    only a trial tells; a plan that was told them has these in its timeline, too. `programs_bytes` is the memory that
    the programs of its nodes take in a lab kernel. The nodes in `remote` have their own kernel. `machines` are pairs
    (namespace, machine) of what runs on a machine; `hosts` has one line on each machine, for the reader. `real_nics`
    must be attached before the commands are carried out.
    """

    commands: tuple[Command, ...]
    book: AddressBook
    emulators: tuple[Emulator, ...]
    nics: tuple[tuple[str, Nic], ...]
    upstream: DataPath | None = None
    data_path: DataPath | None = None
    background: tuple[DataPath, ...] = ()
    timeline: tuple[Moment, ...] = ()
    events: tuple[Event, ...] = ()
    until_ns: int = 0
    channels: tuple[Channel, ...] = ()
    controlled: tuple[tuple[str, Channel], ...] = ()
    datapaths: tuple[tuple[str, Datapath], ...] = ()
    vswitches: int = 0
    tc_ports: tuple[TcPort, ...] = ()
    programs_bytes: int = 0
    remote: frozenset[str] = frozenset()
    machines: tuple[tuple[str, str], ...] = ()
    hosts: tuple[str, ...] = ()
    real_nics: tuple[Wanted, ...] = ()

    def where_in(self, netns: str) -> Location:
        """A namespace, here or on a machine, as the location of a step."""
        machine = dict(self.machines).get(netns)
        return Location(netns) if machine is None else Location(on=remote_name(machine, netns))

    def where(self, node: str) -> Location:
        """A node as the location of a step: its namespace here, or the remote node."""
        return Location(on=node) if node in self.remote else Location(node_netns(node))

    @property
    def path(self) -> tuple[PathHop, ...]:
        """The hops of the workload's data; empty without a workload."""
        return () if self.data_path is None else self.data_path.path

    @property
    def answers(self) -> tuple[PathHop, ...]:
        """The hops of the answers to the workload's data; empty without a workload."""
        return () if self.data_path is None else self.data_path.answers

    @property
    def links(self) -> tuple[Link, ...]:
        """The links that data or answers cross, of the workload or of the background."""
        data_paths = [each for each in (self.data_path, self.upstream, *self.background) if each is not None]
        return tuple({hop.link.name: hop.link for each in data_paths for hop in (*each.path, *each.answers)}.values())

    @property
    def undos(self) -> tuple[Command, ...]:
        return undos(self.commands)

    @cached_property
    def facts(self) -> Facts:
        """What can be read back after the commands, before the timeline."""
        return facts(self.commands)

    def emulator(self, link: str) -> Emulator | None:
        return next((found for found in self.emulators if found.link == link), None)

    def stages(self, *, is_data: bool) -> tuple[Stage, ...]:
        """The emulators' stages that the data passes, or (`is_data` False) those that its answers pass."""
        return tuple(emulator.stage(way) for emulator, way in self.emulators_passed(is_data=is_data))

    def emulators_passed(self, *, is_data: bool) -> tuple[tuple[Emulator, Way], ...]:
        """The emulators that the data or the answers pass, each with the direction of the pass, and each once: a
        direction that the data of one data path passes counts as data, even if the answers of another pass it, too.
        """
        data, answers = self.path, self.answers
        if self.upstream is not None:
            data, answers = (*data, *self.upstream.path), (*answers, *self.upstream.answers)
        hops = dict.fromkeys(data) if is_data else dict.fromkeys(hop for hop in answers if hop not in data)
        return tuple((found, hop.way) for hop in hops if (found := self.emulator(hop.link.name)) is not None)

    def tc_passed(self, *, is_data: bool) -> tuple[TcPort, ...]:
        """The ends of TCLinks that impair the data, or (`is_data` False) its answers."""
        ways = {(hop.link.name, hop.way) for hop in (self.path if is_data else self.answers)}
        return tuple(port for port in self.tc_ports if (port.link, port.way) in ways)

    def count(self, *kinds: type[Command]) -> int:
        """How many of its commands are of these kinds."""
        return sum(isinstance(command, kinds) for command in self.commands)

    @property
    def namespaces(self) -> int:
        """How many network namespaces it has."""
        if not self.count(mininet.Build):
            return self.count(Namespace)
        nodes = {port.node for port in self.book.ports} | {channel.name for channel in self.channels}
        return len(nodes) + len(self.emulators) + len(self.channels)

    @property
    def destination(self) -> IPv4Address | IPv6Address:
        """The address that the workload's data goes to: on the last link of its path."""
        assert self.data_path is not None, "BUG: a plan without a workload"
        return self.data_path.destination_ip

    @property
    def rtt_ns(self) -> int:
        """From the sender to the receiver and back, without serialisation, queues and jitter; 0 without a workload."""
        return 0 if self.data_path is None else self.data_path.rtt_ns

    @property
    def rtts_ns(self) -> tuple[int, int]:
        """The least and the greatest `rtt_ns` while schedules change links."""
        low_ns = high_ns = self.rtt_ns
        for stage in (*self.stages(is_data=True), *self.stages(is_data=False)):
            delays = [state.asked.delay_ns for state in stage.history]
            low_ns, high_ns = low_ns + min(delays) - delays[0], high_ns + max(delays) - delays[0]
        return low_ns, high_ns

    @property
    def rate_bps(self) -> int | None:
        """The lowest rate on the data path at the start; None if it has none."""
        return lowest_rate_bps(self.path)

    @property
    def mtu_bytes(self) -> int:
        """The smallest MTU on the data path."""
        return MTU_DEFAULT if self.data_path is None else self.data_path.mtu_bytes

    def script(self) -> str:
        """The plan as a script for a root shell, with the commands that take it down as comments at the end."""
        undo = "".join(f"#   {line}\n" for line in script(self.undos).splitlines())
        later = times.comments(self.timeline) + times.event_comments(self.events)
        told = f"\n# While the workload runs, counted from its start:\n{later}" if later else ""
        hosts = "".join(f"# {line}\n" for line in self.hosts)
        nics = "".join(f"{line}\n" for wanted in self.real_nics for line in wanted.script())
        given = "".join(f"#   {line}\n" for wanted in self.real_nics for line in wanted.undo_script())
        return f"#!/bin/sh -e\n{hosts}{nics}{script(self.commands)}{told}\n# To take it down:\n{undo}{given}"


def plan(
    topology: Topology,
    workload: Workload | None = None,
    *,
    seed: int = 1,
    sysctls: tuple[tuple[str, str], ...] = (),
    real_time: bool = False,
    endless: bool = False,
    background: tuple[tuple[str, str], ...] = (),
    datapath: Datapath = "kernel",
    counted: bool = False,
    cuts_late: bool = False,
    came: Mapping[str, Came] | None = None,
) -> Plan:
    """The plan of a topology with a workload, and other traffic between the pairs (sender, receiver) of `background`.

    `seed` is for random draws of the plan; `sysctls` are for every host, before its own. `real_time` is for kernels on
    the wall clock, where timers are late; `endless` plans follow schedules as long as one can; `datapath` is of Open
    vSwitches; `counted`: instructions drive machines' clocks; `cuts_late`: buckets hold superpackets. `came` says when
    the events of each link came; None before the trial. Raises UserError.
    """
    until_ns = times.followed_ns(topology.links) if endless else times.until_ns(workload, topology.links)
    times.check(topology.links, until_ns)
    asked = times.wandered(topology, seed, until_ns)
    topology = times.with_events(asked, came, until_ns)
    book = address_book(topology)
    found = tuple(data_path_between(topology, book, *pair) for pair in (workload.pairs if workload else ()))
    others = tuple(data_path_between(topology, book, *pair) for pair in background)
    # The workload decides which direction of a link is that of the data, and its last data path decides last.
    ways = data_ways((*others, *found))
    ends = frozenset((*(workload.hosts if workload else ()), *(host for pair in background for host in pair)))
    by_one = open_vswitch.plain_ports(topology, book, datapath)
    nics = _nics(topology, frozenset(port.node for port in by_one))
    superpackets = any(kind == "offload" for name, kind in nics if topology.node(name).kind.runs_in != "computer")
    emulators = tuple(
        emulation.emulator(
            *(link, ways.get(link.name, "forward"), seed, until_ns, cuts_late),
            superpackets=superpackets and link.emulator is None,
        )
        for link in topology.links
        if is_emulated(topology, link)
    )
    channels = control_channel.channels(topology)
    aside = tuple(_of_channel(channel, seed) for channel in channels if channel.link.is_emulated)
    built = [node for node in topology.nodes if machine_link.has_place(node, topology)]
    commands = [
        *building(topology, book, built, emulators, aside, channels, datapath),
        *(
            c
            for node in built
            for c in make.commands(node, topology, machine_link.ports_here(node, topology, book), sysctls, ends)
        ),
        *(c for node, kind in nics for c in nodes.nic_commands(node, kind, topology, book)),
        *(_plain(port, topology) for port in by_one),
        *(c for channel in channels for c in control_channel.commands(channel)),
        *(Write(control_channel.NO_IPV6, "1", netns=e.netns) for e in (*emulators, *aside)),
        *(c for e in (*emulators, *aside) for c in inner_cables(e)),
        *(
            c
            for e in (*emulators, *aside)
            for c in nodes.ups(e.netns, ("end0", "end1", "wire0", "wire1", *fault.devices(e)))
        ),
    ]
    control = workload.control if workload else None
    for e in emulators:
        commands += machine_link.emulator_nics(e)
        packets = superpackets and e.on is None
        commands += emulation.commands(e, superpackets=packets, real_time=real_time, control=control)
    for e in aside:
        commands += emulation.commands(e, superpackets=True, real_time=real_time, control=None)
    commands += openflow(topology, book, channels, datapath)
    commands += routing(topology, book)
    later = (
        *(moment for channel in channels for moment in control_channel.moments(channel)),
        *((0, begin) for e in emulators for begin in emulation.begins(e)),
    )
    machines = machine_link.places(topology, emulators)
    started = vm.starts(topology, book, dict(nics), counted=counted)
    local, distant = ([c for c in commands if (c.on is None) == is_local] for is_local in (True, False))
    all_ = (*local, *started, *distant)
    return Plan(
        tuple(machine_link.on_machines(all_, dict(machines))) if machines else all_,
        book,
        (*emulators, *aside),
        nics,
        upstream=found[0] if len(found) > 1 else None,
        data_path=found[-1] if found else None,
        background=others,
        timeline=times.timeline(
            (e for e in emulators if came is not None or not times.has_events(topology.link(e.link))),
            later,
            () if came is None else times.came_ns(topology, until_ns),
            real_time=real_time,
        ),
        events=tuple(times.events(asked, topology, emulators, came, real_time=real_time)),
        until_ns=until_ns,
        channels=channels,
        controlled=_controlled(channels, found),
        vswitches=sum(topology.node(node).kind.openflow == "switch" for node in _all_passed(found)),
        datapaths=tuple(
            (switch.name, control_channel.datapath(switch, datapath)) for switch in control_channel.switches(topology)
        ),
        tc_ports=mininet.tc_ports(topology, book),
        programs_bytes=sum(node.kind.programs_bytes + service.memory_bytes(node) for node in topology.nodes),
        remote=frozenset(node.name for node in topology.nodes if node.kind.has_own_kernel),
        real_nics=tuple(_real_nics(topology)),
        machines=machines,
        hosts=tuple(f"{n.name}: {n.machine.described(n.name)}" for n in topology.nodes if n.machine is not None),
    )


def _real_nics(topology: Topology) -> Iterator[Wanted]:
    """The MTU of a NIC is the largest of its switch's links."""
    for node in topology.nodes:
        if node.real_nic is not None:
            yield Wanted(node.real_nic, max((link.mtu_bytes for link in topology.links_of(node.name)), default=1500))


def _nics(topology: Topology, by_one: frozenset[str]) -> tuple[tuple[str, Nic], ...]:
    """The NIC kind of each host; those of `by_one` must send packets one by one."""
    found: list[tuple[str, Nic]] = []
    for node in topology.nodes:
        if node.kind.has_offloads and node.name in by_one:
            open_vswitch.check_nic(node, node.nic or topology.nic)
            found.append((node.name, "plain"))
        elif node.kind.has_offloads:
            found.append((node.name, nodes.nic_of(node, topology)))
    return tuple(found)


def _plain(port: Port, topology: Topology) -> Command:
    made = open_vswitch.plain(port)
    return replace(made, netns=None, on=port.node) if topology.node(port.node).kind.has_own_kernel else made


def _of_channel(channel: Channel, seed: int) -> Emulator:
    return emulation.emulator(channel.link, "forward", seed, superpackets=True)


def _controlled(channels: tuple[Channel, ...], data_paths: tuple[DataPath, ...]) -> tuple[tuple[str, Channel], ...]:
    by_switch = {switch: channel for channel in channels for switch in channel.switches}
    return tuple((node, by_switch[node]) for node in _all_passed(data_paths) if node in by_switch)


def _all_passed(data_paths: tuple[DataPath, ...]) -> list[str]:
    return [node for data_path in data_paths for hops in (data_path.path, data_path.answers) for node in _passed(hops)]


def _passed(hops: tuple[PathHop, ...]) -> Iterator[str]:
    """The nodes between the two ends of a path."""
    return (hop.link.leads_to(hop.way) for hop in hops[:-1])
