"""The conditions of a trial that decide what TCP can reach: rate, loss, windows, flows. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Sequence

from ..codec.frozen import dataclass
from ..model.address import address_book
from ..model.data_path import DataPath, PathHop, data_path_between, data_ways, path_loss, path_losses
from ..model.link.buffer import buffer_words
from ..model.link.impairment import Loss
from ..model.scenario import Trial
from ..trial.result import TrialResult
from ..units import format_size

AUTO, DEFAULT = "auto", "default"
MSS_BYTES = 1448
"""Payload of a full segment of 1500 bytes over IPv4 with timestamps, if the result does not have it."""


@dataclass(frozen=True)
class Conditions:
    """What a trial asked for, over all paths of its data. None is what was not asked for, or is unknown.

    `loss` is the share of data packets to be dropped (0: none), `losses` what drops them; `window_bytes` the buffer
    asked for by each flow; `congestion` has each control once. `duration_s` is the duration of each flow.

    `window` and `buffer` are in words, None where the trial is not at hand: the windows asked for ("auto": the kernel's
    autotuning; several joined by +), and the buffer of the slowest link ("default": the plan chooses).
    """

    flows: int
    congestion: tuple[str, ...]
    rate_bps: float | None
    mss_bytes: int
    loss: float | None = None
    window_bytes: int | None = None
    duration_s: float | None = None
    ip_version: int = 4
    window: str | None = None
    buffer: str | None = None
    losses: tuple[Loss, ...] | None = None


def conditions(result: TrialResult, trial: Trial | None = None) -> Conditions:
    """The conditions from a result and its trial. Without the trial, windows and durations are unknown, and the loss is
    None, or 0 if no loss was asked for.
    """
    mss = [flow.mss_bytes for flow in result.flows if flow.mss_bytes]
    loss = 0.0 if result.asked.dropped_packets is None and not result.seen.random_drops else None
    windows: set[int | None] = {None}
    duration_s, window, buffer = None, None, None
    losses: tuple[Loss, ...] | None = () if loss == 0 else None
    if trial is not None:
        paths = _data_paths(trial)
        hops = [hop for each in paths for hop in each.path]
        ways = data_ways(paths)
        loss, losses = path_loss(hops, ways), path_losses(hops, ways)
        buffer = _buffer(hops)
        window = _window(trial)
        windows = {flow.window_bytes for flow in trial.workload.asked_flows} or {None}
        sending_ns = trial.workload.sending_ns
        duration_s = None if sending_ns is None else sending_ns / 1e9
    return Conditions(
        flows=len(result.flows),
        congestion=tuple(dict.fromkeys(flow.congestion for flow in result.flows if flow.congestion)),
        rate_bps=result.asked.rate_bps,
        mss_bytes=max(mss, default=MSS_BYTES),
        loss=loss,
        window_bytes=windows.pop() if len(windows) == 1 else None,
        duration_s=duration_s,
        ip_version=result.ip_version or 4,
        window=window,
        buffer=buffer,
        losses=losses,
    )


def _data_paths(trial: Trial) -> list[DataPath]:
    """All paths of the plan, including those through a cache."""
    book = address_book(trial.topology)
    return [data_path_between(trial.topology, book, *pair) for pair in trial.workload.pairs]


def _buffer(hops: Sequence[PathHop]) -> str | None:
    """That of the slowest link on the way of the data; None if no link has a rate."""
    asked = [hop.link.asked(hop.way, is_data=True) for hop in hops]
    limited = [each for each in asked if each.rate_bps is not None]
    slowest = min(limited, key=lambda each: each.rate_bps or 0, default=None)
    if slowest is None:
        return None
    return DEFAULT if slowest.buffer is None else buffer_words(slowest.buffer)


def _window(trial: Trial) -> str | None:
    sizes = dict.fromkeys(flow.window_bytes for flow in trial.workload.asked_flows)
    return "+".join(AUTO if size is None else format_size(size) for size in sizes) or None
