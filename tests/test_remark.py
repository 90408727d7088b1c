"""What a trial asks for in vain is said before it runs, and in its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from trials import Ran, make_trial
from typer.testing import CliRunner

from testbed.cli import app
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
    "a change before the end": make_trial({"schedule": [{"at": "999 ms", "rtt": "4 ms"}]}),
    "a change of which nobody knows": make_trial({"schedule": [{"at": "9 s", "rtt": "4 ms"}]}, {"bytes": "1 MB"}),
    "a change of an event": make_trial({"schedule": [{"when": {"state": "recovery"}, "rtt": "4 ms"}]}),
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


@pytest.mark.parametrize("at_s", [1, 4, 100])
def test_a_change_that_never_happens_deserves_a_remark(at_s: int, tmp_path: Path) -> None:
    trial = make_trial({"schedule": [{"at": f"{at_s} s", "rtt": "4 ms"}]})
    (said,) = remarks(trial, orders(trial).plan)
    what = f"path: the change at {at_s} s never happens"
    assert said == ("schedule", what, "the workload is over after 1 s")
    file = tmp_path / "late.yaml"
    file.write_text(f"""
name: late
topology:
  name: t
  nodes: {{a: {{type: host}}, b: {{type: host}}}}
  links: {{path: {{ends: [a, b], rate: 10 Mbit/s, rtt: 20 ms, schedule: [{{at: {at_s} s, rtt: 4 ms}}]}}}}
workload: {{tool: flow, from: a, to: b, duration: 1 s}}
""")
    for command, line in (("check", "  remark: "), ("plan", "# remark: ")):
        ran = CliRunner().invoke(app, [command, str(file)])
        assert (ran.exit_code, ran.output.splitlines()[-1]) == (0, f"{line}{what} (the workload is over after 1 s)")


@pytest.mark.lab
def test_the_remark_is_in_the_result_and_changes_no_verdict(run_trial: Callable[..., Ran]) -> None:
    ran = run_trial(workload={"congestion": "dctcp"})
    assert ran.findings["ECN"] == "valid"
    assert ran.result.verdict == "valid"
    assert "ECN" not in run_trial().findings
