"""C_U, C_CC and C_UC: the anchors, the closed forms, and what the printed formulas do instead."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.analysis import concavity
from testbed.analysis.concavity import Curve
from testbed.analysis.profile import ThroughputProfile

L = 10e9
FLAT = Curve((0, 1), (1, 1))
LINE = Curve((0, 1), (1, 0))
FAR_STEP = Curve((0, 1, 1), (1, 1, 0))
NEAR_STEP = Curve((0, 0, 1), (1, 0, 0))
FALLING = st.lists(st.floats(0, 1), min_size=2, max_size=12).map(lambda values: sorted(values, reverse=True))


def smooth(function: object) -> Curve:
    x = np.linspace(0, 1, 20_001)
    return Curve(tuple(x.tolist()), tuple(function(x).tolist()))  # type: ignore[operator]


@pytest.mark.parametrize(
    ("curve", "c_uc"),
    [
        (FLAT, 0.75),
        (LINE, 0.5),
        (FAR_STEP, 1.0),
        (NEAR_STEP, 0.0),
        (Curve((0, 1), (0.5, 0.5)), 0.5),
        (Curve((0, 1), (0, 0)), 0.25),
    ],
    ids=["flat", "line", "step at the far end", "step at the near end", "half", "nothing"],
)
def test_the_anchors_are_exact(curve: Curve, c_uc: float) -> None:
    assert concavity.utilization_concavity(curve) == pytest.approx(c_uc, abs=1e-12, rel=0)


def test_the_anchors_of_two_parabolas_are_met_as_well_as_trapezoids_can() -> None:
    assert concavity.utilization_concavity(smooth(lambda x: 1 - x**2)) == pytest.approx(2 / 3, abs=1e-8)
    assert concavity.utilization_concavity(smooth(lambda x: (1 - x) ** 2)) == pytest.approx(1 / 3, abs=1e-8)


@given(FALLING)
def test_c_uc_is_the_closed_form_and_within_0_and_1_if_the_profile_falls(values: list[float]) -> None:
    curve = Curve(tuple(np.linspace(0, 1, len(values)).tolist()), tuple(values))
    found = concavity.utilization_concavity(curve)
    assert found == pytest.approx(curve.mean - (values[0] + values[-1]) / 4 + 0.25, abs=1e-12)
    assert -1e-12 <= found <= 1 + 1e-12


def test_a_profile_that_rises_again_can_leave_0_to_1() -> None:
    assert concavity.utilization_concavity(Curve((0, 0, 1, 1), (1, 0, 0, 1))) == pytest.approx(-0.25)
    assert concavity.utilization_concavity(Curve((0, 0, 1, 1), (0, 1, 1, 0))) == pytest.approx(1.25)


@given(FALLING)
def test_c_cc_of_the_mirror_image_has_the_other_sign(values: list[float]) -> None:
    x = tuple(np.linspace(0, 1, len(values)).tolist())
    mirrored = tuple(1 - value for value in reversed(values))
    assert concavity.convex_concave(Curve(x, tuple(values))) == pytest.approx(
        -concavity.convex_concave(Curve(x, mirrored)), abs=1e-12
    )


def test_c_u_is_0_at_capacity_and_1_if_nothing_is_sent() -> None:
    assert concavity.under_utilization(FLAT) == 0
    assert concavity.under_utilization(Curve((0, 1), (0, 0))) == 1
    assert concavity.under_utilization(LINE) == 0.5


def test_a_profile_is_normalized_by_its_range_and_the_capacity() -> None:
    profile = ThroughputProfile.of_means({0.05: 10e9, 0.1: 5e9, 0.25: 2.5e9})
    assert concavity.normalized(profile, L) == Curve((0.0, 0.25, 1.0), (1.0, 0.5, 0.25))


def test_the_coefficients_in_bits_are_the_normalized_ones_times_the_area() -> None:
    profile = ThroughputProfile.of_means({0.05: 10e9, 0.1: 9e9, 0.25: 2.5e9})
    curve, area = concavity.normalized(profile, L), L * 0.2
    assert concavity.convex_concave_bits(profile) == pytest.approx(area * concavity.convex_concave(curve))


@given(st.floats(0, 0.3), st.floats(0, 1e10), st.floats(0, 1e10), st.floats(0, 1e10))
def test_the_printed_chord_is_off_by_the_first_rtt_times_the_fall(
    first_rtt: float, first: float, middle: float, last: float
) -> None:
    profile = ThroughputProfile.of_means({first_rtt: first, first_rtt + 0.1: middle, first_rtt + 0.4: last})
    error = concavity.convex_concave_bits_as_printed(profile) - concavity.convex_concave_bits(profile)
    assert error == pytest.approx(first_rtt * (first - last), abs=1.0)


def test_the_printed_chord_makes_a_straight_line_concave() -> None:
    line = ThroughputProfile.of_means({0.05: 10e9, 0.35: 0.0})
    assert concavity.convex_concave_bits(line) == pytest.approx(0, abs=1e-3)
    assert concavity.convex_concave_bits_as_printed(line) == pytest.approx(0.05 * 10e9)


def test_a_measured_midpoint_misses_the_steps_and_the_parabola() -> None:
    misread = concavity.utilization_concavity_with_measured_midpoint
    assert misread(FAR_STEP) == 0.75
    assert misread(NEAR_STEP) == 0.25
    assert misread(smooth(lambda x: 1 - x**2)) == pytest.approx(0.5417, abs=1e-4)


def test_the_gloss_to_the_letter_misses_the_flat_profile() -> None:
    assert concavity.utilization_concavity_as_glossed(FLAT) == 0.25


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        ((0,), (1,), "at least 2"),
        ((0, 0.5), (1, 1), "from 0 to 1"),
        ((0, 0.7, 0.6, 1), (1, 1, 1, 1), "without decreasing"),
        ((0, 1), (1, -1), "negative"),
        ((0, 1), (1, float("nan")), "nan"),
    ],
)
def test_what_is_no_curve_is_refused(x: tuple, y: tuple, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Curve(x, y)


def test_a_capacity_of_0_and_a_single_rtt_are_refused() -> None:
    profile = ThroughputProfile.of_means({0.1: 1.0, 0.2: 1.0})
    with pytest.raises(ValueError, match="capacity"):
        concavity.normalized(profile, 0)
    with pytest.raises(ValueError, match="at least 2"):
        concavity.normalized(ThroughputProfile.of_means({0.1: 1.0}), L)


def test_a_negative_y_is_named_by_its_place() -> None:
    with pytest.raises(ValueError, match=r"y is negative at x = 0\.25"):
        Curve((0.0, 0.25, 1.0), (1.0, -0.5, 0.2))
