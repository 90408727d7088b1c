"""What the pages about results show in Python runs as it stands: the notebook, and the blocks of results.md."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from storedruns import Made, write_run

DOCS = Path(__file__).parent.parent / "docs"
AXES = {"path.rtt": ["10 ms", "100 ms"], "path.loss": ["none"], "congestion": ["cubic", "bbr"], "flows": ["1", "4"]}


@pytest.fixture
def quickstart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A run in results/quickstart of the working folder, with the axes of that scenario."""
    made = [
        Made({"path.rtt": rtt, "path.loss": "none", "congestion": control, "flows": flows}, [20e6] * int(flows))
        for rtt in AXES["path.rtt"]
        for control in AXES["congestion"]
        for flows in AXES["flows"]
    ]
    write_run(tmp_path / "results/quickstart", made)
    monkeypatch.chdir(tmp_path)
    before = mpl.get_backend()
    plt.switch_backend("agg")
    yield tmp_path
    plt.close("all")
    plt.switch_backend(before)


def executed(sources: list[str]) -> dict[str, Any]:
    names: dict[str, Any] = {}
    for source in sources:
        exec(compile(source, "<docs>", "exec"), names)
    return names


def test_the_notebook_opens_a_run_with_duckdb_and_plots_it(quickstart: Path) -> None:
    cells = json.loads((DOCS / "results.ipynb").read_text())["cells"]
    assert not any(cell.get("outputs") for cell in cells)  # those of somebody's own run are no part of the page
    names = executed(["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"])
    assert sorted({(cell[0], cell[2], round(cell[4])) for cell in names["cells"]}) == [
        (10.0, "1", 20), (10.0, "4", 80), (100.0, "1", 20), (100.0, "4", 80),
    ]  # fmt: skip
    drawn = [len(plt.figure(number).axes[0].lines) for number in plt.get_fignums()]
    assert drawn == [4, 1]


def test_the_blocks_of_python_in_the_page_on_results_run(quickstart: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "results.md").read_text(), flags=re.DOTALL)
    assert blocks
    if importlib.util.find_spec("pandas") is None:  # the page says that it must be installed
        blocks = [re.sub(r"^run\.pandas.*\n", "", block, flags=re.MULTILINE) for block in blocks]
    executed(blocks)
