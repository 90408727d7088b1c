"""`testbed compare` on real runs: a changed congestion control is found, and the same one twice is the same."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from testbed import cli
from testbed.analysis import tcp_model

pytestmark = [pytest.mark.lab, pytest.mark.slow]

LOSS, RTT_S = 1 / 20000, 0.08

SCENARIO = """
name: control
topology:
  name: net
  nodes: {a: {type: host}, b: {type: host}}
  links:
    path: {ends: [a, b], rate: 100 Mbit/s, rtt: 80 ms, loss: {every: 20000, phase: seeded}, buffer: 1 bdp, jitter: 1 us}
workload: {tool: flow, from: a, to: b, duration: 40 s, leave_out: 10 s, congestion: cubic}
sweep: {flows: [1]}
repetitions: 4
"""


def command(*words: str | Path) -> int:
    """Runs a command in this process; its exit code."""
    sys.argv = ["testbed", *map(str, words)]
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folders cubic, again (the same) and reno."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "control.yaml").write_text(SCENARIO)
    for name, control in (("cubic", "cubic"), ("again", "cubic"), ("reno", "reno")):
        words = ("run", folder / "control.yaml", "-o", folder / name, "--set", f"workload.congestion={control}")
        assert command(*words) == 0
    return folder


@pytest.fixture(autouse=True)
def _argv(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", sys.argv)


def test_two_runs_of_the_same_are_the_same_in_every_cell(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("compare", runs / "cubic", runs / "again", "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert {cell["verdict"] for cell in found["cells"]} == {"same"}
    assert {cell["effect"] for cell in found["cells"]} == {0.0}


def test_another_congestion_control_is_found_with_the_effect_that_theory_has(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """CUBIC's average window over Reno's, by RFC 9438, section 5. A third either way, for 30 s have few epochs."""
    assert command("compare", runs / "cubic", runs / "reno", "--metric", "goodput", "--format", "json") == 1
    found = json.loads(capsys.readouterr().out)
    (cell,) = found["cells"]
    expected = tcp_model.reno_window_segments(LOSS) / tcp_model.cubic_window_segments(LOSS, RTT_S) - 1
    assert cell["verdict"] == "worse"
    assert cell["relative"] == pytest.approx(expected, rel=1 / 3)
    assert found["differences"] == ["workload.congestion: cubic → reno"]
