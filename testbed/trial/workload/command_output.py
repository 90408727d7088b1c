"""Parses what native/command.c wrote, and the numbers that programs say. Reads files of a trial's folder."""

from __future__ import annotations

import json
import math
import re
import signal
from collections.abc import Iterator
from dataclasses import field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from ...codec.frozen import dataclass
from ...kernel import guest_file
from ...kernel.guest import TrialError
from ...model.workload.command import CommandWorkload, Measure, Started
from ..law import SIGNED
from ..record import ABSENT_IF_EMPTY


@dataclass(frozen=True)
class ProgramRun:
    """One run of a program: when it began, from the first client on, how long it took, and its exit status."""

    program: str
    number: int
    begin_s: float
    elapsed_s: float
    status: int = field(metadata=SIGNED)


@dataclass(frozen=True)
class MeasuredValue:
    """What the runs said, in `base_unit`, of which a `unit` is `scale`; None where a run did not say it, for the
    reasons in `missing`. `mean` is None if one is missing.
    """

    unit: str
    base_unit: str
    scale: float
    is_more_better: bool
    values: tuple[float | None, ...]
    mean: float | None
    missing: tuple[str, ...] = field(default=(), metadata=ABSENT_IF_EMPTY)


@dataclass(frozen=True, kw_only=True)
class HostTraffic:
    """What a host sent and received while the clients ran, by its kernel's counters. Bytes are those of IP packets;
    `payload_` is without the headers of IP, UDP and TCP, of which duplicates count. `udp_lost_datagrams` found no room
    in a socket.
    """

    in_bytes: int
    out_bytes: int
    payload_in_bytes: int
    payload_out_bytes: int
    tcp_in_segments: int
    tcp_out_segments: int
    tcp_resent_segments: int
    udp_in_datagrams: int
    udp_out_datagrams: int
    udp_lost_datagrams: int


STDOUT = "stdout"
"""In place of a file: JSON that a program prints."""
STORY_LINES = 12
OUTPUT_BYTES = 16 << 20
IP_BYTES, UDP_BYTES, TCP_BYTES = {4: 20, 6: 40}, 8, 32
"""Headers; that of TCP with its time stamps, which Linux uses unless a peer does not."""
GROUPED = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?")
"""A number with its thousands apart, as English programs print it."""
KEY = re.compile(r"\.([A-Za-z0-9_-]+)|\[([0-9]+)\]")


@dataclass
class Report:
    """What command.c wrote, line by line. `failed` are a program, its run and the reason. What it was asked, as it
    understood that, are `space_bytes`, `linger_ns` and `told`, of each program as `numbers` has it.
    """

    space_bytes: int | None = None
    linger_ns: int | None = None
    told: dict[str, tuple[int, ...]] = field(default_factory=dict)
    begin_ns: int | None = None
    end_ns: int | None = None
    ready: list[str] = field(default_factory=list)
    runs: tuple[ProgramRun, ...] = ()
    stopped: list[tuple[str, str]] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)
    collected: list[tuple[str, int, str]] = field(default_factory=list)
    failed: tuple[str, int, str] | None = None
    is_done: bool = False


def parse(text: str) -> Report:
    """Raises TrialError for a line that makes no sense."""
    report = Report()
    for line in text.splitlines():
        try:
            _read(line.split(" "), report)
        except (ValueError, IndexError):
            raise TrialError(f"command.out has the line {line[:200]!r}") from None
    first_ns = report.begin_ns or 0
    report.runs = tuple(
        ProgramRun(each.program, each.number, each.begin_s - first_ns / 1e9, each.elapsed_s, each.status)
        for each in report.runs
    )
    return report


def _read(words: list[str], report: Report) -> None:
    match words:
        case ["space", octets, linger]:
            report.space_bytes, report.linger_ns = int(octets), int(linger)
        case ["told", name, *numbers]:
            report.told[name] = tuple(map(int, numbers))
        case ["begin", ns]:
            report.begin_ns = int(ns)
        case ["end", ns]:
            report.end_ns = int(ns)
        case ["ready", name, _]:
            report.ready.append(name)
        case ["run", name, number, begin, end, status]:
            elapsed_s = (int(end) - int(begin)) / 1e9
            report.runs = (*report.runs, ProgramRun(name, int(number), int(begin) / 1e9, elapsed_s, int(status)))
        case ["stopped", name, _, status, how]:
            report.stopped.append((name, how if how != "itself" else f"itself, status {int(status)}"))
        case ["left", name, comm]:
            report.left.append((name, comm))
        case ["collected", name, number, *file]:
            report.collected.append((name, int(number), " ".join(file)))
        case ["failed", name, number, *why]:
            report.failed = (name, int(number), " ".join(why))
        case ["done"]:
            report.is_done = True
        case _:
            raise ValueError


