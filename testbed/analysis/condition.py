"""The conditions of a trial that decide what TCP can reach: rate, loss, windows, flows. Pure, no I/O."""

from __future__ import annotations

from dataclasses import dataclass

from ..model.address import address_book
from ..model.data_path import data_path_between, data_ways, path_loss
from ..model.scenario import Trial
from ..trial.stored_result import TrialResult

MSS_BYTES = 1448
"""Payload of a full segment of 1500 bytes over IPv4 with timestamps, if the result does not have it."""


@dataclass(frozen=True)
class Conditions:
    """What a trial asked for, over all paths of its data. None is what was not asked for, or is unknown.

    `loss` is the share of data packets to be dropped (0: none); `window_bytes` the buffer asked for by each
    flow; `congestion` has each control once. `duration_s` is the duration of each flow.
    """

    flows: int
    congestion: tuple[str, ...]
    rate_bps: float | None
    mss_bytes: int
    loss: float | None = None
    window_bytes: int | None = None
    duration_s: float | None = None
    ip_version: int = 4


def conditions(result: TrialResult, trial: Trial | None = None) -> Conditions:
    """The conditions from a result and its trial. Without the trial, windows and durations are unknown, and the loss is
    None, or 0 if no loss was asked for.
    """
    mss = [flow.mss_bytes for flow in result.flows if flow.mss_bytes]
    loss = 0.0 if result.asked.dropped_packets is None and not result.seen.random_drops else None
    windows: set[int | None] = {None}
    duration_s = None
    if trial is not None:
        loss = _path_loss(trial)
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
    )


def _path_loss(trial: Trial) -> float:
    """The share of the data that is lost, over all paths of the plan, including those through a cache."""
    book = address_book(trial.topology)
    data_paths = [data_path_between(trial.topology, book, *pair) for pair in trial.workload.pairs]
    return path_loss([hop for each in data_paths for hop in each.path], data_ways(data_paths))
