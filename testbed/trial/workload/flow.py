"""The workload `flow`: bulk TCP flows by our own program, which stays inside the kernel (see native/flow.c)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path

from ...codec.frozen import dataclass
from ...error import UserError
from ...kernel.guest import TrialError
from ...model.workload import FlowWorkload
from ...plan.network import Plan
from ...plan.node.namespace import node_netns
from ...plan.step import Run, Step
from ..evidence.case import Case
from ..evidence.outcome import Outcome, Sent
from ..observe import tcp_info
from ..result import Finding, FlowResult
from .tool import Tool, other_load

OUTPUT = "flow.out"
BEGIN = (OUTPUT, r"^start (\d+)$")
TCP_CLOSE_WAIT = 8
SEGMENTS = ("sent_segments", "arrived_segments")


def steps(workload: FlowWorkload, plan: Plan, seed: int) -> list[Step]:
    """One step. Raises UserError if the whole run would be left out."""
    address = plan.destination
    leave_out_ns = _leave_out_ns(workload, plan)
    words = [
        "/run/tools/flow",
        "--from",
        node_netns(workload.source),
        "--to",
        node_netns(workload.destination),
    ]
    words += ["--address", str(address), "--port", str(workload.data_ports.destination[0])]
    words += ["--leave-out", str(leave_out_ns)] if leave_out_ns is not None else []
    words += ["--bytes", str(workload.flow_bytes)] if workload.flow_bytes is not None else []
    words += ["--rate", str(workload.rate_bps // 8)] if workload.rate_bps is not None else []
    if workload.write_bytes is not None:
        words += ["--write", str(workload.write_bytes), "--every", str(workload.write_every_ns)]
    for congestion, window, start_ns in _flows(workload):
        stop_ns = start_ns + (workload.duration_ns or 0)
        words.append(f"{congestion}:{window or 0}:{start_ns}:{stop_ns}")
    return [Run(tuple(words), "flow", out=OUTPUT)]


def read(workload: FlowWorkload, folder: Path) -> Outcome:
    """Parses the lines that flow.c describes. Raises TrialError if they are not whole, or if a flow with `bytes` had
    them all before the ramp was over.
    """
    begin_ns, sockets, snapshots = _parse((folder / OUTPUT).read_text())
    if any(each.rate_bytes != (workload.rate_bps or 0) // 8 for each in sockets):
        raise TrialError(f"{OUTPUT} tells of sockets with other rates than {workload.rate_bps} bit/s")
    receivers = {(s.flow, s.moment): s for s in snapshots if s.end == "receiver"}
    numbers = range(workload.flows)
    if begin_ns is None or len(sockets) != workload.flows or any((i, "stop") not in receivers for i in numbers):
        raise TrialError(f"{OUTPUT} does not tell of {workload.flows} flows from start to stop")
    stops = [receivers[i, "stop"] for i in numbers]
    leaves_out = (0, "steady") in receivers
    steady = [receivers[i, "steady" if leaves_out else "start"] for i in numbers]
    if any(last.time_ns <= first.time_ns for first, last in zip(steady, stops, strict=True)):
        raise TrialError("a flow was over before the ramp that leave_out leaves out; allowed: more bytes, or less ramp")
    # Together: while all flows run, if they ever do; with `bytes`, until the last one has them all.
    together_ns = steady[0].time_ns if leaves_out else begin_ns + min(workload.start_ns)
    ends = [receivers[i, "first"] for i in numbers] if leaves_out and (0, "first") in receivers else stops
    end_ns = max(s.time_ns for s in ends)
    is_apart = workload.duration_ns is not None and len(set(workload.start_ns)) > 1
    flows, senders = [], []
    for i, (_, _, start_ns) in enumerate(_flows(workload)):
        from_ns = max(steady[i].time_ns, begin_ns + start_ns)
        senders.append(next(s.info for s in snapshots if (s.flow, s.moment, s.end) == (i, "stop", "sender")))
        alone, part = (_Got.between(steady[i : i + 1], last[i : i + 1], senders[i:]).counted for last in (stops, ends))
        flow = _flow(sockets[i], senders[i], stops[i].received_bytes, _rate(alone, stops[i].time_ns - from_ns))
        flows.append(replace(flow, part_bps=_rate(part, end_ns - together_ns)) if is_apart else flow)
    got = _Got.between(steady, ends, senders)
    ramp = sum(first.received_bytes for first in steady) if leaves_out else None
    return Outcome(
        begin_ns,
        together_ns,
        max(s.time_ns for s in stops),
        goodput_bps=_rate(got.counted, end_ns - together_ns),
        ramp_goodput_bps=None if ramp is None else _rate(ramp, together_ns - begin_ns),
        handed_over_bps=_rate(got.in_order, end_ns - together_ns)
        if leaves_out and got.counted < got.in_order
        else None,
        flows=tuple(flows),
        sent_segments=_together(senders, "data_segs_out"),
        arrived_segments=_together([each.info for each in stops], "data_segs_in"),
        sent=_sent(senders),
        answered=_sent([each.info for each in stops]),
    )


@dataclass(frozen=True)
class _Socket:
    """What the kernel says it set for a flow."""

    port: int
    congestion: str
    sndbuf_bytes: int
    rcvbuf_bytes: int
    rate_bytes: int = 0


@dataclass(frozen=True)
class _Snapshot:
    time_ns: int
    flow: int
    moment: str
    end: str
    info: tcp_info.TcpInfo

    @property
    def received_bytes(self) -> int:
        """A FIN counts as a byte once it is received, which the states after ESTABLISHED tell."""
        return int(self.info["bytes_received"] or 0) - (self.info["state"] == TCP_CLOSE_WAIT)


@dataclass(frozen=True)
class _Got:
    """The payload that receivers got from one look to a later one: what they got `in_order`, and what `arrived` in
    segments, those that came twice counted twice (None: the kernel does not tell).

    A receiver that waits for a lost segment holds those that come after it. If it waits at the first look, the later
    one finds in order what had arrived before.
    """

    in_order: int
    arrived: int | None

    @classmethod
    def between(cls, firsts: Sequence[_Snapshot], lasts: Sequence[_Snapshot], senders: list[tcp_info.TcpInfo]) -> _Got:
        in_order = arrived = 0
        known = True
        for first, last, sender in zip(firsts, lasts, senders, strict=False):
            in_order += last.received_bytes - first.received_bytes
            came = (first.info["data_segs_in"], last.info["data_segs_in"], sender["snd_mss_bytes"])
            known &= None not in came
            before, after, mss_bytes = (_whole(each) or 0 for each in came)
            arrived += (after - before) * mss_bytes
        return cls(in_order, arrived if known else None)

    @property
    def counted(self) -> int:
        """What counts for the goodput: never more than what arrived in that time."""
        return self.in_order if self.arrived is None else min(self.in_order, self.arrived)


def _flows(workload: FlowWorkload) -> Iterator[tuple[str, int | None, int]]:
    return zip(workload.congestion, workload.window_bytes, workload.start_ns, strict=True)


def _leave_out_ns(workload: FlowWorkload, plan: Plan) -> int | None:
    """Counted from the common start, where the file counts from the last flow's start."""
    ns = workload.leave_out_ns
    if workload.leave_out_rtts is not None:
        ns = workload.leave_out_rtts * plan.rtt_ns
    if ns is None:
        return None
    ns += max(workload.start_ns)
    first_stop_ns = min(workload.start_ns) + (workload.duration_ns or 0)
    if workload.duration_ns is not None and ns >= first_stop_ns:
        raise UserError(
            f"leave_out leaves nothing: the ramp of {ns / 1e9:g} s ends after the first flow at "
            f"{first_stop_ns / 1e9:g} s; allowed: a longer duration, or a shorter leave_out"
        )
    return ns


