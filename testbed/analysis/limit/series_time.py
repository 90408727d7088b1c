"""The time of a trial divided by what held its flows back, from their goodput in each second: what can be told without
samples. Pure, no I/O.

- A second in which the flows got FULL of what the path carries: the rate. It takes LINE where the kernel counted their
  two buffers for most of the time, as a window may be for just less than the path carries.
- Other seconds, from when each flow has lost a packet: the links' loss, if it can only be that. So only links dropped
  packets, at distances that do not cluster, no queue marked any, no other rate than the links' held a flow back, all
  flows ran, with all that they could send, there was no other traffic, no fault or change of a link or route, and
  computing took no time; what the kernel counted for the flows' two buffers is taken off. A flow waits for its first
  drop for n of k drops on the mean, if drops at such distances meet n equal flows; so from then on, when the share n/k
  of the data has come.
- Of all other seconds nobody can tell.

`tests/test_flow_time.py` holds this against samples of the same trials.
"""

from __future__ import annotations

import math
from itertools import accumulate

from ...model.scenario import Trial
from ...trial.evidence.outcome import TcpResult
from ...trial.measured import find
from ...trial.result import FlowResult, StageResult, TrialResult
from .flow_time import FULL
from .limitation import FULL as LINE
from .limitation import MENTION, MOST, Limit

SECOND_NS = 10**9


def parts(result: TrialResult, trial: Trial | None, full_bps: float | None) -> dict[Limit, float]:
    """The parts, together 1, the largest first; `full_bps` is the goodput of the full path. Empty if goodput was not
    stored by the second, or nobody can tell of any.
    """
    seconds = find(TcpResult, result.measured)
    if seconds is None or not seconds.series or full_bps is None or trial is None or not _only_the_path(result, trial):
        return {}
    goodput_bps = [each.goodput_bps for each in seconds.series]
    held = _buffers(result)
    least_bps = (LINE if held >= MOST else FULL) * full_bps
    is_full = [each >= least_bps for each in goodput_bps]
    before = [0.0, *accumulate(goodput_bps)][:-1]
    from_bps = _held_from_bps(result, trial)
    all_met = None if _is_held_otherwise(result, trial) else _share_of_data(result)
    late = 0
    if all_met is not None:
        is_late = [come >= all_met * sum(goodput_bps) for come in before]
        late = sum(
            is_after and not full and each < from_bps
            for each, is_after, full in zip(goodput_bps, is_late, is_full, strict=True)
        )
    rate = sum(is_full) / len(is_full)
    loss = max(0.0, late / len(is_full) - held)
    found: dict[Limit, float] = {"rate": rate, "loss": loss, "unknown": 1 - rate - loss}
    return {kind: part for kind, part in sorted(found.items(), key=lambda each: -each[1]) if part > 0}


def _only_the_path(result: TrialResult, trial: Trial) -> bool:
    changes = any(each.intervals or (each.paced is not None and each.paced.trace) for each in result.stages)
    return result.is_virtual_time and not (result.vms or result.machines or trial.background or changes)


def _is_held_otherwise(result: TrialResult, trial: Trial) -> bool:
    """Whether a flow may have sent less for what is neither a drop nor a buffer."""
    asked = trial.workload
    is_less = any(each.rate_bps is not None for each in asked.asked_flows)
    is_apart = any(each.spread_ns >= SECOND_NS for each in asked.load)
    return is_less or is_apart or any(map(_holds, result.stages)) or _is_out_of_order(trial) or _is_ruled(result, trial)


def _holds(stage: StageResult) -> bool:
    """Whether a link held a flow back by another rate than its own, or did more to packets than to lose them."""
    shaper, cap = (None, None) if stage.paced is None else (stage.paced.shaper, stage.paced.per_flow)
    is_shaped = shaper is not None and shaper.used_up is not False
    is_capped = cap is not None and cap.capped_flows > 0
    return is_shaped or is_capped or _is_full_of_answers(stage) or any(each.met for each in stage.faults)


def _is_full_of_answers(stage: StageResult) -> bool:
    """Whether ACKs came as fast as a link carries them, which then is what clocks the data."""
    seen_bps, asked_bps = stage.peak_rate_bps, stage.asked_rate_bps
    known = seen_bps is not None and asked_bps is not None
    return known and not stage.data_packets and (seen_bps or 0) >= FULL * (asked_bps or 0)


def _is_out_of_order(trial: Trial) -> bool:
    """Whether packets overtake others, which TCP may take for loss."""
    ways = (way for link in trial.topology.links for way in (link.forward, link.backward))
    return any(each.jitter is not None and each.jitter.reorder for each in ways)


def _is_ruled(result: TrialResult, trial: Trial) -> bool:
    """Whether a switch or a router may have dropped packets by rules of a user's, or a route changed."""
    own = any(each.router is not None and each.router.nftables is not None for each in trial.topology.nodes)
    return result.sdn is not None or own or any(each.changes for each in result.routers.values())


def _share_of_data(result: TrialResult) -> float | None:
    """That has come when each flow has lost a packet; None where something else could have cut the window."""
    seen = result.seen
    others = (seen.queue_drops, seen.aqm_drops, seen.marks, result.policed_packets)
    drops = (seen.dropped_packets or 0) + (seen.random_drops or 0)
    clusters = any(map(_clusters, result.stages))
    return None if any(others) or clusters or drops < len(result.flows) else len(result.flows) / drops


def _clusters(stage: StageResult) -> bool:
    return stage.random_loss is not None and stage.random_loss.low is None


def _held_from_bps(result: TrialResult, trial: Trial) -> float:
    """The goodput from which their send buffers may have held the flows back, counted or not; infinite if nobody
    bounded them. It is half of each in a round trip: a buffer keeps what was sent until all before it has come, so
    there is as much again in it after a loss.
    """
    named = {**dict(trial.topology.node(trial.workload.source).sysctls), **dict(trial.sysctls)}
    most = named.get("net.ipv4.tcp_wmem", "").split()[-1:]
    asked = [each.window_bytes for each in trial.workload.asked_flows]
    sizes = [flow.sndbuf_bytes for flow, size in zip(result.flows, asked, strict=False) if size is not None]
    sizes += [int(each) for each in most if None in asked and each.isdecimal()]
    known = [each for each in sizes if each is not None]
    rtt_s = result.asked.rtt_s
    return len(result.flows) * min(known) * 8 / (2 * rtt_s) if known and rtt_s else math.inf


def _buffers(result: TrialResult) -> float:
    """The mean part of the time for which its two buffers held a flow back; all of it where that cannot be told."""
    held = [_buffer(flow) for flow in result.flows]
    return sum(held) / len(held) if held else 1.0


def _buffer(flow: FlowResult) -> float:
    """Of one flow. In slow start the kernel counts a send buffer that is too small only now and then (`flow_time`), and
    for it BBR never leaves slow start, as it sets no threshold: where that was a good part, it may have been all.
    """
    if flow.rwnd_limited is None or flow.sndbuf_limited is None:
        return 1.0
    is_more = flow.congestion == "bbr" and flow.sndbuf_limited >= MENTION
    return 1.0 if is_more else flow.rwnd_limited + flow.sndbuf_limited
