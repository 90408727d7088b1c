"""Mutants of what commands read, by kind: each ends in an error of ours with exit code 2 that names the file, and never
in a traceback.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_damaged_results import EXAMPLE, say

Capture = pytest.CaptureFixture[str]
TRIAL = sorted(path.name for path in (EXAMPLE / "trials").iterdir())[0]
COLUMNS: dict[str, Callable[[int], pa.Array]] = {
    "words": lambda rows: pa.array(["x"] * rows),
    "bytes": lambda rows: pa.array([b"\xff"] * rows),
    "not a number": lambda rows: pa.array([float("nan")] * rows),
    "infinite": lambda rows: pa.array([float("inf")] * rows),
    "nothing": pa.nulls,
    "times": lambda rows: pa.array([0] * rows, pa.timestamp("ns")),
    "yes": lambda rows: pa.array([True] * rows),
}
TABLES = (
    ("samples", "time_s", ("words", "bytes", "not a number", "infinite", "nothing", "times")),
    ("samples", "destination_port", ("words", "not a number", "yes")),
    ("samples", "bytes_acked", ("words", "bytes", "not a number")),
    ("samples", "busy_s", ("words",)),
    ("samples", "total_retrans", ("bytes",)),
    ("queues", "time_s", ("words", "nothing")),
    ("queues", "link", ("not a number",)),
    ("queues", "drops", ("not a number", "times")),
)
READING = (
    ("report", "DIR", "-o", "OUT/report.html"),
    ("plot", "DIR", "timeseries", "--trial", TRIAL, "-o", "OUT/x.png"),
)
OF_SAMPLES = (("results", "DIR", "--metric", "rtt-p95"), ("compare", "DIR", "EXAMPLE"))


@pytest.mark.parametrize(
    ("table", "column", "kinds"), TABLES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_column_of_another_kind_is_named(
    table: str, column: str, kinds: tuple[str, ...], tmp_path: Path, capsys: Capture
) -> None:
    """25 of 474 were tracebacks: each number was taken for what it should be."""
    folder = tmp_path / "run"
    shutil.copytree(EXAMPLE, folder)
    file = folder / "trials" / TRIAL / f"{table}.parquet"
    whole = pq.read_table(file)
    for kind in kinds:
        made = whole.set_column(whole.column_names.index(column), column, COLUMNS[kind](whole.num_rows))
        file.unlink()
        pq.write_table(made, file)
        for words in (*READING, *(OF_SAMPLES if table == "samples" and column != "total_retrans" else ())):
            code, err = say(words, folder, tmp_path, capsys)
            assert (code, kind, str(file) in err, f"column '{column}'" in err) == (2, kind, True, True), (words, err)


@pytest.mark.parametrize("column", ["busy_s", "destination_port", "source_port", "bytes_acked", "srtt_s", "source"])
def test_a_value_that_is_absent_is_read(column: str, tmp_path: Path, capsys: Capture) -> None:
    """A kernel may lack a field of TCP_INFO."""
    folder = tmp_path / "run"
    shutil.copytree(EXAMPLE, folder)
    file = folder / "trials" / TRIAL / "samples.parquet"
    whole = pq.read_table(file)
    field = whole.schema.field(column)
    for nothing in (pa.nulls(whole.num_rows, field.type), pa.nulls(whole.num_rows)):
        file.unlink()
        pq.write_table(whole.set_column(whole.column_names.index(column), column, nothing), file)
        assert [say(words, folder, tmp_path, capsys)[0] for words in (*READING, *OF_SAMPLES[:1])] == [0, 0, 0]


DEEP = {
    "minus": "-" * 20_000 + "1",
    "not": "not " * 20_000 + "1",
    "dots": "a" + ".b" * 20_000,
    "plus": "+".join(["1"] * 20_000),
    "subscripts": "a" + "[0]" * 20_000,
    "lambdas": "lambda: " * 5_000 + "1",
    "conditions": "1 if 1 else " * 9_000 + "1",
    "parentheses": "(" * 3_000 + ")" * 3_000,
}


@pytest.mark.parametrize("command", ["check", "plan"])
@pytest.mark.parametrize("kind", ["app: app.py", "app: x.py, text: TEXT"], ids=["file", "text"])
def test_an_app_that_is_nested_deeply_is_a_mistake(kind: str, command: str, tmp_path: Path, capsys: Capture) -> None:
    """14 of 58 were tracebacks: a RecursionError or MemoryError of Python's parser."""
    file = tmp_path / "net.yaml"
    for code in DEEP.values():
        (tmp_path / "app.py").write_text(f"x = {code}\nclass App: pass\n")
        node = kind.replace("TEXT", json.dumps(f"x = {code}\n"))
        nodes = f"{{a: {{type: host}}, s: {{type: ovs}}, c: {{type: controller, {node}}}}}"
        file.write_text(f"name: net\nnodes: {nodes}\nlinks: {{l: {{ends: [a, s]}}}}\n")
        code_said, err = say((command, str(file)), tmp_path, tmp_path, capsys)
        assert code_said == 2
        assert "nested" in err or command == "check"  # check tells on standard output


LINKS = """check LOOP; plan LOOP; run LOOP; up LOOP; results LOOP; report LOOP; audit LOOP; mininet LOOP
compare LOOP EXAMPLE; compare EXAMPLE LOOP; plot LOOP profile; query LOOP trials; doctor --same-as LOOP
merge LOOP EXAMPLE -o OUT/merged; merge EXAMPLE EXAMPLE -o LOOP; run --repeat LOOP; kernel build --source LOOP
exercise check LOOP; grade learning-switch LOOP; machines check LOOP"""


@pytest.mark.parametrize("line", LINKS.replace("\n", ";").split(";"), ids=str.strip)
@pytest.mark.parametrize("name", ["loop", "loop/x"])
def test_a_link_that_leads_to_itself_is_an_error_of_ours(line: str, name: str, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "loop").symlink_to("loop")
    at = str(tmp_path / name)
    code, err = say(tuple(at if word == "LOOP" else word for word in line.split()), tmp_path, tmp_path, capsys)
    assert code in (2, 3), err
    assert "Traceback" not in err
