"""A policy on volume in runs of UDP: the step that it causes, its time, and the runs that show it. Pure, no I/O.

Judges of Persico et al., A First Look at Public-cloud Inter-datacenter Network Performance, section IV.D. The quick
size scales rates and volumes by the same factor, so the expected values are scaled by the offered rate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...analysis import changepoint, statistic
from ...trial.measured import UdpResult, UdpSecond, need
from ...trial.stored_result import TrialResult
from ..reproduction.measured import Measured, known, mbit, with_interval
from ..reproduction.row import Judgement

POLICY, LENGTHS = "rate-policy", "run-length"
HIGH_BPS, LOW_BPS = 850e6, 400e6
VOLUME_BYTES = (8e9, 10e9)
SHARE = 0.75
"""The least share of runs whose volume at the step is in that range."""
VISIBLE_FROM_S = 100.0
CLOSE = 0.05
"""Relative: both levels are printed as approximate values."""
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
        return Judgement(f"no step in {len(measured.results)} runs", False)
    wrong = [*_levels_off(steps), *_loss_off(steps)]
    if len(steps) < len(measured.results):
        wrong.append(f"{len(measured.results) - len(steps)} runs show no step")
    if not all(_is_constant(each) for each in measured.results):
        wrong.append("the sender's rate changed")
    ours = (
        f"{mbit([s.before_bps for s in steps])} to {mbit([s.after_bps for s in steps])}, loss after it "
        f"{statistic.mean([s.loss for s in steps]):.2%} where 1 - delivered/offered is "
        f"{statistic.mean([s.undelivered for s in steps]):.2%}; CoV {_mean_cov(steps, 'cov_before')} before and "
        f"{_mean_cov(steps, 'cov_after')} after"
    )
    why = "CoV is not judged: no other traffic shares the path, so there is almost no variation that could be halved"
    return Judgement(ours, not wrong, "; ".join([*wrong, why]))


def when_it_comes(runs: Mapping[str, Measured]) -> Judgement:
    """Figure 9b: the volume and the time at which the step comes."""
    measured = runs[POLICY]
    steps = steps_of(measured)
    if not steps:
        return Judgement(f"no step in {len(measured.results)} runs", False)
    wrong = _volume_off(steps, len(measured.results))
    late = [abs(s.at_s - s.crossed_s) for s in steps if s.crossed_s is not None]
    if len(late) < len(steps) or max(late) > LATE_S:
        wrong.append(f"a step was found more than {LATE_S:g} s from the time at which the volume was reached")
    times = [s.at_s for s in steps]
    ours = (
        f"{_volumes(steps)}, in {with_interval(times, 1, 's')} ({min(times):.0f} to {max(times):.0f} s); found within "
        f"{max(late, default=0):.1f} s of the time at which the policy's counter reached its volume"
    )
    low_s, high_s = (8 * volume / HIGH_BPS for volume in VOLUME_BYTES)
    why = f"at 850 Mbit/s these volumes take {low_s:.0f} to {high_s:.0f} s; the printed 100 s would be 10.6 GB"
    return Judgement(ours, not wrong, "; ".join([*wrong, why]))


def needs_long_runs(runs: Mapping[str, Measured]) -> Judgement:
    """Section IV.D: a run shorter than 100 s shows no step, a longer one does."""
    share = {length: (len(steps_of(part)), len(part.results)) for length, part in _by_length(runs[LENGTHS]).items()}
    ours = "step found in " + ", ".join(
        f"{seen} of {all_} runs of {length} s" for length, (seen, all_) in share.items()
    )
    short = [seen for length, (seen, _) in share.items() if length < VISIBLE_FROM_S]
    long = [seen == all_ for length, (seen, all_) in share.items() if length > VISIBLE_FROM_S]
    is_met = bool(short) and bool(long) and not any(short) and all(long)
    return Judgement(ours, is_met)


def detector(runs: Mapping[str, Measured]) -> Judgement:
    """K14: the detector finds 850 to 400 Mbit/s once 8 to 10 GB have passed, and nothing in runs too short for it."""
    measured = runs[POLICY]
    steps, lengths = steps_of(measured), needs_long_runs(runs)
    if not steps:
        return Judgement(f"no step in {len(measured.results)} runs", False)
    wrong = [*_levels_off(steps), *_volume_off(steps, len(measured.results))]
    if len(steps) < len(measured.results):
        wrong.append(f"{len(measured.results) - len(steps)} runs of 300 s show no step")
    if not lengths.is_met:
        wrong.append("short and long runs do not differ in it")
    levels = f"{mbit([s.before_bps for s in steps])} to {mbit([s.after_bps for s in steps])}"
    return Judgement(f"{levels} after {_volumes(steps)}; {lengths.ours}", not wrong, "; ".join(wrong))


def _levels_off(steps: Sequence[Step]) -> list[str]:
    wrong = []
    for name, expected, levels in (
        ("first", HIGH_BPS, [s.before_bps / s.scale for s in steps]),
        ("second", LOW_BPS, [s.after_bps / s.scale for s in steps]),
    ):
        off = max(abs(level / expected - 1) for level in levels)
        if off > CLOSE:
            wrong.append(f"the {name} level is off by up to {off:.0%}")
    if max(s.after_bps / s.before_bps for s in steps) >= 0.5:
        wrong.append("the level drops by half or less")
    return wrong


def _loss_off(steps: Sequence[Step]) -> list[str]:
    off = max(abs(s.loss - s.undelivered) for s in steps)
    return [f"loss differs from 1 - delivered/offered by {off:.1%}"] if off > 0.01 else []


def _volume_off(steps: Sequence[Step], count: int) -> list[str]:
    """Volumes are known to within what is sent in a second."""
    second_bytes = HIGH_BPS / 8
    low, high = VOLUME_BYTES[0] - second_bytes, VOLUME_BYTES[1] + second_bytes
    within = sum(low <= s.volume_bytes / s.scale <= high for s in steps)
    return [] if within >= SHARE * count else [f"only {within} of {count} runs are within 8 to 10 GB"]


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
