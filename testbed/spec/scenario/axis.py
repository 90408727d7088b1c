"""Axes: which keys can be varied, and what their values mean. Pure, no I/O.

An axis stands for a key of the topology, of the workload or of the scenario, and its values are read by the
very field that reads that key in a file. `dimension` has what a sweep makes of them.
"""

from __future__ import annotations

import decimal
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from ... import units
from ...codec.fault import Fault, Path
from ...codec.frozen import dataclass
from ...codec.keyed import Keyed, Kind, check, key, keys, named
from ...codec.kind import ANY, NO_LIST, SYSCTLS, number, word
from ...codec.scalar import SYSCTL_PATTERN, whole
from ...error import ValueRefused, nearest, one_of
from ...model.background import PATTERNS
from ...model.link.impairment import IMPAIRMENTS
from ...model.node.type import NODE_TYPES
from ...model.run_setting import Kernel
from ...model.workload.tool import TOOLS
from ..topology.file import NODE_FILES, LinkFile, TopologyFile
from ..topology.link.direction import WAYS
from ..topology.link.impaired import EITHER_OR, TOTALS
from ..topology.link.impairment import in_params, short
from ..topology.openflow import ControlFile
from .file import ScenarioFile

_DIRECTIONAL = tuple(row for row in IMPAIRMENTS.values() if row.varies_by_direction)
_WHOLE = tuple(key for row in IMPAIRMENTS.values() if not row.varies_by_direction for key in row.keys)
DIRECTIONAL = tuple(row.key for row in _DIRECTIONAL)
LINK_KEYS = (*(key for row in _DIRECTIONAL for key in row.keys), "mtu", "schedule", "wander", *_WHOLE)
CONTROL_KEYS = tuple(key for row in IMPAIRMENTS.values() if row.on_channel for key in row.keys)
"""Of the channel to a controller."""
SHORT = ("congestion", "window", "flows", "duration")
"""Keys of the workload that need no "workload." before them."""
WHOLE = ("nic", "ip", "neighbours", "kernel", "engine", "topology")
"""Keys of the scenario itself."""
SYSCTL = "sysctls."
"""Before the name of a sysctl of all hosts."""
EXCLUSIVE = {**EITHER_OR, "duration": "bytes", "bytes": "duration"}
"""Setting one of these takes the other away."""

_GENERAL = ("NODE.nic", "VM.KEY", "NODE.control.KEY", "workload.KEY", "background.NAME.KEY", "sysctls.NAME")
_ALLOWED = f"LINK.KEY (with {', '.join(LINK_KEYS)}), {', '.join((*_GENERAL, *SHORT, *WHOLE))}"


Part: TypeAlias = Literal["link", "node", "controller", "workload", "background", "scenario", "sysctl"]


@dataclass(frozen=True)
class AxisKey:
    """What an axis varies: `key` of the link, node, controller or background `name`, of the workload or of the
    scenario (name "").

    `text` is the canonical spelling; `way` is one direction of a link, or "" for both. A sysctl has its own name.
    """

    text: str
    part: Part
    name: str
    key: str
    way: str = ""

    def excludes(self, other: AxisKey) -> bool:
        """Whether the two set the same thing, or things of which there can be one only."""
        if (self.part, self.name) != (other.part, other.name):
            return False
        same = self.key == other.key and (self.way == other.way or not (self.way and other.way))
        return same or EXCLUSIVE.get(self.key) == other.key


@dataclass(frozen=True)
class Names:
    """What axes can refer to. `links` None is an unreadable topology, `tool` None an unknown tool.

    `backgrounds` has the pattern of each, None for an unknown one.

    Of several topologies, `links` and `hosts` are what all of them have, and `partial` what only some have.
    `types` are the node types that each host has in them.
    `topologies` are the files that an axis names, by what it says; None is one with problems of its own.
    """

    links: tuple[str, ...] | None
    hosts: tuple[str, ...]
    tool: str | None
    partial: tuple[str, ...] = ()
    topologies: Mapping[str, TopologyFile | None] = field(default_factory=dict)
    backgrounds: Mapping[str, str | None] = field(default_factory=dict)
    controllers: tuple[str, ...] = ()
    types: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Change:
    """One value of an axis: what it sets, to what, the canonical text of that, and where it is written.

    Only what is `shown` becomes part of a trial's params. A value that no line says is `derived` from a range.
    """

    key: AxisKey
    value: Any
    text: str
    path: Path
    shown: bool = True
    derived: bool = False


