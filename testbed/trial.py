"""A trial: one cell with one seed, from its plan to a folder with everything that was asked and seen.

apply the plan → read back → check the RTT → counters → workload, samples, captures, timeline → counters
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from . import command, far, flowtable, qemu, standing, workloads
from .background import Constant
from .command import Command
from .error import UserError
from .leg import lowest_rate_bps
from .memory import memory_bytes
from .node import node_netns
from .plan import Plan, plan
from .sample import Source
from .scenario import Trial
from .setting import Capture
from .workload import WINDOW_MAX_BYTES, FlowWorkload, Iperf3Workload, PingWorkload, legs
from .workloads import background, ping

SETTLE_S, STP_SETTLE_S = 2, 35
"""From the plan to the first packet. The kernel tells a bridge up to a second late that the other end of a port is up,
and a spanning tree listens and learns for 15 s each. Before 1 s of CLOCK_MONOTONIC, iputils' ping does not pace itself.
"""

RTT_CHECK, UPSTREAM_CHECK = "rtt-check.out", "rtt-check-upstream.out"
RTT_CHECK_COUNT, RTT_CHECK_INTERVAL_NS = 5, 200_000_000
WARM_UP_COUNT, WARM_UP_INTERVAL_NS = 3, 1_000_000_000
CONTROL_SETTLE_ROUND_TRIPS = 20
"""Of the control channel: handshakes, and what an app sends to a switch that is new to it."""

SAMPLES, READ_BACK, AFTER, CHANGES = "samples.bin", "read-back.bin", "after.bin", "changes.bin"
OBSERVER = "observer"
LOG, TIMELINE = "log.jsonl", "timeline.jsonl"
HYPERVISOR = "hypervisor.json"
"""How virtual machines ran, where there are any."""

MININET_REPORT = "mininet.json"
SIGN_OF_LIFE_NS = 1_000_000_000
CAPTURE_BUFFER_BYTES = 16 << 20
"""Of each device that is captured: packets that tcpdump has not read yet, out of the guest's memory."""

CAPTURE_RETIRES_S = 2
"""tcpdump gets what a device saw within a second, and writes at its end only what it has got."""


@dataclass(frozen=True)
class Orders:
    """What a trial has a kernel do, and what is then in which file.

    `observed`, `sampled` and `changed` are the sources behind the records of the read-back, of the samples, and of what
    was seen right after each change of the timeline.
    """

    plan: Plan
    commands: tuple[Command, ...]
    steps: tuple[dict[str, Any], ...]
    observed: tuple[Source, ...]
    sampled: tuple[Source, ...]
    memory_bytes: int
    drawn: background.Schedules
    changed: tuple[Source, ...] = ()

    @property
    def script(self) -> str:
        """The plan's; what the whole kernel was told first is a comment, for on a host it would outlast the trial.
        So is the background traffic that was drawn.
        """
        before = self.commands[: len(self.commands) - len(self.plan.commands)]
        told = "".join(f"#   {line}\n" for line in command.script(before).splitlines())
        told = f"\n# The lab kernel was told first:\n{told}" if told else ""
        return self.plan.script() + told + background.comments(self.drawn)


