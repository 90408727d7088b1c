"""A policy on volume in runs of UDP: the step that it causes, its time, and the runs that show it. Pure, no I/O.

Judges of Persico et al., A First Look at Public-cloud Inter-datacenter Network Performance, section IV.D. The quick
size scales rates and volumes by the same factor, so the expected values are scaled by the offered rate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from testbed.api import TrialResult, UdpResult, UdpSecond, changepoint, need, statistic

from ..check import Holds, Part, Share, below, near, over
from ..check import estimate as mean_of
from ..measured import Measured, known, mbit, with_interval
from ..row import Judgement

POLICY, LENGTHS = "rate-policy", "run-length"
HIGH_BPS, LOW_BPS = 850e6, 400e6
VOLUME_BYTES = (8e9, 10e9)
SHARE, SHARE_OFF = 0.75, 0.05
STEP_S, STEP_OFF_S = 100.0, 50.0
VISIBLE_FROM_S = 100.0
HIGH_OFF_MBIT, LOW_OFF_MBIT, DROP = 5.0, 50.0, 0.5
COV_RATIO, COV_RATIO_OFF = 0.5, 0.05
LOSS_OFF = 0.01
DEEP = 0.75
"""A level counts as a step down if it is below this share of the level before."""
HEADERS_BYTES = 28
"""IPv4 and UDP: a policy counts IP packets, a datagram its payload."""
LATE_S = 2.0
"""How far the detected step may be from the time at which the policy's counter reached its volume: a sample is a
second, and the bucket of the policer holds another."""


@dataclass(frozen=True)
class Step:
    """The step down of one run. `volume_bytes` were sent before it, with IP and UDP headers; `loss` is the share of the
    datagrams sent after it that did not arrive; `crossed_s` is when the emulator's counter reached the policy's volume.
    """

    at_s: float
    volume_bytes: float
    before_bps: float
    after_bps: float
    cov_before: float
    cov_after: float
    loss: float
    offered_bps: float
    crossed_s: float | None

    @property
    def scale(self) -> float:
        return self.offered_bps / HIGH_BPS

    @property
    def cov_ratio(self) -> float | None:
        """After the step over before it; None if it was 0 there."""
        return self.cov_after / self.cov_before if self.cov_before else None

    @property
    def undelivered(self) -> float:
        """1 - delivered / offered, after the step."""
        return 1 - self.after_bps / self.offered_bps


def step_of(result: TrialResult) -> Step | None:
    """The deepest step down of the receiver's goodput per second; None if the detector finds none."""
    udp = need(UdpResult, result.measured)
    seconds = [each for each in udp.series if each.sent_datagrams][1:]  # the first waits for the path's delay
    got = _got(seconds)
    if len(got) < 2 * changepoint.SHORTEST:
        return None
    down = [shift for shift in changepoint.levels(got).shifts if shift.ratio < DEEP]
    if not down:
        return None
    at_s = min(down, key=lambda shift: shift.ratio).at_s + seconds[0].time_s
    datagram_bytes = known(udp.received_bytes) / udp.arrived_datagrams + HEADERS_BYTES
    sent = sum(each.sent_datagrams for each in udp.series if each.time_s < at_s)
    before = [each for each in seconds if each.time_s < at_s - LATE_S]
    after = [each for each in seconds if each.time_s >= at_s + LATE_S]
    return Step(
        at_s=at_s,
        volume_bytes=sent * datagram_bytes,
        before_bps=statistic.mean(_got(before)),
        after_bps=statistic.mean(_got(after)),
        cov_before=statistic.population_cov(_got(before)),
        cov_after=statistic.population_cov(_got(after)),
        loss=sum(each.lost_datagrams for each in after) / sum(each.sent_datagrams for each in after),
        offered_bps=udp.offered_bps,
        crossed_s=next((each.policy.crossed_s for each in result.stages if each.policy is not None), None),
    )


def steps_of(measured: Measured) -> list[Step]:
    """The steps of the runs that show one."""
    return [step for each in measured.results if (step := step_of(each)) is not None]


