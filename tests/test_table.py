"""The tables of a run: what they hold, that they follow the trials, and what they say when something is damaged."""

from __future__ import annotations

import errno
import importlib
import json
import os
import shutil
import subprocess
import sys
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from runs import files_of, make_result, make_store, make_trials, write_result

import testbed
from testbed.commands.conclude.query import query
from testbed.commands.result_table import Format
from testbed.error import MachineError, UserError
from testbed.sweep import table
from testbed.sweep.store import Store
from testbed.trial import column
from testbed.trial.folder import RESULT, write_json


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two RTTs, two seeds; three samples in each trial and nothing in its queues."""
    return make_store(tmp_path / "run", make_trials())


def test_there_is_a_row_for_each_trial_flow_and_sample_in_the_order_of_the_scenario(store: Store) -> None:
    run = testbed.open(store.path)
    assert run.trials["id"].to_pylist() == list(store.ids)
    assert run.trials["goodput_bps"].to_pylist() == [1e6, 2e6, 1e6, 2e6]
    assert run.trials["path.rtt"].to_pylist() == ["10 ms", "10 ms", "20 ms", "20 ms"]
    assert run.trials["wall_s"].to_pylist() == [1.0] * 4
    assert run.flows["trial"].to_pylist() == list(store.ids)
    assert run.flows["number"].to_pylist() == [0] * 4
    assert run.samples["trial"].to_pylist() == [id for id in store.ids for _ in range(3)]
    assert run.samples["snd_cwnd"].to_pylist() == [10, 11, 12] * 4
    assert run.queues.num_rows == 0
    assert [each.id for each in run.results] == list(store.ids)


def test_columns_have_their_types_even_where_all_values_are_absent(store: Store) -> None:
    run = testbed.open(store.path)
    types = {name: run.trials.schema.field(name).type for name in run.trials.schema.names}
    assert types["asked.queue_drops"] == pa.int64()
    assert types["ramp_goodput_bps"] == pa.float64()
    assert types["warnings"] == pa.list_(pa.string())
    assert not any(pa.types.is_null(each) for found in (run.trials, run.flows) for each in found.schema.types)
    assert run.samples.schema.remove_metadata() == column.of_trial(column.SAMPLES)
    assert run.queues.schema.remove_metadata() == column.of_trial(column.QUEUES)


def test_samples_of_an_older_release_with_fewer_columns_fit_in(store: Store) -> None:
    file = store.path / "trials" / store.ids[0] / "samples.parquet"
    pq.write_table(pa.table({"time_s": [0.5], "snd_cwnd": pa.nulls(1)}), file)
    found = testbed.open(store.path).samples
    assert found["snd_cwnd"].to_pylist() == [None, *[10, 11, 12] * 3]
    assert found["netns"].to_pylist()[:2] == [None, "a"]


def test_an_axis_that_is_called_like_a_column_has_another_name() -> None:
    assert column.axis_column("path.rtt") == "path.rtt"
    assert column.axis_column("verdict") == "params.verdict"
    assert len(set(column.trials(["flows", "kernel", "rate_bps"]).names)) == 3 + len(column.TRIAL)


def test_a_table_follows_the_trials_that_there_are(tmp_path: Path) -> None:
    trials = make_trials()
    store = make_store(tmp_path, trials[:2])
    assert testbed.open(tmp_path).trials.num_rows == 2
    store.list_trials([trial.id for trial in trials])
    with store.writing(trials[3]) as folder:
        write_result(folder, trials[3], make_result(trials[3]))
    assert testbed.open(tmp_path).samples.num_rows == 9
    shutil.rmtree(tmp_path / "trials" / trials[0].id)
    assert testbed.open(tmp_path).trials["id"].to_pylist() == [trials[1].id, trials[3].id]


def test_a_trial_that_was_measured_again_is_seen(store: Store) -> None:
    assert testbed.open(store.path).trials["goodput_bps"].to_pylist()[0] == 1e6
    file = store.path / "trials" / store.ids[0] / RESULT
    file.write_text(json.dumps({**json.loads(file.read_text()), "goodput_bps": 7.0}))
    os.utime(file, ns=(1, 1))
    assert testbed.open(store.path).trials["goodput_bps"].to_pylist()[0] == 7.0


def test_tables_that_are_up_to_date_are_left_alone(store: Store) -> None:
    table.update(store)
    before = {path: path.stat().st_ino for path in store.path.glob("*.parquet")}
    table.update(store)
    assert len(before) == 9
    assert {path: path.stat().st_ino for path in store.path.glob("*.parquet")} == before


def test_the_same_trials_make_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        table.update(make_store(tmp_path / name, make_trials()))
    one, two = (files_of(tmp_path / name, but=["host.json", "host.parquet"]) for name in ("one", "two"))
    assert one == two
    assert {"trials.parquet", "flows.parquet", "samples.parquet", "queues.parquet"} <= one.keys()


def test_a_row_group_holds_whole_trials_and_not_the_whole_run(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "GROUP_ROWS", 5)
    table.update(store)
    said = pq.ParquetFile(store.path / "samples.parquet").metadata
    assert [said.row_group(i).num_rows for i in range(said.num_row_groups)] == [6, 6]


def test_a_write_that_fails_leaves_the_old_table(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    table.update(store)
    before = files_of(store.path)
    os.utime(store.path / "trials" / store.ids[0] / RESULT, ns=(1, 1))

    def fail(self: object, trial: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(table.TABLES["trials"], "add", fail)
    with pytest.raises(UserError, match=r"trials\.parquet cannot be written: no space left on device"):
        table.update(store)
    assert files_of(store.path) == before


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.EPERM])
def test_of_a_folder_that_cannot_be_written_the_tables_are_made_elsewhere(
    store: Store, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """As of a copy on a file system that is read only: it has the tables, and its trials have other times."""
    table.update(store)
    os.utime(store.path / "trials" / store.ids[0] / RESULT, ns=(1, 1))
    before, real = files_of(store.path), table.replacing

    def replacing(path: Path) -> AbstractContextManager[Path]:
        if path.is_relative_to(store.path):
            raise OSError(number, os.strerror(number))
        return real(path)

    monkeypatch.setattr(table, "replacing", replacing)
    connection = testbed.open(store.path).duckdb()  # the tables outlast the value that made them
    counted = [connection.sql(f"SELECT count(*) FROM {name}").fetchall() for name in ("trials", "samples")]
    connection.close()
    assert counted == [[(4,)], [(12,)]]
    assert files_of(store.path) == before
    with pytest.raises(UserError, match="cannot be written"):
        table.update(store)


def test_sql_that_wants_a_file_is_told_how_to_save_a_table(store: Store) -> None:
    with pytest.raises(UserError) as caught:
        testbed.open(store.path).query("COPY trials TO '/tmp/trials.csv'")
    (line,) = str(caught.value).splitlines()
    assert line.endswith("disabled by configuration; allowed: the tables of runs; to save one: --format csv > FILE")


@pytest.mark.parametrize("name", [*table.NAMES, table.WALL])
@pytest.mark.parametrize("damage", [b"", b"junk", None], ids=["empty", "junk", "cut"])
def test_a_damaged_table_is_named_with_what_to_do(store: Store, name: str, damage: bytes | None) -> None:
    table.update(store)
    path = table.path(store, name)
    path.write_bytes(path.read_bytes()[:-20] if damage is None else damage)
    with pytest.raises(UserError, match=rf"{name}\.parquet is damaged: .*delete it, and it is made again.*: rm "):
        testbed.open(store.path).query("SELECT * FROM trials")
    path.unlink()
    assert testbed.open(store.path).trials.num_rows == 4


@pytest.mark.parametrize("name", ["samples", "trials"])
def test_damage_in_the_middle_of_a_table_is_named_too(store: Store, name: str) -> None:
    table.update(store)
    path = table.path(store, name)
    data = bytearray(path.read_bytes())
    data[4:200] = b"\xff" * 196
    path.write_bytes(bytes(data))
    with pytest.raises(UserError, match=rf"{name}\.parquet is damaged"):
        testbed.open(store.path).query(f"SELECT * FROM {name}")


def test_a_run_mends_a_damaged_table(store: Store) -> None:
    for name in (*table.NAMES, table.WALL):
        table.path(store, name).write_bytes(b"junk")
    table.update(store, mend=True)
    assert testbed.open(store.path).trials.num_rows == 4


def test_a_trial_with_a_damaged_file_is_named_with_what_to_do(store: Store) -> None:
    id = store.ids[1]
    (store.path / "trials" / id / "samples.parquet").write_bytes(b"junk")
    with pytest.raises(UserError, match=rf"{id}/samples\.parquet is damaged: .*rm -r .*{id}"):
        testbed.open(store.path).trials  # noqa: B018


@pytest.mark.parametrize("which", ["run.json", "result.json"])
def test_results_of_another_schema_version_are_refused(store: Store, which: str) -> None:
    file = store.path / which if which == "run.json" else store.path / "trials" / store.ids[0] / which
    file.write_text(json.dumps({**json.loads(file.read_text()), "schema": 99}))
    with pytest.raises(UserError, match="schema version 99; allowed: 1"):
        testbed.open(store.path).query("SELECT 1")


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("run.json", '{"schema": 1, "trials": [1, 2]}', "has no list of trials"),
        ("run.json", "[]", r"it holds no JSON object; delete it, and `testbed run` .*: rm .*run\.json$"),
        (
            "trials/rtt=10ms,kernel=lab,seed=1/result.json",
            '{"schema": 1, "id": "x"}',
            "is damaged: it has no params; it has no seed",
        ),
        ("trials/rtt=10ms,kernel=lab,seed=1/result.json", '{"schema": 1, "i', r"is damaged: .*: rm -r .*seed=1$"),
    ],
)
def test_damaged_json_is_named(store: Store, file: str, text: str, message: str) -> None:
    (store.path / file).write_text(text)
    with pytest.raises(UserError, match=message):
        testbed.open(store.path).trials  # noqa: B018


def test_a_damaged_until_is_named(store: Store) -> None:
    write_json(store.path / "run.json", {"schema": 1, "trials": [], "until": {"ci": "x"}})
    with pytest.raises(UserError, match=r"run.json is damaged: its 'until' cannot be read"):
        _ = store.until


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is not a results folder"):
        testbed.open(tmp_path)


def test_a_run_without_a_finished_trial_has_empty_tables(tmp_path: Path) -> None:
    Store(tmp_path).create("none", {}, ["x"], ["path.rtt"])
    found = testbed.open(tmp_path).query('SELECT count(*) AS n, max("path.rtt") AS rtt FROM trials')
    assert found.to_pylist() == [{"n": 0, "rtt": None}]


def test_sql_joins_the_tables(store: Store) -> None:
    sql = 'SELECT "path.rtt", max(snd_cwnd) AS most FROM samples JOIN trials ON trial = id GROUP BY ALL ORDER BY 1'
    assert testbed.open(store.path).query(sql).to_pylist() == [
        {"path.rtt": "10 ms", "most": 12},
        {"path.rtt": "20 ms", "most": 12},
    ]


def test_what_sql_gives_is_the_same_each_time(tmp_path: Path) -> None:
    """With several threads DuckDB adds in another order each time: all digits count here."""
    trials = make_trials(["10 ms"], 6)
    make_store(tmp_path, trials)
    columns = column.SAMPLES
    for number, trial in enumerate(trials):
        rows = 60_000
        values = {
            each.name: [(number + 0.1) * (i % 977) * 1.7 for i in range(rows)]
            if each.name in ("time_s", "srtt_s")
            else pa.nulls(rows, each.type)
            for each in columns
        }
        pq.write_table(pa.table(values, columns), tmp_path / "trials" / trial.id / "samples.parquet")
    sql = "SELECT sum(srtt_s) AS a, avg(time_s) AS b, first(time_s) AS c, last(trial) AS d FROM samples"
    found = {repr(testbed.open(tmp_path).query(sql).to_pylist()) for _ in range(6)}
    assert len(found) == 1
    connection = testbed.open(tmp_path).duckdb()
    assert connection.execute("SELECT current_setting('threads')").fetchone() == (1,)
    connection.close()


def test_a_mistake_in_sql_is_told_with_the_columns(store: Store) -> None:
    with pytest.raises(UserError) as said:
        testbed.open(store.path).query("SELECT nonsense FROM trials")
    assert 'Referenced column "nonsense" not found' in str(said.value)
    assert '  trials: id, "path.rtt", kernel, seed' in str(said.value)
    assert "  queues: trial, time_s, link" in str(said.value)


@pytest.mark.parametrize(
    "sql",
    [
        "COPY (SELECT 1) TO '{path}/new.csv'",
        "COPY (SELECT 1) TO '{path}/trials.parquet' (USE_TMP_FILE false)",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "ATTACH '{path}/other.db'",
        "SET enable_external_access = true",
        "SET threads = 4",
        "INSTALL httpfs",
    ],
)
def test_sql_cannot_touch_any_other_file(store: Store, sql: str) -> None:
    table.update(store)
    before = files_of(store.path)
    with pytest.raises(UserError):
        testbed.open(store.path).query(sql.format(path=store.path))
    assert files_of(store.path) == before


def test_sql_that_writes_changes_nothing_that_stays(store: Store) -> None:
    table.update(store)
    before = files_of(store.path)
    run = testbed.open(store.path)
    run.query("CREATE TABLE mine AS SELECT * FROM trials; DROP VIEW trials")
    assert run.query("SELECT count(*) AS n FROM trials").to_pylist() == [{"n": 4}]
    assert files_of(store.path) == before


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_a_library_that_is_missing_is_named(store: Store, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MachineError, match=rf"the Python package {name} is missing; to fix it, type: pip install"):
        getattr(testbed.open(store.path), name)("trials")


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_tables_come_as_data_frames(store: Store, name: str) -> None:
    pytest.importorskip(name)
    frame: Any = getattr(testbed.open(store.path), name)("trials")
    assert type(frame).__module__.startswith(name)
    assert list(frame["goodput_bps"]) == [1e6, 2e6, 1e6, 2e6]


def test_an_unknown_table_is_refused(store: Store) -> None:
    with pytest.raises(UserError, match=r"no table 'trails'; allowed: .*did you mean 'trials'"):
        testbed.open(store.path).pandas("trails")


def test_importing_testbed_imports_nothing_heavy() -> None:
    assert importlib.util.find_spec("duckdb") is not None
    heavy = "{'duckdb', 'pyarrow', 'numpy', 'pandas'}"
    code = f"import sys, testbed; print(sorted({heavy} & sys.modules.keys()), callable(testbed.open))"
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert said == "[] True\n"


def test_a_lost_table_of_wall_times_does_not_hide_that_a_trial_was_measured_again(store: Store) -> None:
    run = testbed.open(store.path)
    assert run.trials["goodput_bps"].to_pylist() == [1e6, 2e6, 1e6, 2e6]
    trial = make_trials()[0]
    write_result(store.path / "trials" / trial.id, trial, make_result(trial, goodput_bps=9e6))
    table.path(store, table.WALL).unlink()
    assert testbed.open(store.path).trials["goodput_bps"].to_pylist() == [9e6, 2e6, 1e6, 2e6]


def asked(store: Store, sql: str, format: str, capsys: pytest.CaptureFixture[str]) -> str:
    query([store.path], sql, Format(format))
    return capsys.readouterr().out


def test_json_of_a_query_can_be_parsed_and_loses_no_column(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    sql = "SELECT 'nan'::DOUBLE AS a, 'inf'::DOUBLE AS b, [1.5, 'nan'::DOUBLE] AS c, {'d': DATE '2020-01-01'} AS e"
    found = json.loads(asked(store, sql, "json", capsys), parse_constant=pytest.fail)
    assert found == [{"a": None, "b": None, "c": [1.5, None], "e": {"d": "2020-01-01"}}]
    assert '""d"": ""2020-01-01""' in asked(store, sql, "csv", capsys)
    with pytest.raises(UserError, match=r"two columns have the name 'id'; allowed: .*AS"):
        asked(store, "SELECT a.id, b.id FROM trials a JOIN trials b USING (seed)", "json", capsys)


def test_two_runs_can_be_asked_together(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each row says which run it is of; an axis that only one of them has is NULL in the other."""
    trials = make_trials(["40 ms"], 1)
    other = make_store(tmp_path / "other's", [replace(trials[0], params=(*trials[0].params, ("queue", "codel")))])
    sql = "SELECT run, count(*) AS n, max(queue) AS queue, avg(goodput_bps) AS mean FROM trials GROUP BY 1 ORDER BY 2"
    query([store.path, other.path], sql, Format("json"))
    assert json.loads(capsys.readouterr().out) == [
        {"run": str(other.path), "n": 1, "queue": "codel", "mean": 1e6},
        {"run": str(store.path), "n": 4, "queue": None, "mean": 1.5e6},
    ]
    joined = "SELECT count(*) AS n FROM trials JOIN samples ON samples.run = trials.run AND trial = id"
    query([other.path, store.path], joined, Format("json"))
    assert json.loads(capsys.readouterr().out) == [{"n": 15}]
    with pytest.raises(UserError, match=r'trials: run, id, "path.rtt", kernel.*queue'):
        query([store.path, other.path], "SELECT nonsense FROM trials", Format("json"))
    (tmp_path / "link").symlink_to(store.path)
    for again in (store.path, tmp_path / "link"):
        with pytest.raises(UserError, match="is there twice; allowed: the folders of different runs"):
            query([store.path, again], sql, Format("json"))
