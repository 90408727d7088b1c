"""The orders of a trial: all its steps in order, and what the files that they write contain. Pure, but for a look for a
kernel module.

apply the plan → routes → check the RTT → read back → counters → workload, samples, captures, timeline → counters
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...model.background import Constant
from ...model.scenario import Trial
from ...model.topology import Topology
from ...plan import batch, command, script
from ...plan.command import Command
from ...plan.link import fault
from ...plan.network import Plan, plan
from ...plan.node import ruleset, vm
from ...plan.node.namespace import node_netns
from ...plan.step import TIMELINE, Await, Location, Moment, Read, Run, Sleep, Step, Stop, Timeline
from ..observe.sample import Query
from ..workload import background, ping, registry
from . import bring_up, openflow_dump, remote, routing, service, set_up
from .capture import CAPTURE_BUFFER_BYTES, CAPTURE_RETIRES_S, capture_name, capture_points, captures
from .file_name import (
    AFTER,
    CHANGES,
    OBSERVER,
    READ_BACK,
    RTT_CHECK,
    SAMPLES,
    UPSTREAM_CHECK,
    chains_file,
    checksums_file,
    cpu_file,
    machine_cpu_file,
    netstat_file,
    process_file,
    rules_file,
    sysctls_file,
)
from .memory import memory_bytes
from .refusal import check_kernels, check_rates, check_vms, check_windows

SETTLE_S, STP_SETTLE_S = 2, 35
"""The pause between the plan and the first packet. The kernel tells a bridge up to a second late that the other end of
a port is up, and a spanning tree listens for 15 s and learns for 15 s. Before 1 s of CLOCK_MONOTONIC, iputils' ping
does not pace itself."""

RTT_CHECK_COUNT, RTT_CHECK_INTERVAL_NS = 5, 200_000_000

WARM_UP_COUNT, WARM_UP_INTERVAL_NS = 3, 1_000_000_000

CONTROL_SETTLE_ROUND_TRIPS = 20
"""Round trips of the control channel: for handshakes, and for what an app sends to a new switch."""

RULESET = ("nft", "--json", "list", "ruleset")

SIGN_OF_LIFE_NS = 1_000_000_000


@dataclass(frozen=True)
class Orders:
    """The steps of a trial, and what the records in their files are about.

    `observed`, `sampled` and `changed` are the sources of the records in the read-back, in the samples, and in the
    looks after each change of the timeline; `observed_after` those of the read-back after the workload, which begins
    like the first and is of all that was set up in the namespaces `looked_at`.
    """

    plan: Plan
    commands: tuple[Command, ...]
    steps: tuple[Step, ...]
    observed: tuple[Query, ...]
    sampled: tuple[Query, ...]
    memory_bytes: int
    drawn: background.Schedules
    changed: tuple[Query, ...] = ()
    observed_after: tuple[Query, ...] = ()
    looked_at: tuple[str, ...] = ()
    notes: str = ""

    @property
    def script(self) -> str:
        """The script of the plan. The commands for the whole lab kernel are comments, as on a host they would outlast
        the trial; what was drawn for the workload and its background is a comment, too.
        """
        before = self.commands[: len(self.commands) - len(self.plan.commands)]
        lines = "".join(f"#   {line}\n" for line in script.script(before).splitlines())
        comments = f"\n# The lab kernel was told first:\n{lines}" if lines else ""
        return self.plan.script() + comments + background.comments(self.drawn) + self.notes


def orders(trial: Trial) -> Orders:
    """The orders of a trial. Raises UserError for a trial that no kernel could carry out."""
    check_windows(trial)
    check_vms(trial.topology, trial.kernel)
    planned = plan(
        trial.topology,
        trial.workload,
        seed=trial.seed,
        sysctls=trial.sysctls,
        real_time=not trial.kernel.is_virtual_time,
        background=tuple((each.source, each.destination) for _, each in trial.background),
        datapath=bring_up.datapath(trial.kernel),
        counted=trial.kernel.is_virtual_time,
        cuts_late=bring_up.cuts_late(trial.kernel) and not _captures_links(trial),
    )
    check_kernels(trial, planned)
    if trial.kernel.is_virtual_time:
        check_rates(trial, planned)
    drawn = background.schedules(trial.background, trial.workload, planned, trial.seed)
    observed, sampled, changed = _observed(trial, planned), _sampled(trial, planned), _changed(planned)
    commands, looked_at = bring_up.commands(planned, trial.kernel), set_up.looked_at(trial, planned)
    observed_after = (*observed, *set_up.queries(commands, planned, looked_at))
    steps = (
        *bring_up.steps(trial.topology, planned, trial.kernel, remote.reach_steps(trial, planned)),
        Sleep(_settle_s(trial, planned)),
        *routing.awaits(trial.topology, planned),
        *(() if planned.controlled else _rtt_checks(planned)),
        *remote.observe(planned, READ_BACK, 0, observed),
        *openflow_dump.steps(trial.topology, "before"),
        *routing.asks(trial.topology, planned, "before"),
        *_rulesets(trial.topology, planned, "before"),
        *_counters(trial, planned, "before"),
        *captures(trial, planned),
        *remote.observe(planned, SAMPLES, trial.samples_interval_ns or SIGN_OF_LIFE_NS, sampled, OBSERVER),
        *routing.watches(trial.topology),
        *background.steps(trial.background, drawn, trial.workload, planned),
        *_with_timeline(registry.steps(trial.workload, planned, trial.seed), trial, planned, changed),
        *background.stops(trial.background),
        *routing.stops(trial.topology),
        *(Stop(name) for name in remote.observers(planned, sampled, OBSERVER)),
        *(Sleep(CAPTURE_RETIRES_S) for _ in trial.captures[:1]),
        *remote.observe(planned, AFTER, 0, observed_after),
        *_rulesets(trial.topology, planned, "after"),
        *_counters(trial, planned, "after"),
        *set_up.steps(commands, planned, looked_at),
        *(Stop(capture_name(n)) for n, _ in enumerate(capture_points(trial, planned))),
        *openflow_dump.steps(trial.topology, "after"),
        *routing.asks(trial.topology, planned, "after"),
        *service.asks(trial.topology),
        *(_late_rtt_checks(planned) if planned.controlled else ()),
        *openflow_dump.told_back(planned),
    )
    buffers = CAPTURE_BUFFER_BYTES * sum(1 for _ in capture_points(trial, planned))
    others = sum(map(len, drawn.values()))
    constant_bps = sum(each.rate_bps for _, each in trial.background if isinstance(each, Constant))
    notes = registry.comments(trial.workload, planned, trial.seed)
    buffers += vm.memory_bytes(trial.topology) if trial.kernel.kind != "host" else 0
    memory = trial.limits.memory_bytes or memory_bytes(planned, trial.workload, others, constant_bps) + buffers
    return Orders(planned, commands, steps, observed, sampled, memory, drawn, changed, observed_after, looked_at, notes)


def _captures_links(trial: Trial) -> bool:
    """Whether devices of an emulator are captured, which shall show every packet by itself."""
    return any(capture.at == link.name for capture in trial.captures for link in trial.topology.links)


def _rtt_checks(planned: Plan) -> Iterator[Step]:
    """Pings along the data path: from the host that sends to the receiver, and from the origin if that is a cache."""
    for data_path, file in ((planned.data_path, RTT_CHECK), (planned.upstream, UPSTREAM_CHECK)):
        if data_path is not None:
            yield ping.step(planned, data_path, file, RTT_CHECK_COUNT, RTT_CHECK_INTERVAL_NS)


def _late_rtt_checks(planned: Plan) -> Iterator[Step]:
    """Pings after the workload, so that the workload's first packets make the switches ask the controllers. The warm-up
    pings, whose results are ignored, ask what the later pings would have to.
    """
    for data_path in filter(None, (planned.data_path, planned.upstream)):
        yield ping.step(planned, data_path, f"rtt-warm-up-{data_path.source}.out", WARM_UP_COUNT, WARM_UP_INTERVAL_NS)
    yield from _rtt_checks(planned)


def _settle_s(trial: Trial, planned: Plan) -> float:
    """The pause before the first packet; with controllers, long enough for them to set up the switches."""
    least_s = STP_SETTLE_S if any(node.stp for node in trial.topology.nodes) else SETTLE_S
    asking_s = max((channel.controller.rtt_ns for channel in planned.channels), default=0) / 1e9
    return least_s + CONTROL_SETTLE_ROUND_TRIPS * asking_s


def _observed(trial: Trial, planned: Plan) -> tuple[Query, ...]:
    """Queueing disciplines, counters and devices of emulators and TCLinks, and the devices of every node on the data
    path. The counters of an emulator are read in the look that reads its queues: packets may still be under way, and
    the gate compares the two.
    """
    impairing = dict.fromkeys((*(e.netns for e in planned.emulators), *(port.netns for port in planned.tc_ports)))
    on_way = (node_netns(node) for node in set_up.passed(trial, planned) if is_observed(planned, node))
    return (
        *(Query(kind, netns) for netns in impairing for kind in ("link", "qdisc")),
        *(Query("nft", emulator.netns) for emulator in planned.emulators),
        *(Query("class", port.netns, port.device) for port in planned.tc_ports if port.rate_bps),
        *(Query("link", netns) for netns in on_way if netns not in impairing),
    )


def is_observed(planned: Plan, node: str) -> bool:
    """Whether our observer sees a node: it runs on this computer and on machines."""
    return node not in planned.remote or node_netns(node) in dict(planned.machines)


def _sampled(trial: Trial, planned: Plan) -> tuple[Query, ...]:
    """The sockets of both ends and the queues of the emulators on the path; nothing if samples are off."""
    if trial.samples_interval_ns is None:
        return ()
    on_path = [*{e.netns: e for e, _ in planned.emulators_passed(is_data=True)}.values()]
    passed = (port.netns for port in planned.tc_passed(is_data=True))
    counted = [e for e in on_path if any(stage.policing for stage in e.stages) or fault.told(*e.stages)]
    return (
        *(Query("tcp", node_netns(host)) for host in trial.workload.hosts if is_observed(planned, host)),
        *(Query("qdisc", netns) for netns in dict.fromkeys((*(e.netns for e in on_path), *passed))),
        *(Query("nft", e.netns) for e in counted),
    )


def _changed(planned: Plan) -> tuple[Query, ...]:
    """The queues and counters of the emulators that a schedule changes, or whose traces begin with the workload."""
    emulators = [e for e in planned.emulators if any(stage.states or stage.asked.trace for stage in e.stages)]
    return tuple(Query(kind, e.netns) for e in emulators for kind in ("qdisc", "nft"))


def _with_timeline(steps: Sequence[Step], trial: Trial, planned: Plan, changed: tuple[Query, ...]) -> Sequence[Step]:
    """The steps of a workload, with the timeline around the last foreground program: earlier ones only prepare. If
    programs in the background are waited for, it is the last one before, and the timeline ends with them.
    """
    if not planned.timeline:
        return steps
    moments = tuple(
        Moment(each.at_ns, batch.steps(each.commands), tuple(remote.observe(planned, CHANGES, 0, changed)))
        for each in planned.timeline
    )
    ends = max((n for n, step in enumerate(steps) if isinstance(step, Await) and step.names), default=len(steps) - 1)
    at = max(n for n, step in enumerate(steps[: ends + 1]) if isinstance(step, Run) and step.background is None)
    until = ends if isinstance(steps[ends], Await) else at
    timeline = Timeline(moments, registry.begin(trial.workload))
    return (*steps[:at], timeline, *steps[at : until + 1], Stop(TIMELINE), *steps[until + 1 :])


def _rulesets(topology: Topology, planned: Plan, when: str) -> Iterator[Step]:
    for emulator in planned.emulators if when == "after" else ():
        yield Run(RULESET, "rules", planned.where_in(emulator.netns), out=chains_file(emulator.link))
    for node in ruleset.routers(topology):
        yield Run(RULESET, "rules", Location(node_netns(node.name)), out=rules_file(node.name, when))


def receivers(trial: Trial) -> tuple[str, ...]:
    """The hosts that packets go to: those of the workload, then those of the background."""
    others = (host for _, each in trial.background for host in (each.source, each.destination))
    return tuple(dict.fromkeys((*trial.workload.hosts, *others)))


def _checksums(planned: Plan, node: str, when: str) -> dict[str, str]:
    """What tells of wrong checksums, if packets are ever damaged."""
    if not any(fault.ever(stage, "corrupt") for emulator in planned.emulators for stage in emulator.stages):
        return {}
    paths = [each for each in (planned.data_path, *planned.background) if each is not None]
    six = any(each.destination_ip.version == 6 for each in paths)
    files = {checksums_file(node, when): "/proc/thread-self/net/snmp"}
    return files | ({checksums_file(node, when, 6): "/proc/thread-self/net/snmp6"} if six else {})


def _counters(trial: Trial, planned: Plan, when: str) -> Iterator[Step]:
    for node in receivers(trial)[len(dict.fromkeys(trial.workload.hosts)) :]:
        if files := _checksums(planned, node, when):
            yield Read("netstat", tuple(files.items()), planned.where(node))
    for node in trial.workload.hosts:
        files = {netstat_file(node, when): "/proc/thread-self/net/netstat"} | _checksums(planned, node, when)
        if node in planned.remote:
            files[machine_cpu_file(node, when)] = "/proc/stat"
        if when == ("before" if node in planned.remote else "after"):
            files[sysctls_file(node)] = set_up.TCP_SETTINGS
        yield Read("netstat", tuple(files.items()), planned.where(node))
    if not trial.kernel.is_virtual_time:
        yield Read("CPU", ((cpu_file(when), "/proc/stat"),))
    machines = () if trial.kernel.is_virtual_time else trial.topology.nodes
    for name in (node.name for node in machines if node.kind.runs_in == "virtual machine"):
        file = (process_file(when, name), "/proc/{pid}/stat")
        yield Read("CPU of QEMU", (file,), of=vm.program_name(name))
    for machine in remote.machines(trial):
        yield Read("CPU", ((machine_cpu_file(machine, when), "/proc/stat"),), Location(on=command.home(machine)))
