"""The workload `ping`: ICMP echo by iputils; also how the RTT of every trial is checked before it starts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..kernels.guest import TrialError
from ..plan import Leg, Plan
from ..workload import PingWorkload
from .outcome import Outcome

OUTPUT = "ping.out"


@dataclass(frozen=True)
class PingOutcome:
    """RTTs are None if no reply came. Times in seconds, with the microseconds that ping prints."""

    sent: int
    received: int
    rtt_min_s: float | None
    rtt_mean_s: float | None
    rtt_max_s: float | None
    rtt_sd_s: float | None


def step(plan: Plan, leg: Leg, output: str, count: int, interval_ns: int, size_bytes: int = 56) -> dict[str, Any]:
    """Pings the receiver of a leg from its sender; no reply at all is a result, not an error."""
    words = [
        "ping",
        "-n",
        "-q",
        "-c",
        str(count),
        "-i",
        f"{interval_ns / 1e9:g}",
        "-s",
        str(size_bytes),
        str(leg.destination_ip),
    ]
    return {"title": "ping", "run": words, **plan.where(leg.source), "out": output, "may_fail": True}


def parse(text: str) -> PingOutcome:
    """Raises TrialError if the text is not that of a ping that ran to its end."""
    counts = re.search(r"(\d+) packets transmitted, (\d+) received", text)
    if counts is None:
        raise TrialError(f"ping did not run: {text.strip() or 'it wrote nothing'}")
    times = re.search(r"= ([\d.]+)/([\d.]+)/([\d.]+)/([\d.]+) ms", text)
    low, mean, high, sd = (float(ms) / 1000 for ms in times.groups()) if times else (None,) * 4
    return PingOutcome(int(counts[1]), int(counts[2]), low, mean, high, sd)


def steps(workload: PingWorkload, plan: Plan, seed: int) -> list[dict[str, Any]]:
    """One step."""
    assert plan.leg is not None, "BUG: a plan without a workload"
    return [step(plan, plan.leg, OUTPUT, workload.count, workload.interval_ns, workload.size_bytes)]


def read(workload: PingWorkload, folder: Path) -> Outcome:
    found = parse((folder / OUTPUT).read_text())
    return Outcome(None, None, None, None, None, (), {"ping": vars(found)})
