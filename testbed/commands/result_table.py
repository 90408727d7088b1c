"""Tables of a run's results: a line for each trial, for each cell, or for each rule of `expect`; findings of the gate
in a few lines, in which what many trials have in common is said once. Prints them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..codec.frozen import dataclass
from ..error import visible
from ..model.expectation import in_words
from ..model.run_setting import Until
from ..model.scenario import short_names
from ..sweep.repetition import ALL_EQUAL, Mean, Metrics, cells
from ..trial.result import TrialResult
from ..units import counted, percent
from .text_table import Column, Table, literal, paragraph, show, terminal_width

if TYPE_CHECKING:
    from ..analysis.expectation.verdict import Verdict
    from ..analysis.metric import Metric
    from ..sweep.store import Store

MISSING = 4
"""The exit code where trials are missing, as that of a comparison that lacks some."""

NUMBER = re.compile(r"\d+(?:\.\d+)?")
IN_NAME = re.compile(r"[A-Za-z]-?$")
"""Before a number that is part of a name: bulk-1, s1."""
WAY = re.compile(r" (forward|backward)\b")
FLOW = re.compile(r"\bflow (\d+[–,][\d–, ]*\d)")
BYTES = re.compile(r"\b(\d{5,})(?:–(\d{5,}))? bytes")
LONG = re.compile(r"(?<![\d.])\d{5,}(?![\d.])")
VALUES_MAX = 4
"""More values of an axis than that are written as the first, three dots and the last."""
ID_MAX = 50
"""A single trial is named by its id up to this length."""
TIED = "\u00a0"
"""Between the parts of a long number; `text_table.paragraph` keeps them on one line."""
SEVERITY = ("invalid", "suspect", "valid")

Key = tuple[str, str, str, str]


def finding_lines(found: Sequence[TrialResult]) -> list[tuple[str, str]]:
    """(verdict, text) of each group of findings that differ in nothing but the trial, the direction and the numbers:
    the worst first, and of equal ones those of the most trials.
    """
    groups: dict[Key, list[tuple[TrialResult, str, str]]] = {}
    for each in found:
        for finding in each.findings:
            check, text, hint = map(visible, (finding.check, finding.text, finding.hint))
            key = (finding.verdict, check, _pattern(text), _pattern(hint))
            groups.setdefault(key, []).append((each, text, hint))
    ordered = sorted(groups.items(), key=lambda each: (SEVERITY.index(each[0][0]), -len({t.id for t, *_ in each[1]})))
    return [(key[0], _text(key[1], group, found)) for key, group in ordered]


def _pattern(text: str) -> str:
    return NUMBER.sub("#", WAY.sub(" #", text))


def _text(check: str, group: Sequence[tuple[TrialResult, str, str]], found: Sequence[TrialResult]) -> str:
    trials = list({each.id: each for each, *_ in group}.values())
    text, hint = (_readable(_merged(texts)) for texts in ([row[1] for row in group], [row[2] for row in group]))
    return f"{_which(trials, found)}: {check}: {text} ({hint})"


def _merged(texts: Sequence[str]) -> str:
    """One text with ranges in place of the numbers in which they differ, and both directions if they have both."""
    ways = list(dict.fromkeys(" and ".join(WAY.findall(text)) for text in texts))
    plain = [WAY.sub("", text) for text in texts]
    columns = zip(*(NUMBER.findall(text) for text in plain), strict=True)
    named = [bool(IN_NAME.search(plain[0][: each.start()])) for each in NUMBER.finditer(plain[0])]
    ranges = iter([_range(numbers, named=name) for numbers, name in zip(columns, named, strict=True)])
    found = WAY.findall(texts[0])
    both = iter([" forward and backward" if len(ways) > 1 else f" {way}" for way in found])
    marked = WAY.sub("\0", texts[0])
    numbered = NUMBER.sub(lambda _: next(ranges), marked)
    return re.sub("\0", lambda _: next(both), numbered)


def _readable(text: str) -> str:
    """With units for people: flows 1–8, 12.5 kB, 108 370."""
    text = FLOW.sub(r"flows \1", text)
    text = BYTES.sub(lambda match: "–".join(_size(int(each)) for each in match.groups() if each), text)
    return LONG.sub(lambda match: f"{int(match[0]):,}".replace(",", TIED), text)


def _size(count: int) -> str:
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            return f"{count / scale:.4g} {unit}"
    raise AssertionError(f"BUG: {count} bytes are few")


def _range(numbers: Iterable[str], *, named: bool) -> str:
    """From the least to the most. Of names the range would be others, too, unless they are all that are in it."""
    ordered = sorted(set(numbers), key=float)
    if named and len(ordered) <= float(ordered[-1]) - float(ordered[0]):
        return ", ".join(ordered if len(ordered) <= VALUES_MAX else (ordered[0], "…", ordered[-1]))
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]}–{ordered[-1]}"


def _which(trials: Sequence[TrialResult], found: Sequence[TrialResult]) -> str:
    """Which trials of all that were found: the id of one; or how many, and the values that set them apart."""
    if len(trials) == 1 and len(trials[0].id) <= ID_MAX:
        return trials[0].id
    if len(trials) == len(found):
        return "the one trial" if len(found) == 1 else f"all {len(found)} trials"
    common = [text for key in _values(found) if (text := _apart(key, trials, found))]
    return f"{len(trials)} of {len(found)} trials" + (f" ({'; '.join(common)})" if common else "")


def _apart(key: str, trials: Sequence[TrialResult], found: Sequence[TrialResult]) -> str:
    """The values that the trials have for an axis, if others have others."""
    all_values = _values(found)[key]
    have = [value for value in all_values if value in _values(trials).get(key, [])]
    if len(have) == len(all_values):
        return ""
    listed = have if len(have) <= VALUES_MAX else [have[0], "…", have[-1]]
    return f"{key.rsplit('.', 1)[-1]} {', '.join(listed)}"


def _values(found: Sequence[TrialResult]) -> Mapping[str, list[str]]:
    """The values of each axis, in the order of the trials."""
    values: dict[str, dict[str, Any]] = {}
    for each in found:
        for key, value in each.params.items():
            values.setdefault(key, {})[value] = None
    return {key: list(those) for key, those in values.items()}


NOTHING: Mapping[str, Metrics] = MappingProxyType({})
COLOUR = {"valid": "green", "suspect": "yellow", "invalid": "red"}
MORE = "a wider terminal or --format csv shows them"


class Format(StrEnum):
    table = "table"
    csv = "csv"
    json = "json"


def print_trials(found: Sequence[TrialResult], measured: Mapping[str, Metrics] = NOTHING) -> None:
    """A line for each trial; below it the findings of the gate, and how many trials have each verdict."""
    width = terminal_width()
    show(_trials(found, measured).lines(width))
    for verdict, text in finding_lines(found):
        word = "note" if verdict == "valid" else verdict
        lines = paragraph(f"{word} {text}", width)
        colour = "dim" if verdict == "valid" else COLOUR[verdict]
        show([f"[{colour}]{word}[/]{literal(lines[len(word) :])}"])
    counts: Counter[str] = Counter(each.verdict for each in found)
    print(", ".join(f"{counts[verdict]} {verdict}" for verdict in COLOUR if counts[verdict]) or "no trials")


def print_cells(
    found: Sequence[TrialResult], until: Until | None = None, measured: Mapping[str, Metrics] = NOTHING
) -> None:
    """A line for each cell: the mean goodput of its trials that are not invalid, with its 95 % t interval."""
    show(_cells(found, until, measured).lines(terminal_width()))


def print_verdicts(judged: Sequence[Verdict]) -> None:
    """A line for each rule, below it what is wrong with those that do not hold; nothing without rules."""
    if not judged:
        return
    from ..analysis.expectation.verdict import seen_range  # takes a second to import

    columns = (
        Column("rule", names=True),
        Column("metric", wraps=True),
        Column("where", wraps=True, drop=2),
        Column("asked", wraps=True),
        Column("seen", wraps=True),
        Column("trials", right=True, drop=1),
        Column("outcome"),
    )
    rows = [
        (
            visible(each.rule.name),
            visible(each.rule.measured),
            visible(in_words(each.rule.where).removeprefix("where ")),
            visible(each.rule.wanted),
            seen_range(each),
            str(each.trials),
            each.outcome,
        )
        for each in judged
    ]
    colours = {"passed": "green", "failed": "red", "not checked": "red"}
    show(Table(columns, tuple(rows), MORE, colours).lines(terminal_width()))
    show([literal(paragraph(line, terminal_width())) for line in unkept(judged)])
    passed = sum(each.outcome == "passed" for each in judged)
    print(f"{passed} of {counted(len(judged), 'rule')} {'holds' if passed == 1 else 'hold'}")


def print_rules(store: Store, results: Sequence[TrialResult] | None = None) -> bool:
    """Judges the rules of a run and prints them; whether all hold (True without rules). `results` are those of the
    run, if they were just read.
    """
    if not store.expect:
        return True
    from ..sweep.expectation import judged  # takes a second to import

    found = judged(store, store.results() if results is None else results)
    print_verdicts(found)
    return all(each.outcome == "passed" for each in found)


def unkept(judged: Sequence[Verdict]) -> list[str]:
    """A line for each rule that did not pass."""
    wrong = [each for each in judged if each.outcome != "passed"]
    return [
        visible(
            f"{each.rule.name} {'failed' if each.outcome == 'failed' else 'was not checked'}: {each.seen}"
            f"{f' ({each.rule.message})' if each.rule.message else ''}"
        )
        for each in wrong
    ]


def _trials(found: Sequence[TrialResult], measured: Mapping[str, Metrics]) -> Table:
    keys, metrics = _keys(found), _metrics(measured)
    losses = [each for each in LOSSES if any(map(each.is_there, found))]
    is_periodic = not losses or any(each.periodic_drops[0] is not None for each in found)
    columns = (
        *_axes(keys),
        Column("seed", folds=True, names=True, drop=1),
        Column("Mbit/s", right=True),
        Column("resent", right=True, drop=4),
        Column("RTT ms", right=True, drop=3),
        *([Column("dropped", right=True, drop=2)] if is_periodic else []),
        *(Column(each.title, right=True) for each in losses),
        Column("queue drops", right=True, drop=5),
        *(Column(metric.title, right=True) for metric in metrics),
        Column("verdict"),
    )
    rows = [
        (
            *_row(each, keys, losses, is_periodic=is_periodic),
            *(metric.text(measured[each.id][metric.name]) for metric in metrics),
            each.verdict,
        )
        for each in found
    ]
    return Table(columns, tuple(rows), MORE, COLOUR)


def _cells(found: Sequence[TrialResult], until: Until | None, measured: Mapping[str, Metrics]) -> Table:
    keys, metrics = _keys(found), _metrics(measured)
    columns = (
        *_axes(keys),
        Column("trials", right=True, drop=1),
        Column("mean Mbit/s", right=True),
        Column("95 % interval", drop=2),
        Column("±", right=True),
        *(Column(f"mean {metric.title}", right=True) for metric in metrics),
        Column("verdicts"),
        *([Column("stopped", wraps=True)] if until is not None else []),
    )
    rows = []
    for cell in cells(found, until, measured):
        goodput = cell.goodput
        why = [] if until is None else ["not finished" if cell.stop is None else cell.stop.in_words(until)]
        rows.append(
            (
                *(cell.params.get(key, "") for key in keys),
                "0" if goodput is None else str(goodput.trials),
                "-" if goodput is None else number(goodput.mean, 1e-6, 1),
                "-" if goodput is None or goodput.low is None else _interval(goodput),
                "-"
                if goodput is None or goodput.half_width is None or goodput.is_one_case
                else percent(goodput.half_width),
                *(_mean(metric, cell.metrics.get(metric.name)) for metric in metrics),
                ", ".join(f"{count} {verdict}" for verdict, count in cell.verdicts.items()),
                *why,
            )
        )
    return Table(columns, tuple(rows), MORE)


def _keys(found: Sequence[TrialResult]) -> list[str]:
    return list(dict.fromkeys(key for each in found for key in each.params))


def _axes(keys: Sequence[str]) -> list[Column]:
    return [Column(name, folds=True, names=True) for name in short_names(keys).values()]


@dataclass(frozen=True)
class Loss:
    """A way of losing packets that has a column only where it `is_there`: where it lost some, or was asked to."""

    title: str
    of: Callable[[TrialResult], int | None]
    is_there: Callable[[TrialResult], bool]


LOSSES = (
    Loss("random drops", lambda each: each.random_drops,
         lambda each: bool(each.random_drops) or any(stage.random_loss for stage in each.stages)),
    Loss("policed", lambda each: each.policed_packets, lambda each: each.policed_packets is not None),
    Loss("AQM drops", lambda each: each.seen.aqm_drops, lambda each: each.seen.aqm_drops is not None),
    Loss("filtered ACKs", lambda each: each.seen.filtered_acks, lambda each: each.seen.filtered_acks is not None),
    Loss("marks", lambda each: each.seen.marks, lambda each: bool(each.seen.marks)),
)  # fmt: skip


def _row(each: TrialResult, keys: Sequence[str], losses: Sequence[Loss], *, is_periodic: bool) -> tuple[str, ...]:
    seen = each.seen
    asked_drops, seen_drops = each.periodic_drops
    dropped = _or_dash(seen_drops) + ("" if asked_drops is None else f"/{asked_drops}")
    return (
        *(each.params.get(key, "") for key in keys),
        str(each.seed),
        number(each.goodput_bps, 1e-6, 1),
        _or_dash(each.retransmits),
        number(seen.rtt_s, 1e3, 3),
        *([dropped] if is_periodic else []),
        *(_or_dash(loss.of(each)) for loss in losses),
        _or_dash(seen.queue_drops),
    )


def _metrics(measured: Mapping[str, Metrics]) -> list[Metric]:
    """Those that were asked for."""
    if not measured:
        return []
    from ..analysis.metric import METRICS  # takes a second to import

    return [METRICS[name] for name in next(iter(measured.values()))]


def _mean(metric: Metric, mean: Mean | None) -> str:
    """With half of its interval, where there is one. What did not happen in a trial has no mean."""
    from ..analysis.metric import NEVER  # takes a second to import

    if mean is not None and mean.never:
        return NEVER if mean.never == mean.trials else f"{NEVER} in {mean.never} of {mean.trials}"
    if mean is None or mean.half is None:
        return metric.text(mean.mean if mean else None)
    if mean.is_one_case:
        return f"{metric.text(mean.mean)}, {ALL_EQUAL}"
    return f"{metric.text(mean.mean)} ± {mean.half * metric.scale:.2g}"


def _interval(goodput: Mean) -> str:
    if goodput.is_one_case:
        return ALL_EQUAL
    return f"{number(goodput.low, 1e-6, 1)} – {number(goodput.high, 1e-6, 1)}"


def number(value: float | None, scale: float, digits: int) -> str:
    """The value in another unit; a dash for none."""
    return "-" if value is None else f"{value * scale:.{digits}f}"


def _or_dash(value: object) -> str:
    return "-" if value is None else str(value)
