"""A case: all that the gate judges a trial by, in one value; and a subject: one thing that a trial looks at. Pure, no
I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar, get_args

from ...codec.frozen import dataclass
from ...model.data_path import PathHop, must_cross
from ...model.firewall import data_denied_by
from ...model.link.impairment import Way
from ...model.scenario import Trial
from ...plan.link.impairment import Context
from ...plan.network import Plan
from ...plan.step import Step
from ..result import Finding
from .bucket import Watch
from .stage import Evidence, StageEvidence

S = TypeVar("S")

When: TypeAlias = Literal[
    "settled",  # the network is up
    "before",  # the workload
    "opening",  # what records, before the observer does
    "watching",  # after it
    # here the workload runs
    "ending",
    "ended",  # the observer did
    "rules",  # after the workload: first the rules of emulators
    "after",
    "settings",
    "closing",  # what records
    "late",  # what takes long to answer
    "last",
]
"""When a subject can have steps, in order."""
WHEN: tuple[When, ...] = get_args(When)


class Slack(NamedTuple):
    """A tolerance: where time is virtual, and where it is real and a busy computer makes everything late."""

    virtual: float
    real: float


@dataclass(frozen=True)
class Case:
    """What was asked (the trial, and the plan that was made of it) and what was seen."""

    trial: Trial
    plan: Plan
    evidence: Evidence

    @property
    def virtual(self) -> bool:
        """Whether the trial ran in virtual time, where nothing is late."""
        return self.trial.kernel.is_virtual_time

    @property
    def judged(self) -> tuple[StageEvidence, ...]:
        """The stages on the path, and those beside it that anything passed."""
        return self.evidence.judged

    @property
    def start_ns(self) -> int | None:
        """When the workload began, or where its tool does not tell, its schedule; None if nothing tells."""
        timeline, begin_ns = self.evidence.timeline, self.evidence.outcome.begin_ns
        return begin_ns if begin_ns is not None or timeline is None else timeline.start_ns

    @property
    def watch(self) -> Watch:
        """How well the trial's shapers were watched."""
        return Watch(self.evidence.outcome.begin_ns, self.trial.samples_interval_ns, self.virtual)

    @property
    def denies_data(self) -> bool:
        """Whether the data may be lost as asked: a firewall denies it, or a controller is away."""
        return self.is_uncontrolled or self.is_denied("tcp", "udp") or self._stopped_by is not None

    @property
    def is_uncontrolled(self) -> bool:
        """Whether a controller on the path starts late or is killed, as asked."""
        controllers = (channel.controller for _, channel in self.plan.controlled)
        return any(each.start_ns is not None or each.stop_ns is not None for each in controllers)

    def is_denied(self, *protocols: str) -> bool:
        """Whether a rule of a controller on the path denies one of these protocols."""
        rules = (rule for _, channel in self.plan.controlled for rule in channel.controller.rules)
        return any(rule.action == "deny" and rule.protocol in (None, *protocols) for rule in rules)

    @property
    def beyond(self) -> tuple[PathHop, ...]:
        """The hops of the data path behind a router whose firewall denies the data for certain."""
        router = self._stopped_by
        if router is None:
            return ()
        ends = [hop.link.leads_to(hop.way) for hop in self.plan.path]
        return self.plan.path[ends.index(router) + 1 :]

    @property
    def _stopped_by(self) -> str | None:
        data_path = self.plan.data_path
        return None if data_path is None else data_denied_by(self.trial.topology, data_path, self.trial.workload)

    @property
    def checksum_errors(self) -> int:
        """The packets that hosts found damaged; 0 if nobody looked."""
        return self.evidence.things["host_counters"].checksum_errors or 0

    def slack(self, slack: Slack) -> float:
        return slack.virtual if self.virtual else slack.real

    def beside_bytes(self, link: str, way: Way) -> int:
        """The payload that may have come to the receiver of the data without crossing this link: all that hosts sent
        whose way to it does not; and what other links sent twice, if that counts twice.
        """
        data_path = self.plan.data_path
        assert data_path is not None, "BUG: a plan without a workload"
        ends = self.trial.topology, self.plan.book
        sent = self.evidence.outcome.elsewhere_bytes.items()
        others = sum(octets for host, octets in sent if not must_cross(*ends, host, data_path.destination, link, way))
        return others + (self._twice_bytes(link, way) if self.trial.workload.counts_twice else 0)

    def _twice_bytes(self, link: str, way: Way) -> int:
        """What links behind this one sent twice, and those beside the path; what came twice to this one, it carried."""
        data = self.evidence.data_stages
        own = [number for number, each in enumerate(data) if (each.link, each.stage.way) == (link, way)]
        behind = data[own[0] + 1 :] if own else data
        return sum(each.met("duplicate") * each.mtu_bytes for each in (*behind, *self.evidence.beside))

    def context(self, each: StageEvidence) -> Context:
        """What the settings of a stage depend on besides what was asked of it."""
        return Context(each.mtu_bytes, not self.virtual)

    def of(self, subject: Subject[S]) -> S:
        """What was seen of a subject."""
        return self.evidence.things[subject.name]  # type: ignore[no-any-return]


def _nothing(*_: Any) -> Iterator[Any]:
    return iter(())


@dataclass(frozen=True, kw_only=True)
class Subject(Generic[S]):
    """One thing that a trial looks at, and all that is to be said of it.

    `steps` ask for it at each time of WHEN; `read` reads what they left in the trial's folder (TrialError if that makes
    no sense), as a value of the type `kind`. `missing` says in words what the plan has and nothing was read of,
    `faults` what does not add up: each makes a trial invalid. `reported` is about what computers may not report, and
    `checks` compare what was asked with what was seen. `result` is what a result says, in a `field` of TrialResult
    of its own or else under `things`; None, or nothing for a trial of which it is None.
    """

    name: str
    kind: Any
    read: Callable[[Trial, Plan, Path], S]
    steps: Callable[[Trial, Plan, When], Iterator[Step]] = _nothing
    missing: Callable[[Case, S], Iterator[str]] = _nothing
    faults: Callable[[Case, S], Iterator[str]] = _nothing
    reported: Callable[[Case, S], Iterator[Finding]] = _nothing
    result: Callable[[Case, S], Any] | None = None
    field: str | None = None
    checks: tuple[Callable[[Case, S], Iterator[Finding]], ...] = ()

    def judged(self, case: Case) -> Iterator[Finding]:
        """What its checks find."""
        return (found for check in self.checks for found in check(case, case.of(self)))
