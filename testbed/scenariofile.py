"""A scenario, and a stored trial, as their files write them: the shapes. Pure, no I/O."""

from __future__ import annotations

import re
from typing import Annotated, Any, TypeAlias

from pydantic import Discriminator, Field, PlainSerializer, PlainValidator, Tag, WithJsonSchema

from .background import Backgrounds
from .backgroundfile import BackgroundFile
from .error import ValueRefused
from .field import Name, Size, Span, Sysctls, Text, byte_count_schema, number
from .reader import byte_count, text_of, whole
from .setting import LAB, SAMPLES_INTERVAL_NS, SEED_MAX, SNAPLEN_BYTES, Capture, Kernel, Limits
from .shape import Shape
from .topology import Nic
from .topologyfile import TopologyFile
from .workloadfile import WorkloadFile

REPETITIONS_MAX = 100_000
SNAPLEN_MIN, SNAPLEN_MAX = 14, 262_144

_KERNELS = {"lab": Kernel("lab"), "lab-realtime": Kernel("lab-realtime"), "host": Kernel("host")}
_KERNEL_NAME = r"[A-Za-z0-9][A-Za-z0-9._+-]*"
_KERNEL_ALLOWED = "lab, lab-realtime, host, or {lab: NAME}"
_SAMPLES_ALLOWED = "none, or {interval: 100 ms}"


def read_kernel(value: object) -> Kernel:
    if isinstance(value, dict):
        name = str(value.get("lab", ""))
        if list(value) != ["lab"] or not re.fullmatch(_KERNEL_NAME, name):
            raise ValueRefused("this names no lab kernel", _KERNEL_ALLOWED)
        return Kernel("lab", name)
    text = text_of(value, _KERNEL_ALLOWED)
    if text not in _KERNELS:
        raise ValueRefused(f"{text!r} is no kernel", _KERNEL_ALLOWED)
    return _KERNELS[text]


def write_kernel(kernel: Kernel) -> Any:
    return kernel.place if kernel.name is None else {kernel.place: kernel.name}


class SamplesFile(Shape):
    """How often every flow and queue is looked at."""

    interval: Span = Field(SAMPLES_INTERVAL_NS, description="In lab time.")


def read_samples(value: object) -> Any:
    if isinstance(value, dict):
        return SamplesFile.model_validate(value)
    text = text_of(value, _SAMPLES_ALLOWED)
    if text != "none":
        raise ValueRefused(f"{text!r} says no interval", _SAMPLES_ALLOWED)
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
            "description": "lab is virtual time, lab-realtime the wall clock, host this machine's own.",
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
    int, PlainValidator(whole(0, SEED_MAX)), WithJsonSchema(number(0, SEED_MAX, "Of the first repetition."))
]
Repetitions = Annotated[
    int,
    PlainValidator(whole(1, REPETITIONS_MAX)),
    WithJsonSchema(number(1, REPETITIONS_MAX, "Trials of each cell, with consecutive seeds.")),
]
Snaplen = Annotated[
    int,
    PlainValidator(byte_count(SNAPLEN_MIN, SNAPLEN_MAX)),
    WithJsonSchema(byte_count_schema(SNAPLEN_MIN, SNAPLEN_MAX, "Bytes kept of each packet.")),
]
TopologyField: TypeAlias = Annotated[
    Annotated[Text, Tag("<file>")] | Annotated[TopologyFile, Tag("<inline>")],
    Discriminator(lambda value: "<inline>" if isinstance(value, dict | TopologyFile) else "<file>"),
    Field(description="A topology file, seen from the folder of this one; or the topology itself."),
]


class CaptureFile(Shape):
    """A pcap of what passes a node or a link."""

    at: Name = Field(description="A node or a link.")
    snaplen: Snaplen = SNAPLEN_BYTES

    def capture(self) -> Capture:
        return Capture(self.at, self.snaplen)


class LimitsFile(Shape):
    """What a trial may use."""

    wall: Span | None = Field(None, description="On the wall clock.")
    memory: Size | None = Field(None, description="Of the lab kernel.")

    def limits(self) -> Limits:
        return Limits(self.wall, self.memory)


class RunFile(Shape):
    """What scenarios and stored trials have in common."""

    kernel: KernelField = LAB
    nic: Nic | None = Field(None, description="The interfaces of all hosts, whatever the topology says.")
    workload: WorkloadFile
    background: Annotated[dict[Name, BackgroundFile], Field(min_length=1)] | None = Field(
        None, description="Other traffic, each with a name."
    )
    seed: Seed = 1
    samples: Samples = SamplesFile.model_construct()
    capture: list[CaptureFile] = Field([], description="Where packets are written down.")
    limits: LimitsFile = LimitsFile.model_construct()
    sysctls: Sysctls = Field({}, description="Kernel settings of all hosts.")

    @property
    def backgrounds(self) -> Backgrounds:
        return tuple((name, each.background()) for name, each in (self.background or {}).items())

    @property
    def samples_interval_ns(self) -> int | None:
        return self.samples.interval if isinstance(self.samples, SamplesFile) else None


class TitleFile(Shape):
    """What a scenario file begins with."""

    name: Name
    description: Text = ""
    topology: TopologyField


class ScenarioFile(RunFile, TitleFile):
    """A topology, a workload on it, and what is varied."""

    sweep: dict[str, Annotated[list[Any], Field(min_length=1)]] = Field({}, description="Axes, each with its values.")
    repetitions: Repetitions = 1


class LabelFile(Shape):
    """What a stored trial begins with."""

    id: Text
    params: dict[str, Text]
    repetition: Annotated[int, PlainValidator(whole(0, REPETITIONS_MAX))]
    topology: TopologyFile


class TrialFile(RunFile, LabelFile):
    """One trial, as it is stored with its result."""

    seed: Annotated[int, PlainValidator(whole(0, SEED_MAX + REPETITIONS_MAX))]
