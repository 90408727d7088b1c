"""The workload `flow`: bulk TCP flows by our own program, which stays inside the kernel (see native/flow.c)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import tcpinfo
from ..error import UserError
from ..kernels.guest import TrialError
from ..node import node_netns
from ..plan import Plan
from ..workload import FlowWorkload
from .outcome import FlowOutcome, Outcome

OUTPUT = "flow.out"
FIRST_PORT = 5001


def steps(workload: FlowWorkload, plan: Plan) -> list[dict[str, Any]]:
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
    words += ["--address", str(address), "--port", str(FIRST_PORT)]
    words += ["--leave-out", str(leave_out_ns)] if leave_out_ns is not None else []
    words += ["--bytes", str(workload.flow_bytes)] if workload.flow_bytes is not None else []
    for congestion, window, start_ns in _flows(workload):
        stop_ns = start_ns + (workload.duration_ns or 0)
        words.append(f"{congestion}:{window or 0}:{start_ns}:{stop_ns}")
    return [{"title": "flow", "run": words, "out": OUTPUT}]


def read(workload: FlowWorkload, folder: Path) -> Outcome:
    """Parses the lines that flow.c describes."""
    begin_ns, sockets, snapshots = _parse((folder / OUTPUT).read_text())
    if begin_ns is None or len(sockets) != workload.flows:
        raise TrialError(f"{OUTPUT} does not tell of {workload.flows} flows")
    per_flow = [[s for s in snapshots if s.flow == i] for i in range(workload.flows)]
    if any(len(found) < 4 for found in per_flow):
        raise TrialError(f"{OUTPUT} is cut off")
    # Both ends at the start, perhaps at the end of the ramp, and at the stop.
    leaves_out = len(per_flow[0]) > 4
    steady_ns = per_flow[0][2].time_ns if leaves_out else begin_ns + min(s for _, _, s in _flows(workload))
    end_ns = max(found[-1].time_ns for found in per_flow)
    receivers = [[s for s in found if s.end == "receiver"] for found in per_flow]
    steady = [points[1 if leaves_out else 0] for points in receivers]
    got = [points[-1].received_bytes - first.received_bytes for points, first in zip(receivers, steady, strict=True)]
    flows = []
    for i, (_, _, start_ns) in enumerate(_flows(workload)):
        from_ns = max(steady_ns, begin_ns + start_ns)
        flows.append(_flow(sockets[i], per_flow[i], got[i], receivers[i][-1].time_ns - from_ns))
    ramp = sum(first.received_bytes for first in steady) if leaves_out else None
    return Outcome(
        begin_ns,
        steady_ns,
        end_ns,
        goodput_bps=_rate(sum(got), end_ns - steady_ns),
        ramp_goodput_bps=None if ramp is None else _rate(ramp, steady_ns - begin_ns),
        flows=tuple(flows),
    )


@dataclass(frozen=True)
class _Socket:
    """What the kernel says it set for a flow."""

    port: int
    congestion: str
    sndbuf_bytes: int
    rcvbuf_bytes: int


@dataclass(frozen=True)
class _Snapshot:
    time_ns: int
    flow: int
    end: str
    info: tcpinfo.TcpInfo

    @property
    def received_bytes(self) -> int:
        return int(self.info["bytes_received"] or 0)


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
            sockets.append(_Socket(int(words[1]), words[2], int(words[3]), int(words[4])))
        elif kind == "info":
            info = tcpinfo.decode(bytes.fromhex(words[3]))
            snapshots.append(_Snapshot(int(words[0]), int(words[1]), words[2], info))
    return begin_ns, sockets, snapshots


def _flow(socket: _Socket, snapshots: list[_Snapshot], got_bytes: int, steady_ns: int) -> FlowOutcome:
    last = next(s for s in reversed(snapshots) if s.end == "sender").info
    busy_s = last["busy_s"]
    return FlowOutcome(
        goodput_bps=_rate(got_bytes, steady_ns),
        retransmits=_whole(last["total_retrans"]),
        rtt_min_s=last["min_rtt_s"],
        congestion=socket.congestion,
        port=socket.port,
        received_bytes=next(s for s in reversed(snapshots) if s.end == "receiver").received_bytes,
        sndbuf_bytes=socket.sndbuf_bytes,
        rcvbuf_bytes=socket.rcvbuf_bytes,
        snd_wnd_bytes=_whole(last["snd_wnd_bytes"]),
        mss_bytes=_whole(last["snd_mss_bytes"]),
        busy_s=busy_s,
        rwnd_limited=_share(last["rwnd_limited_s"], busy_s),
        sndbuf_limited=_share(last["sndbuf_limited_s"], busy_s),
    )


def _rate(octets: int, ns: int) -> float:
    return octets * 8e9 / ns if ns > 0 else 0.0


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _share(part_s: float | None, whole_s: float | None) -> float | None:
    return part_s / whole_s if part_s is not None and whole_s else None
