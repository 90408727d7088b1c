"""The workload `ping`: ICMP echo by iputils. Also checks the RTT of every trial."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from ...kernel.guest import TrialError
from ...model.data_path import DataPath
from ...model.workload import PingWorkload
from ...model.workload.ping import FIRST
from ...plan.network import Plan
from ...plan.step import Run, Step
from .. import record
from ..evidence.case import Case
from ..evidence.outcome import Outcome
from ..measured import PingResult
from ..result import Finding
from .tool import Tool, other_load, rises

OUTPUT = "ping.out"
PRINTED_S = 1e-6
"""What ping prints is rounded to this. Without any delay, virtual time may stand still: then it prints 0."""
DIGITS = 0.006
"""By which share an RTT may differ that ping prints with three digits, from 100 on: half a unit of the last one."""

PACE_TOLERANCE, CLOCK_S = 0.02, 0.001
"""The share by which pings may be closer or further apart than asked, and the step of the time that ping prints."""


def step(
    plan: Plan,
    data_path: DataPath,
    output: str,
    count: int,
    interval_ns: int,
    size_bytes: int = 56,
    *,
    tells_each: bool = False,
) -> Run:
    """Pings the receiver of a data path from its sender. No reply at all is a result, not an error."""
    words = _words(data_path, count, interval_ns, size_bytes, tells_each=tells_each)
    return Run(words, "ping", plan.where(data_path.source), out=output, may_fail=True)


def _words(data_path: DataPath, count: int, interval_ns: int, size_bytes: int, *, tells_each: bool) -> tuple[str, ...]:
    pace = ("-i", f"{interval_ns / 1e9:g}", "-s", str(size_bytes))
    return ("ping", "-n", *(() if tells_each else ("-q",)), "-c", str(count), *pace, str(data_path.destination_ip))


def parse(text: str) -> PingResult:
    """Raises TrialError if the text is not that of a ping that ran to its end."""
    counts = re.search(r"(\d+) packets transmitted, (\d+) received", text)
    if counts is None:
        raise TrialError(f"ping did not run: {text.strip() or 'it wrote nothing'}")
    times = re.search(r"= ([\d.]+)/([\d.]+)/([\d.]+)/([\d.]+) ms", text)
    low, mean, high, sd = (float(ms) / 1000 for ms in times.groups()) if times else (None,) * 4
    sent, rtts_s = int(counts[1]), _each(text, int(counts[1]))
    return PingResult(sent, int(counts[2]), low, mean, high, sd, rtts_s=rtts_s, interval_s=_interval_s(text, sent))


def _each(text: str, sent: int) -> tuple[float | None, ...]:
    """The RTT of each ping; empty where ping was told not to print them. Of a duplicate, the first reply counts."""
    told: dict[int, float] = {}
    for number, ms in re.findall(r"icmp_seq=(\d+) .*time=([\d.]+) ms", text):
        told.setdefault(int(number), float(ms) / 1000)
    return tuple(told.get(number) for number in range(1, sent + 1)) if told else ()


def _interval_s(text: str, sent: int) -> float | None:
    """From one ping to the next; None where ping was told not to print each. Its time ends when the last is sent."""
    took = re.search(r"packet loss, time (\d+)ms", text)
    return int(took[1]) / 1000 / (sent - 1) if took is not None and sent > 1 and "icmp_seq=" in text else None


def steps(workload: PingWorkload, plan: Plan, seed: int) -> list[Step]:
    """One step."""
    assert plan.data_path is not None, "BUG: a plan without a workload"
    if not plan.controlled or plan.data_path.source in plan.remote:
        asked = (workload.count, workload.interval_ns, workload.size_bytes)
        return [step(plan, plan.data_path, OUTPUT, *asked, tells_each=True)]
    script = _one_by_one(workload, plan.data_path)
    return [Run(("sh",), "ping", plan.where(plan.data_path.source), stdin=script)]


def read(workload: PingWorkload, folder: Path) -> Outcome:
    if (folder / OUTPUT).exists():
        _check((folder / OUTPUT).read_text(), workload.size_bytes)
    if not (folder / _first_output(1)).exists():
        return _outcome(parse((folder / OUTPUT).read_text()))
    files = [_first_output(number) for number, _ in enumerate(range(min(FIRST, workload.count)), 1)]
    first = [parse((folder / name).read_text()) for name in files]
    rest = [parse((folder / OUTPUT).read_text())] if workload.count > FIRST else []
    return _outcome(_together(first, rest))


def _check(text: str, size_bytes: int) -> None:
    """Raises TrialError for pings of another size than was asked."""
    said = re.search(r" (\d+)(?:\(\d+\) bytes of data| data bytes)", text)
    if said is not None and int(said[1]) != size_bytes:
        raise TrialError(f"ping sent {said[1]} bytes, asked were {size_bytes}")


def _outcome(found: PingResult) -> Outcome:
    return Outcome(None, None, None, None, None, (), {PingResult.KEY: record.write(found)})


def _first_output(number: int) -> str:
    return f"ping-{number}.out"


def _one_by_one(workload: PingWorkload, data_path: DataPath) -> str:
    """A process for each of the first pings, then one for the others. No ping waits for an earlier answer."""
    lines = []
    for number in range(1, min(FIRST, workload.count) + 1):
        words = shlex.join(_words(data_path, 1, workload.interval_ns, workload.size_bytes, tells_each=True))
        lines.append(f"{words} > /run/trial/{_first_output(number)} 2>&1 &\nsleep {workload.interval_ns / 1e9:.9f}\n")
    if workload.count > FIRST:
        words = shlex.join(
            _words(data_path, workload.count - FIRST, workload.interval_ns, workload.size_bytes, tells_each=True)
        )
        lines.append(f"{words} > /run/trial/{OUTPUT} 2>&1\n")
    return "".join([*lines, "wait\n", "true\n"])


def _together(first: list[PingResult], rest: list[PingResult]) -> PingResult:
    """All results as one. The standard deviation is, like ping's, computed from the mean of the squares."""
    every = [*first, *rest]
    came = [each for each in every if each.received]
    received = sum(each.received for each in came)
    sums = [(each.received, each.rtt_mean_s or 0.0, each.rtt_sd_s or 0.0) for each in came]
    mean_s = sum(n * mean for n, mean, _ in sums) / received if received else None
    square = sum(n * (mean**2 + sd**2) for n, mean, sd in sums) / received if received else 0.0
    return PingResult(
        sent=sum(each.sent for each in every),
        received=received,
        rtt_min_s=min((each.rtt_min_s for each in came if each.rtt_min_s is not None), default=None),
        rtt_mean_s=mean_s,
        rtt_max_s=max((each.rtt_max_s for each in came if each.rtt_max_s is not None), default=None),
        rtt_sd_s=None if mean_s is None else math.sqrt(max(0.0, square - mean_s**2)),
        first_rtts_s=tuple(each.rtt_min_s for each in first),
        rtts_s=tuple(rtt for each in every for rtt in each.rtts_s or (None,) * each.sent),
        interval_s=rest[0].interval_s if rest else None,
    )


