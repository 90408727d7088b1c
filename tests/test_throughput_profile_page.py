"""docs/throughput-profile.md has the means of what is kept: more seeds change both."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import mean

import pyarrow.parquet as pq
import pytest

from testbed_reproductions import kept

PAGE = (Path(__file__).parent.parent / "docs" / "throughput-profile.md").read_text()
CONTROLS = {"CUBIC": "cubic", "HTCP": "htcp", "BBR": "bbr", "Scalable": "scalable"}


@cache
def kept_bps(scenario: str) -> dict[tuple[str, str, str, str], list[float]]:
    """The goodput of each trial, by loss, control, number of flows, and RTT."""
    found = defaultdict(list)
    for text in pq.read_table(kept.FOLDER / "full" / f"{scenario}.parquet", columns=["result.json"])[0].to_pylist():
        result = json.loads(text)
        of = result["params"]
        loss = of["path.loss"].partition(",")[0].replace("every", "1 in")
        found[loss, of["congestion"], of["flows"], of["path.rtt"]].append(result["goodput_bps"])
    return found


def lines(first: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Of the table whose first cell is this: each line, its cells with those that stand for the ones above, and the
    names of its columns.
    """
    rows = PAGE.splitlines()
    begin = next(number for number, row in enumerate(rows) if row.startswith(f"| {first} |"))
    head = [each.strip() for each in rows[begin].strip("|").split("|")]
    above = [""] * len(head)
    for row in rows[begin + 2 :]:
        if not row.startswith("|"):
            return
        cells = [each.strip() for each in row.strip("|").split("|")]
        above = [now or before for now, before in zip(cells, above, strict=True)]
        yield row, above, head


@pytest.mark.parametrize(
    ("first", "scenario", "count"),
    [("congestion control", "throughput-profile", 16), ("loss", "throughput-profile-loss", 24)],
)
def test_the_tables_have_the_means_of_what_is_kept(first: str, scenario: str, count: int) -> None:
    of_cell = kept_bps(scenario)
    seen = 0
    for row, cells, head in lines(first):
        *loss, control, flows = cells[: head.index("flows") + 1]
        rtts = head[head.index("flows") + 1 :]
        begin = row.rsplit(" | ", len(rtts))[0]
        means = [mean(of_cell[(*loss, "none")[0], CONTROLS[control], flows, rtt]) for rtt in rtts]
        assert row == " | ".join([begin, *(f"{each / 1e9:.3f}" for each in means)]) + " |"
        seen += 1
    assert seen == count


@pytest.mark.parametrize("scenario", ["throughput-profile", "throughput-profile-loss"])
def test_the_page_has_their_number(scenario: str) -> None:
    assert f" {sum(map(len, kept_bps(scenario).values()))} trials" in PAGE
