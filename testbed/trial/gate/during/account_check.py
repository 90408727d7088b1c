"""Checks of the gate: the account. Every socket that was seen, and every byte that a link carried, was asked for. Pure,
no I/O.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import islice

from ....model.background import Constant, HeavyTailed, OnOff
from ....model.link.impairment import Way
from ....model.scenario import Trial
from ....model.workload import UdpWorkload
from ....plan.link.impairment import burst_bytes
from ....plan.link.stage import ETHERNET_BYTES, RATE
from ....plan.node.namespace import node_netns
from ... import measured
from ...evidence.case import Case, Slack
from ...evidence.stage import StageEvidence
from ...observe.sample import TcpSample
from ...orders.remark import ECN_SYSCTL
from ...result import Finding
from ...subject.observer import is_observed
from ...workload import background, udp
from ...workload.background import FIRST_PORT
from ...workload.registry import tool_of
from ...workload.udp import UdpResult

TIMED_BYTES, LONGEST_BYTES = 32, 60
"""The header of a data segment with time stamps; the longest of TCP, which acknowledgements have after losses."""
ENDS_BYTES = 1500
"""What the handshakes and the ends of a flow may have beyond their counters, which are read when it stops: a reset at
each end, and the answers to what was still on its way count with it."""
RESET_BYTES, SMALL_BYTES = {4: 40, 6: 60}, 700
"""A reset, by the version of IP; a frame of data that is half as large as is usual."""
SLACK_SHARE = Slack(0.0, 0.02)
REAL_LATE_S = 0.05
"""In real time counters are read at different moments; no more than this."""
LATE_NS = Slack(50_000_000, 1_000_000_000)
"""How long after its time a background may begin. In virtual time the programs of both start in less than half of it,
which was seen; a computer that is busy needs longer."""
FLOW_LATE_NS = Slack(5_000_000, 1_000_000_000)
"""The same of one of its flows, whose thread waits until the one processor of a lab kernel is free: of 91 062 flows
beside others at 10 Gbit/s the latest began 1.12 ms late, the next 0.62 ms."""
ALONE_BYTES = 65_536
"""What tools may exchange before their data: handshakes of control connections, requests whether a server is ready."""
NO_COPIES = frozenset({"down", "ack_loss", "corrupt", "reorder", "aggregate"})
"""The impairments without a field of their own that make no packets; of one from outside nobody knows."""
HINT = "somebody else uses the network"


def sockets(case: Case) -> Iterator[Finding]:
    """Every connection of a host of the workload is one of the workload or of a background."""
    asked = _ports(case)
    if asked is None:
        return
    hosts = {node_netns(node) for node in case.trial.workload.hosts if is_observed(case.plan, node)}
    found = {_connection(each): each for each in case.evidence.tcp if each.netns in hosts and each.destination_port}
    for each in found.values():
        if not any(low <= port <= high for low, high in asked for port in (each.source_port, each.destination_port)):
            where = f"{each.source} port {each.source_port} to {each.destination} port {each.destination_port}"
            what = f"{each.netns} had a connection from {where}, which was not asked for"
            yield Finding("account", "invalid", what, HINT)
            return
    yield from _too_many(case, found)


def _connection(each: TcpSample) -> tuple[str, str, int, str, int]:
    return each.netns, each.source, each.source_port, each.destination, each.destination_port


def _ports(case: Case) -> tuple[tuple[int, int], ...] | None:
    """The ports that connections may have; None where programs open sockets as they like."""
    workload = case.trial.workload
    if tool_of(workload).runs_programs or (workload.sends_data and workload.data_ports is None):
        return None
    last = FIRST_PORT + len(case.trial.background) - 1
    own = [] if workload.data_ports is None else [workload.data_ports.destination]
    control = [] if workload.control is None else [(workload.control.port, workload.control.port)]
    return (*own, *control, *((FIRST_PORT, last) for _ in case.trial.background[:1]))


def _too_many(case: Case, found: Mapping[tuple[str, str, int, str, int], TcpSample]) -> Iterator[Finding]:
    """Flows with ports of their own have a connection each."""
    if not case.trial.workload.port_is_senders:
        return
    netns = node_netns(case.trial.workload.source)
    ports = [key[4] for key in found if key[0] == netns]
    for number, flow in enumerate(case.evidence.outcome.flows, 1):
        if ports.count(flow.port or 0) > 1:
            what = f"{ports.count(flow.port or 0)} connections went to the port of flow {number}"
            yield Finding("account", "invalid", what, HINT)
            return


def others(case: Case) -> Iterator[Finding]:
    """Each background began in time, from its own host, with its congestion control."""
    begin_ns = case.evidence.outcome.begin_ns
    for number, (name, each) in enumerate(case.trial.background):
        begun = case.evidence.background_begun.get(name)
        if begun is None:
            yield _other(f"it is not known when {name} began")
            continue
        late_ns = 0 if begin_ns is None else begun.at_ns + each.lead_ns - begin_ns
        if late_ns > case.slack(LATE_NS):
            yield _other(f"{name} began {late_ns / 1e9:.3g} s too late")
        if begun.late_ns > case.slack(FLOW_LATE_NS):
            yield _other(f"a flow of {name} began {begun.late_ns / 1e9:.3g} s too late")
        ends = node_netns(each.source), node_netns(each.destination)
        mine = [one for one in case.evidence.tcp if FIRST_PORT + number in (one.source_port, one.destination_port)]
        if not isinstance(each, Constant):
            wrong = (what for one in mine if (what := _wrong(name, each, ends, one, FIRST_PORT + number)) is not None)
            yield from (_other(what) for what in islice(wrong, 1))


def _wrong(name: str, asked: OnOff | HeavyTailed, ends: tuple[str, str], one: TcpSample, port: int) -> str | None:
    """What is wrong with a socket at a port of a background, whose hosts are `ends`."""
    is_sender = one.destination_port == port
    if one.destination_port and one.netns != ends[0 if is_sender else 1]:
        return f"{name} was to send from {asked.source} to {asked.destination}, and did not"
    if is_sender and one.congestion != asked.congestion:
        return f"{name} was asked to use {asked.congestion} and used {one.congestion}"
    return None


def _other(what: str) -> Finding:
    return Finding("background", "invalid", what, "its program was given other options than the plan says")


def others_passed(case: Case) -> Iterator[Finding]:
    """What a background delivered has passed each link of its path."""
    carried = background.backgrounds(case.evidence.outcome.measured)
    stages = {(each.link, each.stage.way): each for each in (*case.evidence.stages, *case.evidence.beside)}
    brought: dict[tuple[str, Way], int] = {}
    for (name, _), path in zip(case.trial.background, case.plan.background, strict=False):
        for place in ((hop.link.name, hop.way) for hop in path.path):
            brought[place] = brought.get(place, 0) + (carried[name].received_bytes if name in carried else 0)
    for place, octets in brought.items():
        each = stages.get(place)
        if each is None or each.around is None or each.around[0].handle != RATE:
            continue
        passed = each.around[1].bytes - each.around[0].bytes
        if octets > passed * (1 + case.slack(SLACK_SHARE)) + _real_bytes(case, each):
            what = f"background traffic delivered {octets} bytes, but {each.where} carried {passed}"
            yield _other(what)


def carried(case: Case) -> Iterator[Finding]:
    """A link carried no more than what the sockets of the workload and constant backgrounds sent, without what still
    waits. What was dropped is not taken off: a sender may send it again after its counters were read. A delay that
    holds something at the end is not known to hold it: so much more, and what copies and the hosts of a controlled
    network say, is allowed.
    """
    for is_data in (True, False):
        sent = _sent_bytes(case, is_data=is_data)
        if sent is None:
            continue
        for each in case.evidence.data_stages if is_data else case.evidence.answer_stages:
            if each.around is None or each.around[0].handle != RATE or _adds(each):
                continue
            most = sent * (1 + case.slack(SLACK_SHARE)) + _real_bytes(case, each)
            most += _resets_bytes(case, each) if is_data else 0
            passed = each.around[1].bytes - each.around[0].bytes
            waits = each.around[1].backlog_bytes if is_data and each.stage.queue is None else 0
            if passed + waits > most:
                what = f"{each.where} carried {passed} bytes, and all that was asked for sent {most:.0f} at most"
                yield Finding("account", "invalid", what, HINT)


def _resets_bytes(case: Case, each: StageEvidence) -> int:
    """What a host sends after its flows stopped, and their counters were read: a reset for each acknowledgement that
    comes then, of data that had not arrived, or had arrived less than the way back ago. Background traffic
    and captures keep the network up until they have all passed.
    """
    outcome, data_path = case.evidence.outcome, case.plan.data_path
    is_kept_up = bool(case.trial.background or case.trial.captures)
    if not is_kept_up or outcome.sent is None or data_path is None:
        return 0
    back_ns = sum(max(state.asked.delay_ns for state in one.stage.history) for one in case.evidence.answer_stages)
    rates = [state.asked.rate_bps for state in each.stage.history]
    arrived = outcome.arrived_segments or 0
    if None not in rates:
        fastest_bps = max(rate_bps or 0 for rate_bps in rates)
        arrived = min(arrived, fastest_bps * back_ns // (8 * 10**9 * SMALL_BYTES))
    coming = max(0, outcome.sent.data_packets - (outcome.arrived_segments or 0)) + arrived
    return coming * (ETHERNET_BYTES + RESET_BYTES[data_path.destination_ip.version])


def _real_bytes(case: Case, each: StageEvidence) -> float:
    return 0.0 if case.virtual else each.stage.fastest_bps * REAL_LATE_S / 8


def _adds(each: StageEvidence) -> bool:
    """Whether an impairment makes packets of its own, as far as is known."""
    return any(key not in NO_COPIES for state in each.stage.history for key, _ in state.asked.more)


def _sent_bytes(case: Case, *, is_data: bool) -> int | None:
    """The bytes of all frames that were sent in a direction. None where a program does not tell."""
    plan, outcome, trial = case.plan, case.evidence.outcome, case.trial
    if plan.data_path is None or plan.channels or case.evidence.tc_ends or not trial.workload.is_one_path:
        return None
    if len({link.mtu_bytes for link in trial.topology.links}) > 1:  # a packet may be split, or refused and sent again
        return None
    if any(not isinstance(each, Constant) for _, each in trial.background) or not _all_ours(case):
        return None
    ip_bytes = ETHERNET_BYTES + (20 if plan.data_path.destination_ip.version == 4 else 40)
    total = len(outcome.flows) * ENDS_BYTES
    if isinstance(trial.workload, UdpWorkload):
        found = measured.find(UdpResult, outcome.measured)
        if found is None or found.sent_datagrams is None:
            return None
        frame = trial.workload.length_bytes + udp.HEADERS_BYTES[plan.data_path.destination_ip.version] + ETHERNET_BYTES
        total += found.sent_datagrams * frame if is_data else 0
    else:
        sent = outcome.sent if is_data else outcome.answered
        if sent is None or outcome.sent is None:
            return None
        is_short = is_data and not _counts_marks(trial)
        header = ip_bytes + (TIMED_BYTES if is_short else LONGEST_BYTES)
        total += sent.payload_bytes + sent.packets * header
        unanswered = outcome.sent.data_packets - (outcome.arrived_segments or 0)
        total += 0 if is_data else max(0, unanswered) * header
    for name, each in trial.background:
        if {each.source, each.destination} != {trial.workload.source, trial.workload.destination}:
            return None
        told = background.backgrounds(outcome.measured).get(name)
        if told is None or told.sent_datagrams is None or not isinstance(each, Constant):
            return None
        if (each.source == trial.workload.source) == is_data:
            own = each.length_bytes + udp.HEADERS_BYTES[plan.data_path.destination_ip.version] + ETHERNET_BYTES
            total += told.sent_datagrams * own
    return total


def _counts_marks(trial: Trial) -> bool:
    """Whether data segments may have the options of accurate ECN."""
    sysctls = {*trial.sysctls, *(each for node in trial.topology.nodes for each in node.sysctls)}
    is_set = any(key.replace("/", ".") == ECN_SYSCTL and value not in ("0", "1", "2") for key, value in sysctls)
    return is_set or any(node.ecn == "accurate" for node in trial.topology.nodes)


def _all_ours(case: Case) -> bool:
    """Whether all frames are known: nodes say nothing of their own, as daemons of routers do, and make none longer."""
    nodes = case.trial.topology.nodes
    is_quiet = not any(node.finds_routes or node.stp or node.vlans or node.kind.has_own_kernel for node in nodes)
    return is_quiet and case.trial.topology.neighbours != "learned" and not case.plan.remote


def begun(case: Case) -> Iterator[Finding]:
    """Before the workload and its backgrounds nothing passed. So every bucket was as full as asked when they began: a
    shaper has carried no more since than its rate brings, also if no look was taken just before.
    """
    begin_ns = case.evidence.outcome.begin_ns
    starts = [each.at_ns for each in case.evidence.background_begun.values()]
    if begin_ns is None or case.trial.workload.data_ports is None or not _all_ours(case) or case.plan.channels:
        return
    since_ns = min((begin_ns, *starts))
    for each in case.evidence.data_stages:
        for look in each.samples if each.around is not None else ():
            most = ALONE_BYTES + _real_bytes(case, each) + _brought(case, each, look.time_ns - since_ns)
            passed = look.bytes - (each.around[0].bytes if each.around is not None else 0)
            if passed > most:
                what = (
                    f"{each.where} carried {passed - most:.0f} bytes more than can have come since the workload began"
                )
                yield Finding("account", "invalid", what, HINT)
                break


def _brought(case: Case, each: StageEvidence, span_ns: int) -> float:
    """What a shaper can have carried in a time; nothing in one that has not begun."""
    shaper = each.stage.asked.shaper
    if span_ns <= 0:
        return 0.0
    if shaper is None or each.is_scheduled:
        return math.inf
    return shaper.rate_bps * span_ns / 8e9 + burst_bytes(shaper.rate_bps, case.context(each))