def canonical(text: str) -> str:
    """The spelling that stands in params: "flows" for "workload.flows"."""
    word = text.removeprefix("workload.")
    return word if word in SHORT else text


def members(text: str) -> tuple[str, ...]:
    """The axes, in canonical spelling, that a key of a sweep names: several in a group, "path.rtt+flows"."""
    return tuple(canonical(part.strip()) for part in text.split("+"))


def axis_key(text: str, names: Names) -> AxisKey | None:
    """None if it refers to what could not be read. Raises ValueRefused for what cannot be varied."""
    text = canonical(text)
    first, _, rest = text.partition(".")
    if text in WHOLE:
        return AxisKey(text, "scenario", "", text)
    if text in SHORT or (first == "workload" and rest):
        return _workload_key(text, rest or text, names)
    if first == "background" and "." in rest:
        return _background_key(text, rest, names)
    if first == "sysctls" and rest:
        return _sysctl_key(text, rest)
    if not rest:
        raise ValueRefused(f"unknown axis {text!r}", one_of((*SHORT, *WHOLE, "LINK.KEY", *_GENERAL), text))
    if names.links is None:
        return None
    if first in names.links:
        return _link_key(text, first, rest)
    if first in names.hosts:
        return _node_key(text, first, rest, names)
    if first in names.controllers:
        return _control_key(text, first, rest)
    if first in names.partial:
        raise ValueRefused(
            f"not every topology has a link or host {first!r}, and an axis varies it in all of them",
            ", ".join((*names.links, *names.hosts, *names.controllers)) or "names that all of them have",
        )
    near = nearest(first, (*names.links, *names.hosts, *names.controllers, "workload"))
    raise ValueRefused(
        f"there is no link or host {first!r}",
        _ALLOWED + (f" (did you mean '{near}.{rest}'?)" if near else ""),
    )


def read_value(key: AxisKey, data: Any, names: Names) -> tuple[Any, str, list[Fault]]:
    """The value that the key would have in its file, its canonical text, and what is wrong with it.

    A topology with problems of its own is None with nothing wrong.
    """
    if key.part == "sysctl":
        named, faults = SYSCTLS.checked({key.name: data})
        text = "" if named is None else dict(named)[key.name]
        return text, text, faults
    if key.key == "topology":
        return _read_topology(data, names)
    own = keys(_keys_of(key, names))[key.key]
    value, faults = own.checked({key.way: data} if key.way else data)
    if faults:
        return None, "", [_of_lists(fault, data) for fault in faults]
    written = own.full(value)
    one = written.get(key.way) if key.way and isinstance(written, dict) else written
    found = getattr(value, key.way) if key.way else value
    text = _text(value if isinstance(value, Kernel) else one)
    return found, in_params(key.key, text) if key.part == "link" else text, []


def _of_lists(fault: Fault, data: Any) -> Fault:
    """The same; of an axis whose values are lists it says so, as the axis itself is a list, too."""
    if fault.path or fault.what != NO_LIST:
        return fault
    one = f"{{{', '.join(f'{key}: {each}' for key, each in data.items())}}}" if isinstance(data, dict) else str(data)
    what = f"{NO_LIST}, and each value of this axis is one"
    return replace(fault, what=what, allowed=f"a list in the list of values, such as [[{one}]]")


def _read_topology(data: Any, names: Names) -> tuple[TopologyFile | None, str, list[Fault]]:
    if not isinstance(data, str):
        return (
            None,
            "",
            [
                Fault(
                    (), "this does not name a file", "a topology file, relative to the folder of this file", named=True
                )
            ],
        )
    if data not in names.topologies:
        return (
            None,
            "",
            [Fault((), f"{data!r} is not one of the topologies", one_of([*names.topologies], data), named=True)],
        )
    file = names.topologies[data]
    return file, file.name if file else "", []


def _keys_of(key: AxisKey, names: Names) -> type[Keyed]:
    if key.part == "workload":
        return TOOLS[names.tool or "flow"]
    if key.part == "background":
        return PATTERNS[names.backgrounds[key.name] or "constant"]
    if key.part == "node":
        return NODE_FILES[names.types[key.name][0]]
    classes: dict[str, type[Keyed]] = {"link": LinkFile, "controller": ControlFile, "scenario": ScenarioFile}
    return classes[key.part]


