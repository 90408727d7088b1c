"""How well `testbed calibrate` recovers paths: `python -m benchmarks calibrate [PATHS [FIRST [FOLDER [BUDGET]]]]`.

Path N is drawn from seed N: rate 10 to 100 Mbit/s, RTT 2 to 12 ms, buffer 0.3 to 3 BDP (all log-uniform), jitter of 0
or up to 3 % of the RTT, random loss of 0 (one in three) or 1e-5 to 1e-3, and one of these kinds: plain (six in ten), a
token bucket (two in ten), others' traffic that comes and goes (two in ten). It is measured in the lab kernel by ping
(100), by iperf3 with CUBIC and 1 and 4 flows, and by iperf3 with datagrams at three tenths of the rate; runs take 20 s,
those of a bucket 30 s. The command `testbed calibrate` gets these files alone. Two more files are held out: 8 flows of
CUBIC and one of BBR. The round trips are short because iperf3 reads the clock again and again while it waits for the
last message of the other end, which costs wall time in virtual time.

Criteria, written before the first path was fitted. A parameter counts where the command says "identified":

- RTT: the median error is at most 1 %
- capacity (of paths without a bucket): the median error is at most 3 %
- bucket, its rate, volume and refill: the median error is at most 5 %
- buffer: the median error is at most 20 %
- loss: the median is within 1.5 times
- unseen goodput: of the held-out runs, nine in ten rebuilt ones are within 10 % of the measured one
- unseen RTT under load (median of a held-out run): nine in ten within 20 %
- coverage: of all 95 % intervals, 95 % hold the true value; fewer is a failure if a binomial with 95 % would give so
  few with a chance below 5 %
- honesty: a parameter that is "not identifiable" or a bound is never counted as recovered; bounds must hold; on a path
  with others' traffic, the capacity counts as wrong if it is called identified and is off by more than 10 %

The worst error is printed too, and decides nothing. What is not judged, because no path had it, is not fulfilled.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from testbed.calibrate.measurement import Ask
from testbed.calibrate.written import CLIENT, SERVER, flow
from testbed.units import format_rate, format_time

PATHS, BUDGET_S = 30, 600
LENGTH_S, BUCKET_LENGTH_S, PINGS = 20.0, 30.0, 100
TESTBED = (sys.executable, "-m", "testbed")
LIMITS = {
    "rtt": 0.01,
    "rate": 0.03,
    "bucket_rate": 0.05,
    "bucket_burst": 0.05,
    "bucket_refill": 0.05,
    "buffer": 0.2,
    "loss": math.log(1.5),
}
GOODPUT_OFF, RTT_OFF, MOST = 0.1, 0.2, 0.9
WRONG_CAPACITY = 0.1


@dataclass(frozen=True)
class Hidden:
    """A path: the truth by the names of the fit, and the keys of its link. `others` is traffic of others."""

    number: int
    kind: str
    truth: dict[str, float]
    link: dict[str, Any]
    length_s: float

    @property
    def others(self) -> str | None:
        if self.kind != "others":
            return None
        return "{pattern: on-off, from: client, to: server, busy: 2 s, idle: 3 s, congestion: cubic, duration: 60 s}"


def drawn(number: int) -> Hidden:
    """The path of a seed."""
    rng = np.random.default_rng(number)

    def between(low: float, high: float) -> float:
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))

    rate = round(between(10e6, 100e6) / 1e5) * 100_000
    rtt_us = round(between(2_000, 12_000) / 10) * 10
    buffer = round(between(0.3, 3) * rate * rtt_us / 8e6)
    jitter_us = round(rtt_us * float(rng.uniform(0.002, 0.03))) if rng.random() < 0.5 else 0
    loss = 0.0 if rng.random() < 1 / 3 else float(f"{between(1e-5, 1e-3):.2g}")
    kind = str(rng.choice(["plain", "bucket", "others"], p=[0.6, 0.2, 0.2]))
    share, knee_s = float(rng.uniform(0.2, 0.5)), float(rng.uniform(8, 14))
    truth = {"rtt": rtt_us / 1e6, "jitter": math.sqrt(2) * jitter_us / 1e6, "buffer": float(buffer), "loss": loss}
    link: dict[str, Any] = {"rtt": format_time(rtt_us * 1000), "buffer": f"{max(buffer, 3028)} B"}
    truth["buffer"] = float(max(buffer, 3028))
    if jitter_us:
        link["jitter"] = {"sd": format_time(jitter_us * 1000), "distribution": "normal"}
    if loss:
        link["loss"] = {"forward": {"random": f"{loss * 100:.6f}".rstrip("0") + " %"}, "backward": "none"}
    if kind == "bucket":
        refill = round(rate * share / 8000) * 8000
        burst = round((rate - refill) * knee_s / 8)
        link["shaper"] = {"rate": format_rate(rate), "burst": f"{burst} B", "refill": format_rate(refill)}
        truth |= {"bucket_rate": float(rate), "bucket_burst": float(burst), "bucket_refill": float(refill)}
    else:
        link["rate"] = format_rate(rate)
        truth["rate"] = float(rate)
    return Hidden(number, kind, truth, link, BUCKET_LENGTH_S if kind == "bucket" else LENGTH_S)


def asks(path: Hidden) -> dict[str, Ask]:
    """What is measured, by the names of files; those that begin with "held" are held out."""
    rate = path.truth.get("rate", path.truth.get("bucket_refill", 0.0))
    length_s = path.length_s

    def bulk(flows: int, control: str) -> Ask:
        return Ask("iperf3", "tcp", flows, length_s, congestion=control)

    return {
        "ping.txt": Ask("ping", "icmp", count=PINGS, interval_s=0.2),
        "flows-1.json": bulk(1, "cubic"),
        "flows-4.json": bulk(4, "cubic"),
        "datagrams.json": Ask("iperf3", "udp", 1, length_s, rate_bps=round(rate * 0.3, -4), length_bytes=1200),
        "held-8.json": bulk(8, "cubic"),
        "held-bbr.json": bulk(1, "bbr"),
    }


def measured(path: Hidden, folder: Path) -> dict[str, Path]:
    """Measures the true path with real tools; the files."""
    wanted = asks(path)
    rows = [f"    - {json.dumps(' '.join(ask.words()))}" for ask in wanted.values()]
    text = "\n".join(
        [
            f"name: hidden-{path.number}",
            "topology:",
            "  name: hidden",
            "  nodes: {client: {type: host}, server: {type: host}}",
            "  links:",
            f"    path: {flow({'ends': ['client', 'server'], **path.link})}",
            f"workload: {{tool: command, from: client, to: server, server: {SERVER}, client: {CLIENT}}}",
            *([f"background: {{others: {path.others}}}"] if path.others else []),
            "sweep:",
            "  workload.variant:",
            *rows,
            f"seed: {1000 + path.number}",
            "",
        ]
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "truth.yaml").write_text(text)
    results = folder / "truth"
    done = subprocess.run(
        [*TESTBED, "run", str(folder / "truth.yaml"), "-o", str(results)], capture_output=True, text=True
    )
    by_words = {" ".join(ask.words()): name for name, ask in wanted.items()}
    found = {}
    for trial in sorted((results / "trials").iterdir()) if (results / "trials").exists() else ():
        params = json.loads((trial / "result.json").read_text())["params"]
        name = by_words[params["workload.variant"]]
        (folder / name).write_bytes((trial / "command-client-1.out").read_bytes())
        found[name] = folder / name
    if set(found) != set(wanted):
        raise SystemExit(f"path {path.number} was not measured: {done.stdout[-500:]}{done.stderr[-1500:]}")
    return found


def calibrated(path: Hidden, folder: Path, budget_s: int) -> dict[str, Any]:
    """What the command says about the files alone."""
    files = measured(path, folder)
    given = [str(file) for name, file in files.items() if not name.startswith("held")]
    held = [word for name, file in files.items() if name.startswith("held") for word in ("--hold-out", str(file))]
    out = folder / "calibrated"
    done = subprocess.run(
        [*TESTBED, "calibrate", *given, *held, "--repetitions", "1", "--budget", f"{budget_s}s", "-o", str(out)],
        capture_output=True,
        text=True,
    )
    if done.returncode not in (0, 1, 5):
        raise SystemExit(f"path {path.number} was not calibrated: {done.stderr[-1500:]}")
    said: dict[str, Any] = json.loads((out / "calibration.json").read_text())
    return said


@dataclass(frozen=True)
class Compared:
    """A parameter of a path: truth and what was fitted. `off` is the error: relative, for loss the log of the ratio."""

    path: int
    kind: str
    name: str
    true: float
    status: str
    value: float | None
    low: float | None
    high: float | None

    @property
    def off(self) -> float | None:
        if self.status != "identified" or not self.value or not self.true:
            return None
        return abs(math.log(self.value / self.true)) if self.name == "loss" else abs(self.value / self.true - 1)

    @property
    def holds(self) -> bool | None:
        """Whether the interval holds the truth; None without one."""
        if self.low is None and self.high is None:
            return None
        return (self.low is None or self.low <= self.true) and (self.high is None or self.true <= self.high)


def compared(path: Hidden, said: dict[str, Any]) -> Iterator[Compared]:
    for name, true in path.truth.items():
        fitted = said["fitted"].get(name) or said["fitted"].get(f"{name}.forward")
        if fitted is None:
            continue
        yield Compared(
            *(path.number, path.kind, name, true, fitted["status"]), fitted["value"], fitted["low"], fitted["high"]
        )


def unseen(said: dict[str, Any], metric: str) -> Iterator[float]:
    """Rebuilt over measured, of the files held out."""
    for each in said["verdicts"]:
        if each["held_out"] and each["metric"] == metric and each["ratio"] is not None:
            yield float(each["ratio"])


def judge(found: list[Compared], goodputs: list[float], rtts: list[float]) -> Iterator[tuple[str, str, bool | None]]:
    """Each criterion: what it is, the figures, and whether it is fulfilled; None: no path shows it."""
    for name, limit in LIMITS.items():
        mine = [each for each in found if each.name == name]
        known = sorted((each.off, each.path) for each in mine if each.off is not None)
        words = f"{len(known)} of {len(mine)} identified"
        if not known:
            yield name, words, None
            continue
        values = [off for off, _ in known]
        median = float(np.median(values))
        factor = f"median x{math.exp(median):.2f}, worst x{math.exp(values[-1]):.2f}" if name == "loss" else (
            f"median {median:.2%}, worst {values[-1]:.2%}")  # fmt: skip
        yield name, f"{words}, {factor} (path {known[-1][1]})", median <= limit
    for what, ratios, off in (("unseen goodput", goodputs, GOODPUT_OFF), ("unseen RTT under load", rtts, RTT_OFF)):
        within = sum(1 for each in ratios if abs(each - 1) <= off)
        worst = max((abs(each - 1) for each in ratios), default=0.0)
        words = f"{within} of {len(ratios)} within {off:.0%}, worst {worst:.1%}"
        yield what, words, within >= MOST * len(ratios) if ratios else None
    both = [each for each in found if each.low is not None and each.high is not None and each.holds is not None]
    hits = sum(bool(each.holds) for each in both)
    chance = float(stats.binom.cdf(hits, len(both), 0.95)) if both else 0.0
    missed = ", ".join(f"{each.name} of path {each.path}" for each in both if not each.holds)
    yield "coverage", f"{hits} of {len(both)} intervals hold{f'; not: {missed}' if missed else ''}", chance >= 0.05
    bounds = [each for each in found if each.status == "bound" and each.holds is not None]
    broken = ", ".join(f"{each.name} of path {each.path}" for each in bounds if not each.holds)
    yield "bounds", f"{len(bounds)} bounds{f'; broken: {broken}' if broken else ', all hold'}", not broken
    wrong = [
        each for each in found if each.kind == "others" and each.name == "rate" and (each.off or 0) > WRONG_CAPACITY
    ]
    said = ", ".join(f"path {each.path}: off by {each.off:.0%}" for each in wrong) or "none is wrong"
    some = any(each.kind == "others" for each in found)
    yield "capacity beside others' traffic", said, not wrong if some else None


def main(paths: int = PATHS, first: int = 1, folder: int | None = None, budget_s: int = BUDGET_S) -> int:
    """0 if every criterion is fulfilled that some path shows. FOLDER is a number: results go to build/calibrate-FOLDER,
    where an interrupted call goes on. BUDGET: seconds for the refinement of a path.
    """
    found: list[Compared] = []
    goodputs: list[float] = []
    rtts: list[float] = []
    place = Path(tempfile.mkdtemp(prefix="calibrate-")) if folder is None else Path(f"build/calibrate-{folder}")
    for number in range(first, first + paths):
        path = drawn(number)
        said = calibrated(path, place / str(number), budget_s)
        mine = list(compared(path, said))
        found += mine
        goodputs += unseen(said, "goodput")
        rtts += unseen(said, "RTT under load p50")
        print(f"path {number} ({path.kind}), exit {said['exit_code']}, {said['refinement']['stopped']}")
        for each in mine:
            value = "-" if each.value is None else f"{each.value:.6g}"
            span = "" if each.holds is None else f"[{each.low}, {each.high}]{'' if each.holds else ' MISSES'}"
            print(f"  {each.name:14}{each.true:>14.6g}{value:>14}  {each.status:17}{span}", flush=True)
        print(f"  unseen goodput {[round(each, 3) for each in unseen(said, 'goodput')]}", flush=True)
    print(f"\n{paths} paths, from seed {first}; all files in {place}")
    outcomes = list(judge(found, goodputs, rtts))
    for what, words, is_met in outcomes:
        print(f"{ {True: 'met', False: 'NOT MET', None: 'not shown'}[is_met]:10}{what}: {words}")
    return 0 if all(is_met is not False for _, _, is_met in outcomes) else 1
