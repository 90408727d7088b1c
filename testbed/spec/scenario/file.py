"""The keys of a scenario, and what a stored trial shares with them. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from ...codec.fault import MAPPING, Fault
from ...codec.keyed import Keyed, Kind, key, named, read
from ...codec.kind import FRACTION, IP_VERSIONS, LINES, NAME, SYSCTLS, TEXT, WORD, listed, mapped, record
from ...codec.scalar import lines_of, text_of
from ...error import ValueRefused, one_of
from ...model.background import BACKGROUND, Background
from ...model.openflow import NEIGHBOURS, Neighbours
from ...model.run_setting import (
    KERNEL,
    LAB,
    METRIC_UNITS,
    RARE_MIN,
    REPETITIONS,
    SAMPLES,
    SEED,
    UNLIMITED,
    Capture,
    Kernel,
    Limits,
    Samples,
    Until,
)
from ...model.topology import ENGINE, NIC, Engine, IpVersions, Nic
from ...model.workload.fact import ToolKeys
from ...model.workload.tool import WORKLOAD
from ...units import format_fraction
from ..topology.file import TopologyFile
from .expect import ExpectFile, rule_faults

TOPOLOGY_ABOUT = "A topology file, relative to the folder of this file; or the topology itself."


def _read_topology(value: Any) -> TopologyFile | str:
    return read(TopologyFile, value) if isinstance(value, dict | TopologyFile) else TEXT.read(value)


TOPOLOGY = Kind(
    _read_topology,
    lambda value: value if isinstance(value, str) else value.written(),
    {"oneOf": [{"type": "string"}, {"$ref": TopologyFile}]},
)


@named
class RunFile(Keyed):
    """What scenarios and stored trials have in common."""

    kernel: Kernel = key("kernel", KERNEL, default=LAB)
    nic: Nic | None = key("nic", NIC, "How the NICs of all hosts behave; overrides the topology.", default=None)
    ip: IpVersions | None = key(
        "ip", IP_VERSIONS, "The IP versions of automatic addresses; overrides the topology.", default=None
    )
    workload: ToolKeys = key("workload", WORKLOAD, "What runs over the topology.")
    background: tuple[tuple[str, Background], ...] | None = key(
        "background", mapped(NAME, BACKGROUND, least=1), "Other traffic, by name.", default=None
    )
    seed: int = key("seed", SEED, default=1)
    samples: Samples | None = key("samples", SAMPLES, default=Samples())
    captures: tuple[Capture, ...] = key(
        "capture", listed(record(Capture)), "Where packets are captured, as pcap files.", default=()
    )
    limits: Limits = key("limits", record(Limits), "What a trial may use.", default=UNLIMITED)
    sysctls: tuple[tuple[str, str], ...] = key("sysctls", SYSCTLS, "Kernel settings of all hosts.", default=())


@named
class TitleFile(Keyed):
    """What a scenario file begins with."""

    name: str = key("name", NAME)
    description: str = key("description", LINES, "What it measures, for people.", default="")
    topology: TopologyFile | str = key("topology", TOPOLOGY, TOPOLOGY_ABOUT)


def read_metric(value: object) -> str:
    """The name of a metric; whether there is one depends on the workload."""
    return text_of(value, one_of([*METRIC_UNITS], ""))


def read_quick(value: object) -> dict[str, Any]:
    """The settings of the quick size, which `option` reads, by their keys; the note is there."""
    if not isinstance(value, dict):
        raise ValueRefused("this is not a mapping", MAPPING)
    if "note" not in value:
        raise ValueRefused("the key 'note' is missing", "a line that says what is scaled, and what that changes")
    try:
        lines_of(value["note"])
    except ValueRefused as refused:
        raise ValueRefused(refused.what, "what is scaled, and what that changes", ("note",)) from None
    if len(value) == 1:
        raise ValueRefused("nothing is set", "KEY: VALUE as for --set, such as 'path.rate: 1 Gbit/s'")
    return value


def read_values(value: object) -> Any:
    """The values of an axis as they are written: what they mean depends on the axis."""
    if not isinstance(value, list | dict):
        raise ValueRefused(
            "this is not a list", "a list, such as [a, b], or a range, such as {from: 1, to: 10, step: 1}"
        )
    if not value:
        raise ValueRefused("this is empty", "at least one entry")
    return value


def _rules(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueRefused("this is not a mapping", MAPPING)
    if not value:
        raise ValueRefused("this is empty", "at least one entry")
    return value


VALUES = Kind(read_values)
RULES = Kind(_rules, schema={"type": "object", "minProperties": 1})
QUICK = Kind(read_quick)
METRIC_NAME = Kind(
    read_metric,
    schema={
        "anyOf": [{"enum": [*METRIC_UNITS]}, {"type": "string"}],
        "description": "The metric that decides a comparison of two runs, also one that a command measures.",
    },
)


@named
class ScenarioFile(RunFile, TitleFile):
    """A topology, a workload on it, and what is varied."""

    neighbours: Neighbours | None = key(
        "neighbours",
        NEIGHBOURS,
        "Whether hosts know MAC addresses (static) or ask for them; overrides the topology.",
        default=None,
    )
    engine: Engine | None = key("engine", ENGINE, "What builds the network; overrides the topology.", default=None)
    sweep: tuple[tuple[str, Any], ...] = key(
        "sweep",
        mapped(WORD, VALUES),
        "The axes, each with its values, and groups of axes that vary together.",
        default=(),
    )
    exclude: tuple[dict[str, Any], ...] = key(
        "exclude",
        listed(RULES),
        "The combinations to leave out: axes, each with one value or a list.",
        default=(),
    )
    said_repetitions: int | None = key("repetitions", REPETITIONS, default=None, shown=1)
    until: Until | None = key(
        "until", record(Until), "Repeats each cell until its mean is known; excludes repetitions.", default=None
    )
    primary: str | None = key("primary", METRIC_NAME, default=None)
    rare: Fraction | None = key(
        "rare",
        FRACTION,
        "The share of trials that may differ where a comparison says that a cell is the same.",
        default=None,
    )
    expect: tuple[ExpectFile, ...] | None = key(
        "expect",
        listed(record(ExpectFile), 1),
        "Rules about what the trials measure: unless all hold, a run ends with exit code 1.",
        default=None,
    )
    quick: dict[str, Any] | None = key(
        "quick",
        QUICK,
        "The small size of the scenario, for --quick: settings as in --set, and a note.",
        default=None,
    )

    @property
    def repetitions(self) -> int:
        """The most that a cell gets."""
        return self.until.most if self.until is not None else self.said_repetitions or 1

    @property
    def metric_units(self) -> Mapping[str, str]:
        """The metrics of its trials, and their base units."""
        return {**METRIC_UNITS, **self.workload.measured_units}

    def faults(self) -> Iterator[Fault]:
        """What is wrong between the keys of one mapping."""
        if self.until is not None:
            yield from (fault.under("until") for fault in self.until.faults())
        if self.until is not None and self.said_repetitions is not None:
            yield Fault(("repetitions",), "repetitions and until exclude each other", "one of the two")
        yield from (fault.under("expect") for fault in rule_faults(self.expect or (), self.metric_units))
        known = [*self.metric_units]
        if self.primary is not None and self.primary not in known:
            yield Fault(("primary",), f"primary: {self.primary!r} is not a metric", one_of(known, self.primary))
        if self.rare is not None and not RARE_MIN <= self.rare < 1:
            what = f"{format_fraction(self.rare)} is out of range"
            yield Fault(("rare",), what, f"{format_fraction(RARE_MIN)} to less than 100 %", named=True)
