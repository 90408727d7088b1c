"""Sabotage of evidence, generated: every field of what recorded trials tell the gate, taken away or made absurd.

`python tests/evidence_sabotage.py` counts how much of it the gate catches; in an older checkout, with PYTHONPATH, it
counts the same for that gate.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from trials import make_trial

from testbed.error import TestbedError
from testbed.kernel import lab
from testbed.kernel.guest import TrialError
from testbed.model.scenario import Trial
from testbed.trial import reader, ready_kernel
from testbed.trial.evidence.case import Case
from testbed.trial.gate.judge import judge, verdict
from testbed.trial.orders.sequence import Orders, orders
from testbed.trial.start.local_words import substituted

HOSTS = {name: {"type": "host"} for name in ("a", "b", "c")}
PAIR = {"a": HOSTS["a"], "b": HOSTS["b"]}
SHARED = {
    "name": "shared",
    "nodes": {**HOSTS, "left": {"type": "switch"}},
    "links": {
        "port": {"ends": ["a", "left"]},
        "other-port": {"ends": ["c", "left"]},
        "path": {"ends": ["left", "b"], "rate": "20 Mbit/s", "rtt": "20 ms", "buffer": "1 bdp"},
    },
}
TCLINK = {
    "name": "tclink",
    "engine": "mininet",
    "nodes": {**PAIR, "left": {"type": "switch"}},
    "links": {
        "a-port": {"ends": ["a", "left"], "rate": "50 Mbit/s"},
        "b-port": {"ends": ["left", "b"], "rate": "20 Mbit/s", "rtt": "10 ms"},
    },
}
SDN = {
    "name": "sdn",
    "nodes": {
        **PAIR,
        "s1": {"type": "ovs"},
        "s2": {"type": "ovs"},
        "c0": {"type": "controller", "app": "monitor", "interval": "500 ms", "control": {"rtt": "10 ms"}},
    },
    "links": {
        "a-port": {"ends": ["a", "s1"]},
        "trunk": {"ends": ["s1", "s2"], "rate": "20 Mbit/s", "rtt": "2 ms"},
        "b-port": {"ends": ["s2", "b"]},
    },
}
CDN = {
    "name": "cdn",
    "nodes": {**{name: {"type": "host"} for name in ("client", "edge", "origin")}, "exchange": {"type": "router"}},
    "links": {
        "access": {"ends": ["exchange", "client"], "rate": "20 Mbit/s", "rtt": "10 ms"},
        "peering": {"ends": ["edge", "exchange"], "rate": "50 Mbit/s", "rtt": "2 ms"},
        "transit": {"ends": ["origin", "exchange"], "rate": "50 Mbit/s", "rtt": "40 ms"},
    },
}
SLOW = {"rate": "20 Mbit/s", "rtt": "20 ms"}
SCHEDULE = [{"at": "500 ms", "rate": "10 Mbit/s"}, {"at": "1 s", "loss": "1 in 100"}, {"at": "1500 ms", "loss": "none"}]
DATAGRAMS = {"tool": "udp", "rate": "5 Mbit/s", "duration": "1 s"}
NOISE = {"pattern": "constant", "from": "c", "to": "b", "rate": "2 Mbit/s", "length": "700 B"}
SIZE = {"mean": "20 kB", "shape": "1.3"}
WEB = {"pattern": "heavy-tailed", "from": "c", "to": "b", "arrivals": "20 /s", "size": SIZE}
DOWNLOADS = {"tool": "http", "from": "origin", "to": "client", "sizes": ["10 KiB", "300 KiB"], "downloads": 2}

RECORDED: dict[str, dict[str, Any]] = {
    "flow": {"path": SLOW, "workload": {"flows": 2, "duration": "2 s", "leave_out": {"rtts": 20}}},
    "flow-of-bytes": {"path": SLOW, "workload": {"bytes": "2 MB", "window": "100 kB"}},
    "flow-periodic-loss": {"path": {**SLOW, "loss": "1 in 100"}, "workload": {"duration": "2 s", "congestion": "bbr"}},
    "flow-random-loss": {"path": {**SLOW, "loss": {"random": "1 %"}}, "workload": {"duration": "2 s"}},
    "flow-schedule": {"path": {**SLOW, "schedule": SCHEDULE}, "workload": {"duration": "2 s"}},
    "flow-real-time": {"path": SLOW, "workload": {"duration": "2 s"}, "kernel": "lab-realtime"},
    "arrivals": {"path": SLOW, "workload": {"arrivals": {"poisson": "5 /s"}, "size": "20 kB", "duration": "2 s"}},
    "background": {
        "topology": SHARED,
        "workload": {"duration": "2 s", "window": "30 kB"},
        "background": {"noise": NOISE, "web": WEB},
    },
    "iperf3": {"path": SLOW, "workload": {"tool": "iperf3", "duration": "2 s", "flows": 2}},
    "iperf3-udp": {
        "path": SLOW,
        "workload": {"tool": "iperf3", "protocol": "udp", "rate": "5 Mbit/s", "length": "1000 B", "duration": "2 s"},
    },
    "udp": {"path": {**SLOW, "loss": "1 in 50"}, "workload": {**DATAGRAMS, "flows": 2}},
    "udp-policy": {
        "path": {**SLOW, "policy": {"after": "300 kB", "rate": "1 Mbit/s"}},
        "workload": {**DATAGRAMS, "duration": "4 s"},
    },
    "udp-jitter": {"path": {**SLOW, "jitter": "1 ms"}, "workload": DATAGRAMS},
    "ping": {"workload": {"tool": "ping", "count": 5}},
    "http": {"topology": CDN, "workload": {**DOWNLOADS, "concurrency": 2}},
    "http-cache": {"topology": CDN, "workload": {**DOWNLOADS, "cache": "edge"}},
    "capture": {"path": SLOW, "capture": [{"at": "b", "snaplen": 128}, {"at": "path"}]},
    "mininet": {"topology": TCLINK, "workload": {"duration": "2 s", "window": "30 kB"}},
    "sdn": {"topology": SDN, "workload": {**DATAGRAMS, "rate": "1 Mbit/s"}},
}
"""Short trials that are valid: all workloads, engines and impairments that a lab kernel has."""

FEW = 3
"""Longer rows are series, whose elements are alike: sabotage hits the one in the middle, or all of them."""

PLANNED = frozenset({"Stage", "State", "TcPort", "Vm"})
"""Types of values that the plan put beside the evidence."""

Place: TypeAlias = tuple[Any, ...]
"""The names, keys and numbers that lead to a value; ALL is every element of a series."""

ALL = "*"

CAUGHT, REFUSED, CRASHED, PASSED = "caught", "refused", "crashed", "passed"


@dataclass(frozen=True)
class Recording:
    """What a real trial left: the trial, its orders, and the folder that its evidence is read from."""

    name: str
    trial: Trial
    made: Orders
    folder: Path

    def evidence(self) -> Any:
        return reader.read(self.trial, self.made, self.folder)

    def judged(self, evidence: Any) -> str:
        return verdict(judge(Case(self.trial, self.made.plan, evidence)))

    def outcome(self, evidence: Any, before: str = "valid") -> str:
        """What becomes of evidence: another verdict than before, a refusal that says why, a crash, or nothing."""
        try:
            return PASSED if self.judged(evidence) == before else CAUGHT
        except (TrialError, TestbedError):
            return REFUSED
        except Exception:  # whatever comes is counted
            return CRASHED


def record(name: str, parent: Path) -> Recording:
    """Runs the trial; its folder lies below `parent`."""
    trial = make_trial(**RECORDED[name])
    made, there, folder = orders(trial), ready_kernel.ready_kernel(trial.kernel), parent / name
    if not (folder / "outcome.json").exists():
        folder.mkdir(parents=True)
        assert there.image is not None
        steps, _ = substituted(trial.topology, made.steps, there.tools, is_lab=True)
        virtual = trial.kernel.is_virtual_time
        lab.run(
            there.image,
            steps,
            folder,
            tools=there.tools,
            seed=1,
            memory_bytes=made.memory_bytes,
            virtual_time=virtual,
        )
    return Recording(name, trial, made, folder)


def _negative(value: Any) -> Any:
    return -1 - abs(value) if _is_number(value) else value


def _text(value: Any) -> Any:
    return "absurd" if _is_number(value) or isinstance(value, str) or value is None else value


def _zero(value: Any) -> Any:
    return type(value)(0) if isinstance(value, int | float) else value


def _empty(value: Any) -> Any:
    return type(value)() if isinstance(value, str | tuple | list | dict) else value


def _number(value: Any, absurd: float) -> Any:
    return absurd if _is_number(value) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


WAYS: dict[str, Callable[[Any], Any]] = {
    "removed": lambda value: None,
    "zero": _zero,
    "empty": _empty,
    "negative": _negative,
    "nan": partial(_number, absurd=float("nan")),
    "huge": partial(_number, absurd=10**18),
    "text": _text,
}
"""Each returns the value itself if it does not apply."""


def places(value: Any, at: Place = ()) -> Iterator[Place]:
    """Every place below a value, and its own."""
    if at:
        yield at
    if is_dataclass(value):
        if type(value).__name__ not in PLANNED:
            for each in fields(value):
                inner = getattr(value, each.name)
                if is_dataclass(inner) or not each.metadata.get("asked"):
                    yield from places(inner, (*at, each.name))
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from places(each, (*at, key))
    elif isinstance(value, tuple | list):
        if len(value) <= FEW:
            for number, each in enumerate(value):
                yield from places(each, (*at, number))
        else:
            middle = len(value) // 2
            for way in (middle, ALL):
                yield from ((*at, way, *rest[1:]) for rest in places(value[middle], (0,)))


def changed(value: Any, at: Place, change: Callable[[Any], Any]) -> Any:
    """The value with another one at a place. An element that is removed from a row or a mapping is gone from it."""
    if not at:
        return change(value)
    if value is None:
        return None  # alike elements can lack a part
    key, rest = at[0], at[1:]
    if is_dataclass(value) and not isinstance(value, type):
        return _replaced(value, key, changed(getattr(value, key), rest, change))
    if isinstance(value, Mapping):
        if key not in value:
            return value  # alike elements can have different keys
        new = changed(value[key], rest, change)
        left = {name: new if name == key else each for name, each in value.items()}
        gone = not rest and new is None and value[key] is not None
        return {name: each for name, each in left.items() if name != key or not gone}
    hit = range(len(value)) if key == ALL else (key,)
    row = [changed(each, rest, change) if n in hit else each for n, each in enumerate(value)]
    if not rest:
        row = [each for n, each in enumerate(row) if n not in hit or each is not None]
    return type(value)(row)


def _replaced(value: Any, name: str, new: Any) -> Any:
    return replace(value, **{name: new})


def get(value: Any, at: Place) -> Any:
    for key in at:
        value = getattr(value, key) if is_dataclass(value) else value[len(value) // 2 if key == ALL else key]
    return value


@dataclass(frozen=True)
class Sabotage:
    """One change to the evidence of one recording. `field` is its place without numbers, the same for alike places."""

    recording: str
    at: Place
    way: str

    @property
    def field(self) -> str:
        """Without numbers and names of a trial's own: of stages, flows, nodes, counters."""
        return ".".join(_generic(each) for each in self.at)

    @property
    def name(self) -> str:
        return f"{self.recording}: {'.'.join(map(str, self.at))} {self.way}"


