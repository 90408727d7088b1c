"""A run as a profile that other runs can be held against, in the format of published profiles. Pure, no I/O."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from ..analysis.profile import ThroughputProfile
from ..analysis.series import Series
from ..analysis.statistic import sample_sd
from ..codec.frozen import dataclass
from ..error import UserError
from ..trial.measured import find
from ..trial.workload.http import HttpResult
from ..units import counted, format_rate, format_size, format_time
from . import quantity
from .condition import KINDS, number
from .loss import WAYS, Lost
from .quantity import GOODPUT, QUANTITIES, RATE, Quantity

NOT_IN_A_NAME = re.compile(r"[^a-z0-9]+")
LONGEST = 32
"""So many letters a name has at most."""
BY_THE_SERIES = "rate"
"""The condition that a series states as its capacity."""
AXES = ("window", "flows", "loss", "rate")
"""What a series can be over if all trials have one RTT: conditions that are numbers."""
WRITTEN = ("goodput", "ping-mean", "udp-loss", "udp-jitter")
"""What a run is written as, as far as its trials have it; objects by their size besides."""


@dataclass(frozen=True)
class _Line:
    """A series of the file: our trials as one quantity, and what they have in common besides their own conditions."""

    name: str
    series: Series
    quantity: Quantity
    more: Mapping[str, str]


def text(name: str, series: Sequence[Series], about: str, source: str) -> str:
    """The file, in YAML. `about` says what the run was, `source` who measured. A series is over RTT; where all trials
    have one RTT and differ in one number (window, flows, loss, rate, size of an object), it is over that. Raises
    UserError for a run without any value.
    """
    lines = [line for each in series for line in _lines(each)]
    if not lines:
        raise UserError(f"{name} has no valid or suspect trial with a goodput; allowed: a run with one")
    whole = [
        f"name: {_slug(name)}",
        f"about: {_quoted(about)}",
        f"citation: {{authors: [{_quoted(source)}], title: {_quoted(f'Run {name}')}}}",
        "series:",
    ]
    groups = _groups(lines)
    for key, (axis, group) in zip(_names([_title(axis, group) for axis, group in groups]), groups, strict=True):
        whole += [f"  {key}:", *(f"    {line}" for line in _series(axis, group, name))]
    return "\n".join(whole) + "\n"


def _lines(series: Series) -> Iterator[_Line]:
    """What the trials of a series have, each as one line of the file."""
    for found in (QUANTITIES[name] for name in WRITTEN):
        own = series if found is GOODPUT else _valued(series, found, {})
        if own.profile() is not None:
            yield _Line(series.label if found is GOODPUT else f"{series.label} {found.name}", own, found, {})
    http = [find(HttpResult, each.measured) for each in series.members]
    for size in sorted({each.object_bytes for one in http if one is not None for each in one.objects}):
        more = {"size": format_size(size)}
        for found in (QUANTITIES["object-goodput"], QUANTITIES["object-time"]):
            own = _valued(series, found, more)
            if own.profile() is not None:
                yield _Line(f"{series.label} {found.name}", own, found, more)


def _valued(series: Series, found: Quantity, of: Mapping[str, str]) -> Series:
    return series.of(lambda result: found.of(result, of, "steady", quantity.measured))


def _groups(lines: Sequence[_Line]) -> list[tuple[str | None, list[_Line]]]:
    """The lines that make one series over an axis other than the RTT; each of the others alone."""
    made: dict[object, list[_Line]] = {}
    axes: dict[object, str] = {}
    for place, each in enumerate(lines):
        found = _axis(each, lines)
        key: object = place if found is None else (found, each.quantity.name, _others(each, found))
        made.setdefault(key, []).append(each)
        axes[key] = found or ""
    return [(axes[key] if len(group) > 1 else None, group) for key, group in made.items()]


def _axis(line: _Line, lines: Sequence[_Line]) -> str | None:
    """The one number in which lines of the same quantity and RTT differ, and this one has it; None if there is none."""
    alike = [each for each in lines if each.quantity is line.quantity]
    for axis in ("size", *AXES):
        others = [each for each in alike if _others(each, axis) == _others(line, axis)]
        values = [_at(each, axis) for each in others]
        rtts = {rtt for each in others for rtt in _profile(each).rtt_s}
        is_one_way = axis != "loss" or len(_ways(others)) < 2
        if len(others) > 1 and len(rtts) == 1 and is_one_way and None not in values and len({*values}) == len(values):
            return axis
    return None


def _others(line: _Line, axis: str) -> tuple[object, ...]:
    """All that tells a line from others but for an axis."""
    params = tuple(each for each in line.series.params if each[0].rsplit(".", 1)[-1] != axis)
    return (params, tuple(each for each in line.more.items() if each[0] != axis))


def _at(line: _Line, axis: str) -> str | None:
    """Where a line stands on an axis, as a number with its unit; None if it has no such number."""
    if axis == "size":
        return line.more.get(axis)
    found = {KINDS[axis].ours(each) for each in line.series.all_conditions}
    value = found.pop() if len(found) == 1 else None
    if value is None or (axis == "window" and not str(value)[0].isdecimal()):
        return None
    if axis == "flows":
        return f"{number(value):g} flows"
    if isinstance(value, Lost):
        return f"{value.share:.9g} ratio" if len(value.shares) < 2 else None
    return KINDS[axis].words(value)


def _ways(lines: Sequence[_Line]) -> set[str]:
    """In which ways they lose packets; one that the share does not describe is no number, and counts as two."""
    found = [KINDS["loss"].ours(each) for line in lines for each in line.series.all_conditions]
    ways = {way for each in found if isinstance(each, Lost) for way, _ in each.shares}
    return ways if ways <= {*WAYS} else {*WAYS}


def _title(axis: str | None, group: Sequence[_Line]) -> str:
    if axis is None:
        return group[0].name
    kept = [value for key, value in group[0].series.params if key.rsplit(".", 1)[-1] != axis]
    varied = [each for each in kept if any(each in one.name for one in group)]
    return " ".join([*varied, group[0].quantity.name, axis])


def _profile(line: _Line) -> ThroughputProfile:
    found = line.series.profile(knows_exact=True)
    assert found is not None, "BUG: a line without a value"
    return found


def _series(axis: str | None, group: Sequence[_Line], name: str) -> Iterator[str]:
    first, found = group[0], group[0].quantity
    has_capacity = axis is None and found is GOODPUT
    stated = {**_common(group, () if has_capacity else (BY_THE_SERIES,)), **first.more}
    if axis is not None:
        stated = {key: value for key, value in stated.items() if key != axis}
        stated["rtt"] = _time(_profile(first).rtt_s[0])
        if axis == "loss" and (ways := _ways(group)):
            stated[axis] = min(ways)
    what = "Mean goodput" if found is GOODPUT else f"{found.what[0].upper()}{found.what[1:]}"
    yield f"what: {_quoted(f'{what}, {first.name if axis is None else _title(axis, group)}')}"
    yield f"of: {{{', '.join(f'{key}: {_quoted(words)}' for key, words in stated.items())}}}"
    yield f"over: {axis or 'rtt'}"
    yield "certainty: exact"
    if found is not GOODPUT:
        yield f"metric: {found.name}"
    if has_capacity and first.series.capacity_bps is not None:
        yield f"capacity: {format_rate(round(first.series.capacity_bps))}"
    yield "claim: reproduced"
    yield f"where: {_quoted(f'run {name}')}"
    doubts = {
        "suspect": sum(len(each.series.suspect) for each in group),
        "invalid and left out": sum(len(each.series.left_out) for each in group),
    }
    if any(doubts.values()):
        said = (f"{counted(count, 'trial')} {words}" for words, count in doubts.items() if count)
        yield f"note: {_quoted('; '.join(said))}"
    yield "points:"
    for each in group:
        profile = _profile(each)
        for rtt, mean, samples in zip(profile.rtt_s, profile.mean_bps, profile.samples_bps, strict=True):
            chance = f", runs: {len(samples)}"
            if rtt in profile.exact and len(samples) > 1:  # nothing is random, so it has no error
                chance = ""
            elif len(samples) > 1:
                chance = f", sd: {_number(sample_sd(samples), found)}{chance}"
            at = _at(each, axis) if axis else _time(rtt)
            yield f"  - {{at: {at}, value: {_number(mean, found)}{chance}}}"


def _common(group: Sequence[_Line], also: Sequence[str]) -> dict[str, str]:
    """The conditions that are one for all trials; that which a series states as its capacity only if `also` has it."""
    found = {}
    every = [each for line in group for each in line.series.all_conditions]
    for name, kind in KINDS.items():
        values = {kind.ours(each) for each in every}
        value = values.pop() if len(values) == 1 else None
        if value is not None and (name != BY_THE_SERIES or name in also) and kind.can_be_read(kind.words(value)):
            found[name] = kind.words(value)
    return found


def _time(seconds: float) -> str:
    return format_time(round(seconds * 1e9))


def _number(value: float, found: Quantity) -> str:
    if found.base_unit == RATE:
        return f"{value / 1e6:.6f} Mbit/s"
    return f"{value * 1e3:.9f} ms" if found.base_unit == "s" else f"{value:.9f} {found.base_unit}"


def _names(labels: Sequence[str]) -> list[str]:
    """One for each label, all different."""
    found: list[str] = []
    for label in labels:
        name, number = _slug(label), 2
        while name in found:
            name, number = f"{_slug(label)[: LONGEST - 5]}-{number}", number + 1
        found.append(name)
    return found


def _slug(words: str) -> str:
    return NOT_IN_A_NAME.sub("-", words.lower())[:LONGEST].strip("-") or "all"


def _quoted(words: str) -> str:
    """JSON's strings are YAML's."""
    return json.dumps(words, ensure_ascii=False)