def faults(case: Case, ping: PingResult) -> Iterator[str]:
    return round_trip_faults(ping, shortest_ns(case, case.plan.rtts_ns[0]))


def shortest_ns(case: Case, rtt_ns: int) -> float:
    """The shortest round trip that jitter makes of one."""
    jitters = (each.stage.asked.jitter for each in case.evidence.stages)
    return max(0.0, rtt_ns - sum(each.below_ns for each in jitters if each is not None))


def round_trip_faults(each: PingResult, rtt_ns: float) -> Iterator[str]:
    """What does not add up in the times of pings on a path that takes so long at least."""
    times = (each.rtt_min_s, each.rtt_mean_s, each.rtt_max_s)
    known = [time_s for time_s in times if time_s is not None]
    if each.received > each.sent or (each.received > 0) != (len(known) == 3 and each.rtt_sd_s is not None):
        yield f"{each.received} of {each.sent} pings got a reply, with RTTs of {times} s"
    elif not rises(known, or_stays=True) or (known and rtt_ns / 1e9 >= PRINTED_S and not known[0]):
        yield f"RTTs of {times} s"
    elif each.rtts_s and not _adds_up(each):
        yield f"{each.received} replies with RTTs of {times} s, and single ones that are others"
    elif known and not each.rtt_sd_s and known[2] - known[0] > PRINTED_S * (1 + math.sqrt(2 * each.received)):
        # The standard deviation is at least the range over sqrt(2n).
        yield f"RTTs of {times} s with a standard deviation of {each.rtt_sd_s} s"


def _adds_up(each: PingResult) -> bool:
    """Whether there is an RTT of each reply, and the least and the largest are those of all."""
    came = [rtt for rtt in each.rtts_s if rtt is not None]
    if len(each.rtts_s) != each.sent or len(came) != each.received or each.rtt_min_s is None or each.rtt_max_s is None:
        return len(each.rtts_s) == each.sent and not came and not each.received
    ends = ((min(came), each.rtt_min_s), (max(came), each.rtt_max_s))
    return all(abs(one - other) <= other * DIGITS + 2 * PRINTED_S for one, other in ends)


def pings(case: Case, ping: PingResult) -> Iterator[Finding]:
    asked = case.trial.workload.load[0].packets
    if asked is not None and 2 * ping.sent != asked:
        yield other_load(f"{ping.sent} pings were sent, asked were {asked // 2}")


def pace(case: Case, ping: PingResult) -> Iterator[Finding]:
    """Notes pings that were not as far apart as asked: each RTT is right, and when it was measured is not."""
    workload = case.trial.workload
    if not isinstance(workload, PingWorkload) or ping.interval_s is None:
        return
    asked_s, steps = workload.interval_ns / 1e9, ping.sent - len(ping.first_rtts_s or ()) - 1
    if abs(ping.interval_s - asked_s) > asked_s * PACE_TOLERANCE + CLOCK_S / steps:
        what = f"the pings were {ping.interval_s * 1e3:.4g} ms apart, asked were {asked_s * 1e3:g} ms"
        hint = "ping waits longer while a reply is on its way: take an interval of more than the round trip"
        yield Finding("load", "valid", what, hint)


TOOL = Tool(PingWorkload, steps=steps, read=read, begin=None, result=PingResult, faults=faults, checks=(pings, pace))
