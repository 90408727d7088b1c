"""What a trial asks for in vain is said before it runs, and in its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from trials import Ran, make_trial

from testbed.model.scenario import Trial
from testbed.trial.orders.remark import remarks
from testbed.trial.orders.sequence import orders

ECN = ("net.ipv4.tcp_ecn", "1")

IN_VAIN = {
    "dctcp": make_trial(workload={"congestion": "dctcp"}),
    "one of two flows": make_trial(workload={"congestion": ["cubic", "dctcp"], "flows": 2}),
    "the sysctl": replace(make_trial(), sysctls=(ECN,)),
    "background": make_trial(
        background={"bulk": {"pattern": "on-off", "from": "a", "to": "b", "busy": "1 s", "idle": "1 s",
                             "congestion": "dctcp"}}
    ),
}  # fmt: skip
NOT = {
    "cubic": make_trial(),
    "the sysctl that only answers": replace(make_trial(), sysctls=(("net.ipv4.tcp_ecn", "2"),)),
    "no ECN": replace(make_trial(), sysctls=(("net.ipv4.tcp_ecn", "0"),)),
}


def said(trial: Trial) -> list[str]:
    return [what for _, what, _ in remarks(trial, orders(trial).plan)]


@pytest.mark.parametrize("trial", IN_VAIN.values(), ids=IN_VAIN)
def test_marks_that_no_queue_makes_deserve_a_remark(trial: Trial) -> None:
    (what,) = said(trial)
    assert "mark packets (ECN), and they can only drop" in what


@pytest.mark.parametrize("trial", NOT.values(), ids=NOT)
def test_who_asks_for_no_marks_gets_no_remark(trial: Trial) -> None:
    assert said(trial) == []


@pytest.mark.lab
def test_the_remark_is_in_the_result_and_changes_no_verdict(run_trial: Callable[..., Ran]) -> None:
    ran = run_trial(workload={"congestion": "dctcp"})
    assert ran.findings["ECN"] == "valid"
    assert ran.result.verdict == "valid"
    assert "ECN" not in run_trial().findings
