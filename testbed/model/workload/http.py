"""The tool `http`: its keys, its facts. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ... import units
from ...codec.fault import Fault
from ...codec.keyed import Kind, key, keyed
from ...codec.kind import FLAG, TIME, matching, whole
from ...codec.scalar import NAME_PATTERN, name, quantity
from ...error import ValueRefused
from .control import CONGESTION
from .fact import AskedFlow, Program, Transfer, Workload

CACHE_SHARE = 2
"""A cache lies in a tmpfs, which may take half of the guest's memory."""


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
SIZES = Kind(
    _sizes,
    _write_sizes,
    {"anyOf": [_SIZE, {"type": "array", "items": _SIZE, "minItems": 1}], "description": "The objects."},
)
CACHE = Kind(
    lambda value: None if value == "none" else name(value),
    lambda host: host or "none",
    matching(f"^{NAME_PATTERN}$", "The host with the caching proxy that the clients ask, or none.", none=True),
    none="none",
)
"""The word "none" is for axes: with a cache and without."""


@keyed
class HttpWorkload(
    Workload,
    tool="http",
    programs=(Program("nginx", "-v", "nginx-light"), Program("curl", "--version", "curl")),
    one_kernel=True,
    sends_data=True,
    reports=frozenset(),
    port_is_senders=False,
    control=None,
):
    """Downloads by curl from nginx, if asked through a caching proxy.

    Downloads of objects by curl on `destination` from nginx on `source`.

    Every object size is downloaded `downloads` times, each time by `concurrency` clients at once, in a drawn order,
    `pause_ns` from the end of one to the start of the next. `cache` is the host with a caching proxy that the clients
    ask; None asks the source. `warm` fills the cache first. With `keepalive` a client keeps its connection.
    `congestion` is that of the servers.
    """

    host_keys = ("from", "cache", "to")

    sizes_bytes: tuple[int, ...] = key("sizes", SIZES)
    downloads: int = key("downloads", whole(1, DOWNLOADS_MAX, "How often each object is downloaded."), default=1)
    pause_ns: int = key("pause", TIME, "The time from the end of a download to the start of the next.", default=0)
    concurrency: int = key(
        "concurrency", whole(1, CONCURRENCY_MAX, "How many clients download an object at once."), default=1
    )
    cache: str | None = key("cache", CACHE, default=None)
    warm: bool = key("warm", FLAG, "Whether the cache has the objects before the first download.", default=False)
    keepalive: bool = key("keepalive", FLAG, "Whether a client keeps its connection.", default=False)
    congestion: str = key("congestion", CONGESTION, "The congestion control of the servers.", default="cubic")

    length_ns = None
    opening_round_trips = 1
    data_ports = None
    echo_bytes = None

    @property
    def between(self) -> dict[str, str]:
        via = {} if self.cache is None else {"cache": self.cache}
        return {"from": self.source, **via, "to": self.destination}

    def faults(self) -> Iterator[Fault]:
        total = len(self.sizes_bytes) * self.downloads * self.concurrency
        if total > DOWNLOADS_MAX:
            what = f"{len(self.sizes_bytes)} sizes and a concurrency of {self.concurrency} make {total} downloads"
            yield Fault(("downloads",), what, f"up to {DOWNLOADS_MAX} in all", named=True)
        if self.warm and self.cache is None:
            yield Fault(("warm",), "there is no cache to warm", "a line such as 'cache: edge'", named=True)
        if self.keepalive and self.pause_ns:
            what = "a client that keeps its connection asks for the next object at once"
            yield Fault(("pause",), what, "no pause, or 'keepalive: false'", named=True)

    @property
    def relays(self) -> tuple[str, ...]:
        return () if self.cache is None else (self.cache,)

    @property
    def asked_flows(self) -> tuple[AskedFlow, ...]:
        return (AskedFlow(self.congestion),) * self.concurrency

    @property
    def load(self) -> tuple[Transfer, ...]:
        """What a cache does not have comes over both paths: in the warm-up, else in the first download."""
        return (*self._filling(), *self._downloads())

    def _filling(self) -> Iterator[Transfer]:
        if self.warm:
            for size in self.sizes_bytes:
                yield Transfer(self.asked_flows[:1], None, size, round_trips=2, slow_start=True, paths=2)

    def _downloads(self) -> Iterator[Transfer]:
        misses = 0 if self.cache is None or self.warm else 1
        for size in self.sizes_bytes:
            for times, paths in ((misses, 2), (self.downloads - misses, 1)):
                if times:
                    trips = 1 if self.keepalive else 2
                    slow, pause_ns = not self.keepalive, self.pause_ns
                    yield Transfer(self.asked_flows, None, size, times, trips, pause_ns, slow, paths)

    @property
    def connections(self) -> int:
        return 2 * self.concurrency

    @property
    def buffer_bytes(self) -> int:
        """What the cache holds, and what it is fetching: clients that miss an object at the same time fetch it each."""
        if self.cache is None:
            return 0
        copies = 1 if self.warm else self.concurrency
        return CACHE_SHARE * (sum(self.sizes_bytes) + copies * max(self.sizes_bytes))
