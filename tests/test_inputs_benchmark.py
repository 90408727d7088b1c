"""The inputs of reproductions that a program drew or fitted are those in the files."""

from collections import Counter

import pytest

from benchmarks import inputs
from testbed_reproductions.paper.object_store_check import HOMES


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
