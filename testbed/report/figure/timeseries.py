"""Inside a trial: goodput, cwnd, smoothed RTT, retransmissions and queue over lab time. Reads the trial's samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...error import UserError
from ..signal import FlowSignals, Inside, QueueSignals, inside
from ..stored_run import StoredRun
from .option import Options, chosen_trial
from .style import COLOURS, LINES, WIDE, grid

PANEL_INCHES = 1.55
LEGEND_MOST = 12
DROP_COLOUR = "0.45"
"""Grey, which no flow and no queue is."""

Row = tuple[str, Callable[[FlowSignals], object]]

FLOW_ROWS: tuple[Row, ...] = (
    ("goodput (Mbit/s,\nmean of {average} s)", lambda flow: flow.goodput_bps / 1e6),
    ("cwnd (MB of 10⁶ bytes)", lambda flow: flow.cwnd_bytes / 1e6),
    ("smoothed RTT (ms)", lambda flow: flow.srtt_s * 1e3),
    ("segments sent again", lambda flow: flow.retransmits),
)


def draw(figure: Figure, run: StoredRun, options: Options) -> None:
    """Raises UserError for a trial without samples."""
    trial = chosen_trial(run, options)
    found = inside(run.folder(trial.id), trial)
    rows = [row for row in FLOW_ROWS if found.flows]
    if not rows and not found.queues:
        raise UserError(f"{trial.id} has no samples; allowed: a trial with samples (samples: {{interval: 100 ms}})")
    count = len(rows) + bool(found.queues)
    figure.set_size_inches(WIDE, 0.7 + PANEL_INCHES * count)
    panels: list[Axes] = [*figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0]]
    for axes, (label, of) in zip(panels, rows, strict=False):
        _flows(axes, found.flows, of)
        axes.set_ylabel(label.format(average=f"{found.average_s:g}"), fontsize=8)
    if found.queues:
        _queues(panels[-1], found.queues)
    for axes in panels:
        _drops(axes, found)
        axes.set_ylim(bottom=0)
        axes.tick_params(labelsize=8)
        grid(axes)
    panels[-1].set_xlabel("lab time since the workload began (s)")
    total = int(sum(queue.drops.sum() for queue in found.queues))
    signalled, marked = (sum(getattr(each, name) for each in found.queues) for name in ("signalled", "marked"))
    marks = f"; grey marks: {total} queue drops" if total else ""
    marks += f" ({signalled} to signal congestion)" if total and signalled else ""
    marks += f"; {marked} packets marked" if marked else ""
    more = f"; {found.left_out} flows that moved less are not shown" if found.left_out else ""
    panels[0].set_title(f"{trial.id} ({trial.verdict}){marks}{more}", fontsize=9, loc="left")
    if 1 < len(found.flows) <= LEGEND_MOST:
        panels[0].legend(fontsize=7, frameon=False, loc="upper left", bbox_to_anchor=(1.03, 1.05))
    panels[0].set_xlim(left=max(panels[0].dataLim.x0, -0.02 * panels[0].dataLim.x1))


def _flows(axes: Axes, flows: Sequence[FlowSignals], of: Callable[[FlowSignals], object]) -> None:
    for number, flow in enumerate(flows):
        colour, line = COLOURS[number % len(COLOURS)], LINES[number // len(COLOURS) % len(LINES)]
        axes.plot(flow.time_s, np.asarray(of(flow)), line, color=colour, linewidth=1, label=flow.name)


def _queues(axes: Axes, queues: Sequence[QueueSignals]) -> None:
    for number, queue in enumerate(queues):
        axes.plot(
            queue.time_s,
            queue.backlog_packets,
            LINES[number % len(LINES)],
            color=COLOURS[number % len(COLOURS)],
            linewidth=1,
            label=queue.name,
        )
    axes.set_ylabel("queue (packets)", fontsize=8)
    axes.legend(fontsize=7, frameon=False, loc="upper left", bbox_to_anchor=(1.03, 1.05))


def _drops(axes: Axes, found: Inside) -> None:
    """A tick at the top for each sample interval in which a queue dropped packets."""
    times = np.concatenate([queue.time_s[queue.drops > 0] for queue in found.queues] or [np.array([])])
    if len(times):
        axes.plot(
            times,
            np.full(len(times), 0.985),
            "|",
            color=DROP_COLOUR,
            markersize=5,
            transform=axes.get_xaxis_transform(),
            clip_on=False,
        )
