"""DHCP and DNS in the lab kernel: leases, what is seen of them on the wire, names, and what happens without them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from interactive import Home
from trials import Ran, Steps, adding

from testbed.interactive.build import awaited_ports
from testbed.kernel.guest import TrialError
from testbed.plan.node import service
from testbed.plan.step import data as data_of
from testbed.spec.load import load_topology
from testbed.trial.folder import same_files

pytestmark = pytest.mark.lab

RunTrial = Callable[..., Ran]
READY = Path(__file__).parents[1] / "topologies" / "dhcp-lan.yaml"
ASK = {
    "tool": "command",
    "from": "laptop",
    "to": "ns",
    "client": {"at": "laptop", "run": ["getent", "ahostsv4", "www.example.org"]},
    "measure": {"last": {"output": r"10\.0\.3\.(\d+) +STREAM"}},
}
PING = {"tool": "ping", "from": "laptop", "to": "web", "count": 3, "interval": "100 ms"}


def lan(**nodes: Any) -> dict[str, Any]:
    data = dict(yaml.safe_load(READY.read_text()))
    data["nodes"].update(nodes)
    return data


def test_a_trial_begins_with_the_leases_and_the_same_seed_gives_the_same_bytes(run_trial: RunTrial) -> None:
    one, other = (run_trial(topology=lan(), workload=PING) for _ in range(2))
    assert one.result.verdict == "valid", one.result.warnings
    assert one.ping.received == 3
    leases = (one.folder / "leases-gateway.txt").read_text()
    assert " 10.0.0.100 laptop " in leases
    assert " 10.0.0.101 phone " in leases
    assert same_files(one.folder, other.folder) == ()


def before_the_workload(step: dict[str, Any]) -> Callable[[Steps], Steps]:
    return adding("out=rtt-check.out", step)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("kill -9 $(cat /run/tb-service/gateway/dnsmasq.pid)", "dnsmasq of gateway did not run"),
        ("ip -n tb-laptop address replace 10.0.0.77/24 dev eth0", "10.0.0.77"),
    ],
)
def test_a_dead_server_and_another_address_are_found(run_trial: RunTrial, command: str, said: str) -> None:
    ran = run_trial(topology=lan(), workload=PING, tamper=before_the_workload({"run": ["sh", "-c", command]}))
    assert ran.result.verdict == "invalid"
    assert any(said in warning for warning in ran.result.warnings), ran.result.warnings


def test_a_trial_without_a_lease_ends_with_the_reason(run_trial: RunTrial) -> None:
    def without_server(steps: Steps) -> Steps:
        return tuple(each for each in steps if each.get("run", [""])[0] != "dnsmasq")

    with pytest.raises(TrialError, match="no lease"):
        run_trial(topology=lan(), workload=PING, tamper=without_server)


def test_a_program_of_a_trial_asks_the_servers_for_names(run_trial: RunTrial) -> None:
    """Its own server does not know the name, and asks the one on the net."""
    ran = run_trial(topology=lan(), workload=ASK)
    assert ran.result.verdict == "valid", ran.result.warnings
    assert "10.0.3.2" in (ran.folder / "command-client-1.out").read_text()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home.at(tmp_path)
    made.says("up", READY, "--kernel", "lab-realtime")
    yield made
    made.says("down", "dhcp-lan")
    assert made.left() == []
    made.clean()


def test_in_a_standing_network_one_sees_all_four_messages_and_names(home: Home) -> None:
    """RFC 2131, figure 3: DISCOVER, OFFER, REQUEST, ACK; option 53 of tcpdump's -v says which. Nobody asks twice."""
    see = "tcpdump -v -n -l -i eth0 -c 4 'port 67 or port 68' >/tmp/seen 2>&1 & pid=$!; "
    wait = "until grep -q 'listening on eth0' /tmp/seen; do sleep 0.1; done; "  # what came before has no filter yet
    asks = "udhcpc -n -q -T 60 2>&1; wait $pid; cat /tmp/seen; rm /tmp/seen"
    said = home.says("exec", "laptop", "--", "sh", "-c", see + wait + asks)
    kinds = [word for line in said.splitlines() if "DHCP-Message" in line for word in line.split()[-1:]]
    assert kinds == ["Discover", "Offer", "Request", "ACK"]
    assert "lease of 10.0.0.100 obtained from 10.0.0.1" in said
    assert "10.0.0.1\n" in home.says("exec", "laptop", "--", "cat", "/etc/resolv.conf")
    for name, address in (("www.example.org", "10.0.3.2"), ("phone.office.lab", "10.0.0.101")):
        assert address in home.says("exec", "laptop", "--", "getent", "ahostsv4", name)
    assert home.run("exec", "laptop", "--", "getent", "ahostsv4", "nobody.office.lab").returncode == 2
    log = home.says("logs", "gateway")
    assert "DHCPDISCOVER(eth0) 02:54:42:00:00:00" in log
    assert "forwarded www.example.org to 10.0.2.2" in log
    assert "1 received" in home.says("exec", "laptop", "--", "ping", "-c", "1", "-W", "60", "web.office.lab")
    (network,) = json.loads(home.says("status", "--format", "json"))
    found = network["nodes"]["gateway"]["services"]
    assert (found["runs"], found["dns"]) == (True, "office.lab")
    assert {(each["address"], each["host"]) for each in found["leases"]} == {
        ("10.0.0.100", "laptop"),
        ("10.0.0.101", "phone"),
    }
    assert network["nodes"]["ns"]["services"] == {"runs": True, "dns": "net.lab", "leases": None}
    assert "services" not in network["nodes"]["isp"]
    assert not network["events"]
    assert "router, dhcp 2 leases, dns office.lab" in " ".join(home.says("status").split())


