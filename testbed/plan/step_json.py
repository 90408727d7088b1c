"""Steps as the JSON that `agent.step` documents, and back. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any

from .step import (
    TIMELINE,
    Await,
    AwaitCables,
    Bring,
    LendNics,
    Location,
    Moment,
    Needs,
    ReachMachine,
    ReachVm,
    Read,
    Run,
    Serve,
    Sleep,
    Step,
    Stop,
    Timeline,
    Write,
)

WHERE = "where"


@dataclass(frozen=True)
class Told:
    """What a key always has: text in which the step can be named, or another value."""

    value: Any


@dataclass(frozen=True)
class Form:
    """A kind of step in JSON. The agent knows it by the keys `marks`. `keys` has its keys in order, each with the field
    that it holds; WHERE stands for the keys of a location.
    """

    marks: tuple[str, ...]
    keys: Mapping[str, str | Told]


def _own(*names: str) -> dict[str, str]:
    return {name: name for name in names}


def _remote(mark: str, title: str, keys: Mapping[str, str | Told]) -> Form:
    way: dict[str, str | Told] = {"title": Told(title), "reach": "node", "by": Told("machine"), "machine": "machine"}
    return Form(("reach", mark), {**way, **keys})


OPTIONS = ("out", "err", "background", "may_fail", "timeout_s")
"""Keys of a program, which may say None or False."""

FORMS: dict[type[Step], Form] = {
    Run: Form(("run",), {"title": "title", "run": "words", **_own("stdin", WHERE, *OPTIONS)}),
    Stop: Form(("stop",), {"stop": "name"}),
    Write: Form(("write",), {"write": "values", WHERE: WHERE}),
    Read: Form(("read",), {"title": "title", "read": "files", **_own(WHERE, "of")}),
    Await: Form(("await",), {"title": Told("wait for programs"), "await": "names", "watched": "watched"}),
    Bring: Form(("bring",), {"bring": "files", WHERE: WHERE}),
    Sleep: Form(("sleep",), {"sleep": "seconds"}),
    ReachMachine: _remote("needs", "reach {0.machine}", _own("needs", "tools", "out")),
    LendNics: _remote("nics", "lend {0.machine}", {"inside": "netns", "nics": "nics"}),
    AwaitCables: _remote("is_built", "cables of {0.node}", {"inside": "netns", "is_built": Told(True)}),
    ReachVm: Form(
        ("reach", "program"),
        {
            **{"title": Told("wait for {0.node}"), "reach": "node", "by": Told("vm")},
            **_own("program", "console", "socket", "limit_s", "devices"),
        },
    ),
    Timeline: Form(
        ("timeline",),
        {"title": Told(TIMELINE), "timeline": "moments", "background": Told(TIMELINE), "begin": "begin"},
    ),
    Serve: Form(("serve",), {"title": Told("up"), "serve": "channel"}),
}

PAIRS = ("files", "devices", "probes", "versions", "sysctls")
"""Fields that hold pairs, which are a mapping in JSON."""


def data(step: Step) -> dict[str, Any]:
    """The step for JSON. A key whose field has nothing, or its default, is left out."""
    form = next((form for kind, form in FORMS.items() if isinstance(step, kind)), None)
    assert form is not None, f"BUG: no JSON for a step of type {type(step).__name__}"
    defaults = {each.name: each.default for each in fields(step)}
    found: dict[str, Any] = {}
    for key, name in form.keys.items():
        if isinstance(name, Told):
            found[key] = name.value.format(step) if isinstance(name.value, str) else name.value
        elif (value := getattr(step, name)) is not None and value != defaults[name]:
            found |= value.data() if isinstance(value, Location) else {key: _written(name, value)}
    return found


def step_of(found: Mapping[str, Any]) -> Step:
    """The step of which `data` is `found`. What starts a controller or a machine comes back as `Run`.

    Raises ValueError for a key that no step has, or not a step of this kind, and for one that is missing.
    """
    kind = next((kind for kind, form in FORMS.items() if found.keys() >= {*form.marks}), None)
    if kind is None:
        raise ValueError(f"no step has the keys {', '.join(found)}")
    held: dict[str, Any] = {"title": None} if kind is Read else {}
    if not found.keys().isdisjoint(("netns", "on")):
        held[WHERE] = Location(found.get("netns"), found.get("on"))
    keys = {key: name for key, name in FORMS[kind].keys.items() if isinstance(name, str)}
    held |= {name: _read(name, found[key]) for key, name in keys.items() if key in found}
    needed = {each.name for each in fields(kind) if each.default is MISSING}
    for key, name in keys.items():
        if name in needed - held.keys():
            raise ValueError(f"a step with the keys {', '.join(found)} has no {key!r}")
    step = kind(**{name: value for name, value in held.items() if name in keys.values()})
    _only(found, (*data(step), *(OPTIONS if kind is Run else ())))
    return step


def _written(name: str, value: Any) -> Any:
    if isinstance(value, Moment | Needs):
        return {each.name: _written(each.name, getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, tuple):
        return {key: _written("", each) for key, each in value} if name in PAIRS else [_written("", v) for v in value]
    return data(value) if type(value) in FORMS or isinstance(value, Run) else value


def _read(name: str, found: Any) -> Any:
    return READERS.get(name, _tuple)(found)


def _tuple(found: Any) -> Any:
    return tuple(map(_tuple, found)) if isinstance(found, list | tuple) else found


def _pairs(found: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple((key, _tuple(value)) for key, value in found.items())


def _part(kind: type[Moment] | type[Needs]) -> Callable[[Mapping[str, Any]], Any]:
    names = tuple(each.name for each in fields(kind))

    def read(found: Mapping[str, Any]) -> Any:
        _only(found, names)
        lacking = [name for name in names if name not in found]
        if lacking:
            raise ValueError(f"a step has no {lacking[0]!r}")
        return kind(**{name: _read(name, found[name]) for name in names})

    return read


def _steps(found: list[Mapping[str, Any]]) -> tuple[Step, ...]:
    return tuple(map(step_of, found))


READERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(PAIRS, _pairs),
    "steps": _steps,
    "then": _steps,
    "moments": lambda found: tuple(map(_part(Moment), found)),
    "needs": _part(Needs),
}
"""How fields are read back that hold more than words and numbers."""


def _only(found: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    unknown = [key for key in found if key not in keys]
    if unknown:
        raise ValueError(f"a step has no key {unknown[0]!r}; it can have {', '.join(keys)}")
