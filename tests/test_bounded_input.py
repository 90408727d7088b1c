"""Input is bounded: endless files, pipes without a writer, depth and length; each limit is named in the error."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from storedruns import Made, write_run

from testbed.error import SpecError, UserError
from testbed.model.link.impairment import Direction
from testbed.model.schedule import Change, course
from testbed.plan.link.emulator import change, emulator
from testbed.spec.load import load_scenario, load_topology
from testbed.spec.scenario.topologies import read
from testbed.spec.syntax.attachment import permitted
from testbed.spec.syntax.document import EXPLAINED, Position, parse
from testbed.sweep import table
from testbed.sweep.database import open_results
from testbed.sweep.store import Store
from testbed.trial import sample_table

HEAD = "name: wan\nnodes: {client: {type: host}, server: {type: host}}\nlinks:\n  path:\n    ends: [client, server]\n"


def with_schedule(folder: Path, entries: list[str], link: str = "    rate: 10 Mbit/s\n") -> Path:
    path = folder / "t.yaml"
    path.write_text(f"{HEAD}{link}    schedule:\n" + "".join(f"      - {entry}\n" for entry in entries))
    return path


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda path: path.symlink_to("/dev/zero"), "it is a device; allowed: a file"),
        (os.mkfifo, "it is a pipe; allowed: a file"),
        (os.mkdir, "Is a directory"),
        (lambda path: path.write_text("# too long\n" * 200_000), "it is too large; allowed: up to 1 MiB"),
    ],
    ids=["endless", "pipe", "folder", "large"],
)
def test_a_file_that_is_none_or_has_no_end_is_refused(tmp_path: Path, make: object, what: str) -> None:
    make(tmp_path / "x.yaml")  # type: ignore[operator]
    with pytest.raises(SpecError, match=what):
        read(tmp_path / "x.yaml")
    scenario = tmp_path / "s.yaml"
    workload = "workload: {tool: flow, from: client, to: server}"
    scenario.write_text(f"name: s\ntopology: x.yaml\n{workload}\n")
    with pytest.raises(SpecError, match=what):
        load_scenario(scenario)
    (tmp_path / "inventory.yml").symlink_to("x.yaml")
    (tmp_path / "m.yaml").write_text(
        "name: m\nnodes: {a: {type: machine}, b: {type: host}}\nlinks: {p: {ends: [a, b]}}\n"
    )
    with pytest.raises(SpecError, match=f"inventory.yml: this cannot be read: {what}"):
        load_topology(tmp_path / "m.yaml", permitted(["/dev/zero"]))


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? ", "[{a: "])
@pytest.mark.parametrize("levels", [41, 487, 20_000, 500_000])
def test_depth_is_counted_before_a_parser_dies_of_it(opening: str, levels: int) -> None:
    """500 000 brackets ended the whole process, 487 levels with a RecursionError."""
    text = "a: x\nb: " + opening * levels if opening in ("[", "{a: ", "[{a: ") else opening * levels + "a"
    with pytest.raises(SpecError, match="this is too deep; allowed: up to 40 levels of lists and mappings"):
        parse(text[: 1 << 20], Position("x.yaml", 1))


def test_a_long_file_with_a_mistake_at_its_end_is_not_read_by_the_slow_loader() -> None:
    text = "a: [" + "a," * EXPLAINED + "}"
    with pytest.raises(SpecError, match=r"x\.yaml:1: this is not YAML"):
        parse(text, Position("x.yaml", 1))


def test_many_mistakes_are_compared_with_few_others() -> None:
    """Each was compared with each: 16 384 took 87 s."""
    document = parse("a: [" + "010," * 20_000 + "1]", Position("x.yaml", 1))
    assert len(document.faults) == 20_000
    assert len(document.problems(document.faults)) == 1


class Counted(Direction):
    """A direction that counts how often it is changed."""

    count = 0

    def with_value(self, name: str, value: object) -> Direction:
        Counted.count += 1
        return super().with_value(name, value)


@pytest.mark.parametrize("holds_ns", [None, 10, 10**9], ids=["lasting", "short", "all at once"])
def test_a_schedule_is_followed_in_as_many_steps_as_it_has_changes(holds_ns: int | None) -> None:
    """A schedule of 5 000 entries took `check` 77 s."""
    number = 2000
    changes = [Change(100 * at, None, holds_ns, forward=(("rate_bps", 1 + at),)) for at in range(1, number + 1)]
    Counted.count = 0
    states = list(course(Counted(100, 5), changes, "forward", True, 10**6))
    assert number <= len(states) <= Counted.count <= 2 * number


def test_whether_a_stage_needs_netem_is_looked_up_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [f"{{at: {at} ms, rate: {5 + at % 3} Mbit/s}}" for at in range(1, 1001)]
    link = load_topology(with_schedule(tmp_path, entries)).links[0]
    made = emulator(link, "forward", 1, 10**10, superpackets=False)
    asked = []
    monkeypatch.setattr("testbed.plan.link.impairment.netem_options", lambda state, **_: asked.append(state) or ())
    history = made.forward.history
    assert len(history) == 1001
    assert len(list(change(made, made.forward, history[0], history[1], real_time=False))) == 1
    assert not asked


def test_two_changes_of_a_key_at_a_time_are_found_among_many(tmp_path: Path) -> None:
    entries = [f"{{at: {at} ms, rate: {5 + at % 3} Mbit/s}}" for at in range(1, 1001)]
    again = ["{at: 7 ms, rate: 1 Mbit/s}", "{at: 7 ms, rate: 2 Mbit/s}", "{at: 7 ms, delay: {forward: 1 ms}}"]
    with pytest.raises(SpecError) as caught:
        load_topology(with_schedule(tmp_path, entries + again))
    assert [problem.what for problem in caught.value.problems] == ["entry 7 changes the rate at 7 ms too"] * 2


@pytest.mark.parametrize("name", ["samples", "queues"])
@pytest.mark.parametrize("what", ["pipe", "large"])
def test_a_table_of_a_trial_is_an_ordinary_file_of_a_bounded_size(name: str, what: str, tmp_path: Path) -> None:
    file = tmp_path / f"{name}.parquet"
    if what == "pipe":
        os.mkfifo(file)
    else:
        column = pa.array(np.zeros(1 << 20, dtype=np.int8))
        with pq.ParquetWriter(file, pa.schema([("time_s", pa.int8())])) as writer:
            for _ in range(sample_table.VALUES_MAX // len(column) + 1):
                writer.write_table(pa.table({"time_s": column}))
        assert file.stat().st_size < 1 << 20
    with pytest.raises(OSError, match="it is a pipe" if what == "pipe" else "values; allowed: up to"):
        sample_table.opened(file)


@pytest.mark.parametrize("name", ["samples", "queues", "trials", "flows", "host"])
def test_a_pipe_in_place_of_a_table_of_a_run_is_refused(name: str, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [Made({"flows": "1"}, [1.0])])
    table.update(Store(run).open())
    file = run / f"{name}.parquet"
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(UserError, match="pipe"):
        open_results(run).query(f"select count(*) from {'trials' if name == 'host' else name}")


@pytest.mark.parametrize("setting", ["seed=\udcff", "topology=\udcff\udcfe.yaml", "sweep.flows=[1, \udcff]"])
def test_an_option_with_bytes_that_are_no_text_is_a_mistake(setting: str, tmp_path: Path) -> None:
    """As Python has what a shell passes on that is not in UTF-8."""
    (tmp_path / "s.yaml").write_text("name: s\ntopology: x.yaml\nworkload: {tool: ping, from: a, to: b}\n")
    with pytest.raises(SpecError, match="this is not text in UTF-8"):
        load_scenario(tmp_path / "s.yaml", [setting])
