"""Pings along the data path of every trial: before the workload, or with controllers after it. Were all of them sent,
and do their times fit together? How long they took, `gate.link.rtt_check` judges. Reads files of a trial's folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...codec.frozen import dataclass
from ...model.scenario import Trial
from ...plan.network import Plan
from ...plan.step import Step
from ..evidence.case import Case, Subject, When
from ..measured import PingResult
from ..workload import ping

RTT_CHECK, UPSTREAM_CHECK = "rtt-check.out", "rtt-check-upstream.out"
RTT_CHECK_COUNT, RTT_CHECK_INTERVAL_NS = 5, 200_000_000
WARM_UP_COUNT, WARM_UP_INTERVAL_NS = 3, 1_000_000_000


@dataclass(frozen=True)
class RoundTrips:
    """From the host that sends to the receiver, and `upstream` from the origin to a cache; None without one."""

    data: PingResult
    upstream: PingResult | None = None


def steps(trial: Trial, plan: Plan, when: When) -> Iterator[Step]:
    """With controllers, the workload's first packets make the switches ask them. The warm-up pings, whose results are
    ignored, ask what the later pings would have to.
    """
    if when != ("late" if plan.controlled else "settled"):
        return
    for each in filter(None, (plan.data_path, plan.upstream) if plan.controlled else ()):
        yield ping.step(plan, each, f"rtt-warm-up-{each.source}.out", WARM_UP_COUNT, WARM_UP_INTERVAL_NS)
    for data_path, file in ((plan.data_path, RTT_CHECK), (plan.upstream, UPSTREAM_CHECK)):
        if data_path is not None:
            yield ping.step(plan, data_path, file, RTT_CHECK_COUNT, RTT_CHECK_INTERVAL_NS)


def read(trial: Trial, plan: Plan, folder: Path) -> RoundTrips:
    upstream = folder / UPSTREAM_CHECK
    return RoundTrips(
        ping.parse((folder / RTT_CHECK).read_text()), ping.parse(upstream.read_text()) if upstream.exists() else None
    )


def missing(case: Case, seen: RoundTrips) -> Iterator[str]:
    if seen.data.sent < RTT_CHECK_COUNT:
        yield f"pings: {seen.data.sent} of {RTT_CHECK_COUNT} were sent"
    if case.plan.upstream is not None and (seen.upstream is None or seen.upstream.sent < RTT_CHECK_COUNT):
        yield "the pings from the origin to the cache"


def faults(case: Case, seen: RoundTrips) -> Iterator[str]:
    yield from ping.round_trip_faults(seen.data, ping.shortest_ns(case, case.plan.rtts_ns[0]))
    if seen.upstream is not None:
        upstream_ns = case.plan.upstream.rtt_ns if case.plan.upstream else 0
        yield from ping.round_trip_faults(seen.upstream, ping.shortest_ns(case, upstream_ns))


ROUND_TRIPS = Subject(name="round_trips", kind=RoundTrips, read=read, steps=steps, missing=missing, faults=faults)
