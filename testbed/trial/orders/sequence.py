"""The orders of a trial: all its steps in order, and what the files that they write contain. Pure, but for a look for a
kernel module, and for events that came, which a trial's folder tells.

apply the plan → routes → check the RTT → read back → counters → workload, samples, captures, timeline → counters
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from ...codec.frozen import dataclass
from ...model.background import Constant
from ...model.run_setting import Kernel
from ...model.scenario import Trial
from ...model.schedule import Came
from ...plan import batch, command
from ...plan.command import Command
from ...plan.link.timeline import Event
from ...plan.network import Plan, plan
from ...plan.node import vm
from ...plan.step import TIMELINE, Align, Await, Awaited, Moment, Run, Sleep, Step, Stop, Timeline
from ..evidence.case import When
from ..observe.sample import Query
from ..start import bring_up, remote
from ..start.memory import memory_bytes
from ..start.refusal import check_acks, check_bpf, check_events, check_kernels, check_rates, check_vms, check_windows
from ..subject import event
from ..subject.capture import CAPTURE_BUFFER_BYTES, capture_points
from ..subject.network import observed_after
from ..subject.observer import AFTER, CHANGES, OBSERVER, READ_BACK, SAMPLES, changed, observed, sampled
from ..subject.registry import SUBJECTS
from ..workload import background, registry

SETTLE_S, STP_SETTLE_S = 2, 35
"""The pause between the plan and the first packet. The kernel tells a bridge up to a second late that the other end of
a port is up, and a spanning tree listens for 15 s and learns for 15 s. Before 1 s of CLOCK_MONOTONIC, iputils' ping
does not pace itself."""

GRID_S = 0.01
"""In virtual time the workload begins at a whole multiple of this: a file more to read before it moves it by some us,
and a control would give other bytes than the same code under another name."""

CONTROL_SETTLE_ROUND_TRIPS = 20
"""Round trips of the control channel: for handshakes, and for what an app sends to a new switch."""

SIGN_OF_LIFE_NS = 1_000_000_000


@dataclass(frozen=True)
class Orders:
    """The steps of a trial, and what the records in their files are about.

    `observed`, `sampled` and `changed` are the sources of the records in the read-back, in the samples, and in the
    looks after each change of the timeline; `observed_after` those of the read-back after the workload, which begins
    like the first and is of all that was set up.
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
    notes: str = ""

    @property
    def script(self) -> str:
        """The script of the plan. The commands for the whole lab kernel are comments, as on a host they would outlast
        the trial; what was drawn for the workload and its background is a comment, too.
        """
        before = self.commands[: len(self.commands) - len(self.plan.commands)]
        lines = "".join(f"#   {line}\n" for line in command.script(before).splitlines())
        comments = f"\n# The lab kernel was told first:\n{lines}" if lines else ""
        return self.plan.script() + comments + background.comments(self.drawn) + self.notes


@dataclass(frozen=True)
class Draft:
    """What a trial makes of its network: the plan, what was drawn for its background, the steps that start that, and
    those of its workload.
    """

    plan: Plan
    drawn: background.Schedules
    beside: Sequence[Step]
    work: Sequence[Step]


def draft(
    trial: Trial,
    came: Mapping[str, Came] | None = None,
    cuts_late: Callable[[Kernel], bool] | None = None,
) -> Draft:
    """As far as trials of one network differ in their orders; `cuts_late` says what bring_up.cuts_late does. Raises
    UserError for a trial that no kernel could carry out.
    """
    check_windows(trial)
    check_vms(trial.topology, trial.kernel)
    check_bpf(trial)
    planned = plan(
        trial.topology,
        trial.workload,
        seed=trial.seed,
        sysctls=trial.sysctls,
        real_time=not trial.kernel.is_virtual_time,
        background=tuple((each.source, each.destination) for _, each in trial.background),
        datapath=bring_up.datapath(trial.kernel),
        counted=trial.kernel.is_virtual_time,
        cuts_late=(cuts_late or bring_up.cuts_late)(trial.kernel) and not _captures_links(trial),
        came=came,
    )
    check_kernels(trial, planned)
    check_acks(trial, planned)
    check_events(trial, planned)
    if trial.kernel.is_virtual_time:
        check_rates(trial, planned)
    drawn = background.schedules(trial.background, trial.workload, planned, trial.seed)
    beside = background.steps(trial.background, drawn, trial.workload, planned)
    return Draft(planned, drawn, beside, registry.steps(trial.workload, planned, trial.seed))


