"""How the figures look: colours that colour-blind people can tell apart, and which series has which. No I/O."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, Locator

from ...analysis.series import Series, word
from ...codec.frozen import dataclass
from ...units import format_rate

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's palette, which colour-blind people can tell apart."""

LINES = ("-", "--", "-.", ":")
MARKERS = "osD^vP*X"
WIDE, HIGH = 7.0, 4.5
MANY_SERIES = 8
GREY = "0.35"
ACROSS = 3
"""So many panels are side by side."""

Look = tuple[str, str, str]
"""Colour, line and mark."""


@dataclass(frozen=True)
class Panel:
    """Some of the series, to be drawn into one pair of axes; `title` says what they have in common."""

    title: str
    members: tuple[tuple[Series, str, Look], ...]


def varied(series: Sequence[Series]) -> list[str]:
    """The parameters that set the series apart, in the order of the scenario."""
    keys = dict.fromkeys(key for each in series for key, _ in each.params)
    return [key for key in keys if len({dict(each.params).get(key) for each in series}) > 1]


def panels(series: Sequence[Series]) -> list[Panel]:
    """More series than one can tell apart are shared out over panels, one for each value of the first parameter.

    Of what is left the first parameter has the colour, the second the line, the third the mark.
    """
    keys = varied(series)
    several = len(series) > MANY_SERIES and len(keys) > 1
    shared, own = (keys[:1], keys[1:]) if several else ([], keys)
    values = {key: list(dict.fromkeys(dict(each.params).get(key, "") for each in series)) for key in own}
    groups: dict[str, list[Series]] = {}
    for each in series:
        groups.setdefault(", ".join(word(key, dict(each.params).get(key, "")) for key in shared), []).append(each)
    return [
        Panel(title, tuple((each, _label(each, own), _look(each, values)) for each in members))
        for title, members in groups.items()
    ]


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
    """One for all panels, at their right."""
    words = {word: handle for axes in shown for handle, word in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(words.values(), words.keys(), fontsize=8, frameon=False, loc="outside right center", handlelength=3.2)


def _label(each: Series, keys: Sequence[str]) -> str:
    params = dict(each.params)
    return ", ".join(word(key, params[key]) for key in keys if key in params) or "goodput"


def _look(each: Series, values: Mapping[str, Sequence[str]]) -> Look:
    params = dict(each.params)
    places = [found.index(params.get(key, "")) for key, found in values.items()]
    if len(places) == 1:
        return COLOURS[places[0] % len(COLOURS)], LINES[places[0] // len(COLOURS) % len(LINES)], MARKERS[places[0] % 8]
    colour, line, mark = (*places, *places[1:2], 0, 0, 0)[:3]
    return COLOURS[colour % len(COLOURS)], LINES[line % len(LINES)], MARKERS[mark % len(MARKERS)]


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
