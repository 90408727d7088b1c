"""How the figures look: colours that colour-blind people can tell apart, and which series has which. No I/O."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, Locator

from ...analysis.series import Series, rtt_key, word
from ...codec.frozen import dataclass
from ...error import UserError
from ...model.scenario import Params
from ...trial.result import TrialResult
from ...units import format_rate
from ..stored_run import StoredRun

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's palette, which colour-blind people can tell apart."""

LINES = ("-", "--", "-.", ":")
MARKERS = "osD^vP*X"
WIDE, HIGH = 7.0, 4.5
MANY_SERIES = 8
MOST_SERIES = len(COLOURS) * len(LINES)
"""So many series a pair of axes can have, each with a look of its own."""
MOST_PANELS = 12
GREY = "0.35"
ACROSS = 3
"""So many panels are side by side."""

Look = tuple[str, str, str]
"""Colour, line and mark."""
Values = tuple[str, ...]
"""A series' values of some parameters."""

_MOST: Mapping[int, tuple[int, ...]] = {1: (len(MARKERS),), 2: (len(LINES), len(MARKERS))}
"""So many values the second parameter can have, and the third, if each has a part of the look."""


@dataclass(frozen=True)
class Panel:
    """Some of the series, to be drawn into one pair of axes; `title` says what they have in common."""

    title: str
    members: tuple[tuple[Series, str, Look], ...]


def varied(series: Sequence[Series]) -> list[str]:
    """The parameters that set the series apart, in the order of the scenario."""
    keys = dict.fromkeys(key for each in series for key, _ in each.params)
    return [key for key in keys if len({dict(each.params).get(key) for each in series}) > 1]


def panels(series: Sequence[Series], *, has_all: bool = False, alone: str = "all trials") -> list[Panel]:
    """More series than one can tell apart are shared out over panels, one for each value of the first parameter, or of
    the first ones. Each series has a look of its own in its panel, which means the same in all panels where that is
    possible: `has_all` if the figure draws all three of colour, line and mark, else the colour with the line, as the
    colour with the mark, tells. One that stands `alone` has this name. Raises UserError for more than MOST_SERIES in a
    panel.
    """
    keys = varied(series)
    count = int(len(series) > MANY_SERIES and len(keys) > 1)
    groups = _groups(series, keys[:count])
    while max(map(len, groups.values()), default=0) > MOST_SERIES and count < len(keys) - 1:
        count += 1
        groups = _groups(series, keys[:count])
    example = {key: value for key, value in series[0].params if key in keys} if series else {}
    refuse_too_many(max(map(len, groups.values()), default=0), example)
    own = keys[count:]
    found = looks([[values_of(each.params, own) for each in members] for members in groups.values()], has_all)
    return [
        Panel(
            _label(members[0], keys[:count]),
            tuple((each, _label(each, own) or alone, look[values_of(each.params, own)]) for each in members),
        )
        for members, look in zip(groups.values(), found, strict=True)
    ]


def cells(run: StoredRun) -> tuple[list[Panel], str]:
    """The series of a run, each at one RTT; and what is pooled all the same, in words, because it were too many."""
    series = [each for each in run.series if each.trials]
    key = rtt_key(run.usable)
    found = [part for each in series for part in _by(each, key)] if key else series
    values = dict.fromkeys(each.params.get(key, "") for each in run.usable) if key else {}
    if key is None or len(values) < 2:
        return panels(series), ""
    try:
        shown = panels(found)
    except UserError:
        shown = []
    if 0 < len(shown) <= MOST_PANELS:
        return shown, ""
    first, *_, last = values
    return panels(
        series
    ), f"trials at {len(values)} RTTs together, {first} to {last}; --where '{key}={first}' takes one"


def _by(each: Series, key: str) -> list[Series]:
    """The parts of a series with one value of a parameter, in the order of its trials."""
    parts: dict[str, list[TrialResult]] = {}
    for trial in each.trials:
        parts.setdefault(trial.params.get(key, ""), []).append(trial)
    return [replace(each, params=((key, value), *each.params), trials=tuple(own)) for value, own in parts.items()]


def refuse_too_many(count: int, params: Mapping[str, str]) -> None:
    """Raises UserError for more lines than a pair of axes can have; `params` are an example of one."""
    if count > MOST_SERIES:
        words = ",".join(f"{key}={value.replace(' ', '')}" for key, value in params.items())
        raise UserError(
            f"{count} series in one pair of axes cannot be told apart; allowed: at most {MOST_SERIES}, such as "
            f"those of --where with some of {words}"
        )


def looks(panels: Sequence[Iterable[Values]], has_all: bool = False) -> list[dict[Values, Look]]:
    """For each panel a look for each of its values of the same parameters; the first parameter has the colour.

    If `has_all` are drawn, the second has the line, and the mark if there is no third. Otherwise all but the first have
    the line and the mark together; where the lines do not suffice for that, nothing stands for a single parameter.
    """
    groups = [list(dict.fromkeys(values)) for values in panels]
    every = dict.fromkeys(each for group in groups for each in group)
    firsts, *others = [list(dict.fromkeys(column)) for column in zip(*every, strict=True)] or [[""]]
    rests = list(dict.fromkeys(each[1:] for each in every))
    few = len(firsts) <= len(COLOURS)
    sizes = tuple(map(len, others))

    def look(each: Values, number: int) -> Look:
        line = mark = number
        colour = firsts.index(each[0]) if few and each else number
        if has_all and not others:
            line = number // len(COLOURS)
        elif has_all and few and _fit(sizes):
            places = [column.index(value) for column, value in zip(others, each[1:], strict=True)]
            line, mark = places[0], places[-1]
        elif few and len(rests) <= (len(MARKERS) if has_all else len(LINES)) and others:
            line = mark = rests.index(each[1:])
        else:
            colour = number
        return COLOURS[colour % len(COLOURS)], LINES[line % len(LINES)], MARKERS[mark % len(MARKERS)]

    most = math.lcm(len(COLOURS), len(LINES), len(MARKERS) if has_all else 1)
    return [{each: look(each, number) for each, number in own.items()} for own in _numbers(groups, most)]


