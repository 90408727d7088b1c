"""What a queue that signals congestion costs: the same trial over fifo and over each of the others, in turns.

Four CUBIC flows fill 1 Gbit/s at 10 ms for ten seconds, so nearly all of a trial's time goes to packets; hosts do not
use ECN, so that every queue drops. A ratio is that of a trial to the one over fifo of the same turn. On a machine that
others use too, CPU times say more than wall times, which are printed beside them with their spread.
"""

from __future__ import annotations

import os
import resource
import statistics
import tempfile
import time
from pathlib import Path

from testbed.model.link.queue import FIFO, TYPES
from testbed.model.scenario import Trial
from testbed.spec.scenario.trial import trial_of
from testbed.trial import run as runner
from testbed.trial.orders.sequence import orders

GOAL = 1.10
FLOWS, DURATION_S = 4, 10


def trial(queue: str, nic: str) -> Trial:
    link = {"ends": ["a", "b"], "rate": "1 Gbit/s", "rtt": "10 ms", "buffer": "1000 packets"}
    return trial_of(
        {
            "id": f"{queue}-{nic}",
            "params": {},
            "seed": 1,
            "repetition": 0,
            "topology": {
                "name": "net",
                "nic": nic,
                "nodes": {"a": {"type": "host"}, "b": {"type": "host"}},
                "links": {"path": link if queue == FIFO else {**link, "queue": {"forward": queue}}},
            },
            "workload": {
                "tool": "flow",
                "from": "a",
                "to": "b",
                "duration": f"{DURATION_S} s",
                "flows": FLOWS,
            },
            "nic": nic,
        },
        queue,
    )


def main(turns: int = 5) -> int:
    """Prints a line for each queue; 0 if the median ratio of CPU time is at most GOAL for all."""
    slow = 0
    _measure(trial(FIFO, "offload"))  # what only the first one takes
    print(f"{turns} turns, load {os.getloadavg()[0]:.1f}; ratios to fifo of the same turn")
    print(f"{'nic':8}{'queue':10}{'CPU s':>7}{'wall s':>8}{'CPU ratio: median':>19}{'least':>7}{'most':>6}", end="")
    print(f"{'wall':>7}{'Mbit/s':>8}  verdict")
    # fq tells flows apart by sockets, which packets that a NIC has cut lack.
    for nic, queues in (("offload", [each for each in TYPES if each != "fq"]), ("plain", [FIFO, "fq"])):
        found: dict[str, list[tuple[float, float, float, str]]] = {queue: [] for queue in queues}
        for turn in range(turns):
            for queue in queues if turn % 2 == 0 else reversed(queues):
                found[queue].append(_measure(trial(queue, nic)))
        for queue, runs in found.items():
            ratios = [one[0] / base[0] for one, base in zip(runs, found[FIFO], strict=True)]
            walls = [one[1] / base[1] for one, base in zip(runs, found[FIFO], strict=True)]
            cpu_s, wall_s, goodput_bps = (
                statistics.median(column) for column in zip(*(run[:3] for run in runs), strict=True)
            )
            print(
                f"{nic:8}{queue:10}{cpu_s:7.2f}{wall_s:8.2f}{statistics.median(ratios):19.3f}{min(ratios):7.2f}"
                f"{max(ratios):6.2f}{statistics.median(walls):7.2f}{goodput_bps / 1e6:8.1f}  {runs[0][3]}",
                flush=True,
            )
            slow += statistics.median(ratios) > GOAL or runs[0][3] != "valid"
    print(f"goal: at most {GOAL:g}; load {os.getloadavg()[0]:.1f}")
    return int(slow > 0)


def _measure(asked: Trial) -> tuple[float, float, float, str]:
    """CPU and wall seconds of a trial, its goodput, and the verdict."""
    made = orders(asked)
    with tempfile.TemporaryDirectory() as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.monotonic()
        result = runner.run(asked, made, Path(folder).resolve())
        wall_s = time.monotonic() - began
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu_s, wall_s, result.goodput_bps or 0.0, result.verdict
