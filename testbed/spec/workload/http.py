"""The `http` workload as a file writes it. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema

from ... import units
from ...error import ValueRefused
from ...model.workload import HttpWorkload
from ..syntax.document import Fault
from ..syntax.field import Flag, Time, matching, number
from ..syntax.scalar import NAME_PATTERN, name, quantity, whole
from .common import Congestion, ToolFile

CONCURRENCY_MAX = 32
DOWNLOADS_MAX = 10_000
"""Of a whole workload: each is a line of a script and of the result."""

_SIZES_ALLOWED = "a size such as 1 MiB, or a list of sizes such as [1 KiB, 1 MiB]"


def _sizes(value: object) -> tuple[int, ...]:
    """Of one size too, so that an axis can have one in each cell."""
    read = quantity(units.parse_size, units.SIZE.allowed, low=1)
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list | tuple) or not value:
        raise ValueRefused("this is not a list of sizes", _SIZES_ALLOWED)
    found: list[int] = []
    for index, text in enumerate(value):
        try:
            size = read(text)
        except ValueRefused as refused:
            raise ValueRefused(refused.what, refused.allowed, (index,)) from None
        assert size is not None, "BUG: a size without a value"
        if size in found:
            raise ValueRefused(f"the size {text!r} appears twice", "each size once", (index,))
        found.append(size)
    return tuple(found)


def _write_sizes(sizes: tuple[int, ...]) -> Any:
    texts = [units.format_size(size) for size in sizes]
    return texts[0] if len(texts) == 1 else texts


_SIZE = matching(units.SIZE.pattern, "The size of an object.", "1 MiB")

Sizes = Annotated[
    tuple[int, ...],
    PlainValidator(_sizes),
    PlainSerializer(_write_sizes),
    WithJsonSchema({"anyOf": [_SIZE, {"type": "array", "items": _SIZE, "minItems": 1}], "description": "The objects."}),
]
Count = Annotated[
    int,
    PlainValidator(whole(1, DOWNLOADS_MAX)),
    WithJsonSchema(number(1, DOWNLOADS_MAX, "How often each object is downloaded.")),
]
Concurrency = Annotated[
    int,
    PlainValidator(whole(1, CONCURRENCY_MAX)),
    WithJsonSchema(number(1, CONCURRENCY_MAX, "How many clients download an object at once.")),
]

Cache = Annotated[
    str | None,
    PlainValidator(lambda value: None if value == "none" else name(value)),
    PlainSerializer(lambda host: host or "none"),
    WithJsonSchema(
        matching(f"^{NAME_PATTERN}$", "The host with the caching proxy that the clients ask, or none.", none=True)
    ),
]
"""The word "none" is for axes: with a cache and without."""


class HttpFile(ToolFile):
    """Downloads by curl from nginx, if asked through a caching proxy."""

    host_keys = ("from", "cache", "to")

    tool: Literal["http"]
    sizes: Sizes
    downloads: Count = 1
    pause: Time = Field(0, description="The time from the end of a download to the start of the next.")
    concurrency: Concurrency = 1
    cache: Cache = None
    warm: Flag = Field(False, description="Whether the cache has the objects before the first download.")
    keepalive: Flag = Field(False, description="Whether a client keeps its connection.")
    congestion: Congestion = Field("cubic", description="The congestion control of the servers.")

    @property
    def between(self) -> dict[str, str]:
        via = {} if self.cache is None else {"cache": self.cache}
        return {"from": self.source, **via, "to": self.destination}

    def faults(self) -> Iterator[Fault]:
        total = len(self.sizes) * self.downloads * self.concurrency
        if total > DOWNLOADS_MAX:
            what = f"{len(self.sizes)} sizes and a concurrency of {self.concurrency} make {total} downloads"
            yield Fault(("downloads",), what, f"up to {DOWNLOADS_MAX} in all", named=True)
        if self.warm and self.cache is None:
            yield Fault(("warm",), "there is no cache to warm", "a line such as 'cache: edge'", named=True)
        if self.keepalive and self.pause:
            what = "a client that keeps its connection asks for the next object at once"
            yield Fault(("pause",), what, "no pause, or 'keepalive: false'", named=True)

    def workload(self) -> HttpWorkload:
        return HttpWorkload(**self._values())

    def _values(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "destination": self.destination,
            "sizes_bytes": self.sizes,
            "downloads": self.downloads,
            "pause_ns": self.pause,
            "concurrency": self.concurrency,
            "cache": self.cache,
            "warm": self.warm,
            "keepalive": self.keepalive,
            "congestion": self.congestion,
        }

    @classmethod
    def of(cls, workload: HttpWorkload) -> HttpFile:
        return cls.model_construct(
            tool="http",
            source=workload.source,
            destination=workload.destination,
            sizes=workload.sizes_bytes,
            downloads=workload.downloads,
            pause=workload.pause_ns,
            concurrency=workload.concurrency,
            cache=workload.cache,
            warm=workload.warm,
            keepalive=workload.keepalive,
            congestion=workload.congestion,
        )


FILE: type[ToolFile] = HttpFile
