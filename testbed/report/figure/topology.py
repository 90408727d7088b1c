"""The network of a run: nodes by type, links with what they do, emulators, control channels. Draws, no I/O."""

from __future__ import annotations

import textwrap

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from ...browser.placement import Control
from ...error import UserError
from ...model.node.type import Colour, Shape
from ...units import counted
from ..drawing import Drawing, Line, Spot, drawings
from ..stored_run import StoredRun
from .option import Options
from .style import COLOURS, GREY

INCHES, LINE_INCHES = 1.9, 0.13
"""How long a plain link is on paper, and how high a line of text."""
NAMED, TOLD, FEW_CHANNELS = 60, 16, 2
"""With more nodes than this they have no names, with more links or channels these have no facts."""
SHAPES: dict[Shape, str] = {"square": "s", "diamond": "D", "circle": "o", "hexagon": "h"}
PAINTS: dict[Colour, str] = {
    **dict(zip(("blue", "vermilion", "green", "purple", "orange", "sky"), COLOURS, strict=False)),
    "neutral": "0.6",
}
UNKNOWN = ("p", "0.8")
"""Mark and colour of a type that this version does not have."""
BEND = 0.28
BOX = {"facecolor": "white", "edgecolor": "none", "pad": 1}
"""Around words: no line shows through."""
ROW_POINTS = 9.5
"""How high a row of the facts of a link is."""


def draw(figure: Figure, run: StoredRun, options: Options) -> None:
    """Raises UserError where no trial's network can be read."""
    found = drawings(run)
    if not found:
        raise UserError("no trial has a network that this version can read; allowed: a run of this version")
    sizes = [_size(each) for each in found]
    figure.set_size_inches(max(width for width, _ in sizes), sum(height for _, height in sizes))
    rows = figure.subplots(len(found), 1, squeeze=False, gridspec_kw={"height_ratios": [h for _, h in sizes]})[:, 0]
    for axes, each in zip(rows, found, strict=True):
        _network(axes, each)


def _size(drawing: Drawing) -> tuple[float, float]:
    x, y = [spot.x for spot in drawing.spots], [spot.y for spot in drawing.spots]
    scale = INCHES if len(drawing.spots) <= NAMED else 0.5
    below = LINE_INCHES * _most_facts(drawing)
    return min(16.0, max(7.0, (max(x) - min(x) + 1.2) * scale)), min(16.0, (max(y) - min(y)) * scale + 2.0 + below)


def _most_facts(drawing: Drawing) -> int:
    return max((len(line.drawn) for line in drawing.lines), default=0) if len(drawing.lines) <= TOLD else 0


def _network(axes: Axes, drawing: Drawing) -> None:
    axes.axis("off")
    axes.set_aspect("equal")
    axes.invert_yaxis()
    spots = {spot.name: spot for spot in drawing.spots}
    for line in drawing.lines:
        _line(axes, line, spots[line.ends[0]], spots[line.ends[1]], is_told=len(drawing.lines) <= TOLD)
    for channel in drawing.controls:
        _channel(axes, channel, spots[channel.controller], spots[channel.switch], len(drawing.controls) <= FEW_CHANNELS)
    for spot in drawing.spots:
        _spot(axes, spot, is_named=len(drawing.spots) <= NAMED)
    for type, spot in {spot.type: spot for spot in drawing.spots}.items():
        mark, colour = _look(spot)
        axes.plot([], [], mark, color=colour, markeredgecolor="0.2", label=type)
    if any(line.is_emulated for line in drawing.lines):
        axes.plot([], [], "s", color="white", markeredgecolor="0.2", label="emulator")
    x, y = [spot.x for spot in drawing.spots], [spot.y for spot in drawing.spots]
    axes.set_xlim(min(x) - 0.5, max(x) + 0.5)
    axes.set_ylim(max(y) + 0.5 + LINE_INCHES / INCHES * _most_facts(drawing), min(y) - 0.5)
    axes.legend(fontsize=8, frameon=False, ncols=8, loc="upper center", bbox_to_anchor=(0.5, 0))
    axes.set_title(f"{drawing.name} ({counted(drawing.trials, 'trial')})", fontsize=10)


def _look(spot: Spot) -> tuple[str, str]:
    """Mark and colour, as matplotlib names them."""
    return UNKNOWN if spot.mark is None else (SHAPES[spot.mark.shape], PAINTS[spot.mark.colour])


def _spot(axes: Axes, spot: Spot, is_named: bool) -> None:
    mark, colour = _look(spot)
    axes.plot(spot.x, spot.y, mark, color=colour, markeredgecolor="0.2", markersize=18 if is_named else 5, zorder=3)
    if is_named:
        axes.annotate(
            spot.name,
            (spot.x, spot.y),
            (0, 14),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=9,
            bbox=BOX,
            zorder=4,
        )
        below = textwrap.fill(spot.about or spot.type, 24)
        axes.annotate(
            below,
            (spot.x, spot.y),
            (0, -14),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=7,
            color=GREY,
            bbox=BOX,
            zorder=4,
        )


def _line(axes: Axes, line: Line, start: Spot, end: Spot, is_told: bool) -> None:
    a, b = np.array([start.x, start.y]), np.array([end.x, end.y])
    style = f"arc3,rad={BEND * line.bend}" if line.bend else "arc3"
    axes.add_patch(
        FancyArrowPatch(
            (start.x, start.y),
            (end.x, end.y),
            connectionstyle=style,
            arrowstyle="-",
            color="0.3",
            linewidth=1.4,
            zorder=1,
        )
    )
    along = b - a
    middle = (a + b) / 2 + BEND / 2 * line.bend * np.array([along[1], -along[0]])
    if line.is_emulated:
        axes.plot(*middle, "s", color="white", markeredgecolor="0.2", markersize=11 if is_told else 3, zorder=2)
    if is_told:
        rows = [line.name, *(f"{fact.name} {fact.text}" for fact in line.drawn)]
        across, down = map(abs, along)
        is_steep = down > across  # its facts stand at its side: below its middle they would be on it
        offset = (9 + ROW_POINTS * len(rows) / 2 * across / down, 0) if is_steep else (0, -10)
        axes.annotate(
            "\n".join(rows), middle, offset, textcoords="offset points", fontsize=7, zorder=4, bbox=BOX,
            ha="left" if is_steep else "center", va="center" if is_steep else "top",
        )  # fmt: skip


def _channel(axes: Axes, channel: Control, start: Spot, end: Spot, is_told: bool) -> None:
    axes.plot([start.x, end.x], [start.y, end.y], ":", color=COLOURS[3], linewidth=1.4, zorder=1)
    if is_told and channel.about:
        middle = ((start.x + end.x) / 2, (start.y + end.y) / 2)
        axes.annotate(f"control: {channel.about}", middle, ha="center", fontsize=7, color=COLOURS[3])
