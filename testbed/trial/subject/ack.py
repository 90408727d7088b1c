"""Every ACK that a sender took (`samples: acks`): are the records there, and do they agree with what else was seen of
the same sockets? Reads a file of the trial's folder.

The kernel writes records at another place than netlink reads, so the two are two witnesses: whenever a socket was
sampled, its window, its threshold, the bytes acknowledged, the segments delivered and sent again are those of its last
record.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from ...kernel.lab import ACKS as FILE
from ...model.scenario import Trial
from ...plan.link import fault
from ...plan.network import Plan
from ..evidence.case import Case, Subject
from ..observe import ack
from ..observe.ack import AckFlow, Acks
from ..observe.sample import TcpSample
from ..result import Finding

Ends: TypeAlias = tuple[str, int, str, int]
Flows: TypeAlias = dict[Ends, list[AckFlow]]

ESTABLISHED = 1
NEAR_NS = 10_000
"""A sample has the time just before the kernel was asked; what the socket did in between may be in it."""
SAME = (("snd_cwnd", "cwnd"), ("snd_ssthresh", "ssthresh"), ("delivered", "delivered"), ("total_retrans",) * 2)
"""What a sample calls it, and a record."""
HINT = "the records of ACKs (samples: acks) are not what the sockets did"
EMPTY = "UDP, QUIC and pings have no ACKs of TCP: leave samples: acks out"


def read(trial: Trial, plan: Plan, folder: Path) -> Acks | None:
    """None if they were not asked for. Raises TrialError for a file that is not whole."""
    return ack.read(folder / FILE) if trial.acks else None


def missing(case: Case, seen: Acks | None) -> Iterator[str]:
    if (seen is not None) != case.trial.acks:
        yield "the records of ACKs" if seen is None else "no records of ACKs, which were not asked for"


def check(case: Case, seen: Acks | None) -> Iterator[Finding]:
    if seen is None:
        return
    looks = {each.number: seen.of(each) for each in seen.flows}
    if not any((each["kind"] == ack.ACK).any() for each in looks.values()):
        yield Finding("ACKs", "invalid", "no host took an ACK of TCP, and records of them were asked for", EMPTY)
        return
    for what in _first(_disagreements(case, seen, looks)):
        yield Finding("ACKs", "invalid", what, HINT)
    yield from _left_out(case, seen)


def _first(found: Iterator[str], most: int = 3) -> Iterator[str]:
    for what, _ in zip(found, range(most), strict=False):
        yield what


def _left_out(case: Case, seen: Acks) -> Iterator[Finding]:
    if seen.left_out:
        begin_ns = case.evidence.outcome.begin_ns or 0
        what = (
            f"records end {(seen.left_out_ns - begin_ns) / 1e9:.6f} s after the workload began: there is room for "
            f"{seen.most}, and {seen.left_out} more came"
        )
        yield Finding("ACKs", "valid", what, "a shorter workload, a lower rate or fewer flows")
    if seen.flows_left_out:
        what = f"there was no room for a connection beyond the first 65534 ({seen.flows_left_out} times)"
        yield Finding("ACKs", "valid", what, "fewer flows")
    if seen.names_left_out:
        what = "a congestion control told more than eight numbers; the ninth and later ones were left out"
        yield Finding("ACKs", "valid", what, "fewer names in tcp_testbed()")


def _disagreements(case: Case, seen: Acks, looks: dict[int, Any]) -> Iterator[str]:
    flows: Flows = {}
    for each in seen.flows:
        flows.setdefault(each.ends, []).append(each)
    times = {number: each["time_ns"].tolist() for number, each in looks.items()}
    for sample in case.evidence.tcp:
        if sample.info["state"] != ESTABLISHED or (seen.left_out and sample.time_ns + NEAR_NS >= seen.left_out_ns):
            continue
        mine = flows.get((sample.source, sample.source_port, sample.destination, sample.destination_port), ())
        if not mine:
            if (sample.info["bytes_acked"] or 0) > 1 and not seen.flows_left_out:
                yield f"{_words(sample)} had bytes acknowledged, and there is no record of it"
            continue
        current = [each for each in mine if times[each.number] and times[each.number][0] <= sample.time_ns]
        if current:
            flow = current[-1]
            what = _differs(sample, looks[flow.number], times[flow.number])
            if what is not None:
                yield f"{_words(sample)} {what}"
    yield from _too_many(case, flows, looks, times)


def _words(sample: TcpSample) -> str:
    return f"{sample.source}:{sample.source_port} at {sample.time_ns} ns"


def _differs(sample: TcpSample, looks: Any, times: list[int]) -> str | None:
    """What a sample has, and no record that is as old as it."""
    first = bisect_right(times, sample.time_ns) - 1
    last = bisect_right(times, sample.time_ns + NEAR_NS)
    told = [_told(looks[: place + 1], place) for place in range(max(0, first), last)]
    asked = {name: sample.info[name] for name, _ in SAME} | {"bytes_acked": sample.info["bytes_acked"]}
    if any(each == asked for each in told):
        return None
    wrong = next((name for name, value in asked.items() if told[0][name] != value), "the state")
    return f"had {wrong} {asked.get(wrong)}, and its last record has {told[0].get(wrong)}"


def _told(looks: Any, place: int) -> dict[str, Any]:
    """What a sample right after a record would have. A segment that was sent again acknowledged nothing."""
    one = looks[place]
    found: dict[str, Any] = {name: int(one[own]) for name, own in SAME}
    if found["snd_ssthresh"] == ack.INFINITE:
        found["snd_ssthresh"] = None
    while place and looks[place]["kind"] == ack.RETRANSMIT:
        place -= 1
    if looks[place]["kind"] != ack.RETRANSMIT:
        found["bytes_acked"] = int(looks[place]["bytes"])
    return found


def _too_many(case: Case, flows: Flows, looks: dict[int, Any], times: dict[int, list[int]]) -> Iterator[str]:
    """A sender takes no more ACKs than segments that came to it, and these are no more than its receiver sent."""
    doubled = any(fault.ever(stage, "duplicate") for emulator in case.plan.emulators for stage in emulator.stages)
    acks = {
        number: [at_ns for at_ns, kind in zip(times[number], each["kind"].tolist(), strict=True) if kind == ack.ACK]
        for number, each in looks.items()
    }
    for sample in case.evidence.tcp:
        own = (sample.source, sample.source_port, sample.destination, sample.destination_port)
        asked = [(own, sample.info["segs_in"], "came to it")]
        asked += [] if doubled else [((*own[2:], *own[:2]), sample.info["segs_out"], "its receiver had sent")]
        for ends, most, what in asked:
            taken = sum(bisect_right(acks[each.number], sample.time_ns) for each in flows.get(ends, ()))
            if most is not None and taken > most:
                yield f"{ends[0]}:{ends[1]} took {taken} ACKs until {sample.time_ns} ns, and {most:.0f} segments {what}"


ACKS: Subject[Any] = Subject(name="acks", kind=Acks | None, read=read, missing=missing, checks=(check,))
