"""A path between two regions of clouds, from numbers that others measured: its RTT and rates, each with where it is
from and what it is worth; as a topology, and the grid of all pairs as a profile. Reads files.

The grid is that of Skyplane: `throughput.csv` (iperf3 with 64 connections for 5 s) and `latency.csv` (ping), a row for
each ordered pair of regions.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

from ..codec.frozen import dataclass
from ..error import UserError, one_of
from ..library import PROFILES
from ..units import format_rate, format_time, size_words
from . import published

THROUGHPUT, LATENCY = "throughput.csv", "latency.csv"
COLUMNS = {
    THROUGHPUT: ("src_region", "src_tier", "dst_region", "dst_tier", "src_instance_class", "throughput_received"),
    LATENCY: ("src_region", "src_tier", "dst_region", "dst_tier", "src_instance_class", "avg_rtt"),
}
SPAN = {THROUGHPUT: (1e3, 1e14), LATENCY: (1e-3, 3.6e6)}
"""What a path can have: 1 kbit/s to 100 Tbit/s, 1 us to an hour in ms."""
AWS_REGION = re.compile(
    r"aws:[a-z]{2}(-gov|-iso[a-z]?)?-(central|north|south|east|west|northeast|northwest|southeast|southwest)-[1-9]"
)
REGION = re.compile(r"[a-z]+:[A-Za-z0-9-]+")
NUMBER = {THROUGHPUT: "throughput_received", LATENCY: "avg_rtt"}
TIER = "PREMIUM"
"""The only tier of networks that AWS and Azure have rows of."""
FRAME_SHARE = 1514 / 1448
"""A rate counts frames, and iperf3 payload: of full segments of 1500 bytes over IPv4 with time stamps."""
BUCKETS, CURVE = "ec2-token-buckets-2020", "skyplane-2022"
PEAK_BPS = 10**10
AWS_FLOW_BPS = 5 * 10**9
"""Of a flow (5-tuple) between instances that are not in the same cluster placement group: Amazon EC2 User Guide,
"Amazon EC2 instance network bandwidth", single-flow traffic. Instances in two regions are in no common group.
"""
MEASURED, SUCH_INSTANCES = "as others measured it", "as others measured such instances"
OTHER_PAIRS = "with the rate that others measured between pairs of regions with this RTT"
FILE_BYTES = 64 << 20


@dataclass(frozen=True)
class Row:
    """A measurement of the grid: from one region to another, in bit/s or in s, and the line of its file."""

    source: str
    destination: str
    instance: str
    value: float
    line: int


@dataclass(frozen=True)
class Known:
    """A number with where it is from."""

    value: float
    worth: str


@dataclass(frozen=True)
class Grid:
    """Both files, of the premium tier at both ends."""

    folder: Path
    throughputs: tuple[Row, ...]
    latencies: tuple[Row, ...]

    def rtt(self, source: str, destination: str) -> Known:
        """In s. Raises UserError for a pair without a row in either direction."""
        found = self._rows(self.latencies, source, destination) or self._rows(self.latencies, destination, source)
        if not found:
            raise self._missing(LATENCY, self.latencies, source, destination)
        return Known(
            median(row.value for row in found), f"{_places(LATENCY, found)}: ping, April 2022; {_certainty(found)}"
        )

    def goodput(self, source: str, destination: str) -> Known:
        """In bit/s. Raises UserError for a pair without a row."""
        found = self._rows(self.throughputs, source, destination)
        if not found:
            raise self._missing(THROUGHPUT, self.throughputs, source, destination)
        what = "iperf3, 64 connections for 5 s, January 2022"
        return Known(median(row.value for row in found), f"{_places(THROUGHPUT, found)}: {what}; {_certainty(found)}")

    def _rows(self, rows: Sequence[Row], source: str, destination: str) -> list[Row]:
        return [row for row in rows if _is_in(row.source, source) and _is_in(row.destination, destination)]

    def _missing(self, file: str, rows: Sequence[Row], source: str, destination: str) -> UserError:
        regions = sorted({row.source for row in rows} | {row.destination for row in rows})
        for name in (source, destination):
            if not any(_is_in(region, name) for region in regions):
                return UserError(f"{self.folder / file} has no region {name!r}; allowed: {one_of(regions, name)}")
        return UserError(
            f"{self.folder / file} has no row from {source} to {destination}; allowed: a pair that was measured"
        )


def read_grid(folder: Path) -> Grid:
    """Raises UserError for a file that is missing, or with the line that is not as it should be."""
    return Grid(folder, *(tuple(_rows(folder / file)) for file in (THROUGHPUT, LATENCY)))


def _rows(path: Path) -> Iterator[Row]:
    name, number = path.name, NUMBER[path.name]
    try:
        if path.stat().st_size > FILE_BYTES:
            raise UserError(f"{path} has more than {size_words(FILE_BYTES)}; allowed: the grid's own file")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is no text"
        raise UserError(
            f"{path} cannot be read: {said}; allowed: a folder with {THROUGHPUT} and {LATENCY} of Skyplane, as in its "
            "repository github.com/skyplane-project/skyplane at commit d3d50e1f, folder profiles"
        ) from None
    reader = csv.DictReader(text.splitlines())
    lacking = [column for column in COLUMNS[name] if column not in (reader.fieldnames or ())]
    if lacking:
        raise UserError(f"{path}:1: there is no column {lacking[0]}; allowed: {', '.join(COLUMNS[name])}")
    for row in reader:
        if row["src_tier"] != TIER or row["dst_tier"] != TIER or row.get("success", "True") != "True":
            continue
        try:
            value = float(row[number])
        except (TypeError, ValueError):
            value = 0.0
        least, most = SPAN[name]
        if not least <= value <= most:
            said = f"{path}:{reader.line_num}: {number}: {row[number]!r} is no number from {least:g} to {most:g}"
            raise UserError(said)
        for region in (row["src_region"], row["dst_region"]):
            if REGION.fullmatch(region or "") is None:
                raise UserError(f"{path}:{reader.line_num}: {region!r} is no region; allowed: such as aws:us-east-1")
        ends = (row["src_region"], row["dst_region"], row["src_instance_class"])
        yield Row(*ends, value / 1e3 if name == LATENCY else value, reader.line_num)


def _is_in(region: str, name: str) -> bool:
    """Google's rows have zones: `gcp:us-east1-b` is in `gcp:us-east1`."""
    return region == name or (name.startswith("gcp:") and region[:-2] == name)