def orders(trial: Trial) -> Orders:
    """Pure: what running the trial means. Raises UserError for what no kernel could do."""
    _check(trial)
    planned = plan(
        trial.topology,
        trial.workload,
        seed=trial.seed,
        sysctls=trial.sysctls,
        real_time=not trial.kernel.is_virtual_time,
        background=tuple((each.source, each.destination) for _, each in trial.background),
        datapath=standing.datapath(trial.kernel),
    )
    _check_kernels(trial, planned)
    if trial.kernel.is_virtual_time:
        _check_rates(trial, planned)
    drawn = background.schedules(trial.background, trial.workload, planned, trial.seed)
    observed, sampled, changed = _observed(trial, planned), _sampled(trial, planned), _changed(planned)
    commands = standing.commands(planned, trial.kernel)
    steps = (
        *standing.steps(trial.topology, planned, trial.kernel, far.reach_steps(trial, planned)),
        {"sleep": _settle_s(trial, planned)},
        *(() if planned.controlled else _rtt_checks(planned)),
        *far.observe(planned, READ_BACK, 0, observed),
        *flowtable.steps(trial.topology, "before"),
        *_rulesets(planned, "before"),
        *_counters(trial, planned, "before"),
        *_captures(trial, planned),
        *far.observe(planned, SAMPLES, trial.samples_interval_ns or SIGN_OF_LIFE_NS, sampled, OBSERVER),
        *background.steps(trial.background, drawn, trial.workload, planned),
        *_with_timeline(workloads.steps(trial.workload, planned, trial.seed), trial, planned, changed),
        *background.stops(trial.background),
        *({"stop": name} for name in far.observers(planned, sampled, OBSERVER)),
        *({"sleep": CAPTURE_RETIRES_S} for _ in trial.captures[:1]),
        *far.observe(planned, AFTER, 0, observed),
        *_rulesets(planned, "after"),
        *_counters(trial, planned, "after"),
        *({"stop": _capture_name(n)} for n, _ in enumerate(_capture_points(trial, planned))),
        *flowtable.steps(trial.topology, "after"),
        *(_late_rtt_checks(planned) if planned.controlled else ()),
        *flowtable.told_back(planned),
    )
    buffers = CAPTURE_BUFFER_BYTES * sum(1 for _ in _capture_points(trial, planned))
    others = sum(map(len, drawn.values()))
    constant_bps = sum(each.rate_bps for _, each in trial.background if isinstance(each, Constant))
    memory = trial.limits.memory_bytes or memory_bytes(planned, trial.workload, others, constant_bps) + buffers
    return Orders(planned, commands, steps, observed, sampled, memory, drawn, changed)


def workload_hosts(trial: Trial) -> tuple[str, ...]:
    """The sender, the receiver, and what stands between them as a host."""
    pairs = legs(trial.workload)
    return (trial.workload.source, *(source for source, _ in pairs[1:]), trial.workload.destination)


def counters_file(link: str, when: str) -> str:
    """The emulator's counters, as nft prints them in JSON."""
    return f"counters-{link}-{when}.json"


def netstat_file(node: str, when: str) -> str:
    return f"netstat-{node}-{when}.txt"


def cpu_file(when: str) -> str:
    return f"cpu-{when}.txt"


def machine_cpu_file(machine: str, when: str) -> str:
    return f"cpu-{machine}-{when}.txt"


def process_file(when: str, node: str) -> str:
    """What this computer's kernel says of the process that is a virtual machine."""
    return f"qemu-{node}-{when}.txt"


def capture_file(at: str, device: str) -> str:
    return f"{at}-{device}.pcap"


def capture_errors(trial: Trial, planned: Plan) -> tuple[str, ...]:
    """Where each capture says what it missed."""
    return tuple(f"{_capture_name(n)}.err" for n, _ in enumerate(_capture_points(trial, planned)))


def captured_devices(trial: Trial, planned: Plan) -> tuple[tuple[str, str], ...]:
    """The node or link, and the device, of each capture."""
    return tuple((capture.at, device) for capture, _, device in _capture_points(trial, planned))


def _check(trial: Trial) -> None:
    workload = trial.workload
    windows: tuple[int | None, ...] = ()
    if isinstance(workload, FlowWorkload):
        windows = workload.window_bytes
    elif isinstance(workload, Iperf3Workload):
        windows = (workload.window_bytes,)
    for window in windows:
        if window is not None and window >= WINDOW_MAX_BYTES:
            raise UserError(
                f"a window of {window} bytes is larger than the kernel allows; allowed: below 1 GiB (2^30 bytes), the "
                "most that TCP's window scaling can announce"
            )


def _check_kernels(trial: Trial, planned: Plan) -> None:
    """Most of our programs stand with one foot in each host, which only one kernel allows."""
    if planned.real_nics and trial.kernel.place != "host":
        names = " and ".join(wanted.nic for wanted in planned.real_nics)
        raise UserError(f"a lab kernel has no way to the real NIC {names}; allowed: kernel: host")
    ends = {
        *workload_hosts(trial),
        *(host for each in planned.background for host in (each.source, each.destination)),
    }
    for node in sorted(planned.elsewhere):
        what = f"{node} is a {trial.topology.node(node).type}, which has a kernel of its own"
        if trial.kernel.place != "host":
            raise UserError(f"{what}, and cannot be part of a lab kernel; allowed: kernel: host")
        if node not in ends:
            continue
        if not isinstance(trial.workload, Iperf3Workload | PingWorkload):
            raise UserError(f"{what}, and this tool needs both ends in one; allowed: tool: iperf3, or tool: ping")
        if planned.background:
            raise UserError(f"{what}, and background traffic needs both ends in one; allowed: none, or host nodes")


