"""A trial's result, as it is stored and printed. Pure, no I/O.

Base units: s, bit/s, bytes, packets, fractions. Absent is None. Everything but `wall_s` is the same when the same trial
runs again in virtual time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from .evidence import Evidence, StageEvidence
from .finding import Finding, Verdict, verdict
from .kernels.guest import Ending
from .networkcheck import expected_drops
from .plan import Plan
from .scenario import Trial

SCHEMA = 1


@dataclass(frozen=True)
class TrialResult:
    """What `testbed results` prints of one trial. `data` has the fields; wall_s is beside it, for it never repeats."""

    data: Mapping[str, Any]
    wall_s: float

    @property
    def id(self) -> str:
        return str(self.data["id"])

    @property
    def verdict(self) -> Verdict:
        return self.data["verdict"]  # type: ignore[no-any-return]

    def to_dict(self) -> dict[str, Any]:
        return {**self.data, "wall_s": self.wall_s}


def result(trial: Trial, plan: Plan, evidence: Evidence, findings: tuple[Finding, ...], ending: Ending) -> TrialResult:
    outcome = evidence.outcome
    lossy = [each for each in evidence.there if each.stage.loss is not None] or list(evidence.there[:1])
    drops = [expected_drops(each.stage, each.data_packets) for each in lossy]
    begin, end = outcome.begin_ns, outcome.end_ns
    data = {
        "schema": SCHEMA,
        "id": trial.id,
        "params": dict(trial.params),
        "seed": trial.seed,
        "repetition": trial.repetition,
        "verdict": verdict(findings),
        "warnings": [str(finding) for finding in findings],
        "findings": [asdict(finding) for finding in findings],
        "goodput_bps": outcome.goodput_bps,
        "ramp_goodput_bps": outcome.ramp_goodput_bps,
        "flows": [asdict(flow) for flow in outcome.flows],
        "asked": {
            "rtt_s": plan.rtt_ns / 1e9,
            "rate_bps": plan.rate_bps,
            "data_packets": None,
            "dropped_packets": sum(n for n in drops if n is not None) if any(n is not None for n in drops) else None,
            "queue_drops": None,
        },
        "seen": {
            "rtt_s": evidence.rtt_check.rtt_min_s,
            "rtt_max_s": evidence.rtt_check.rtt_max_s,
            "rate_bps": _seen_rate(plan, evidence),
            "data_packets": lossy[0].data_packets if lossy else None,
            "dropped_packets": sum(each.dropped_packets for each in lossy) if lossy else None,
            "random_drops": sum(each.delay_drops for each in evidence.there),
            "queue_drops": sum(each.queue_drops for each in (*evidence.there, *evidence.back)),
        },
        "stages": [_stage(each) for each in (*evidence.there, *evidence.back)],
        "measured": outcome.measured,
        "workload_s": (end - begin) / 1e9 if begin is not None and end is not None else None,
        "steady_s": (outcome.steady_ns - begin) / 1e9 if outcome.steady_ns and begin else None,
        "nic": dict(plan.nics),
        "pacing": "TCP's own (no fq on the hosts)",
        "kernel": trial.kernel.place,
        "kernel_release": ending.release,
        "lab_s": ending.end_ns / 1e9 if trial.kernel.is_virtual_time else ending.wall_s,
    }
    return TrialResult(data, ending.wall_s)


def _seen_rate(plan: Plan, evidence: Evidence) -> float | None:
    """The highest rate that the path's slowest emulator carried over one sample interval."""
    slowest = [each for each in evidence.there if each.stage.asked.rate_bps == plan.rate_bps]
    return slowest[0].peak_rate_bps if slowest else None


def _stage(each: StageEvidence) -> dict[str, Any]:
    return {
        "link": each.link,
        "way": each.stage.way,
        "asked_rate_bps": each.stage.asked.rate_bps,
        "asked_delay_s": each.stage.asked.delay_ns / 1e9,
        "buffer": each.stage.limit,
        "buffer_unit": each.stage.limit_unit if each.stage.limit is not None else None,
        "loss_phase": each.stage.phase,
        "data_packets": each.data_packets,
        "dropped_packets": each.dropped_packets,
        "expected_drops": expected_drops(each.stage, each.data_packets),
        "queue_drops": each.queue_drops,
        "random_drops": each.delay_drops,
        "oversize_packets": each.oversize_packets,
        "peak_rate_bps": each.peak_rate_bps,
        "max_backlog_packets": max((sample.backlog_packets for sample in each.samples), default=None),
    }
