"""What commands cost that do little: `python -m benchmarks start [--against CHECKOUT] [--runs N]`.

Prints processor seconds of each command itself, and of the programs that it started, medians of N runs (5). With
--against two checkouts are measured in turns, each with this Python, and the ratio of each pair is printed: median
(least, most). Processor time depends on what else the computer does, the ratio much less.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

EMPTY = """
name: empty
topology:
  name: net
  nodes: {client: {type: host}, server: {type: host}}
  links: {path: {ends: [client, server], rate: 10 Gbit/s, rtt: 1 ms, buffer: 1 bdp}}
workload: {tool: flow, from: client, to: server, duration: 1 ms}
"""
COMMANDS = {
    "check": ("check", "quickstart"),
    "list": ("list",),
    "status": ("status",),
    "exec": ("exec", "--help"),
    "link": ("link", "--help"),
    "run --dry-run": ("run", "quickstart", "--dry-run"),
    "run, one empty trial": ("run", "empty.yaml", "-o", "NEW"),
    "run, finished": ("run", "empty.yaml", "-o", "done"),
}
CODE = """
import atexit, json, resource, sys
def spent(who):
    found = resource.getrusage(who)
    return found.ru_utime + found.ru_stime
def tell(where):
    with open(where, "w") as file:
        json.dump([spent(resource.RUSAGE_SELF), spent(resource.RUSAGE_CHILDREN)], file)
atexit.register(tell, sys.argv.pop(1))
from testbed.cli import main
main()
"""


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks start", description=__doc__)
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="another checkout, measured in turns")
    parser.add_argument("--runs", type=int, default=5, help="runs of each command (5)")
    options = parser.parse_args(words)
    checkouts = [Path(__file__).resolve().parents[1], *([options.against.resolve()] if options.against else [])]
    print(f"{'command':22}{'itself s':>10}{'others s':>10}" + ("  of the other checkout" if options.against else ""))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        (folder / "empty.yaml").write_text(EMPTY)
        spent(checkouts[0], folder, ("run", "empty.yaml", "-o", "done"))
        for what, asked in COMMANDS.items():
            turns = [
                [spent(each, folder, [f"new-{n}-{at}" if word == "NEW" else word for word in asked])
                 for at, each in enumerate(checkouts)]
                for n in range(options.runs)
            ]  # fmt: skip
            print(line(what, turns), flush=True)
    return 0


def spent(checkout: Path, folder: Path, words: Sequence[str]) -> tuple[float, float]:
    """Processor seconds of a command, and of what it started."""
    said = folder / "said.json"
    said.unlink(missing_ok=True)
    command = (sys.executable, "-P", "-c", CODE, str(said), *words)
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"testbed {' '.join(words)}: exit code {done.returncode}: {done.stderr.decode()[-500:]}")
    own_s, others_s = json.loads(said.read_text())
    return own_s, others_s


def line(what: str, turns: Sequence[Sequence[tuple[float, float]]]) -> str:
    """`turns` has a pair of seconds for each checkout, this one first."""
    own_s, others_s = (statistics.median(turn[0][n] for turn in turns) for n in (0, 1))
    text = f"{what:22}{own_s:10.3f}{others_s:10.3f}"
    if len(turns[0]) > 1:
        ratios = [sum(turn[0]) / sum(turn[1]) for turn in turns]
        text += f"  {statistics.median(ratios):.2f} ({min(ratios):.2f}, {max(ratios):.2f})"
    return text
