"""Machines without any: what files say of them, what the plan does with it, and what their playbooks are told."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import textwrap
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import asyncssh
import pytest
import yaml
from trials import steps_data

from testbed.agent import machine_daemon, nic_loan
from testbed.commands.computer import machines
from testbed.error import SpecError, UserError
from testbed.kernel.machine import playbook, ssh
from testbed.model.link.impairment import Direction
from testbed.model.node.machine import Machine, Ssh
from testbed.model.run_setting import Kernel
from testbed.model.scenario import Trial
from testbed.model.topology import Link, Node, Topology
from testbed.model.workload import PingWorkload
from testbed.plan.command import HOME, home
from testbed.plan.network import Plan, plan
from testbed.spec.load import load_scenario, load_topology
from testbed.trial.observe.sample import Query
from testbed.trial.orders.sequence import orders
from testbed.trial.start import remote
from testbed.trial.subject import cable
from testbed.trial.subject.machine import busiest_share, busy_share
from testbed.trial.subject.observer import AFTER, READ_BACK

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "topologies/machines.yaml"
GOOD = Path(__file__).parent / "specs/good/machines.yaml"


def trial() -> Trial:
    return load_scenario(GOOD).trials()[0]


def local(topology: Topology) -> Plan:
    """The plan of the same network with its emulator on this computer."""
    nodes = tuple(
        replace(node, type="host", machine=None, nic="plain") for node in topology.nodes if topology.links_of(node.name)
    )
    return plan(replace(topology, nodes=nodes, links=tuple(replace(link, emulator=None) for link in topology.links)))


def test_a_machine_gets_the_emulation_commands_of_a_namespace() -> None:
    topology = load_topology(EXAMPLE)
    netns = "tb-path.emulator"
    far_away, here = plan(topology), local(topology)
    for tool in ("tc", "nft"):
        there = [command.words for command in far_away.commands if command.tool == tool and command.netns == netns]
        assert there == [command.words for command in here.commands if command.tool == tool and command.netns == netns]
        assert there
    assert {command.on for command in far_away.commands if command.netns == netns} == {home("middle")}


def test_every_command_of_a_network_of_machines_happens_on_one() -> None:
    assert None not in {command.on for command in plan(load_topology(EXAMPLE)).commands}


def test_what_moves_into_a_namespace_is_lent_before() -> None:
    made = orders(trial())
    lent_nics = {(s["machine"], nic) for s in steps_data(made.steps) if "nics" in s for nic in s["nics"]}
    moved = {
        (str(c.on).removesuffix(HOME), c.words[2])
        for c in made.commands
        if c.words[:2] == ("link", "set") and "name" in c.words and not c.netns
    }
    assert lent_nics == moved
    assert len(moved) == 6
    kinds = ["needs" if "needs" in step else "nics" if "nics" in step else "other" for step in steps_data(made.steps)]
    assert kinds == sorted(kinds, key=["needs", "nics", "other"].index)  # all are looked at before any is touched


def test_the_inventory_says_how_a_machine_is_reached() -> None:
    machines = {node.name: node.machine for node in load_topology(EXAMPLE).nodes}
    assert machines["alpha"] is not None
    assert machines["middle"] is not None
    assert machines["alpha"].ssh == Ssh("192.0.2.11", "root")
    key = os.path.expanduser("~/.ssh/id_ed25519")
    assert machines["middle"].ssh == Ssh("192.0.2.13", "lab", 2222, key)


def test_a_machine_that_no_inventory_has_is_left_to_the_ssh_configuration(tmp_path: Path) -> None:
    copied = tmp_path / "machines.yaml"
    copied.write_text(EXAMPLE.read_text())
    (tmp_path / "inventory.yml").write_text("hosts: {beta: {address: 192.0.2.12, key: keys/id}}\n")
    machines = {node.name: node.machine for node in load_topology(copied).nodes}
    assert machines["middle"] is not None
    assert machines["middle"].ssh is None
    assert machines["middle"].described("middle") == "emulator"
    assert machines["beta"] is not None
    assert machines["beta"].ssh == Ssh("192.0.2.12", key=f"{tmp_path}/keys/id")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hosts:\n  alpha: {user: root}\n", "inventory.yml:2: alpha: the key 'address' is missing"),
        (
            "hosts:\n  alpha:\n    address: a b\n",
            "inventory.yml:3: address: 'a b' is not a host; allowed: the name or the",
        ),
        (
            "hosts:\n  alpha: {address: a, port: 0}\n",
            "inventory.yml:2: port: 0 is out of range; allowed: a whole number",
        ),
        ("hosts:\n  alpha: {adress: a}\n", "inventory.yml:2: unknown key 'adress'; allowed: address, user, port, key"),
        ("machines: {}\n", "inventory.yml:1: unknown key 'machines'; allowed: description, hosts"),
        ("hosts: [a\n", "inventory.yml:"),
        ("hosts: {}\n", "inventory.yml:1: hosts: this is empty"),
    ],
)
def test_a_bad_inventory_is_refused_at_its_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "machines.yaml").write_text(EXAMPLE.read_text())
    (tmp_path / "inventory.yml").write_text(text)
    scenario = {"name": "s", "topology": "machines.yaml", "workload": {"tool": "ping", "from": "alpha", "to": "beta"}}
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(scenario))
    for load, name in ((load_topology, "machines.yaml"), (load_scenario, "s.yaml")):
        with pytest.raises(SpecError) as refused:
            load(tmp_path / name)
        assert said in str(refused.value)


def test_files_of_an_inventory_may_be_below_a_folder_with_blanks(tmp_path: Path) -> None:
    folder = tmp_path / "my lab; $(true)"
    folder.mkdir()
    (folder / "machines.yaml").write_text(EXAMPLE.read_text())
    (folder / "inventory.yml").write_text("hosts: {beta: {address: 192.0.2.12, key: id, known_hosts: known}}\n")
    topology = load_topology(folder / "machines.yaml")
    machine = topology.node("beta").machine
    assert machine is not None
    option = f'UserKnownHostsFile="{folder}/known"'
    assert machine.ssh_words("beta") == ("ssh", "-i", f"{folder}/id", "-o", option, "192.0.2.12")
    host = playbook.inventory(topology)["machines"]["hosts"]["beta"]
    assert shlex.split(host["ansible_ssh_common_args"]) == ["-o", option]
    (folder / "known").touch()
    said = ssh._explained("beta", machine, asyncssh.HostKeyNotVerifiable("no"))
    assert str(said).endswith(f"ssh-keyscan -p 22 192.0.2.12 >> {shlex.quote(str(folder / 'known'))}")


def test_the_machines_of_all_topologies_of_a_scenario_are_prepared_and_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each once, whatever else the scenario varies."""
    for name, nic in (("near", "eth1"), ("far", "eth2")):
        nodes = {end: {"type": "machine", "nics": {"path": nic}} for end in ("a", "b")}
        topology = {"name": name, "nodes": nodes, "links": {"path": {"ends": ["a", "b"]}}}
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(topology))
    scenario = {"name": "s", "kernel": "host", "topology": "near.yaml", "repetitions": 2}
    scenario |= {"workload": {"tool": "ping", "from": "a", "to": "b"}}
    scenario |= {"sweep": {"topology": ["near.yaml", "far.yaml"], "workload.count": [1, 2]}}
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(scenario))
    played: list[tuple[str, str]] = []

    def play(name: str, topology: Topology, *_: object, **__: object) -> playbook.Played:
        played.append((name, topology.name))
        return playbook.Played({"a": 1, "b": 0})

    monkeypatch.setattr(machines, "play", play)
    machines.restore(tmp_path / "s.yaml")
    assert played == [("restore", "near"), ("restore", "far")]


