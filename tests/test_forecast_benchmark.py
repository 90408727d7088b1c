"""What `python -m benchmarks forecast` prints of what it has measured."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.forecast import Measured, Sample, report
from testbed.sweep.forecast import Work

MIB = 1 << 20


def trial(told_s: float, took_s: float, told_mib: int = 50, seen_mib: int = 50) -> Measured:
    return Measured(Work(0.3, told_s, 0.1, 10.0, True, touched_bytes=told_mib * MIB), took_s, seen_mib * MIB)


FAIR = tuple(Sample(f"fair-{n}", 4, (trial(float(n), n + 0.4),)) for n in range(1, 21))


def test_a_forecast_of_others_trials_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert report(FAIR) == 0
    assert "both within 30%: 20 of 20 scenarios run, of 20 shipped" in capsys.readouterr().out


def test_the_speed_of_the_machine_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    slow = [Sample(each.name, 4, tuple(replace(t, cpu_s=3 * t.cpu_s) for t in each.trials)) for each in FAIR]
    assert report(slow) == 0


@pytest.mark.parametrize(
    ("odd", "kind"),
    [(trial(1.0, 4.2), "time"), (trial(4.0, 1.0), "time"), (trial(1.0, 1.4, 50, 90), "memory")],
)
def test_an_odd_one_does_not_learn_from_itself(capsys: pytest.CaptureFixture[str], odd: Measured, kind: str) -> None:
    assert report((*FAIR, Sample("odd", 1, (odd,)))) == 1
    assert f"{kind} within 30%: 20 of 21 scenarios run" in capsys.readouterr().out


def test_what_was_not_run_is_no_success(capsys: pytest.CaptureFixture[str]) -> None:
    """But for scenarios that go by the wall clock."""
    left = Sample("long", 1, left_out="a trial takes about 900 s")
    assert report((*FAIR, left)) == 1
    assert "long" in capsys.readouterr().out
    assert report((*FAIR, Sample("host", 1, left_out="its trials go by the wall clock", is_real=True))) == 0
    assert report(()) == 1
    assert report((left,)) == 2
