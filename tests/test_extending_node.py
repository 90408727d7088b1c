"""The change exercise of docs/extending.md: a node type from outside, from its keys to the report. The code is that of
the page.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from fnmatch import fnmatch
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import jsonschema
import pytest
from storedruns import Made, write_run
from trials import RunTrial, make_trial, seen_as, seen_evidence, seen_stage, whole

from testbed.browser.page_text import SHARED
from testbed.error import SpecError
from testbed.interactive.build import build
from testbed.kernel.guest import Ending
from testbed.kernel.ready import feasibility
from testbed.kernel.ready.probe import PROBES
from testbed.kernel.ready.requirement import Need, needs, of_type
from testbed.model.node import type as node_type
from testbed.model.node.type import NODE_TYPES, Colour, NodeType, Shape
from testbed.model.run_setting import Kernel
from testbed.model.scenario import Trial
from testbed.plan.network import plan
from testbed.plan.node import make
from testbed.report import stored_run
from testbed.report.drawing import drawings
from testbed.report.figure import draw
from testbed.report.figure import topology as figure
from testbed.report.page import ASSETS
from testbed.report.view import view
from testbed.spec.json_schema import schema
from testbed.spec.load import load_scenario, load_topology
from testbed.spec.scenario.trial import trial_data, trial_of
from testbed.spec.topology import file
from testbed.spec.topology.file import NODE_FILES, TopologyFile
from testbed.trial import record
from testbed.trial.evidence.case import Case
from testbed.trial.evidence.outcome import Outcome
from testbed.trial.gate.judge import judge
from testbed.trial.measured import PingResult
from testbed.trial.orders.sequence import orders
from testbed.trial.summary import result

ROOT = Path(__file__).parents[1]
SECTION = (ROOT / "docs" / "extending.md").read_text().partition("\n## A node type\n")[2].partition("\n## ")[0]
CODE = "\n\n".join(re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL))
HOST = {"type": "host"}
NET: dict[str, Any] = {
    "name": "net",
    "nodes": {"a": HOST, "h": {"type": "hub", "ageing": "2 s"}, "b": HOST, "c": HOST},
    "links": {
        "path": {"ends": ["a", "h"], "rate": "100 Mbit/s", "rtt": "10 ms"},
        "right": {"ends": ["h", "b"]},
        "spare": {"ends": ["h", "c"]},
    },
}


@pytest.fixture(autouse=True)
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The page's code as a module of somebody else's, registered as the page says."""
    module = ModuleType("hub")
    monkeypatch.setitem(sys.modules, "hub", module)
    exec(compile(CODE, "docs/extending.md", "exec"), module.__dict__)
    node_type.register(module.HUB)
    file.register(module.HubFile)
    make.register("hub", module.make)
    yield module
    del NODE_TYPES["hub"], NODE_FILES["hub"], make.MAKERS["hub"]


def trial(**changes: Any) -> Trial:
    return make_trial(workload={"tool": "ping"}, topology=NET, **changes)


def net(folder: Path, node: str, *links: str, more: str = "", engine: str = "netns") -> Path:
    """A topology with a hub h that has this for its line."""
    path = folder / "net.yaml"
    path.write_text(
        f"name: net\nengine: {engine}\n"
        f"nodes:\n  a: {{type: host}}\n  b: {{type: host}}\n  h: {node}\n{more}"
        "links:\n" + "".join(f"  {link}\n" for link in ("left: {ends: [a, h]}", "right: {ends: [h, b]}", *links))
    )
    return path


def test_its_keys_become_a_value_and_back(hub: ModuleType, tmp_path: Path) -> None:
    found = load_topology(net(tmp_path, "{type: hub, ageing: 2 s}"))
    assert found.node("h") == hub.Hub("h", "hub", ageing_ns=2 * 10**9)
    assert TopologyFile.of(found).written()["nodes"]["h"] == {"type": "hub", "ageing": "2 s"}
    assert trial_of(trial_data(trial())) == trial()


@pytest.mark.parametrize(
    ("path", "says"),
    [
        (("{type: hubb}",), "6: type: 'hubb' is not known; allowed: *machine, hub (did you mean 'hub'?)"),
        (("{type: hub, ports: 3}",), "6: *unknown key 'ports'; allowed: type, ageing"),
        (("{type: hub, ageing: soon}",), "6: ageing: *"),
        (
            ("{type: hub}", "x: {ends: [h, i]}", "y: {ends: [h, j]}", "z: {ends: [i, j]}"),
            "*'z' closes a ring of switches*",
        ),
        (("{type: hub}", "x: {ends: [h, i], addresses: {h: 10.0.0.1/24}}"), "*'h' is a hub and has no address*"),
    ],
)
def test_what_is_wrong_is_told_with_the_line(tmp_path: Path, path: tuple[str, ...], says: str) -> None:
    more = "  i: {type: hub}\n  j: {type: hub}\n" if len(path) > 1 else ""
    with pytest.raises(SpecError) as caught:
        load_topology(net(tmp_path, *path, more=more))
    assert fnmatch(str(caught.value), f"*net.yaml:{says}"), str(caught.value)


