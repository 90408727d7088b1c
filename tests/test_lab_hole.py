"""Data that waited behind a lost segment, in the lab kernel: a good trial whose receiver got more than the rate for a
while.
"""

from __future__ import annotations

import pytest
from trials import RunTrial

pytestmark = pytest.mark.lab

PATH = {"rate": "20 Mbit/s", "rtt": "50 ms", "buffer": "0.1 bdp"}
TWO = {"flows": 2, "congestion": "bbr", "duration": "3 s", "leave_out": {"rtts": 20}}


def test_two_bbr_flows_may_be_handed_more_than_the_rate_after_a_hole_was_filled(run_trial: RunTrial) -> None:
    """What came before the steady state, and waited behind a hole, is handed over in it: up to 20.93 Mbit/s over 20, by
    about one seed in four. The goodput counts what arrived in that time, of which headers leave 19.13.
    """
    trials = [run_trial(path=PATH, workload=TWO, seed=seed) for seed in range(1, 17)]
    assert {ran.result.verdict for ran in trials} == {"valid"}
    more = [ran for ran in trials if (ran.result.handed_over_bps or 0) > 20.02e6]
    assert more
    assert {ran.findings.get("goodput") for ran in more} == {"valid"}
    assert max(ran.result.goodput_bps or 0 for ran in trials) < 20e6 * 1448 / 1514 * 1.001
