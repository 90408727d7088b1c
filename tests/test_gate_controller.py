"""The gate's words about controllers that start late or are killed: only what was asked for is fine."""

from __future__ import annotations

from dataclasses import replace

import pytest
from trials import SWITCH

from testbed.model.openflow import Controller
from testbed.plan.node.control_channel import Channel
from testbed.trial.subject import openflow
from testbed.trial.subject.openflow import ControllerEvidence

LATE, KILLED = Controller("static", start_ns=10**9), Controller("static", stop_ns=10**9)


@pytest.mark.parametrize(
    ("controller", "runs", "connected", "is_fine"),
    [
        (LATE, True, (False, True), True),
        (LATE, True, (False, False), False),  # it never came
        (LATE, False, (False, False), False),
        (LATE, False, (False, True), False),
        (KILLED, False, (True, False), True),
        (KILLED, False, (False, False), False),  # it was not there before it was killed
        (Controller("static"), True, (True, True), True),
        (Controller("static"), True, (False, True), False),
    ],
)
def test_a_controller_that_did_not_come_is_not_as_asked(
    controller: Controller, runs: bool, connected: tuple[bool, bool], is_fine: bool
) -> None:
    channel = Channel("c", controller, ("s1",))
    evidence = ControllerEvidence("c", (), {}, (), runs)
    before, after = connected
    switch = replace(SWITCH, connected_before=before, connected_after=after)
    assert openflow._is_as_asked(channel, evidence, [switch]) == is_fine
