"""The link that is built of a fit: each key with its value, and where that is from. Pure, no I/O."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .. import units
from ..error import UserError
from .fit.fitted import Fitted
from .fit.path import WAYS, PathFit
from .measurement import Way

NAME = "path"
TRACE = "measured.trace"
"""The copy of a trace in the folder of a calibration, whatever the file was called."""
DIGITS = 5
BACK = {"forward": "backward", "backward": "forward"}
REPLACES = {
    "shaper": ("rate",),
    "trace": ("rate", "shaper"),
    "rate": ("shaper",),
    "delay": ("rtt",),
    "wander": ("jitter",),
}
"""Keys of a link that exclude others."""
ORDER = ("rate", "rtt", "jitter", "loss", "buffer", "shaper", "policer", "per_flow", "trace", "mtu")


@dataclass(frozen=True)
class Chosen:
    """A number that the link has; `why` is its provenance in a line. `tunes`: trials may refine it. `like` is the
    number that it is assumed to equal.
    """

    value: float
    why: str
    tunes: bool = False
    like: str | None = None


@dataclass(frozen=True)
class LinkFit:
    """`numbers` by name, such as "rtt" or "buffer.forward"; `asked` are keys of the user's own, as they stand in a
    topology. `lacks` are keys that nothing tells, with the reason.
    """

    numbers: Mapping[str, Chosen]
    asked: Mapping[str, Any]
    lacks: Mapping[str, str]
    trace: str | None = None
    mtu: int | None = None

    def with_numbers(self, values: Mapping[str, float], why: str) -> LinkFit:
        """With some numbers refined."""
        changed = {
            name: replace(self.numbers[name], value=value, why=f"{self.numbers[name].why}; {why}")
            for name, value in values.items()
        }
        numbers = {**self.numbers, **changed}
        for name, chosen in numbers.items():  # a direction that nobody measured stays as the other one
            if chosen.like is not None:
                numbers[name] = replace(chosen, value=numbers[chosen.like].value)
        return replace(self, numbers=numbers)

    def keys(self) -> dict[str, Any]:
        """The keys of the link, as a topology file has them."""
        found: dict[str, Any] = {}
        if self.trace is not None:
            found["trace"] = TRACE
        else:
            found |= self._rates()
        found["rtt"] = units.format_time(round(self.numbers["rtt"].value * 1e6) * 1000)
        if "jitter" in self.numbers:
            sd_ns = round(self.numbers["jitter"].value / math.sqrt(2) * 1e6) * 1000
            if sd_ns:
                found["jitter"] = {"sd": units.format_time(sd_ns), "distribution": "normal"}
        losses = {way: self._loss(way) for way in WAYS}
        if set(losses.values()) != {"none"}:
            found["loss"] = {way: "none" if each == "none" else {"random": each} for way, each in losses.items()}
        if self.mtu is not None and self.mtu != 1500:
            found["mtu"] = str(self.mtu)
        for asked in REPLACES.keys() & self.asked.keys():
            for key in REPLACES[asked]:
                found.pop(key, None)
        found |= self.asked
        return {key: found[key] for key in sorted(found, key=lambda key: ORDER.index(key) if key in ORDER else 99)}

    def _rates(self) -> dict[str, Any]:
        found: dict[str, dict[str, Any]] = {"rate": {}, "shaper": {}, "buffer": {}, "per_flow": {}}
        for way in WAYS:
            if f"bucket_rate.{way}" in self.numbers:
                names = ("rate", "burst", "refill")
                rate, burst, refill = (self.numbers[f"bucket_{name}.{way}"].value for name in names)
                found["shaper"][way] = {
                    "rate": _rate(rate),
                    "burst": f"{round(burst)} B",
                    "refill": _rate(refill),
                }
            elif f"rate.{way}" in self.numbers:
                found["rate"][way] = _rate(self.numbers[f"rate.{way}"].value)
            if f"per_flow.{way}" in self.numbers:
                found["per_flow"][way] = _rate(self.numbers[f"per_flow.{way}"].value)
            if f"buffer.{way}" in self.numbers:
                found["buffer"][way] = f"{max(1, round(self.numbers[f'buffer.{way}'].value))} B"
        if found["buffer"] and len(found["buffer"]) < 2:
            found["buffer"] = dict.fromkeys(WAYS, *found["buffer"].values())
        return {key: _both(value) for key, value in found.items() if value}

    def _loss(self, way: Way) -> str:
        chosen = self.numbers.get(f"loss.{way}")
        if chosen is None or chosen.value <= 0:
            return "none"
        return f"{max(chosen.value * 100, 3e-8):.10f}".rstrip("0").rstrip(".") + " %"


def _both(value: Mapping[str, Any]) -> Any:
    """One value for both directions if they are alike."""
    values = list(value.values())
    return values[0] if len(values) == 2 and values[0] == values[1] else dict(value)


def _rate(rate_bps: float) -> str:
    """To five digits, and a multiple of 8 bit/s."""
    step = 10 ** max(0, math.floor(math.log10(rate_bps)) - DIGITS + 1)
    return units.format_rate(max(8, round(rate_bps / step) * step // 8 * 8))


def chosen(fit: PathFit, asked: Mapping[str, Any]) -> LinkFit:
    """What is built. Raises UserError if the files tell no rate or no round-trip time, and none was given."""
    numbers: dict[str, Chosen] = {}
    lacks: dict[str, str] = {}
    rtt = fit.of("rtt")
    if rtt.value is not None:
        numbers["rtt"] = Chosen(rtt.value, _why(rtt), tunes=False)
    elif "rtt" not in asked and "delay" not in asked:
        raise UserError(f"no link can be built: {rtt.rule}; allowed: a ping without load, or --set path.rtt='50 ms'")
    else:
        numbers["rtt"] = Chosen(0.0, "set by you")
    jitter = fit.of("jitter")
    base_s = numbers["rtt"].value
    if jitter.is_known and jitter.value and base_s and jitter.value / math.sqrt(2) > base_s / 2:
        lacks["jitter"] = f"a deviation of {in_unit(jitter.value, 's')} is more than a delay can vary by"
    elif jitter.is_known and jitter.value:
        numbers["jitter"] = Chosen(jitter.value, f"{_why(jitter)}; half of its variance in each direction (assumed)")
    else:
        lacks["jitter"] = jitter.rule
    ways = [way for way in WAYS if fit.measured(way) or fit.of("bucket_rate", way).is_known]
    if not ways and not {"rate", "shaper", "trace"} & set(asked) and fit.trace is None:
        why = fit.of("rate", "forward").rule
        raise UserError(f"no link can be built: {why}; allowed: a transfer, or --set path.rate='100 Mbit/s'")
    for way in ways:
        _of_way(fit, way, numbers, lacks)
    for way in WAYS:
        if way not in ways and ways:
            _assumed(way, ways[0], numbers)
    return LinkFit(numbers, dict(asked), lacks, None if {"rate", "shaper"} & set(asked) else fit.trace, fit.mtu)


def _of_way(fit: PathFit, way: Way, numbers: dict[str, Chosen], lacks: dict[str, str]) -> None:
    if fit.of("bucket_rate", way).is_known:
        for name in ("bucket_rate", "bucket_burst", "bucket_refill"):
            each = fit.of(name, way)
            assert each.value is not None, "BUG: a bucket without a number"
            numbers[f"{name}.{way}"] = Chosen(each.value, _why(each), tunes=True)
    else:
        each = fit.of("rate", way)
        assert each.value is not None, "BUG: a direction without a rate"
        numbers[f"rate.{way}"] = Chosen(each.value, _why(each), tunes=each.is_known)  # a bound is not what limited
    for name in ("buffer", "loss"):
        each = fit.of(name, way)
        if each.value is None:
            lacks[f"{name}.{way}"] = each.rule
        else:
            numbers[f"{name}.{way}"] = Chosen(each.value, _why(each), tunes=True)
    _per_flow(fit, way, numbers, lacks)


def _per_flow(fit: PathFit, way: Way, numbers: dict[str, Chosen], lacks: dict[str, str]) -> None:
    """The cap of each flow, where several get more than one."""
    each = fit.fitted.get(f"per_flow.{way}")
    if each is None or each.value is None:
        return
    of_all = next((numbers[name] for name in (f"bucket_rate.{way}", f"rate.{way}") if name in numbers), None)
    if of_all is not None and of_all.value <= each.value:
        lacks[f"per_flow.{way}"] = f"{in_unit(each.value, 'bit/s')} for a flow is what all get together"
    else:
        numbers[f"per_flow.{way}"] = Chosen(each.value, _why(each))


def _assumed(way: Way, like: Way, numbers: dict[str, Chosen]) -> None:
    """A direction that nobody measured is like the other one, without its losses."""
    for name in ("rate", "buffer", "bucket_rate", "bucket_burst", "bucket_refill", "per_flow"):
        other = numbers.get(f"{name}.{like}")
        if other is not None:
            why = f"not measured: assumed to be as {like}"
            numbers[f"{name}.{way}"] = Chosen(other.value, why, like=f"{name}.{like}")


def _why(each: Fitted) -> str:
    span = interval_words(each)
    status = {"identified": "", "bound": " (only a bound)"}.get(each.status, "")
    files = f"; from {', '.join(each.sources)}" if each.sources else ""
    return f"{each.rule}{status}{f'; {span}' if span else ''}{files}"


def interval_words(each: Fitted) -> str:
    """The interval in words, empty if there is none."""
    low, high = (None if end is None else in_unit(end, each.unit) for end in (each.low, each.high))
    if low and high:
        return f"95 %: {low} to {high}"
    return f"at least {low}" if low else f"at most {high}" if high else ""


UNITS: Mapping[str, Sequence[tuple[float, str]]] = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")),
    "bit/s": ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")),
    "B": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
}


def in_unit(value: float, unit: str, digits: int = 4) -> str:
    """A number for people: "20.41 ms"."""
    if unit == "ratio":
        return f"{value:.3g}" if value > 0.01 or value == 0 else f"{value:.2e}"
    scale, word = next(((s, w) for s, w in UNITS[unit] if abs(value) >= s), UNITS[unit][-1])
    shown = f"{value / scale:.{digits}g}"
    return f"{float(shown):g} {word}" if "e" in shown else f"{shown} {word}"
