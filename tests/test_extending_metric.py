"""A metric from outside: the page's code registers it, and all that shows metrics has it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from comparing import said_by
from shipped import ROOT, page
from storedruns import Made, write_run

from results import plain
from testbed.analysis.metric import METRICS, Metric, register
from testbed.compare import run
from testbed.compare.side import Measured, single
from testbed.model.run_setting import METRIC_UNITS
from testbed.report import stored_run
from testbed.report.figure import draw
from testbed.report.figure.option import Options
from testbed.report.view import view

Command = Callable[..., str]

CODE = page("A metric", "python")
SEEDS = range(1, 9)


@pytest.fixture(autouse=True)
def queue() -> Iterator[Metric]:
    exec(compile(CODE, "docs/extending.md", "exec"), {})
    yield METRICS["queue"]
    del METRICS["queue"]
    del METRIC_UNITS["queue"]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    return lambda *words: said_by(capsys, *words).out


def stored(folder: Path, packets: int, every: int = 3) -> Path:
    """A run whose fullest buffer held so many packets, and a few more with some seeds."""

    def stages(seed: int) -> list[dict[str, object]]:
        return [{"link": "path", "max_backlog_packets": packets + seed % every}, {"link": "back"}]

    return write_run(
        folder, [Made({"flows": "1"}, [1e6 * seed], seed, data={"stages": stages(seed)}) for seed in SEEDS]
    )


def test_two_runs_are_compared_by_it(tmp_path: Path, command: Command) -> None:
    base, candidate = stored(tmp_path / "base", 50), stored(tmp_path / "candidate", 90, every=2)
    said = json.loads(command("compare", str(base), str(candidate), "--format", "json"))
    (cell,) = (each for each in said["cells"] if each["metric"] == "queue")
    assert (cell["unit"], cell["verdict"]) == ("packets", "worse")
    assert cell["candidate"] - cell["base"] == pytest.approx(40, abs=1)
    everybodys = {name for name, metric in METRICS.items() if metric.only is None}
    assert {each["metric"] for each in said["cells"]} == everybodys - {"fairness"}  # which one flow has not
    table = command("compare", str(base), str(candidate), "--metric", "queue")
    assert "queue (packets)" in table
    assert "goodput" not in table


def test_a_difference_that_is_none_is_the_same(tmp_path: Path, command: Command) -> None:
    base, candidate = stored(tmp_path / "base", 50), stored(tmp_path / "candidate", 50)
    said = json.loads(command("compare", str(base), str(candidate), "--format", "json", "--metric", "queue"))
    assert said["verdict"] == "same"


def test_results_show_it_for_trials_and_cells(tmp_path: Path, command: Command) -> None:
    folder = str(stored(tmp_path / "run", 50))
    assert "queue (packets)" in command("results", folder, "--metric", "queue", "--by", "trial")
    table = command("results", folder, "--metric", "queue", "--by", "cell")
    assert "mean queue (packets)" in table
    assert "51.12 ± 0.7" in table
    (cell,) = json.loads(command("results", folder, "--metric", "queue", "--by", "cell", "--format", "json"))
    assert (cell["metrics"]["queue"]["trials"], cell["metrics"]["queue"]["mean"]) == (8, 51.125)
    first, *_ = json.loads(command("results", folder, "--metric", "queue", "--by", "trial", "--format", "json"))
    assert first["metrics"] == {"queue": 51}
    assert "metrics.queue.mean" in command("results", folder, "--metric", "queue", "--by", "cell", "--format", "csv")
    assert "metrics.queue" in command("results", folder, "--metric", "queue", "--format", "csv")
    assert "queue (packets)" not in command("results", folder)


def test_the_report_shows_it(tmp_path: Path, command: Command) -> None:
    folder = stored(tmp_path / "run", 50)
    shown = view(stored_run.read(folder))
    assert {each["name"]: each["title"] for each in shown["metrics"]}["queue"] == "queue (packets)"
    assert [each["metrics"]["queue"] for each in shown["trials"]] == [50 + seed % 3 for seed in SEEDS]
    command("report", str(folder))
    assert "most packets that waited in one buffer" in (folder / "report.html").read_text()


def test_its_distribution_can_be_drawn(tmp_path: Path) -> None:
    file = tmp_path / "cdf.svg"
    draw("cdf", stored_run.read(stored(tmp_path / "run", 50)), file, Options(metric="queue"))
    assert "most packets that waited in one buffer (packets)" in file.read_text()


def test_a_trial_that_tells_nothing_counts_nowhere(tmp_path: Path, command: Command) -> None:
    folder = str(write_run(tmp_path / "run", [Made({"flows": "1"}, [1e6], seed) for seed in (1, 2)]))
    (cell,) = json.loads(command("results", folder, "--metric", "queue", "--by", "cell", "--format", "json"))
    assert cell["metrics"] == {"queue": None}


def test_an_unknown_metric_is_refused_with_those_that_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = stored(tmp_path / "run", 50)
    code, _, err = said_by(capsys, "results", folder, "--metric", "queu")
    assert code == 2
    assert "queue" in err


def test_no_two_metrics_have_one_name(queue: Metric) -> None:
    with pytest.raises(AssertionError, match="BUG: two metrics with the name 'queue'"):
        register(queue)


def test_comparisons_take_all_metrics_that_there_are_when_they_are_made() -> None:
    trial = Measured(plain(), {}, {name: 1.0 for name in METRICS})
    found = run.compare(single("a", [trial]), single("b", [trial]))
    assert [each.key.metric for each in found.cells] == [*METRICS]


@pytest.mark.parametrize("name", sorted({*METRICS} - {"queue"}))
def test_the_documentation_lists_every_metric(name: str) -> None:
    table = (ROOT / "docs" / "comparison.md").read_text()
    assert f"`{name}`" in table, f"docs/comparison.md does not say what the metric {name} is"
