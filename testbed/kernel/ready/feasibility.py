"""Whether a topology can run on this computer, and on which kernel, before anything is touched. Probes the computer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from ... import package
from ...codec.frozen import dataclass
from ...error import MachineError, TestbedError, UserError
from ...model.node.type import NODE_TYPES, NodeType
from ...model.run_setting import KernelKind
from ...model.topology import Topology
from ...plan.command import programs
from ...plan.network import Plan, plan
from ...plan.step import Step
from .. import controller, lab, nic
from ..consumption import available_bytes
from ..vm import hypervisor
from .probe import PROBES, Lacking, lacking, lacking_program, lacking_sysctl
from .requirement import ENGINES, Need, Needed, Never, Sysctl, needs, of_type

RealTime = Literal["host", "lab-realtime"]
KERNELS: tuple[Literal["lab", "host"], ...] = ("lab", "host")
PREFERRED: tuple[RealTime, ...] = ("host", "lab-realtime")


@dataclass(frozen=True)
class Obstacle:
    """Why a part of a topology cannot run on a kernel of this computer."""

    part: str
    why: Lacking | Never

    @property
    def error(self) -> TestbedError:
        if isinstance(self.why, Never):
            return UserError(f"{self.part}: {self.why.what}; allowed: {self.why.allowed}")
        return MachineError(f"{self.part}: {self.why.what}", self.why.fix)

    @property
    def text(self) -> str:
        return f"{self.part}: {self.why.what}"


def obstacles(topology: Topology, place: KernelKind, planned: Plan | None = None) -> tuple[Obstacle, ...]:
    """All that prevents a topology, with this plan or one without a workload, from running on a kernel of this
    computer. Changes nothing. Names the first part where several have the same need.
    """
    for node in topology.nodes:
        check_names(node.kind)
    found = {need.needed: need for need in reversed(list(needs(topology, planned or plan(topology), place)))}
    ordered = sorted(found.values(), key=lambda need: not isinstance(need.needed, Never))
    return tuple(each for each in map(_obstacle, ordered) if each is not None)


def check_names(kind: NodeType) -> None:
    """Raises AssertionError if a type needs, on either kernel, what no probe looks for: a name with a typo."""
    unknown = {*kind.lab_needs, *kind.host_needs} - PROBES.keys()
    assert not unknown, (
        f"BUG: the node type {kind.name} needs {', '.join(sorted(unknown))}; allowed: {', '.join(sorted(PROBES))}"
    )


def _obstacle(need: Need) -> Obstacle | None:
    if isinstance(need.needed, Sysctl):
        why: Lacking | Never | None = lacking_sysctl(need.needed.path)
    else:
        why = need.needed if isinstance(need.needed, Never) else lacking(need.needed)
    return None if why is None else Obstacle(need.part, why)


def refuse(topology: Topology, place: KernelKind, planned: Plan | None = None) -> None:
    """Raises UserError or MachineError, which name the part and the reason, if a topology cannot run here. A NIC in
    use is one reason.
    """
    for obstacle in obstacles(topology, place, planned):
        raise obstacle.error
    machines = [(node.name, node.vm) for node in topology.nodes if node.vm is not None]
    if machines:
        hypervisor.check(machines, available_bytes(), lab.RESERVE_BYTES, is_lab=place != "host")
    for node in topology.nodes:
        if node.real_nic is not None:
            try:
                nic.check(node.real_nic)
            except UserError as error:
                raise UserError(f"node {node.name}: {error}") from None
            except MachineError as error:
                raise MachineError(f"node {node.name}: {error.what}", error.fix) from None


def refuse_programs(steps: Iterable[Step], place: KernelKind) -> None:
    """Raises MachineError for the first program that these steps start and that is missing, or hidden from a guest."""
    is_lab = place != "host"
    started = programs(controller.with_interpreter(tuple(steps), is_lab=is_lab), package.owners())
    for name in dict.fromkeys(started):
        lacks = lacking_program(name, is_lab=is_lab)
        if lacks is not None:
            raise MachineError(lacks.what, lacks.fix)


def place_for(topology: Topology, wanted: RealTime | None) -> tuple[RealTime, str]:
    """The kernel for a running network and, in brackets, the reason: the wanted one, or else the first of PREFERRED on
    which the topology can run. Raises as `refuse` does.
    """
    if wanted is not None:
        refuse(topology, wanted)
        return wanted, ""
    found = {place: obstacles(topology, place) for place in PREFERRED}
    place = next((place for place in PREFERRED if not found[place]), None)
    if place is None:
        told = "; ".join(f"kernel {place}: {found[place][0].text}" for place in PREFERRED)
        fixes = [
            each.why.fix for place in reversed(PREFERRED) for each in found[place] if isinstance(each.why, Lacking)
        ]
        if fixes:
            raise MachineError(f"this topology cannot run here ({told})", fixes[0])
        raise UserError(f"no kernel can run this topology ({told}); allowed: node types that one kernel can have")
    refuse(topology, place)
    return place, "" if place == PREFERRED[0] else f" ({found[PREFERRED[0]][0].text})"


@dataclass(frozen=True)
class Ability:
    """A row of the table of what can run here: a node type or an engine, on a kernel. `why` is empty if it can."""

    part: str
    kernel: Literal["lab", "host"]
    ok: bool
    why: str
    fix: str


def abilities() -> Iterator[Ability]:
    """Every node type and engine on either kernel."""
    for kind in NODE_TYPES.values():
        check_names(kind)
        for kernel in KERNELS:
            yield _ability(f"node type {kind.name}", kernel, of_type(kind, kernel))
    for name, row in ENGINES.items():
        for kernel in KERNELS:
            yield _ability(f"engine {name}", kernel, row[kernel])


def _ability(part: str, kernel: Literal["lab", "host"], needed: Needed) -> Ability:
    if isinstance(needed, Never):
        return Ability(part, kernel, False, needed.what, f"# {needed.allowed}")
    found = [why for why in map(lacking, needed) if why is not None]
    if found:
        return Ability(part, kernel, False, found[0].what, found[0].fix)
    return Ability(part, kernel, True, "", "")
