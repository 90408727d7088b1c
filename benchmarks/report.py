"""How long a report takes to make and to open: `python -m benchmarks report`.

The run is made up: trials of 10 flows with 300 samples each, from both ends, and of two queues. Opening needs
Chromium and the Python package playwright; the time is that from the address to the last figure.
"""

from __future__ import annotations

import itertools
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from testbed.model.scenario import Trial
from testbed.report.page import page
from testbed.report.stored_run import read
from testbed.report.view import view
from testbed.spec.scenario.trial import trial_data, trial_of
from testbed.trial import column
from testbed.trial.folder import RESULT, write_json
from testbed.trial.result import SCHEMA, Asked, FlowResult, Seen, TrialResult

FLOWS, SAMPLES = 10, 300
RTTS = (1, 11, 22, 45, 91, 183, 274, 376, 500, 700)
AXES = {
    "congestion": ("cubic", "bbr"),
    "path.loss": ("none", "1 in 1000000", "1 in 100000", "1 in 10000", "1 in 500"),
    "path.rtt": tuple(f"{rtt} ms" for rtt in RTTS),
}
CHROMIUM = Path("/usr/bin/chromium")


def main(trials: int = 500, runs: int = 3) -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "run"
        make_run(folder, trials)
        print(f"{trials} trials × {FLOWS} flows × {SAMPLES} samples")
        times = [_written(folder) for _ in range(runs)]
        size = (folder / "report.html").stat().st_size
        wall, cpu = (statistics.median(each[i] for each in times) for i in (0, 1))
        print(f"written in {wall:.1f} s of wall time, {cpu:.1f} s of CPU time (median of {runs}): {size / 1e6:.1f} MB")
        if not CHROMIUM.exists():
            print("opened: not measured, there is no Chromium (apt-get install chromium)")
            return 0
        opened = _opened(folder / "report.html", runs)
        print(
            f"opened in {statistics.median(opened):.2f} s (median of {runs}: {', '.join(f'{s:.2f}' for s in opened)})"
        )
    return 0


def _written(folder: Path) -> tuple[float, float]:
    wall, cpu = time.monotonic(), time.process_time()
    (folder / "report.html").write_text(page(view(read(folder))))
    return time.monotonic() - wall, time.process_time() - cpu


def _opened(file: Path, runs: int) -> list[float]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-background-networking"]
        )
        found = []
        for _ in range(runs):
            tab = browser.new_page()
            began = time.monotonic()
            tab.goto(file.as_uri())
            tab.wait_for_selector("body[data-ready]", timeout=120_000)
            found.append(time.monotonic() - began)
            tab.close()
        browser.close()
    return found


def make_run(folder: Path, trials: int) -> None:
    """A run's folder with so many finished trials."""
    generator = np.random.default_rng(1)
    cells = [*itertools.product(*AXES.values())]
    ids = []
    for number in range(trials):
        params = dict(zip(AXES, cells[number % len(cells)], strict=True))
        seed = 1 + number // len(cells)
        id = ",".join(
            [*(f"{key.split('.')[-1]}={value.replace(' ', '')}" for key, value in params.items()), f"seed={seed}"]
        )
        ids.append(id)
        _write_trial(folder / "trials" / id, id, params, seed, generator)
    write_json(folder / "run.json", {"schema": SCHEMA, "scenario": "made-up", "axes": list(AXES), "trials": ids})


