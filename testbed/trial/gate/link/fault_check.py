"""Checks of the gate: did faults meet the packets that they should, and no others, and did that have its effect? Pure,
no I/O.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ....model.link.fault import Aggregate, pick_words
from ....plan.link import fault
from ....plan.link.stage import State, frame_bytes
from ...evidence.case import Case, Slack
from ...evidence.fault import DownCount, FaultCount
from ...evidence.stage import StageEvidence
from ...result import Finding, Verdict
from ...subject.host_counter import HOST_COUNTERS
from .. import chance

LATE_NS = Slack(1_000_000, 1_000_000_000)
"""By how much an outage may be longer or shorter than asked."""

ACTS = {"ack_loss": "lost", "corrupt": "damaged", "duplicate": "sent twice", "reorder": "held back"}
UNSAMPLED = 10
"""Without samples: how many packets may pass between the looks at a rate and at the counters behind it. The workload
has not begun then, and hosts ask for neighbours and routers at most.
"""
RULES = "a rule of the fault is missing, or looks at other packets"


def picked(case: Case) -> Iterator[Finding]:
    """Exact faults meet exactly the packets that they should, others as many as chance can explain."""
    for each in case.judged:
        for key in fault.PICKING:
            asked = [state for state in fault.firsts(each.stage, key) if _came(state, each, case)]
            counts = {count.state: count for count in each.faults if count.key == key}
            for state in asked:
                what = "missing: what it met" if state not in counts else _off(each, counts[state])
                if what is not None:
                    yield _finding(key, each, what, since=state)
            looked = sum(count.came for count in counts.values())
            if looked and not any(count.met for count in counts.values()):
                what = f"it met none of the {looked} packets that it looked at"
                yield _finding(key, each, what, verdict="valid", hint="send more packets to see it")
            if asked and not looked:
                yield from _nothing(key, each, case)
            elif asked and len(asked) == len(each.stage.changes[key]):
                yield from (_finding(key, each, what) for what in _missed(each, key, looked))


def _nothing(key: str, each: StageEvidence, case: Case) -> Iterator[Finding]:
    """A fault that looked at no packet. It cannot if it is of data, or of ACKs, and these go in the other direction."""
    pick = fault.pick(fault.firsts(each.stage, key)[0], key)
    workload = case.trial.workload
    passes_control = workload.control is not None and workload.unyielding_bps  # answers of datagrams are nothing else
    is_of_all = key in ("duplicate", "reorder") and pick is not None and pick.every is None and not passes_control
    sent = 0 if each.around is None else each.around[1].packets - each.around[0].packets
    if (each.counts.data_packets > each.counts.dropped_packets and key != "ack_loss") or (is_of_all and sent):
        yield _finding(key, each, "packets passed, and it looked at none")
        return
    others = (other for other in case.judged if other.link == each.link and other is not each)
    acts = any(count.key == key and count.came for other in others for count in other.faults)
    verdict: Verdict = "valid" if acts or each not in case.evidence.stages else "suspect"
    yield _finding(key, each, "no packet came that it looks at", verdict=verdict, hint=_looks_at(key))


def _off(each: StageEvidence, count: FaultCount) -> str | None:
    pick, exact = fault.pick(count.state, count.key), each.expected(count)
    assert pick is not None, "BUG: a count without a fault"
    told = f"{count.met} of {count.came} packets were {ACTS[count.key]}"
    if exact is not None:
        return None if count.met == exact else f"{told}, asked were {exact}"
    share = float(pick.share)
    tails = chance.at_most(count.met, count.came, share), chance.at_most(count.came - count.met, count.came, 1 - share)
    if count.met <= count.came and min(tails) >= chance.ERROR_RATE / 2:
        return None
    return f"{told}, asked were {pick_words(pick)}: chance does not explain that"


def _missed(each: StageEvidence, key: str, looked: int) -> Iterator[str]:
    """What a fault looked at, against the emulator's counter of data. Nothing but losses and policies come before it;
    before `reorder` also the delay and the queue of the rate: what waits there at the end came to the emulator, and not
    to the fault.
    """
    if key == "ack_loss" or each.stage.policing is not None:
        return
    data = each.counts.data_packets - each.counts.dropped_packets
    pick = fault.pick(fault.firsts(each.stage, key)[0], key)
    is_exact = key != "reorder" and pick is not None and pick.every is not None
    buffer = each.stage.buffer_bytes(frame_bytes(each.mtu_bytes)) // frame_bytes(each.mtu_bytes)
    behind = _lost(each) + max(buffer, each.waiting_packets) if key == "reorder" else 0
    if looked < data - behind or (is_exact and looked != data):
        yield f"it looked at {looked} packets, {data} passed the losses"


def had_effect(case: Case) -> Iterator[Finding]:
    """What was diverted went through the queue that acts on it."""
    for each in case.judged:
        for key, (_, handle) in fault.NETEMS.items():
            if not fault.ever(each.stage, key):
                continue
            passed, waits = each.diverted.get(handle, (None, 0))
            if passed is None:
                yield _finding(key, each, "missing: the queue of its packets")
            elif key != "aggregate":
                asked = each.met(key) * (2 if key == "duplicate" else 1)
                if passed + waits != asked:
                    what = f"{passed} packets passed its queue, {waits} wait there, and it met {each.met(key)}"
                    yield _finding(key, each, what)


def damaged(case: Case) -> Iterator[Finding]:
    """Hosts drop every damaged packet by its checksum, and count it."""
    stages = [each for each in case.judged if fault.ever(each.stage, "corrupt")]
    if not stages:
        return
    met, seen = sum(each.met("corrupt") for each in stages), case.of(HOST_COUNTERS).checksum_errors
    if seen is None:
        yield Finding(
            "corrupt", "suspect", "missing: the hosts' counters of wrong checksums", "a host does not report them"
        )
        return
    twice = sum(each.met("duplicate") for each in case.judged)
    astray = sum(_astray(case, each) for each in stages)
    if not met - astray <= seen <= met + twice:
        what = f"{met} packets were damaged, and hosts found {seen} with a wrong checksum"
        yield Finding("corrupt", "invalid", what, "checksums are not computed or not checked, or others damage packets")
    elif met and not seen:
        what = f"{met} packets were damaged, and no host found one"
        yield Finding("corrupt", "suspect", what, "they may all have been lost or under way: damage more, or longer")


def _lost(each: StageEvidence) -> int:
    """What queues, policers, delays and outages dropped, all of which may be behind a fault or before it."""
    waiting = each.counts.queue_drops + each.counts.aqm_drops + each.counts.filtered_acks
    return waiting + each.policer_drops + each.counts.delay_drops + each.down_losses


def _astray(case: Case, each: StageEvidence) -> int:
    """How many damaged packets can be under way when the hosts are asked, or lost behind the damage: as large a share
    of what the link can hold, and of what was lost there, as of all packets; three times that, to be on the safe side.
    """
    frame, rate_bps = frame_bytes(each.mtu_bytes), each.stage.asked.rate_bps or 0
    met, looked = each.met("corrupt"), sum(count.came for count in each.faults if count.key == "corrupt")
    held = each.stage.buffer_bytes(frame) // frame + rate_bps * case.plan.rtts_ns[1] // (8 * 10**9 * frame)
    lost = sum(map(_lost, case.judged))
    return min(met, 1 + (3 * (held + lost) * met // looked if looked else 0))


def _gathered(each: StageEvidence) -> Iterator[Finding]:
    """What waits for a burst has passed the place where an outage cuts."""
    aggregate = fault.aggregate(each.stage)
    if aggregate is not None:
        hint = f"that is up to {aggregate.time_ns / 1e6:g} ms later; aggregate on another link is cut, too"
        yield _finding(
            "down", each, "what waited for a burst when the link went down still left", verdict="valid", hint=hint
        )


def sampled(case: Case) -> Iterator[Finding]:
    """The samples of a fault rise to what it met in all."""
    for each in case.evidence.stages:
        totals = {key: (sum(c.came for c in each.faults if c.key == key), each.met(key)) for key in fault.PICKING}
        totals["down"] = (sum(count.left for count in each.downs), each.down_losses)
        for key, total in totals.items():
            mine = [sample for sample in each.fault_samples if sample.key == key]
            rows = [(sample.packets, sample.met) for sample in mine]
            first = rows[0] if rows else (0, 0)
            pairs = pairwise(rows)
            if any(now < was for one, later in pairs for was, now in zip(one, later, strict=True)):
                yield _finding(key, each, "the samples of its counters fall")
            elif rows and any(last - one > most for one, last, most in zip(first, rows[-1], total, strict=True)):
                yield _finding(key, each, f"its samples rise to {rows[-1]} packets, in all there were {total}")


def down(case: Case) -> Iterator[Finding]:
    """While a link is down nothing leaves it; and it is down as long as was asked. What its rate sent is counted where
    it leaves.
    """
    for each in case.judged:
        if (what := _uncounted(each)) is not None:
            yield _finding("down", each, what)
        states = fault.firsts(each.stage, "down")
        if any(_came(state, each, case) and state.asked.value("down") for state in states):
            yield from _gathered(each)
        counts = {count.state: count for count in each.downs}
        for number, state in enumerate(states):
            if not _came(state, each, case):
                continue
            if state not in counts:
                yield _finding("down", each, "missing: what was lost and what passed", since=state)
                continue
            later = states[number + 1] if number + 1 < len(states) else None
            ended = later is not None and _came(later, each, case)
            if counts[state].is_down:
                yield from _outage(case, each, counts[state], later if ended else None)


def _uncounted(each: StageEvidence) -> str | None:
    if not fault.ever(each.stage, "down") or each.stage.asked.rate_bps is None or each.around is None:
        return None
    sent = each.around[1].packets - each.around[0].packets
    counted = sum(count.left for count in each.downs) + sum(count.lost for count in each.downs)
    counted += sum(waits for _, waits in each.diverted.values())
    unseen = UNSAMPLED if each.sent_before is None else each.sent_before
    return None if counted + unseen >= sent else f"its rate sent {sent} packets, {counted} left it or were lost"


def _outage(case: Case, each: StageEvidence, count: DownCount, later: State | None) -> Iterator[Finding]:
    passed = max(count.left, count.passed or 0)
    if passed:
        yield _finding("down", each, f"{passed} packets passed while it was down", since=count.state)
    if later is None:
        return
    asked_ns = later.at_ns - count.state.at_ns
    if count.passed is None or count.begin_ns is None or count.end_ns is None:
        yield _finding("down", each, "missing: what passed while it was down, or how long that was", since=count.state)
    elif abs(count.end_ns - count.begin_ns - asked_ns) > case.slack(LATE_NS):
        what = f"it was down for {(count.end_ns - count.begin_ns) / 1e9:g} s, asked were {asked_ns / 1e9:g} s"
        yield _finding("down", each, what, since=count.state)
    if not count.lost:
        yield _finding("down", each, "nothing came while it was down", verdict="valid", since=count.state, hint="")


def gathered(case: Case) -> Iterator[Finding]:
    """Between two samples there is at most a burst for each of its times, and one at each end."""
    for each in case.judged:
        asked = fault.aggregate(each.stage)
        if asked is not None:
            yield from (_finding("aggregate", each, what) for what in _bursts(asked, each))


def _bursts(asked: Aggregate, each: StageEvidence) -> Iterator[str]:
    if each.counts.data_packets > each.counts.dropped_packets and not (
        each.bursts and each.bursts[-1].packets > each.bursts[0].packets
    ):
        yield "no packet left in a burst"
    if asked.burst_bytes is None:
        return
    for one, later in pairwise(each.bursts):
        span_ns, came = later.time_ns - one.time_ns, later.bytes - one.bytes
        most = (span_ns // asked.time_ns + 2) * (asked.burst_bytes + frame_bytes(each.mtu_bytes))
        if came > most:
            yield f"{came} bytes left in {span_ns / 1e9:g} s, bursts of {asked.burst_bytes} bytes allow {most}"
            return


def _came(state: State, each: StageEvidence, case: Case) -> bool:
    """Whether a state began before the end of the workload."""
    return state == each.stage.history[0] or bool(
        case.evidence.timeline and state.at_ns in case.evidence.timeline.moments
    )


def _looks_at(key: str) -> str:
    if key == "ack_loss":
        return "it loses TCP's acknowledgements without data; in the other direction with {forward: …, backward: …}"
    return "1 in X counts TCP data and UDP, a share of corrupt counts TCP and UDP"


def _finding(
    key: str,
    each: StageEvidence,
    what: str,
    *,
    verdict: Verdict = "invalid",
    since: State | None = None,
    hint: str = RULES,
) -> Finding:
    from_s = "" if since is None or since == each.stage.history[0] else f" from {since.at_ns / 1e9:g} s on"
    return Finding(key, verdict, f"{each.where}{from_s}: {what}", hint)