def _text(written: Any) -> str:
    """One line for what a file would say."""
    written = short(written)
    if isinstance(written, Kernel):
        return written.kind if written.name is None else f"{written.kind}:{written.name}"
    if isinstance(written, dict):
        return ", ".join(f"{key} {_text(value)}" for key, value in written.items())
    if isinstance(written, list):
        return " + ".join(map(_text, written))
    return "none" if written is None else str(written)


def _workload_key(text: str, key: str, names: Names) -> AxisKey | None:
    if names.tool is None:
        return None
    known = [each for each in TOOLS[names.tool].known_keys() if each != "tool"]
    if key not in known:
        raise ValueRefused(f"{names.tool} has no {key!r} to vary", one_of([f"workload.{each}" for each in known], text))
    return AxisKey(text, "workload", "", key)


def _background_key(text: str, rest: str, names: Names) -> AxisKey | None:
    name, _, key = rest.partition(".")
    if name not in names.backgrounds:
        allowed = one_of([f"background.{each}.{key}" for each in names.backgrounds], text)
        raise ValueRefused(f"there is no background {name!r} to vary", allowed or "names under the key 'background'")
    pattern = names.backgrounds[name]
    if pattern is None:
        return None
    known = [each for each in PATTERNS[pattern].known_keys() if each != "pattern"]
    if key not in known:
        allowed = one_of([f"background.{name}.{each}" for each in known], text)
        raise ValueRefused(f"{pattern} has no {key!r} to vary", allowed)
    return AxisKey(text, "background", name, key)


def _sysctl_key(text: str, name: str) -> AxisKey:
    if not re.fullmatch(SYSCTL_PATTERN, name):
        raise ValueRefused(f"{name!r} is not the name of a sysctl", "a name such as sysctls.net.ipv4.tcp_ecn")
    return AxisKey(text, "sysctl", name, "sysctls")


def _node_key(text: str, host: str, key: str, names: Names) -> AxisKey:
    types = names.types[host]
    known = [each for each in NODE_FILES[types[0]].varied if all(each in NODE_FILES[type].varied for type in types)]
    if key not in known:
        nouns = " or a ".join(dict.fromkeys(NODE_TYPES[type].noun for type in types))
        raise ValueRefused(f"a {nouns} has no {key!r} to vary", one_of([f"{host}.{each}" for each in known], text))
    return AxisKey(text, "node", host, key)


def _control_key(text: str, controller: str, rest: str) -> AxisKey:
    _, *keys = rest.split(".")
    known = [f"{controller}.control.{each}" for each in CONTROL_KEYS]
    if not (rest.startswith("control.") and keys[0] in CONTROL_KEYS):
        raise ValueRefused(f"a controller has no {rest!r} to vary", one_of(known, text))
    key, *way = keys
    if way and (len(way) > 1 or way[0] not in WAYS or key not in DIRECTIONAL):
        directed = TOTALS.get(key, key)
        ways = [f"{controller}.control.{directed}.{each}" for each in WAYS]
        raise ValueRefused(f"{key} has no {'.'.join(way)!r}", one_of([f"{controller}.control.{key}", *ways], text))
    return AxisKey(text, "controller", controller, key, *way)


def _link_key(text: str, link: str, rest: str) -> AxisKey:
    key, _, way = rest.partition(".")
    if key not in LINK_KEYS:
        raise ValueRefused(f"a link has no {key!r} to vary", one_of([f"{link}.{each}" for each in LINK_KEYS], text))
    if way and (way not in WAYS or key not in DIRECTIONAL):
        directed = TOTALS.get(key, key)
        ways = [f"{link}.{directed}.{each}" for each in WAYS if directed in DIRECTIONAL]
        raise ValueRefused(f"{key} has no {way!r}", one_of([f"{link}.{key}", *ways], text))
    return AxisKey(text, "link", link, key, way)


VALUES_MAX = 10_000
DIGITS, DIGITS_MAX = 3, 12
EXAMPLE = "{from: 1, to: 10, step: 1}"
NUMBERS = "a number with its unit"

Written = tuple[Any, str, list[Fault]]
"""A value as its field reads it, its canonical text, and what is wrong with it."""

POINTS = Kind(whole(2), schema=number(2, VALUES_MAX, "How many values, including both ends; instead of step."))

_LOG = decimal.Context(prec=40)
_ROUND = decimal.Context(prec=30)