def test_an_engine_that_cannot_build_it_is_refused_wherever_it_is_asked_for(tmp_path: Path) -> None:
    says = "'h' is a hub, which Mininet cannot build; allowed: engine: netns"
    with pytest.raises(SpecError, match=rf"net.yaml:6: {says}"):
        load_topology(net(tmp_path, "{type: hub}", engine="mininet"))
    net(tmp_path, "{type: hub}")
    start = "name: s\ntopology: net.yaml\nworkload: {tool: ping, from: a, to: b}\n"
    for number, line in enumerate(("engine: mininet\n", "sweep: {engine: [netns, mininet]}\n")):
        scenario = tmp_path / f"s{number}.yaml"
        scenario.write_text(start + line)
        with pytest.raises(SpecError, match=rf"s{number}.yaml:4: .*{says}"):
            load_scenario(scenario)


def test_its_keys_can_be_varied_and_those_it_lacks_cannot(hub: ModuleType, tmp_path: Path) -> None:
    net(tmp_path, "{type: hub}")
    scenario = tmp_path / "s.yaml"
    start = "name: s\ntopology: net.yaml\nworkload: {tool: ping, from: a, to: b}\n"
    scenario.write_text(f"{start}sweep: {{h.ageing: [0 s, 2 s]}}\n")
    found = [each.topology.node("h") for each in load_scenario(scenario).trials()]
    assert [(type(node), node.ageing_ns) for node in found] == [(hub.Hub, 0), (hub.Hub, 2 * 10**9)]  # type: ignore[attr-defined]
    scenario.write_text(f"{start}sweep: {{h.nic: [plain]}}\n")
    with pytest.raises(SpecError, match=r"a hub has no 'nic' to vary; allowed: h\.ageing"):
        load_scenario(scenario)
    scenario.write_text(f"{start.replace('from: a', 'from: h')}")
    with pytest.raises(SpecError, match="'h' is a hub, not a host"):
        load_scenario(scenario)


@pytest.mark.slow
def test_editors_get_its_schema() -> None:
    jsonschema.validate(NET, schema("topology"))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**NET, "nodes": {"h": {"type": "hub", "ageing": "soon"}}}, schema("topology"))
    sweep = {"h.ageing": ["0 s", "1 s"]}
    workload = {"tool": "ping", "from": "a", "to": "b"}
    jsonschema.validate({"name": "s", "topology": NET, "workload": workload, "sweep": sweep}, schema("scenario"))


def test_it_is_planned_with_the_undo_of_each_command() -> None:
    planned = orders(trial()).plan
    own = [command for command in planned.commands if command.netns == "tb-h"]
    add = ("link", "add", "br0", "type", "bridge", "ageing_time", "200", "mcast_snooping", "0")
    assert [(c.words, c.undo and c.undo.words) for c in own if "br0" in c.words] == [
        (add, ("link", "del", "br0")),
        *((("link", "set", f"eth{number}", "master", "br0"), None) for number in range(3)),
        (("link", "set", "br0", "up"), None),
    ]
    assert ("netns", "del", "tb-h") in [undo.words for undo in planned.undos]
    assert [port.addresses for port in planned.book.ports_of("h")] == [()] * 3
    assert len({port.segment for port in planned.book.ports}) == 1
    assert [hop.link.name for hop in planned.path] == ["path", "right"]
    assert planned.programs_bytes == 0


def test_what_it_needs_is_told_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    topology = trial().topology
    assert Need("node h (hub)", "bridge") in set(needs(topology, plan(topology), "host"))
    assert Need("node h (hub)", "lab kernel") in set(needs(topology, plan(topology), "lab"))
    monkeypatch.setattr(feasibility, "lacking", lambda name: None)
    assert {each.kernel for each in feasibility.abilities() if each.part == "node type hub" and each.ok} == {
        "lab",
        "host",
    }


def test_people_can_work_in_a_network_with_it() -> None:
    made = build(trial().topology, Kernel("lab-realtime"))
    node = made.to_dict()["nodes"]["h"]
    assert (node["type"], sorted(node["ports"])) == ("hub", ["eth0", "eth1", "eth2"])


def test_the_gate_judges_a_trial_over_it_and_the_result_is_one_as_any_other() -> None:
    one = trial()
    planned = orders(one).plan
    ping = PingResult(5, 5, 0.01, 0.01, 0.01, 0.0)
    stages = [
        tuple(seen_stage(each, data_packets=5, delay_packets=5) for each in planned.stages(is_data=is_data))
        for is_data in (True, False)
    ]
    outcome = Outcome(0, 0, 10**9, None, None, (), {"ping": record.write(ping)})
    seen = seen_evidence(ping, *map(tuple, stages), outcome, (), {}, {}, None, 0)  # type: ignore[arg-type]
    seen = whole(one, planned, seen)
    assert not [each for each in judge(Case(one, planned, seen)) if each.check in ("rtt", "data", "devices")]
    late = seen_as(seen, rtt_check=PingResult(5, 5, 0.02, 0.02, 0.02, 0.0))
    assert "rtt" in {each.check for each in judge(Case(one, planned, late))}
    assert result(Case(one, planned, seen), (), Ending("7.3.4", 10**9, 1.0)).asked.rtt_s == 0.01