def _parse(text: str) -> tuple[int | None, list[_Socket], list[_Snapshot]]:
    begin_ns, sockets, snapshots = None, [], []
    for line in text.splitlines():
        kind, *words = line.split()
        if kind == "start":
            begin_ns = int(words[0])
        elif kind == "flow":
            sockets.append(_Socket(int(words[1]), words[2], *map(int, words[3:])))
        elif kind == "info":
            info = tcp_info.decode(bytes.fromhex(words[4]))
            snapshots.append(_Snapshot(int(words[0]), int(words[1]), words[2], words[3], info))
    return begin_ns, sockets, snapshots


def _flow(socket: _Socket, last: tcp_info.TcpInfo, received_bytes: int, goodput_bps: float) -> FlowResult:
    busy_s = last["busy_s"]
    return FlowResult(
        goodput_bps=goodput_bps,
        retransmits=_whole(last["total_retrans"]),
        rtt_min_s=last["min_rtt_s"],
        congestion=socket.congestion,
        port=socket.port,
        received_bytes=received_bytes,
        sndbuf_bytes=socket.sndbuf_bytes,
        rcvbuf_bytes=socket.rcvbuf_bytes,
        snd_wnd_bytes=_whole(last["snd_wnd_bytes"]),
        mss_bytes=_whole(last["snd_mss_bytes"]),
        busy_s=busy_s,
        rwnd_limited=_share(last["rwnd_limited_s"], busy_s),
        sndbuf_limited=_share(last["sndbuf_limited_s"], busy_s),
    )


