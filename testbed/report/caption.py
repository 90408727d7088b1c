"""The caption that lets one repeat a figure: scenario, network, kernel, seeds, versions, commands. Pure, no I/O."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from ..codec.frozen import dataclass
from ..model.link.impairment import IMPAIRMENTS, Direction, Impairment, Way
from ..model.link.wander import words as wander_words
from ..model.topology import MTU_DEFAULT, Link
from ..spec.topology.link.impairment import FILE_FIELDS
from ..sweep.shard import in_words
from ..trial.result import TrialResult
from ..units import counted
from .stored_run import StoredRun

MANY = 4
"""With more values than this the first and the last are named."""
THERE, BACK = "→", "←"


@dataclass(frozen=True)
class Fact:
    """`values` are what it was in the trials, in their order; arrows point from the link's first end to its second."""

    name: str
    values: tuple[str, ...]

    @property
    def text(self) -> str:
        if len(self.values) > MANY:
            return f"{self.values[0]} … {self.values[-1]} ({len(self.values)} values)"
        return " | ".join(self.values)

    def turned(self) -> Fact:
        """The same, drawn from right to left."""
        swap = str.maketrans({THERE: BACK, BACK: THERE})
        return Fact(self.name.translate(swap), tuple(each.translate(swap) for each in self.values))


def facts(links: Sequence[Link]) -> tuple[Fact, ...]:
    """The facts of one link, as it was in several trials; those that no trial has are left out."""
    found = []
    for name, of in _facts():
        values = [of(link) for link in dict.fromkeys(links)]
        if any(value is not None for value in values):
            found.append(Fact(name, tuple(dict.fromkeys("none" if value is None else value for value in values))))
    return tuple(found)


def _facts() -> Iterator[tuple[str, Callable[[Link], str | None]]]:
    """(name, its value in a link) of each impairment, and of what else a link has."""
    for row in (IMPAIRMENTS[key] for key in FILE_FIELDS):
        label = row.label or row.key
        if row.total is not None:
            yield row.total.upper(), partial(_total, row)
        if row.is_apart:
            yield f"{label} {THERE}", partial(_one_way, row, "forward")
            yield f"{label} {BACK}", partial(_one_way, row, "backward")
        else:
            yield label, partial(_both, row)
    yield "MTU", lambda link: None if link.mtu_bytes == MTU_DEFAULT else f"{link.mtu_bytes} bytes"
    yield "changes while it runs", lambda link: str(len(link.schedule)) if link.schedule else None
    yield "RTT wanders", lambda link: None if link.wander is None else wander_words(link.wander)


def _words(row: Impairment, asked: Direction) -> str | None:
    """None for an impairment that is absent, or 0."""
    value = asked.value(row.name)
    return row.words(value) if value else None


def _one_way(row: Impairment, way: Way, link: Link) -> str | None:
    return _words(row, link.asked(way, is_data=False))


def _total(row: Impairment, link: Link) -> str | None:
    total = sum(each.value(row.name) or 0 for each in (link.forward, link.backward))
    return row.words(total) if total else None


def _both(row: Impairment, link: Link) -> str | None:
    """One value where both directions have the same, or where it is that of the data's."""
    of_data = _words(row, link.data)
    if of_data is not None:
        return f"{of_data}{row.of_data}"
    there, back = _words(row, link.forward), _words(row, link.backward)
    if there == back:
        return there
    return ", ".join(f"{arrow} {words}" for arrow, words in ((THERE, there), (BACK, back)) if words is not None)


def caption(run: StoredRun, kind: str, options: Sequence[str] = ()) -> str:
    """One text of a few sentences. `options` are those of `testbed plot` beyond the kind."""
    shown = run.results
    seeds = sorted({each.seed for each in shown})
    sentences = [
        f"{run.name}: {trials(run)}; {_seeds(seeds)}.",
        subject(run),
        f"{Fact('kernel', tuple(dict.fromkeys(_kernel(run, each) for each in shown))).text}.",
        f"Specification {digest(run)} (of all trial.json). {_again(run, kind, options)}",
    ]
    return " ".join(sentences)


