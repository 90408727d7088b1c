"""Policing: what a volume policy did, from samples of its counters. Pure, no I/O."""

from __future__ import annotations

from dataclasses import dataclass

from ...plan.link.stage import Policing
from ..observe.sample import CounterSample


@dataclass(frozen=True)
class Policed:
    """`policed_packets` were dropped in all; `samples` are pairs of what had come and what of it was dropped.

    `offered_bytes` are the IP bytes that came from the network's set-up to the end, `policed_bytes` those dropped.
    """

    policed_packets: int
    offered_bytes: int
    policed_bytes: int
    samples: tuple[tuple[CounterSample, CounterSample], ...]

    def crossed_ns(self, policing: Policing) -> int | None:
        """When the volume was reached (CLOCK_MONOTONIC), interpolated between two samples; None if it was not."""
        before: CounterSample | None = None
        for came, _ in self.samples:
            if came.bytes > policing.after_bytes:
                if before is None or came.bytes == before.bytes:
                    return came.time_ns
                share = (policing.after_bytes - before.bytes) / (came.bytes - before.bytes)
                return before.time_ns + round(share * (came.time_ns - before.time_ns))
            before = came
        return None

    @property
    def span(self) -> tuple[int, int] | None:
        """The samples from the first to the last of the longest row of intervals in all of which packets were dropped;
        None if those are fewer than three.
        """
        rows: list[list[int]] = [[]]
        for n in range(1, len(self.samples)):
            if self.samples[n][1].packets > self.samples[n - 1][1].packets:
                rows[-1].append(n)
            elif rows[-1]:
                rows.append([])
        longest = max(rows, key=len)
        return (longest[0], longest[-1]) if len(longest) > 2 else None

    @property
    def span_ns(self) -> int | None:
        if self.span is None:
            return None
        first, last = (self.samples[n][0] for n in self.span)
        return last.time_ns - first.time_ns

    def loss_fraction(self) -> float | None:
        """The share of the bytes that came in the span that was dropped."""
        counts = self._span_counts()
        return None if counts is None else counts[1] / counts[0]

    def passed_bps(self) -> float | None:
        """IP bytes that passed while packets were dropped all the time: then the bucket is empty, and this its rate."""
        counts = self._span_counts()
        return None if counts is None else (counts[0] - counts[1]) * 8e9 / (self.span_ns or 1)

    def _span_counts(self) -> tuple[int, int] | None:
        """Bytes that came, and those that were dropped of them."""
        if self.span is None:
            return None
        first, last = (self.samples[n] for n in self.span)
        return last[0].bytes - first[0].bytes, last[1].bytes - first[1].bytes