def _numbers(groups: Sequence[Sequence[Values]], most: int) -> list[dict[Values, int]]:
    """For each group a number below `most` for each of its values, none of them twice. A value has the same number in
    all groups, unless another value of a group has it already.
    """
    usual: dict[Values, int] = {}
    found = []
    for group in groups:
        own = {number: each for each in reversed(group) if (number := usual.get(each)) is not None}
        numbers = {each: number for number, each in own.items()}
        for each in group:
            if each not in numbers:
                free = (number % most for number in range(len(usual), len(usual) + most))
                numbers[each] = next(number for number in free if number not in own)
                own[numbers[each]] = each
                usual.setdefault(each, numbers[each])
        found.append(numbers)
    return found


def _fit(sizes: Sequence[int]) -> bool:
    most = _MOST.get(len(sizes), ())
    return len(most) == len(sizes) and all(size <= limit for size, limit in zip(sizes, most, strict=True))


def _groups(series: Sequence[Series], keys: Sequence[str]) -> dict[Values, list[Series]]:
    groups: dict[Values, list[Series]] = {}
    for each in series:
        groups.setdefault(values_of(each.params, keys), []).append(each)
    return groups


def values_of(params: Params, keys: Sequence[str]) -> Values:
    own = dict(params)
    return tuple(own.get(key, "") for key in keys)


def grid_of_axes(figure: Figure, count: int) -> list[Axes]:
    """Axes for so many panels, with the same scales."""
    across = min(count, ACROSS)
    down = -(-count // across)
    figure.set_size_inches(WIDE * (1 + 0.55 * (across - 1)), HIGH * (1 + 0.8 * (down - 1)))
    found = [*figure.subplots(down, across, sharex=True, sharey=True, squeeze=False).flat]
    for axes in found[count:]:
        axes.axis("off")
    for axes in found[:count]:
        axes.tick_params(labelbottom=True)
    return found[:count]


def legend(figure: Figure, shown: Sequence[Axes]) -> None:
    """One for all panels, at their right; one beside each if a look means several things, or a thing has several."""
    every = [(word, each) for axes in shown for each, word in zip(*axes.get_legend_handles_labels(), strict=True)]
    words = dict(every)
    lines = [(word, each) for word, each in every if isinstance(each, Line2D)]
    pairs = {(word, (each.get_color(), each.get_linestyle(), each.get_marker())) for word, each in lines}
    if len(words) == len(pairs) == len({look for _, look in pairs}):
        figure.legend(
            words.values(), words.keys(), fontsize=8, frameon=False, loc="outside right center", handlelength=3.2
        )
        return
    for axes in shown:
        axes.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=3.2)


def _label(each: Series, keys: Sequence[str]) -> str:
    params = dict(each.params)
    return ", ".join(_word(key, params[key]) for key in keys if key in params)


def _word(key: str, value: str) -> str:
    return f"RTT {value}" if key.rsplit(".", 1)[-1] == "rtt" else word(key, value)


class _LogTicks(Locator):
    def __call__(self) -> Sequence[float]:
        assert self.axis is not None, "BUG: a locator without an axis"
        low, high = sorted(self.axis.get_view_interval())
        return log_ticks(low, high)

    def tick_values(self, vmin: float, vmax: float) -> Sequence[float]:
        return log_ticks(vmin, vmax)


ENOUGH_TICKS = 3
FIRSTS = ((1,), (1, 2, 5), (1, 2, 3, 4, 5, 6, 7, 8, 9))
"""The first digits of ticks: the fewest that give ENOUGH_TICKS are taken. The page's logTicks does the same."""


def log_ticks(low: float, high: float) -> list[float]:
    """Round numbers between two others above 0, at least ENOUGH_TICKS where there is room; in equal steps if all first
    digits do not give so many.
    """
    if not 0 < low < high:
        return [low] if low > 0 else []
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for firsts in FIRSTS:
        ticks = [float(f"{first}e{power}") for power in powers for first in firsts]
        ticks = [tick for tick in ticks if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]
        if len(ticks) >= ENOUGH_TICKS:
            return ticks
    raw = (high - low) / 8
    base = 10.0 ** math.floor(math.log10(raw))
    step = next(first * base for first in (1, 2, 5, 10) if first * base >= raw)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{n * step:.6g}") for n in range(first, last + 1)]


def plain_number(value: float) -> str:
    """Up to six digits, without a power of ten: 90, 0.0005, 2000000."""
    return format(Decimal(f"{value:.6g}"), "f")


def log_axis(axes: Axes, which: str) -> None:
    """Logarithmic, with plain numbers."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    (axes.set_xscale if which == "x" else axes.set_yscale)("log")
    axis.set_major_locator(_LogTicks())
    axis.set_major_formatter(FuncFormatter(lambda value, _: plain_number(value)))
    axes.minorticks_off()


def grid(axes: Axes) -> None:
    axes.grid(True, which="major", color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def rate_word(rate_bps: float) -> str:
    return format_rate(int(rate_bps))