def _together(ends: list[tcp_info.TcpInfo], name: str) -> int | None:
    """The sum of a count; None if one does not tell."""
    counts = [_whole(each[name]) for each in ends]
    return None if None in counts else sum(each or 0 for each in counts)


def _sent(ends: list[tcp_info.TcpInfo]) -> Sent | None:
    """None if an end does not tell."""
    counts = [_together(ends, name) for name in ("segs_out", "data_segs_out", "bytes_sent")]
    largest = max((_whole(each["snd_mss_bytes"]) or 0 for each in ends), default=0)
    packets, data_packets, payload = counts
    if packets is None or data_packets is None or payload is None:
        return None
    return Sent(packets, data_packets, payload, largest)


def _rate(octets: int, ns: int) -> float:
    return octets * 8e9 / ns if ns > 0 else 0.0


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _share(part_s: float | None, whole_s: float | None) -> float | None:
    return part_s / whole_s if part_s is not None and whole_s else None


RATE_TOLERANCE, UNPACED_BYTES = 0.01, 65_536
"""A share of what a rate makes of the time; TCP does not pace its first ten segments, and sends superpackets whole."""

LEAST_SHARE, ROOM_SHARE, ROUND_TRIPS = 0.9, 0.7, 10
"""A flow must deliver LEAST_SHARE of its rate if all flows together ask for at most ROOM_SHARE of the path. Data in
flight and ROUND_TRIPS of slow start are allowed for.
"""


def rates(case: Case, found: None) -> Iterator[Finding]:
    """No flow of ours brought more than its rate, or its application's writes, make of its time; nor much less, where
    the path has room for more, and nothing was lost.
    """
    workload = case.trial.workload
    if not isinstance(workload, FlowWorkload) or workload.offered_bps is None or workload.duration_ns is None:
        return
    slack = UNPACED_BYTES + (workload.write_bytes or 0)
    asked = workload.offered_bps * workload.duration_ns / 8e9
    for number, flow in enumerate(case.evidence.outcome.flows, 1):
        if (flow.received_bytes or 0) > asked * (1 + RATE_TOLERANCE) + slack:
            yield other_load(
                f"flow {number} brought {flow.received_bytes} bytes, its rate makes {asked:.0f} of its time"
            )
        elif flow.received_bytes is not None and _has_room(case):
            waits = slack + workload.offered_bps * ROUND_TRIPS * case.plan.rtts_ns[1] / 8e9
            if flow.received_bytes < asked * LEAST_SHARE - waits:
                what = f"flow {number} brought only {flow.received_bytes} bytes, its rate makes {asked:.0f} of its time"
                yield other_load(f"{what}, and nothing was lost", "suspect")


def _has_room(case: Case) -> bool:
    """Whether nothing but a flow's own rate holds it back: no loss, no window, and links that carry more, always."""
    stages = (*case.plan.stages(is_data=True), *case.plan.stages(is_data=False))
    flows, asked = case.evidence.outcome.flows, case.trial.workload.asked_flows
    offered = sum(each.rate_bps or 0 for each in asked)
    return (
        not case.trial.background
        and all(each.retransmits == 0 for each in flows)
        and not any(each.explained_drops for each in case.evidence.stages)
        and all(each.window_bytes is None for each in asked)
        and case.plan.rate_bps is not None
        and offered <= case.plan.rate_bps * ROOM_SHARE
        and not any(
            each.states or each.asked.shaper or each.asked.policer or each.asked.per_flow or each.asked.trace
            for each in stages
        )
    )


TOOL = Tool(
    FlowWorkload,
    steps=steps,
    read=read,
    begin=BEGIN,
    tells=frozenset(
        {
            *("begin_ns", "steady_ns", "end_ns", "sent", "answered", *SEGMENTS),
            *(each.name for each in fields(FlowResult) if each.name != "part_bps"),
        }
    ),
    checks=(rates,),
)
