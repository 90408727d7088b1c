"""The file models of background traffic, one for each pattern, converted to and from values. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from ...model.background import Background, Constant, HeavyTailed, OnOff
from ...model.topology import Topology
from ...model.workload import Workload
from ..syntax.document import Fault
from ..syntax.field import Rate, Span, Time
from ..syntax.scalar import NAME_ALLOWED, NAME_PATTERN
from ..syntax.variant import Variant
from .arrival import ArrivalRate
from .common import Congestion, EndsFile
from .registry import place_faults
from .size import SizesFile
from .udp import Length


class _BackgroundFile(EndsFile):
    """What all patterns have in common."""

    lead: Time = Field(0, description="How long before the workload it starts.")
    duration: Span | None = Field(None, description="How long it runs at most; default: as long as the workload.")


class OnOffFile(_BackgroundFile):
    """A flow that comes and goes."""

    pattern: Literal["on-off"]
    busy: Span = Field(description="How long it sends, on average.")
    idle: Span = Field(description="How long it pauses, on average.")
    congestion: Congestion = "cubic"

    def background(self) -> OnOff:
        ends = (self.source, self.destination)
        return OnOff(*ends, self.busy, self.idle, self.congestion, self.lead, self.duration)


class HeavyTailedFile(_BackgroundFile):
    """Flows that arrive at random, most of them small and a few very large."""

    pattern: Literal["heavy-tailed"]
    arrivals: ArrivalRate
    size: SizesFile
    congestion: Congestion = "cubic"

    def background(self) -> HeavyTailed:
        ends, size = (self.source, self.destination), self.size
        return HeavyTailed(*ends, self.arrivals, size.mean, size.shape, self.congestion, self.lead, self.duration)


class ConstantFile(_BackgroundFile):
    """Datagrams at a constant rate."""

    pattern: Literal["constant"]
    rate: Rate = Field(description="The rate of its payload.")
    length: Length = 1400

    def background(self) -> Constant:
        assert self.rate is not None, "BUG: a constant background that was not checked"
        return Constant(self.source, self.destination, self.rate, self.length, self.lead, self.duration)


AnyBackgroundFile: TypeAlias = OnOffFile | HeavyTailedFile | ConstantFile

PATTERNS: dict[str, type[AnyBackgroundFile]] = {
    "on-off": OnOffFile,
    "heavy-tailed": HeavyTailedFile,
    "constant": ConstantFile,
}

BackgroundFile: TypeAlias = Annotated[AnyBackgroundFile, Variant("pattern", PATTERNS)]


def background_file(background: Background) -> AnyBackgroundFile:
    """The file model of a background; its `background()` returns the value again."""
    common: dict[str, Any] = {
        "pattern": background.pattern,
        "source": background.source,
        "destination": background.destination,
        "lead": background.lead_ns,
        "duration": background.duration_ns,
    }
    match background:
        case OnOff():
            return OnOffFile.model_construct(
                **common, busy=background.busy_ns, idle=background.idle_ns, congestion=background.congestion
            )
        case HeavyTailed():
            size = SizesFile.model_construct(mean=background.mean_bytes, shape=background.shape)
            return HeavyTailedFile.model_construct(
                **common, arrivals=background.arrivals, size=size, congestion=background.congestion
            )
        case Constant():
            return ConstantFile.model_construct(**common, rate=background.rate_bps, length=background.length_bytes)


def background_faults(
    files: Mapping[str, AnyBackgroundFile], topology: Topology | None, workload: Workload | None
) -> list[Fault]:
    """What is wrong with them in this topology and beside this workload; paths are seen from the mapping."""
    faults: list[Fault] = []
    for name, file in files.items():
        if not re.fullmatch(NAME_PATTERN, name):
            faults.append(Fault((name,), f"{name!r} is not a name", NAME_ALLOWED))
        if isinstance(file, ConstantFile) and file.rate is None:
            faults.append(
                Fault((name, "rate"), "a constant background needs a rate", "a rate such as 10 Mbit/s", named=True)
            )
        if topology is not None:
            faults += [fault.under(name) for fault in place_faults(file, topology)]
        if workload is not None and file.duration is None and workload.length_ns is None:
            what = "the length of the workload is not known in advance, so the background needs a duration"
            faults.append(Fault((name,), what, "a line such as 'duration: 60 s'", named=True))
    return faults
