"""The finished run in the repository: small, readable by this version, and good for a report."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from comparing import said_by
from runs import files_of, read_json

from testbed.spec.scenario.trial import trial_of
from testbed.sweep.store import Store

EXAMPLE = Path(__file__).parents[1] / "results" / "example"
BYTES_MAX = 300_000


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """A copy of the files that belong to the repository, without what commands make of them."""
    ignored = shutil.ignore_patterns("report.html", "lock", "failed", "*.bin", "log.jsonl", "steps.json")
    shutil.copytree(EXAMPLE, tmp_path / "example", ignore=ignored)
    for table in (tmp_path / "example").glob("*.parquet"):
        table.unlink()
    return tmp_path / "example"


def test_it_is_small_and_whole(example: Path) -> None:
    assert sum(map(len, files_of(example).values())) < BYTES_MAX
    results = Store(example).results()
    assert [each.id for each in results] == read_json(example / "run.json")["trials"]
    assert len(results) == 4


def test_this_version_reads_each_trial_and_each_result(example: Path) -> None:
    for result in Store(example).results():
        folder = example / "trials" / result.id
        trial = trial_of(read_json(folder / "trial.json"), str(folder))
        assert trial.id == result.id
        assert result.verdict == "valid"
        assert result.seen.dropped_packets == (result.seen.data_packets or 0) // 10_000


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("results",), "4 valid"),
        (("report",), "report.html"),
        (("plot", "profile"), "profile.png"),
        (("query", "SELECT count(*) AS trials FROM trials"), "4"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_command_of_its_page_works(
    example: Path,
    tmp_path: Path,
    words: tuple[str, ...],
    told: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = files_of(example)
    output = {"report": ("-o", tmp_path / "report.html"), "plot": ("-o", tmp_path / "profile.png")}.get(words[0], ())
    code, out, _ = said_by(capsys, words[0], example, *words[1:], *output)
    assert code == 0
    assert told in out
    assert all(path.stat().st_size > 10_000 for path in tmp_path.glob("*.*"))
    made = {path.name for path in example.glob("*.parquet")}
    assert {name: data for name, data in files_of(example).items() if name not in made} == before
