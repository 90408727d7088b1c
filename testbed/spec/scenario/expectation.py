"""Rules of `expect` as values, and what is wrong with them in the cells that they are about. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...codec.fault import Fault, Path
from ...error import ValueRefused, one_of
from ...model.expectation import Expectation, chosen, in_words, lacking
from ...model.metric_need import NEEDS, Asked, lacking_of, possible
from ...model.round_trip import round_trip_ns
from ...model.scenario import Cell
from ...model.topology import Topology
from ...model.workload import Workload
from ...units import format_time
from ..syntax.document import Document
from .axis import Names, canonical
from .cell import texts_of, unread_axes
from .dimension import Dimension
from .expect import ExpectFile, short_fault, values

OF_BACKGROUND = "against"
"""The metric whose number is a background's."""


def expectations(
    document: Document,
    rules: Sequence[ExpectFile],
    own: Mapping[str, str],
    dimensions: Sequence[Dimension],
    names: Names,
    *,
    strict: bool,
) -> tuple[tuple[Expectation, ...], list[Fault]]:
    """The rules as values, and the faults of what they say of axes. Not `strict` is for axes that options changed: a
    rule about what is gone is about no trial, and cannot be checked.
    """
    found, wrong = [], []
    unread = unread_axes(document, dimensions)
    for number, rule in enumerate(rules):
        path: Path = ("expect", number, "measure")
        said = {"where": rule.measure.where, "over": rule.measure.over or {}}
        texts: dict[str, dict[str, tuple[str, ...]]] = {}
        for key, choice in said.items():
            if unread & set(map(canonical, choice)):
                return (), []
            read, faulty = texts_of(choice, (*path, key), dimensions, names, strict=strict)
            wrong += faulty
            texts[key] = _shown({axis: those or _raw(choice, axis) for axis, those in read.items()}, dimensions)
        over = None if rule.measure.over is None else texts["over"]
        found.append(rule.measure.value(rule.name, texts["where"], over, own, rule.needs, rule.message.strip()))
    return tuple(found), wrong


def _raw(choice: Mapping[str, Any], axis: str) -> frozenset[str]:
    """What is said of an axis that is none."""
    return frozenset(map(str, values(choice.get(axis, ""))))


def _shown(choice: Mapping[str, frozenset[str]], dimensions: Sequence[Dimension]) -> dict[str, tuple[str, ...]]:
    """As results tell it, in the order of the axis: what an option fixed is in no result, and needs no look."""
    found = {}
    for axis, texts in choice.items():
        mine = [(each, key) for each in dimensions for key in each.keys if key.text == axis]
        order = mine[0][0].texts(mine[0][1]) if mine else ()
        if mine and not mine[0][0].is_shown and texts == frozenset(order):
            continue
        found[axis] = tuple(sorted(texts, key=lambda text: (order.index(text) if text in order else len(order), text)))
    return found


def absent_cells(rules: Sequence[Expectation], cells: Sequence[Cell]) -> Iterator[Fault]:
    """Rules about cells of which there is none, and those that hold whatever is measured."""
    for number, rule in enumerate(rules):
        over = {**rule.where, **(rule.over or {})}
        params = [dict(cell.params) for cell in cells]
        if rule.over is not None and all(chosen(over, each) for each in params if chosen(rule.where, each)):
            what = "this is divided by itself"
            yield Fault(("expect", number, "measure", "over"), what, "other values than those of where", named=True)
        for key, where in (("where", rule.where), ("over", over)):
            absent = lacking(where, params)
            if absent is not None:
                what = f"no cell has these values: {in_words(absent)}"
                yield Fault(("expect", number, "measure", key), what, "values that occur together", named=True)
                break


def absent_events(rules: Sequence[Expectation], cells: Sequence[Cell]) -> Iterator[Fault]:
    """Rules that count from an event that a link's schedule lacks."""
    for number, rule in enumerate(rules):
        event = rule.event
        for cell in cells if event is not None else ():
            if not _is_about(rule, cell):
                continue
            known = [
                f"{link.name} {place}"
                for link in cell.topology.links
                for place, change in enumerate(link.schedule, 1)
                if change.when is not None
            ]
            if " ".join(map(str, event or ())) not in known:
                what = f"the schedule of no link has this event: {rule.since}"
                allowed = f"{one_of(known, rule.since, 'an entry with when')}; or a time, such as 10 s"
                yield Fault(("expect", number, "measure", "since"), what, allowed, named=True)
                break


