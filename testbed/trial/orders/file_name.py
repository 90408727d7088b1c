"""The names of the files that a trial leaves in its folder, except those of its subjects and tools. Pure, no I/O."""

from __future__ import annotations

RTT_CHECK, UPSTREAM_CHECK = "rtt-check.out", "rtt-check-upstream.out"

LOG, TIMELINE = "log.jsonl", "timeline.jsonl"

MININET_REPORT = "mininet.json"