def _check_rates(trial: Trial, planned: Plan) -> None:
    """In virtual time nothing but a rate slows traffic down."""
    wanted = [] if isinstance(trial.workload, PingWorkload) else [planned.leg, planned.upstream]
    for leg in filter(None, (*wanted, *planned.background)):
        if lowest_rate_bps(leg.path) is None:
            links = ", ".join(hop.link.name for hop in leg.path)
            what = "background" if leg in planned.background else "workload"
            raise UserError(
                f"no link between {leg.source} and {leg.destination} has a rate ({links}): in "
                f"virtual time nothing else would slow the {what} down; allowed: a rate on one of them"
            )


def _rtt_checks(planned: Plan) -> Iterator[dict[str, Any]]:
    """Pings on the way of the data: from the host that the receiver gets it from, and from the one that this has it
    from.
    """
    for leg, file in ((planned.leg, RTT_CHECK), (planned.upstream, UPSTREAM_CHECK)):
        if leg is not None:
            yield ping.step(planned, leg, file, RTT_CHECK_COUNT, RTT_CHECK_INTERVAL_NS)


def _late_rtt_checks(planned: Plan) -> Iterator[dict[str, Any]]:
    """After the workload, whose first packets then ask the controllers, as they do in such a network. What pings have
    to ask, those do that nobody looks at.
    """
    for leg in filter(None, (planned.leg, planned.upstream)):
        yield ping.step(planned, leg, f"rtt-warm-up-{leg.source}.out", WARM_UP_COUNT, WARM_UP_INTERVAL_NS)
    yield from _rtt_checks(planned)


def _settle_s(trial: Trial, planned: Plan) -> float:
    """With controllers until they have told the switches what they have to tell them at first."""
    least_s = STP_SETTLE_S if any(node.stp for node in trial.topology.nodes) else SETTLE_S
    asking_s = max((channel.controller.rtt_ns for channel in planned.channels), default=0) / 1e9
    return least_s + CONTROL_SETTLE_ROUND_TRIPS * asking_s


def _observed(trial: Trial, planned: Plan) -> tuple[Source, ...]:
    """Queueing disciplines and devices of emulators and TCLinks, and the devices of every node that the data passes."""
    impairing = dict.fromkeys((*(e.netns for e in planned.emulators), *(port.netns for port in planned.tc_ports)))
    passed = (node_netns(node) for node in _passed(trial, planned) if _is_observed(planned, node))
    return (
        *(Source(kind, netns) for netns in impairing for kind in ("link", "qdisc")),
        *(Source("class", port.netns, port.device) for port in planned.tc_ports if port.rate_bps),
        *(Source("link", netns) for netns in passed if netns not in impairing),
    )


def _is_observed(planned: Plan, node: str) -> bool:
    """Our observer runs here and on machines."""
    return node not in planned.elsewhere or node_netns(node) in dict(planned.machines)


def _passed(trial: Trial, planned: Plan) -> tuple[str, ...]:
    """The nodes on the way of the data and of what answers it, from end to end, each once."""
    legs = filter(None, (planned.leg, planned.upstream))
    links = (hop.link for leg in legs for hop in (*leg.path, *leg.back))
    return tuple(dict.fromkeys((*workload_hosts(trial), *(end for link in links for end in link.ends))))


def _sampled(trial: Trial, planned: Plan) -> tuple[Source, ...]:
    """The sockets of both ends and the queues of the emulators on the path; nothing if samples are off."""
    if trial.samples_interval_ns is None:
        return ()
    on_path = [*{e.netns: e for e, _ in planned.emulators_passed(there=True)}.values()]
    passed = (port.netns for port in planned.tc_passed(there=True))
    policed = [e for e in on_path if any(stage.policing for stage in e.stages)]
    return (
        *(Source("tcp", node_netns(host)) for host in workload_hosts(trial) if _is_observed(planned, host)),
        *(Source("qdisc", netns) for netns in dict.fromkeys((*(e.netns for e in on_path), *passed))),
        *(Source("nft", e.netns) for e in policed),
    )


