"""One side of `same`: what the testbed in PYTHONPATH reads, plans and refuses, a line of JSON each. Run as a script by
`same`, in the checkout that is looked at; of the testbed it uses what has had the same name for long.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml
from typer.testing import CliRunner

from testbed.cli import app
from testbed.error import SpecError, UserError
from testbed.model.workload import BUILT_IN
from testbed.spec.json_schema import schema
from testbed.spec.load import is_scenario, load_scenario
from testbed.spec.scenario import trial as stored
from testbed.spec.syntax.document import Document, Position
from testbed.trial.orders.sequence import orders

try:
    from testbed.plan.step import data as step_data
except ImportError:  # older checkouts have it elsewhere
    step_data = importlib.import_module("testbed.plan.step_json").data

TOOLS = tuple(each.tool for each in BUILT_IN)
MOST_TRIALS = 3
"""Of each scenario: its first, and others with the same distance between them."""
JUNK: tuple[Any, ...] = (
    *("10", "1", "0", "-3", "x", "none", "auto", "true", "false", "seeded", "by hand", "dhcp", "default", ""),
    *("10 s", "500 ms", "1 ms", "1.5 s", "0 s", "100 h", "100 Mbit/s", "0 bit/s", "8 kbit/s", "1 in 100", "2 %"),
    *("1 MiB", "64 KiB", "1 KiB", "16 B", "70000 B", "100 packets", "1 bdp", "cubic", "BBR", "udp", "tcp", "sctp"),
    *(
        "99999999999999",
        "a",
        "b",
        "c",
        "sw",
        "path",
        "10.0.0.1/24",
        "10.0.0.1",
        "10.0.0.0/24",
        "fe80::1%x",
        "/bin/true",
    ),
    *("\x1b", "app.py", "a word", 7, True, None, "0.5", "1/3", "2 rtt", "5 /s", "poisson", "web-search"),
    *([], {}, ["1 KiB", "1 MiB"], ["1 KiB", "1 KiB"], ["a", "b"], {"a": "b"}, [{}], {"forward": "1 ms"}),
    *({"forward": "none", "backward": "1 in 9"}, {"random": "1 %"}, {"every": "5", "phase": "7"}, {"x": {"y": "z"}}),
    *({"from": "1 s", "for": "2 s"}, {"time": "4 ms"}, {"type": "codel", "target": "1 ms"}, {"cdf": "web-search"}),
    *({"poisson": "5 /s"}, {"pareto": {"mean": "1 kB"}}, {"rtts": "3"}, {"size": "1 kB", "every": "1 ms"}),
    *({"gilbert-elliott": {"p": "1 %", "r": "50 %"}}, {"after": "1 MB", "rate": "8 kbit/s"}),
)
"""Values for keys of any kind, most of them wrong."""
NAMES = {"from": "a", "to": "b", "at": "a", "cache": "c", "out": "path", "via": "10.0.0.2", "ends": ["a", "sw"]}
NAMES |= {"controller": "none", "run": ["cat", "{server.address}"]}
BASES: dict[str, dict[str, Any]] = {
    "udp": {"rate": "10 Mbit/s", "duration": "1 s"},
    "iperf3": {"duration": "2 s"},
    "flow": {"duration": "1 s"},
    "http": {"sizes": ["1 KiB", "1 MiB"]},
    "command": {"server": {"at": "a", "run": "s"}, "client": {"at": "b", "run": "c", "runs": "2"}},
    "controller": {"app": "firewall"},
    "change": {"at": "2 s", "loss": "1 in 50"},
}
"""What a mapping of a kind needs to be good."""
"""What is often right for a key, whichever mapping it is in."""
NODES = {"a": {"type": "host"}, "b": {"type": "host"}, "c": {"type": "host"}, "sw": {"type": "switch"}}
LINKS = {
    "path": {"ends": ["a", "sw"], "rate": "10 Mbit/s", "rtt": "10 ms"},
    "second": {"ends": ["sw", "b"]},
    "third": {"ends": ["sw", "c"]},
}
FLOW = {"tool": "flow", "from": "a", "to": "b", "duration": "1 s"}


def main() -> None:
    what, *words = sys.argv[1:]
    for line in WHAT[what](*words):
        print(json.dumps(line, default=str), flush=False)


def schemas() -> Iterator[Any]:
    yield from (schema("topology"), schema("scenario"))


def files(*names: str) -> Iterator[Any]:
    """What `check` and `plan` say of each file, and a digest of the trials of a scenario with the steps of some."""
    for name in names:
        for command in ("check", "plan"):
            done = CliRunner().invoke(app, [command, "--allow-file", ".", name])
            if "No such option" in done.output:  # an older checkout reads files wherever they are
                done = CliRunner().invoke(app, [command, name])
            yield name, command, done.exit_code, done.output if done.exit_code else _digest(done.output)
        try:
            yield name, list(_trials(name)) if is_scenario(name) else []
        except UserError as error:
            yield name, str(error).splitlines()


def _trials(name: str) -> Iterator[str]:
    trials = _loaded(name).trials()
    yield f"{len(trials)} trials {_digest(json.dumps([each.id for each in trials]))}"
    yield _digest(json.dumps([stored.trial_data(each) for each in trials[:200]]))
    for trial in trials[:: max(1, len(trials) // MOST_TRIALS)][:MOST_TRIALS]:
        try:
            yield _digest(json.dumps([step_data(each) for each in orders(trial).steps]))
        except UserError as error:
            yield str(error)


def _loaded(name: str) -> Any:
    """With all files of the checkout, which older checkouts read without being told."""
    if "permission" not in inspect.signature(load_scenario).parameters:
        return load_scenario(name)
    from testbed.spec.syntax.attachment import Permission

    return load_scenario(name, permission=Permission((Path.cwd(),)))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def mappings(kind: str, seed: str, count: str, known: str) -> Iterator[Any]:
    """Random mappings of a kind: the canonical text of each, or all its faults with their places."""
    models: dict[str, Any] = json.loads(Path(known).read_text())
    draw = random.Random(f"{seed}/{kind}")
    put, model = models[kind]
    setattr(stored, "of_data", _placed)  # noqa: B010 - it is no name of that module of its own
    for _ in range(int(count)):
        made = _mapping(model, draw, models["definitions"])
        made = {**BASES.get(kind, {}), **made} if isinstance(made, dict) and draw.random() < 0.8 else made
        yield made, _axes(kind, made) if put == "axes" else PUT[put](made)


def _placed(data: object, name: str) -> Document:
    """A document in which the name of each position is its path."""
    return Document(data, dict(_positions(data, ())))


def _positions(data: object, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Position]]:
    yield path, Position("/".join(map(str, path)))
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for step, value in items:
        yield from _positions(value, (*path, step))


def _told(read: Callable[[], Any]) -> Any:
    try:
        return json.dumps(read())
    except SpecError as error:
        return [str(problem) for problem in error.problems]
    except Exception as error:  # what should not be: the other side must have it, too
        return f"{type(error).__name__}: {error}"


def _trial(**more: Any) -> Any:
    data: dict[str, Any] = {"id": "x", "params": {}, "seed": 1, "repetition": 0, "workload": FLOW}
    data |= {"topology": {"name": "net", "nodes": NODES, "links": LINKS}, **more}
    return _told(lambda: stored.trial_data(stored.trial_of(data)))


def _topology(nodes: dict[str, Any], links: dict[str, Any]) -> Any:
    return _trial(topology={"name": "net", "nodes": {**NODES, **nodes}, "links": {**LINKS, **links}})


def _node(made: Any) -> Any:
    kind = made.get("type") if isinstance(made, dict) else None
    links = {} if kind == "controller" else {"nodes-link": {"ends": ["sw", "x"]}}
    return _topology({"x": made}, links)


def _link(made: Any) -> Any:
    return _topology({}, {"path": {"ends": ["a", "sw"], **made} if isinstance(made, dict) else made})


def _change(made: Any) -> Any:
    return _link(
        {"rate": "10 Mbit/s", "rtt": "10 ms", "buffer": "64 KiB", "schedule": [{"at": "1 s", "rate": "5 Mbit/s"}, made]}
    )


def _scenario(made: Any) -> Any:
    topology = {"name": "net", "nodes": NODES, "links": LINKS}
    data = {"name": "x", "topology": topology, "workload": FLOW, **made} if isinstance(made, dict) else made
    with tempfile.TemporaryDirectory(prefix="same-") as folder:
        path = Path(folder, "scenario.yaml")
        path.write_text(yaml.safe_dump(data, sort_keys=False))
        return json.loads(json.dumps(_told(lambda: _cells(path))).replace(folder, ""))


def _axes(kind: str, made: Any) -> Any:
    """Each value as that of an axis, in both directions and in one: the parameters that it makes, or its faults."""
    kind = kind.removesuffix("-axes")
    tool = {"tool": kind, "from": "a", "to": "b", **BASES.get(kind, {})} if kind in TOOLS else FLOW
    other = {"other": {"pattern": "constant", "from": "a", "to": "b", "rate": "1 Mbit/s"}}
    prefix = "workload." if kind in TOOLS else {"link": "path.", "constant": "background.other."}[kind]
    found = []
    for key, value in made.items() if isinstance(made, dict) else ():
        for way in ("", ".forward") if kind == "link" else ("",):
            sweep = {f"{prefix}{key}{way}": [value]}
            found.append(_scenario({"workload": tool, "background": other, "sweep": sweep}))
    return found


def _cells(path: Path) -> Any:
    scenario = load_scenario(path)
    settings = [scenario.until, scenario.expect, scenario.primary, scenario.limits, scenario.captures, scenario.axes]
    return [repr(settings), [stored.trial_data(each) for each in scenario.trials()[:9]]]


PUT: dict[str, Callable[[Any], Any]] = {
    "workload": lambda made: _trial(workload=made),
    "background": lambda made: _trial(background={"other": made}),
    "trial": lambda made: _trial(**made) if isinstance(made, dict) else None,
    "node": _node,
    "link": _link,
    "change": _change,
    "scenario": _scenario,
}


def _mapping(model: dict[str, Any], draw: random.Random, definitions: dict[str, Any]) -> Any:
    """Mostly what is required, some of the rest; some of it good, some wrong."""
    if draw.random() < 0.01:
        return draw.choice(JUNK)
    made = {}
    is_good = draw.random() < 0.5
    required, keys = model.get("required", ()), list(model["properties"])
    more = draw.sample(keys, min(len(keys), draw.choice((0, 1, 1, 2, 2, 3, 4))))
    for key in keys:
        if key not in more and (key not in required or draw.random() < 0.02):
            continue
        if not is_good and draw.random() < 0.4 and "const" not in model["properties"][key]:
            made[key] = draw.choice(JUNK)
        else:
            made[key] = _value(key, model["properties"][key], draw, definitions)
    if not is_good and draw.random() < 0.1:
        made[draw.choice(("colour", "Rate", "form", *keys))] = draw.choice(JUNK)
    items = list(made.items())
    if draw.random() < 0.3:
        draw.shuffle(items)
    return dict(items)


def _value(key: str, model: Any, draw: random.Random, definitions: dict[str, Any]) -> Any:
    """One that fits, as far as a schema without knowledge can tell."""
    if not isinstance(model, dict):
        return draw.choice(JUNK)
    if "$ref" in model:
        return _value(key, definitions[model["$ref"].rpartition("/")[2]], draw, definitions)
    if key in NAMES and (key != "at" or "anyOf" not in model) and draw.random() < 0.9:
        return NAMES[key]
    for choice in ("anyOf", "oneOf"):
        if choice in model:
            return _value(key, draw.choice(model[choice]), draw, definitions)
    if "const" in model:
        return model["const"]
    if "enum" in model:
        return draw.choice(model["enum"])
    if model.get("type") == "array":
        low = model.get("minItems", 0)
        count = draw.randint(low, max(low, min(model.get("maxItems", 3), 3)))
        return [_value("", model.get("items", {}), draw, definitions) for _ in range(count)]
    if "properties" in model:
        return _mapping(model, draw, definitions)
    if model.get("type") == "object":
        inner = next(iter(model.get("patternProperties", {}).values()), model.get("additionalProperties", {}))
        return {
            draw.choice(("a", "b", "path", "net.ipv4.tcp_ecn", "x.y")): _value("", inner, draw, definitions)
            for _ in range(draw.randint(0, 2))
        }
    if model.get("type") == "integer":
        return str(draw.randint(model.get("minimum", 0), min(model.get("maximum", 9), model.get("minimum", 0) + 9)))
    if model.get("type") == "boolean":
        return draw.choice(("true", "false"))
    examples = [*model.get("examples", ())]
    return draw.choice(examples) if examples else draw.choice(("a", "b", "path", "x", "1", "2 s", "a.py", "10 ms"))


WHAT: dict[str, Callable[..., Iterator[Any]]] = {"schemas": schemas, "files": files, "mappings": mappings}

if __name__ == "__main__":
    main()