def _places(file: str, rows: Sequence[Row]) -> str:
    lines = [str(row.line) for row in rows[:3]] + (["…"] if len(rows) > 3 else [])
    return f"{file}:{','.join(lines)} ({', '.join(sorted({row.instance for row in rows}))})"


def _certainty(rows: Sequence[Row]) -> str:
    return "one measurement, its noise unknown" if len(rows) == 1 else f"the median of {len(rows)} rows"


def of_grid(grid: Grid, source: str, destination: str) -> str:
    """The topology of a pair of the grid."""
    ways = (grid.goodput(source, destination), grid.goodput(destination, source))
    lines = _rates((source, destination), *ways)
    return _topology(source, destination, grid.rtt(source, destination), lines, "buffer: 1 bdp")


def of_curve(source: str, destination: str, rtt_ns: int) -> str:
    """The topology of a pair of AWS by its RTT alone, from what comes with the testbed. Raises UserError for others."""
    for name in (source, destination):
        if not name.startswith("aws:"):
            raise UserError(f"nothing of {name} comes with the testbed; allowed: a region of aws, or --grid FOLDER")
    points = published.load(PROFILES / f"{CURVE}.yaml").series["aws-aws"].throughput_profile()
    first, last = points.rtt_s[0], points.rtt_s[-1]
    if not first <= rtt_ns / 1e9 <= last:
        raise UserError(f"--rtt {format_time(rtt_ns)}: allowed: {first * 1e3:g} to {last * 1e3:g} ms, or --grid FOLDER")
    worth = f"{CURVE}: on a line between the points next to it, all of them cited; no row of this pair"
    goodput = Known(float(points.at([rtt_ns / 1e9])[0]), worth)
    lines = _rates((source, destination), goodput, goodput)
    return _topology(source, destination, given(rtt_ns), lines, "buffer: 1 bdp", OTHER_PAIRS)


def of_instance(source: str, destination: str, rtt: Known, instance: str) -> str:
    """The topology of two instances of EC2 with a token bucket. Raises UserError for one that is not known."""
    facts = published.load(PROFILES / f"{BUCKETS}.yaml").facts
    known = {fact.of["instance"]: key.rsplit("-", 1)[0] for key, fact in facts.items()}
    for name in (source, destination):
        if not name.startswith("aws:"):
            raise UserError(f"--instance {instance}: {name} is not of AWS; allowed: two regions of aws")
    if instance not in known:
        raise UserError(f"--instance {instance}: allowed: {one_of([*known], instance)}")
    credit, refill = facts[f"{known[instance]}-credit"], facts[f"{known[instance]}-refill"]
    assert credit.at_least, "BUG: a bucket without its least credit"
    assert credit.at_most, "BUG: a bucket without its largest credit"
    assert refill.value, "BUG: a bucket without its refill"
    burst = round((credit.at_least.value + credit.at_most.value) / 2)
    lines = [
        f"# burst: the middle of {credit.at_least.text} and {credit.at_most.text}; refill: {refill.value.text}. "
        f"{BUCKETS}: cited",
        "# rate: to which such instances are advertised; a full bucket at the start",
        f"shaper: {{rate: {format_rate(PEAK_BPS)}, burst: {size_words(burst)}, "
        f"refill: {format_rate(round(refill.value.value / 8) * 8)}}}",
        *_per_flow((source, destination), dict.fromkeys(("forward", "backward"), PEAK_BPS)),
    ]
    return _topology(source, destination, rtt, lines, "buffer: 4 MB", SUCH_INSTANCES)


def given(rtt_ns: int) -> Known:
    """An RTT that a user gives."""
    return Known(rtt_ns / 1e9, "yours (--rtt)")


