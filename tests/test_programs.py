"""Programs that others wrote, as `scenarios/programs` has them: valid in the lab kernel, and the same bytes again."""

from __future__ import annotations

from pathlib import Path

import pytest
from shipped import ROOT

from testbed.error import MachineError
from testbed.spec.load import load_scenario
from testbed.trial import readiness, run
from testbed.trial.folder import same_files
from testbed.trial.orders.sequence import orders

FOLDER = ROOT / "scenarios" / "programs"
NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml"))


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_program_is_measured_and_repeats(name: str, tmp_path: Path) -> None:
    trial = load_scenario(FOLDER / f"{name}.yaml").trials()[-1]
    try:
        readiness.check_programs(trial.workload, is_lab=True)
    except MachineError as missing:
        pytest.skip(str(missing))
    made = orders(trial)
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        result = run.run(trial, made, tmp_path / folder)
        assert [str(each) for each in result.findings if each.verdict != "valid"] == []
    assert same_files(tmp_path / "one", tmp_path / "two") == ()
