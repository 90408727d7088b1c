"""Checks of the gate: are Mininet's TCLinks as asked? Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator

from ....plan.link.impairment import TICK_NS
from ....plan.link.stage import frame_bytes
from ....plan.link.tclink import BUCKET_BYTES, BURST_BYTES, CEILING_BUCKET_BYTES, TcPort
from ...evidence.case import Case
from ...evidence.stage import TcEvidence
from ...observe.readback import HtbClass, Qdisc
from ...observe.sample import QueueSample
from ...result import Finding
from .link_check import rate_of
from .set_up_check import TOLD_TWICE

BUCKET_SLACK_NS = 1000 + TICK_NS
"""tc writes the time of a bucket in ticks, of whole microseconds in some versions."""

CAME, FEW = 1, 2
"""On a kernel that runs in real time packets come while a queue is looked at: how many wait is read first, and their
bytes a moment later (`queue_samples`). So one packet more is allowed, and so few looks may have met a burst. Of
25 000 looks at an HTB of 100 Mbit/s on two processors, 33 had the bytes of one frame more; of as many at 1 Gbit/s, 107,
and 7 of these had 2 to 37 frames more.
"""
OFTEN, HALF = 40, 0.5
"""Between the two moments a queue does not grow at more than half of many looks: it shrinks as often."""


def _where(each: TcEvidence) -> str:
    return f"{each.port.link} at {each.port.node}"


def set_up(case: Case) -> Iterator[Finding]:
    """Compares what was read back over netlink with what TCLink was asked for: TCLink only prints its errors."""
    for each in (*case.evidence.tc_ends, *case.evidence.beside_tc_ends):
        before = tuple(_differences(each.port, each.htb, each.netem))
        after = tuple(_differences(each.port, each.htb_after, each.netem_after))
        for what in (*before, *(f"{what} after the workload" for what in after if what not in before)):
            hint = "Mininet's TCLink did not set up what was asked, or somebody changed its settings later"
            yield Finding("set-up", "invalid", f"{_where(each)}: {what}", hint)


def _differences(port: TcPort, htb: HtbClass | None, netem: Qdisc | None) -> Iterator[str]:
    for what, asked, seen, slack in (*_shaped(port, htb), *_delayed(port, netem)):
        if seen is None or abs(seen - asked) > slack:
            yield f"{what}: asked {asked}, the kernel has {'none' if seen is None else seen}"


def _shaped(port: TcPort, htb: HtbClass | None) -> Iterator[tuple[str, int, int | None, int]]:
    """(what, asked, seen, slack)."""
    rate_bps = port.rate_bps
    if rate_bps is None:
        if htb is not None:
            yield "rate in bit/s", 0, htb.rate_bps, 0
        return
    times = [size * 8 * 10**9 // rate_bps for size in (BUCKET_BYTES, CEILING_BUCKET_BYTES)]
    rows = (
        ("rate in bit/s", rate_bps, "rate_bps", 8),
        ("ceiling in bit/s", rate_bps, "ceiling_bps", 8),
        ("bucket in ns at its rate", times[0], "bucket_ns", BUCKET_SLACK_NS),
        ("bucket in ns at its ceiling", times[1], "ceiling_bucket_ns", BUCKET_SLACK_NS),
    )
    for what, asked, name, slack in rows:
        yield what, asked, None if htb is None else getattr(htb, name), slack


def _delayed(port: TcPort, netem: Qdisc | None) -> Iterator[tuple[str, int, int | None, int]]:
    """(what, asked, seen, slack)."""
    yield "delay in ns", port.delay_ns, None if netem is None else netem.delay_ns, TICK_NS
    yield "packets that the queue holds", port.limit, None if netem is None else netem.limit, 0
    if netem is not None:
        yield "jitter in ns", 0, netem.jitter_ns, 0
        yield from ((f"{name} of netem", 0, n, 0) for name, n in netem.more.items() if n and name not in TOLD_TWICE)


def rate(case: Case) -> Iterator[Finding]:
    for each in case.evidence.tc_ends:
        asked, mtu_bytes = each.port.rate_bps, each.port.mtu_bytes
        if asked is not None:
            yield from rate_of(case, _where(each), asked, each.samples, mtu_bytes, BURST_BYTES, always_bursts=True)


def drops(case: Case) -> Iterator[Finding]:
    """Reports drops in queues of TCLinks that do not behave like the queue of a link."""
    for each in case.evidence.tc_ends:
        if not each.drops:
            continue
        lost = f"{_where(each)}: the queue dropped {each.drops} packets"
        if each.port.is_host:
            yield Finding(
                "TCLink",
                "suspect",
                f"{lost} on the sender's own device: its TCP knows at once, and slows down without losing a round trip",
                "use engine: netns, a buffer in bdp (which makes the link an emulator), or another bottleneck",
            )
        if each.port.delay_ns and each.port.rate_bps:
            yield Finding(
                "TCLink",
                "valid",
                f"{lost}, and it holds packets in flight and waiting packets together: a burst found more room than in "
                "the buffer of a link",
                "use engine: netns, or give the link a buffer (it then gets an emulator)",
            )


def backpressure(case: Case) -> Iterator[Finding]:
    """Notes a bottleneck on the sender's own device: without a delay there, TCP keeps its queue short and loses
    nothing.
    """
    for each in case.evidence.data_tc_ends:
        port = each.port
        if port.is_host and not port.delay_ns and port.rate_bps is not None and port.rate_bps == case.plan.rate_bps:
            yield Finding(
                "TCLink",
                "valid",
                f"{_where(each)}: the bottleneck is the sender's own device, so its TCP waits for it and loses nothing",
                "a NIC of that rate does the same; the port of a switch behind a faster link would drop packets",
            )


def superpackets(case: Case) -> Iterator[Finding]:
    """Notes that the queue of a TCLink counts each superpacket of a host with offloads as one packet. Without offloads
    TCP makes none; those that a program makes of datagrams (UDP_SEGMENT) are cut below the queue.
    """
    if "offload" not in dict(case.plan.nics).values():
        came, few = (0, 0) if case.virtual else (CAME, FEW)
        for each in case.evidence.tc_ends:
            whole, larger = (
                sum(_holds_superpackets(look, each.port.mtu_bytes, more) for look in each.samples) for more in (came, 0)
            )
            if larger > max(OFTEN, HALF * len(each.samples)):
                whole = larger
            if whole:
                what = (
                    f"{_where(each)}: frames larger than the MTU of {each.port.mtu_bytes} bytes waited at {whole} of "
                    f"{len(each.samples)} looks"
                )
                yield Finding(
                    "frame size",
                    "invalid" if whole > few else "suspect",
                    f"{what}: each was queued and dropped as a whole"
                    if whole > few
                    else f"{what}, or a burst came while it was looked at",
                    "the program sends superpackets of datagrams (UDP_SEGMENT): use engine: netns",
                )
    elif case.evidence.tc_ends:
        yield Finding(
            "TCLink",
            "valid",
            "its queue counts superpackets of up to 64 KB as one packet each, so it holds more than was asked",
            "use nic: plain, the default of hosts in a network with TCLinks",
        )


def _holds_superpackets(look: QueueSample, mtu_bytes: int, came: int) -> bool:
    return look.backlog_bytes > (look.backlog_packets + came) * frame_bytes(mtu_bytes)
