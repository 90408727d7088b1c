"""The gate: each check on made-up evidence, where it must speak and where it must not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trials import (
    as_set_up,
    kernels_own,
    make_trial,
    rose,
    seen_as,
    seen_evidence,
    seen_stage,
    told_all_the_time,
    with_seen,
)

from results import measured as of_tools
from testbed.model.link.impairment import Direction, GilbertElliott, RandomLoss, mean_loss
from testbed.model.openflow import Controller, Ovs
from testbed.model.scenario import Trial
from testbed.model.topology import Link, Node, Topology
from testbed.model.workload import FlowWorkload
from testbed.plan.link.impairment import NETEM_LIMIT, Context, settings
from testbed.plan.link.stage import Stage
from testbed.plan.network import Plan
from testbed.plan.node import control_channel
from testbed.trial import record
from testbed.trial.evidence.case import Case as Judged
from testbed.trial.evidence.interval import Counts, Happened, Interval, LossCount, Timeline, peak_rate_bps
from testbed.trial.evidence.outcome import Outcome, Sent, TcpResult
from testbed.trial.evidence.stage import Begun, Evidence, StageEvidence
from testbed.trial.gate import data_check, host_check
from testbed.trial.gate.judge import judge, verdict
from testbed.trial.gate.link import link_check, rtt_check, schedule_check, set_up_check
from testbed.trial.measured import PingResult
from testbed.trial.observe import tcp_info
from testbed.trial.observe.readback import Qdisc
from testbed.trial.observe.sample import QueueSample, TcpSample, received_series
from testbed.trial.orders.sequence import orders
from testbed.trial.result import Finding, FlowResult, MachineResult
from testbed.trial.subject.host_counter import RESENDING_COUNTERS, SUSPECT_COUNTERS

PING = {"tool": "ping", "count": 1}
FLOW = FlowResult(
    95e6,
    0,
    0.01,
    "cubic",
    port=5001,
    received_bytes=11_875_000,
    sndbuf_bytes=87040,
    rcvbuf_bytes=131072,
    snd_wnd_bytes=3_000_000,
    mss_bytes=1448,
    busy_s=1.0,
    rwnd_limited=0.0,
    sndbuf_limited=0.0,
)
INTERVAL_NS = 100_000_000
S = 10**9
START_NS = 3 * S
"""When the workload began, by the clock of all samples."""


SENT_SEGMENTS = Sent(200_000, 8620, 12_700_000, 1480)
"""What sockets say to have sent: as much as the links say to have carried, in any case."""


def fine(trial: Trial, plan: Plan) -> Evidence:
    """What is seen when everything went as it was asked."""
    rtt_s = plan.rtt_ns / 1e9
    ping = PingResult(5, 5, rtt_s, rtt_s, rtt_s, 0.0)
    count = getattr(trial.workload, "count", 5)
    own = replace(ping, sent=count, received=count)
    flows, sampled = flows_of(trial, plan), sockets(trial, plan)
    goodput_bps = sum(flow.goodput_bps or 0.0 for flow in flows) or None
    series = received_series(sampled, "tb-b", {flow.port for flow in flows}, START_NS, START_NS + S)
    told = tools(trial, own)
    if trial.workload.port_is_senders:
        told |= {TcpResult.KEY: record.write(TcpResult(tuple(series)))}
    segments = {f"{what}_segments": 8620 for what in ("sent", "arrived")} if trial.workload.tool == "flow" else {}
    sent = {"sent": SENT_SEGMENTS, "answered": Sent(200_000, 0, 0, 1448)}
    segments |= sent if segments else {}
    return seen_evidence(
        rtt_check=ping,
        data_stages=tuple(seen(stage, trial) for stage in plan.stages(is_data=True)),
        answer_stages=tuple(with_seen(seen(stage, trial), data_packets=0) for stage in plan.stages(is_data=False)),
        outcome=Outcome(START_NS, START_NS, START_NS + S, goodput_bps, None, flows, told, S, **segments),
        tcp=sampled,
        host_counters=dict.fromkeys((*SUSPECT_COUNTERS, *RESENDING_COUNTERS), 0),
        device_drops={f"tb-{port.node} {port.device}": 0 for port in plan.book.ports},
        cpu_busy=None if trial.kernel.is_virtual_time else 0.1,
        captures_dropped=0,
        network=as_set_up(trial, plan),
        control_modules=kernels_own(trial),
        background_short_ns={name: 0 for name, _ in trial.background},
        background_begun={name: Begun(START_NS - each.lead_ns, 0) for name, each in trial.background},
    )


def flows_of(trial: Trial, plan: Plan) -> tuple[FlowResult, ...]:
    """Together they get all that the path carries, but for headers; datagrams get what they offer."""
    ports, asked = trial.workload.data_ports, trial.workload.asked_flows
    first = ports.destination[0] if ports else 80
    each_bps = 0.95 * (plan.rate_bps or 10**8) / max(1, len(asked))
    if trial.workload.tool == "udp":
        each_bps = 8.0 * DATAGRAMS * DATAGRAM_BYTES
    tells = "congestion" in trial.workload.reports
    made = replace(FLOW, goodput_bps=each_bps, received_bytes=round(each_bps / 8))
    made = made if tells else replace(made, congestion=None)
    return tuple(replace(made, port=first + number) for number, _ in enumerate(asked))


def sockets(trial: Trial, plan: Plan) -> tuple[TcpSample, ...]:
    """Samples of both sockets of every flow, from before the workload until after it."""
    found = []
    for number in range(13) if trial.workload.tool in ("flow", "iperf3") else ():
        for flow in flows_of(trial, plan):
            time_ns, share = START_NS - INTERVAL_NS + number * INTERVAL_NS, min(1.0, max(0.0, (number - 1) / 10))
            got = round(share * (flow.received_bytes or 0))
            ends = (("tb-a", "10.0.0.1", 40_000 + (flow.port or 0)), ("tb-b", "10.0.0.2", flow.port or 0))
            for (netns, own, port), (_, other, to) in (ends, ends[::-1]):
                sent, came = (got, 0) if netns == "tb-a" else (0, got)
                info = told_by_socket(sent, came, share)
                ecn = tcp_info.EcnInfo("off", 0, 0)
                found.append(TcpSample(time_ns, netns, own, port, other, to, flow.congestion or "cubic", info, ecn))
    return tuple(found)


def told_by_socket(sent: int, came: int, busy_s: float) -> dict[str, int | float | None]:
    info: dict[str, int | float | None] = dict.fromkeys(tcp_info.decode(b""), 0)
    info |= {"state": 1, "rto_s": 0.2, "snd_mss_bytes": 1448, "rcv_ssthresh_bytes": 64_088, "srtt_s": 0.01}
    info |= {"snd_cwnd": 10, "reordering": 3, "pacing_rate_bps": 1e7, "min_rtt_s": 0.01, "delivered": 1}
    segments = {"segs_in": 1 + came, "segs_out": 1 + sent, "data_segs_in": came, "data_segs_out": sent}
    octets = {"bytes_acked": sent, "bytes_sent": sent, "bytes_received": came}
    return {**info, **segments, **octets, "delivered": 1 + sent, "busy_s": busy_s if sent else 0.0}


def tools(trial: Trial, ping: PingResult) -> dict[str, Any]:
    """What tools measure: the pings, datagrams, a download, and one background."""
    told = of_tools(
        {"udp": {"udp": datagrams(DATAGRAMS, delay_s=0.006)}, "http": {"http": DOWNLOADED}}.get(trial.workload.tool, {})
    )
    others = {name: about(each) for name, each in trial.background}
    return {"ping": record.write(ping), **told, **(of_tools({"background": others}) if others else {})}


DOWNLOAD = {"number": 0, "object_bytes": 11_875_000, "status": 200, "first_byte_s": 0.1, "elapsed_s": 1.0}
MEANS = {"elapsed_s_mean": 1.0, "first_byte_s_mean": 0.1, "goodput_bps_mean": 95e6}
DOWNLOADED = {
    "downloads": [{**DOWNLOAD, "goodput_bps": 95e6}],
    "objects": [{"object_bytes": 11_875_000, "downloads": 1, **MEANS}],
}


def datagrams(sent: int, late_s: float = 0.0, dropped: int = 0, delay_s: float = 0.01) -> dict[str, Any]:
    """All of them arrived, in the first second."""
    octets = sent * DATAGRAM_BYTES
    second = {"time_s": 0, "goodput_bps": 8 * octets, "sent_datagrams": sent, "arrived_datagrams": sent}
    delays = dict.fromkeys(("delay_min_s", "delay_mean_s", "delay_max_s"), delay_s)
    delays |= {"jitter_s": 0.0, "jitter_mean_s": 0.0}
    counts = {"sent_datagrams": sent, "arrived_datagrams": sent, "lost_datagrams": 0, "received_bytes": octets}
    own = {"offered_bps": 1e6, "burst_datagrams": 1, "loss": 0.0, "duplicates": 0, "receiver_drops": dropped}
    return {**counts, **own, **delays, "send_late_max_s": late_s, "series": [{**second, "lost_datagrams": 0}]}


def about(each: Any) -> dict[str, Any]:
    return {"pattern": each.pattern, "from": each.source, "to": each.destination, "received_bytes": 1000, **SENT}


SENT = {"sent_datagrams": 10, "arrived_datagrams": 10, "lost_datagrams": 0}


def seen(stage: Stage, trial: Trial) -> StageEvidence:
    asked = stage.asked
    jitter_ns = asked.jitter.netem_ns if asked.jitter else 0
    rate = {"packets": (1514, stage.limit), "bytes": (stage.limit, None)}[stage.limit_unit]
    told: dict[str, dict[str, int]] = {"1:": {}, "2:": {}}
    for setting in settings(stage, stage.start, Context(1500, real_time=not trial.kernel.is_virtual_time)):
        told.setdefault(setting.handle, {})[setting.name] = setting.asked
    qdiscs = {
        "1:": Qdisc(EMULATOR, 1, "1:", "netem", NETEM_LIMIT, asked.delay_ns, jitter_ns, more=told["1:"]),
        "2:": Qdisc(EMULATOR, 2, "2:", "tbf", rate[0], rate_bps=asked.rate_bps, more=told["2:"]),
        "3:": Qdisc(EMULATOR, 2, "3:", "pfifo", rate[1]),
    }
    drops, lost = LossCount(stage.start, 10_000, 0).expected_drops or 0, 0
    if isinstance(stage.loss, RandomLoss | GilbertElliott):
        lost = round(mean_loss(stage.loss) * 10_000)
    samples = carried(asked.rate_bps or 0)
    around = carried_in_all(12_500_000, 9_000)
    return seen_stage(
        stage, qdiscs, samples, data_packets=10_000, dropped_packets=drops, delay_drops=lost,
        delay_packets=10_000 - lost, around=around, qdiscs_after=qdiscs,
        left_packets=around[1].packets - around[0].packets, settings=told_all_the_time(qdiscs),
        delay_samples=delays_of(samples) if isinstance(stage.loss, RandomLoss) else (),
    )  # fmt: skip


def delays_of(samples: tuple[QueueSample, ...]) -> tuple[QueueSample, ...]:
    """Of a delay that nothing passed."""
    return tuple(replace(each, handle="1:", kind="netem", bytes=0, packets=0) for each in samples)


def carried(*rates_bps: float) -> tuple[QueueSample, ...]:
    """Samples of a queue that carried each rate for one interval, with intervals around them that do not count."""
    octets, found = 1000, []
    for number, rate_bps in enumerate((0, 0, *rates_bps, *(0,) * (34 - len(rates_bps)))):
        octets += round(rate_bps * INTERVAL_NS / 8e9)
        time_ns = START_NS - INTERVAL_NS + number * INTERVAL_NS
        found.append(QueueSample(time_ns, EMULATOR, 2, "2:", "tbf", octets, 10 + octets // 1514, 0, 0, 0))
    return tuple(found)


EMULATOR = "tb-path.emulator"


Change = Callable[[Evidence], Evidence]


def on_data(**changes: Any) -> Change:
    return lambda e: replace(e, data_stages=(with_seen(e.data_stages[0], **changes),))


def on_answers(**changes: Any) -> Change:
    return lambda e: replace(e, answer_stages=(with_seen(e.answer_stages[0], **changes),))


def top(**changes: Any) -> Change:
    return lambda e: seen_as(e, **changes)


def says(dropped: int, **shares: int) -> Change:
    """Its netem has these shares, and dropped as many packets as were asked."""
    return lambda e: on_data(delay_drops=dropped, delay_packets=10_000 - dropped)(more("1:", **shares)(e))


def lost(dropped: int, of: int = 10_000) -> Change:
    """At random."""
    return on_data(delay_drops=dropped, delay_packets=of - dropped)


def qdisc(handle: str, **changes: Any) -> Change:
    def change(e: Evidence) -> Evidence:
        found = e.data_stages[0].qdiscs
        found = {**found, handle: replace(found[handle], **changes)}
        return on_data(qdiscs=found, qdiscs_after=found)(e)

    return change


def later(handle: str, **changes: Any) -> Change:
    """The same of what is read back after the workload."""
    return lambda e: on_data(
        qdiscs_after={**e.data_stages[0].qdiscs, handle: replace(e.data_stages[0].qdiscs[handle], **changes)}
    )(e)


def more(handle: str, **numbers: int) -> Change:
    """Its qdisc also has these numbers."""
    return lambda e: qdisc(handle, more={**e.data_stages[0].qdiscs[handle].more, **numbers})(e)


def without(handle: str) -> Change:
    return lambda e: on_answers(qdiscs={key: each for key, each in e.answer_stages[0].qdiscs.items() if key != handle})(
        e
    )


def flow(**changes: Any) -> Change:
    """The only flow is another one, and its samples say the same about what held it back."""

    def change(e: Evidence) -> Evidence:
        flows = (replace((*e.outcome.flows, FLOW)[0], **changes),)
        sampled = tuple(replace(each, info={**each.info, **_held(flows[0], each.info)}) for each in e.tcp)
        return replace(e, outcome=replace(e.outcome, flows=flows), tcp=sampled)

    return change


def _held(one: FlowResult, info: Any) -> dict[str, float]:
    shares = {"rwnd_limited_s": one.rwnd_limited, "sndbuf_limited_s": one.sndbuf_limited}
    return {name: (share or 0.0) * info["busy_s"] for name, share in shares.items()}


def amount(octets: int) -> Change:
    """The only flow got so much."""
    return lambda e: outcome(goodput_bps=8.0 * octets)(flow(received_bytes=octets, goodput_bps=8.0 * octets)(e))


def pings(low_s: float | None, high_s: float | None) -> Change:
    if low_s is None or high_s is None:
        return top(rtt_check=PingResult(5, 0, None, None, None, None))
    return top(rtt_check=PingResult(5, 5, low_s, low_s, high_s, (high_s - low_s) / 2))


def lasting(ns: int) -> Change:
    """What is left of the workload after the ramp."""
    return lambda e: outcome(steady_ns=START_NS + S - ns, ramp_goodput_bps=e.outcome.goodput_bps)(e)


def got(goodput_bps: float) -> Change:
    """In a second; the links carried it."""
    octets = round(goodput_bps / 8)
    return lambda e: on_data(around=carried_in_all(octets + 10**6, 9_000))(amount(octets)(e))


def on_machine(busy: float | None, busiest: float | None = None) -> Change:
    return top(machines={"one": MachineResult("6.1", "one", "x86_64", 8, {}, 0, 0, 1.0, busy, busiest)})


@dataclass(frozen=True)
class Case:
    """A trial, what is different about its evidence, and the check that says so (None: no check may); `also` are other
    checks that find it invalid, because what is told of it elsewhere is then not true.
    """

    change: Change
    check: str | None
    verdict: str = "invalid"
    asked: dict[str, Any] | None = None
    kernel: str = "lab"
    workload: dict[str, Any] | None = None
    background: dict[str, Any] | None = None
    sysctls: dict[str, str] | None = None
    also: tuple[str, ...] = ()


NOISE = {"noise": {"pattern": "constant", "from": "a", "to": "b", "rate": "1 Mbit/s"}}
ONCE = {"noise": {**NOISE["noise"], "duration": "1 s"}}
UDP = {"tool": "udp", "rate": "1 Mbit/s", "duration": "1 s"}
DATAGRAMS, DATAGRAM_BYTES = 89, 1400
"""What that sends."""


def measured(**said: Any) -> Change:
    given = of_tools(said)
    return lambda e: replace(e, outcome=replace(e.outcome, measured={**e.outcome.measured, **given}))


def sample(congestion: str) -> TcpSample:
    """Of a socket of the sender."""
    return TcpSample(START_NS, "tb-a", "10.0.0.1", 80, "10.0.0.2", 40_000, congestion, tcp_info.decode(b""))


def sent(count: int, late_s: float = 0.0, dropped: int = 0) -> Change:
    told = measured(udp=datagrams(count, late_s, dropped, 0.006))
    around = carried_in_all(count * (DATAGRAM_BYTES + 42), count)
    passed = on_answers(around=carried_in_all(0, 0), samples=carried()), on_data(around=around, samples=carried())
    return lambda e: passed[0](passed[1](amount(count * DATAGRAM_BYTES)(told(e))))


def lost_between(*drops: int) -> Change:
    """A hundred packets came to the delay from each look to the next, and it lost so many of them."""

    def change(e: Evidence) -> Evidence:
        looks, lost = [], 0
        for number, each in enumerate(e.data_stages[0].delay_samples):
            lost += drops[number - 1] if 0 < number <= len(drops) else 0
            looks.append(replace(each, packets=100 * number - lost, bytes=1500 * number, drops=lost))
        return on_data(delay_samples=tuple(looks))(e)

    return change


def dropped_at(backlog_bytes: int) -> Change:
    """A packet was dropped between two looks at which nothing left, and so much waits at the later one."""

    def change(e: Evidence) -> Evidence:
        looks = list(carried())
        waits = {"backlog_bytes": backlog_bytes, "backlog_packets": 1 + backlog_bytes // 1514}
        looks[20:] = [replace(look, drops=1, **(waits if n == 0 else {})) for n, look in enumerate(looks[20:])]
        around = tuple(replace(look, drops=n) for n, look in enumerate(carried_in_all(12_500_000, 9_000)))
        return on_data(samples=tuple(looks), around=around)(e)

    return change


def slow_ping(rtt_s: float) -> Change:
    """Of the workload; those before it are as asked."""
    return measured(ping=record.write(PingResult(1, 1, rtt_s, rtt_s, rtt_s, 0.0)))


def brought(octets: int, **said: Any) -> Change:
    ends = {"pattern": "constant", "from": "a", "to": "b"}
    drawn = {f"{what}_flows": 0 for what in ("planned", "started", "finished")} | {"retransmits": 0}
    counts = {**drawn, **said} if said else SENT
    return measured(background={"noise": {**ends, "received_bytes": octets, **counts}})


def outcome(**changes: Any) -> Change:
    return lambda e: top(outcome=replace(e.outcome, **changes))(e)


def took(ns: int) -> Change:
    """It sent for at most a second, and ended so long after its start."""

    def change(e: Evidence) -> Evidence:
        busy_s = min(ns, S) / 1e9
        octets = round(FLOW.goodput_bps * busy_s / 8) if FLOW.goodput_bps else 0
        e = flow(received_bytes=octets, goodput_bps=8e9 * octets / ns, busy_s=busy_s)(e)
        series = received_series(e.tcp, "tb-b", {FLOW.port}, START_NS, START_NS + ns)
        told = {**e.outcome.measured, TcpResult.KEY: record.write(TcpResult(tuple(series)))}
        return outcome(end_ns=START_NS + ns, goodput_bps=8e9 * octets / ns, measured=told)(e)

    return change


def resent(
    again: int,
    drops: int,
    timeouts: int = 0,
    probes: int = 0,
    twice: int = 0,
    came: int = 0,
    old: int = 0,
    once_more: int = 0,
    waiting: int = 0,
) -> Change:
    counters = {"TCPTimeouts": timeouts, "TCPLossProbes": probes, "TCPDSACKRecvSegs": twice, "PAWSEstab": old}
    counters |= {"TCPDSACKOldSent": came // 4, "TCPDSACKOfoSent": came - came // 4, "TCPLostRetransmit": once_more}
    return lambda e: seen_as(
        on_data(queue_drops=drops, waiting_packets=waiting)(flow(retransmits=again)(e)),
        host_counters={**rose(e), **counters},
    )


def replies(count: int) -> Change:
    """Of five pings before the workload, beside a random loss that dropped its share."""
    ping = PingResult(5, count, 0.01, 0.01, 0.01, 0.0)
    return lambda e: seen_as(on_data(delay_drops=100, delay_packets=9900)(e), rtt_check=ping)


def carried_in_all(octets: int, packets: int) -> tuple[QueueSample, QueueSample]:
    first = QueueSample(S, EMULATOR, 2, "2:", "tbf", 1000, 10, 0, 0, 0)
    return first, replace(first, time_ns=10 * S, bytes=1000 + octets, packets=10 + packets)


PERIODIC, RANDOM = {"loss": "1 in 100"}, {"loss": {"random": "1 %"}}
CHAIN = {"loss": {"gilbert-elliott": {"p": "1 %", "r": "10 %"}}}
CHAIN_SET = {"loss": 0, "gemodel_p": 42_949_673, "gemodel_r": 429_496_730, "gemodel_h": 0, "gemodel_k1": 0}
"""What the kernel then has: 1 % and 10 % of 2^32 - 1; nothing passes in the bad state, nothing is lost in the good."""
PACKETS = {"buffer": "20 packets"}
JITTER = {"jitter": "1 ms"}
CUT = {"sd": "5 ms", "distribution": "normal"}
WINDOW = {"window": "100 kB"}
HTTP = {"tool": "http", "sizes": ["11875000 B"]}
IPERF3 = {"tool": "iperf3", "duration": "1 s", "window": "100 kB"}

CASES = {
    "ten-microseconds": Case(pings(0.01, 0.01001), None),
    "a-ping-too-slow": Case(pings(0.01, 0.01003), "rtt"),
    "a-ping-too-fast": Case(pings(0.00998, 0.01), "rtt"),
    "no-ping": Case(pings(None, None), "rtt"),
    "jittery-pings": Case(pings(0.008, 0.012), None, asked=JITTER),
    "delays-below-nothing": Case(pings(0.0, 0.03), "jitter", "suspect", asked={"jitter": CUT}),
    "few-delays-below-nothing": Case(pings(0.004, 0.012), None, asked={"jitter": {**CUT, "sd": "2 ms"}}),
    "pings-beyond-the-jitter": Case(pings(0.008, 0.03), "rtt", asked=JITTER),
    "a-busy-host": Case(pings(0.01, 0.0105), None, kernel="host"),
    "a-host-too-busy": Case(pings(0.01, 0.02), "rtt", "suspect", kernel="host"),
    "slow-line": Case(pings(0.01157, 0.01157), None, asked={"rate": "1 Mbit/s"}),
    "delay-a-tick-off": Case(qdisc("1:", delay_ns=5_000_000 - 64), None),
    "delay-two-ticks-off": Case(qdisc("1:", delay_ns=5_000_000 - 128), "set-up"),
    "delay-too-short-a-queue": Case(qdisc("1:", limit=1000), "set-up"),
    "no-delay": Case(without("1:"), "set-up"),
    "delay-changed-later": Case(later("1:", delay_ns=6_000_000), "set-up"),
    "nothing-read-back-later": Case(on_data(qdiscs_after={}), "set-up"),
    "jitter-that-nobody-asked-for": Case(qdisc("1:", jitter_ns=64), "set-up"),
    **{
        f"{name}-that-nobody-asked-for": Case(more("1:", **{name: 1}), "set-up")
        for name in (
            *("loss", "gap", "duplicate", "delay_corr", "loss_corr", "dup_corr", "prob_reorder", "corr_reorder"),
            *("prob_corrupt", "corr_corrupt", "rate", "packet_overhead", "cell_size", "cell_overhead", "ecn"),
            *("slot_min_ns", "slot_packets", "gemodel_p", "loss_states", "attribute_99"),
        )
    },
    **{
        f"{name}-of-the-rate-that-nobody-asked-for": Case(more("2:", **{name: 1}), "set-up")
        for name in ("peak_rate", "mtu", "overhead", "mpu", "cell_align")
    },
    "another-bucket": Case(more("2:", burst_ns=363_360), "set-up"),
    "order-not-kept": Case(more("1:", rate=0), "set-up", asked={"jitter": "1 ms"}),
    "no-jitter": Case(qdisc("1:", jitter_ns=0), "set-up", asked=JITTER),
    "random-loss-not-set-up": Case(says(100, loss=0), "set-up", asked=RANDOM),
    "random-loss-doubled": Case(says(100, loss=round(0.02 * 2**32)), "set-up", asked=RANDOM),
    "random-loss-a-step-off": Case(says(100, loss=round(0.01 * (2**32 - 1)) + 1), None, asked=RANDOM),
    "chain-not-set-up": Case(qdisc("1:", more={}), "set-up", asked=CHAIN),
    "another-chain": Case(says(909, **CHAIN_SET | {"gemodel_r": round(0.2 * 2**32)}), "set-up", asked=CHAIN),
    "the-chain": Case(says(909, **CHAIN_SET), None, asked=CHAIN),
    "rate-a-byte-off": Case(qdisc("2:", rate_bps=100_000_008), None),
    "another-rate": Case(qdisc("2:", rate_bps=99_000_000), "set-up"),
    "another-buffer": Case(qdisc("2:", limit=125_001), "set-up"),
    "buffer-in-packets": Case(top(), None, asked=PACKETS),
    "a-bucket-of-half-a-frame": Case(qdisc("2:", limit=757), "set-up", asked=PACKETS),
    "another-buffer-in-packets": Case(qdisc("3:", limit=21), "set-up", asked=PACKETS),
    "no-rate": Case(without("2:"), "set-up"),
    "three-times-the-rate-on-a-host": Case(on_data(samples=carried(300e6)), "rate", kernel="host"),
    "a-late-look-on-a-host": Case(on_data(samples=carried(140e6)), None, kernel="host"),
    "rate-and-two-frames": Case(on_data(samples=carried(100e6 + 2 * 1514 * 80)), None),
    "rate-and-three-frames-and-more": Case(on_data(samples=carried(50e6, 100e6 * 1.001 + 3 * 1514 * 80)), "rate"),
    "superpackets": Case(on_data(oversize_packets=1), "frame size"),
    "superpackets-back": Case(on_answers(oversize_packets=7), "frame size"),
    "one-drop-too-few": Case(on_data(dropped_packets=99), "loss", asked=PERIODIC),
    "one-drop-too-many": Case(on_data(dropped_packets=101), "loss", asked=PERIODIC),
    "drops-that-nobody-asked-for": Case(on_data(dropped_packets=1), "loss"),
    # 5 ms each way, 121 us and 5 us for a frame of 1514 bytes at 100 Mbit/s, ten of them; 10 us either way.
    "the-fastest-round-trip": Case(flow(rtt_min_s=0.00999), None),
    "faster-than-its-delay": Case(flow(rtt_min_s=0.009989), "rtt"),
    "no-slower-than-its-first-packets": Case(flow(rtt_min_s=0.0126), None),
    "slower-than-its-first-packets": Case(flow(rtt_min_s=0.0128), "rtt"),
    "losses-that-come-evenly": Case(lost_between(3, 3, 3, 3), None, asked=RANDOM),
    "losses-that-come-together": Case(lost_between(0, 0, 12, 0), "loss", asked=RANDOM),
    "drops-of-a-full-fifo": Case(dropped_at(backlog_bytes=123_000), None),
    "drops-of-a-fifo-with-room": Case(dropped_at(backlog_bytes=10_000), "queue"),
    "random-share": Case(on_data(delay_drops=100, delay_packets=9900), None, asked=RANDOM),
    # The exact bounds for 10 000 packets at 1 %: 55 and 152. For 0.2 %, none lost has a probability of 2e-9.
    "random-few": Case(lost(55), None, asked=RANDOM),
    "random-too-few": Case(lost(54), "loss", asked=RANDOM),
    "random-many": Case(lost(152), None, asked=RANDOM),
    "random-too-many": Case(lost(153), "loss", asked=RANDOM),
    "random-none": Case(lost(0), "loss", asked=RANDOM),
    "random-none-of-20-expected": Case(lost(0), "loss", asked={"loss": {"random": "0.2 %"}}),
    "random-none-of-few": Case(lost(0, of=100), "loss", "valid", asked=RANDOM),
    "chain-share": Case(on_data(delay_drops=909, delay_packets=9091), None, asked=CHAIN),
    "chain-none": Case(lost(0), "loss", asked=CHAIN),
    "chain-few": Case(lost(373), None, asked=CHAIN),
    "chain-many": Case(lost(1657), None, asked=CHAIN),
    "chain-too-many": Case(lost(2000), "loss", asked=CHAIN),
    "a-delay-that-drops": Case(on_data(delay_drops=1), "delay"),
    "no-data": Case(on_data(data_packets=0), "data"),
    "no-data-of-a-ping": Case(on_data(data_packets=0), None, workload=PING),
    "a-device-that-drops": Case(lambda e: top(device_drops={**e.device_drops, "tb-a eth0": 3})(e), "device"),
    "another-congestion-control": Case(flow(congestion="reno"), "congestion control"),
    "a-window-twice-as-asked": Case(flow(sndbuf_bytes=200_000, rcvbuf_bytes=200_000), None, workload=WINDOW),
    "a-smaller-send-buffer": Case(flow(sndbuf_bytes=100_000, rcvbuf_bytes=200_000), "window", workload=WINDOW),
    "a-smaller-receive-buffer": Case(flow(sndbuf_bytes=200_000, rcvbuf_bytes=100_000), "window", workload=WINDOW),
    "the-congestion-control-of-nginx": Case(top(tcp=(sample("cubic"),)), None, workload=HTTP),
    "another-congestion-control-of-nginx": Case(top(tcp=(sample("reno"),)), "congestion control", workload=HTTP),
    "a-window-of-iperf3": Case(flow(sndbuf_bytes=200_000, rcvbuf_bytes=200_000), None, workload=IPERF3),
    "another-window-of-iperf3": Case(
        flow(sndbuf_bytes=8 << 20, rcvbuf_bytes=8 << 20), "window", workload={**IPERF3, "window": "4 KiB"}
    ),
    "a-window-that-iperf3-does-not-tell": Case(
        flow(sndbuf_bytes=200_000, rcvbuf_bytes=None), "window", workload=IPERF3
    ),
    "a-fixed-window-instead-of-auto": Case(flow(rcvbuf_bytes=200_000), "window"),
    "another-start-of-autotuning": Case(
        flow(rcvbuf_bytes=262_144), None, sysctls={"net.ipv4.tcp_rmem": "4096 262144 1048576"}
    ),
    "the-smallest-window": Case(flow(sndbuf_bytes=4608, rcvbuf_bytes=4608), None, workload={"window": "2304 B"}),
    "the-smallest-buffer": Case(flow(sndbuf_bytes=4608, rcvbuf_bytes=2304), "window", workload={"window": "2304 B"}),
    "held-back-by-a-host": Case(flow(rwnd_limited=0.5), "window", "suspect"),
    "held-back-by-the-sender": Case(flow(sndbuf_limited=0.5), "window", "suspect"),
    "held-back-for-a-moment": Case(flow(rwnd_limited=0.01, sndbuf_limited=0.01), None),
    "pruned": Case(lambda e: top(host_counters={**rose(e), "PruneCalled": 2})(e), "memory", "suspect"),
    "sent-again-for-nothing": Case(flow(retransmits=3), "retransmissions", "suspect"),
    "sent-again-after-a-drop": Case(lambda e: on_data(queue_drops=3)(flow(retransmits=3)(e)), None),
    "a-timeout-explains-what-was-in-flight": Case(resent(again=200, drops=1, timeouts=1), None),
    "a-timeout-explains-no-more-than-that": Case(resent(again=300, drops=1, timeouts=1), "retransmissions", "suspect"),
    "ten-thousand-sent-again-beside-one-drop": Case(resent(again=10_000, drops=1), "retransmissions", "suspect"),
    "one-more-sent-again-than-dropped": Case(resent(again=3, drops=2), "retransmissions", "suspect"),
    "sent-twice-and-arrived-twice": Case(resent(again=207, drops=200, twice=7), None),
    "arrived-twice-more-often-than-dropped": Case(resent(again=5, drops=2, twice=9), "retransmissions", "suspect"),
    "arrived-twice-and-not-all-reported": Case(resent(again=207, drops=200, twice=3, came=7), None),
    "arrived-twice-less-often-than-sent": Case(
        resent(again=208, drops=200, twice=3, came=7), "retransmissions", "suspect"
    ),
    "thrown-away-as-old": Case(resent(again=283, drops=255, twice=8, came=8, old=20), None),
    "thrown-away-less-often-than-sent": Case(
        resent(again=284, drops=255, twice=8, came=8, old=20), "retransmissions", "suspect"
    ),
    "sent-once-more-and-waits": Case(resent(again=72, drops=61, came=1, once_more=11, waiting=99), None),
    "sent-once-more-than-looked-lost": Case(
        resent(again=73, drops=61, came=1, once_more=11, waiting=99), "retransmissions", "suspect"
    ),
    "sent-once-more-and-just-enough-wait": Case(resent(again=65, drops=61, came=1, once_more=11, waiting=3), None),
    "sent-once-more-than-waits": Case(
        resent(again=66, drops=61, came=1, once_more=11, waiting=3), "retransmissions", "suspect"
    ),
    "sent-once-more-and-nothing-waits": Case(resent(again=62, drops=61, once_more=11), "retransmissions", "suspect"),
    "much-waits-and-nothing-looked-lost-once-more": Case(
        resent(again=62, drops=61, waiting=99), "retransmissions", "suspect"
    ),
    "sent-once-more-and-a-segment-is-missing": Case(
        lambda e: outcome(sent_segments=8741, sent=replace(SENT_SEGMENTS, data_packets=8741))(
            resent(again=72, drops=61, came=1, once_more=11, waiting=60)(e)
        ),
        "retransmissions",
        "suspect",
    ),
    "sent-once-more-than-dropped": Case(
        resent(again=7, drops=3, once_more=9, waiting=99), "retransmissions", "suspect"
    ),
    "a-probe-of-the-tail": Case(resent(again=3, drops=2, probes=1), None),
    "without-sack-a-drop-costs-a-window": Case(resent(again=200, drops=1), None, sysctls={"net.ipv4.tcp_sack": 0}),
    "sent-again-though-jitter-keeps-the-order": Case(
        resent(again=10_000, drops=1), "retransmissions", "suspect", asked=JITTER
    ),
    "sent-again-as-packets-overtake": Case(
        resent(again=10_000, drops=1), None, asked={"jitter": {"sd": "1 ms", "reorder": True}}
    ),
    "four-of-five-pings-lost": Case(top(rtt_check=PingResult(5, 1, 0.01, 0.01, 0.01, 0.0)), "rtt"),
    "one-of-five-pings-lost": Case(top(rtt_check=PingResult(5, 4, 0.01, 0.01, 0.01, 0.0)), "rtt"),
    "one-of-five-pings-lost-on-a-host": Case(
        top(rtt_check=PingResult(5, 4, 0.01, 0.01, 0.01, 0.0)), "rtt", "suspect", kernel="host"
    ),
    "a-ping-lost-by-random-loss": Case(replies(4), None, asked=RANDOM),
    "four-pings-lost-by-random-loss": Case(replies(1), "rtt", asked=RANDOM),
    "a-flow-without-a-byte": Case(amount(0), "data"),
    "a-flow-that-starved-at-the-end": Case(flow(goodput_bps=0.0), "data", "suspect"),
    "one-of-two-flows-is-missing": Case(flow(), "data", workload={"flows": 2}, also=("evidence",)),
    "no-goodput": Case(outcome(goodput_bps=None), "evidence"),
    "a-goodput-of-nothing": Case(outcome(goodput_bps=0.0), "data", also=("evidence",)),
    "a-workload-that-was-cut-short": Case(took(900_000_000), "duration"),
    "a-workload-that-went-on": Case(took(3 * S), "duration", "suspect"),
    "counters-that-nobody-read": Case(top(host_counters={}), "memory", "suspect"),
    "devices-that-nobody-looked-at": Case(top(device_drops={}), "evidence"),
    "a-stage-that-nobody-looked-at": Case(top(data_stages=()), "evidence"),
    "a-flow-that-does-not-say-what-it-got": Case(flow(received_bytes=None), "evidence"),
    "no-retransmissions-told-of": Case(flow(retransmits=None), "evidence"),
    "captures-that-do-not-say-what-they-missed": Case(top(captures_dropped=None), "capture", "suspect"),
    "a-background-that-is-missing": Case(measured(background={}), "evidence", background=NOISE),
    "a-processor-that-nobody-looked-at": Case(top(cpu_busy=None), "evidence", kernel="host"),
    "pings-that-were-never-sent": Case(top(rtt_check=PingResult(1, 1, 0.01, 0.01, 0.01, 0.0)), "evidence"),
    "more-than-the-link-carried": Case(on_data(around=carried_in_all(11_000_000, 9_000)), "data"),
    "as-much-as-the-link-carried": Case(on_data(around=carried_in_all(12_500_000, 9_000)), None),
    "sent-again-after-reordering": Case(flow(retransmits=3), None, asked=JITTER),
    "more-than-the-path-carries": Case(got(101e6), "goodput"),
    # A full buffer of a BDP of 10 ms each way, and a frame of 121 µs.
    "a-ping-that-waits-for-others": Case(slow_ping(0.0302), None, workload=PING, background=NOISE),
    "a-ping-that-waits-too-long": Case(slow_ping(0.0304), "rtt", workload=PING, background=NOISE),
    "a-ping-that-waits-for-nobody": Case(slow_ping(0.0302), "rtt", workload=PING),
    "a-background-that-ends-early": Case(
        top(background_short_ns={"noise": 5}), "background", "suspect", background=NOISE
    ),
    "a-background-that-may-end-early": Case(
        top(background_short_ns={"noise": 5}), "background", "valid", background=ONCE
    ),
    "a-background-that-brings-something": Case(brought(1), None, background=NOISE),
    "a-background-that-brings-nothing": Case(brought(0), "background", "suspect", background=NOISE),
    "a-background-without-flows": Case(brought(0, planned_flows=0), "background", "valid", background=NOISE),
    "half-the-datagrams": Case(sent(DATAGRAMS // 2), "load", workload=UDP),
    "half-the-datagrams-on-a-host": Case(sent(DATAGRAMS // 2), "load", "suspect", kernel="host", workload=UDP),
    "twice-the-datagrams": Case(sent(2 * DATAGRAMS), "load", kernel="host", workload=UDP),
    "another-port": Case(flow(port=10_002), "load", also=("evidence", "samples")),
    "the-port": Case(flow(port=5001), None),
    "another-size": Case(amount(999_999), "load", workload={"bytes": "2 MB"}),
    "the-size": Case(amount(2_000_000), None, workload={"bytes": "2 MB"}),
    "another-count-of-pings": Case(
        measured(ping=record.write(PingResult(2, 2, 0.01, 0.01, 0.01, 0.0))), "load", workload=PING
    ),
    "datagrams-in-time": Case(sent(DATAGRAMS, late_s=0.001), None, workload=UDP),
    "datagrams-too-late": Case(sent(DATAGRAMS, late_s=0.0011), "sender", "suspect", workload=UDP),
    "datagrams-late-on-a-host": Case(sent(DATAGRAMS, late_s=0.1), None, kernel="host", workload=UDP),
    "a-busy-processor": Case(top(cpu_busy=0.95), "CPU", "suspect", kernel="host"),
    "a-processor-with-time": Case(top(cpu_busy=0.5), None, kernel="host"),
    "a-processor-just-not-too-busy": Case(top(cpu_busy=0.9), None, kernel="host"),
    "a-busy-machine": Case(on_machine(0.95), "CPU", "suspect"),
    "a-machine-with-time": Case(on_machine(0.9), None),
    "a-machine-with-one-busy-processor": Case(on_machine(0.15, 0.95), "CPU", "suspect"),
    "a-machine-with-no-busy-processor": Case(on_machine(0.15, 0.9), None),
    "a-machine-of-which-nothing-is-known": Case(on_machine(None), None),
    "datagrams-that-the-socket-lost": Case(
        sent(DATAGRAMS, dropped=1),
        "receiver",
        "suspect",
        workload=UDP,
    ),
    "ten-round-trips": Case(lasting(100_000_000), None),
    "fewer-than-ten-round-trips": Case(lasting(99_999_999), "duration", "suspect"),
    "as-much-as-the-path-carries-and-nearly-a-thousandth": Case(got(100.09e6 * 1448 / 1514), None),
    "more-than-that": Case(got(100.11e6 * 1448 / 1514), "goodput"),
    "held-back-by-the-window-that-was-set": Case(
        flow(rwnd_limited=0.5, rcvbuf_bytes=262_144),
        "window",
        "valid",
        sysctls={"net.ipv4.tcp_rmem": "4096 262144 1048576"},
    ),
    "held-back-by-the-window-that-was-set-with-slashes": Case(
        flow(sndbuf_limited=0.5), "window", "valid", sysctls={"net/ipv4/tcp_wmem": "4096 16384 1048576"}
    ),
    "held-back-by-the-other-window": Case(
        flow(rwnd_limited=0.5), "window", "suspect", sysctls={"net.ipv4.tcp_wmem": "4096 16384 1048576"}
    ),
    "held-back-for-a-tenth": Case(flow(rwnd_limited=0.1), "window", "valid"),
    "held-back-for-more-than-a-tenth": Case(flow(rwnd_limited=0.101), "window", "suspect"),
    "a-capture-with-holes": Case(top(captures_dropped=1), "capture", "suspect"),
}


def judged(case: Case) -> tuple[Finding, ...]:
    more = {"background": case.background, "sysctls": case.sysctls}
    more = {key: value for key, value in more.items() if value}
    trial = make_trial(path=case.asked, workload=case.workload, kernel=case.kernel, **more)
    plan = orders(trial).plan
    return judge(Judged(trial, plan, case.change(fine(trial, plan))))


@pytest.mark.parametrize("name", CASES)
def test_a_check_speaks_where_it_should(name: str) -> None:
    case = CASES[name]
    findings = judged(case)
    expected = {(case.check, case.verdict)} if case.check else set()
    expected |= {(check, "invalid") for check in case.also}
    if case.asked and "jitter" in case.asked:
        expected.add(("jitter", "valid"))  # in order, packets wait for one another: a remark, not a fault
    assert {(finding.check, finding.verdict) for finding in findings} == expected
    if case.check:
        assert all(finding.text and finding.hint for finding in findings)


def test_the_worst_finding_stands_first_and_is_the_verdict() -> None:
    findings = judged(Case(lambda e: top(captures_dropped=1)(pings(0.02, 0.02)(e)), None))
    assert [finding.verdict for finding in findings] == ["invalid", "suspect"]
    assert verdict(findings) == "invalid"
    assert verdict(findings[1:]) == "suspect"
    assert verdict(()) == "valid"


def test_a_finding_reads_as_a_sentence_with_its_hint() -> None:
    assert str(Finding("rtt", "invalid", "too long", "look there")) == "rtt: too long (look there)"


@given(st.integers(2, 30), st.data(), st.integers(0, 500))
def test_the_formula_of_periodic_loss_is_what_counting_gives(every: int, data: st.DataObject, packets: int) -> None:
    phase = data.draw(st.integers(0, every - 1))
    trial = make_trial(path={"loss": {"every": every, "phase": phase}})
    stage = orders(trial).plan.stages(is_data=True)[0]
    remainder = int(_when(trial)[-1])
    counted = sum(number % every == remainder for number in range(packets))
    assert LossCount(stage.start, packets, 0).expected_drops == counted


def _when(trial: Trial) -> tuple[str, ...]:
    """The condition of the drop rule as nft gets it: numgen counts from 0 and is `mod every`."""
    words = next(c.words for c in orders(trial).plan.commands if "numgen" in c.words)
    assert words[words.index("numgen") :][:4] == ("numgen", "inc", "mod", words[words.index("mod") + 1])
    return words[words.index("numgen") : words.index("==") + 2]


def test_nothing_is_expected_to_be_dropped_without_a_periodic_loss() -> None:
    for loss in ("none", {"random": "1 %"}):
        (stage,) = orders(make_trial(path={"loss": loss})).plan.stages(is_data=True)
        assert LossCount(stage.start, 1000, 0).expected_drops is None


def test_two_looks_close_together_say_nothing_about_a_rate() -> None:
    """8 frames that leave within 3 ms, as a look at the end can see them, are no excess over 30 Mbit/s."""
    every = [(n * 100_000_000, n * 375_000) for n in range(6)]
    looks = [*every, (503_000_000, 5 * 375_000 + 8 * 1514), (600_000_000, 6 * 375_000)]
    samples = [QueueSample(at_ns, "e", 2, "2:", "tbf", octets, 0, 0, 0, 0) for at_ns, octets in looks]
    assert peak_rate_bps(samples, 30_000_000, 1514) == pytest.approx(30e6)
    faster = [replace(each, bytes=each.bytes * 2) for each in samples]
    assert peak_rate_bps(faster, 30_000_000, 1514) == pytest.approx(60e6)


def queued(trial_path: dict[str, Any], goodput_bps: float, **counted: Any) -> set[str]:
    """What the gate says of a flow of 10 s over a link that slows down from 100 to 10 Mbit/s after 5 s."""
    slower = [{"at": "5 s", "rate": "10 Mbit/s"}]
    trial = make_trial(path={"schedule": slower, **trial_path}, workload={"duration": "10 s"})
    plan = orders(trial).plan
    e = fine(trial, plan)
    (stage,) = e.data_stages
    states = stage.stage.history
    held = tuple(Interval(s, s.at_ns, 10 * S, stage.qdiscs, (), Counts(1, delay_packets=1)) for s in states)
    moments = {5 * S: Happened(5 * S, 5 * S, 5 * S, 5 * S)}
    outcome = replace(e.outcome, goodput_bps=goodput_bps, steady_ns=5 * S, end_ns=10 * S, **counted)
    e = replace(
        e, data_stages=(replace(stage, intervals=held),), timeline=Timeline(0, 10 * S, moments), outcome=outcome
    )
    return {finding.check for finding in schedule_check.goodput(Judged(trial, plan, e))}


@pytest.mark.parametrize(("rtt", "verdicts"), [("40 ms", []), ("12 ms", ["valid"]), ("8 ms", ["suspect"])])
def test_jitter_is_cut_by_a_delay_that_a_schedule_leads_to(rtt: str, verdicts: list[str]) -> None:
    path = {"rtt": "40 ms", "jitter": {"sd": "2 ms", "distribution": "normal"}, "schedule": [{"at": "5 s", "rtt": rtt}]}
    trial = make_trial(path=path, workload={"duration": "10 s"})
    plan = orders(trial).plan
    e = fine(trial, plan)
    (stage,) = e.data_stages
    held = tuple(Interval(state, state.at_ns, 10 * S, stage.qdiscs, (), Counts()) for state in stage.stage.history)
    e = replace(e, data_stages=(replace(stage, intervals=held),))
    found = [each for each in link_check.no_delay(Judged(trial, plan, e)) if each.text.startswith("path forward")]
    assert [each.verdict for each in found] == verdicts
    assert all("path forward from 5 s on: " in each.text for each in found)


def test_what_waited_in_a_buffer_may_arrive_after_the_link_has_slowed_down() -> None:
    assert queued({"buffer": "1 MB"}, 11e6) == set()
    assert queued({"buffer": "1 MB"}, 12e6) == {"goodput"}
    assert queued({"buffer": "100 kB"}, 11e6) == {"goodput"}
    assert queued({"buffer": "100 kB"}, 11e6, counted_ns=4 * S) == set()  # it paused for a second
    assert queued({"buffer": "100 kB"}, 150e6, counted_ns=S // 4) == {"goodput"}  # no rate was so high


def test_runs_of_different_lengths_are_held_against_a_schedule_over_the_time_of_each() -> None:
    """One at 100 Mbit/s, and one that takes ten times as long: their mean is 55, and no link is to carry that."""
    assert queued({"buffer": "100 kB"}, 55e6, counted_bps=10e6) == set()
    assert queued({"buffer": "100 kB"}, 11e6, counted_bps=12e6) == {"goodput"}


def test_what_clients_on_several_hosts_get_is_not_held_against_one_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FlowWorkload, "is_one_path", False)
    assert queued({"buffer": "100 kB"}, 11e6) == set()


def test_on_the_wall_clock_random_loss_is_judged_over_all_intervals_together() -> None:
    """A packet that is lost between a change and the look after it counts for the state before."""
    comes = {"schedule": [{"at": "5 s", "loss": {"random": "10 %"}}]}
    for kernel, expected in (("lab", {"delay"}), ("lab-realtime", set())):
        trial = make_trial(path=comes, workload={"duration": "10 s"}, kernel=kernel)
        plan = orders(trial).plan
        e = fine(trial, plan)
        (stage,) = e.data_stages
        first, second = stage.stage.history
        held = (
            Interval(first, 0, 5 * S, stage.qdiscs, (), Counts(1000, 0, 0, 3, 997)),
            Interval(second, 5 * S, 10 * S, stage.qdiscs, (), Counts(1000, 0, 0, 97, 903)),
        )
        e = replace(e, data_stages=(replace(stage, intervals=held),))
        assert {
            finding.check for finding in link_check.random_loss(Judged(trial, plan, e), e.data_stages[0])
        } == expected


@pytest.mark.parametrize("ip", ["4", "6"])
def test_a_ping_over_ipv6_may_take_the_time_of_its_longer_frames(ip: str) -> None:
    """At 1 Mbit/s, there and back: 98 bytes take 1.568 ms, 118 bytes 1.888 ms."""
    nodes = {"a": {"type": "host"}, "b": {"type": "host"}}
    path = {"ends": ["a", "b"], "rate": "1 Mbit/s", "rtt": "10 ms"}
    trial = make_trial(topology={"name": "net", "ip": ip, "nodes": nodes, "links": {"path": path}})
    plan = orders(trial).plan
    slow = seen_as(fine(trial, plan), rtt_check=PingResult(5, 5, 0.0118, 0.0118, 0.0118, 0.0))
    found = {finding.check for finding in judge(Judged(trial, plan, slow))}
    assert ("rtt" in found) is (ip == "4")


@pytest.mark.parametrize(
    "path",
    [
        {},
        {"schedule": [{"at": "9 s", "loss": "1 in 1000"}]},
        {"loss": "1 in 1000000", "schedule": [{"at": "9 s", "loss": "none"}]},
        {"loss": {"random": "0.0001 %"}, "schedule": [{"at": "9 s", "loss": "none"}]},
    ],
)
def test_a_loss_that_changes_is_no_reason_for_retransmissions_without_a_drop(path: dict[str, Any]) -> None:
    trial = make_trial(path=path, workload={"duration": "10 s"})
    plan = orders(trial).plan
    evidence = fine(trial, plan)
    again = tuple(replace(flow, retransmits=500) for flow in evidence.outcome.flows)
    evidence = replace(
        evidence,
        data_stages=tuple(with_seen(stage, dropped_packets=0) for stage in evidence.data_stages),
        outcome=replace(evidence.outcome, flows=again),
    )
    assert [finding.verdict for finding in data_check.resent(Judged(trial, plan, evidence))] == ["suspect"]


@pytest.mark.parametrize("schedule", [None, [{"at": "1 s", "rate": "5 Mbit/s"}]])
def test_a_delay_that_nobody_asked_for_is_found(schedule: list[dict[str, str]] | None) -> None:
    path = {"rtt": "0 ms", "rate": "10 Mbit/s", "buffer": "100 packets"} | ({"schedule": schedule} if schedule else {})
    (stage, *_) = orders(make_trial(path=path)).plan.stages(is_data=True)
    tampered = {"1:": Qdisc("e", 1, "1:", "netem", NETEM_LIMIT, 50_000_000, 0)}
    for state in stage.history:
        context = Context(1500, real_time=False)
        said = "delay in ns: asked 0, the kernel has 50000000"
        assert said in set(set_up_check.differences(stage, state, tampered, context))
        assert not [what for what in set_up_check.differences(stage, state, {}, context) if "delay" in what]


def test_the_second_flow_is_judged_as_the_second() -> None:
    """A flow with a window of its own does not end the look at the flows after it."""
    trial = make_trial(workload={"flows": 2, "window": "100 kB"})
    plan = orders(trial).plan
    e = fine(trial, plan)
    good = replace(FLOW, sndbuf_bytes=200_000, rcvbuf_bytes=200_000)
    e = replace(e, outcome=replace(e.outcome, flows=(good, replace(good, sndbuf_bytes=1))))
    (found,) = host_check.window(Judged(trial, plan, e))
    assert (found.verdict, "flow 2 " in found.text) == ("invalid", True)
    e = replace(e, outcome=replace(e.outcome, flows=(FLOW, replace(FLOW, congestion="reno"))))
    (found,) = host_check.congestion(Judged(trial, plan, e))
    assert (found.verdict, "flow 2 " in found.text) == ("invalid", True)


def test_the_periodic_losses_of_a_schedule_add_up() -> None:
    """1 in 100 of 1050, then 1 in 10 of 205, then none of 300."""
    path = {"loss": "1 in 100", "schedule": [{"at": "5 s", "loss": "1 in 10"}, {"at": "8 s", "loss": "none"}]}
    trial = make_trial(path=path, workload={"duration": "10 s"})
    plan = orders(trial).plan
    (stage,) = fine(trial, plan).data_stages
    states = stage.stage.history
    phases = [state.phase for state in states]
    counts = tuple(LossCount(state, came, 0) for state, came in zip(states, (1050, 205, 300), strict=True))
    expected = (1050 + phases[0]) // 100 + (205 + phases[1]) // 10
    assert replace(stage, losses=counts).expected_drops == expected
    assert replace(stage, losses=counts[2:]).expected_drops is None
    plain = make_trial(path={"loss": "1 in 100"})
    (stage,) = fine(plain, orders(plain).plan).data_stages
    assert with_seen(stage, data_packets=1050).expected_drops == (1050 + stage.stage.phase) // 100


def test_a_ping_may_take_the_time_of_two_questions_to_a_controller_that_is_asked() -> None:
    """10 ms, and twice 3 ms to the controller and 0.5 ms for its answer, and 16 µs to send it each way."""
    for app, too_slow_s, fine_s in (("learning", 0.01704, 0.01702), ("static", 0.01004, 0.01002)):
        controller = Controller(app, forward=Direction(delay_ns=1_000_000), backward=Direction(delay_ns=2_000_000))
        nodes = (Node("a", "host"), Node("s", "ovs", ovs=Ovs()), Node("c", "controller", controller=controller))
        (channel,) = control_channel.channels(Topology("net", nodes, (Link("one", ("a", "s")),)))
        trial = make_trial(workload=PING)
        plan = replace(orders(trial).plan, controlled=(("s", channel),))
        assert not list(rtt_check.rtt(Judged(trial, plan, slow_ping(fine_s)(fine(trial, plan)))))
        assert list(rtt_check.rtt(Judged(trial, plan, slow_ping(too_slow_s)(fine(trial, plan)))))
