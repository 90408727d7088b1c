"""The workload `http`: curl downloads objects from nginx, on request through a caching proxy, which is nginx, too.

A shell in the receiver's namespace starts one curl for each download, so that each is a separate client, and prints
when each round of simultaneous downloads began and ended.
"""

from __future__ import annotations

import json
import math
import random
import shlex
from collections.abc import Iterator
from dataclasses import field
from ipaddress import IPv4Address, IPv6Address
from itertools import groupby
from pathlib import Path
from typing import ClassVar

from ...codec.frozen import dataclass
from ...kernel.guest import TrialError
from ...model.data_path import DataPath
from ...model.workload import HttpWorkload
from ...plan.network import Plan
from ...plan.node.namespace import node_netns
from ...plan.step import Location, Run, Sleep, Step, Stop
from .. import record
from ..evidence.case import Case
from ..evidence.outcome import Outcome
from ..measured import ToolResult
from ..record import ABSENT_IF_EMPTY
from ..result import FlowResult
from .tool import Tool, rises


@dataclass(frozen=True)
class ObjectResult:
    """Means over the `downloads` of one object."""

    object_bytes: int
    downloads: int
    elapsed_s_mean: float
    first_byte_s_mean: float
    goodput_bps_mean: float


@dataclass(frozen=True)
class HttpResult(ToolResult):
    """Objects are sorted by size, downloads by number. Hits and misses are None without a cache."""

    KEY: ClassVar[str] = "http"

    objects: tuple[ObjectResult, ...]
    downloads: tuple[Download, ...]
    cache_hits: int | None = field(default=None, metadata=ABSENT_IF_EMPTY)
    cache_misses: int | None = field(default=None, metadata=ABSENT_IF_EMPTY)


READY_S = 0.5
"""From the start of a server to the first request."""


def rounds(workload: HttpWorkload, seed: int) -> tuple[int, ...]:
    """The size of the object of each round: every size once in each cycle, in an order drawn for each cycle."""
    draw = random.Random(f"{seed}/http")
    sizes: list[int] = []
    for _ in range(workload.downloads):
        cycle = list(workload.sizes_bytes)
        draw.shuffle(cycle)
        sizes += cycle
    return tuple(sizes)


def steps(workload: HttpWorkload, plan: Plan, seed: int) -> list[Step]:
    """Starts the servers, fills the cache if asked, and runs the measured downloads."""
    assert plan.data_path is not None, "BUG: a plan without a workload"
    last = plan.data_path
    client = node_netns(workload.destination)
    origin = _Server(plan.upstream or last, _objects(), tuple(workload.sizes_bytes))
    servers = [origin]
    if plan.upstream is not None:
        servers.append(_Server(last, _proxy(origin.ip), ()))
    found: list[Step] = [step for server in servers for step in server.start(workload.congestion)]
    found.append(Sleep(READY_S))
    url = f"http://{_host(last.source_ip)}:{PORT}"
    if workload.warm:
        numbered = enumerate(workload.sizes_bytes, FIRST_WARM_UP)
        once = "".join(f"{_get(_url(url, size, number))}\n" for number, size in numbered)
        found.append(_shell("http warm-up", once, client, WARM_OUTPUT))
    found.append(_shell(TITLE, _script(workload, url, rounds(workload, seed)), client, OUTPUT))
    return [*found, *(Stop(server.process) for server in reversed(servers))]


