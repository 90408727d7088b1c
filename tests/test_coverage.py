"""How often the intervals that are printed hold the true value: at least 93 % where they say 95 %."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from benchmarks import coverage
from benchmarks.coverage import NOISES, QUANTITIES, REPETITIONS, Counts, Noise

LEAST = 0.93
RUNS = 300
SURE = 0.998


def bounds(counts: Counts) -> tuple[float, float]:
    """Clopper-Pearson bounds of the coverage."""
    found = stats.binomtest(counts.held, counts.now).proportion_ci(SURE, method="exact")
    return float(found.low), float(found.high)


@pytest.fixture(scope="module")
def tables() -> dict[tuple[Noise, int], dict[str, Counts]]:
    return {
        (noise, n): coverage.covered(noise, n, RUNS, seed=7, with_before=False) for noise in NOISES for n in REPETITIONS
    }


@pytest.mark.slow
@pytest.mark.xdist_group("coverage")
@pytest.mark.parametrize("name", QUANTITIES)
def test_intervals_cover_at_every_noise_and_number_of_runs_and_surely_over_all(
    name: str, tables: dict[tuple[Noise, int], dict[str, Counts]]
) -> None:
    """No cell is shown to be below 93 %; all together are shown to be above."""
    cells = {key: table[name] for key, table in tables.items()}
    assert all(each.now == RUNS for each in cells.values())
    low = {key: each.held for key, each in cells.items() if bounds(each)[1] < LEAST}
    assert not low
    together = Counts(0, sum(each.now for each in cells.values()), sum(each.held for each in cells.values()))
    assert bounds(together)[0] > LEAST


def test_the_percentile_bootstrap_that_was_printed_before_did_not() -> None:
    """And the coverage test would have seen it. It is SciPy's."""
    found = coverage.covered(NOISES[0], 3, 200, seed=1)
    assert all(bounds(Counts(0, 200, found[name].then))[1] < LEAST for name in QUANTITIES)
    generator = np.random.default_rng(3)
    samples = np.array(coverage.TRUE_BPS)[:, None] * NOISES[1].draw(generator, (5, 10))
    old = coverage.before(samples, samples[0], np.random.default_rng(4))["mean"]
    known = stats.bootstrap(
        (samples[coverage.AT],), np.mean, method="percentile", n_resamples=9999, rng=np.random.default_rng(5)
    ).confidence_interval
    spread = known.high - known.low
    assert (old.low, old.high) == pytest.approx((known.low, known.high), abs=0.1 * spread)


def test_with_many_runs_the_intervals_are_those_of_the_bootstrap_bca() -> None:
    """Of C_UC and of the relative difference, with 200 repetitions: an independent method, which needs many."""
    generator = np.random.default_rng(11)
    samples = np.array(coverage.TRUE_BPS)[:, None] * NOISES[1].draw(generator, (5, 200))
    weights = coverage._c_uc_weights()

    def c_uc(*rows: np.ndarray, axis: int = -1) -> np.ndarray:
        means = [row.mean(axis=axis) for row in rows]
        return sum(w * m for w, m in zip(weights, means, strict=True)) / coverage.CAPACITY_BPS + 0.25  # type: ignore[no-any-return]

    def relative(row: np.ndarray, axis: int = -1) -> np.ndarray:
        return row.mean(axis=axis) / coverage.TRUE_BPS[coverage.AT] - 1  # type: ignore[no-any-return]

    now = coverage.now(samples, samples[0])
    for name, rows, statistic in (("C_UC", tuple(samples), c_uc), ("difference", (samples[coverage.AT],), relative)):
        known = stats.bootstrap(rows, statistic, method="BCa", n_resamples=4999, rng=generator).confidence_interval
        found = now[name]
        assert found is not None
        spread = known.high - known.low
        assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=0.08 * spread)


def test_one_run_has_no_interval() -> None:
    assert set(coverage.now(np.array(coverage.TRUE_BPS)[:, None], np.array([5e9])).values()) == {None}


def test_the_table_fits_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert coverage.main(runs=2) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + len(QUANTITIES) * len(NOISES)
    assert max(map(len, lines)) <= 80
