"""How an emulator makes each impairment: its commands, and what netlink must report afterwards. Pure, no I/O.

MAKINGS has a row for each impairment: an option of netem, a qdisc, or a rule of nftables. `emulator` and `ruleset`
combine the rows; the gate compares what was read back with `settings`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from ...codec.frozen import dataclass
from ...model.link.bucket import PerFlow
from ...model.link.impairment import IMPAIRMENTS, GilbertElliott, PeriodicLoss, RandomLoss
from . import fault, paced, queue
from .setting import TICK_NS as TICK_NS
from .setting import Chain as Chain
from .setting import Context as Context
from .setting import Setting as Setting
from .setting import Words as Words
from .setting import slack_ns
from .stage import BUFFER, DELAY, PER_FLOW, POLICE, RATE, Stage, State, frame_bytes

NETEM_LIMIT = 2**31 - 1
"""The packets that a delay can hold: so many that it never limits a path. The rate comes after the delay and does
not bound them."""
IN_ORDER, IN_ORDER_BYTES = ("rate", "100tbit"), 10**14 // 8
"""By itself, netem lets later packets overtake. With a rate it keeps their order, and a rate of 100 Tbit/s takes no
time."""

BURST_NS = 5_000
"""The size of a token bucket, as time at its rate. Packets leave up to this much early, several for one timer."""

REAL_TIME_BURST_NS = 1_000_000
"""The same in real time, where timers are late by up to about a millisecond."""

OVER_VOLUME = "0x1"
"""The mark of packets beyond the volume of a policy. It does not leave the emulator."""

WHOLE = 2**32 - 1
"""A share of 1, as netem counts it."""


def _nothing(state: State) -> Words:
    return ()


def _no_settings(stage: Stage, state: State) -> Iterator[Setting]:
    return iter(())


@dataclass(frozen=True)
class Making:
    """How an impairment is made. Each function returns no words if nothing is asked.

    - `netem`: options of netem, which must see single MTU packets for them, unless `takes_superpackets`.
    - `policer`: the qdisc before it, which drops.
    - `per_flow`: the qdisc behind that one, which holds back each flow.
    - `shaper`: the qdisc that sends at a rate; `queue`: the qdisc below it, which holds the waiting packets, when it is
      added or (True) changed.
    - `drop`: which data packets are dropped, in words of nftables.
    - `chain`: rules of nftables for all packets.
    - `read_back`: what netlink must report afterwards.
    """

    netem: Callable[[State], Words] = _nothing
    takes_superpackets: bool = False
    policer: Callable[[State], Words] = _nothing
    per_flow: Callable[[Stage, State, Context], Words] = lambda stage, state, context: ()
    shaper: Callable[[Stage, State, Context], Words] = lambda stage, state, context: ()
    queue: Callable[[Stage, State, bool], Words] = lambda stage, state, change: ()
    drop: Callable[[State], Words] = _nothing
    chain: Callable[[Stage], Chain | None] = lambda stage: None
    read_back: Callable[[Stage, State], Iterator[Setting]] = _no_settings


def netem_options(state: State, *, of_packets: bool = False) -> Words:
    """The options of netem; with `of_packets` only those for which it must see single packets."""
    options = (row.netem(state) for row in makings() if not (of_packets and row.takes_superpackets))
    return tuple(word for words in options for word in words)


def needs_netem(stage: Stage) -> bool:
    """Whether a stage ever needs netem; looks at all its states, so `has_netem` keeps the answer."""
    return any(netem_options(state) for state in stage.history)


def settings(stage: Stage, state: State, context: Context | None = None) -> Iterator[Setting]:
    """All that netlink must report of a stage in a state; without a context, all but the size of its token bucket."""
    for row in makings():
        yield from row.read_back(stage, state)
    if stage.has_netem and is_in_order(stage, state):
        yield Setting("rate that keeps packets in order, in bytes/s", IN_ORDER_BYTES, DELAY, "rate")
    if context is not None and state.asked.per_flow is not None:
        cap = state.asked.per_flow
        yield from _exactly(paced.per_flow_told(cap, flow_burst_bytes(cap, context), stage.flow_bytes), PER_FLOW)
    rate_bps = fault.rate_bps(state)
    if context is not None and state.asked.shaper is not None:
        told = paced.shaper_told(state.asked.shaper, burst_bytes(state.asked.shaper.rate_bps, context))
        yield from _exactly(told, RATE)
    elif context is not None and rate_bps is not None and state.asked.trace is None:
        time_ns = burst_bytes(rate_bps, context) * 8 * 10**9 // rate_bps
        yield Setting("bucket in ns at its rate", time_ns, RATE, "burst_ns", TICK_NS)
    is_apart = stage.limit_unit == "packets" or stage.queue is not None
    if context is not None and state.asked.rate_bps is not None and is_apart:
        yield Setting("limit of the bucket in bytes", frame_bytes(context.mtu_bytes), RATE, "limit")


def is_in_order(stage: Stage, state: State) -> bool:
    """Whether packets must not overtake one another in a state of a stage that has a netem."""
    jitter = state.asked.jitter
    return stage.keeps_order if jitter is None else not jitter.reorder


def burst_bytes(rate_bps: int, context: Context) -> int:
    """The size of a token bucket: at least 1.5 frames. One of a single frame could lose tokens when a timer is late."""
    burst_ns = REAL_TIME_BURST_NS if context.real_time else BURST_NS
    return max(frame_bytes(context.mtu_bytes) * 3 // 2, rate_bps * burst_ns // (8 * 10**9))


def flow_burst_bytes(cap: PerFlow, context: Context) -> int:
    """The size of the bucket of each flow that has a cap."""
    return burst_bytes(cap.rate_bps, context) if cap.burst_bytes is None else cap.burst_bytes


def makings() -> tuple[Making, ...]:
    """All rows. Without its row, an impairment would be asked but never made."""
    unmade = IMPAIRMENTS.keys() - MAKINGS.keys()
    assert not unmade, f"BUG: MAKINGS lacks {', '.join(sorted(unmade))}"
    return tuple(MAKINGS.values())


def netem_share(stage: Stage, state: State, what: str, name: str, share: Fraction | None) -> Iterator[Setting]:
    """What netlink must report of a share of netem. With a schedule that is 0 where none is asked, as there may have
    been one before.
    """
    if share is not None or (stage.states and stage.has_netem):
        yield Setting(f"{what} in 2^-32", round((share or 0) * WHOLE), DELAY, name, slack=1)


def tc_time(ns: int) -> str:
    """A time as tc reads it. tc accepts no ns and truncates fractions of a microsecond, so 0.4 ns are added."""
    whole, rest = divmod(ns, 1000)
    return f"{whole}.{rest:03}4us" if rest else f"{whole}us"


def tc_percent(share: Fraction) -> str:
    """A share as tc reads it."""
    return f"{float(share * 100):.15f}".rstrip("0").rstrip(".") + "%"


def _delay(state: State) -> Words:
    return ("delay", tc_time(state.asked.delay_ns)) if state.asked.delay_ns else ()


def _delay_settings(stage: Stage, state: State) -> Iterator[Setting]:
    if stage.has_netem:
        yield Setting("delay in ns", state.asked.delay_ns, DELAY, "delay_ns", slack_ns(state.asked.delay_ns))
        yield Setting("packets that the delay holds", NETEM_LIMIT, DELAY, "limit")
    else:
        yield Setting("delay in ns", 0, DELAY, "delay_ns", TICK_NS, may_be_absent=True)


def _jitter(state: State) -> Words:
    """The words of the jitter, which follow those of the delay."""
    asked = state.asked.jitter
    if asked is None:
        return ()
    words: Words = (tc_time(asked.netem_ns),)
    if asked.distribution != "uniform":
        words += ("distribution", asked.distribution)
    return words if asked.reorder else (*words, *IN_ORDER)


def _jitter_settings(stage: Stage, state: State) -> Iterator[Setting]:
    if (jitter := state.asked.jitter) is not None:
        yield Setting("jitter in ns", jitter.netem_ns, DELAY, "jitter_ns", slack_ns(jitter.netem_ns))
    else:
        yield Setting("jitter in ns", 0, DELAY, "jitter_ns", may_be_absent=True)


def _random_loss(state: State) -> Words:
    loss = state.loss
    if isinstance(loss, RandomLoss):
        return ("loss", "random", tc_percent(loss.probability))
    if isinstance(loss, GilbertElliott):
        return ("loss", "gemodel", *map(tc_percent, (loss.p, loss.r, loss.loss_bad, loss.loss_good)))
    return ()


def _periodic_loss(state: State) -> Words:
    if not isinstance(state.loss, PeriodicLoss):
        return ()
    return ("numgen", "inc", "mod", str(state.loss.every), "==", str(state.loss.every - 1 - state.phase))


def _loss_settings(stage: Stage, state: State) -> Iterator[Setting]:
    """For a chain, the kernel keeps the share that passes in the bad state, and the share lost in the good state."""
    loss = state.loss
    chance = loss.probability if isinstance(loss, RandomLoss) else None
    yield from netem_share(stage, state, "random loss", "loss", chance)
    if isinstance(loss, GilbertElliott):
        shares = {"p": loss.p, "r": loss.r, "h": 1 - loss.loss_bad, "k1": loss.loss_good}
        for name, share in shares.items():
            yield from netem_share(stage, state, f"{name} of the Gilbert-Elliott chain", f"gemodel_{name}", share)


def _rate(stage: Stage, state: State, context: Context) -> Words:
    rate_bps = fault.rate_bps(state)
    if rate_bps is None:
        return ()
    size = (state.limit or 0) if stage.limit_unit == "bytes" and not stage.queue else frame_bytes(context.mtu_bytes)
    if state.asked.trace is not None:
        return paced.trace_words(state.asked.trace, size)
    if state.asked.shaper is not None:
        return paced.shaper_words(state.asked.shaper, size, burst_bytes(rate_bps, context))
    return ("tbf", "rate", f"{rate_bps}bit", "burst", str(burst_bytes(rate_bps, context)), "limit", str(size))


def _rate_settings(stage: Stage, state: State) -> Iterator[Setting]:
    rate_bps = fault.rate_bps(state)
    if rate_bps is not None and state.asked.trace is None:
        yield Setting("rate in bit/s", rate_bps, RATE, "rate_bps", 8 if state.asked.shaper is None else 0)


def _buffer(stage: Stage, state: State, change: bool) -> Words:
    """The queue of a buffer in packets. A buffer in bytes belongs to the token bucket itself."""
    if state.asked.rate_bps is None or stage.limit_unit == "bytes" or stage.queue is not None:
        return ()
    return ("pfifo", "limit", str(state.limit))


def _buffer_settings(stage: Stage, state: State) -> Iterator[Setting]:
    if state.asked.rate_bps is not None and state.limit is not None and state.queue is None:
        handle = BUFFER if stage.limit_unit == "packets" else RATE
        yield Setting(f"buffer in {stage.limit_unit}", state.limit, handle, "limit")


def _queue_settings(stage: Stage, state: State) -> Iterator[Setting]:
    if state.queue is not None:
        for each in queue.told(state.queue):
            yield Setting(f"{each.what} of {state.queue.type}", each.asked, BUFFER, each.name, each.slack)


def _policy(stage: Stage) -> Chain | None:
    """Every packet passes the meter from the start, so that the bucket of a sender above the rate is empty by then."""
    policing = stage.policing
    if policing is None:
        return None
    over = ("quota", "over", str(policing.after_bytes), "bytes")
    limit = ("limit", "rate", "over", str(policing.rate_bps // 8), "bytes/second")
    burst = ("burst", str(policing.burst_bytes), "bytes")
    policed = ("counter", "name", f'"{stage.policed_counter}"', "drop")
    return Chain(
        (stage.passed_counter, stage.policed_counter),
        (
            ("counter", "name", f'"{stage.passed_counter}"'),
            (*over, "meta", "mark", "set", OVER_VOLUME),
            (*limit, *burst, "meta", "mark", OVER_VOLUME, *policed),
        ),
    )


def _of_fault(key: str) -> Callable[[Stage, State], Iterator[Setting]]:
    def settings_of_fault(stage: Stage, state: State) -> Iterator[Setting]:
        for what, number, handle, name in fault.numbers(stage, state, key):
            yield Setting(what, number, handle, name, TICK_NS if name == "delay_ns" and number else 0)

    return settings_of_fault


def _policer(state: State) -> Words:
    return () if state.asked.policer is None else paced.policer_words(state.asked.policer)


def _policer_settings(stage: Stage, state: State) -> Iterator[Setting]:
    if state.asked.policer is not None:
        yield from _exactly(paced.policer_told(state.asked.policer), POLICE)


def _per_flow(stage: Stage, state: State, context: Context) -> Words:
    cap = state.asked.per_flow
    return () if cap is None else paced.per_flow_words(cap, flow_burst_bytes(cap, context), stage.flow_bytes)


def _trace_settings(stage: Stage, state: State) -> Iterator[Setting]:
    if state.asked.trace is not None:
        yield from _exactly(paced.trace_told(state.asked.trace), RATE)


def _exactly(told: paced.Told, handle: str) -> Iterator[Setting]:
    return (Setting(what, asked, handle, name) for what, asked, name in told)


MAKINGS: dict[str, Making] = {
    "delay": Making(netem=_delay, takes_superpackets=True, read_back=_delay_settings),
    "jitter": Making(netem=_jitter, read_back=_jitter_settings),
    "loss": Making(netem=_random_loss, drop=_periodic_loss, read_back=_loss_settings),
    "rate": Making(shaper=_rate, read_back=_rate_settings),
    "buffer": Making(queue=_buffer, read_back=_buffer_settings),
    "policy": Making(chain=_policy),
    "down": Making(),
    "ack_loss": Making(),
    "corrupt": Making(),
    "duplicate": Making(read_back=_of_fault("duplicate")),
    "reorder": Making(read_back=_of_fault("reorder")),
    "aggregate": Making(read_back=_of_fault("aggregate")),
    "shaper": Making(),
    "policer": Making(policer=_policer, read_back=_policer_settings),
    "per_flow": Making(per_flow=_per_flow),
    "trace": Making(read_back=_trace_settings),
    "queue": Making(queue=lambda stage, state, change: queue.words_of(state.queue, change), read_back=_queue_settings),
}
"""A row for each of IMPAIRMENTS, in the order in which tc accepts options of netem. Netlink does not report periodic
losses and policies: the gate counts what they drop. The rules of faults are in `fault_rules`. A shaper and a trace are
made with the rate that they bring."""
