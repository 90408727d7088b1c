"""`testbed cc` draws the ACKs of the cells that differ most: which, when not, and where the pages are."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console
from runs import make_result, write_result
from test_cc_suite import SCENARIO

from testbed.commands.candidate import ack_pages, contender, verdict
from testbed.commands.candidate import suite as suite_module
from testbed.commands.candidate.contender import Contender, Pair
from testbed.commands.candidate.suite import Suite
from testbed.commands.sequential import until_decided
from testbed.commands.sequential.budget import Budget
from testbed.kernel.guest import TrialError
from testbed.kernel.image.cache import KernelImage
from testbed.model.run_setting import LAB
from testbed.model.scenario import Trial
from testbed.report import ack_page
from testbed.sweep import run as sweep
from testbed.trial.orders.sequence import Orders
from testbed.trial.result import TrialResult


class Made:
    """Stands for all kernels: trials in which the candidate has so much less goodput, by the cell's RTT."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, less: dict[str, float]) -> None:
        self.sockets: int | None = None
        self.damaged: str | None = None
        self.less, self.recorded, self.pages, self.now_s = less, list[tuple[str, str, int]](), list[Any](), 0.0
        monkeypatch.setattr(sweep.runner, "run", self.run)
        monkeypatch.setattr(sweep.readiness, "check", lambda trial, made: None)
        monkeypatch.setattr(contender.software, "here", lambda: {"python": "3"})
        monkeypatch.setattr(ack_page, "page", self.page)
        for module in (sweep, suite_module, until_decided, ack_pages):
            monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: self.now_s, time=lambda: 0.0))
        self.path = tmp_path / "short.yaml"
        self.path.write_text(f"{SCENARIO}sweep: {{path.rtt: [{', '.join(less)}]}}\n")
        self.console = Console(record=True, width=200, file=io.StringIO())

    def run(self, trial: Trial, made: Orders, folder: Path, **options: Any) -> TrialResult:
        rtt, control = dict(trial.params)["path.rtt"], trial.workload.asked_flows[0].congestion
        if trial.acks:
            self.recorded.append((control, rtt, trial.seed))
        share = 1 - self.less[rtt] if control == "foo" else 1.0
        result = make_result(trial, goodput_bps=(1e7 + 1e3 * trial.seed) * share)
        write_result(folder, trial, result)
        if self.sockets is not None:
            pq.write_table(
                pa.table({"time_s": pa.array([0.5] * self.sockets, pa.float64())}), folder / "samples.parquet"
            )
        return result

    def page(self, title: str, sides: Any, between: Any = None) -> str:
        self.pages.append((title, [(each.label, each.folder.is_dir()) for each in sides]))
        return f"page of {title}"

    def judged(self, wall_s: float | None = None) -> tuple[Path, dict[Any, str]]:
        """The candidate's folder, and the pages by cell."""
        image = KernelImage("mine", Path("/nowhere/linux"), "7.3.4", "", False, "", "key")
        pair = Pair(*(Contender(name, name, LAB, image) for name in ("cubic", "foo")))
        output = self.path.with_name("out")
        made = Suite(pair, (self.path,), output, Budget(repetitions=3), 1, self.console, self.now_s)
        found = made.carry_out()
        assert found is not None
        before = verdict.sentence(pair, found)
        made = replace(made, budget=Budget(repetitions=3, wall_s=wall_s))
        if self.damaged is not None:
            (file,) = output.glob(self.damaged)
            file.write_bytes(b"PAR1 and then nothing")
        pages = dict(ack_pages.write(made, found))
        about = pair, found, (), made.candidate, made.own, made.rules()
        verdict.write_evidence(*about, pages)
        assert verdict.sentence(pair, found) == before
        return made.candidate, pages


FOUR = {"10 ms": 0.2, "20 ms": 0.5, "30 ms": -0.4, "40 ms": 0.3}


def test_the_three_that_differ_most_are_drawn_and_linked_the_worse_ones_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    there = Made(monkeypatch, tmp_path, FOUR)
    home, pages = there.judged()
    assert list(pages.values()) == [f"acks-{number}-short.html" for number in (1, 2, 3)]
    assert [dict(params)["path.rtt"] for _, params in pages] == ["20 ms", "40 ms", "10 ms"]
    assert there.recorded == [(control, rtt, 1) for rtt in ("20 ms", "40 ms", "10 ms") for control in ("cubic", "foo")]
    assert [sides for _, sides in there.pages] == [[("base: cubic", True), ("candidate: foo", True)]] * 3
    evidence = (home / "evidence.html").read_text()
    for name in pages.values():
        assert f'<a href="{name}">' in evidence
        assert (home / name).read_text().startswith("page of ")
    again = there.judged()[1]
    assert (again, len(there.recorded)) == (pages, 6)


def test_nothing_is_drawn_of_what_is_the_same_and_pages_of_before_are_gone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    there = Made(monkeypatch, tmp_path, {"10 ms": 0.0, "20 ms": 0.001})
    home, _ = there.judged()
    (home / "acks-1-short.html").write_text("old")
    home, pages = there.judged()
    assert (pages, there.recorded, list(home.glob("acks-*"))) == ({}, [], [])
    assert 'href="acks' not in (home / "evidence.html").read_text()


def test_of_what_sends_nothing_over_tcp_nothing_is_drawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A program that speaks QUIC: its trials have samples, and none of a socket of TCP."""
    there = Made(monkeypatch, tmp_path, FOUR)
    there.sockets = 0
    assert there.judged()[1] == {}
    assert there.console.export_text().count("no socket of TCP sent anything") == 3
    assert there.recorded == []
    there.sockets = 1
    there.path = there.path.rename(tmp_path / "longer.yaml")
    assert len(there.judged()[1]) == 3


def test_damaged_samples_cost_their_page_alone_and_are_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Damaged since they were compared, which says so, too."""
    there = Made(monkeypatch, tmp_path, FOUR)
    there.sockets = 1
    there.damaged = "base/*/short/trials/rtt=20ms,seed=1/samples.parquet"
    pages = there.judged()[1]
    assert sorted(dict(params)["path.rtt"] for _, params in pages) == ["10 ms", "40 ms"]
    said = "".join(there.console.export_text().split())
    assert "samples.parquetisdamaged:" in said
    assert "measuresitagain:rm-r" in said


def test_without_time_left_nothing_is_drawn_and_that_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    there = Made(monkeypatch, tmp_path, FOUR)
    _, pages = there.judged(wall_s=0.0)
    assert (pages, there.recorded) == ({}, [])
    assert "no pages of the ACKs of 3 cells that differ: they take" in there.console.export_text()


def test_a_trial_without_a_result_costs_its_page_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    there = Made(monkeypatch, tmp_path, FOUR)
    run = there.run

    def broken(trial: Trial, made: Orders, folder: Path, **options: Any) -> TrialResult:
        if trial.acks and dict(trial.params)["path.rtt"] == "20 ms":
            raise TrialError("it hangs")
        return run(trial, made, folder, **options)

    monkeypatch.setattr(sweep.runner, "run", broken)
    _, pages = there.judged()
    assert [dict(params)["path.rtt"] for _, params in pages] == ["40 ms", "10 ms"]
    assert "a trial of it has no result" in there.console.export_text()