def test_status_tells_of_a_server_that_does_not_run(home: Home) -> None:
    pid = f"{service.folder('gateway')}/dnsmasq.pid"
    end = f"pid=$(cat {pid}) && kill -9 $pid && while [ -e /proc/$pid ]; do sleep 0.1; done"
    home.says("exec", "gateway", "--", "sh", "-c", end)
    (network,) = json.loads(home.says("status", "--format", "json"))
    assert network["nodes"]["gateway"]["services"]["runs"] is False
    assert "gateway: its DHCP or DNS server does not run" in network["events"]
    assert network["nodes"]["ns"]["services"]["runs"] is True


def test_a_switch_of_a_standing_network_passes_the_first_ping(run_trial: RunTrial) -> None:
    """Right after set-up its ports are still disabled for a second; the steps that `testbed up` adds wait for them."""
    data = yaml.safe_load((READY.parent / "home-nat.yaml").read_text())
    ping = {"run": ["ping", "-c", "1", "-W", "2", "10.0.2.2"], "netns": "tb-pc", "may_fail": True}
    waits = [data_of(step) for step in awaited_ports(load_topology(READY.parent / "home-nat.yaml"))]
    at_once = adding("sleep", *waits, {**ping, "out": "first.out"})
    workload = {"tool": "ping", "from": "pc", "to": "server", "count": 1}
    ran = run_trial(topology=data, workload=workload, tamper=at_once)
    assert "1 received" in (ran.folder / "first.out").read_text()


def test_status_counts_whole_frames_in_both_directions(tmp_path: Path) -> None:
    """A ping is 98 bytes with its Ethernet header, whichever NIC merges: a merges, r does not."""
    made = Home.at(tmp_path)
    path = tmp_path / "net.yaml"
    nodes = {"a": {"type": "host"}, "r": {"type": "router"}, "b": {"type": "host", "nic": "plain"}}
    links = {"path": {"ends": ["a", "r"], "rate": "10 Mbit/s"}, "plain": {"ends": ["r", "b"]}}
    path.write_text(yaml.safe_dump({"name": "net", "nodes": nodes, "links": links}))
    made.says("up", path, "--kernel", "lab-realtime")
    try:
        assert "5 received" in made.says("exec", "a", "--", "ping", "-c", "5", "-i", "0.2", "b")
        (network,) = json.loads(made.says("status", "--format", "json"))
        for link in network["links"]:
            for way in ("forward", "backward"):
                seen = link["seen"][way]
                assert (seen["packets"], seen["bytes"]) == (5, 490), (link["name"], way)
                assert seen.get("left", {"bytes": 490})["bytes"] == 490, (link["name"], way)
    finally:
        made.says("down", "net")
        made.clean()
