"""How fast trials are handed out to a Dask cluster: `python -m benchmarks cluster [TRIALS [WORKERS [PROCESSES]]]`.

The dispatcher, the scheduler and the store are the real ones; the trials return at once, with the files of a small
result. The workers are real Dask workers of one core, many in a process, that keep nothing.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from testbed.error import TestbedError
from testbed.model.run_setting import LAB
from testbed.model.scenario import Trial
from testbed.spec.scenario.trial import trial_of
from testbed.sweep import run as sweep
from testbed.sweep.cluster import place, task
from testbed.sweep.cluster.arrival import Expected
from testbed.sweep.cluster.kernel_parcel import KernelId
from testbed.sweep.cluster.outfit import Outfit
from testbed.sweep.store import Store
from testbed.trial import software
from testbed.trial.folder import HOST, PROVENANCE, RESULT, TRIAL, write_json
from testbed.trial.result import TrialResult

KERNEL = KernelId("none", "", "")
EXAMPLE = Path(__file__).parents[1] / "results/example"
CELLS = 1000
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.interval": "60 s",
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.admin.tick.interval": "60 s",
}
PATIENT = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "600s", "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "600s"}
"""One computer that plays a thousand may stand still for longer than Dask waits for a real one."""
LINK = {"ends": ["a", "b"], "rate": "100 Mbit/s", "buffer": "1 bdp"}
NODES = {"a": {"type": "host"}, "b": {"type": "host"}}


def main(trials: int = 2000, workers: int = 2, processes: int = 2) -> int:
    os.environ |= PATIENT
    with tempfile.TemporaryDirectory(prefix="testbed-benchmark-") as name:
        folder = Path(name)
        file = folder / "scheduler.json"
        words = ("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
        started = [subprocess.Popen((sys.executable, "-m", "dask", *words), stderr=subprocess.DEVNULL)]
        try:
            while not file.exists() or not file.read_text():
                time.sleep(0.1)
            host = (sys.executable, "-m", "benchmarks.cluster", "host", str(file), str(workers // processes), name)
            started += [subprocess.Popen(host) for _ in range(processes)]
            return _measure(trials, workers // processes * processes, folder, str(file), started[0].pid)
        finally:
            for each in started:
                each.kill()
                each.wait()


def _measure(count: int, workers: int, folder: Path, file: str, scheduler: int) -> int:
    trials = _trials(count)
    began_s = time.monotonic()
    store = Store(folder / "run")
    prepared = sweep.prepare(trials, store, check=False)
    store.create("many", {}, prepared.ids, ["path.rtt"])
    print(f"prepare: {count} trials in {len({trial.params for trial in trials})} cells, {_since(began_s)}")
    outfit = Outfit(software.here(), True, {}, {LAB: Expected(KERNEL, None)}, f"benchmark {time.time()}")
    setattr(place, "outfit", lambda *_: outfit)  # noqa: B010
    where = place.Cluster(place.where(file), True, print)
    while True:
        where.check([])
        if where.cores == workers:
            break
        time.sleep(0.5)
    before, used_s = _memory_bytes(), (time.process_time(), _processor_s(scheduler))
    report = _Report()
    summary = sweep.run(prepared, 1, report, where)
    took_s = report.last_s - report.first_s
    client_ms = 1e3 * (time.process_time() - used_s[0]) / count
    scheduler_ms = 1e3 * (_processor_s(scheduler) - used_s[1]) / count
    assert len({each.id for each in summary.results}) == len(summary.results) == count, summary.failures[:3]
    print(f"hand out: {count} trials on {workers} workers in {took_s:.1f} s, {count / took_s:.0f} a second,")
    print(f"          {1e3 * took_s / count:.2f} ms each, {1e3 * took_s * workers / count:.1f} ms of a worker each")
    print(f"          {client_ms:.2f} ms of a processor at the client, {scheduler_ms:.2f} ms at the scheduler each")
    print(f"memory of the client: {_memory_bytes() >> 20} MiB at most, {before >> 20} MiB before")
    began_s = time.monotonic()
    again = sweep.prepare(trials, store, check=False)
    print(f"list what is done: {len(again.done)} trials, {_since(began_s)}")
    return 0


class _Report:
    """When the first trial began, and the last one ended."""

    def __init__(self) -> None:
        self.first_s = self.last_s = 0.0

    def begun(self, trial: Trial) -> None:
        self.first_s = self.first_s or time.monotonic()

    def lab_time(self, trial: Trial, lab_s: float) -> None: ...

    def finished(self, trial: Trial, result: TrialResult) -> None:
        self.last_s = time.monotonic()

    def failed(self, trial: Trial, error: TestbedError) -> None:
        print(f"{trial.id}: {error}")


def _trials(count: int) -> list[Trial]:
    cells = min(CELLS, count)
    first = []
    for number in range(cells):
        rtt = f"{number + 1} ms"
        topology = {"name": "net", "nodes": NODES, "links": {"path": {**LINK, "rtt": rtt}}}
        workload = {"tool": "flow", "from": "a", "to": "b", "duration": "1 s"}
        about = {"params": {"path.rtt": rtt}, "seed": 1, "repetition": 0, "topology": topology, "workload": workload}
        first.append(trial_of({"id": f"rtt={number + 1}ms,seed=1", **about}))
    return [
        replace(each, id=each.id.replace("seed=1", f"seed={n + 1}"), seed=n + 1, repetition=n)
        for n in range(count // cells)
        for each in first
    ]


def _at_once(about: task.Task, folder: Path, progress: Callable[[float], None], cancelled: Callable[[], bool]) -> None:
    """A trial that returns at once."""
    spec: dict[str, Any] = json.loads(about.spec)
    example = json.loads(next((EXAMPLE / "trials").glob("*/result.json")).read_text())
    result = {**example, **{key: spec[key] for key in ("id", "params", "seed", "repetition")}}
    write_json(folder / TRIAL, spec)
    write_json(folder / PROVENANCE, {})
    write_json(folder / HOST, {"wall_s": 0.01})
    write_json(folder / RESULT, result)


class _NoSpool:
    def fetch(self, key: str) -> None:
        return None

    def keep(self, key: str, parcel: object) -> None: ...


async def _host(file: str, count: int, folder: str) -> None:
    """Workers in this process. They do not watch themselves, as each would have a core of its own for that."""
    import dask
    from distributed import Worker

    dask.config.set(QUIET)
    logging.getLogger("distributed").setLevel(logging.WARNING)
    setattr(task, "run_trial", _at_once)  # noqa: B010
    setattr(task, "spool", _NoSpool)  # noqa: B010
    software.here()
    address = json.loads(Path(file).read_text())["address"]
    together = ThreadPoolExecutor(1)  # Hundreds of threads would wait for one interpreter.
    workers = [
        Worker(address, nthreads=1, executor=together, dashboard=False, memory_limit=0, local_directory=folder,
               host="127.0.0.1", resources={"memory": 1e12, "core": 1}) for _ in range(count)
    ]  # fmt: skip
    for at in range(0, count, 50):
        await asyncio.gather(*workers[at : at + 50])
    gc.disable()  # Otherwise each worker would pay for the garbage of hundreds.
    await asyncio.gather(*(each.finished() for each in workers))


def _processor_s(pid: int) -> float:
    """Processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _since(began_s: float) -> str:
    return f"{time.monotonic() - began_s:.1f} s"


if __name__ == "__main__":
    asyncio.run(_host(sys.argv[2], int(sys.argv[3]), sys.argv[4]))
