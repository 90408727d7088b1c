"""Policing: what a volume policy did, from samples of its counters. Pure, no I/O."""

from __future__ import annotations

from ...codec.frozen import dataclass
from ...plan.link.stage import Policing
from ..observe.sample import CounterSample


@dataclass(frozen=True)
class Policed:
    """`policed_packets` were dropped in total. `samples` are pairs of counters: what had come, what was dropped of it.

    `offered_bytes` are the IP bytes that came from the network's set-up to the end, `policed_bytes` those dropped.
    """

    policed_packets: int
    offered_bytes: int
    policed_bytes: int
    samples: tuple[tuple[CounterSample, CounterSample], ...]

    def crossed_ns(self, policing: Policing) -> int | None:
        """When the volume was reached (CLOCK_MONOTONIC), interpolated between two samples; None if it never was."""
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
        """The numbers of the first and the last sample of the longest time in which packets were policed; None if fewer
        than three intervals in a row had drops. It goes from the end of the first of them to the beginning of the last:
        within these two, packets may have come for a part of the time only.
        """
        rows: list[list[int]] = [[]]
        for n in range(1, len(self.samples)):
            if self.samples[n][1].packets > self.samples[n - 1][1].packets:
                rows[-1].append(n)
            elif rows[-1]:
                rows.append([])
        longest = max(rows, key=len)
        return (longest[0], longest[-2]) if len(longest) > 2 else None

    @property
    def span_ns(self) -> int | None:
        if self.span is None:
            return None
        first, last = (self.samples[n][0] for n in self.span)
        return last.time_ns - first.time_ns

    def loss_fraction(self) -> float | None:
        """The dropped share of the bytes that came in the span."""
        counts = self._span_counts()
        return None if counts is None else counts[1] / counts[0]

    def passed_bps(self) -> float | None:
        """The rate of the IP packets that passed in the span, in bit/s: that of the bucket, which is empty then."""
        counts = self._span_counts()
        return None if counts is None else (counts[0] - counts[1]) * 8e9 / (self.span_ns or 1)

    def _span_counts(self) -> tuple[int, int] | None:
        """The bytes that came in the span, and the bytes that were dropped of them."""
        if self.span is None:
            return None
        first, last = (self.samples[n] for n in self.span)
        return last[0].bytes - first[0].bytes, last[1].bytes - first[1].bytes
