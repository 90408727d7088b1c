"""The samples of sockets as rows, before they are a table. Pure, no I/O."""

from __future__ import annotations

from typing import Any

from .evidence.stage import Evidence


def socket_rows(evidence: Evidence) -> list[dict[str, Any]]:
    """One row for each socket and time; times count from the workload's start."""
    begin_ns = evidence.outcome.begin_ns or 0
    return [
        {
            "time_s": (each.time_ns - begin_ns) / 1e9,
            "netns": each.netns,
            "source": each.source,
            "source_port": each.source_port,
            "destination": each.destination,
            "destination_port": each.destination_port,
            "congestion": each.congestion,
            **each.info,
        }
        for each in evidence.tcp
    ]