def orders(trial: Trial, came: Mapping[str, Came] | None = None) -> Orders:
    """The orders of a trial; `came` says, after it, when the events of each link came. Raises UserError for a trial
    that no kernel could carry out.
    """
    made = draft(trial, came)
    planned, drawn = made.plan, made.drawn
    watched = observed(trial, planned), sampled(trial, planned), changed(planned), observed_after(trial, planned)
    commands = bring_up.commands(planned, trial.kernel)
    before, during, between, after = watched

    def asked(*times: When) -> Iterator[Step]:
        return (step for when in times for each in SUBJECTS for step in each.steps(trial, planned, when))

    steps = (
        *bring_up.steps(trial.topology, planned, trial.kernel, remote.reach_steps(trial, planned)),
        Sleep(_settle_s(trial, planned)),
        *asked("settled"),
        *remote.observe(planned, READ_BACK, 0, before),
        *asked("before", "opening"),
        *([Align(GRID_S)] if trial.kernel.is_virtual_time else []),
        *remote.observe(planned, SAMPLES, trial.samples_interval_ns or SIGN_OF_LIFE_NS, during, OBSERVER),
        *asked("watching"),
        *made.beside,
        *_with_timeline(made.work, trial, planned, between),
        *background.stops(trial.background),
        *asked("ending"),
        *(Stop(name) for name in remote.observers(planned, during, OBSERVER)),
        *asked("ended"),
        *remote.observe(planned, AFTER, 0, after),
        *asked("rules", "after", "settings", "closing", "late", "last"),
    )
    buffers = CAPTURE_BUFFER_BYTES * sum(1 for _ in capture_points(trial, planned))
    others = sum(map(len, drawn.values()))
    constant_bps = sum(each.rate_bps for _, each in trial.background if isinstance(each, Constant))
    notes = registry.comments(trial.workload, planned, trial.seed)
    buffers += vm.memory_bytes(trial.topology) if trial.kernel.kind != "host" else 0
    memory = trial.limits.memory_bytes or memory_bytes(planned, trial.workload, others, constant_bps) + buffers
    return Orders(planned, commands, steps, before, during, memory, drawn, between, after, notes)


def with_events(trial: Trial, made: Orders, folder: Path) -> Orders:
    """What was asked of the links at each time: the same orders with the times at which events came, which the trial's
    folder tells.
    """
    return orders(trial, event.came(folder)) if made.plan.events else made


def _captures_links(trial: Trial) -> bool:
    """Whether devices of an emulator are captured, which shall show every packet by itself."""
    return any(capture.at == link.name for capture in trial.captures for link in trial.topology.links)


def _settle_s(trial: Trial, planned: Plan) -> float:
    """The pause before the first packet; with controllers, long enough for them to set up the switches."""
    least_s = STP_SETTLE_S if any(node.stp for node in trial.topology.nodes) else SETTLE_S
    asking_s = max((channel.controller.rtt_ns for channel in planned.channels), default=0) / 1e9
    return least_s + CONTROL_SETTLE_ROUND_TRIPS * asking_s


def _with_timeline(steps: Sequence[Step], trial: Trial, planned: Plan, changed: tuple[Query, ...]) -> Sequence[Step]:
    """The steps of a workload, with the timeline around the last foreground program: earlier ones only prepare. If
    programs in the background are waited for, it is the last one before, and the timeline ends with them.
    """
    if not planned.timeline and not planned.events:
        return steps
    then = tuple(remote.observe(planned, CHANGES, 0, changed))
    moments = tuple(Moment(each.at_ns, batch.steps(each.commands), then) for each in planned.timeline)
    events = tuple(_awaited(trial, planned, each) for each in planned.events)
    ends = max((n for n, step in enumerate(steps) if isinstance(step, Await) and step.names), default=len(steps) - 1)
    at = max(n for n, step in enumerate(steps[: ends + 1]) if isinstance(step, Run) and step.background is None)
    until = ends if isinstance(steps[ends], Await) else at
    timeline = Timeline(moments, registry.begin(trial.workload), events, then if events else ())
    return (*steps[:at], timeline, *steps[at : until + 1], Stop(TIMELINE), *steps[until + 1 :])


def _awaited(trial: Trial, planned: Plan, each: Event) -> Awaited:
    flow, change = event.watched(trial, planned, each.when), each.change
    return Awaited(
        *(each.link, each.place, flow.netns, flow.version, flow.port, isinstance(each.when.flow, int)),
        *(each.when.states, each.when.phases, each.when.occurrence, change.at_ns, change.for_ns),
        *(batch.steps(each.commands), batch.steps(each.ending)),
    )
