"""Trials for tests: from a few changed values to a trial, and what came out of one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeAlias

from testbed.model.scenario import Trial
from testbed.plan.link.stage import Stage
from testbed.plan.network import Plan
from testbed.plan.step import Step, data, step_of
from testbed.spec.scenario.trial import trial_of
from testbed.trial.evidence.case import Case
from testbed.trial.evidence.interval import Counts, Interval, LossCount
from testbed.trial.evidence.outcome import Outcome
from testbed.trial.evidence.stage import Evidence, StageEvidence, Told
from testbed.trial.measured import PingResult, need
from testbed.trial.observe.readback import Qdisc
from testbed.trial.observe.sample import QueueSample, TcpSample
from testbed.trial.orders.sequence import Orders
from testbed.trial.result import Finding, SwitchResult, TrialResult, VmResult
from testbed.trial.workload.background import BackgroundResult, backgrounds
from testbed.trial.workload.http import HttpResult
from testbed.trial.workload.registry import tool_of
from testbed.trial.workload.udp import UdpResult

Steps: TypeAlias = tuple[dict[str, Any], ...]
"""As the agent gets them."""


SWITCH = SwitchResult("kernel", "3.1", 0, 1, {}, 9, 1, 0, True, True)
"""An Open vSwitch that did as asked."""


def vm(accelerator: str, cpu_busy: float | None, **changes: Any) -> VmResult:
    """A virtual machine that was so busy."""
    usual = VmResult(accelerator, None, "7.2", 3.0, "7.3", None, None, 1 << 30, 1, "virtio", True, cpu_busy, None)
    return replace(usual, **changes)


def steps_data(steps: Iterable[Step]) -> Steps:
    return tuple(map(data, steps))


def instead(old: str, new: str) -> Callable[[Steps], Steps]:
    """A tamper that writes other words into every step that has these, of which there must be one."""

    def tamper(steps: Steps) -> Steps:
        assert old in json.dumps(steps), old
        return tuple(json.loads(json.dumps(steps).replace(old, new)))

    return tamper


def adding(place: str, *added: dict[str, Any], later: int = 0) -> Callable[[Steps], Steps]:
    """A tamper that does more, before the first step with this KEY or KEY=VALUE, or so many steps `later`."""
    key, _, value = place.partition("=")

    def tamper(steps: Steps) -> Steps:
        at = later + next(n for n, step in enumerate(steps) if key in step and value in ("", step[key]))
        return (*steps[:at], *added, *steps[at:])

    return tamper


def tampered(made: Orders, tamper: Callable[[Steps], Steps]) -> Orders:
    """The orders with other steps. Those that stay as they are keep their types, which the data does not tell."""
    own = {json.dumps(data(step), sort_keys=True): step for step in made.steps}
    changed = tamper(steps_data(made.steps))
    return replace(made, steps=tuple(own.get(json.dumps(each, sort_keys=True)) or step_of(each) for each in changed))


def as_set_up(trial: Trial, plan: Plan) -> dict[tuple[str, str], str]:
    """What is read back of the network if it is as the plan says."""
    from testbed.trial.subject import network

    return network.expected(trial, plan)


def whole(trial: Trial, plan: Plan, seen: Evidence) -> Evidence:
    """The evidence with all that a test does not tell of, as it is if all went as asked: no device lost a packet,
    no counter of a host rose, and every queue sent a thousand packets, and was looked at all the time.
    """
    from testbed.trial.subject.host_counter import RESENDING_COUNTERS, SUSPECT_COUNTERS

    return seen_as(
        seen,
        data_stages=tuple(_with_looks(each, trial, plan) for each in seen.data_stages),
        answer_stages=tuple(_with_looks(each, trial, plan) for each in seen.answer_stages),
        device_drops={f"tb-{port.node} {port.device}": 0 for port in plan.book.ports} | dict(seen.device_drops),
        host_counters=dict.fromkeys((*SUSPECT_COUNTERS, *RESENDING_COUNTERS), 0) | dict(rose(seen)),
        network=seen.things["network"].facts or as_set_up(trial, plan),
        control_modules=kernels_own(trial),
    )


def told_all_the_time(qdiscs: Iterable[str]) -> dict[str, tuple[Told, ...]]:
    """Settings that stayed as they were."""
    return {handle: (Told(1, 2, b"settings"),) for handle in qdiscs}


def kernels_own(trial: Trial) -> Any:
    """The parameters of congestion controls as Linux has them."""
    from testbed.trial.subject.control_module import KERNELS_OWN, ControlModules, controls

    own = {control: KERNELS_OWN[control] for control in controls(trial)}
    return ControlModules({}, own)


PARTS = {
    "host_counters": ("host_counters", "rose"),
    "checksum_errors": ("host_counters", "checksum_errors"),
    "cpu_busy": ("machines", "cpu_busy"),
    "machines": ("machines", "machines"),
    "captures": ("captures", "files"),
    "captures_dropped": ("captures", "missed"),
    "network": ("network", "facts"),
    "reference": ("network", "reference"),
    "rtt_check": ("round_trips", "data"),
    "upstream_check": ("round_trips", "upstream"),
}
"""Parts of what is seen of subjects."""
WHOLE = frozenset({"bpf", "cables", "control_modules", "openflow", "routing", "servers", "filters", "vms"})


def seen_as(seen: Evidence, **changes: Any) -> Evidence:
    """Evidence with other parts, also of subjects."""
    things = dict(seen.things)
    for name in PARTS.keys() & changes.keys():
        subject, part = PARTS[name]
        things[subject] = replace(things[subject], **{part: changes.pop(name)})
    things |= {name: changes.pop(name) for name in WHOLE & changes.keys()}
    return replace(seen, things=things, **changes)


def seen_evidence(
    rtt_check: PingResult,
    data_stages: tuple[StageEvidence, ...],
    answer_stages: tuple[StageEvidence, ...],
    outcome: Outcome,
    tcp: tuple[TcpSample, ...] = (),
    host_counters: Mapping[str, int] | None = None,
    device_drops: Mapping[str, int] | None = None,
    cpu_busy: float | None = None,
    captures_dropped: int | None = 0,
    **more: Any,
) -> Evidence:
    """Evidence in which nothing was seen of most subjects."""
    from testbed.trial.subject.capture import Captures
    from testbed.trial.subject.control_module import ControlModules
    from testbed.trial.subject.event import EventEvidence
    from testbed.trial.subject.host_counter import HostCounters
    from testbed.trial.subject.machine import Machines
    from testbed.trial.subject.network import NetworkEvidence
    from testbed.trial.subject.openflow import OpenFlowEvidence
    from testbed.trial.subject.round_trip import RoundTrips
    from testbed.trial.subject.routing import RoutingEvidence
    from testbed.trial.subject.taint import Taint

    things = {
        "acks": None,
        "bpf": None,
        "control_modules": ControlModules(),
        "openflow": OpenFlowEvidence(),
        "routing": RoutingEvidence(),
        "servers": (),
        "filters": (),
        "network": NetworkEvidence({}),
        "host_counters": HostCounters(host_counters or {}),
        "machines": Machines(cpu_busy),
        "cables": (),
        "captures": Captures({}, captures_dropped),
        "vms": {},
        "round_trips": RoundTrips(rtt_check),
        "schedule_events": EventEvidence(),
        "taint": Taint(),
    }
    made = Evidence(data_stages, answer_stages, outcome, tcp, device_drops or {}, things=things)
    return seen_as(made, **more)


def round_trip(seen: Evidence) -> PingResult:
    """The pings along the data path."""
    return seen.things["round_trips"].data  # type: ignore[no-any-return]


def rose(seen: Evidence) -> Mapping[str, int]:
    """The counters of the hosts."""
    return seen.things["host_counters"].rose  # type: ignore[no-any-return]


def found_by(check: Callable[[Case, Any], Iterator[Finding]], case: Case) -> list[Finding]:
    """What a check of a subject finds."""
    from testbed.trial.subject.registry import SUBJECTS

    (subject,) = (each for each in SUBJECTS if check in each.checks)
    return list(check(case, case.of(subject)))


def found_in(check: Callable[[Case, Any], Iterator[Finding]], case: Case) -> list[Finding]:
    """What a check of a tool finds in what only that tool measures."""
    return list(check(case, tool_of(case.trial.workload).measured(case)))


COUNTS = frozenset(each.name for each in fields(Counts))


def seen_stage(
    stage: Stage, qdiscs: Mapping[str, Qdisc] | None = None, samples: tuple[QueueSample, ...] = (), **changes: Any
) -> StageEvidence:
    """What one direction of the link "path" did, in one interval from the start on; `changes` as in `with_seen`."""
    whole = Interval(stage.start, 0, 2**63 - 1, qdiscs or {}, samples, Counts())
    return with_seen(StageEvidence("path", 1500, stage, (whole,), ()), **changes)


def with_seen(stage: StageEvidence, /, **changes: Any) -> StageEvidence:
    """A stage of which something else was seen. Counts, samples and queues are those of its first interval, and what
    came during its only loss is what came at all.
    """
    first, *rest = changes.pop("intervals", stage.intervals)
    counts = {name: changes.pop(name) for name in COUNTS & changes.keys()}
    own = {name: changes.pop(name) for name in ("qdiscs", "samples") if name in changes}
    made = replace(stage, intervals=(replace(first, counts=replace(first.counts, **counts), **own), *rest), **changes)
    if rest or "losses" in changes:
        return made
    return replace(made, losses=(LossCount(stage.stage.start, made.counts.data_packets, made.counts.dropped_packets),))


def _with_looks(stage: StageEvidence, trial: Trial, plan: Plan) -> StageEvidence:
    emulator = plan.emulator(stage.link)
    assert emulator is not None
    first = QueueSample(1, emulator.netns, 2, "2:", "tbf", 0, 0, 0, 0, 0)
    around = stage.around or (first, replace(first, time_ns=10**11, bytes=1_514_000, packets=1000))
    every_ns = trial.samples_interval_ns or 10**11
    times = range(every_ns, 10**10, every_ns)
    samples = stage.samples or tuple(replace(first, time_ns=at) for at in times)
    left = around[1].packets - around[0].packets if stage.left_packets is None else stage.left_packets
    packets = stage.counts.delay_packets or 1000
    told = told_all_the_time(stage.qdiscs)
    return with_seen(stage, around=around, samples=samples, delay_packets=packets, left_packets=left, settings=told)


@dataclass(frozen=True)
class Ran:
    """A trial that was carried out."""

    trial: Trial
    made: Orders
    folder: Path
    result: TrialResult

    @property
    def findings(self) -> dict[str, str]:
        """Check to verdict."""
        return {each.check: each.verdict for each in self.result.findings}

    @property
    def ping(self) -> PingResult:
        return need(PingResult, self.result.measured)

    @property
    def udp(self) -> UdpResult:
        return need(UdpResult, self.result.measured)

    @property
    def http(self) -> HttpResult:
        return need(HttpResult, self.result.measured)

    @property
    def backgrounds(self) -> dict[str, BackgroundResult]:
        return backgrounds(self.result.measured)


def make_trial(
    path: Mapping[str, Any] | None = None, workload: Mapping[str, Any] | None = None, **changes: Any
) -> Trial:
    """A trial between the hosts a and b; `path` changes the link between them, `workload` a flow of a second."""
    link = {"ends": ["a", "b"], "rate": "100 Mbit/s", "rtt": "10 ms", "buffer": "1 bdp", **(path or {})}
    topology = {
        "name": "net",
        "nodes": {"a": {"type": "host"}, "b": {"type": "host"}},
        "links": {"path": {key: value for key, value in link.items() if value is not None}},
    }
    if "nic" in changes:
        topology["nic"] = changes["nic"]
    flow = {"tool": "flow", "from": "a", "to": "b", "duration": "1 s"}
    if "bytes" in (workload or {}):
        del flow["duration"]
    if workload and workload.get("tool", "flow") != "flow":
        flow = {key: flow[key] for key in ("from", "to")}
    rest = {"id": "t", "params": {}, "repetition": 0, "seed": 1, "topology": topology}
    return trial_of({**rest, "workload": {**flow, **(workload or {})}, **changes}, "test")


RunTrial: TypeAlias = Callable[..., Ran]