def _changed(planned: Plan) -> tuple[Source, ...]:
    """The queues and counters of the emulators that a schedule changes."""
    found = [e for e in planned.emulators if any(stage.states for stage in e.stages)]
    return tuple(Source(kind, e.netns) for e in found for kind in ("qdisc", "nft"))


def _with_timeline(
    steps: list[dict[str, Any]], trial: Trial, planned: Plan, changed: tuple[Source, ...]
) -> list[dict[str, Any]]:
    """The steps of a workload, and a timeline from right before the last program that is waited for, to its end: those
    before it only prepare.
    """
    if not planned.timeline:
        return steps
    moments = [
        {
            "at_ns": each.at_ns,
            "steps": command.steps(each.commands),
            "then": list(far.observe(planned, CHANGES, 0, changed)),
        }
        for each in planned.timeline
    ]
    begin = workloads.begin(trial.workload)
    timeline = {"title": "timeline", "timeline": moments, "background": "timeline"}
    timeline |= {"begin": list(begin)} if begin else {}
    at = max(n for n, step in enumerate(steps) if "run" in step and not step.get("background"))
    return [*steps[:at], timeline, steps[at], {"stop": "timeline"}, *steps[at + 1 :]]


def _rulesets(planned: Plan, when: str) -> Iterator[dict[str, Any]]:
    for emulator in planned.emulators:
        words = ["nft", "--json", "list", "counters", "table", "netdev", "testbed"]
        yield {
            "title": "counters",
            "run": words,
            **planned.where_in(emulator.netns),
            "out": counters_file(emulator.link, when),
        }


def _counters(trial: Trial, planned: Plan, when: str) -> Iterator[dict[str, Any]]:
    for node in workload_hosts(trial):
        files = {netstat_file(node, when): "/proc/thread-self/net/netstat"}
        if node in planned.elsewhere:
            files[machine_cpu_file(node, when)] = "/proc/stat"
        if when == "before":
            files[f"sysctls-{node}.txt"] = "/proc/sys/net/ipv4"
        yield {"title": "netstat", "read": files, **planned.where(node)}
    if not trial.kernel.is_virtual_time:
        yield {"title": "CPU", "read": {cpu_file(when): "/proc/stat"}}
    for name in (node.name for node in trial.topology.nodes if node.vm is not None):
        files = {process_file(when, name): "/proc/{pid}/stat"}
        yield {"title": "CPU of QEMU", "read": files, "of": qemu.program_name(name)}
    for machine in far.machines(trial):
        yield {
            "title": "CPU",
            "read": {machine_cpu_file(machine, when): "/proc/stat"},
            "on": command.home(machine),
        }


def _capture_points(trial: Trial, planned: Plan) -> Iterator[tuple[Capture, str, str]]:
    """(capture, namespace, device): every port of a node; the two ends of a link's emulator, or of the plain link."""
    for capture in trial.captures:
        emulator = planned.emulator(capture.at)
        if emulator is not None:
            for device in ("end0", "wire0", "wire1", "end1"):
                yield capture, emulator.netns, device
            continue
        for port in planned.book.ports:
            if capture.at in (port.node, port.link):
                yield capture, node_netns(port.node), port.device


def _capture_name(number: int) -> str:
    return f"capture-{number}"


def _captures(trial: Trial, planned: Plan) -> Iterator[dict[str, Any]]:
    for number, (capture, netns, device) in enumerate(_capture_points(trial, planned)):
        words = [
            "tcpdump",
            "-i",
            device,
            "-s",
            str(capture.snaplen_bytes),
            "-B",
            str(CAPTURE_BUFFER_BYTES >> 10),
            "-w",
            "-",  # a file of its own it would give to root, which in a guest of an ordinary user is nobody
            "--relinquish-privileges=root",
        ]
        file = capture_file(capture.at, device)
        yield {
            "title": "capture",
            "run": words,
            **planned.where_in(netns),
            "out": file,
            "background": _capture_name(number),
        }
    if trial.captures:
        yield {"sleep": 1}
