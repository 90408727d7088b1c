"""Machines in a trial: the steps that connect to them and observe them; joins what their observers wrote.

Pure, except `gather`, which reads and writes files of the trial's folder.
"""

from __future__ import annotations

import json
import platform
import struct
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ...agent.nic_loan import FOLDER
from ...agent.remote_machine import OBSERVER
from ...kernel.image.feature import PROBES
from ...model.scenario import Trial
from ...plan.command import home, remote_name
from ...plan.linux import Write
from ...plan.network import Plan
from ...plan.node import machine_link
from ...plan.node import namespace as nodes
from ...plan.step import AwaitCables, LendNics, Location, Needs, ReachMachine, Run
from ..observe import netlink
from ..observe.sample import Query
from ..workload import registry

TOOLS = "/run/tools"
HEADER = struct.Struct("=QII")
"""The header of each record of the observer: its time, the number of its source, its length."""


def machines(trial: Trial) -> tuple[str, ...]:
    return tuple(node.name for node in trial.topology.nodes if node.kind.runs_in == "computer")


def versions() -> dict[str, tuple[str, ...]]:
    """The programs on hosts that results depend on, each with the words that print its version."""
    always = {"iproute2": ("ip", "-V"), "nftables": ("nft", "--version"), "ethtool": ("ethtool", "--version")}
    return always | registry.versions(apart=True)


def about_file(machine: str) -> str:
    """What the machine reported about itself."""
    return f"machine-{machine}.json"


def reach_steps(trial: Trial, planned: Plan) -> Iterator[ReachMachine | LendNics]:
    """Examines every machine before changing any; then each machine lends the NICs that its namespaces need."""
    lent = [
        each
        for link in trial.topology.links
        if machine_link.reaches_machine(link, trial.topology)
        for each in machine_link.lent(link, trial.topology, _emulator_netns(planned, link.name))
    ]
    for machine in machines(trial):
        nics = [nic for owner, nic, _ in lent if owner == machine]
        yield ReachMachine(
            home(machine), machine, _needs(trial, planned, machine, nics), tools=TOOLS, out=about_file(machine)
        )
    for netns, machine in planned.machines:
        yield LendNics(remote_name(machine, netns), machine, netns, tuple(nic for _, nic, to in lent if to == netns))


def ready_steps(planned: Plan) -> Iterator[AwaitCables]:
    """Waits until the cables of all lent NICs are up."""
    for netns, machine in planned.machines:
        yield AwaitCables(remote_name(machine, netns), machine, netns)


def _emulator_netns(planned: Plan, link: str) -> str:
    emulator = planned.emulator(link)
    return "" if emulator is None else emulator.netns


def _needs(trial: Trial, planned: Plan, machine: str, nics: list[str]) -> Needs:
    commands = [command for command in planned.commands if command.on == home(machine)]
    features = {word for command in commands for word in command.features}
    tools = {command.tool for command in commands if not isinstance(command, Write)}
    programs = {"ip", "tc", "ethtool", *tools} | ({"ping"} if machine == trial.workload.source else set())
    programs |= {program.name for program in trial.workload.needed_at(machine)}
    programs |= {"tar"} if trial.workload.needed_files and machine in trial.workload.hosts else set()
    probes = features & PROBES.keys()
    return Needs(
        nics=tuple(nics),
        programs=tuple(sorted(programs)),
        probes=tuple((PROBES[name][1], tuple(PROBES[name][0])) for name in sorted(probes)),
        controls=tuple(sorted(trial.workload.controls)) if machine == trial.workload.source else (),
        sysctls=tuple(nodes.of_machine(trial.topology.node(machine).sysctls)),
        architecture=platform.machine(),
        versions=tuple(versions().items()),
    )


def observe(
    planned: Plan, file: str, interval_ns: int, sources: Iterable[Query], background: str | None = None
) -> Iterator[Run]:
    """A step for the sources of this computer, and a step for those of each machine, which writes its own file until
    `gather` joins them.
    """
    groups = _by_machine(planned, sources)
    for machine, members in groups.items():
        words = (str(interval_ns), *(source.word for _, source in members))
        name = _name(background, machine) if background else None
        if machine is None:
            yield Run((f"{TOOLS}/observe", f"/run/trial/{file}", *words), "observe", background=name)
        else:
            where, observer = Location(on=home(machine)), f"{FOLDER}/{OBSERVER}"
            err = _part(file, machine)
            yield Run((observer, "/proc/self/fd/2", *words), "observe", where, err=err, background=name)


def observers(planned: Plan, sources: Iterable[Query], background: str) -> list[str]:
    """The names of the observers that `observe` starts in the background."""
    return [_name(background, machine) for machine in _by_machine(planned, sources)]


def gather(folder: Path, planned: Plan, files: Mapping[str, tuple[Query, ...]]) -> None:
    """Joins the files of all observers, in the order of time. Sources get their number among all, and times become
    those of this computer's clock, as precisely as a round trip can tell.
    """
    for file, sources in files.items():
        groups = _by_machine(planned, sources)
        if set(groups) == {None}:
            continue
        records: list[tuple[int, bytes]] = []
        for machine, members in groups.items():
            path = folder / (file if machine is None else _part(file, machine))
            ahead_ns = 0 if machine is None else _clock_ahead_ns(folder, machine)
            for record in netlink.records(path.read_bytes()):
                time_ns, source = record.time_ns - ahead_ns, members[record.source][0]
                header = HEADER.pack(max(0, time_ns), source, len(record.messages))
                records.append((time_ns, header + record.messages))
            if machine is not None:
                path.unlink()
        (folder / file).write_bytes(b"".join(raw for _, raw in sorted(records, key=lambda each: each[0])))


def _by_machine(planned: Plan, sources: Iterable[Query]) -> dict[str | None, list[tuple[int, Query]]]:
    """Maps machines (None: this computer) to their sources, each with its number among all."""
    machine_of = dict(planned.machines)
    groups: dict[str | None, list[tuple[int, Query]]] = {}
    for number, source in enumerate(sources):
        groups.setdefault(machine_of.get(source.netns), []).append((number, source))
    return groups or {None: []}


def _clock_ahead_ns(folder: Path, machine: str) -> int:
    return int(json.loads((folder / about_file(machine)).read_text())["clock_ahead_ns"])


def _part(file: str, machine: str) -> str:
    return f"{machine}-{file}"


def _name(background: str, machine: str | None) -> str:
    return background if machine is None else f"{background}-{machine}"
