"""What a link does, in words: rate, round-trip time by direction, loss, buffer. Pure, no I/O.

Over the trials of a run each fact has the values that it had in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .. import units
from ..model.impairment import Direction, Loss
from ..model.topology import Link
from ..spec.topology.impairment import write_buffer, write_jitter, write_loss

MANY = 4
"""With more values than this the first and the last are named."""
THERE, BACK = "→", "←"


@dataclass(frozen=True)
class Fact:
    """`values` are what it was in the trials, in their order; arrows point from the link's first end to its second."""

    name: str
    values: tuple[str, ...]

    @property
    def text(self) -> str:
        if len(self.values) > MANY:
            return f"{self.values[0]} … {self.values[-1]} ({len(self.values)} values)"
        return " | ".join(self.values)

    def turned(self) -> Fact:
        """The same, drawn from right to left."""
        swap = str.maketrans({THERE: BACK, BACK: THERE})
        return Fact(self.name.translate(swap), tuple(each.translate(swap) for each in self.values))


def facts(links: Sequence[Link]) -> tuple[Fact, ...]:
    """The facts of one link, as it was in several trials; those that no trial has are left out."""
    found = []
    for name, of in _FACTS:
        values = [of(link) for link in dict.fromkeys(links)]
        if any(value is not None for value in values):
            found.append(Fact(name, tuple(dict.fromkeys("none" if value is None else value for value in values))))
    return tuple(found)


def _both(link: Link, of: Callable[[Direction], Any], write: Callable[[Any], str]) -> str | None:
    """One value where both directions have the same."""
    there, back = of(link.forward), of(link.backward)
    if there == back:
        return None if there is None else write(there)
    words = [f"{arrow} {write(value)}" for arrow, value in ((THERE, there), (BACK, back)) if value is not None]
    return ", ".join(words)


def _time(time_ns: int) -> str | None:
    return units.format_time(time_ns) if time_ns else None


def _loss(link: Link) -> str | None:
    if link.data_loss is not None:
        return f"{loss_text(link.data_loss)} of data"
    return _both(link, lambda way: way.loss, loss_text)


def loss_text(loss: Loss) -> str:
    """Such as "1 in 10000" or "random 0.1 %"."""
    written = write_loss(loss)
    if not isinstance(written, dict):
        return str(written)
    if "every" in written:
        return f"1 in {written['every']}, phase {written['phase']}"
    return ", ".join(f"{key} {_inner(value)}" for key, value in written.items())


def _inner(value: Any) -> str:
    return " ".join(f"{key}={each}" for key, each in value.items()) if isinstance(value, dict) else str(value)


def _jitter(written: Any) -> str:
    text = write_jitter(written)
    return text if isinstance(text, str) else f"{text['sd']} {text['distribution']}"


def _policy(link: Link) -> str | None:
    asked: Iterable[Any] = (link.data_policy, link.forward.policy, link.backward.policy)
    texts = [
        f"{units.format_rate(each.rate_bps)} after {units.format_size(each.low_bytes)}"
        + (f" to {units.format_size(each.high_bytes)}" if each.high_bytes != each.low_bytes else "")
        for each in asked
        if each is not None
    ]
    return ", ".join(dict.fromkeys(texts)) or None


_FACTS: tuple[tuple[str, Callable[[Link], str | None]], ...] = (
    ("rate", lambda link: _both(link, lambda way: way.rate_bps, units.format_rate)),
    ("RTT", lambda link: _time(link.rtt_ns)),
    (f"one way {THERE}", lambda link: _time(link.forward.delay_ns)),
    (f"one way {BACK}", lambda link: _time(link.backward.delay_ns)),
    ("jitter", lambda link: _both(link, lambda way: way.jitter, _jitter)),
    ("loss", _loss),
    ("buffer", lambda link: _both(link, lambda way: way.buffer, write_buffer)),
    ("policy", _policy),
    ("MTU", lambda link: None if link.mtu_bytes == 1500 else f"{link.mtu_bytes} bytes"),
    ("changes while it runs", lambda link: str(len(link.schedule)) if link.schedule else None),
)