def inside_a_run(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 9a: the step from one level to the other and the loss after it, while the sender's rate stays."""
    measured = runs[POLICY]
    steps = steps_of(measured)
    if not steps:
        return _no_step(measured)
    off = max(abs(s.loss - s.undelivered) for s in steps)
    parts = (
        *_levels(measured, steps),
        Holds("loss is what is not delivered", off <= LOSS_OFF, f"{off:.1%} off"),
        Holds("the sender's rate stays", all(_is_constant(each) for each in measured.results)),
        near("CoV after over before", [s.cov_ratio for s in steps], COV_RATIO, COV_RATIO_OFF),
    )
    ours = (
        f"{mbit([s.before_bps for s in steps])} to {mbit([s.after_bps for s in steps])}, loss after it "
        f"{statistic.mean([s.loss for s in steps]):.2%} where 1 - delivered/offered is "
        f"{statistic.mean([s.undelivered for s in steps]):.2%}; CoV {_mean_cov(steps, 'cov_before')} before and "
        f"{_mean_cov(steps, 'cov_after')} after"
    )
    return Judgement(ours, parts, "no other traffic shares the path, so there is almost no variation to be halved")


def when_it_comes(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 9b: the volume and the time at which the step comes."""
    measured = runs[POLICY]
    steps, count = steps_of(measured), len(measured.results) + measured.invalid
    if not steps:
        return _no_step(measured)
    late = [abs(s.at_s - s.crossed_s) for s in steps if s.crossed_s is not None]
    times = [s.at_s for s in steps]
    in_time = sum(abs(at_s - STEP_S) <= STEP_OFF_S for at_s in times)
    parts = (
        Share("at about 100 s in more than 75 % of the runs", in_time, count, SHARE, is_strict=True, high=2.0),
        Share(
            "after 8 to 10 GB in about 75 %", len(_within_volume(steps)), count, SHARE - SHARE_OFF, SHARE + SHARE_OFF
        ),
    )
    ours = (
        f"{_volumes(steps)}, in {with_interval(times, 1, 's')} ({min(times):.0f} to {max(times):.0f} s); found within "
        f"{max(late, default=0):.1f} s of the time at which the policy's counter reached its volume"
    )
    low_s, high_s = (8 * volume / HIGH_BPS for volume in VOLUME_BYTES)
    why = (
        f"we draw every volume from 8 to 10 GB, and a quarter of theirs lay outside; at 850 Mbit/s these volumes take "
        f"{low_s:.0f} to {high_s:.0f} s, and 100 s would be 10.6 GB"
    )
    return Judgement(ours, parts, why)


def needs_long_runs(runs: Mapping[str, Measured]) -> Judgement:
    """Section IV.D: a run shorter than 100 s shows no step, a longer one does."""
    share = {length: (len(steps_of(part)), len(part.results)) for length, part in _by_length(runs[LENGTHS]).items()}
    ours = "step found in " + ", ".join(
        f"{seen} of {all_} runs of {length} s" for length, (seen, all_) in share.items()
    )
    short = [seen for length, (seen, _) in share.items() if length < VISIBLE_FROM_S]
    long = [seen == all_ for length, (seen, all_) in share.items() if length > VISIBLE_FROM_S]
    parts = (
        Holds("no short run shows a step", not any(short) if short else None),
        Holds("every long run shows one", all(long) if long else None),
    )
    return Judgement(ours, parts)


def detector(runs: Mapping[str, Measured]) -> Judgement:
    """K14: the detector finds 850 to 400 Mbit/s once 8 to 10 GB have passed, and nothing in runs too short for it."""
    measured = runs[POLICY]
    steps, lengths = steps_of(measured), needs_long_runs(runs)
    if not steps:
        return _no_step(measured)
    within = len(_within_volume(steps)) == len(measured.results)
    parts = (*_levels(measured, steps), Holds("after 8 to 10 GB in every run", within), *lengths.parts)
    levels = f"{mbit([s.before_bps for s in steps])} to {mbit([s.after_bps for s in steps])}"
    return Judgement(f"{levels} after {_volumes(steps)}; {lengths.ours}", parts)


def _no_step(measured: Measured) -> Judgement:
    ours = f"no step in {len(measured.results)} runs"
    return Judgement(ours, (Holds("every run steps", False if measured.results else None),))


def _levels(measured: Measured, steps: Sequence[Step]) -> tuple[Part, ...]:
    """Every run has a step, and the levels before and after it are the printed ones."""
    high, low = [s.before_bps / s.scale / 1e6 for s in steps], [s.after_bps / s.scale / 1e6 for s in steps]
    seen = f"{len(steps)} of {len(measured.results)}"
    return (
        Holds("every run steps", len(steps) == len(measured.results), seen),
        near("the first level, Mbit/s", high, HIGH_BPS / 1e6, HIGH_OFF_MBIT),
        near("the second level, Mbit/s", low, LOW_BPS / 1e6, LOW_OFF_MBIT),
        below("it drops by more than half", mean_of((1, over(low, high))), DROP),
    )


def _within_volume(steps: Sequence[Step]) -> list[Step]:
    """The steps after the printed volume. Volumes are known to within what is sent in a second."""
    second_bytes = HIGH_BPS / 8
    low, high = VOLUME_BYTES[0] - second_bytes, VOLUME_BYTES[1] + second_bytes
    return [s for s in steps if low <= s.volume_bytes / s.scale <= high]


def _volumes(steps: Sequence[Step]) -> str:
    return f"{min(s.volume_bytes for s in steps) / 1e9:.3g} to {max(s.volume_bytes for s in steps) / 1e9:.3g} GB"


def _mean_cov(steps: Sequence[Step], name: str) -> str:
    return f"{statistic.mean([getattr(s, name) for s in steps]):.1e}"


def _got(seconds: Sequence[UdpSecond]) -> list[float]:
    return [each.goodput_bps for each in seconds]


def _is_constant(result: TrialResult) -> bool:
    """Whether the same number of datagrams left in each second; the last second may be cut short."""
    sent = [each.sent_datagrams for each in need(UdpResult, result.measured).series if each.sent_datagrams][:-1]
    return bool(max(sent) <= min(sent) * 1.01 + 40)


def _by_length(measured: Measured) -> dict[int, Measured]:
    """The parts by the duration of their runs in whole seconds, the shortest first."""
    parts = {round(known(part.results[0].workload_s)): part for part in measured.split("duration").values()}
    return dict(sorted(parts.items()))
