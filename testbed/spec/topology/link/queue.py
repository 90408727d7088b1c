"""The queue of a bottleneck as a topology file writes it, and what is wrong with one. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from .... import units
from ....codec import scalar
from ....codec.fault import Fault
from ....codec.keyed import Kind
from ....codec.kind import matching
from ....error import ValueRefused, one_of
from ....model.link.queue import FIFO, QUEUES, TYPES, Parameter, Queue, QueueType, Unit, written
from ....model.topology import Link

ALLOWED = f"{', '.join(TYPES)}, or {{type: codel, target: 5 ms, …}}"
LIMITS = ("limit", "memlimit")
"""How tc calls what `buffer` says here."""


def read_queue(value: object) -> Queue | None:
    """None is a fifo."""
    if not isinstance(value, dict):
        return _queue(scalar.text_of(value, ALLOWED), {}, ())
    if "type" not in value:
        raise ValueRefused("the key 'type' is missing", f"type: {', '.join(TYPES)}")
    rest = {str(key): each for key, each in value.items() if key != "type"}
    return _queue(scalar.text_of(value["type"], ALLOWED), rest, ("type",))


def _queue(name: str, said: Mapping[str, Any], at: tuple[str, ...]) -> Queue | None:
    if name in (FIFO, "none"):
        if said:
            key = next(iter(said))
            raise ValueRefused(f"a fifo has no {key}: it drops when it is full", "buffer: how much it holds", (key,))
        return None
    kind = QUEUES.get(name)
    if kind is None:
        raise ValueRefused(f"{name!r} is no type of queue", one_of(TYPES, name), at)
    return Queue(name, tuple((key, _value(kind, key, said[key])) for key in _in_order(kind, said)))


def _in_order(kind: QueueType, said: Mapping[str, Any]) -> Iterator[str]:
    names = [each.name for each in kind.parameters]
    for key in said:
        if key not in names:
            raise ValueRefused(_unknown(kind, key), one_of(tuple(names), key), (key,))
    yield from (name for name in names if name in said)


def _unknown(kind: QueueType, key: str) -> str:
    if key in LIMITS:
        return f"the limit of a queue is the key 'buffer' of its link, not {key!r}"
    others = [each.name for each in QUEUES.values() if each.parameter(key) is not None]
    return f"{kind.name} has no parameter {key!r}" + (f", which {' and '.join(others)} have" if others else "")


def _value(kind: QueueType, key: str, value: Any) -> Any:
    parameter = kind.parameter(key)
    assert parameter is not None, "BUG: a parameter that nobody knows"
    try:
        found = _READERS[parameter.unit](parameter, value)
    except ValueRefused as refused:
        raise ValueRefused(refused.what, refused.allowed, (key,)) from None
    if parameter.unit not in ("flag", "choice") and not parameter.low <= found <= parameter.high:
        low, high = written(parameter, _of_bound(parameter, parameter.low)), _of_bound(parameter, parameter.high)
        raise ValueRefused(f"{value!r} is out of range", f"{low} to {written(parameter, high)}", (key,))
    return found


def _of_bound(parameter: Parameter, bound: int) -> Any:
    return Fraction(bound) if parameter.unit in ("share", "percent", "decimal") else bound


def _time(parameter: Parameter, value: Any) -> int:
    time_ns: int = scalar.quantity(units.parse_time, units.TIME.allowed)(value) or 0
    if time_ns % 1000:
        raise ValueRefused(f"{value!r} is not a whole number of microseconds", "1 us, 2 us, …")
    if parameter.name == "perturb" and time_ns % 10**9:
        raise ValueRefused(f"{value!r} is not a whole number of seconds", "1 s, 2 s, …")
    return time_ns


def _bytes(parameter: Parameter, value: Any) -> int:
    return scalar.byte_count(0, 2**31 - 1)(value)


def _number(parameter: Parameter, value: Any) -> int:
    found = scalar.whole(0, 2**31 - 1)(value)
    if parameter.name in ("divisor", "buckets") and found & (found - 1):
        raise ValueRefused(f"{found} is no power of two", "a power of two, such as 1024")
    return found


def _packets(parameter: Parameter, value: Any) -> int:
    text = scalar.text_of(value, "a number of packets")
    return units.parse_packets(text) if text.rstrip().endswith(("packets", "packet")) else _number(parameter, value)


def _share(parameter: Parameter, value: Any) -> Fraction:
    share = units.parse_fraction(scalar.text_of(value, "a share such as 2 %"))
    if not 0 < share <= 1:
        raise ValueRefused(f"{value!r} is out of range", "more than 0 % and up to 100 %")
    return share


def _percent(parameter: Parameter, value: Any) -> Fraction:
    percent = 100 * units.parse_fraction(scalar.text_of(value, "a share such as 10 %"))
    if percent.denominator != 1:
        raise ValueRefused(f"{value!r} is not a whole number of percent", "such as 10 %")
    return percent


def _rate(parameter: Parameter, value: Any) -> int:
    return scalar.quantity(units.parse_rate, units.RATE.allowed, low=1)(value) or 0


def _decimal(parameter: Parameter, value: Any) -> Fraction:
    text = str(value) if isinstance(value, float) else scalar.text_of(value, "a number such as 0.16")
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,9})?", text):
        raise ValueRefused(f"{text!r} is not a number", "a number such as 0.16")
    return Fraction(text)


def _flag(parameter: Parameter, value: Any) -> bool:
    return scalar.flag(value)


def _choice(parameter: Parameter, value: Any) -> str:
    word = scalar.text_of(value, ", ".join(parameter.choices))
    if word not in parameter.choices:
        raise ValueRefused(f"{word!r} is not known", one_of(parameter.choices, word))
    return word


_READERS: dict[Unit, Callable[[Parameter, Any], Any]] = {
    "time": _time,
    "packets": _packets,
    "bytes": _bytes,
    "number": _number,
    "flag": _flag,
    "share": _share,
    "percent": _percent,
    "rate": _rate,
    "decimal": _decimal,
    "choice": _choice,
}


def write_queue(queue: Queue | None) -> Any:
    if queue is None:
        return FIFO
    if not queue.asked:
        return queue.type
    return {"type": queue.type} | {name: _written(queue.kind, name, value) for name, value in queue.asked}


def _written(kind: QueueType, name: str, value: Any) -> Any:
    parameter = kind.parameter(name)
    if parameter is not None and parameter.unit == "number":
        return value
    return written(parameter, value)


def _parameter_schema(parameter: Parameter) -> dict[str, Any]:
    if parameter.unit == "choice":
        return {"enum": list(parameter.choices)}
    usual = "off, or as the link needs" if parameter.default is None else _written_default(parameter)
    about = {"description": f"tc's {parameter.name} ({parameter.unit}); default: {usual}."}
    return {"type": ["boolean", "string"] if parameter.unit == "flag" else ["string", "number"], **about}


def _written_default(parameter: Parameter) -> str:
    return str(parameter.default).lower() if parameter.unit == "flag" else str(written(parameter, parameter.default))


_TYPES_SCHEMA = [
    {
        "type": "object",
        "properties": {"type": {"const": row.name}}
        | {parameter.name: _parameter_schema(parameter) for parameter in row.parameters},
        "required": ["type"],
        "additionalProperties": False,
    }
    for row in QUEUES.values()
]
QUEUE = Kind(
    read_queue,
    write_queue,
    {
        "anyOf": [
            matching("^(" + "|".join(TYPES) + ")$", "The type of the queue.", "codel", none=True),
            {"type": "object", "properties": {"type": {"const": FIFO}}, "required": ["type"]},
            *_TYPES_SCHEMA,
        ]
    },
    none=FIFO,
)


def queue_faults(link: Link) -> Iterator[Fault]:
    """What is wrong between a queue and the rest of its link; paths begin at the link."""
    for way, direction in link.directions:
        queue = direction.queue
        if queue is None:
            continue
        if direction.rate_bps is None:
            what = f"without a rate nothing waits, and {queue.type} has nothing to do"
            yield Fault(("queue", way), what, "a rate on the link")
        if queue.type == "dualpi2" and link.emulator is not None:
            what = f"the tc of {link.emulator} may not know dualpi2, which our own program sets up on this computer"
            yield Fault(("queue", way), what, "another type, or no emulator on a machine")
        low, high = queue.value("min"), queue.value("max")
        if queue.type == "red" and low is not None and high is not None and low >= high:
            yield Fault(("queue", way), "red has a min that is not below its max", "min below max")


def later_faults(queue: Queue | None, before: Queue | None) -> str | None:
    """Why a schedule cannot lead from one queue to another; None if it can."""
    if queue is None or before is None or queue.type != before.type:
        return "a schedule cannot change the type of a queue: what waits in it would be lost"
    if not queue.kind.in_place:
        return f"a change of {queue.type} drops all that waits in it"
    for each in queue.kind.parameters:
        new, old = queue.value(each.name), before.value(each.name)
        if each.is_fixed and new != old:
            return f"{each.name} of {queue.type} is fixed when it is set up"
        if (new is None) != (old is None):
            return f"{each.name} of {queue.type} cannot be switched on or off later"
    return None
