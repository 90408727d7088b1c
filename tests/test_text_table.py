"""Tables fit the terminal, and lose nothing without a word; findings of many trials are said once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from runs import make_result, make_trials

from testbed.commands.comparison_table import write_table
from testbed.commands.result_table import finding_lines, print_trials
from testbed.commands.text_table import TIED, Column, Table
from testbed.model.scenario import Trial
from testbed.report import trust
from testbed.trial.result import PacedResult, PerFlowResult, PolicyResult, StageResult, TrialResult

AXES = tuple(Column(name, folds=True, names=True) for name in ("rtt", "loss", "congestion"))
ENDS = (Column("Mbit/s", right=True), Column("resent", right=True, drop=1), Column("queue drops", drop=2))
ROWS = (
    ("10 ms", "none", "cubic", "9121.1", "856", "10278"),
    ("100 ms", "none", "bbr", "12.5", "14", "0"),
)
NUMBERS = [text for row in ROWS for text in row[3:]]


def fit(width: int | None, columns: tuple[Column, ...] = AXES + ENDS, rows: tuple[tuple[str, ...], ...] = ROWS) -> str:
    return "\n".join(Table(columns, rows, "say so").lines(width))


def test_a_table_that_fits_or_need_not_is_left_alone() -> None:
    whole = fit(None)
    assert whole == fit(200) == fit(max(map(len, whole.splitlines())))
    assert whole.splitlines() == [
        "rtt     loss  congestion  Mbit/s  resent  queue drops",
        "10 ms   none  cubic       9121.1     856  10278",
        "100 ms  none  bbr           12.5      14  0",
    ]


def test_one_long_text_does_not_fill_the_other_rows_with_spaces_where_nothing_need_fit() -> None:
    columns = (Column("row", names=True), Column("ours", wraps=True), Column("outcome"))
    lines = fit(None, columns, (("a", "x" * 3000, "pass"), ("b", "short", "fail"))).splitlines()
    assert [len(line) for line in lines] == [5 + 60 + 2 + 7, 5 + 3000 + 2 + 4, 5 + 60 + 2 + 4]
    assert lines[1] == f"a    {'x' * 3000}  pass"


def test_headers_are_broken_first() -> None:
    assert fit(50).splitlines() == [
        "rtt     loss  congestion  Mbit/s  resent  queue",
        "                                          drops",
        "10 ms   none  cubic       9121.1     856  10278",
        "100 ms  none  bbr           12.5      14  0",
    ]


def test_what_is_equal_in_all_rows_is_said_once_and_what_is_left_out_is_named() -> None:
    assert fit(44).splitlines()[0] == "all: loss none"
    narrow = fit(30).splitlines()
    assert narrow[0] == "all: loss none"
    assert narrow[1].split() == ["rtt", "congestion", "Mbit/s"]
    assert " ".join(" ".join(narrow[4:]).split()) == "Not shown in 30 columns: resent, queue drops (say so)."


def test_rows_become_records_before_a_number_is_cut() -> None:
    lines = fit(20).splitlines()
    assert lines[1:5] == ["rtt 10 ms,", "  congestion cubic", "  Mbit/s 9121.1", "  resent 856"]
    assert all(re.search(rf"(?<!\S){re.escape(number)}(?!\S)", fit(20)) for number in NUMBERS)


@pytest.mark.parametrize("width", range(18, 70))
def test_no_line_is_too_long_and_no_number_is_cut(width: int) -> None:
    text = fit(width)
    assert max(map(len, text.splitlines())) <= width
    words = text.split()
    left_out = {"resent": {"856", "14"}, "queue drops": {"10278", "0"}}
    gone = {number for name, numbers in left_out.items() if "Not shown" in text and name in text.split("Not shown")[1]
            .replace("\n ", "") for number in numbers}  # fmt: skip
    assert [number for number in NUMBERS if number not in words and number not in gone] == []


def test_text_is_broken_between_words_and_paths_at_slashes() -> None:
    columns = (Column("what", names=True), Column("found", wraps=True))
    rows = (("kernel", "in /a/path/that/is/much/longer/than/the/column"), ("link", f"rate{TIED}1{TIED}Gbit/s, plain"))
    assert fit(26, columns, rows).splitlines() == [
        "what    found",
        "kernel  in",
        "        /a/path/that/is/",
        "        much/longer/than/",
        "        the/column",
        "link    rate 1 Gbit/s,",
        "        plain",
    ]


def test_rows_with_something_in_common_stand_under_a_heading() -> None:
    columns = (Column("cell", heads=True, names=True), Column("metric"), Column("base"))
    rows = (("10 ms, 1 flow", "goodput", "1"), ("10 ms, 1 flow", "rtt", "2"), ("20 ms, 1 flow", "rtt", "3"))
    assert fit(20, columns, rows).splitlines() == [
        "  metric   base", "10 ms, 1 flow", "  goodput  1", "  rtt      2", "20 ms, 1 flow", "  rtt      3",
    ]  # fmt: skip


def test_markup_in_cells_is_text() -> None:
    assert fit(None, (Column("a"),), (("[red]x[/]",),)) == "a\n\\[red]x\\[/]"


def finding(text: str, verdict: str = "valid") -> dict[str, str]:
    return {"check": "window", "verdict": verdict, "text": text, "hint": "look"}


def test_alike_findings_of_many_trials_are_one_line() -> None:
    trials = make_trials(("10 ms", "20 ms", "30 ms"), 2)
    found = [
        make_result(
            trial,
            findings=[finding(f"flow {flow} waited {trial.seed}.5 s") for flow in (1, 2, 8)]
            if dict(trial.params)["path.rtt"] != "20 ms"
            else [],
        )
        for trial in trials
    ]
    assert finding_lines(found) == [
        ("valid", "4 of 6 trials (rtt 10 ms, 30 ms): window: flows 1–8 waited 1.5–2.5 s (look)")
    ]


@pytest.mark.parametrize(
    ("numbers", "said"),
    [((1, 2, 3), "bulk-1–3 has 5"), ((2, 10), "bulk-2, 10 has 5"), (range(6, 90, 7), "bulk-6, …, 83 has 5")],
)
def test_names_are_a_range_only_if_all_in_it_are_meant(numbers: Sequence[int], said: str) -> None:
    (trial,) = make_trials(("10 ms",), 1)
    result = make_result(trial, findings=[finding(f"bulk-{number} has 5") for number in numbers])
    ((_, text),) = finding_lines([result])
    assert f"window: {said} (look)" in text


def test_findings_of_another_verdict_or_wording_stay_apart() -> None:
    (trial, other) = make_trials(("10 ms",), 2)
    found = [
        make_result(trial, findings=[finding("3 lost"), finding("3 lost", "suspect"), finding("none lost")]),
        make_result(other, findings=[finding("4 lost")]),
    ]
    assert finding_lines(found) == [
        ("suspect", f"{trial.id}: window: 3 lost (look)"),
        ("valid", "all 2 trials: window: 3–4 lost (look)"),
        ("valid", f"{trial.id}: window: none lost (look)"),
    ]


def test_both_directions_are_one_line_and_long_numbers_have_units() -> None:
    (trial,) = make_trials(("10 ms",), 1)
    texts = [f"path {way}: {size} bytes of {size + 1} packets in hop {hop}"
             for way, size, hop in (("forward", 10_000_000, 1), ("backward", 12_500, 2))]  # fmt: skip
    ((_, text),) = finding_lines([make_result(trial, findings=[finding(each) for each in texts])])
    assert "path forward and backward: 12.5 kB–10 MB of 12\u00a0501–10\u00a0000\u00a0001 packets" in text


def test_a_directions_own_number_stays_with_its_words() -> None:
    """What differs between the directions is a range of both, as between trials."""
    (trial,) = make_trials(("10 ms",), 1)
    same = [finding(f"path {way}: jitter") for way in ("forward", "backward")]
    assert finding_lines([make_result(trial, findings=same)]) == [
        ("valid", f"{trial.id}: window: path forward and backward: jitter (look)")
    ]


def lost(
    trial: Trial,
    *,
    periodic: int | None = None,
    random: int = 0,
    policed: int | None = None,
    capped: int | None = None,
) -> TrialResult:
    found = make_result(trial)
    policy = None if policed is None else PolicyResult(1, 8e6, 1, 0.0, 1, 1, policed, None, None)
    paced = None if capped is None else PacedResult(per_flow=PerFlowResult(8e6, 1, 0, 1, 1, 1, 1514 * capped, capped))
    stage = StageResult(
        "path", "forward", 1e8, 0.01, None, None, 0, 0, periodic or 0, periodic, 0, random, 0, None, None,
        policy=policy, paced=paced,
    )  # fmt: skip
    return replace(
        found,
        stages=(stage,),
        asked=replace(found.asked, dropped_packets=periodic),
        seen=replace(found.seen, dropped_packets=periodic or 0, random_drops=random),
    )


def test_what_a_policy_a_cap_or_a_random_loss_dropped_is_in_the_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    (trial,) = make_trials(("10 ms",), 1)

    def head_and_row(found: TrialResult) -> dict[str, str]:
        print_trials([found])
        head, row, *_ = capsys.readouterr().out.splitlines()
        return dict(zip(re.split(r"  +", head), re.split(r"  +", row), strict=True))

    policed = head_and_row(lost(trial, policed=108370))
    assert policed["policed"] == "108370"
    assert {"dropped", "random drops"}.isdisjoint(policed)
    assert head_and_row(lost(trial, policed=0))["policed"] == "0", "a policy that never began"
    assert head_and_row(lost(trial, capped=875))["policed"] == "875", "a cap of each flow"
    assert head_and_row(lost(trial, capped=875, policed=5))["policed"] == "880"
    both = head_and_row(lost(trial, periodic=4, random=7))
    assert (both["dropped"], both["random drops"]) == ("4/4", "7")
    assert {"policed", "random drops"}.isdisjoint(head_and_row(lost(trial, periodic=4)))
    assert "dropped" in head_and_row(lost(trial))


def test_drops_on_the_way_back_are_in_the_table_and_the_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    (trial,) = make_trials(("10 ms",), 1)
    found = lost(trial, periodic=4, random=7)
    back = replace(found.stages[0], way="backward", dropped_packets=3, expected_drops=3, random_drops=2438)
    there = replace(found, stages=(*found.stages, back))
    print_trials([there])
    row = capsys.readouterr().out.splitlines()[1]
    assert re.search(r"  7/7 +2445  ", row), row
    shown = trust.asked_and_seen(there)
    assert (shown["drops"], shown["random_drops"]) == ([7, 7], 2445)
    assert "random loss: dropped 2445 packets in 1 trial" in trust.agreement([there])
    off = replace(there, stages=(found.stages[0], replace(back, dropped_packets=2)))
    assert "periodic loss: exactly the number of packets asked for in 0 of 1 trial" in trust.agreement([off])
    assert (found.seen.random_drops, there.seen.random_drops) == (7, 7), "those on the data's way"
    assert (replace(found, stages=()).random_drops, replace(found, stages=()).periodic_drops) == (7, (4, 4))


@pytest.mark.parametrize("width", [60, 80, 120])
def test_results_fit_the_terminal(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    found = [make_result(trial, findings=[finding("a long story " * 9)]) for trial in make_trials()]
    print_trials(found)
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= width
    assert said.endswith("\n4 valid\n")


def test_many_notes_that_begin_alike_are_counted_and_a_file_has_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes = [*(f"suspect: trial {n}" for n in range(5)), "left out: one", "left out: two"]
    write_table([], notes, "overall: same", None)
    assert capsys.readouterr().out.splitlines() == [
        *notes[:3], "suspect: 2 more (--format json lists them)", *notes[5:], "overall: same",
    ]  # fmt: skip
    write_table([], notes, "overall: same", tmp_path / "all.txt")
    assert (tmp_path / "all.txt").read_text().splitlines() == [*notes, "overall: same"]