@pytest.mark.parametrize(
    ("first", "second", "where"),
    [
        ("host: lab1", "host: lab1", "lab1"),
        ("host: b", "", "b"),
        ("ssh: {address: 192.0.2.1}", "ssh: {address: 192.0.2.1, port: 22, user: root}", "root@192.0.2.1 port 22"),
    ],
)
def test_two_nodes_cannot_be_one_computer(tmp_path: Path, first: str, second: str, where: str) -> None:
    text = f"""\
        name: net
        nodes:
          a: {{type: machine, nics: {{path: eth1}}, {first}}}
          b: {{type: machine, nics: {{path: eth2}}, {second}}}
        links: {{path: {{ends: [a, b]}}}}
    """
    (tmp_path / "net.yaml").write_text(textwrap.dedent(text))
    with pytest.raises(SpecError) as refused:
        load_topology(tmp_path / "net.yaml")
    what = f"'b' is the same computer as 'a': {where}; allowed: a computer for each node of type machine"
    assert str(refused.value).endswith(f"net.yaml:4: {what}")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"kernel": Kernel("lab")},
            r"a is a machine, which has a kernel of its own, and cannot be part of a lab kernel; allowed: kernel: host",
        ),
        ({"kernel": Kernel("lab-realtime")}, r"cannot be part of a lab kernel"),
    ],
)
def test_a_machine_is_no_part_of_a_lab_kernel(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        orders(replace(trial(), **changes))


def test_what_machines_saw_is_joined_in_the_order_of_time(tmp_path: Path) -> None:
    planned = plan(load_topology(EXAMPLE))
    sources = (Query("tcp", "tb-alpha"), Query("qdisc", "tb-path.emulator"), Query("link", "tb-alpha"))
    ahead = {"alpha": 1000, "middle": -500}
    for machine, ahead_ns in ahead.items():
        (tmp_path / remote.about_file(machine)).write_text(f'{{"clock_ahead_ns": {ahead_ns}}}')
    record = remote.HEADER.pack
    (tmp_path / "alpha-x.bin").write_bytes(record(5000, 0, 4) + b"tcp1" + record(9000, 1, 4) + b"link")
    (tmp_path / "middle-x.bin").write_bytes(record(4000, 0, 5) + b"qdisc")
    remote.gather(tmp_path, planned, {"x.bin": sources})
    joined = record(4000, 0, 4) + b"tcp1" + record(4500, 1, 5) + b"qdisc" + record(8000, 2, 4) + b"link"
    assert (tmp_path / "x.bin").read_bytes() == joined
    assert not (tmp_path / "alpha-x.bin").exists()


def test_ansible_is_told_how_each_machine_is_reached_and_what_it_becomes() -> None:
    said = playbook.inventory(load_topology(EXAMPLE))
    hosts = said["machines"]["hosts"]
    assert hosts["alpha"]["ansible_host"] == "192.0.2.11"
    assert hosts["alpha"]["ansible_become"] is False
    assert hosts["middle"]["ansible_become"] is True
    assert hosts["middle"]["ansible_port"] == 2222
    assert hosts["middle"]["testbed_nics"] == ["eth1", "eth2"]
    assert list(said["emulators"]["hosts"]) == ["middle"]
    own = playbook.inventory(trial().topology)["machines"]["hosts"]["a"]["testbed_sysctls"]
    assert own["net.core.rmem_max"] == "67108864"
    assert "net.ipv4.tcp_sack" not in own


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted((ROOT / "playbooks").glob("*.yml")), ids=lambda path: path.stem)
def test_ansible_understands_a_playbook(path: Path, tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("ansible-playbook")
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "ANSIBLE_HOME": str(tmp_path), "HOME": str(tmp_path)}
    environment["ANSIBLE_CONFIG"] = str(path.with_name("ansible.cfg"))
    words = (program, "-i", "localhost,", "--syntax-check", path)
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_playbooks_need_no_collection() -> None:
    def tasks(found: Any) -> list[dict[str, Any]]:
        return [task for play in found for task in play.get("tasks", [])]

    plain = {"name", "register", "when", "loop", "loop_control", "args", "vars", "changed_when", "failed_when"}
    plain |= {"delegate_to", "become", "become_user"}
    for path in (ROOT / "playbooks").glob("*.yml"):
        for task in tasks(yaml.safe_load(path.read_text())):
            (module,) = set(task) - plain
            assert module.startswith("ansible.builtin.") or module == "testbed_settings"


