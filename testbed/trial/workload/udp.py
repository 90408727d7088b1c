"""The workload `udp`: datagrams at a constant rate by our own program (see native/udp.c)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

from ...error import UserError
from ...kernel.guest import TrialError
from ...model.data_path import DataPath
from ...model.workload import UdpWorkload
from ...plan.network import Plan
from ...plan.node.namespace import node_netns
from ...plan.step import Run, Step
from .. import record
from ..measured import UdpResult, UdpSecond
from ..stored_result import FlowResult
from .outcome import Outcome
from .tool import Tool

OUTPUT = "udp.out"
GROUPS_MAX = 10_000
"""The most groups of datagrams in a second. Each costs the sender two system calls, which take most of the wall time in
virtual time. A faster flow sends several datagrams at once, as a NIC with segmentation does."""

LINGER_NS = 1_000_000_000
"""The receiver goes on for a round trip and this much after the last datagram that arrived."""

HEADERS_BYTES = {4: 28, 6: 48}
"""The headers of IP and UDP together, by the version of IP."""


def burst(rate_bps: int, length_bytes: int) -> int:
    """Datagrams in a group: as few as keep the groups in a second to GROUPS_MAX."""
    return max(1, -(-rate_bps // (8 * length_bytes * GROUPS_MAX)))


def words(
    data_path: DataPath, *, port: int, rate_bps: int, length_bytes: int, duration_ns: int, flows: int, burst: int
) -> list[str]:
    """The program and its options. Raises UserError for datagrams that would be cut into fragments."""
    most = data_path.mtu_bytes - HEADERS_BYTES[data_path.destination_ip.version]
    if length_bytes > most:
        raise UserError(
            f"datagrams of {length_bytes} bytes do not fit into the MTU of {data_path.mtu_bytes} between "
            f"{data_path.source} and {data_path.destination}, and fragments would be counted and lost one by one; "
            f"allowed: up to {most} bytes"
        )
    return [
        "/run/tools/udp",
        *("--from", node_netns(data_path.source), "--to", node_netns(data_path.destination)),
        *("--address", str(data_path.destination_ip), "--port", str(port), "--length", str(length_bytes)),
        *("--rate", str(rate_bps), "--duration", str(duration_ns), "--linger", str(data_path.rtt_ns + LINGER_NS)),
        *("--flows", str(flows), "--burst", str(burst)),
    ]


def steps(workload: UdpWorkload, plan: Plan, seed: int) -> list[Step]:
    """One step."""
    assert plan.data_path is not None, "BUG: a plan without a workload"
    run = words(
        plan.data_path,
        port=workload.data_ports.destination[0],
        rate_bps=workload.rate_bps,
        length_bytes=workload.length_bytes,
        duration_ns=workload.duration_ns,
        flows=workload.flows,
        burst=_burst(workload),
    )
    return [Run(tuple(run), "udp", out=OUTPUT)]


@dataclass(frozen=True)
class UdpFlow:
    """What udp.c reports on a flow. `first_ns` and `last_ns` are the times of arrivals, counted from the start."""

    port: int
    sent: int
    arrived: int
    twice: int
    overtaken: int
    overflowed: int
    jitter_ns: float
    jitters_ns: float
    delay_min_ns: int
    delays_ns: float
    delay_max_ns: int
    first_ns: int
    last_ns: int
    late_ns: int


@dataclass(frozen=True)
class UdpOutput:
    """All that udp.c reports. `seconds` maps each second to what was sent, lost of that, and arrived in it."""

    begin_ns: int
    end_ns: int
    flows: tuple[UdpFlow, ...]
    seconds: dict[int, tuple[int, int, int]]
    length_bytes: int

    def goodput_bps(self, flow: UdpFlow, rate_bps: int) -> float:
        """Over the time of sending or of receiving, whichever is longer: a queue goes on after the sender, and a path
        may stop before it. What is sent takes its time at `rate_bps`, the last group too. The first datagram opens the
        time of receiving, and does not count in it.
        """
        sending_s = max((self.end_ns - self.begin_ns) / 1e9, flow.sent * self.length_bytes * 8 / rate_bps)
        receiving_s = (flow.last_ns - flow.first_ns) / 1e9
        if receiving_s >= sending_s:
            return (flow.arrived - 1) * self.length_bytes * 8 / receiving_s if receiving_s else 0.0
        return flow.arrived * self.length_bytes * 8 / sending_s

    @property
    def sent(self) -> int:
        return sum(each.sent for each in self.flows)

    @property
    def arrived(self) -> int:
        return sum(each.arrived for each in self.flows)

    def result(self, rate_bps: int, burst: int) -> UdpResult:
        """All flows together, each of which sends at `rate_bps` in groups of `burst` datagrams."""
        flows, sent, arrived = self.flows, self.sent, self.arrived
        heard = [each for each in flows if each.arrived]
        steps = sum(each.arrived - 1 for each in heard)
        return UdpResult(
            offered_bps=rate_bps * len(flows),
            burst_datagrams=burst,
            sent_datagrams=sent,
            arrived_datagrams=arrived,
            lost_datagrams=sent - arrived,
            loss=(sent - arrived) / sent if sent else None,
            duplicates=sum(each.twice for each in flows),
            out_of_order_datagrams=sum(each.overtaken for each in flows),
            receiver_drops=sum(each.overflowed for each in flows),
            jitter_s=sum(each.jitter_ns for each in heard) / len(heard) / 1e9 if heard else None,
            jitter_mean_s=sum(each.jitters_ns for each in heard) / steps / 1e9 if steps else None,
            delay_min_s=min(each.delay_min_ns for each in heard) / 1e9 if heard else None,
            delay_mean_s=sum(each.delays_ns for each in heard) / arrived / 1e9 if heard else None,
            delay_max_s=max(each.delay_max_ns for each in heard) / 1e9 if heard else None,
            received_bytes=arrived * self.length_bytes,
            send_late_max_s=max(each.late_ns for each in flows) / 1e9,
            series=tuple(self._series()),
        )

    def _series(self) -> Iterator[UdpSecond]:
        for second, (sent, lost, arrived) in sorted(self.seconds.items()):
            yield UdpSecond(second, arrived * self.length_bytes * 8, sent, lost, arrived)


def parse(text: str, length_bytes: int) -> UdpOutput:
    """Raises TrialError if the text is not whole."""
    times: dict[str, int] = {}
    flows: list[UdpFlow] = []
    seconds: dict[int, tuple[int, int, int]] = {}
    for line in text.splitlines():
        kind, *found = line.split()
        if kind in ("start", "end"):
            times[kind] = int(found[0])
        elif kind == "flow":
            flows.append(_flow(found[1:]))
        elif kind == "second":
            before = seconds.get(int(found[1]), (0, 0, 0))
            sent, lost, arrived = (old + int(new) for old, new in zip(before, found[2:], strict=True))
            seconds[int(found[1])] = (sent, lost, arrived)
    if "end" not in times or not flows:
        raise TrialError(f"udp did not run to its end: it wrote {text.strip()[:200] or 'nothing'!r}")
    return UdpOutput(times["start"], times["end"], tuple(flows), seconds, length_bytes)


def read(workload: UdpWorkload, folder: Path) -> Outcome:
    """Parses the lines that udp.c describes."""
    written = parse((folder / OUTPUT).read_text(), workload.length_bytes)
    if len(written.flows) != workload.flows:
        raise TrialError(f"{OUTPUT} tells of {len(written.flows)} flows, asked were {workload.flows}")
    flows = tuple(
        FlowResult(
            goodput_bps=written.goodput_bps(each, workload.rate_bps),
            retransmits=None,
            rtt_min_s=None,
            congestion=None,
            port=each.port,
            received_bytes=each.arrived * workload.length_bytes,
        )
        for each in written.flows
    )
    goodput_bps = sum(flow.goodput_bps or 0.0 for flow in flows)
    measured = {UdpResult.KEY: record.write(written.result(workload.rate_bps, _burst(workload)))}
    return Outcome(written.begin_ns, None, written.end_ns, goodput_bps, None, flows, measured)


def _burst(workload: UdpWorkload) -> int:
    return workload.burst or burst(workload.rate_bps, workload.length_bytes)


def _flow(found: list[str]) -> UdpFlow:
    kinds = (field.type for field in fields(UdpFlow))
    if len(found) != len(fields(UdpFlow)):
        raise TrialError(f"udp wrote a flow with {len(found)} numbers")
    return UdpFlow(*(float(word) if kind == "float" else int(word) for kind, word in zip(kinds, found, strict=True)))  # type: ignore[arg-type]


TOOL = Tool(
    UdpWorkload,
    steps=steps,
    read=read,
    begin=None,
    tells=frozenset({"begin_ns", "end_ns", "goodput_bps", "port", "received_bytes"}),
    measures=frozenset({UdpResult.KEY}),
)
