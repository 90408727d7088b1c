"""The trials of a scenario that rules ask about, with the student's files in it. Runs guests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ..analysis.expectation.measured import Measured, read
from ..error import UserError
from ..spec.load import load_scenario
from ..trial import run as runner
from ..trial.orders.sequence import orders

TRIALS_MAX = 64
"""Of one scenario of an exercise."""


def trials(
    scenario: Path, names: Sequence[str], folder: Path, cpu_limit_s: float, cancelled: Callable[[], bool]
) -> list[Measured]:
    """Every trial of a scenario, with the metrics of these names. The trials are in `folder`; each has so much
    processor time.

    Raises UserError for what no kernel could run, TrialError if a trial fails.
    """
    found = load_scenario(scenario).trials()
    if len(found) > TRIALS_MAX:
        raise UserError(f"{scenario.name} has {len(found)} trials; allowed: up to {TRIALS_MAX} in an exercise")
    if any(trial.kernel.kind != "lab" for trial in found):
        raise UserError(f"{scenario.name} does not run in virtual time; allowed: kernel: lab")
    done = []
    for number, trial in enumerate(found):
        if any(node.controller is not None and not node.controller.is_ours for node in trial.topology.nodes):
            raise UserError(
                f"{scenario.name} has an app in a file, which could write its own numbers; allowed: our apps"
            )
        if trial.workload.is_users_code:
            raise UserError(f"{scenario.name} runs programs, which could write their own numbers; allowed: other tools")
        here = folder / f"{number:02d}"
        here.mkdir()
        result = runner.run(trial, orders(trial), here, cancelled=cancelled, cpu_limit_s=cpu_limit_s)
        done.append(read(here, result, names))
    return done