def vagrant() -> bool:
    return subprocess.run(("sh", "-c", "command -v vagrant"), capture_output=True).returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(not vagrant(), reason="needs vagrant")
def test_vagrant_understands_the_vagrantfile(tmp_path: Path) -> None:
    environment = {**os.environ, "VAGRANT_CHECKPOINT_DISABLE": "1", "VAGRANT_HOME": str(tmp_path)}
    environment["VAGRANT_DOTFILE_PATH"] = str(tmp_path / "dot")
    words = ("vagrant", "validate", "--ignore-provider")
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "validated successfully" in done.stdout


def test_the_routes_that_the_kernel_makes_itself_are_not_made_again() -> None:
    own = ["198.51.100.0/24 via 192.0.2.77 metric 50", "default via 192.0.2.1 proto static"]
    kernels = ["192.0.2.0/24 proto kernel scope link src 192.0.2.1", "local 192.0.2.1 table local proto kernel"]
    assert [line for line in own + kernels if nic_loan._is_own(line)] == own


def bridged(real_nic: str | None, **link: Any) -> Topology:
    """A host here behind a switch, and a machine behind the switch's real NIC."""
    machine = Machine(nics=(("out", ("eth1",)),))
    switch = Node("sw", "switch")
    object.__setattr__(switch, "real_nic", real_nic)
    nodes = (Node("h", "host"), switch, Node("m", "machine", machine=machine))
    return Topology("bridged", nodes, (Link("in", ("h", "sw")), Link("out", ("sw", "m"), **link)))


