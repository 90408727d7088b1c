"""The tool `http` as a value. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .fact import AskedFlow, Program, Transfer, Workload

CACHE_SHARE = 2
"""A cache lies in a tmpfs, which may take half of the guest's memory."""


@dataclass(frozen=True)
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
    """Downloads of objects by curl on `destination` from nginx on `source`.

    Every object size is downloaded `downloads` times, each time by `concurrency` clients at once, in a drawn order,
    `pause_ns` from the end of one to the start of the next. `cache` is the host with a caching proxy that the clients
    ask; None asks the source. `warm` fills the cache first. With `keepalive` a client keeps its connection.
    `congestion` is that of the servers.
    """

    sizes_bytes: tuple[int, ...]
    downloads: int = 1
    pause_ns: int = 0
    concurrency: int = 1
    cache: str | None = None
    warm: bool = False
    keepalive: bool = False
    congestion: str = "cubic"

    length_ns = None
    opening_round_trips = 1
    data_ports = None
    echo_bytes = None

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