def _rates(ends: tuple[str, str], forward: Known, backward: Known) -> list[str]:
    rates_bps = [_rounded(each.value * FRAME_SHARE) for each in (forward, backward)]
    rates = list(map(format_rate, rates_bps))
    return [
        f"# forward: {forward.value / 1e9:.3g} Gbit/s of payload; {forward.worth}",
        f"# backward: {backward.value / 1e9:.3g} Gbit/s of payload; {backward.worth}",
        "# a rate counts frames: payload times 1514/1448. All flows together; a single one was not measured",
        f"rate: {{forward: {rates[0]}, backward: {rates[1]}}}",
        *_per_flow(ends, dict(zip(("forward", "backward"), rates_bps, strict=True))),
    ]


def _per_flow(ends: tuple[str, str], rates_bps: Mapping[str, int]) -> Iterator[str]:
    """The cap of each flow, where both ends are of AWS and the link carries more."""
    ways = [way for way, rate_bps in rates_bps.items() if rate_bps > AWS_FLOW_BPS]
    if all(end.startswith("aws:") for end in ends) and ways:
        yield "# per_flow: Amazon EC2 User Guide, instance network bandwidth: a flow outside a cluster placement group"
        yield f"per_flow: {{{', '.join(f'{way}: {format_rate(AWS_FLOW_BPS)}' for way in ways)}}}"


def _rounded(rate_bps: float) -> int:
    """To 1 Mbit/s, below 100 Mbit/s to three digits; whole bytes in a second, as links have them."""
    step = int(min(1e6, 10.0 ** max(0, math.floor(math.log10(rate_bps)) - 2)))
    return round(rate_bps / step) * step // 8 * 8


def _topology(
    source: str, destination: str, rtt: Known, rates: Sequence[str], buffer: str, basis: str = MEASURED
) -> str:
    for each in (source, destination):
        if REGION.fullmatch(each) is None:
            raise UserError(f"{each!r} is no region; allowed: such as aws:us-east-1")
        if basis != MEASURED and AWS_REGION.fullmatch(each) is None:  # nothing lists the regions
            raise UserError(f"{each} is not how AWS calls a region; allowed: such as aws:us-east-1")
    name = "-to-".join(each.split(":")[-1] for each in (source, destination))
    lines = [
        f"# The path from {source} to {destination}, {basis}: calibrated, not reproduced.",
        f"name: {name}",
        "nodes:",
        "  client: {type: host}",
        "  server: {type: host}",
        "links:",
        "  path:",
        "    ends: [client, server]",
        f"    # rtt: {rtt.worth}",
        f"    rtt: {format_time(round(rtt.value * 1e6) * 1000)}",
        *(f"    {line}" for line in rates),
        "    # buffer: ours; nobody measured it",
        f"    {buffer}",
    ]
    return "\n".join(lines) + "\n"


def joined(grid: Grid) -> str:
    """Throughput over RTT for each pair of providers, as a profile in YAML: a point for each ordered pair of regions of
    which both were measured, and for each RTT; of pairs with the same RTT, the median. Each says its rows.
    """
    rtts = {(row.source, row.destination): row for row in grid.latencies}
    found: dict[str, dict[float, list[tuple[Row, Row]]]] = {}
    for row in grid.throughputs:
        at = rtts.get((row.source, row.destination)) or rtts.get((row.destination, row.source))
        if at is not None:
            key = "-".join(region.split(":")[0] for region in (row.source, row.destination))
            found.setdefault(key, {}).setdefault(round(at.value, 6), []).append((row, at))
    lines = [
        "name: skyplane-grid",
        "about: Throughput over RTT between regions of AWS, Azure and Google Cloud, of Skyplane's grid.",
        "citation: {authors: [The Skyplane authors], title: 'Skyplane: throughput.csv and latency.csv', "
        "note: Apache-2.0}",
        "series:",
    ]
    for key in sorted(found):
        lines += [f"  {key}:", *(f"    {line}" for line in _series(key, found[key]))]
    return "\n".join(lines) + "\n"


def _series(key: str, points: Mapping[float, Sequence[tuple[Row, Row]]]) -> Iterator[str]:
    yield f"what: Throughput of 64 connections for 5 s, {key.replace('-', ' to ')}"
    yield "of: {flows: '64', duration: 5 s}"
    yield "over: rtt"
    yield "certainty: derived"
    yield "claim: shape"
    yield "where: throughput.csv and latency.csv, joined by the pair of regions"
    yield "points:"
    for rtt_s in sorted(points):
        rows = points[rtt_s]
        value = median(row.value for row, _ in rows)
        lines = ",".join(f"{row.line}/{at.line}" for row, at in rows)
        where = json.dumps(f"lines {lines}: {', '.join(f'{row.source} to {row.destination}' for row, _ in rows)}")
        runs = ", runs: 1" if len(rows) == 1 else ""
        yield f"  - {{at: {rtt_s * 1e3:.3f} ms, value: {value / 1e6:.3f} Mbit/s{runs}, where: {where}}}"
