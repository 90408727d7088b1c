"""The file models of a scenario, and what a stored trial shares with them. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, TypeAlias

from pydantic import Discriminator, Field, PlainSerializer, PlainValidator, Tag, WithJsonSchema

from ... import units
from ...error import ValueRefused, one_of
from ...model.openflow import Neighbours
from ...model.run_setting import (
    LAB,
    METRIC_UNITS,
    SAMPLES_INTERVAL_NS,
    SEED_MAX,
    SNAPLEN_BYTES,
    Capture,
    Kernel,
    Limits,
    Until,
)
from ...model.topology import Engine, Nic
from ..syntax.document import MAPPING, Fault
from ..syntax.field import IpVersionsField, Lines, Name, Size, Span, Sysctls, Text, byte_count_schema, number
from ..syntax.file_model import FileModel
from ..syntax.scalar import byte_count, lines_of, text_of, whole
from ..topology.file import TopologyFile
from ..topology.link.loss import FractionField
from ..workload.background import BackgroundFile
from ..workload.registry import WorkloadFile
from .expect import ExpectFile, rule_faults

REPETITIONS_MAX = 100_000

TRIALS_LEAST, LEAST = 2, 3
"""How few trials have an interval at all, and how few a cell gets that does not say."""

SNAPLEN_MIN, SNAPLEN_MAX = 14, 262_144


_KERNELS = {"lab": Kernel("lab"), "lab-realtime": Kernel("lab-realtime"), "host": Kernel("host")}

_KERNEL_NAME = r"[A-Za-z0-9][A-Za-z0-9._+-]*"

_KERNEL_ALLOWED = "lab, lab-realtime, host, or {lab: NAME}"

_SAMPLES_ALLOWED = "none, or {interval: 100 ms}"


def read_kernel(value: object) -> Kernel:
    if isinstance(value, dict):
        name = str(value.get("lab", ""))
        if list(value) != ["lab"] or not re.fullmatch(_KERNEL_NAME, name):
            raise ValueRefused("this does not name a lab kernel", _KERNEL_ALLOWED)
        return Kernel("lab", name)
    text = text_of(value, _KERNEL_ALLOWED)
    if text not in _KERNELS:
        raise ValueRefused(f"{text!r} is not a kernel", _KERNEL_ALLOWED)
    return _KERNELS[text]


def write_kernel(kernel: Kernel) -> Any:
    return kernel.kind if kernel.name is None else {kernel.kind: kernel.name}


class SamplesFile(FileModel):
    """How often every flow and queue is looked at."""

    interval: Span = Field(SAMPLES_INTERVAL_NS, description="The interval between two samples, in lab time.")


def read_samples(value: object) -> Any:
    if isinstance(value, dict):
        return SamplesFile.model_validate(value)
    text = text_of(value, _SAMPLES_ALLOWED)
    if text != "none":
        raise ValueRefused(f"{text!r} does not give an interval", _SAMPLES_ALLOWED)
    return text


KernelField = Annotated[
    Kernel,
    PlainValidator(read_kernel),
    PlainSerializer(write_kernel),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": list(_KERNELS)},
                {
                    "type": "object",
                    "properties": {"lab": {"type": "string", "pattern": f"^{_KERNEL_NAME}$"}},
                    "required": ["lab"],
                    "additionalProperties": False,
                },
            ],
            "description": "lab: virtual time; lab-realtime: the wall clock; host: this computer's own kernel.",
        }
    ),
]

Samples = Annotated[
    SamplesFile | str,
    PlainValidator(read_samples),
    PlainSerializer(lambda samples: samples if isinstance(samples, str) else samples.written()),
    WithJsonSchema({"anyOf": [{"const": "none"}, SamplesFile.model_json_schema()]}),
]

Seed = Annotated[
    int, PlainValidator(whole(0, SEED_MAX)), WithJsonSchema(number(0, SEED_MAX, "The seed of the first repetition."))
]

Repetitions = Annotated[
    int,
    PlainValidator(whole(1, REPETITIONS_MAX)),
    WithJsonSchema(number(1, REPETITIONS_MAX, "How many trials each cell gets, with consecutive seeds.")),
]

Snaplen = Annotated[
    int,
    PlainValidator(byte_count(SNAPLEN_MIN, SNAPLEN_MAX)),
    WithJsonSchema(byte_count_schema(SNAPLEN_MIN, SNAPLEN_MAX, "How many bytes of each packet the capture keeps.")),
]

TopologyField: TypeAlias = Annotated[
    Annotated[Text, Tag("<file>")] | Annotated[TopologyFile, Tag("<inline>")],
    Discriminator(lambda value: "<inline>" if isinstance(value, dict | TopologyFile) else "<file>"),
    Field(description="A topology file, relative to the folder of this file; or the topology itself."),
]


Trials = Annotated[
    int,
    PlainValidator(whole(TRIALS_LEAST, REPETITIONS_MAX)),
    WithJsonSchema(number(TRIALS_LEAST, REPETITIONS_MAX, "How many trials a cell gets.")),
]


class CaptureFile(FileModel):
    """A pcap of what passes a node or a link."""

    at: Name = Field(description="The node or link to capture at.")
    snaplen: Snaplen = SNAPLEN_BYTES

    def capture(self) -> Capture:
        return Capture(self.at, self.snaplen)


class LimitsFile(FileModel):
    """What a trial may use."""

    wall: Span | None = Field(None, description="The longest time a trial may take on the wall clock.")
    memory: Size | None = Field(None, description="The memory of the lab kernel.")

    def limits(self) -> Limits:
        return Limits(self.wall, self.memory)


class RunFile(FileModel):
    """What scenarios and stored trials have in common."""

    kernel: KernelField = LAB
    nic: Nic | None = Field(None, description="How the NICs of all hosts behave; overrides the topology.")
    ip: IpVersionsField | None = Field(
        None, description="The IP versions of automatic addresses; overrides the topology."
    )
    workload: WorkloadFile
    background: Annotated[dict[Name, BackgroundFile], Field(min_length=1)] | None = Field(
        None, description="Other traffic, by name."
    )
    seed: Seed = 1
    samples: Samples = SamplesFile.model_construct()
    capture: list[CaptureFile] = Field([], description="Where packets are captured, as pcap files.")
    limits: LimitsFile = LimitsFile.model_construct()
    sysctls: Sysctls = Field({}, description="Kernel settings of all hosts.")

    @property
    def samples_interval_ns(self) -> int | None:
        return self.samples.interval if isinstance(self.samples, SamplesFile) else None


class TitleFile(FileModel):
    """What a scenario file begins with."""

    name: Name
    description: Lines = ""
    topology: TopologyField


class UntilFile(FileModel):
    """How well the mean goodput of a cell is to be known before it is not repeated any more."""

    ci: FractionField = Field(
        description="The width to reach: half of the 95 % confidence interval, as a share of the mean."
    )
    most: Trials = Field(alias="max", description="The most trials a cell gets, however wide the interval is.")
    least: Trials = Field(LEAST, alias="min", description="The fewest trials a cell gets.")

    def faults(self) -> Iterator[Fault]:
        if not 0 < self.ci < 1:
            what = f"{units.format_fraction(self.ci)} is out of range"
            yield Fault(("ci",), what, "more than 0 % and less than 100 %", named=True)
        if self.most < self.least:
            what = f"a cell gets at least {self.least} trials"
            yield Fault(("max",), what, f"{self.least} or more, or a smaller min", named=True)

    def until(self) -> Until:
        return Until(self.ci, self.most, self.least)


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


Values = Annotated[Any, PlainValidator(read_values)]

MetricName = Annotated[
    str,
    PlainValidator(read_metric),
    WithJsonSchema(
        {
            "anyOf": [{"enum": [*METRIC_UNITS]}, {"type": "string"}],
            "description": "The metric that decides a comparison of two runs, also one that a command measures.",
        }
    ),
]

Rules = Annotated[dict[str, Any], Field(min_length=1)]


class ScenarioFile(RunFile, TitleFile):
    """A topology, a workload on it, and what is varied."""

    neighbours: Neighbours | None = Field(
        None, description="Whether hosts know MAC addresses (static) or ask for them; overrides the topology."
    )
    engine: Engine | None = Field(None, description="What builds the network; overrides the topology.")
    sweep: dict[str, Values] = Field(
        {}, description="The axes, each with its values, and groups of axes that vary together."
    )
    exclude: list[Rules] = Field([], description="The combinations to leave out: axes, each with one value or a list.")
    repetitions: Repetitions = 1
    until: UntilFile | None = Field(
        None, description="Repeats each cell until its mean is known; excludes repetitions."
    )
    primary: MetricName | None = None
    expect: Annotated[list[ExpectFile], Field(min_length=1)] | None = Field(
        None, description="Rules about what the trials measure: unless all hold, a run ends with exit code 1."
    )
    quick: Annotated[dict[str, Any] | None, PlainValidator(read_quick)] = Field(
        None, description="The small size of the scenario, for --quick: settings as in --set, and a note."
    )

    @property
    def metric_units(self) -> dict[str, str]:
        """The metrics of its trials, and their base units."""
        measured = getattr(self.workload, "measure", {})
        return METRIC_UNITS | {name: each.measure(name).base_unit for name, each in measured.items()}

    def faults(self) -> Iterator[Fault]:
        """What is wrong between the keys of one mapping."""
        if self.until is not None:
            yield from (fault.under("until") for fault in self.until.faults())
        if self.until is not None and "repetitions" in self.model_fields_set:
            yield Fault(("repetitions",), "repetitions and until exclude each other", "one of the two")
        yield from (fault.under("expect") for fault in rule_faults(self.expect or (), self.metric_units))
        known = [*self.metric_units]
        if self.primary is not None and self.primary not in known:
            yield Fault(("primary",), f"primary: {self.primary!r} is not a metric", one_of(known, self.primary))
