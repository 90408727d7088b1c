"""A program that is missing, or that a guest may not run, is said with what installs it, before anything starts."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from shipped import ROOT
from trials import make_trial

from testbed import package
from testbed.agent import main as agent
from testbed.error import MachineError
from testbed.kernel import confinement
from testbed.kernel.confinement import Method
from testbed.kernel.ready import doctor, feasibility, probe
from testbed.model.node.type import NODE_TYPES
from testbed.package import BASICS, OPEN_VSWITCH, owners
from testbed.plan.command import programs
from testbed.plan.step import Location, Moment, Run, StartVm, Timeline
from testbed.spec.load import load_scenario
from testbed.trial import readiness, software
from testbed.trial.orders.sequence import orders

PING = {"tool": "ping", "count": 2}
TCP = {"tool": "iperf3", "duration": "1 s"}
HTTP = {"tool": "http", "sizes": "1 kB"}
EVERY = ("ip", "tc", "nft", "ethtool", "ping")
ALL = sorted({*software.PROGRAMS, *BASICS})

Without = Callable[..., Path]


@pytest.fixture
def without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Without]:
    """Makes a folder the only one that has programs, all but some."""
    here = {name: found for name in ALL if (found := package.which(name)) is not None}

    def make(*names: str) -> Path:
        folder = tmp_path / "bin"
        folder.mkdir()
        for name in here.keys() - {*names}:
            (folder / name).symlink_to(here[name])
        monkeypatch.setenv("PATH", str(folder))
        monkeypatch.setattr(package, "SYSTEM_FOLDERS", ())
        monkeypatch.setattr(package, "GUEST_FOLDERS", (str(folder),))
        probe._looked.cache_clear()
        return folder

    yield make
    probe._looked.cache_clear()


def test_every_program_has_a_package_that_brings_it() -> None:
    assert {*software.PROGRAMS, *OPEN_VSWITCH, *EVERY} <= owners().keys()
    for name in software.PROGRAMS:
        assert "apt-get install -y " in package.fix_for(name), name
    assert package.fix_for("tc").endswith("apt-get install -y iproute2")
    assert package.fix_for("bridge").endswith("apt-get install -y iproute2")
    assert "openvswitch-switch" in package.fix_for("ovs-ofctl")


def test_a_guest_looks_where_the_agent_says() -> None:
    assert f'"{":".join(package.GUEST_FOLDERS)}"' in Path(str(agent.__file__)).read_text()


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("place", ["lab", "host"])
def test_each_base_program_is_required_of_every_network(without: Without, name: str, place: str) -> None:
    """It was "[Errno 13] Permission denied" in each trial for tc and ping."""
    without(name)
    found = feasibility.obstacles(make_trial(workload=PING).topology, place)  # type: ignore[arg-type]
    said = [each.error for each in found if f"program {name!r}" in each.text]
    assert len(said) == 1
    assert isinstance(said[0], MachineError)
    assert f"the program {name!r} is missing; to fix it, type: " in str(said[0])
    assert "apt-get install -y " in str(said[0])


CASES = (
    *((name, {"workload": PING}) for name in EVERY),
    ("iperf3", {"workload": TCP}),
    *((name, {"workload": HTTP}) for name in ("nginx", "curl", "sh", "mkdir", "truncate", "cat")),
    ("tcpdump", {"capture": [{"at": "path"}]}),
)


@pytest.mark.parametrize(("name", "what"), CASES, ids=[name for name, _ in CASES])
def test_a_trial_without_a_program_that_its_steps_start_is_refused_before_it_runs(
    without: Without, monkeypatch: pytest.MonkeyPatch, name: str, what: dict[str, object]
) -> None:
    trial = make_trial(**what)
    made = orders(trial)
    assert name in set(programs(made.steps, owners()))
    without(name)
    with pytest.raises(MachineError, match=rf"the program '{name}' is missing; to fix it, type: .*apt-get install"):
        feasibility.refuse_programs(made.steps, "lab")
    monkeypatch.setattr(readiness, "_check_openflow", lambda *_: None)
    with pytest.raises(MachineError, match=rf"the program '{name}' is missing.*; to fix it, type: .*apt-get install"):
        readiness.check(trial, made)


def test_with_all_programs_nothing_is_refused(without: Without) -> None:
    missing = [name for name in ALL if package.which(name) is None]
    if missing:
        pytest.skip(f"not here: {missing}")
    without()
    for what in ({}, {"workload": PING}, {"workload": HTTP}):
        feasibility.refuse_programs(orders(make_trial(**what)).steps, "lab")  # type: ignore[arg-type]


def test_a_program_that_only_the_users_path_finds_is_hidden_from_a_guest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "home" / "bin" / "iperf3"
    mine.parent.mkdir(parents=True)
    mine.write_text("#!/bin/sh\n")
    mine.chmod(0o755)
    monkeypatch.setenv("PATH", str(mine.parent))
    monkeypatch.setattr(package, "SYSTEM_FOLDERS", ())
    monkeypatch.setattr(package, "GUEST_FOLDERS", (str(tmp_path / "none"),))
    found = probe.lacking_program("iperf3", is_lab=True)
    assert found is not None
    assert found.what == f"the program 'iperf3' is only at {mine}, where a lab kernel cannot run it"
    assert found.fix.endswith("apt-get install -y iperf3")
    assert probe.lacking_program("iperf3", is_lab=False) is None


def test_a_link_that_leads_out_of_what_a_confined_guest_may_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = Path(str(shutil.which("sh")))
    outside = tmp_path / "tc"
    shutil.copy(target, outside)
    folder = tmp_path / "usr-local-bin"
    folder.mkdir()
    (folder / "tc").symlink_to(outside)
    (folder / "ip").symlink_to(target)
    monkeypatch.setattr(package, "GUEST_FOLDERS", (str(folder),))
    monkeypatch.setattr(confinement, "method", lambda: Method("Landlock", 4))
    assert probe.lacking_program("ip", is_lab=True) is None
    found = probe.lacking_program("tc", is_lab=True)
    assert found is not None
    assert f"only at {folder / 'tc'}" in found.what
    monkeypatch.setattr(confinement, "method", lambda: confinement.NONE)
    assert probe.lacking_program("tc", is_lab=True) is None


def test_programs_of_steps_are_found_wherever_they_are_named() -> None:
    here, there = Location("tb-a"), Location(on="vm")
    moment = Moment(0, (Run(("tc", "-batch", "-")),), (Run(("nft", "list")),))
    steps = (
        Run(("/run/tools/observe", "x")),
        Run(("ssh-like", "x"), where=there),
        StartVm(("@qemu@", "x")),
        Run(("env", "A=b", "C=d", "ovs-vsctl", "show"), where=here),
        Run(("sh",), stdin="curl -o x; date +%s\n"),
        Run(("awk", '{ system("sleep " 3) }')),
        Timeline((moment,)),
    )
    assert list(programs(steps, owners())) == [
        *("env", "ovs-vsctl", "sh", "curl", "date", "awk", "sleep", "tc", "nft"),
    ]


def test_a_file_with_a_program_s_name_is_no_program() -> None:
    """Daemons of FRR are started by their path; what looks at their files starts none of them."""
    trial = load_scenario(ROOT / "scenarios" / "ospf-failover.yaml").trials()[0]
    started = set(programs(orders(trial).steps, owners()))
    assert started & {"grep", "cat", "vtysh"} == {"grep", "cat", "vtysh"}
    assert not started & {"zebra", "ospfd"}


@pytest.mark.parametrize("name", ["tc", "bridge", "ping", "iperf3", "awk", "truncate"])
def test_the_doctor_says_what_is_missing(without: Without, name: str) -> None:
    without(name)
    (found,) = [each for each in doctor._programs() if each.what == name]
    assert not found.ok
    assert "missing" in found.detail
    assert "apt-get install -y " in found.fix
    abilities = {(each.part, each.kernel): each for each in feasibility.abilities()}
    if name in EVERY:
        assert name in {each.why.split("'")[1] for each in abilities.values() if "program" in each.why}


def test_node_types_need_what_probes_look_for() -> None:
    for kind in NODE_TYPES.values():
        feasibility.check_names(kind)