def test_the_busiest_of_a_machines_processors_is_told_by_itself() -> None:
    """Seven of eight do nothing while one takes the packets of a NIC."""
    idle = "".join(f"cpu{n} 5 0 5 %d 0 0 0 0\n" for n in range(7))
    before = f"cpu  40 0 40 800 0 0 0 0\n{idle % ((100,) * 7)}cpu7 5 0 5 100 0 0 0 0\nintr 1\n"
    after = f"cpu  40 0 40 1505 0 0 95 0\n{idle % ((200,) * 7)}cpu7 5 0 5 105 0 0 95 0\nintr 9\n"
    assert busy_share(before, after) == pytest.approx(0.11875)
    assert busiest_share(before, after) == pytest.approx(0.95)
    assert busiest_share(before, before) is None


def test_what_ethtool_says_of_a_nic_is_judged(tmp_path: Path) -> None:
    made = orders(trial())
    case: Any = SimpleNamespace(trial=trial(), plan=made.plan)

    def judged(speed: str, duplex: str) -> tuple[list[str], list[str]]:
        """What is found if a NIC of the link `far`, of 100 Mbit/s, says this, and all others 100 Mbit/s."""
        for name in (READ_BACK, AFTER):
            (tmp_path / name).write_bytes(b"")
        for machine, each in cable.nics(trial(), made.plan):
            told = (speed, duplex) if each.device == "enp3s0f1" else ("100Mb/s", "Full")
            text = "Settings for {}:\n\tSpeed: {}\n\tDuplex: {}\n".format(each.name, *told)
            (tmp_path / cable.file(machine, each.device)).write_text(text)
        seen = cable.CABLES.read(trial(), made.plan, tmp_path)
        assert len(seen) == 6
        return [f"{each.verdict}: {each.text}" for each in cable.speed(case, seen)], [*cable.missing(case, seen)]

    slow = "invalid: enp3s0f1 of r runs at 10 Mbit/s, and the link far was asked to have 100 Mbit/s"
    assert judged("10Mb/s", "Full")[0] == [slow]
    assert judged("100Mb/s", "Half")[0] == ["suspect: enp3s0f1 of r sends and receives by turns (half duplex)"]
    assert judged("1000Mb/s", "Full")[0] == judged("Unknown!", "Unknown! (255)")[0] == []
    assert "how often the cable of enp3s0f1 of r came loose" in judged("100Mb/s", "Full")[1]


