"""Where trials run must only matter for the time: `python -m benchmarks places [REPETITIONS [TURNS [DURATION_S]]]`.

The same short trials are run by one process, by one and by two local Dask workers in turns, and by a scheduler with
three workers of other users (if root gives the command) in homes of their own. The bytes are compared, and the time of
two workers with that of one: an efficiency of 1 is half the time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

GOAL = 0.95
NOT_REPEATED = ("host.json", "host.parquet", "lock")
FIRST_USER = 60_001
SCENARIO = """
name: places
topology:
  name: net
  nodes: {a: {type: host}, b: {type: host}}
  links: {path: {ends: [a, b], rate: 100 Mbit/s, rtt: 10 ms, loss: {random: 0.1 %}}}
workload: {tool: flow, from: a, to: b, duration: DURATION s}
sweep: {path.rtt: [5 ms, 10 ms, 20 ms, 40 ms, 80 ms], congestion: [reno, cubic]}
repetitions: REPETITIONS
"""


def main(repetitions: int = 20, turns: int = 1, duration_s: int = 1) -> int:
    """Prints a line for each place; 0 if all bytes are the same and two workers reach GOAL."""
    with tempfile.TemporaryDirectory(prefix="testbed-benchmark-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        scenario = SCENARIO.replace("REPETITIONS", str(repetitions)).replace("DURATION", str(duration_s))
        (folder / "places.yaml").write_text(scenario)
        print(
            f"{10 * repetitions} trials of {duration_s} s\n{'place':<24}{'command s':>10}{'trials s':>10}  files",
            flush=True,
        )
        first = _run(folder, "one process", "--jobs", "1")
        efficiencies, same = [], True
        for _ in range(turns):
            spans_s = []
            for workers in (1, 2):
                span_s, files = _run(folder, f"local:{workers}", "--on", f"local:{workers}")
                spans_s.append(span_s)
                same &= files == first[1]
            efficiencies.append(spans_s[0] / spans_s[1] / 2)
        with _strangers(folder) as file:
            same &= _run(folder, "three users' workers", "--on", str(file))[1] == first[1]
    print(f"bytes: {'the same in all' if same else 'DIFFERENT'}, {len(first[1])} files")
    print(f"efficiency of two workers: {', '.join(f'{each:.3f}' for each in efficiencies)}, goal {GOAL}")
    return 0 if same and first[1] and min(efficiencies) >= GOAL else 1


def _run(folder: Path, place: str, *words: str) -> tuple[float, dict[str, bytes]]:
    """The seconds from the first trial's begin to the last one's end, and the files of the run."""
    out = folder / f"{place}-{time.monotonic_ns()}"
    began_s = time.monotonic()
    command = (sys.executable, "-m", "testbed", "run", str(folder / "places.yaml"), "-o", str(out), *words)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    took_s = time.monotonic() - began_s
    hosts = [(json.loads(path.read_text()), path.stat().st_mtime) for path in out.glob("trials/*/host.json")]
    begins_s = [datetime.fromisoformat(host["started"]).timestamp() for host, _ in hosts]
    ends_s = [begin_s + host["wall_s"] for begin_s, (host, _) in zip(begins_s, hosts, strict=True)]
    span_s = max(ends_s) - min(begins_s)
    files = {
        str(path.relative_to(out)): path.read_bytes()
        for path in out.rglob("*")
        if path.is_file() and path.name not in NOT_REPEATED
    }
    print(f"{place:<24}{took_s:10.1f}{span_s:10.1f}  {len(files)}", flush=True)
    return span_s, files


@contextmanager
def _strangers(folder: Path) -> Iterator[Path]:
    """A scheduler, and three workers with nothing in common; where its scheduler file is."""
    file = folder / "scheduler.json"
    dask = (sys.executable, "-m", "dask")
    scheduler = ("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
    logging = {"DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "error"}
    quiet = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), **logging}
    started = [subprocess.Popen((*dask, *scheduler), env=quiet, cwd=folder, stderr=subprocess.DEVNULL)]
    try:
        while not file.exists() or not file.read_text():
            time.sleep(0.1)
        address = json.loads(file.read_text())["address"]
        for number in range(3):
            home = folder / f"home{number}"
            home.mkdir(mode=0o700)
            user = FIRST_USER + number if os.geteuid() == 0 else None
            if user is not None:
                os.chown(home, user, user)
            own = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "TMPDIR": str(home)}
            worker = ("worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
            started.append(
                subprocess.Popen(
                    (*dask, *worker, "--local-directory", str(home)),
                    env={**quiet, **own},
                    cwd=home,
                    user=user,
                    group=user,
                    extra_groups=() if user is not None else None,
                )
            )
        yield file
    finally:
        for each in started:
            with suppress(ProcessLookupError):
                each.kill()
            each.wait()
