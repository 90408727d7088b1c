"""The conditions of a trial that decide what TCP can reach: rate, loss, windows, flows. Pure, no I/O."""

from __future__ import annotations

from dataclasses import dataclass

from ..model.impairment import Loss, mean_loss
from ..model.scenario import Trial
from ..model.topology import Link
from ..model.workload import FlowWorkload, Iperf3Workload
from ..trial.stored_result import TrialResult

MSS_BYTES = 1448
"""Payload of a full segment of 1500 bytes over IPv4 with timestamps, where the result does not tell."""


@dataclass(frozen=True)
class Conditions:
    """What a trial asked for, over its whole path. None is what was not asked for, or what nobody knows.

    `loss` is the share of data packets to be dropped (0: none); `window_bytes` the buffer asked for, of each flow;
    `congestion` has each control once. `duration_s` is that of each flow.
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
    """From the result and the trial it is of; without the trial, windows and durations are unknown and the loss is None
    unless none was asked for.
    """
    data = result.data
    flows = data["flows"]
    mss = [flow.get("mss_bytes") for flow in flows if flow.get("mss_bytes")]
    asked = data["asked"]
    loss = 0.0 if asked["dropped_packets"] is None and not data["seen"].get("random_drops") else None
    windows: set[int | None] = {None}
    duration_s = None
    if trial is not None:
        loss = _path_loss(trial)
        windows = _windows(trial)
        duration_s = _duration_s(trial)
    return Conditions(
        flows=len(flows),
        congestion=tuple(dict.fromkeys(flow["congestion"] for flow in flows if flow["congestion"])),
        rate_bps=asked["rate_bps"],
        mss_bytes=max(mss, default=MSS_BYTES),
        loss=loss,
        window_bytes=windows.pop() if len(windows) == 1 else None,
        duration_s=duration_s,
        ip_version=data.get("ip_version") or 4,
    )


def _path_loss(trial: Trial) -> float:
    """Of the data direction, over all links of the shortest path, each loss on its own."""
    here, kept = trial.workload.source, 1.0
    for link in trial.topology.path(trial.workload.source, trial.workload.destination) or ():
        kept *= 1 - mean_loss(_data_loss(link, here))
        here = link.other_end(here)
    return 1 - kept if kept < 1 else 0.0


def _data_loss(link: Link, start: str) -> Loss | None:
    if link.data_loss is not None:
        return link.data_loss
    return (link.forward if link.ends[0] == start else link.backward).loss


def _windows(trial: Trial) -> set[int | None]:
    workload = trial.workload
    if isinstance(workload, FlowWorkload):
        return set(workload.window_bytes)
    return {workload.window_bytes} if isinstance(workload, Iperf3Workload) else {None}


def _duration_s(trial: Trial) -> float | None:
    duration_ns = getattr(trial.workload, "duration_ns", None)
    return None if duration_ns is None else duration_ns / 1e9
