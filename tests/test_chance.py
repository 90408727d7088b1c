"""Random losses and chance: the bounds are exact, and what is as asked is refused once in a million at most."""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom

from testbed.model.link.impairment import GilbertElliott, RandomLoss
from testbed.trial.gate.chance import CONFIDENCE, ERROR_RATE, at_most, can_be, excluded


@given(st.integers(1, 100_000), st.data(), st.floats(1e-6, 1 - 1e-6))
def test_tails_are_those_of_the_binomial_distribution(trials: int, data: st.DataObject, share: float) -> None:
    count = data.draw(st.integers(0, trials))
    assert at_most(count, trials, share) == pytest.approx(binom.cdf(count, trials, share), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(("packets", "dropped"), [(10_000, 0), (10_000, 20), (100, 100), (5, 1), (1_000_000, 100)])
def test_excluded_shares_are_those_of_clopper_and_pearson(packets: int, dropped: int) -> None:
    tail = (1 - CONFIDENCE) / 2
    low = beta.ppf(tail, dropped, packets - dropped + 1) if dropped else 0.0
    high = beta.ppf(1 - tail, dropped + 1, packets - dropped) if dropped < packets else 1.0
    assert excluded(packets, dropped) == pytest.approx((low, high), rel=1e-6)


def test_without_packets_nothing_is_excluded() -> None:
    assert excluded(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(("packets", "share"), [(100, "0.1"), (10_000, "0.002"), (10_000, "0.01"), (3000, "0.5")])
def test_a_loss_as_asked_is_refused_at_most_once_in_a_million(packets: int, share: str) -> None:
    """The sum of the probabilities of all counts that are refused, of which none could be spared."""
    loss, mean = RandomLoss(Fraction(share)), round(packets * float(share))
    few = bisect_left(range(mean), True, key=lambda count: can_be([(loss, packets)], count))
    many = bisect_left(range(mean, packets), True, key=lambda count: not can_be([(loss, packets)], count)) + mean
    tails = binom.cdf(few - 1, packets, float(share)), binom.sf(many - 1, packets, float(share))
    assert sum(tails) <= ERROR_RATE
    assert binom.cdf(few, packets, float(share)) >= ERROR_RATE / 2 <= binom.sf(many - 2, packets, float(share))


CHAIN = GilbertElliott(Fraction(1, 20), Fraction(1, 4), Fraction(9, 10), Fraction(1, 100))


def test_a_chain_as_asked_is_refused_at_most_once_in_a_million() -> None:
    """Against the exact distribution, counted packet by packet, from either state."""
    packets = 300
    refused = [count for count in range(packets + 1) if not can_be([(CHAIN, packets)], count)]
    assert 0 in refused
    assert packets in refused
    states = ((float(CHAIN.loss_good), float(CHAIN.p)), (float(CHAIN.loss_bad), float(CHAIN.r)))
    for start in (0, 1):
        chances = np.zeros((2, packets + 1))  # of each state and count
        chances[start, 0] = 1.0
        for _ in range(packets):
            after = np.zeros_like(chances)
            for state, (loss, leave) in enumerate(states):
                met = chances[state] * (1 - loss)
                met[1:] += chances[state, :-1] * loss
                after[1 - state] += met * leave
                after[state] += met * (1 - leave)
            chances = after
        assert chances.sum() == pytest.approx(1)
        assert chances[:, refused].sum() <= ERROR_RATE


def test_different_losses_together_are_bounded_too() -> None:
    mixed = [(RandomLoss(Fraction(1, 100)), 10_000), (RandomLoss(Fraction(1, 1000)), 10_000), (None, 10**6)]
    assert [can_be(mixed, count) for count in (0, 110, 300)] == [False, True, False]


def test_what_nobody_met_drops_nothing() -> None:
    assert can_be([(RandomLoss(Fraction(1, 2)), 0)], 0)
    assert not can_be([(RandomLoss(Fraction(1, 2)), 0)], 1)


@pytest.mark.parametrize("packets", [999, 1000])
def test_a_chain_whose_states_lose_alike_has_the_bound_of_independent_losses(packets: int) -> None:
    """Chernoff's bound in closed form: exp(-n·D), where D is the relative entropy of the two shares."""
    share = 0.1
    alike = GilbertElliott(Fraction(1, 20), Fraction(1, 4), Fraction(1, 10), Fraction(1, 10))
    seen = np.arange(1, packets) / packets
    entropy = seen * np.log(seen / share) + (1 - seen) * np.log((1 - seen) / (1 - share))
    bounds = np.exp(-packets * entropy)
    few, *_, many = np.flatnonzero(bounds >= ERROR_RATE / 2) + 1
    assert [can_be([(alike, packets)], int(n)) for n in (few - 1, few, many, many + 1)] == [False, True, True, False]
