"""Rules of `expect` as values, and what is wrong with them in the cells that they are about. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...codec.fault import Fault, Path
from ...error import one_of
from ...model.expectation import Expectation, chosen, in_words, lacking
from ...model.metric_need import NEEDS, Asked, lacking_of, possible
from ...model.scenario import Cell
from ..syntax.document import Document
from .axis import Names, canonical
from .cell import texts_of, unread_axes
from .dimension import Dimension
from .expect import ExpectFile, values


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
            wheres = (rule.where, {**rule.where, **(rule.over or {})})
            if not any(chosen(where, dict(cell.params)) for where in wheres):
                continue
            known = [
                f"{link.name} {place}"
                for link in cell.topology.links
                for place, change in enumerate(link.schedule, 1)
                if change.when is not None
            ]
            if " ".join(map(str, event or ())) not in known:
                what = f"the schedule of no link has this event: {rule.since}"
                allowed = one_of(known, rule.since, "an entry with when")
                yield Fault(("expect", number, "measure", "since"), what, allowed, named=True)
                break


def unanswered(
    rules: Sequence[Expectation], cells: Sequence[Cell], samples_interval_ns: int | None, own: Mapping[str, str]
) -> Iterator[Fault]:
    """Rules about cells whose trials can never have the metric. `own` are the metrics of these trials."""
    for number, rule in enumerate(rules):
        wheres = [rule.where] if rule.over is None else [rule.where, {**rule.where, **rule.over}]
        for cell in cells:
            params = dict(cell.params)
            if not any(chosen(where, params) for where in wheres):
                continue
            asked = Asked(cell.workload, cell.topology, samples_interval_ns, cell.background, rule.number)
            need = lacking_of(rule.metric, asked, bool(rule.between_ns))
            if need is not None:
                such = in_words({key: (text,) for key, text in cell.params})
                what = f"no trial {such} can have {rule.metric}, which needs {need}".replace("trial  ", "trial ")
                there = [*possible(asked), *(name for name in own if name not in NEEDS)]
                allowed = f"{one_of(there, rule.metric)}; or another workload"
                yield Fault(("expect", number, "measure", "metric"), what, allowed, named=True)
                break
