"""Steps as the JSON that `agent.step` documents, and back. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
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


def data(step: Step) -> dict[str, Any]:
    """The step for JSON."""
    write = next((write for kind, (write, _) in _FORMS.items() if isinstance(step, kind)), None)
    assert write is not None, f"BUG: no JSON for a step of type {type(step).__name__}"
    return write(step)


def step_of(found: Mapping[str, Any]) -> Step:
    """The step of which `data` is `found`. What starts a controller or a machine comes back as `Run`.

    Raises ValueError for a key that no step has, or not a step of this kind, and for one that is missing.
    """
    kind = next((kind for kind, key in _KEYS.items() if key in found and _is_of(kind, found)), None)
    if kind is None:
        raise ValueError(f"no step has the keys {', '.join(found)}")
    write, read = _FORMS[kind]
    try:
        step = read(found)
    except KeyError as error:
        raise ValueError(f"a step with the keys {', '.join(found)} has no {error}") from None
    _only(found, (*write(step), *(_RUN_KEYS if kind is Run else ())))
    return step


def _is_of(kind: type[Step], found: Mapping[str, Any]) -> bool:
    """Which of the ways to reach a remote node it is."""
    if "reach" not in found:
        return True
    own = {ReachVm: "program", ReachMachine: "needs", LendNics: "nics", AwaitCables: "is_built"}
    return own[kind] in found


_RUN_KEYS = ("out", "err", "background", "may_fail", "timeout_s")


def _run_data(step: Run) -> dict[str, Any]:
    rest = {key: getattr(step, key) for key in _RUN_KEYS}
    return {
        **_title(step.title),
        "run": list(step.words),
        **({} if step.stdin is None else {"stdin": step.stdin}),
        **_location(step.where),
        **{key: value for key, value in rest.items() if value is not None and value is not False},
    }


def _title(title: str | None) -> dict[str, str]:
    return {} if title is None else {"title": title}


def _run_of(found: Mapping[str, Any]) -> Run:
    rest = {key: found[key] for key in ("title", "stdin", *_RUN_KEYS) if key in found}
    return Run(tuple(found["run"]), where=_where(found), **rest)


def _location(where: Location | None) -> dict[str, str | None]:
    return {} if where is None else where.data()


def _where(found: Mapping[str, Any]) -> Location | None:
    return Location(found.get("netns"), found.get("on")) if "netns" in found or "on" in found else None


def _only(found: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    unknown = [key for key in found if key not in keys]
    if unknown:
        raise ValueError(f"a step has no key {unknown[0]!r}; it can have {', '.join(keys)}")


def _needs_data(needs: Needs) -> dict[str, Any]:
    found = {each.name: getattr(needs, each.name) for each in fields(needs)}
    pairs = ("probes", "versions")
    return {
        key: {name: list(words) for name, words in value}
        if key in pairs
        else dict(value)
        if key == "sysctls"
        else value
        if isinstance(value, str)
        else list(value)
        for key, value in found.items()
    }


def _needs_of(found: Mapping[str, Any]) -> Needs:
    _only(found, tuple(each.name for each in fields(Needs)))
    return Needs(
        nics=tuple(found["nics"]),
        programs=tuple(found["programs"]),
        probes=tuple((name, tuple(words)) for name, words in found["probes"].items()),
        controls=tuple(found["controls"]),
        sysctls=tuple(found["sysctls"].items()),
        architecture=found["architecture"],
        versions=tuple((name, tuple(words)) for name, words in found["versions"].items()),
    )


def _remote(title: str, step: ReachMachine | LendNics | AwaitCables) -> dict[str, Any]:
    return {"title": title, "reach": step.node, "by": "machine", "machine": step.machine}


def _timeline_data(step: Timeline) -> dict[str, Any]:
    moments = [
        {"at_ns": each.at_ns, "steps": [data(one) for one in each.steps], "then": [data(one) for one in each.then]}
        for each in step.moments
    ]
    begin = {} if step.begin is None else {"begin": list(step.begin)}
    return {"title": TIMELINE, "timeline": moments, "background": TIMELINE, **begin}


def _timeline_of(found: Mapping[str, Any]) -> Timeline:
    begin = found.get("begin")
    for each in found["timeline"]:
        _only(each, tuple(each.name for each in fields(Moment)))
    return Timeline(
        tuple(
            Moment(each["at_ns"], tuple(map(step_of, each["steps"])), tuple(map(step_of, each["then"])))
            for each in found["timeline"]
        ),
        None if begin is None else (begin[0], begin[1]),
    )


_KEYS: dict[type[Step], str] = {
    Run: "run",
    Stop: "stop",
    Write: "write",
    Read: "read",
    Await: "await",
    Bring: "bring",
    Sleep: "sleep",
    ReachMachine: "reach",
    LendNics: "reach",
    AwaitCables: "reach",
    ReachVm: "reach",
    Timeline: "timeline",
    Serve: "serve",
}
"""The key by which the agent tells what kind of step it is."""

_FORMS: dict[type[Step], tuple[Callable[[Any], dict[str, Any]], Callable[[Mapping[str, Any]], Step]]] = {
    Run: (_run_data, _run_of),
    Stop: (lambda step: {"stop": step.name}, lambda found: Stop(found["stop"])),
    Write: (
        lambda step: {"write": [list(pair) for pair in step.values], **_location(step.where)},
        lambda found: Write(tuple((file, value) for file, value in found["write"]), _where(found)),
    ),
    Read: (
        lambda step: {
            **_title(step.title),
            "read": dict(step.files),
            **_location(step.where),
            **({} if step.of is None else {"of": step.of}),
        },
        lambda found: Read(found.get("title"), tuple(found["read"].items()), _where(found), found.get("of")),
    ),
    Await: (
        lambda step: {
            "title": "wait for programs",
            "await": list(step.names),
            **({"watched": list(step.watched)} if step.watched else {}),
        },
        lambda found: Await(tuple(found["await"]), tuple(found.get("watched", ()))),
    ),
    Bring: (
        lambda step: {"bring": dict(step.files), **_location(step.where)},
        lambda found: Bring(tuple(found["bring"].items()), Location(on=found["on"])),
    ),
    Sleep: (lambda step: {"sleep": step.seconds}, lambda found: Sleep(found["sleep"])),
    ReachMachine: (
        lambda step: {
            **_remote(f"reach {step.machine}", step),
            "needs": _needs_data(step.needs),
            "tools": step.tools,
            "out": step.out,
        },
        lambda found: ReachMachine(
            found["reach"], found["machine"], _needs_of(found["needs"]), found["tools"], found["out"]
        ),
    ),
    LendNics: (
        lambda step: {**_remote(f"lend {step.machine}", step), "inside": step.netns, "nics": list(step.nics)},
        lambda found: LendNics(found["reach"], found["machine"], found["inside"], tuple(found["nics"])),
    ),
    AwaitCables: (
        lambda step: {**_remote(f"cables of {step.node}", step), "inside": step.netns, "is_built": True},
        lambda found: AwaitCables(found["reach"], found["machine"], found["inside"]),
    ),
    ReachVm: (
        lambda step: {
            "title": f"wait for {step.node}",
            "reach": step.node,
            "by": "vm",
            "program": step.program,
            "console": step.console,
            "socket": step.socket,
            "limit_s": step.limit_s,
            "devices": dict(step.devices),
        },
        lambda found: ReachVm(
            found["reach"],
            found["program"],
            found["console"],
            found["socket"],
            found["limit_s"],
            tuple(found["devices"].items()),
        ),
    ),
    Timeline: (_timeline_data, _timeline_of),
    Serve: (
        lambda step: {
            "title": "up",
            "serve": step.channel if isinstance(step.channel, str) else list(step.channel),
        },
        lambda found: Serve(found["serve"] if isinstance(found["serve"], str) else tuple(found["serve"])),
    ),
}
