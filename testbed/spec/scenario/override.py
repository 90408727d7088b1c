"""Options: `--set KEY=VALUE`, and a scenario's quick size, put into its document before the checks. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ...codec.fault import Path
from ...codec.frozen import dataclass
from ...error import Problem, SpecError, one_of
from ...model.workload.tool import TOOLS
from ..syntax.document import Document, Position, mapping, parse
from .axis import LINK_KEYS, SHORT, SYSCTL, WHOLE, is_range, members
from .file import ScenarioFile

INSTEAD = {"repetitions": "until", "until": "repetitions"}
"""Setting one of these takes the other away."""


@dataclass(frozen=True)
class Option:
    """One setting: its key, and its value, whose position is that of the option."""

    key: str
    value: Document

    @property
    def position(self) -> Position:
        return self.value.positions[()]

    def refused(self, what: str, allowed: str | None) -> SpecError:
        return SpecError([Problem(self.position.file, self.position.line, what, allowed)])


@dataclass(frozen=True)
class Changed:
    """A scenario document with every option in its place.

    `unshown` are the keys of those axes that stand for one fixed value. `is_strict` says whether the exclude rules were
    written for the axes as they now are.
    """

    document: Document
    unshown: frozenset[str] = frozenset()
    is_strict: bool = True


def with_options(document: Document, settings: Sequence[str], quick: bool = False) -> Changed:
    """The document with the options of its quick size, if that is wanted, and then with KEY=VALUE `settings`.

    Of two options for one key the last holds; what axes can be comes after the other keys, such as the whole
    sweep. A fault in an option names the option. Raises SpecError for options that cannot be read.
    """
    problems: list[Problem] = []
    read: list[Option] = []
    for setting in settings:
        try:
            read.append(_option(setting))
        except SpecError as error:
            problems += error.problems
    changed = Changed(document)
    for options in (_quick(document) if quick else [], read):
        changed = _applied(changed, options, problems)
    if problems:
        raise SpecError(problems)
    return changed


def _option(setting: str) -> Option:
    position = Position(f"--set {setting}", is_option=True)
    key, equals, text = setting.partition("=")
    if not (equals and key.strip()):
        raise SpecError([Problem(position.file, None, "this is not KEY=VALUE", "such as path.rtt='20 ms' or seed=7")])
    option = Option(key.strip(), Document(None, {(): position}))
    _refuse_unknown(option)
    return replace(option, value=parse(text, position))


def _quick(document: Document) -> list[Option]:
    """The settings of the quick size. Raises SpecError if there is no such size."""
    settings = mapping(document.data).get("quick")
    if "quick" not in mapping(document.data):
        what = "this scenario has no 'quick' size"
        raise SpecError([Problem(document.positions[()].file, None, what, "no --quick")])
    return [Option(key, document.at("quick", key)) for key in mapping(settings) if key != "note"]


def _applied(changed: Changed, options: Iterable[Option], problems: list[Problem]) -> Changed:
    keys: set[str] = set()
    for option in sorted(options, key=lambda option: _can_vary(option.key)):
        try:
            _refuse_unknown(option)
            changed = _with_option(changed, option)
        except SpecError as error:
            problems += error.problems
        keys.add(option.key)
    touched = any(_can_vary(key) or key.partition(".")[0] == "sweep" for key in keys)
    return replace(changed, is_strict="exclude" in keys or (changed.is_strict and not touched))


def _with_option(changed: Changed, option: Option) -> Changed:
    document, unshown, value = changed.document, changed.unshown, option.value
    axis = option.key.removeprefix("sweep.")
    known = _as_written(document, axis)
    is_many = isinstance(value.data, list) or is_range(value.data)
    if axis == option.key and not _is_axis(axis, is_many or known is not None):
        return replace(
            changed, document=_without(document, INSTEAD.get(axis.partition(".")[0])).grafted(_path(axis), value)
        )
    group = next(
        (text for text in _sweep(document) if text != known and set(members(axis)) <= set(members(text))), None
    )
    if group is not None:
        raise option.refused(f"{axis} varies in the group {group!r}", f"the whole group: {group}, as a list of rows")
    written = axis if known is None else known
    if is_many:
        return replace(changed, document=document.grafted(("sweep", written), value), unshown=unshown - {written})
    is_fixed = axis == option.key and (known is None or known in unshown)
    unshown = unshown | {written} if is_fixed else unshown - {written}
    return replace(changed, document=document.grafted(("sweep", written), _listed(value)), unshown=unshown)


def _can_vary(key: str) -> bool:
    """Whether an axis can have this key; "topology", sysctls and background are keys of the scenario as well."""
    first, _, rest = key.partition(".")
    return (
        key in (*SHORT, *WHOLE)
        or key.startswith(SYSCTL)
        or "+" in key
        or (first == "workload" and rest not in ("", "tool"))
        or _is_of_background(key)
        or first not in ScenarioFile.known_keys()
    )


def _is_axis(key: str, is_varied: bool) -> bool:
    """Whether the cells, rather than the scenario itself, have this key."""
    return _can_vary(key) and (is_varied or not (key == "topology" or key.startswith(SYSCTL) or _is_of_background(key)))


def _is_of_background(key: str) -> bool:
    """Whether it is background.NAME.KEY."""
    return key.startswith("background.") and key.count(".") == 2


def _refuse_unknown(option: Option) -> None:
    key, known = option.key, (*(each for each in ScenarioFile.known_keys() if each != "quick"), *SHORT)
    if key.partition(".")[0] == "quick":
        raise option.refused("options cannot change the quick size", "the key itself, without 'quick.'")
    if not set(".+") & set(key) and key not in known:
        raise option.refused(f"unknown key {key!r}", _longer(key) or one_of((*known, "LINK.KEY"), key))


def _longer(key: str) -> str | None:
    """The full names of what is a key of a link or a workload; None if it is neither."""
    of_workload = [f"workload.{key}"] if any(key in tool.known_keys() for tool in TOOLS.values()) else []
    of_link = [f"LINK.{key} with the name of a link, such as path.{key}"] if key in LINK_KEYS else []
    return ", or ".join((*of_workload, *of_link)) or None


def _path(key: str) -> Path:
    """The steps to a key of the scenario file; the name of a sysctl has dots of its own."""
    return tuple(key.split(".", 1) if key.startswith(SYSCTL) else key.split("."))


def _sweep(document: Document) -> Iterable[str]:
    return mapping(mapping(document.data).get("sweep"))


def _as_written(document: Document, axis: str) -> str | None:
    """How the file spells an axis or a group, if it has it."""
    return next((key for key in _sweep(document) if members(key) == members(axis)), None)


def _without(document: Document, key: str | None) -> Document:
    data = {each: value for each, value in mapping(document.data).items() if each != key}
    if key is None or not data:
        return document
    positions = {path: position for path, position in document.positions.items() if path[:1] != (key,)}
    return Document(data, positions, tuple(fault for fault in document.faults if fault.path[:1] != (key,)))


def _listed(value: Document) -> Document:
    positions = {(): value.positions[()], **{(0, *path): position for path, position in value.positions.items()}}
    return replace(value, data=[value.data], positions=positions, faults=tuple(each.under(0) for each in value.faults))