def other_backgrounds(rules: Sequence[Expectation], cells: Sequence[Cell]) -> Iterator[Fault]:
    """Rules about a background by its number, which is another one in some of their cells, as others before it vary in
    number. One of several that are alike, NAME-1, is NAME where it is the only one.
    """
    for number, rule in enumerate(rules):
        about = (each.background for each in cells if rule.metric == OF_BACKGROUND and _is_about(rule, each))
        names = {background[rule.number][0] for background in about if rule.number < len(background)}
        found = sorted(names - {f"{name}-1" for name in names})
        if len(found) > 1:
            what = f"background {rule.number} is {' or '.join(found)}, by the cell"
            allowed = (
                "one that has this number in all cells, such as one before those of which there are more; or where"
            )
            yield Fault(("expect", number, "measure", "number"), what, allowed, named=True)


def without_round_trip(
    rules: Sequence[Expectation], cells: Sequence[Cell], samples_interval_ns: int | None, *, strict: bool
) -> Iterator[Fault]:
    """Rules that count in round trips of which a cell has none, or too few, or in which nothing is sampled. Not
    `strict` is for axes that options changed: a part of the time that then does not fit cannot be checked.
    """
    for number, rule in enumerate(rules):
        if rule.round_trips is None:
            continue
        known: dict[tuple[Topology, Workload], Fault | None] = {}
        for cell in (each for each in cells if _is_about(rule, each)):
            asked = cell.topology, cell.workload
            if asked not in known:
                known[asked] = _round_trip_fault(rule, *asked, samples_interval_ns, strict=strict)
            if (found := known[asked]) is not None:
                such = in_words({key: (text,) for key, text in cell.params})
                what = f"{found.what} ({such})" if such else found.what
                yield replace(found, what=what).under("expect", number, "measure")
                break


def _round_trip_fault(
    rule: Expectation, topology: Topology, workload: Workload, samples_interval_ns: int | None, *, strict: bool
) -> Fault | None:
    assert rule.round_trips is not None, "BUG: a rule that counts in times"
    at = ("between", "rtts")
    try:
        rtt_ns = round_trip_ns(topology, workload)
    except ValueRefused as refused:
        return Fault(at, refused.what, refused.allowed, named=True)
    if not strict:
        return None
    first, last = (rtts * rtt_ns for rtts in rule.round_trips)
    said = f"{rule.between_rtts[1] - rule.between_rtts[0]} round trips of {format_time(rtt_ns)}"
    if samples_interval_ns is not None and last - first < samples_interval_ns:
        what = f"{said} are shorter than from one sample to the next, {format_time(samples_interval_ns)}"
        return Fault(at, what, "more round trips, or samples: {interval: …}", named=True)
    if (short := short_fault(rule.metric, last - first)) is not None:
        return short.under(*at)
    ends_ns = round(rule.since_s * 1e9) + last
    if workload.length_ns is not None and rule.event is None and ends_ns > workload.length_ns:
        what = (
            f"they end {ends_ns / 1e9:g} s after the start, and the workload ends after {workload.length_ns / 1e9:g} s"
        )
        return Fault(
            at, f"with a round trip of {format_time(rtt_ns)} {what}", "fewer, or a longer workload", named=True
        )
    return None


def _is_about(rule: Expectation, cell: Cell) -> bool:
    params = dict(cell.params)
    return chosen(rule.where, params) or (rule.over is not None and chosen({**rule.where, **rule.over}, params))


def unanswered(
    rules: Sequence[Expectation], cells: Sequence[Cell], samples_interval_ns: int | None, own: Mapping[str, str]
) -> Iterator[Fault]:
    """Rules about cells whose trials can never have the metric. `own` are the metrics of these trials."""
    for number, rule in enumerate(rules):
        for cell in cells:
            if not _is_about(rule, cell):
                continue
            asked = Asked(cell.workload, cell.topology, samples_interval_ns, cell.background, rule.number)
            need = lacking_of(rule.metric, asked, rule.is_part)
            if need is not None:
                such = in_words({key: (text,) for key, text in cell.params})
                what = f"no trial {such} can have {rule.what}, which needs {need}".replace("trial  ", "trial ")
                there = [*possible(asked), *(name for name in own if name not in NEEDS)]
                is_of_part = rule.is_part and lacking_of(rule.metric, asked) is None
                allowed = f"{'no between' if is_of_part else one_of(there, rule.metric)}; or another workload"
                yield Fault(("expect", number, "measure", "metric"), what, allowed, named=True)
                break
