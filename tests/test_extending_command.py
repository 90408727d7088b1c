"""A kind of command from outside: the page's code, in a script, in a batch, and in what the gate compares."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from shipped import page
from test_gate import fine
from trials import make_trial, steps_data

from testbed.plan.batch import steps
from testbed.plan.command import Command, script
from testbed.plan.linux import Address, Up
from testbed.trial.evidence.case import Case
from testbed.trial.gate.judge import judge
from testbed.trial.orders.sequence import orders

CODE = page("A kind of command", "python")


@pytest.fixture
def command() -> Command:
    found: dict[str, Any] = {}
    exec(compile(CODE, "docs/extending.md", "exec"), found)
    made = found["QueueLength"]("eth0", 50, netns="tb-a")
    assert isinstance(made, Command)
    return made


def test_it_is_a_line_of_the_script(command: Command) -> None:
    assert script([command]) == "ip -n tb-a link set dev eth0 txqueuelen 50\n"


def test_it_is_carried_out_with_its_neighbours_in_one_process(command: Command) -> None:
    around = (Address("10.0.0.1/24", "eth0", netns="tb-a"), command, Up("eth0", netns="tb-a"))
    (batch,) = steps_data(steps(around))
    assert batch["run"] == ["ip", "-n", "tb-a", "-batch", "-"]
    assert batch["stdin"].splitlines()[1] == "link set dev eth0 txqueuelen 50"


def test_the_gate_finds_a_kernel_that_does_not_have_it(command: Command) -> None:
    trial = make_trial()
    plan = orders(trial).plan
    asked = replace(plan, commands=(*plan.commands, command))
    assert not judge(Case(trial, plan, fine(trial, plan)))
    assert not judge(Case(trial, asked, fine(trial, asked)))
    (found,) = judge(Case(trial, asked, fine(trial, plan)))
    assert (found.check, found.verdict) == ("set-up", "invalid")
    assert "eth0 txqueuelen: asked 50, the kernel has 1000" in found.text