def subject(run: StoredRun) -> str:
    """The network and the workload in a sentence each; those of the first trial where workloads differ."""
    return f"{_network(run)} {_workload(run.settings[run.results[0].id])}."


def trials(run: StoredRun) -> str:
    """How many trials there are, and how many of them are not shown or not valid."""
    count = len(run.usable)
    suspect = sum(each.verdict == "suspect" for each in run.usable)
    left_out = len(run.results) - count
    parts = [counted(count, "trial")]
    parts += [f"{suspect} of them suspect (open marks)"] if suspect else []
    parts += [f"{left_out} invalid or without goodput left out"] if left_out else []
    share = f": this is {in_words(run.shards)} of the scenario" if run.shards else ""
    parts += [f"{run.missing} not measured yet{share}"] if run.missing else []
    return ", ".join(parts)


def digest(run: StoredRun) -> str:
    """The first digits of a SHA-256 over the specifications of the trials: equal for equal trials."""
    written = [run.settings[each.id] for each in run.results]
    return hashlib.sha256(json.dumps(written, sort_keys=True).encode()).hexdigest()[:12]


def _kernel(run: StoredRun, result: TrialResult) -> str:
    """The kernel and the version of the testbed with which a trial ran."""
    about = run.provenance(result.id)
    built = about.get("kernel") or {}
    config = f", config {built['config_hash'][:8]}" if built.get("config_hash") else ""
    return f"Kernel {result.kernel} {result.kernel_release}{config}; testbed {about.get('testbed', 'unknown')}"


def _seeds(seeds: Sequence[int]) -> str:
    if len(seeds) == 1:
        return f"seed {seeds[0]}"
    is_run = seeds == list(range(seeds[0], seeds[-1] + 1))
    return f"seeds {seeds[0]} to {seeds[-1]}" if is_run else f"seeds {', '.join(map(str, seeds))}"


def _network(run: StoredRun) -> str:
    trials = list(run.trials.values())
    topologies = dict.fromkeys(trial.topology.name for trial in trials)
    if len(topologies) != 1:
        return f"Networks: {', '.join(topologies) or 'unknown'}."
    links = [link for link in trials[0].topology.links if facts([link])]
    described = []
    for link in links[:3]:
        known = facts([each for trial in trials for each in trial.topology.links if each.name == link.name])
        words = "; ".join(f"{each.name} {each.text}" for each in known)
        described += [f"{link.name}: {words}"] if words else []
    more = f", and {len(links) - 3} more of its links" if len(links) > 3 else ""
    details = f" ({' / '.join(described)}{more})" if described else ""
    return f"Network {next(iter(topologies))}{details}."


def _workload(settings: Any) -> str:
    work: dict[str, Any] = dict(settings["workload"])
    varied = {key.rsplit(".", 1)[-1] for key in settings["params"]}
    ends = f"{work.pop('from', '?')} → {work.pop('to', '?')}"
    rest = [f"{key} {_plain(value)}" for key, value in work.items() if key not in varied | {"tool", "start"} and value]
    return f"Workload {work.get('tool')} {ends}" + (f", {', '.join(map(str, rest))}" if rest else "")


def _plain(value: Any) -> str:
    """In words; what is empty is left out, and what a file says, which may be long."""
    if isinstance(value, dict):
        said = {key: _plain(each) for key, each in value.items() if key != "text" and each is not None}
        return " ".join(f"{key} {each}" for key, each in said.items() if each)
    return ", ".join(map(_plain, value)) if isinstance(value, list) else str(value)


def _again(run: StoredRun, kind: str, options: Sequence[str]) -> str:
    plot = shlex.join(["testbed", "plot", str(run.path), kind, *options])
    return f"Drawn by: {plot}; to repeat a trial: {repeat(run)}."


def repeat(run: StoredRun) -> str:
    """The command that repeats a trial of it."""
    return f"testbed run --repeat {shlex.quote(str(run.path))}/trials/ID"