def _generic(key: Any) -> str:
    if key == ALL:
        return ALL
    return "#" if isinstance(key, int) or re.search(r"\d|:|\W", str(key).replace("_", "")) else str(key)


def sabotages(name: str, evidence: Any, seen: set[tuple[str, str, str]] | None = None) -> Iterator[Sabotage]:
    """All that change anything; with `seen`, of alike places of one tool only the first."""
    tool = RECORDED[name].get("workload", {}).get("tool", "flow")
    for at in places(evidence):
        before = get(evidence, at[: at.index(ALL)] if ALL in at else at)
        for way, change in WAYS.items():
            each = Sabotage(name, at, way)
            key = (tool, each.field, way)
            if seen is not None and key in seen:
                continue
            if not _same(before, changed(before, at[at.index(ALL) :], change) if ALL in at else change(before)):
                if seen is not None:
                    seen.add(key)
                yield each


def sabotaged(evidence: Any, each: Sabotage) -> Any:
    return changed(evidence, each.at, WAYS[each.way])


def _same(before: Any, after: Any) -> bool:
    """Whether nothing changed: a change of 0 to 0 is none."""
    return after is before or (type(after) is type(before) and repr(after) == repr(before))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(RECORDED))
    parser.add_argument("--keep", type=Path, help="keep the recordings here, or use those that are there")
    parser.add_argument("--write", type=Path, help="a file for what became of each")
    parser.add_argument("--only", type=Path, help="such a file: count no more than it has")
    given = parser.parse_args()
    known = None if given.only is None else set(json.loads(given.only.read_text()))
    found: dict[str, str] = {}
    seen: set[tuple[str, str, str]] = set()
    with tempfile.TemporaryDirectory() as temporary:
        for name in given.names:
            recording = record(name, given.keep or Path(temporary))
            evidence = recording.evidence()
            before = recording.judged(evidence)
            print(f"{name}: {before}", flush=True)
            for each in sabotages(name, evidence, seen):
                if known is None or each.name in known:
                    found[each.name] = recording.outcome(sabotaged(evidence, each), before)
    if given.write:
        given.write.write_text(json.dumps(found, indent=0))
    for kind in (CAUGHT, REFUSED, CRASHED, PASSED):
        print(f"{kind:8} {sum(each == kind for each in found.values()):6}")
    print(f"{'all':8} {len(found):6}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
