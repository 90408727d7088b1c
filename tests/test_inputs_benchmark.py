"""The inputs of reproductions that a program drew or fitted are those in the files."""

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from benchmarks import inputs
from testbed.spec.load import load_scenario
from testbed_reproductions.paper import interdatacenter_path as path
from testbed_reproductions.paper.object_store_check import HOMES

FITTED = {"full": {"wan": 0.876, "peering": 0.43}, "quick": {"wan": 0.708, "peering": 0.383}}
"""What `python -m benchmarks inputs others` wrote on 28 November 2026, and in the full size on the 30th."""
DAYS = {inputs.STEADINESS: FITTED, inputs.LOADED: dict.fromkeys(FITTED, FITTED["quick"])}


def ways() -> dict[tuple[str, str], tuple[float, int]]:
    return inputs.ways_of(inputs.TOPOLOGY.read_text())


def test_the_homes_of_the_scenario_are_those_of_the_first_seed() -> None:
    (rows,) = inputs.HOME_ROWS.findall(inputs.HOMES_SCENARIO.read_text())
    assert rows == "".join(inputs.drawn_homes(ways(), seed=1))
    assert rows != "".join(inputs.drawn_homes(ways(), seed=2))


def test_each_region_has_its_homes_and_no_two_homes_are_the_same() -> None:
    rows = inputs.drawn_homes(ways(), seed=1)
    assert len(set(rows)) == len(rows) == 77
    distances = Counter(tuple(row.strip("- []\n").split(", ")[4::2]) for row in rows)
    assert sorted(distances.values()) == sorted(HOMES.values())


def test_the_next_rate_explains_what_the_last_one_left_over() -> None:
    """100 MiB at 80 Mbit/s take 10.49 s, and 1 s of them is something else: 9.49 s are left for the rest."""
    target = inputs.LARGEST / 1024 / 10.48576
    asked = inputs.next_rate(80.0, inputs.LARGEST / 1024 / 11.48576, target)
    assert asked == pytest.approx(80 * 10.48576 / 9.48576)


@pytest.mark.parametrize("scenario", DAYS)
def test_the_days_of_a_scenario_are_those_of_the_shares_that_were_fitted(scenario: Path) -> None:
    text, days = scenario.read_text(), DAYS[scenario]
    assert inputs.with_days(text, days) == text
    for size, shares in days.items():
        for way in shares:
            assert inputs.with_days(text, {**days, size: {**shares, way: 0.5}}) != text


def test_a_day_has_four_steps_around_the_usual_rate() -> None:
    night, _, rest = inputs.day(0.5, 60).partition(", ")
    assert night == "12.00 Mbit/s"
    assert re.findall(r"rate: ([\d.]+) Mbit/s", rest) == ["8", "4.00", "8"]
    assert re.findall(r"at: (\d+) s, for: 60 s, every: 240 s", rest) == ["60", "120", "180"]


def test_a_share_is_looked_for_until_it_gives_what_is_wanted() -> None:
    assert inputs.found_share(lambda share: share**2, 0.25, 0.01, (0.1, 1.0), 9) == pytest.approx(0.5, abs=0.01)
    assert inputs.found_share(lambda share: share**2, 2.0, 0.01, (0.1, 1.0), 9) is None


@pytest.mark.parametrize(("provider", "topology"), path.PROVIDERS.items())
def test_the_rates_of_region_pairs_are_those_of_the_printed_numbers(provider: str, topology: str) -> None:
    """Of full links: 1448/1514 of the rate; nothing has to run for it."""
    cells = [dict(cell.params) for cell in load_scenario(Path("scenarios/region-pairs.yaml")).cells]
    levels = [level_mbit(cell) for cell in cells if cell["topology"] == topology]
    assert len(levels) == 24
    for name, what, mbit, off in path.LEVELS_MBIT:
        if name == provider:
            assert path.LEVELS[what](levels) == pytest.approx(mbit, abs=off)


def level_mbit(params: Mapping[str, str]) -> float:
    ends = (params["workload.from"], params["workload.to"])
    (link,) = (
        key for key in params if key.endswith(".rate") and set(key.removesuffix(".rate").split("-")) == set(ends)
    )
    ways = [float(rate) for rate in re.findall(r"([\d.]+) Mbit/s", params[link])]
    sent = ways[0] if link.startswith(ends[0]) else ways[-1]
    return sent * 1448 / 1514
