"""What an emulator does to packets, as values, and a row of facts for each impairment. Pure, no I/O.

Times are one-way unless a name says rtt; probabilities are exact Fractions; absent is None.

IMPAIRMENTS has what is the same of an impairment wherever one meets it. By the same keys, how files write it is in
`spec.topology.link.impairment`, what commands it becomes and how it reads back in `plan.link.impairment`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from ... import units
from ...codec import scalar
from ...codec.fault import Fault
from ...codec.frozen import dataclass
from ...codec.keyed import Keyed, Kind, key, keyed
from ...codec.kind import FLAG, FRACTION, SPAN, number, whole, word
from . import fault
from .bucket import PerFlow, Policer, Shaper, per_flow_words, policer_words, shaper_words
from .buffer import Buffer, buffer_words
from .extent import share_faults
from .queue import Queue, queue_words
from .trace import Trace
from .trace import words as trace_words

EVERY_MIN, EVERY_MAX = 2, 10**8
"""The range of X in "1 in X"."""


EVERY = whole(EVERY_MIN, EVERY_MAX, "One packet out of this number is dropped.")
PHASE = Kind(
    lambda value: value if value == "seeded" else scalar.whole(0, EVERY_MAX - 1)(value),
    schema={
        "anyOf": [
            {"const": "seeded"},
            number(0, EVERY_MAX - 1, "How many packets earlier the first drop comes."),
        ],
        "description": "Where the count begins: less than `every`, or seeded (drawn from the trial's seed).",
    },
)


@keyed
class PeriodicLoss(Keyed):
    """Periodic loss: one data packet in `every`.

    With phase 0 it is the `every`-th, the 2·`every`-th, …; phase k (up to `every` - 1) makes the first drop
    come k packets earlier; "seeded" draws k from the trial's seed. SYNs and pure ACKs are not counted.
    """

    every: int = key("every", EVERY)
    phase: int | Literal["seeded"] = key("phase", PHASE, default=0)

    def faults(self) -> Iterator[Fault]:
        if self.phase != "seeded" and self.phase >= self.every:
            what = f"a phase of {self.phase} is too large"
            yield Fault(("phase",), what, f"0 to {self.every - 1}, seeded", named=True)


@keyed
class RandomLoss(Keyed):
    """Independent random loss.

    Each packet is dropped with a probability strictly between 0 and 1.
    """

    probability: Fraction = key("random", FRACTION)

    def faults(self) -> Iterator[Fault]:
        if not 0 < self.probability < 1:
            what = "nothing or everything would be lost"
            yield Fault(("random",), what, "more than 0 % and less than 100 %", named=True)
        yield from share_faults(self.probability, "random")


@keyed
class GilbertElliott(Keyed):
    """The parameters of a Gilbert-Elliott chain.

    Loss in bursts: a two-state Markov chain, advanced by each packet. `p` is the probability to go from good to bad and
    `r` from bad to good, both above 0; `loss_bad` and `loss_good` are the probabilities to lose a packet in each state
    (Elliott's 1-h and 1-k).
    """

    p: Fraction = key("p", FRACTION)
    r: Fraction = key("r", FRACTION)
    loss_bad: Fraction = key("loss_bad", FRACTION, default=Fraction(1))
    loss_good: Fraction = key("loss_good", FRACTION, default=Fraction(0))

    def faults(self) -> Iterator[Fault]:
        for name in ("p", "r"):
            if not getattr(self, name):
                yield Fault((name,), f"{name} is 0: the state would never change", "more than 0 %", named=True)
        for name in ("p", "r", "loss_bad", "loss_good"):
            yield from share_faults(getattr(self, name), name)


Loss: TypeAlias = PeriodicLoss | RandomLoss | GilbertElliott

Distribution: TypeAlias = Literal["uniform", "normal", "pareto", "paretonormal"]


DISTRIBUTION = word("uniform", "normal", "pareto", "paretonormal")
NETEM_SD: Mapping[Distribution, float] = {
    "uniform": 1 / math.sqrt(3), "normal": 1.0, "pareto": 0.81968, "paretonormal": 0.83394
}  # fmt: skip
"""The standard deviation of what netem draws, over what it calls jitter: half the width of a uniform distribution, and
for the others the factor of a table. The figures are those of iproute2's tables.
"""
LOWEST: Mapping[Distribution, float] = {"uniform": 1.0, "normal": 4.0, "pareto": 0.66663, "paretonormal": 1.50208}
"""By how much the shortest delay that netem draws is below the mean, over what it calls jitter."""
HUNDREDTH: Mapping[Distribution, float] = {"uniform": 1.0, "normal": 2.33, "pareto": 0.66663, "paretonormal": 1.08}
"""The same of the delay below which 1 % are."""
WHOLE_NS, ENOUGH_NS = 1000, 20_000
"""From so many ns on a jitter that follows from its standard deviation is rounded to whole microseconds."""


@keyed
class Jitter(Keyed):
    """Jitter in full.

    Variation of the one-way delay, at least 1 ns.
    `sd_ns` is its standard deviation; in its place `most_ns` is by how much it varies at most, each as likely.
    `reorder` says whether a packet may overtake one sent before it.
    """

    sd_ns: int | None = key("sd", SPAN, "The standard deviation of the one-way delay.", default=None)
    distribution: Distribution = key("distribution", DISTRIBUTION, default="uniform")
    reorder: bool = key("reorder", FLAG, "Whether a packet may overtake one sent before it.", default=False)
    most_ns: int | None = key(
        "most", SPAN, "In place of sd: a uniform delay of up to so much less and more.", default=None
    )

    def faults(self) -> Iterator[Fault]:
        if self.sd_ns is None and self.most_ns is None:
            yield Fault((), "this does not say how much the delay varies", "sd, or most: a time such as 2 ms")
        elif self.sd_ns is not None and self.most_ns is not None:
            yield Fault(("most",), "sd and most exclude each other", "one of the two", named=True)
        elif self.most_ns is not None and self.distribution != "uniform":
            what = f"a {self.distribution} distribution has no such end"
            yield Fault(("most",), what, "sd, or distribution: uniform", named=True)

    @property
    def netem_ns(self) -> int:
        """What netem calls jitter."""
        if self.sd_ns is None:
            return self.most_ns or 0
        exact_ns: float = self.sd_ns / NETEM_SD[self.distribution]
        step_ns = 1 if exact_ns < ENOUGH_NS else WHOLE_NS
        return step_ns * round(exact_ns / step_ns)

    @property
    def below_ns(self) -> float:
        """By how much the shortest delay is below the mean, if that is long enough."""
        return LOWEST[self.distribution] * self.netem_ns

    def is_more_than(self, delay_ns: int) -> bool:
        """Whether it cannot be around this delay: netem's jitter is more, and some delays would be below 0."""
        return min(self.netem_ns, self.below_ns) > delay_ns

    def is_cut(self, delay_ns: int) -> bool:
        """Whether more than 1 % of the delays around this one would be below 0, and are 0."""
        return HUNDREDTH[self.distribution] * self.netem_ns > delay_ns

    @property
    def is_plain(self) -> bool:
        """Whether a time alone says all of it."""
        return self.most_ns is not None and not self.reorder


@dataclass(frozen=True)
class Policy:
    """After a volume a direction is policed: what comes faster than `rate_bps` is dropped, nothing waits.

    Both count IP packets, without the Ethernet header. The volume is drawn from `low_bytes` to `high_bytes`, uniformly
    and from the trial's seed; it is fixed where they are the same. `rate_bps` is a multiple of 8.
    """

    rate_bps: int
    low_bytes: int
    high_bytes: int


@dataclass(frozen=True)
class Direction:
    """What one direction of a link does; the rate counts whole Ethernet frames, 1514 bytes for MTU 1500.

    `rate_bps` None is no limit, `delay_ns` 0 no delay; `buffer` None leaves the size to the plan, `queue` None is a
    fifo. With a `shaper` or `trace` the rate is theirs. `more` has what only its own rows look at, by key, in order.
    """

    rate_bps: int | None = None
    delay_ns: int = 0
    jitter: Jitter | None = None
    loss: Loss | None = None
    buffer: Buffer | None = None
    policy: Policy | None = None
    shaper: Shaper | None = None
    policer: Policer | None = None
    per_flow: PerFlow | None = None
    trace: Trace | None = None
    queue: Queue | None = None
    more: tuple[tuple[str, Any], ...] = ()

    @property
    def is_emulated(self) -> bool:
        """Whether it does anything at all."""
        return self != UNIMPAIRED

    def value(self, name: str) -> Any:
        """What a field has, or one of `more`; None if it is absent."""
        return getattr(self, name) if name in _FIELDS else dict(self.more).get(name)

    def with_value(self, name: str, value: Any) -> Direction:
        """The same with another value of a field, or of one of `more`, which None takes away."""
        if name in _FIELDS:
            return replace(self, **{name: value})
        rest = {**dict(self.more), name: value}
        return replace(self, more=tuple((key, rest[key]) for key in sorted(rest) if rest[key] is not None))

    def completed(self, other: Direction, *, is_data: bool = True) -> Direction:
        """The same with the values of another where it has none itself, of the impairments that a link says for the
        direction of the data, or for that of the answers.
        """
        found = self
        for row in IMPAIRMENTS.values():
            if row.is_of_answers is is_data:
                continue
            if self.value(row.name) is None and other.value(row.name) is not None:
                found = found.with_value(row.name, other.value(row.name))
        return found


_FIELDS = frozenset(each.name for each in fields(Direction)) - {"more"}

UNIMPAIRED = Direction()
"""A direction that passes on everything as it comes."""


def mean_loss(loss: Loss | None) -> float:
    """The share of packets that are dropped in the long run; of the two-state chain, in its stationary state."""
    if loss is None:
        return 0.0
    if isinstance(loss, PeriodicLoss):
        return 1 / loss.every
    if isinstance(loss, RandomLoss):
        return float(loss.probability)
    assert isinstance(loss, GilbertElliott), f"BUG: {loss}"
    bad: Fraction = loss.p / (loss.p + loss.r)
    return float(bad * loss.loss_bad + (1 - bad) * loss.loss_good)


Way = Literal["forward", "backward"]


@dataclass(frozen=True)
class Impairment:
    """What is the same of an impairment for files, plan, gate and people.

    - `key`: in files and axes.
    - `words`: a value for people; `label` what they call it ("": as its key).
    - `field`: of Direction; "" is one of `more`.
    - `total`: the key of both directions together, of which each has half; None where a sum means nothing.
    - `is_of_data`: one value in a file is for the direction of the data, not for both.
    - `is_of_answers`: that value is for the other direction, in which the acknowledgements go.
    - `of_data`: follows the words of such a value.
    - `is_apart`: people are told each direction by itself, also where both have the same value.
    - `varies_by_direction`: an axis can vary one direction.
    - `in_schedule`: it can change while a workload runs.
    - `on_channel`: the channel to a controller can have it.
    - `resends`: TCP may send segments again because of it, though nothing was dropped.
    - `note`: what a reader of the result should know, and a hint.
    - `rate_bps`: of a value that brings a rate with it, which is then that of the direction; None of all others.
    """

    key: str
    words: Callable[[Any], str]
    field: str = ""
    label: str = ""
    of_data: str = " of data"
    is_apart: bool = False
    total: str | None = None
    is_of_data: bool = False
    is_of_answers: bool = False
    varies_by_direction: bool = True
    in_schedule: bool = True
    on_channel: bool = False
    resends: bool = False
    note: Callable[[Any], tuple[str, str]] | None = None
    rate_bps: Callable[[Any], int] | None = None

    @property
    def name(self) -> str:
        """What Direction.value() knows it by."""
        return self.field or self.key

    @property
    def keys(self) -> tuple[str, ...]:
        """In files: that of the total, and its own."""
        return (self.key,) if self.total is None else (self.total, self.key)


def loss_words(loss: Loss) -> str:
    """Such as "1 in 10000" or "random 0.1 %"."""
    if isinstance(loss, PeriodicLoss):
        one_in = units.format_one_in(loss.every)
        return f"{one_in}, phase {loss.phase}" if loss.phase else one_in
    if isinstance(loss, RandomLoss):
        return f"random {units.format_fraction(loss.probability)}"
    chances = (f"{key}={units.format_fraction(getattr(loss, key))}" for key in ("p", "r", "loss_bad", "loss_good"))
    return f"gilbert-elliott {' '.join(chances)}"


def _jitter_words(jitter: Jitter) -> str:
    if jitter.sd_ns is None:
        return units.format_time(jitter.most_ns or 0)
    return f"sd {units.format_time(jitter.sd_ns)} {jitter.distribution}"


def _jitter_note(jitter: Jitter) -> tuple[str, str]:
    reordered = "packets overtake one another, and TCP may take that for loss"
    ordered = "packets wait for the one before, so the mean delay is longer"
    return reordered if jitter.reorder else ordered, "reorder: true or false decides which"


def _policy_words(policy: Policy) -> str:
    low, high = units.format_size(policy.low_bytes), units.format_size(policy.high_bytes)
    return f"{units.format_rate(policy.rate_bps)} after {low}" + (f" to {high}" if high != low else "")


IMPAIRMENTS: dict[str, Impairment] = {
    row.key: row
    for row in (
        Impairment(
            "delay", units.format_time, "delay_ns", label="one way", is_apart=True, total="rtt", on_channel=True
        ),
        Impairment("rate", units.format_rate, "rate_bps", on_channel=True),
        Impairment("loss", loss_words, "loss", is_of_data=True, on_channel=True),
        Impairment("buffer", buffer_words, "buffer"),
        Impairment("jitter", _jitter_words, "jitter", in_schedule=False, resends=True, note=_jitter_note),
        Impairment(
            "policy",
            _policy_words,
            "policy",
            of_data="",
            is_of_data=True,
            varies_by_direction=False,
            in_schedule=False,
        ),
        Impairment("down", fault.down_words),
        Impairment(
            "ack_loss",
            fault.pick_words,
            label="loss of ACKs",
            of_data=" of the direction of the answers",
            is_of_data=True,
            is_of_answers=True,
        ),
        Impairment("corrupt", fault.pick_words, label="corrupted"),
        Impairment("duplicate", fault.pick_words, label="duplicated"),
        Impairment("reorder", fault.reorder_words, label="reordered", resends=True, note=fault.reorder_note),
        Impairment(
            "aggregate", fault.aggregate_words, label="aggregated", in_schedule=False, note=fault.aggregate_note
        ),
        Impairment("shaper", shaper_words, "shaper", in_schedule=False, rate_bps=lambda shaper: shaper.rate_bps),
        Impairment("policer", policer_words, "policer", in_schedule=False),
        Impairment("per_flow", per_flow_words, "per_flow", label="of each flow", in_schedule=False),
        Impairment("trace", trace_words, "trace", in_schedule=False, rate_bps=lambda trace: trace.rate_bps),
        Impairment("queue", queue_words, "queue"),
    )
}
"""By key, in the order in which axes are listed."""


def names_of(is_data: bool) -> frozenset[str]:
    """What Direction.value() knows of the impairments whose one value is for the direction of the data, or not."""
    return frozenset(row.name for row in IMPAIRMENTS.values() if row.is_of_answers is not is_data)
