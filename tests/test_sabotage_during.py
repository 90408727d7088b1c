"""The edits of sabotage_during.py: each must be found, or be an exception with its reason. `make test` carries out one
for each law, `make nightly` all of them; and networks that nobody tampers with are found to be as asked.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import sabotage_during
import sane
from sabotage_during import EDITS, PLANS, Edit
from trials import RunTrial

from testbed.kernel.guest import TrialError

DRAWN = tuple(sabotage_during.drawn())

EXCEPTIONS: dict[str, str] = {
    r"tcp_early_retrans=0 in tb-b": "it acts on what b sends, and b sends no data",
}
"""Patterns of names, and why the gate says nothing."""

OF_EACH_LAW: dict[str, str] = {
    "plain: rate 90 % between two samples": "rate",
    "plain: round trip of 8 ms": "set-up",
    "plain: a second flow": "account",
    "udp: datagrams": "account",
    "on-off: background with reno": "background",
    "plain: MTU 1000 at connect": "sockets",
    "ecn: marks by a rule": "ECN",
    "plain: no hystart": "congestion control",
    "shaper: credit burnt before the start": "account",
}
"""Edits in `make test`, with the check that speaks."""


def excused(edit: Edit) -> bool:
    return any(re.search(pattern, edit.name) for pattern in EXCEPTIONS)


def found(edit: Edit, folder: Path) -> set[str]:
    """The checks that found something; that a trial fails counts, too."""
    try:
        return {each.check for each in sabotage_during.done(edit, folder).findings if each.verdict != "valid"}
    except TrialError:
        return {"failed"}


@pytest.mark.lab
@pytest.mark.parametrize("name", OF_EACH_LAW)
def test_each_law_finds_its_edit(name: str, tmp_path: Path) -> None:
    (edit,) = (each for each in EDITS if each.name == name)
    assert OF_EACH_LAW[name] in found(edit, tmp_path)


@pytest.mark.lab
@pytest.mark.nightly
@pytest.mark.parametrize("edit", [each for each in (*EDITS, *DRAWN) if not excused(each)], ids=lambda each: each.name)
def test_the_gate_finds_what_was_done_while_the_workload_ran(edit: Edit, tmp_path: Path) -> None:
    assert found(edit, tmp_path)


@pytest.mark.lab
@pytest.mark.nightly
@pytest.mark.parametrize("edit", [each for each in (*EDITS, *DRAWN) if excused(each)], ids=lambda each: each.name)
def test_an_exception_is_needed(edit: Edit, tmp_path: Path) -> None:
    assert not found(edit, tmp_path)


@pytest.mark.lab
@pytest.mark.nightly
@pytest.mark.parametrize("plan", PLANS)
def test_without_an_edit_a_trial_is_valid(plan: str, run_trial: RunTrial) -> None:
    result = run_trial(**PLANS[plan]).result
    assert result.verdict == "valid", result.warnings


@pytest.mark.lab
@pytest.mark.nightly
@pytest.mark.parametrize(("name", "changes"), list(sane.sane()), ids=lambda each: each if isinstance(each, str) else "")
def test_a_drawn_network_is_as_asked(name: str, changes: dict[str, Any], run_trial: RunTrial) -> None:
    result = run_trial(**changes).result
    assert result.verdict != "invalid", result.warnings


@pytest.mark.lab
def test_flows_that_starve_in_a_network_as_asked_are_no_fault_of_it(run_trial: RunTrial) -> None:
    result = run_trial(
        path={"rate": "10 Mbit/s", "buffer": "20 packets"}, workload={"flows": 40, "duration": "3 s"}
    ).result
    starved = sum(flow.received_bytes == 0 for flow in result.flows)
    assert starved
    assert result.verdict == "suspect", result.warnings
    brought_nothing = [each for each in result.findings if "brought nothing: full queues" in each.text]
    assert len(brought_nothing) == starved
    assert {each.check for each in result.findings if each.verdict != "valid"} == {"data"}


@pytest.mark.lab
def test_a_link_whose_acknowledgements_wait_is_not_too_slow(run_trial: RunTrial) -> None:
    result = run_trial(
        path={"rate": {"forward": "100 Mbit/s", "backward": "1 Mbit/s"}, "buffer": "200 packets"},
        workload={"duration": "3 s"},
        samples={"interval": "10 ms"},
    ).result
    assert "rate" not in {each.check for each in result.findings}, result.warnings


@pytest.mark.lab
def test_resets_after_the_end_beside_background_are_no_fault(run_trial: RunTrial) -> None:
    """A host answers each acknowledgement on its way with one, and the background's end keeps the network up."""
    noise = {"pattern": "constant", "from": "a", "to": "b", "rate": "1 Mbit/s"}
    result = run_trial(path={"rtt": "100 ms"}, workload={"duration": "2 s"}, background={"noise": noise}).result
    assert result.verdict == "valid", result.warnings


def test_the_list_is_that_of_the_attack_and_twenty_more() -> None:
    assert len(EDITS) == 46
    assert len(DRAWN) == sabotage_during.DRAWN
    names = [each.name for each in (*EDITS, *DRAWN)]
    assert len(set(names)) == len(names)
    assert set(OF_EACH_LAW) <= set(names)


@pytest.mark.parametrize("pattern", EXCEPTIONS)
def test_an_exception_is_of_something_in_the_list(pattern: str) -> None:
    assert any(re.search(pattern, each.name) for each in (*EDITS, *DRAWN))
