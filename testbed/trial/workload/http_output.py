"""Parses what curl wrote during the workload `http`. Pure, no I/O."""

from __future__ import annotations

from dataclasses import dataclass

from ...kernel.guest import TrialError


@dataclass(frozen=True)
class Download:
    """One download. Times count from the start of the request, which includes connecting if the connection is new.

    `number` is that of the request. `connect_s` is None if the connection existed before. `cache` is the proxy's
    status: HIT, MISS, …; None without a proxy.
    """

    number: int
    object_bytes: int
    status: int
    connect_s: float | None
    first_byte_s: float
    elapsed_s: float
    goodput_bps: float
    cache: str | None = None


OUTPUT, WARM_OUTPUT, CACHE_LOG = "http.out", "http-warm.out", "http-cache.log"
TITLE = "http"
PORT = 80

FIRST_WARM_UP = 1_000_000
"""The number of the first request that only fills the cache; those that are measured count from 0."""

FIELDS = (
    "url_effective",
    "exitcode",
    "http_code",
    "num_connects",
    "size_download",
    "time_connect",
    "time_starttransfer",
    "time_total",
    "errormsg",
)
"""What curl prints on a download, in one line, separated by blanks."""


def parse(text: str, cache: dict[int, str] | None = None) -> tuple[tuple[Download, ...], list[tuple[int, int]]]:
    """The downloads in the order of their numbers, and (begin, end) of each round in ns."""
    downloads, begins, ends = [], [], []
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["begin"]:
            begins.append(int(words[1]))
        elif words[:1] == ["end"]:
            ends.append(int(words[1]))
        elif words:
            downloads.append(_download(words, cache or {}))
    if len(begins) != len(ends):
        raise TrialError("the downloads did not run to their end")
    return tuple(sorted(downloads, key=lambda each: each.number)), list(zip(begins, ends, strict=True))


def _download(words: list[str], cache: dict[int, str]) -> Download:
    if len(words) < len(FIELDS) - 1:
        raise TrialError(f"{OUTPUT} has the line {' '.join(words)!r}: no download")
    url, exit_code, status, connects, got, connect_s, first_s, total_s, *message = words
    size, number = (int(word) for word in url.rpartition("/")[2].split("?n="))
    if exit_code != "0":
        raise TrialError(f"curl {url}: exit status {exit_code}: {' '.join(message) or 'no message'}")
    if status != "200":
        raise TrialError(f"curl {url}: the server answered {status}")
    if int(got) != size:
        raise TrialError(f"curl {url}: {got} bytes came, the object has {size}")
    return Download(
        number=number,
        object_bytes=size,
        status=int(status),
        connect_s=float(connect_s) if connects != "0" else None,
        first_byte_s=float(first_s),
        elapsed_s=float(total_s),
        goodput_bps=size * 8 / float(total_s) if float(total_s) > 0 else 0.0,
        cache=cache.get(number),
    )