def test_the_report_draws_it(tmp_path: Path) -> None:
    found = stored_run.read(write_run(tmp_path / "run", [Made({}, [9e7], changes={"topology": NET})]))
    (drawing,) = drawings(found)
    (network,) = view(found)["networks"]
    (spot,) = (each for each in network["spots"] if each["name"] == "h")
    assert spot["mark"] == {"shape": "diamond", "colour": "blue"}
    assert (drawing.spot("h").type, drawing.spot("h").about) == ("hub", "ageing 2 s")
    draw("topology", found, tmp_path / "net.svg")
    text = (tmp_path / "net.svg").read_text()
    assert "hub" in text
    assert figure.PAINTS["blue"].lower() in text


def test_the_figure_and_the_page_know_all_shapes_and_colours() -> None:
    assert set(figure.SHAPES) == set(get_args(Shape))
    assert list(figure.PAINTS) == list(get_args(Colour))
    script = (SHARED / "shape.js").read_text() + (ASSETS / "network.js").read_text()
    assert f"const COLOURS = {json.dumps(get_args(Colour))};" in script
    assert all(f'"{shape}"' in script or f"{shape}:" in script for shape in get_args(Shape))


@pytest.mark.lab
def test_it_runs(run_trial: RunTrial) -> None:
    ran = run_trial(workload={"tool": "ping"}, topology=NET)
    assert ran.result.verdict == "valid"


FACTS = [each.name for each in fields(NodeType)]


def without(fact: str) -> str:
    """The page's code with one fact forgotten."""
    return re.sub(rf"\n    {fact}=[^\n]*", "", CODE, count=1)


def test_no_fact_has_a_default() -> None:
    assert not [each.name for each in fields(NodeType) if each.default is not MISSING]
    assert not [each.name for each in fields(NodeType) if each.default_factory is not MISSING]


@pytest.mark.parametrize("fact", FACTS)
def test_a_forgotten_fact_is_refused_when_the_type_is_made(fact: str) -> None:
    with pytest.raises(TypeError, match=f"'{fact}'"):
        exec(compile(without(fact), "hub", "exec"), {"__name__": "hub"})


def test_keys_that_the_value_does_not_have_are_refused_when_it_is_made() -> None:
    code = re.sub(r"\n    def node\(.*?\n\n", "\n\n", CODE, count=1, flags=re.DOTALL)
    assert code != CODE
    module: dict[str, Any] = {"__name__": "hub"}
    exec(compile(code, "hub", "exec"), module)
    with pytest.raises(TypeError, match="'ageing_ns'"):
        module["HubFile"]().node("h")


def type_errors(codes: Mapping[str, str], folder: Path) -> list[str]:
    """Those that one run of mypy finds in modules."""
    for name, code in codes.items():
        (folder / f"{name}.py").write_text(code)
    words = [sys.executable, "-m", "mypy", "--strict", "--no-incremental"]
    words += ["--config-file", str(ROOT / "pyproject.toml"), *sorted(map(str, folder.glob("*.py")))]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1, f"{done.returncode}: {done.stdout}{done.stderr}"
    return [line for line in done.stdout.splitlines() if ": error:" in line]


@pytest.mark.slow
def test_a_forgotten_fact_is_a_type_error(tmp_path: Path) -> None:
    """One run of mypy over the page's code, and over copies of it that forget a fact each."""
    facts = ("openflow", "programs_bytes", "mark")
    errors = type_errors({"hub": CODE, **{f"no_{fact}": without(fact) for fact in facts}}, tmp_path)
    assert not [line for line in errors if "/hub.py" in line]
    for fact in facts:
        assert any(f"/no_{fact}.py" in line and f'"{fact}"' in line for line in errors), errors


def test_every_type_has_its_keys_and_its_commands() -> None:
    assert list(NODE_FILES) == list(NODE_TYPES)
    assert set(make.MAKERS) == set(NODE_TYPES)
    for name, kind in NODE_TYPES.items():
        assert kind.name == name
        assert not (kind.switches_frames and kind.has_addresses), "a segment's inside has no address"
        for place in ("lab", "host"):
            needed = of_type(kind, place)  # type: ignore[arg-type]
            assert not isinstance(needed, tuple) or set(needed) <= set(PROBES)


def test_a_name_is_given_once_and_first_to_the_facts(hub: ModuleType) -> None:
    for again in (
        lambda: node_type.register(hub.HUB),
        lambda: file.register(hub.HubFile),
        lambda: make.register("hub", hub.make),
    ):
        with pytest.raises(AssertionError, match="two node types with the name 'hub'"):
            again()
    with pytest.raises(AssertionError, match="'bub' is no node type"):
        make.register("bub", hub.make)
