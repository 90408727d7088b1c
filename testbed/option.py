"""`--set KEY=VALUE` options, put into a scenario document before it is checked. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .axis import SHORT, WHOLE, canonical
from .document import Document, Path, Place, mapping, parse
from .error import Problem, SpecError, one_of
from .scenariofile import ScenarioFile


def with_options(document: Document, settings: Sequence[str]) -> tuple[Document, frozenset[str]]:
    """The document with every option in its place, and the keys of those axes that stand for one fixed value.

    Of two options for one key the last holds; what axes can be comes after the other keys, such as the whole
    sweep. A place that came from an option is named by it. Raises SpecError for options that cannot be read.
    """
    problems: list[Problem] = []
    fixed: frozenset[str] = frozenset()
    for setting in sorted(settings, key=lambda setting: _is_axis(setting.partition("=")[0].strip())):
        try:
            document, fixed = _with_option(document, setting, fixed)
        except SpecError as error:
            problems += error.problems
    if problems:
        raise SpecError(problems)
    return document, fixed


def _with_option(document: Document, setting: str, fixed: frozenset[str]) -> tuple[Document, frozenset[str]]:
    place = Place(f"--set {setting}")
    key, equals, text = setting.partition("=")
    key = key.strip()
    if not (equals and key):
        raise SpecError([Problem(place.file, None, "this is not KEY=VALUE", "such as path.rtt='20 ms' or seed=7")])
    _refuse_unknown(key, place)
    value = parse(text, place)
    axis = key.removeprefix("sweep.")
    if axis == key and not _is_axis(key):
        return document.grafted(_path(key), value), fixed
    known = _as_written(document, axis)
    written = axis if known is None else known
    if isinstance(value.data, list):
        return document.grafted(("sweep", written), value), fixed - {written}
    is_fixed = axis == key and (known is None or known in fixed)
    return document.grafted(("sweep", written), _listed(value)), fixed | {written} if is_fixed else fixed - {written}


def _is_axis(key: str) -> bool:
    """Whether the cells, rather than the scenario itself, have this key."""
    first, _, rest = key.partition(".")
    return (
        key in (*SHORT, *WHOLE)
        or (first == "workload" and rest not in ("", "tool"))
        or first not in ScenarioFile.known_keys()
    )


def _refuse_unknown(key: str, place: Place) -> None:
    known = (*ScenarioFile.known_keys(), *SHORT)
    if "." not in key and key not in known:
        raise SpecError([Problem(place.file, None, f"unknown key {key!r}", one_of((*known, "LINK.KEY"), key))])


def _path(key: str) -> Path:
    """The steps to a key of the scenario file; the name of a sysctl has dots of its own."""
    return tuple(key.split(".", 1) if key.startswith("sysctls.") else key.split("."))


def _as_written(document: Document, axis: str) -> str | None:
    """How the file spells an axis, if it has it."""
    axes = mapping(mapping(document.data).get("sweep"))
    return next((key for key in axes if canonical(key) == canonical(axis)), None)


def _listed(value: Document) -> Document:
    places = {(): value.places[()], **{(0, *path): place for path, place in value.places.items()}}
    return replace(value, data=[value.data], places=places, faults=tuple(each.under(0) for each in value.faults))