def _write_trial(home: Path, id: str, params: dict[str, str], seed: int, generator: np.random.Generator) -> None:
    home.mkdir(parents=True)
    rtt_s = float(params["path.rtt"].split()[0]) / 1e3
    rates = generator.uniform(1e7, 9e8, FLOWS)
    flows = [
        FlowResult(float(rate), 9, rtt_s, params["congestion"], port=5001 + flow, received_bytes=int(rate * 30 / 8))
        for flow, rate in enumerate(rates)
    ]
    result = TrialResult(
        id=id, params=params, seed=seed, repetition=seed - 1, verdict="valid", goodput_bps=float(rates.sum()),
        flows=tuple(flows), asked=Asked(rtt_s, 10**10), seen=Seen(rtt_s, rtt_s, 10**10, 10**6, 0, 0, 7),
        warnings=(), findings=(), stages=(), workload_s=30.0, steady_s=0.0, kernel="lab", kernel_release="7.3.4",
        lab_s=33.0,
    )  # fmt: skip
    write_json(home / RESULT, result.stored())
    write_json(home / "trial.json", trial_data(_trial(id, params, seed)))
    write_json(home / "host.json", {"wall_s": 10.0, "started": "2026-01-01T00:00:00+00:00"})
    (home / "plan.sh").write_text(
        "".join(f"ip link set dev eth{n} up\n" for n in range(80)) + f"# {params['path.rtt']}\n"
    )
    _write_samples(home, rates, rtt_s, generator)


def _trial(id: str, params: dict[str, str], seed: int) -> Trial:
    link = {"ends": ["client", "server"], "rate": "10 Gbit/s", "buffer": "1 bdp"}
    link |= {"rtt": params["path.rtt"], "loss": params["path.loss"]}
    nodes = {"client": {"type": "host"}, "server": {"type": "host"}}
    flow = {"tool": "flow", "from": "client", "to": "server", "duration": "30 s", "flows": FLOWS}
    return trial_of(
        {
            "id": id, "params": params, "seed": seed, "repetition": seed - 1, "kernel": "lab",
            "topology": {"name": "wan", "nodes": nodes, "links": {"path": link}},
            "workload": flow | {"congestion": params["congestion"]},
        },
        id,
    )  # fmt: skip


def _write_samples(home: Path, rates: Any, rtt_s: float, generator: np.random.Generator) -> None:
    count = SAMPLES * FLOWS
    time_s = np.repeat(np.arange(SAMPLES) * 0.1, FLOWS)
    flow = np.tile(np.arange(FLOWS), SAMPLES)
    noise = generator.uniform(0.8, 1.2, count)
    sender = {
        "time_s": time_s, "netns": ["tb-client"] * count, "source": ["10.0.0.1"] * count, "source_port": 40000 + flow,
        "destination": ["10.0.0.2"] * count, "destination_port": 5001 + flow, "congestion": ["cubic"] * count,
        "snd_mss_bytes": np.full(count, 1448), "srtt_s": rtt_s * (1 + noise), "snd_cwnd": (1000 * noise).astype(int),
        "total_retrans": (time_s * 3).astype(int), "bytes_acked": (time_s * rates[flow] / 8).astype(int),
    }  # fmt: skip
    receiver = {
        **sender, "netns": ["tb-server"] * count, "source": sender["destination"], "destination": sender["source"],
        "source_port": sender["destination_port"], "destination_port": sender["source_port"],
        "bytes_acked": np.zeros(count, dtype=int),
    }  # fmt: skip
    tables = [pa.table({key: pa.array(values) for key, values in side.items()}) for side in (sender, receiver)]
    both = pa.concat_tables(tables)
    columns = [
        both[each.name] if each.name in both.column_names else pa.nulls(2 * count, each.type) for each in column.SAMPLES
    ]
    pq.write_table(pa.Table.from_arrays(columns, schema=column.SAMPLES), home / "samples.parquet", compression="zstd")
    rows = 2 * SAMPLES
    queue = {
        "time_s": np.repeat(np.arange(SAMPLES) * 0.1, 2), "link": ["path"] * rows,
        "way": ["forward", "backward"] * SAMPLES, "bytes": np.arange(rows), "packets": np.arange(rows),
        "drops": np.arange(rows) // 50, "backlog_bytes": np.zeros(rows, int),
        "backlog_packets": generator.integers(0, 9000, rows),
    }  # fmt: skip
    pq.write_table(pa.table(queue), home / "queues.parquet", compression="zstd")
