"""What the windows of TCP senders say of the time between two looks. Pure, no I/O."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from operator import itemgetter

from ....codec.frozen import dataclass
from ....plan.node.namespace import node_netns
from ...evidence.case import Case
from ...observe.sample import TcpSample

KEEP_WINDOW = frozenset({"cubic", "reno"})
"""Controls whose window shrinks only after a loss or a mark, and is all that holds them back."""
OPEN, DISORDER = 0, 1
"""The states of a sender to which nothing happened (TCP_CA_Open), and to which something came out of order."""
SUPERPACKET_BYTES, PACED_S, RTT_SHIFT = 65_536, 1 / 1024, 9
"""A superpacket has what is sent in PACED_S (sk_pacing_shift), and more if the round trip takes less than 2^RTT_SHIFT
us (tcp_tso_rtt_log).
"""
HELD_SHARE = 1 / 3
"""A sender may hold back less than a third of its window, and less than a superpacket, until it can send more at once
(tcp_tso_should_defer, tcp_tso_win_divisor).
"""
LIMITED_FRAMES = 2
"""What a sender sends beyond its window before it knows of a loss (RFC 3042)."""


@dataclass(frozen=True)
class Sockets:
    """The samples of sending sockets at each look at them, with the look's time in ns; the first look first."""

    looks: tuple[tuple[int, tuple[TcpSample, ...]], ...]

    def near(self, time_ns: int) -> tuple[TcpSample, ...]:
        """Those of the last look before a look at a queue: the observer asks for sockets first."""
        number = bisect_right(self.looks, time_ns, key=itemgetter(0))
        return self.looks[number - 1][1] if number else ()

    def only(self, flow: tuple[str, int, str, int]) -> Sockets:
        """Those of one socket, by its `key`."""
        return Sockets(tuple((at_ns, tuple(each for each in look if key(each) == flow)) for at_ns, look in self.looks))


def sockets(case: Case) -> Sockets:
    """The workload's; none behind a relay, where links carry what other sockets send, and no faster than it comes."""
    if case.trial.workload.relays:
        return Sockets(())
    netns, found = node_netns(case.trial.workload.source), dict[int, list[TcpSample]]()
    for each in case.evidence.tcp:
        if each.netns == netns and each.destination_port and each.info.get("notsent_bytes") is not None:
            found.setdefault(each.time_ns, []).append(each)
    return Sockets(tuple((at_ns, tuple(found[at_ns])) for at_ns in sorted(found)))


def key(each: TcpSample) -> tuple[str, int, str, int]:
    """What tells a socket from others."""
    return each.source, each.source_port, each.destination, each.destination_port


def superpacket_bytes(sample: TcpSample) -> float:
    """The largest that a sender makes."""
    paced = float(sample.info["pacing_rate_bps"] or 0) / 8 * PACED_S
    short = SUPERPACKET_BYTES >> min(63, round((sample.info["min_rtt_s"] or 0) * 1e6) >> RTT_SHIFT)
    return min(SUPERPACKET_BYTES, max(2.0 * (sample.info["snd_mss_bytes"] or 0), paced + short))


def held_bytes(sample: TcpSample, window_bytes: float) -> float:
    """How much of its window a sender may hold back until it can send more at once."""
    return min(window_bytes * HELD_SHARE, superpacket_bytes(sample))


def grown_bytes(first: Iterable[TcpSample], last: Iterable[TcpSample], frame: int) -> float | None:
    """By how much more of these senders can be on its way at one time than at another one, between two looks at them,
    in frames of this size; None if a window may have shrunk meanwhile, or something else held a sender back.
    """
    before, after = ({key(each): each for each in samples} for samples in (first, last))
    if not before or before.keys() != after.keys():
        return None
    grown = 0.0
    for one, later in ((before[each], after[each]) for each in before):
        if not kept(one, later, (OPEN, DISORDER)):
            return None
        least, most = ((each.info["snd_cwnd"] or 0) * frame for each in (one, later))
        grown += most + LIMITED_FRAMES * frame - (least - held_bytes(later, least))
    return grown


def kept(one: TcpSample, later: TcpSample, states: tuple[int, ...] = (OPEN,)) -> bool:
    """Whether the window of a sender cannot have shrunk between two samples, and was all that held it back. It does not
    shrink before a loss is known: then the sender is in one of these states at the later sample.
    """
    same = ("total_retrans", "total_rto", "snd_ssthresh", "rwnd_limited_s", "sndbuf_limited_s")
    return (
        one.congestion == later.congestion
        and one.congestion in KEEP_WINDOW
        and one.info["ca_state"] == OPEN
        and later.info["ca_state"] in states
        and all(one.info[name] == later.info[name] for name in same)
        and (later.info["snd_cwnd"] or 0) >= (one.info["snd_cwnd"] or 0)
        and (one.info["notsent_bytes"] or 0) > 0
        and (later.info["notsent_bytes"] or 0) > 0
    )