@named
class RangeFile(Keyed):
    """The values between two ends, both of which belong to it."""

    first: Any = key("from", ANY, "The first value.")
    last: Any = key("to", ANY, "The last value; it may be the smaller one.")
    points: int | None = key("points", POINTS, default=None)
    step: Any = key("step", ANY, "The step from one value to the next; instead of points.", default=None)
    spacing: Literal["linear", "log"] | None = key(
        "spacing",
        word("linear", "log"),
        "The spacing of points: linear (equal differences) or log (equal ratios).",
        default=None,
    )

    def faults(self) -> Iterator[Fault]:
        if self.points is None and self.step is None:
            yield Fault((), "the range has neither points nor step", "one of the two", named=True)
        if self.points is not None and self.step is not None:
            yield Fault(("step",), "points and step exclude each other", "one of the two")
        if self.step is not None and self.spacing == "log":
            yield Fault(("spacing",), "a step is always linear", "points with spacing: log, or step alone")


@dataclass(frozen=True)
class Form:
    """How numbers of one kind are written: `text` with the number in base units, `units` in which one rounds."""

    text: str
    is_whole: bool
    units: tuple[int, ...] = (1,)

    def write(self, value: Fraction) -> str:
        exact = decimal.Context(prec=60).divide(decimal.Decimal(value.numerator), decimal.Decimal(value.denominator))
        return self.text.format(f"{exact:f}")

    def rounded(self, value: Fraction, digits: int) -> Fraction:
        """In the largest unit in which the rounded value is a whole number of base units."""
        for unit in self.units:
            found = _rounded(value / unit, digits) * unit
            if value >= unit and (found.denominator == 1 or not self.is_whole):
                return found
        found = _rounded(value, digits)
        return Fraction(_nearest(value)) if self.is_whole and found.denominator != 1 else found


_BINARY = (2**30, 2**20, 2**10)
_FORMS = {
    "one in": Form("1 in {}", is_whole=True),
    "bdp": Form("{} bdp", is_whole=False),
    "%": Form("{} %", is_whole=False),
    "": Form("{}", is_whole=True),
}
_QUANTITIES = (units.TIME, units.RATE, units.SIZE, units.PACKETS)
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+|/[0-9]+)?)\s*(\S*)")
_ONE_IN = re.compile(r"1 in ([0-9]+)")


def is_range(data: object) -> bool:
    """Whether this stands for values rather than being one: no value of an axis has one of these keys."""
    return isinstance(data, dict) and bool({"from", "to", "points", "step", "spacing"} & set(data))


def read_range(data: Any, read: Callable[[Any], Written]) -> tuple[list[Written], list[Fault]]:
    """The values of a range, each read by the axis's own field; or what is wrong, with paths from the range on."""
    file, faults = check(RangeFile, data)
    faults += [] if file is None else list(file.faults())
    if file is None or faults:
        return [], faults
    ends = {"from": read(file.first), "to": read(file.last)}
    faults = [fault.under(key) for key, end in ends.items() for fault in end[2]]
    if faults:
        return [], faults
    first, last = ends["from"], ends["to"]
    try:
        between = _between(file, first[1], last[1], lambda text: read(text)[1] or text)
    except ValueRefused as refused:
        return [], [Fault(refused.at, refused.what, refused.allowed, named=True)]
    values = [first, *map(read, between), last]
    return values, [fault for each in values for fault in each[2]]


def _between(file: RangeFile, first: str, last: str, canonical: Callable[[str], str]) -> list[str]:
    """What stands between the ends, as text. Raises ValueRefused, `at` the key that is wrong."""
    found = {name: _measured(text) for name, text in (("from", first), ("to", last))}
    for name, text in (("from", first), ("to", last)):
        if found[name] is None:
            raise ValueRefused(f"{text!r} is not {NUMBERS}, so no values lie between", "a list of values", (name,))
    (form, low), (other, high) = (each for each in found.values() if each is not None)
    if form != other:
        raise ValueRefused(f"{last!r} is of another kind than {first!r}", "two ends of one kind", ("to",))
    if low == high:
        raise ValueRefused("from and to are the same", "two different ends, or a list with the one value", ("to",))
    if file.points is None:
        values = _steps(form, low, high, file.step, lambda value: canonical(form.write(value)))
    else:
        _refuse_many(file.points, "points")
        values = _points(_form_as_written(form, file), low, high, file.points, file.spacing == "log")
    return [form.write(value) for value in values]