def check(workload: CommandWorkload, report: Report) -> None:
    """Raises TrialError unless every program was started as asked, and ran as often, and every server was ready."""
    told = {each.name: numbers(each) for each in workload.started}
    if (report.told, report.space_bytes) != (told, workload.space_bytes):
        raise TrialError(f"command.out tells of {report.told} and {report.space_bytes} bytes, asked were {told} and "
                         f"{workload.space_bytes}")  # fmt: skip
    seen = sorted((each.program, each.number, each.status) for each in report.runs)
    asked = sorted((each.name, number, 0) for each in workload.clients for number in range(1, each.runs + 1))
    if seen != asked:
        raise TrialError(f"command.out tells of the runs {seen}, asked were {asked}")
    if report.ready != [each.name for each in workload.servers]:
        raise TrialError(f"command.out tells of the servers {report.ready} only")
    if report.begin_ns is None or report.end_ns is None:
        raise TrialError("command.out does not tell when the clients ran")


def numbers(started: Started) -> tuple[int, ...]:
    """What command.c is told of a program in numbers, in its order."""
    times = (started.limit_ns, started.ready_limit_ns, started.runs, started.start_ns, started.pause_ns)
    return (*times, signal.Signals[f"SIG{started.stop}"].value)


def story(report: Report, workload: CommandWorkload, folder: Path) -> str:
    """The reason of a failure, with the end of what the program wrote."""
    assert report.failed is not None, "BUG: nothing failed"
    name, number, why = report.failed
    started = next((each for each in workload.started if each.name == name), None)
    words = "" if started is None else f" ({' '.join(started.run)[:200]})"
    run = f", run {number}" if started is not None and started.runs > 1 else ""
    files = [output_file(name, number, stream) for stream in ("err", "out")]
    for file in files:
        said = _end(folder / file)
        if said:
            return f"the program {name}{words} on {started.at if started else '?'}{run}: {why}; {file} ends:\n{said}"
    return f"the program {name}{words} on {started.at if started else '?'}{run}: {why}; it wrote nothing"


def _end(path: Path) -> str:
    text = guest_file.told(path, guest_file.STORY_BYTES)
    shown = "".join(each if each.isprintable() or each in "\n\t" else "?" for each in text)
    return "\n".join(shown.strip().splitlines()[-STORY_LINES:])


def output_file(program: str, number: int, stream: str) -> str:
    return f"command-{program}-{number}.{stream}"


def matched(pattern: str, report: Report) -> bool:
    """Whether any file of any program matches."""
    return any(
        fnmatch(file, f"command-{program}-{number}-{pattern.replace('/', '-')}")
        for program, number, file in report.collected
    )


def values(workload: CommandWorkload, report: Report, folder: Path) -> Iterator[tuple[str, MeasuredValue]]:
    """Every measure: a number for each run, in base units; None where a run does not say it."""
    for measure in workload.measures:
        found: list[float | None] = []
        reasons: list[str] = []
        for each in _asked(measure, report):
            try:
                found.append(_number(measure, each, folder) * measure.scale)
            except ValueError as error:
                found.append(None)
                reasons.append(f"{each.program}, run {each.number}: {error}")
        known = [number for number in found if number is not None]
        yield (
            measure.name,
            MeasuredValue(
                unit=measure.unit,
                base_unit=measure.base_unit,
                scale=measure.scale,
                is_more_better=measure.is_more_better,
                values=tuple(found),
                mean=sum(known) / len(known) if known and len(known) == len(found) else None,
                missing=tuple(reasons),
            ),
        )


def _asked(measure: Measure, report: Report) -> list[ProgramRun]:
    """The runs that yield it. A server has one."""
    if measure.of is None:
        return list(report.runs)
    return [each for each in report.runs if each.program == measure.of] or [ProgramRun(measure.of, 1, 0.0, 0.0, 0)]