def test_a_machine_can_stand_behind_a_real_nic_of_a_switch_here() -> None:
    planned = plan(bridged("eth7"), PingWorkload("h", "m"))
    assert [hop.link.name for hop in planned.path] == ["in", "out"]
    on_the_switch = [command.words for command in planned.commands if command.netns == "tb-sw"]
    assert ("link", "set", "eth0", "master", "br0") in on_the_switch
    assert not any("eth1" in words for words in on_the_switch)
    assert {command.on for command in planned.commands if command.netns == "tb-m"} == {home("m")}


@pytest.mark.parametrize(
    ("real_nic", "link", "said"),
    [
        (
            None,
            {},
            r"to sw, which is on this computer and has no network interface for it; allowed: a switch with 'nic",
        ),
        (
            "eth7",
            {"forward": Direction(rate_bps=10**6)},
            r"there is no emulator between them to impair it; allowed: ",
        ),
    ],
)
def test_a_machine_that_this_computer_has_no_cable_to_is_refused(
    real_nic: str | None, link: dict[str, Any], said: str
) -> None:
    with pytest.raises(UserError, match=said):
        plan(bridged(real_nic, **link))


@pytest.mark.parametrize(("parent", "status"), [(None, 0), (1, 1)])
def test_a_program_on_a_machine_does_not_begin_if_who_started_it_is_gone(parent: int | None, status: int) -> None:
    done = subprocess.run(["true"], preexec_fn=partial(machine_daemon.die_with, parent or os.getpid()), check=False)
    assert done.returncode == status


RUNS = "{{ lookup('ansible.builtin.pipe', 'touch %s') }}"
"""Text that Ansible reads as a template, and which then runs a program on this computer."""
SHOWS = """
- hosts: machines
  gather_facts: false
  connection: local
  tasks:
    - ansible.builtin.debug:
        msg: [
          "{{ testbed_sysctls }}", "{{ testbed_nics }}", "{{ testbed_output }}", "{{ testbed_looks }}",
          "{{ ansible_host }}", "{{ ansible_user }}", "{{ ansible_ssh_private_key_file }}",
          "{{ ansible_ssh_common_args }}",
        ]
"""


def test_nothing_of_a_file_is_a_template_for_ansible(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even with text that the reader of files refuses."""
    (tmp_path / "shows.yml").write_text(SHOWS)
    (tmp_path / "ansible.cfg").write_text("[defaults]\nnocolor = True\n")
    monkeypatch.setattr(playbook, "PLAYBOOKS", tmp_path)
    monkeypatch.setattr(playbook, "LOOKS", {"kernel": "uname -a"})
    monkeypatch.chdir(tmp_path)
    runs = [RUNS % (tmp_path / f"ran-{number}") for number in range(8)]
    ssh = Ssh(runs[0], runs[1], 22, runs[2], runs[3])
    machine = Machine(runs[4], (("path", (runs[5],)),), False, ssh)
    node = Node("m", "machine", sysctls=(("net.core.x", runs[6]),), machine=machine)
    played = playbook.play("shows", Topology("t", (node,), ()), Path(runs[7]))
    assert played.changed == {"m": 0}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ansible.cfg", "shows.yml"]
    assert playbook.plain(["a", {"b": ("c",)}, 1]) == [
        {"__ansible_unsafe": "a"},
        {"b": [{"__ansible_unsafe": "c"}]},
        1,
    ]