def _measured(text: str) -> tuple[Form, Fraction] | None:
    """How a text is written, and its number in base units; None if it is not a number."""
    one_in, match = _ONE_IN.fullmatch(text), _NUMBER.fullmatch(text)
    if one_in is not None:
        return _FORMS["one in"], Fraction(int(one_in[1]))
    if match is None:
        return None
    if match[2] in _FORMS:
        return _FORMS[match[2]], Fraction(match[1])
    for quantity in _QUANTITIES:
        unit = quantity.aliases.get(match[2], match[2])
        if unit in quantity.units:
            base = next(iter(quantity.units))
            return Form(f"{{}} {base}", is_whole=True), Fraction(match[1]) * quantity.units[unit]
    return None


def _form_as_written(form: Form, file: RangeFile) -> Form:
    """Sizes are rounded in KiB, MiB and GiB where the file writes both ends so."""
    is_binary = all(str(end).strip().endswith("iB") for end in (file.first, file.last))
    return Form(form.text, form.is_whole, _BINARY) if is_binary else form


def _steps(
    form: Form, low: Fraction, high: Fraction, written: Any, canonical: Callable[[Fraction], str]
) -> list[Fraction]:
    text = str(written).strip()
    kind, step = _measured(text) or (None, Fraction(0))
    if kind != form and not (form == _FORMS["one in"] and kind == _FORMS[""]):
        such = "a whole number" if form.text in ("{}", "1 in {}") else f"such as {canonical(abs(high - low))!r}"
        raise ValueRefused(f"{text!r} is not a step between {canonical(low)} and {canonical(high)}", such, ("step",))
    if not step:
        raise ValueRefused("the step is 0", "more than 0", ("step",))
    count, rest = divmod(abs(high - low), step)
    toward = step if high > low else -step
    if rest:
        before, after = (canonical(low + n * toward) for n in (count, count + 1))
        what = f"steps of {text} from {canonical(low)} lead to {before} and {after}, not to {canonical(high)}"
        raise ValueRefused(what, "a step that reaches the end", ("step",))
    _refuse_many(int(count) + 1, "step")
    return [low + n * toward for n in range(1, int(count))]


def _points(form: Form, low: Fraction, high: Fraction, points: int, is_log: bool) -> list[Fraction]:
    if is_log and not (low and high):
        what = "a range with spacing: log cannot begin or end at 0"
        raise ValueRefused(what, "more than 0, or spacing: linear", ("to" if low else "from",))
    exact = [_at(low, high, Fraction(n, points - 1), is_log) for n in range(1, points - 1)]
    for digits in range(DIGITS, DIGITS_MAX + 1):
        found = [form.rounded(value, digits) for value in exact]
        if _is_ordered([low, *found, high]):
            return found
    what = f"there are no {points} different values between {form.write(low)} and {form.write(high)}"
    raise ValueRefused(what, "fewer points", ("points",))


def _at(low: Fraction, high: Fraction, share: Fraction, is_log: bool) -> Fraction:
    """A share of the way: by decimal logarithms of 40 digits, which are the same on every machine."""
    if not is_log:
        return low + (high - low) * share
    ends, weight = ((_decimal(end).ln(_LOG)) for end in (low, high)), _decimal(share)
    first, last = ends
    power = _LOG.add(first, _LOG.multiply(weight, _LOG.subtract(last, first)))
    return Fraction(_ROUND.plus(power.exp(_LOG)))


def _decimal(value: Fraction) -> decimal.Decimal:
    return _LOG.divide(decimal.Decimal(value.numerator), decimal.Decimal(value.denominator))


def _rounded(value: Fraction, digits: int) -> Fraction:
    if not value:
        return value
    quantum = Fraction(10) ** (math.floor(math.log10(value)) - digits + 1)
    return _nearest(value / quantum) * quantum


def _nearest(value: Fraction) -> int:
    """The nearest whole number, of two the larger one."""
    return math.floor(value + Fraction(1, 2))


def _is_ordered(values: list[Fraction]) -> bool:
    pairs = list(itertools.pairwise(values))
    return all(a < b for a, b in pairs) or all(a > b for a, b in pairs)


def _refuse_many(count: int, key: str) -> None:
    if count > VALUES_MAX:
        raise ValueRefused(f"this makes {count} values", f"up to {VALUES_MAX}", (key,))
