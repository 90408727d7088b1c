"""What machines in virtual time did, counted by QEMU itself: a plugin that knows nothing of our clock adds up their
instructions (`instructions.c`).

    python tests/counting.py FOLDER "8 KiB" ["0.5 GIPS" [e1000]]    # a transfer with this window, for each segment
    python tests/counting.py FOLDER ping                            # a hundred pings, by the parts of a round trip
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trials import Ran

from testbed.model.scenario import Trial
from testbed.plan.step import StartVm
from testbed.spec.scenario.trial import trial_of
from testbed.trial import run
from testbed.trial.orders.sequence import orders
from testbed.trial.ready_kernel import ready_kernel

PLUGIN = "instructions.so"
PINGS = 100
AWAKE_NS = 10**6
"""An answer that takes longer came while the sender was awake, and was seen before."""


@dataclass(frozen=True)
class Count:
    """How many instructions a machine had carried out at a lab time."""

    lab_ns: int
    instructions: int


@dataclass(frozen=True)
class Mark:
    """What the plugin saw: `resume`, `halt`, `kick`, `syscall` or `clock`, at an address in hexadecimal."""

    what: str
    lab_ns: int
    instructions: int
    address: str

    @property
    def is_kernel(self) -> bool:
        return self.address.startswith("ffff")


@dataclass(frozen=True)
class RoundTrip:
    """The instructions of a ping: of its sender from its look at the clock to the kick of its card, of the other
    machine from its wake-up to its kick, of the sender from its wake-up to the time stamp; and the lab time between.
    """

    sent: int
    answered: int
    received: int
    there_ns: int
    back_ns: int

    @property
    def instructions(self) -> int:
        return self.sent + self.answered + self.received

    @property
    def rtt_ns(self) -> int:
        return self.instructions + self.there_ns + self.back_ns


def pair(
    workload: dict[str, Any], sender: dict[str, Any] | None = None, receiver: dict[str, Any] | None = None
) -> Trial:
    """Two machines on a switch, in virtual time; the keys of each."""
    machine = {"type": "vm", "memory": "512 MiB"}
    nodes = {"a": {**machine, **(sender or {})}, "b": {**machine, **(receiver or {})}, "s": {"type": "switch"}}
    links = {"l": {"ends": ["a", "s"]}, "r": {"ends": ["s", "b"]}}
    rest = {"id": "t", "params": {}, "repetition": 0, "seed": 1, "kernel": "lab"}
    topology = {"name": "net", "nodes": nodes, "links": links}
    return trial_of({**rest, "topology": topology, "workload": {"from": "a", "to": "b", **workload}}, "counting")


def counted(trial: Trial, folder: Path, *arguments: str) -> Ran:
    """A trial whose machines have the plugin, with arguments of the plugin."""
    made, ready = orders(trial), ready_kernel(trial.kernel)
    tools, done, source = folder / "tools", folder / "trial", Path(__file__).with_name("instructions.c")
    shutil.copytree(ready.tools.folder, tools)
    words = ("gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", source, "-o", tools / PLUGIN)
    subprocess.run(words, check=True)
    loads = ("-plugin", ",".join((f"/run/tools/{PLUGIN}", *arguments)))
    with_plugin = tuple(replace(e, words=(*e.words, *loads)) if isinstance(e, StartVm) else e for e in made.steps)
    done.mkdir()
    ready = replace(ready, tools=replace(ready.tools, folder=tools))
    return Ran(trial, made, done, run.run(trial, replace(made, steps=with_plugin), done, ready=ready))


def steps(ran: Ran) -> list[dict[str, Any]]:
    """What the guest did, with the lab times at which each step began and ended."""
    return [json.loads(line) for line in (ran.folder / "log.jsonl").read_text().splitlines()]


def client(ran: Ran, title: str) -> tuple[int, int]:
    """The lab times between which the workload ran."""
    step = [each for each in steps(ran) if each["step"].get("title") == title][-1]
    return step["begin_ns"], step["end_ns"]


def counts(ran: Ran, node: str) -> list[Count]:
    """One for each millisecond in which the machine woke up."""
    found = [Count(int(words[1]), int(words[2])) for words in _lines(ran, node, 10) if words[0] == "sum"]
    assert len(found) > 500, f"{node} has {len(found)} counts"
    return found


def marks(ran: Ran, node: str) -> list[Mark]:
    kinds = ("resume", "halt", "kick", "syscall", "clock")
    return [Mark(w[0], int(w[1]), int(w[2]), w[3]) for w in _lines(ran, node, 4) if w[0] in kinds]


def share(found: list[Count], begin_ns: float, end_ns: float) -> float:
    """Instructions for each nanosecond between two lab times."""
    inside = [each for each in found if begin_ns <= each.lab_ns <= end_ns]
    span_ns = inside[-1].lab_ns - inside[0].lab_ns
    assert span_ns > 0.8 * (end_ns - begin_ns)
    return (inside[-1].instructions - inside[0].instructions) / span_ns


def round_trips(ran: Ran) -> Iterator[RoundTrip]:
    """The pings whose sender slept until the answer came. The time stamp is the look at the clock in the kernel that is
    as frequent as pings.
    """
    begin_ns, end_ns = client(ran, "ping")
    mine, other = (
        [turn for turn in _turns(marks(ran, node)) if begin_ns <= turn[0].lab_ns <= end_ns] for node in ("a", "b")
    )
    looks = Counter(each.address for turn in mine for each in turn if each.what == "clock" and each.is_kernel)
    stamp = min(looks, key=lambda address: abs(looks[address] - PINGS))
    for number, turn in enumerate(mine):
        kick = next((each for each in turn if each.what == "kick"), None)
        before = [
            e for e in turn if e.what == "clock" and not e.is_kernel and kick and e.instructions < kick.instructions
        ]
        if kick is None or not before:
            continue
        left_ns = _at(turn, kick)
        there = next(each for each in other if each[0].lab_ns >= left_ns and any(e.what == "kick" for e in each))
        answer = next(each for each in there if each.what == "kick")
        answered_ns = _at(there, answer)
        back = next((t for t in mine[number + 1 :] if any(e.address == stamp for e in t)), None)
        if back is None or not 0 <= back[0].lab_ns - answered_ns < AWAKE_NS:
            continue
        stamped = next(each for each in back if each.address == stamp)
        yield RoundTrip(
            kick.instructions - before[-1].instructions,
            answer.instructions - there[0].instructions,
            stamped.instructions - back[0].instructions,
            there[0].lab_ns - left_ns,
            back[0].lab_ns - answered_ns,
        )


def _at(turn: list[Mark], mark: Mark) -> int:
    """The lab time of a mark, at 1 GIPS."""
    return turn[0].lab_ns + mark.instructions - turn[0].instructions


def _turns(found: list[Mark]) -> Iterator[list[Mark]]:
    turn: list[Mark] = []
    for each in found:
        if each.what == "resume":
            turn = []
        turn.append(each)
        if each.what == "halt" and turn[0].what == "resume":
            yield turn


def _lines(ran: Ran, node: str, length: int) -> Iterator[list[str]]:
    text = (ran.folder / f"vm-{node}.err").read_text(errors="replace")
    return (words for words in map(str.split, text.splitlines()) if len(words) == length)


def _show_transfer(folder: Path, window: str, cpu: str = "1 GIPS", model: str = "virtio") -> None:
    keys = {"cpu": cpu, "model": model}
    ran = counted(pair({"tool": "iperf3", "duration": "1 s", "window": window}, keys, keys), folder)
    (flow,) = ran.result.flows
    assert flow.goodput_bps is not None
    assert flow.mss_bytes is not None
    end_ns, takes_ns = client(ran, "iperf3")[1], flow.mss_bytes * 8e9 / flow.goodput_bps
    print(f"{window}: {flow.goodput_bps / 1e6:.1f} Mbit/s, a segment takes {takes_ns:.0f} ns")
    for node in ("a", "b"):
        per_ns = share(counts(ran, node), end_ns - 0.9e9, end_ns - 0.1e9)
        said = ran.result.vms[node].cpu_busy
        print(f"  {node}: {per_ns * takes_ns:.0f} instructions for a segment, {per_ns:.4f} for a ns; cpu_busy {said}")


def _show_pings(folder: Path) -> None:
    ran = counted(pair({"tool": "ping", "count": PINGS, "interval": "10 ms"}), folder, "marks=1")
    found = list(round_trips(ran))
    assert found
    print(f"ping says {ran.ping.rtt_mean_s}; {len(found)} of {PINGS} pings, medians:")
    for name in ("sent", "answered", "received", "instructions", "there_ns", "back_ns", "rtt_ns"):
        print(f"  {name} {statistics.median(getattr(each, name) for each in found):.0f}")


if __name__ == "__main__":
    place = Path(sys.argv[1])
    place.mkdir(parents=True)
    if sys.argv[2] == "ping":
        _show_pings(place)
    else:
        _show_transfer(place, *sys.argv[2:])
