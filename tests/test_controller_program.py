"""Controllers that are programs of their users: what a file says, what becomes of it, what the gate says of them."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_finding import told
from test_gate import fine
from trials import SWITCH, found_by, make_trial, seen_as, steps_data

from testbed.codec.keyed import read
from testbed.error import MachineError, SpecError
from testbed.kernel import controller
from testbed.model.openflow import Controller, ControllerProgram
from testbed.model.topology import Topology
from testbed.plan.batch import steps
from testbed.plan.network import plan
from testbed.plan.node.control_channel import Channel
from testbed.plan.step import StartProgram
from testbed.spec import program_store
from testbed.spec.load import load_topology
from testbed.spec.topology.file import TopologyFile
from testbed.trial.evidence.case import Case
from testbed.trial.orders.sequence import orders
from testbed.trial.subject import openflow
from testbed.trial.subject.openflow import ControllerEvidence, OpenFlowEvidence

NET = """name: net
nodes:
  a: {{type: host}}
  b: {{type: host}}
  s1: {{type: ovs}}
  c0: {{type: controller, {said}}}
links: {{left: {{ends: [a, s1]}}, right: {{ends: [s1, b]}}}}
"""


def net(folder: Path, said: str) -> Topology:
    path = folder / "net.yaml"
    path.write_text(NET.format(said=said))
    return load_topology(path)


def program_of(topology: Topology) -> ControllerProgram:
    controller = topology.node("c0").controller
    assert controller is not None
    assert controller.program is not None
    return controller.program


def venv(folder: Path) -> Path:
    subprocess.run(("/usr/bin/python3", "-m", "venv", "--without-pip", folder), check=True)
    tool = folder / "bin" / "app"
    tool.write_text(f"#!{folder}/bin/python\nprint('app')\n")
    tool.chmod(0o755)
    return folder


def test_files_of_a_program_are_kept_by_what_is_in_them(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "pox.py").write_text("1")
    (tmp_path / "set.yaml").write_text("2")
    said = "command: [more/pox.py, forwarding.l2], files: [set.yaml], port: 6633, openflow: [1.3, 1.0]"
    topology = net(tmp_path, said)
    found = program_of(topology)
    assert found.words == ("./pox.py", "forwarding.l2")
    assert found.files == tuple((n, program_store.digest(tmp_path / p)) for n, p in FILES.items())
    channel = plan(topology).channels[0]
    assert (channel.target, channel.controller.versions) == ("tcp:198.18.0.1:6633", ("1.0", "1.3"))
    again = read(TopologyFile, TopologyFile.of(topology).written()).topology()
    assert again == topology  # as a stored trial has it, without the files
    place = program_store.find(found.files)
    assert place is not None
    assert (place / "pox.py").read_text() == "1"


MOUNT = ("mount", "-r", "-t", "hostfs", "-o")
FILES = {"pox.py": "more/pox.py", "set.yaml": "set.yaml"}


def test_a_folder_of_files_may_hold_the_program(tmp_path: Path) -> None:
    (tmp_path / "pox").mkdir()
    (tmp_path / "pox" / "pox.py").write_text("1")
    found = program_of(net(tmp_path, "command: [./pox/pox.py, x], files: [pox]"))
    assert found.words == ("./pox/pox.py", "x")
    assert [name for name, _ in found.files] == ["pox"]


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("command: [app], app: static", "app and command exclude each other"),
        ("port: 6633", "c0: the key 'app' is missing"),
        ("app: static, port: 6633", "an app listens where its switches look for it"),
        ("app: static, python: venv", "only a controller with 'command' has this key"),
        ("app: static, environment: {A: b}", "only a controller with 'command' has this key"),
        ("command: [./no.py]", "no.py' cannot be read: No such file or directory"),
        ("command: [app], python: nowhere", "nowhere' cannot be read"),
        ("command: [app], python: plain", "plain' is no virtual environment; allowed: the folder of a virtual"),
        ("command: [ovs-testcontroller], start: 1 s", "only an app can start late"),
        ("command: [app], openflow: 1.6", "there is no OpenFlow 1.6; allowed: 1.0, 1.1, 1.2, 1.3, 1.4, 1.5"),
        ("command: [app], openflow: [1.0, 1.0]", "these are no versions of OpenFlow"),
        ("app: static, openflow: [1.0, 1.4]", "the app static speaks OpenFlow 1.3; allowed: 1.3 among them"),
        ("command: [app], port: 70000", "allowed: a whole number from 1 to 65535"),
        ("command: [], port: 6633", "this is no program"),
        ("command: [x/a.py], files: [y/a.py]", "two files have the name 'a.py'"),
        ("command: [app], rules: [{action: deny}]", "takes no rules"),
    ],
)
def test_what_a_file_says_wrongly_is_refused_with_its_line(tmp_path: Path, said: str, problem: str) -> None:
    (tmp_path / "plain").mkdir()
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.py").write_text(folder)
    with pytest.raises(SpecError) as refused:
        net(tmp_path, said)
    assert problem in str(refused.value)
    assert "net.yaml:6: " in str(refused.value)


def test_a_program_has_the_python_of_its_own_environment_and_no_other(tmp_path: Path) -> None:
    made = venv(tmp_path / "venv")
    found = program_of(net(tmp_path, "command: [app, x], python: venv"))
    assert (found.python, [name for name, _ in found.files]) == ("python", ["python"])
    with pytest.raises(SpecError, match="the virtual environment has no program 'other'"):
        net(tmp_path, "command: [other], python: venv")
    known = controller.programs(net(tmp_path, "command: [app], python: venv"))
    assert Path(os.path.realpath("/usr/bin/python3")) in known.reads
    assert all(path.name.startswith(("python3", "libpython3")) for path in known.reads)
    (made / "pyvenv.cfg").write_text("home = /root/.ssh\n")  # what it names is not what a guest may read
    known = controller.programs(net(tmp_path, "command: app, python: venv"))
    assert not any(".ssh" in str(path) for path in known.reads)
    (made / "bin" / "python").unlink()
    (made / "bin" / "python").symlink_to("/etc/shadow")
    with pytest.raises((SpecError, MachineError)):  # root may execute nothing of it, either
        controller.programs(net(tmp_path, "command: [app], python: venv"))


def test_a_lab_kernel_mounts_the_files_and_a_host_binds_them(tmp_path: Path) -> None:
    (tmp_path / "c.py").write_text("")
    topology = net(tmp_path, "command: [c.py], environment: {A: b}")
    made = steps(plan(topology).commands)
    (started,) = (step for step in made if isinstance(step, StartProgram))
    assert started.words[-3:] == ("/usr/bin/python3", "-B", "./c.py")
    assert "A=b" in started.words
    assert started.words[:2] == ("sh", "-c")
    assert "env" in started.words
    (lab,) = (step for step in controller.with_files(made, topology, is_lab=True) if mounts(step))
    assert lab.words == (
        "mount",
        *["-r", "-t", "hostfs", "-o", "/proc/self/cwd/controller-c0", "none", "/run/tb-ovs/c0/files"],
    )
    (host,) = (step for step in controller.with_files(made, topology, is_lab=False) if mounts(step))
    place = program_store.find(program_of(topology).files)
    assert host.words == ("mount", "-o", "bind,ro", str(place), "/run/tb-ovs/c0/files")


def mounts(step: Any) -> bool:
    return getattr(step, "words", ("",))[0] == "mount"


def test_files_that_are_gone_are_named(tmp_path: Path) -> None:
    (tmp_path / "c.py").write_text(str(tmp_path))
    topology = net(tmp_path, "command: [c.py]")
    program = replace(program_of(topology), files=(("c.py", "0" * 64),))
    node = replace(topology.node("c0"), controller=Controller("c.py", program=program))
    changed = replace(topology, nodes=(*topology.nodes[:-1], node))
    with pytest.raises(MachineError, match=r"the file 'c\.py'"):
        controller.programs(changed)


def test_without_versions_switches_offer_all_and_are_asked_as_ever(tmp_path: Path) -> None:
    plain, limited = (net(tmp_path, f"command: [app]{more}") for more in ("", ", openflow: 1.0"))
    bridges = [json.dumps(steps_data(steps(plan(each).commands))) for each in (plain, limited)]
    every = "OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15"
    assert [f"protocols={every}" in bridges[0], 'protocols=OpenFlow10"' in bridges[1]] == [True, True]
    dumps = [list(openflow._dumps(each, "after")) for each in (plain, limited)]
    assert [next(step.words[4] for step in each if step.title == "flows") for each in dumps] == [
        "OpenFlow13",
        "OpenFlow10",
    ]
    assert [any(step.title == "protocols" for step in each) for each in dumps] == [False, True]


def of_versions(*offered: str | None) -> tuple[list[tuple[str, str]], list[str]]:
    """What the gate says of a switch that offers these and was asked for 1.0; whether it misses anything."""
    trial = make_trial()
    channel = Channel("c", Controller("static", versions=("1.0",)), ("s",))
    planned = replace(orders(trial).plan, channels=(channel,), datapaths=())
    protocols = None if offered == (None,) else offered
    seen = OpenFlowEvidence({"s": replace(SWITCH, protocols=protocols)}, (ControllerEvidence("c", (), {"s": 1}, ()),))
    evidence = seen_as(fine(trial, planned), openflow=seen)
    found = told(found_by(openflow.controllers, Case(trial, planned, evidence)))
    return found, [each for each in openflow.missing(Case(trial, planned, evidence), seen) if "OpenFlow" in each]


def test_a_switch_that_offers_other_versions_is_invalid() -> None:
    assert of_versions("OpenFlow10") == ([], [])
    said = "s was asked to offer OpenFlow10 and offered"
    assert of_versions("OpenFlow10", "OpenFlow13")[0] == [("invalid", f"{said} OpenFlow10, OpenFlow13")]
    assert of_versions("OpenFlow13")[0] == [("invalid", f"{said} OpenFlow13")]
    assert of_versions() == ([("invalid", f"{said} nothing")], ["the versions of OpenFlow of s"])
    assert of_versions(None) == ([("invalid", f"{said} nothing")], ["the versions of OpenFlow of s"])


@pytest.mark.parametrize("name", ["err", "out"])
def test_an_exception_of_a_program_is_found_in_what_it_said(tmp_path: Path, name: str) -> None:
    topology = net(tmp_path, "command: [ovs-testcontroller, 'ptcp:6653']")
    planned = plan(topology)
    for each in openflow.TOLD_BACK:
        (tmp_path / f"controller-c0-{each}").write_text("")
    (tmp_path / "controller-c0-state").write_text("State:\tS (sleeping)\n")
    (tmp_path / f"controller-c0.{name}").write_text("x\nTraceback (most recent call last):\n  boom\n")
    seen = openflow._controller(planned.channels[0], topology, tmp_path)
    assert seen.texts("exception") == ("Traceback (most recent call last):\n  boom",)
    assert (seen.packet_ins, seen.runs) == ({}, True)