def _number(measure: Measure, run: ProgramRun, folder: Path) -> float:
    """Raises ValueError, with the reason, if there is none that a measure can be."""
    if measure.run_bytes is not None:
        if run.elapsed_s <= 0:
            raise ValueError("it took no time")
        return measure.run_bytes * 8 / run.elapsed_s
    if measure.output is not None:
        texts = [_text(folder / output_file(run.program, run.number, stream)) for stream in ("out", "err")]
        matches = [found[1] for text in texts for found in re.finditer(measure.output, text, re.MULTILINE)]
        if not matches or matches[-1] is None:
            raise ValueError(f"nothing matches {measure.output!r}")
        said: Any = matches[-1]
    else:
        said = _in_json(measure, run, folder)
    try:
        is_grouped = isinstance(said, str) and GROUPED.fullmatch(said)
        number = float(said.replace(",", "") if is_grouped else said)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{str(said)[:60]!r} is no number") from None
    if isinstance(said, bool) or not math.isfinite(number) or number < 0:
        raise ValueError(f"{str(said)[:60]!r} is no number of 0 or more")
    if number == 0 and not measure.may_be_zero:
        raise ValueError("it is 0 (a measure that may be 0 says 'zero: true')")
    return number


def _in_json(measure: Measure, run: ProgramRun, folder: Path) -> Any:
    assert measure.json is not None, "BUG: a measure of nothing"
    plain = measure.json.replace("/", "-")
    is_output = measure.json == STDOUT
    file = output_file(run.program, run.number, "out") if is_output else f"command-{run.program}-{run.number}-{plain}"
    text = _text(folder / file)
    if not text.strip():
        raise ValueError(f"there is no {measure.json}, or it is empty")
    try:
        here: Any = json.loads(text)
        for name, number in KEY.findall(measure.key):
            here = here[name] if name else here[int(number)]
    except (ValueError, RecursionError):
        raise ValueError(f"{measure.json} is no JSON") from None
    except (LookupError, TypeError):
        raise ValueError(f"{measure.json} has nothing at {measure.key}") from None
    return here


def _text(path: Path) -> str:
    try:
        return guest_file.beginning(path, OUTPUT_BYTES).decode(errors="replace")
    except OSError:
        return ""


def traffic(folder: Path, netns: str, until: str = "after") -> HostTraffic:
    """What a host sent and received while the clients ran, by its kernel's counters; `until` their end, or until the
    servers were stopped after it.
    """
    before, after = (_counters(folder / f"command-{netns}-{when}.txt") for when in ("before", until))
    rose = {name: after[name] - before[name] for name in after.keys() & before}

    def of(*names: str) -> int:
        if missing := [name for name in names if name not in rose and not name.startswith(("Ip6", "Udp6"))]:
            raise TrialError(f"the counters of {netns} lack {', '.join(missing)}")
        return sum(rose.get(name, 0) for name in names)

    return HostTraffic(
        in_bytes=of("IpExt InOctets", "Ip6InOctets"),
        out_bytes=of("IpExt OutOctets", "Ip6OutOctets"),
        payload_in_bytes=max(0, sum(_payload(rose, "In", version) for version in (4, 6))),
        payload_out_bytes=max(0, sum(_payload(rose, "Out", version) for version in (4, 6))),
        tcp_in_segments=of("Tcp InSegs"),
        tcp_out_segments=of("Tcp OutSegs"),
        tcp_resent_segments=of("Tcp RetransSegs"),
        udp_in_datagrams=of("Udp InDatagrams", "Udp6InDatagrams"),
        udp_out_datagrams=of("Udp OutDatagrams", "Udp6OutDatagrams"),
        udp_lost_datagrams=of("Udp RcvbufErrors", "Udp6RcvbufErrors"),
    )


def _payload(rose: dict[str, int], way: str, version: int) -> int:
    """The bytes without headers. A superpacket has its headers once, and counts once."""
    if version == 4:
        octets, datagrams = rose.get(f"IpExt {way}Octets", 0), rose.get(f"Udp {way}Datagrams", 0)
        packets = rose.get("Ip InReceives" if way == "In" else "Ip OutTransmits", rose.get("Ip OutRequests", 0))
    else:
        octets, datagrams = rose.get(f"Ip6{way}Octets", 0), rose.get(f"Udp6{way}Datagrams", 0)
        packets = rose.get("Ip6InReceives" if way == "In" else "Ip6OutTransmits", rose.get("Ip6OutRequests", 0))
    others = max(0, packets - datagrams)
    return octets - packets * IP_BYTES[version] - datagrams * UDP_BYTES - others * TCP_BYTES


def _counters(path: Path) -> dict[str, int]:
    """Those of /proc/net/snmp and netstat, as "GROUP NAME", and of snmp6, as "NAME"."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        raise TrialError(f"{path.name} is missing") from None
    found: dict[str, int] = {}
    names: list[str] = []
    for line in lines:
        first, *rest = line.split()
        if not first.endswith(":"):
            found[first] = int(rest[0])
        elif rest and not rest[0].lstrip("-").isdigit():
            names = rest
        else:
            found |= {f"{first[:-1]} {name}": int(value) for name, value in zip(names, rest, strict=True)}
    return found