@dataclass(frozen=True)
class _Server:
    """An nginx on the first host of a data path: what its location does, and the objects that it has."""

    data_path: DataPath
    location: str
    objects: tuple[int, ...]

    @property
    def ip(self) -> IPv4Address | IPv6Address:
        return self.data_path.source_ip

    @property
    def folder(self) -> str:
        """In a tmpfs, whose sparse files take no memory."""
        return f"/run/http/{self.data_path.source}"

    @property
    def process(self) -> str:
        return f"nginx-{self.data_path.source}"

    def start(self, congestion: str) -> Iterator[Step]:
        """The steps that start it. nginx has no option for a congestion control, so a preloaded library sets it."""
        netns, conf = node_netns(self.data_path.source), f"{self.process}.conf"
        yield Run(("mkdir", "-p", f"{self.folder}/objects", f"{self.folder}/temp"), "http server")
        for size in self.objects:
            yield Run(("truncate", "-s", str(size), f"{self.folder}/objects/{size}"), "http object")
        yield Run(("cat",), "http server", stdin=self._configuration(), out=conf)
        congested = ("env", "LD_PRELOAD=/run/tools/congestion.so", f"TESTBED_CONGESTION={congestion}")
        words = (*congested, "nginx", "-p", self.folder, "-c", f"/run/trial/{conf}")
        yield Run(words, "http server", Location(netns), background=self.process)

    def _configuration(self) -> str:
        temps = "".join(
            f"    {kind}_temp_path {self.folder}/temp/{kind};\n"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        return (
            "user root;\ndaemon off;\nmaster_process off;\n"
            f"pid {self.folder}/nginx.pid;\nlock_file {self.folder}/nginx.lock;\nerror_log stderr warn;\n"
            "events { worker_connections 1024; }\n"
            f"http {{\n    access_log off;\n    sendfile on;\n    keepalive_requests 1000000;\n{temps}"
            f"{self.location.format(folder=self.folder, listen=f'{_host(self.ip)}:{PORT}')}}}\n"
        )


def _objects() -> str:
    return "    server {{\n        listen {listen};\n        root {folder}/objects;\n    }}\n"


def _proxy(origin: IPv4Address | IPv6Address) -> str:
    """A proxy that caches for ever, by path: the number of a request is not part of the key."""
    return (
        "    proxy_cache_path {folder}/cache levels=1:2 keys_zone=objects:1m inactive=1000d use_temp_path=off;\n"
        "    log_format cache '$arg_n $upstream_cache_status $status $body_bytes_sent';\n"
        "    server {{\n        listen {listen};\n"
        f"        access_log /run/trial/{CACHE_LOG} cache;\n"
        "        location / {{\n"
        f"            proxy_pass http://{_host(origin)}:{PORT};\n"
        "            proxy_cache objects;\n            proxy_cache_key $uri;\n"
        "            proxy_cache_valid 200 1000d;\n"
        "        }}\n    }}\n"
    )


def _host(ip: IPv4Address | IPv6Address) -> str:
    return f"[{ip}]" if ip.version == 6 else str(ip)


def _url(url: str, size: int, number: int) -> str:
    return f"{url}/{size}?n={number}"


def _get(*urls: str) -> str:
    """One curl, which keeps its connection from one URL to the next."""
    return " ".join([CURL, *(f"-o /dev/null {shlex.quote(url)}" for url in urls)])


def _script(workload: HttpWorkload, url: str, sizes: tuple[int, ...]) -> str:
    """For each round: when it begins, its downloads side by side, when it ends."""
    many = workload.concurrency
    if workload.keepalive:
        slots = [
            _get(*(_url(url, size, number * many + slot) for number, size in enumerate(sizes))) for slot in range(many)
        ]
        return _round(slots)
    pause = f"sleep {workload.pause_ns / 1e9:.9f}\n" if workload.pause_ns else ""
    return pause.join(
        _round([_get(_url(url, size, number * many + slot)) for slot in range(many)])
        for number, size in enumerate(sizes)
    )


def _round(commands: list[str]) -> str:
    side_by_side = "".join(f"{command} &\n" for command in commands) + "wait\n"
    return f"date +'begin %s%N'\n{side_by_side if len(commands) > 1 else commands[0] + chr(10)}date +'end %s%N'\n"


def _shell(title: str, script: str, netns: str, out: str) -> Run:
    """A curl that fails reports it in its line; its status does not end the script."""
    return Run(("sh",), title, Location(netns), stdin=f"{script}true\n", out=out)


def read(workload: HttpWorkload, folder: Path) -> Outcome:
    """Raises TrialError for a download that failed, or got less than the object."""
    if workload.warm:
        parse((folder / WARM_OUTPUT).read_text())
    cache = _cache_log((folder / CACHE_LOG).read_text()) if workload.cache is not None else {}
    downloads, times = parse((folder / OUTPUT).read_text(), cache)
    wanted = len(workload.sizes_bytes) * workload.downloads * workload.concurrency
    if len(downloads) != wanted:
        raise TrialError(f"{OUTPUT} tells of {len(downloads)} downloads, asked were {wanted}")
    begin_ns, end_ns = _step_times(folder)
    total_bytes = sum(each.object_bytes for each in downloads)
    alone = workload.concurrency == 1
    spent_s = sum(each.elapsed_s for each in downloads) if alone else sum(last - first for first, last in times) / 1e9
    hits = sum(each.cache == "HIT" for each in downloads)
    counts = (hits, len(downloads) - hits) if workload.cache is not None else (None, None)
    measured = HttpResult(_by_size(downloads), downloads, *counts)
    return Outcome(
        begin_ns,
        None,
        end_ns,
        goodput_bps=total_bytes * 8 / spent_s if spent_s > 0 else None,
        ramp_goodput_bps=None,
        flows=tuple(_slots(downloads, workload.concurrency)),
        measured={HttpResult.KEY: record.write(measured)},
    )


def _cache_log(text: str) -> dict[int, str]:
    """Maps the numbers of requests to the cache's status."""
    return {int(number): state for number, state, *_ in map(str.split, text.splitlines())}


def _by_size(downloads: tuple[Download, ...]) -> tuple[ObjectResult, ...]:
    """Means over the downloads of each object, the smallest first."""
    found = []
    for size, group in groupby(sorted(downloads, key=lambda d: d.object_bytes), key=lambda d: d.object_bytes):
        members = list(group)
        sums = (
            sum(values) for values in zip(*((d.elapsed_s, d.first_byte_s, d.goodput_bps) for d in members), strict=True)
        )
        found.append(ObjectResult(size, len(members), *(total / len(members) for total in sums)))
    return tuple(found)


def _slots(downloads: tuple[Download, ...], concurrency: int) -> Iterator[FlowResult]:
    """What each of the simultaneous clients got."""
    for slot in range(concurrency):
        mine = downloads[slot::concurrency]
        got, spent_s = sum(each.object_bytes for each in mine), sum(each.elapsed_s for each in mine)
        yield FlowResult(got * 8 / spent_s if spent_s > 0 else None, None, None, None, PORT, got)


def _step_times(folder: Path) -> tuple[int, int]:
    """CLOCK_MONOTONIC at the beginning and the end of the script, from the agent's log."""
    for line in (folder / "log.jsonl").read_text().splitlines():
        entry = json.loads(line)
        if entry["step"].get("title") == TITLE and entry["step"].get("out") == OUTPUT:
            return entry["begin_ns"], entry["end_ns"]
    raise TrialError("log.jsonl does not tell of the downloads")


MEANS = ("elapsed_s", "first_byte_s", "goodput_bps")
NEAR = 1e-6
"""The relative difference of numbers that were rounded or came from a division."""


def faults(case: Case, found: HttpResult) -> Iterator[str]:
    if [each.number for each in found.downloads] != list(range(len(found.downloads))):
        yield "the downloads are not numbered one after the other"
    cached = bool(case.trial.workload.relays)
    for each in found.downloads:
        yield from (f"download {each.number}: {what}" for what in _download_faults(each, is_far=case.plan.rtt_ns > 0))
        if (each.cache is not None) != cached:
            yield f"download {each.number}: the cache says {each.cache}"
    for one in found.objects:
        mine = [each for each in found.downloads if each.object_bytes == one.object_bytes]
        means = [sum(getattr(each, name) for each in mine) / max(1, len(mine)) for name in MEANS]
        told = [one.elapsed_s_mean, one.first_byte_s_mean, one.goodput_bps_mean]
        if len(mine) != one.downloads or not all(map(_near, means, told)):
            yield f"the object of {one.object_bytes} bytes has other means than its downloads"
    if {each.object_bytes for each in found.downloads} != {one.object_bytes for one in found.objects}:
        yield "not every object has its means"
    got = case.evidence.outcome.received_bytes
    if sum(each.object_bytes for each in found.downloads) != got:
        yield f"the clients got {got} bytes, other than the downloads have"
    hits = sum(each.cache == "HIT" for each in found.downloads) if cached else None
    misses = None if hits is None else len(found.downloads) - hits
    if (found.cache_hits, found.cache_misses) != (hits, misses):
        yield f"{found.cache_hits} hits and {found.cache_misses} misses in the cache, by the downloads {hits}, {misses}"


def _download_faults(each: Download, *, is_far: bool) -> Iterator[str]:
    """Nothing takes no time where there is a delay."""
    times = (*(() if each.connect_s is None else (each.connect_s,)), each.first_byte_s, each.elapsed_s)
    if each.status != 200 or not rises([0.0, *times] if is_far else [-1.0, *times], or_stays=True):
        yield f"status {each.status}, {times} s"
    if is_far and not min(times):
        yield f"it took {times} s"
    elif not math.isclose(each.goodput_bps * each.elapsed_s, 8 * each.object_bytes, rel_tol=NEAR):
        yield f"{each.object_bytes} bytes in {each.elapsed_s} s"


def _near(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=NEAR)


TOOL = Tool(
    HttpWorkload,
    steps=steps,
    read=read,
    begin=None,
    tells=frozenset({"begin_ns", "end_ns", "goodput_bps", "port", "received_bytes"}),
    result=HttpResult,
    faults=faults,
)


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
WRITE = " ".join(f"%{{{field}}}" for field in FIELDS) + "\\n"
CURL = "LD_PRELOAD=/run/tools/whole.so " + shlex.join(["curl", "-q", "-s", "-g", "--noproxy", "*", "-w", WRITE])
"""The words of each download, before its URLs."""


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
