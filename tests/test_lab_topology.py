"""Switches, routers and ready topologies in the lab kernel: VLANs, port rates, IPv6, and every file once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from trials import Ran, adding

from testbed.analysis.tcp_model import line_rate_limit_bps
from testbed.model.workload import PingWorkload
from testbed.plan.network import plan
from testbed.spec.load import load_topology
from testbed.spec.scenario.trial import trial_data
from testbed.spec.topology.file import TopologyFile
from testbed.trial.subject import network

pytestmark = pytest.mark.lab

RunTrial = Callable[..., Ran]

READY = Path(__file__).parents[1] / "topologies"
VLANS = READY / "vlans.yaml"
FILES = sorted(READY.glob("*.yaml"))
OF_THE_HOST = {"vm": "takes minutes, see test_vm", "machine": "needs computers"}
"""Node types that are not tried here."""


def data_of(name: str) -> dict[str, Any]:
    return dict(yaml.safe_load((READY / f"{name}.yaml").read_text()))


def stored(path: Path) -> dict[str, Any]:
    """As trials have it: what it names in other files is read."""
    return TopologyFile.of(load_topology(path)).written()


def far_ends(path: Path) -> tuple[str, str] | None:
    """Two hosts as many links apart as any; None without two hosts that reach each other."""
    topology = load_topology(path)
    hosts = [node.name for node in topology.nodes if node.type == "host"]
    ways = {(a, b): topology.path(a, b) for a in hosts for b in hosts if a != b}
    known = {pair: len(way) for pair, way in ways.items() if way}
    return max(known, key=lambda pair: known[pair]) if known else None


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_ready_topology_carries_a_flow_between_its_far_ends(run_trial: RunTrial, path: Path) -> None:
    """Or pings, where nothing would slow a flow down."""
    elsewhere = {node.type for node in load_topology(path).nodes} & OF_THE_HOST.keys()
    if elsewhere:
        pytest.skip(f"{', '.join(sorted(elsewhere))}: {OF_THE_HOST[min(elsewhere)]}")
    source, destination = far_ends(path) or ("", "")
    assert source, "it has no two hosts that reach each other"
    ends = {"from": source, "to": destination}
    has_rate = plan(load_topology(path), PingWorkload(source, destination)).rate_bps is not None
    tool = {"duration": "1 s"} if has_rate else {"tool": "ping", "count": 3, "interval": "1 s"}
    ran = run_trial(topology=stored(path), workload={**ends, **tool})
    assert "invalid" not in ran.findings.values()
    assert ran.result.seen.rtt_s is not None
    assert ran.result.goodput_bps > 0 if has_rate else ran.ping.received == 3


def vlans(run_trial: RunTrial, source: str, destination: str, **changes: Any) -> Ran:
    workload = {"from": source, "to": destination, **changes.pop("workload", {})}
    return run_trial(topology={**data_of("vlans"), **changes.pop("topology", {})}, workload=workload, **changes)


@pytest.mark.parametrize("ip", ["4", "6"])
def test_a_vlan_crosses_a_trunk_with_its_tag_and_another_goes_by_the_router(run_trial: RunTrial, ip: str) -> None:
    rates_bps = {}
    for destination, links in (("staff-2", 3), ("lab-2", 5)):
        workload = {"duration": "2 s", "leave_out": "1 s", "window": "1 MB"}
        ran = vlans(run_trial, "staff-1", destination, topology={"ip": ip}, workload=workload)
        assert len(ran.made.plan.path) == links
        assert ran.result.verdict == "valid"
        rates_bps[destination] = ran.result.goodput_bps
    line_bps = line_rate_limit_bps(1e9, ip_version=int(ip))
    assert rates_bps["staff-2"] == pytest.approx(line_bps, rel=1e-3)
    # Data comes in by one direction of the router's link and leaves by the other, where its ACKs take their part.
    assert 0.995 * line_bps < rates_bps["lab-2"] < 0.9995 * line_bps


def test_frames_are_tagged_on_a_trunk_and_nowhere_else(run_trial: RunTrial) -> None:
    capture = [{"at": at} for at in ("trunk", "staff-1-port", "stick")]
    ran = vlans(run_trial, "staff-1", "lab-2", workload={"bytes": "200 kB"}, capture=capture)
    tags = {name: tags_in(ran.folder / f"{name}-end1.pcap") for name in ("trunk", "staff-1-port", "stick")}
    assert tags == {"trunk": {10}, "staff-1-port": {None}, "stick": {10, 20}}


def tags_in(path: Path) -> set[int | None]:
    """The VLANs of the frames of IPv4, as scapy reads them."""
    from scapy.layers.inet import IP
    from scapy.layers.l2 import Dot1Q
    from scapy.utils import PcapReader

    with PcapReader(str(path)) as frames:
        return {frame[Dot1Q].vlan if Dot1Q in frame else None for frame in frames if IP in frame}


def test_a_vlan_hears_nothing_of_another(run_trial: RunTrial) -> None:
    """Not even of broadcasts: without static neighbours every ping begins with one."""
    forget = {"run": ["ip", "neighbour", "flush", "nud", "permanent", "dev", "eth0"]}
    forgetful = adding("sleep", *({**forget, "netns": f"tb-{host}"} for host in ("staff-1", "staff-2")))
    capture = [{"at": host} for host in ("staff-2", "lab-1", "lab-2")]
    ping = {"tool": "ping", "count": 3}
    ran = vlans(run_trial, "staff-1", "staff-2", workload=ping, capture=capture, tamper=forgetful)
    sizes = {host: (ran.folder / f"{host}-eth0.pcap").stat().st_size for host in ("staff-2", "lab-1", "lab-2")}
    assert sizes["lab-1"] == sizes["lab-2"] == 24  # the file's header
    assert sizes["staff-2"] > 24
    assert ran.ping.received == 3


def test_a_host_of_another_vlan_cannot_be_reached_past_the_router(run_trial: RunTrial) -> None:
    """A neighbour entry in place of the route: the switch itself keeps them apart."""
    words = ["ip", "route", "replace", "10.0.1.0/24", "dev", "eth0"]
    short_cut = adding("sleep", {"run": words, "netns": "tb-staff-1"})
    ping = {"tool": "ping", "count": 2}
    ran = vlans(run_trial, "staff-1", "lab-1", workload=ping, tamper=short_cut)
    assert ran.ping.received == 0
    assert ran.findings["rtt"] == "invalid"


def test_an_access_port_that_faces_a_trunk_lets_frames_in_and_none_out(run_trial: RunTrial) -> None:
    """Why such a topology is refused: what a real bridge does, its trunk made an access port under our hands."""
    words = ["bridge", "vlan", "add", "dev", "eth2", "vid", "10", "pvid", "untagged"]
    half = adding("sleep", {"run": words, "netns": "tb-ground-floor"})
    heard = {}
    for source, destination in (("staff-1", "staff-2"), ("staff-2", "staff-1")):
        ping = {"tool": "ping", "count": 2}
        ran = vlans(run_trial, source, destination, workload=ping, capture=[{"at": destination}], tamper=half)
        heard[destination] = (ran.folder / f"{destination}-eth0.pcap").stat().st_size > 24  # the file's header
        assert ran.ping.received == 0
    assert heard == {"staff-1": True, "staff-2": False}


@pytest.mark.parametrize("app", ["static", "learning-switch"])
def test_an_open_vswitch_hands_vlans_on_from_edge_to_edge(run_trial: RunTrial, app: str) -> None:
    """Tagged frames cross it, also between VLANs by a router on a stick, and the gate counts them on every link."""
    topology = data_of("vlans")
    trunk = topology["links"].pop("trunk")
    topology["nodes"] |= {"core": {"type": "ovs"}, "brain": {"type": "controller", "app": app}}
    topology["nodes"]["ground-floor"]["vlans"]["trunk"] = [10, 20]
    topology["nodes"]["first-floor"]["vlans"] = {
        **{link: vlan for link, vlan in topology["nodes"]["first-floor"]["vlans"].items() if link != "trunk"},
        "uplink": [10, 20],
    }
    topology["links"] |= {
        "trunk": {**trunk, "ends": ["ground-floor", "core"]},
        "uplink": {"ends": ["core", "first-floor"]},
    }
    for destination, names in (
        ("staff-2", ["staff-1-port", "trunk", "uplink", "staff-2-port"]),
        ("lab-2", ["staff-1-port", "trunk", "uplink", "stick", "stick", "lab-2-port"]),
    ):
        workload = {"from": "staff-1", "to": destination, "duration": "2 s", "leave_out": "1 s", "window": "100 kB"}
        ran = run_trial(topology=topology, workload=workload)
        assert [hop.link.name for hop in ran.made.plan.path] == names
        assert ran.result.verdict == "valid", ran.result.findings


@pytest.mark.parametrize(("forward", "backward", "slower"), [(100, 20, 20), (10, 1000, 10)])
def test_a_port_sends_at_its_rate_and_receives_at_any(
    run_trial: RunTrial, forward: int, backward: int, slower: int
) -> None:
    topology = {
        "name": "net",
        "nodes": {
            "a": {"type": "host"},
            "b": {"type": "host"},
            "left": {"type": "switch", "port_rate": f"{forward} Mbit/s"},
            "right": {"type": "switch", "port_rate": {"b-port": f"{backward} Mbit/s"}},
        },
        "links": {
            "a-port": {"ends": ["a", "left"]},
            "between": {"ends": ["left", "right"]},
            "b-port": {"ends": ["b", "right"]},
        },
    }
    workload = {"duration": "3 s", "leave_out": "1 s", "window": "100 kB"}
    ran = run_trial(topology=topology, workload=workload)
    assert ran.result.asked.rate_bps == slower * 1e6
    assert ran.result.goodput_bps == pytest.approx(line_rate_limit_bps(slower * 1e6), rel=1e-3)
    assert ran.result.verdict == "valid"
    # The default buffer of a port: 100 frames.
    limits = {(stage.link, stage.way): stage.buffer for stage in ran.result.stages}
    assert limits["between", "forward"] == limits["b-port", "backward"] == 100 * 1514
    assert limits["b-port", "forward"] is None


IPV6_WORKLOADS: dict[str, dict[str, Any]] = {
    "flow": {"duration": "4 s", "leave_out": "2 s", "window": "1 MB"},
    "iperf3": {"tool": "iperf3", "duration": "2 s", "window": "1 MB"},
    "iperf3-udp": {"tool": "iperf3", "protocol": "udp", "duration": "2 s", "rate": "10 Mbit/s", "length": "1000 B"},
    "udp": {"tool": "udp", "duration": "2 s", "rate": "10 Mbit/s", "length": "1000 B"},
    "http": {"tool": "http", "sizes": ["1 B", "1 MB"]},
    "ping": {"tool": "ping", "count": 5, "size": 1000},
}


@pytest.mark.parametrize("name", IPV6_WORKLOADS)
def test_every_workload_and_the_gate_work_over_ipv6(run_trial: RunTrial, name: str) -> None:
    workload = {"from": "client", "to": "server", **IPV6_WORKLOADS[name]}
    web = {"pattern": "heavy-tailed", "from": "server", "to": "client", "arrivals": "20 /s", "size": {"mean": "10 kB"}}
    background = {"web": {**web, "duration": "1 s"}} if name == "udp" else None
    topology = data_of("dual-stack") | {"ip": 6}
    ran = run_trial(topology=topology, workload=workload, **({"background": background} if background else {}))
    assert ran.result.ip_version == 6
    assert ran.result.verdict == "valid", ran.result.warnings
    assert ran.result.seen.rtt_s == pytest.approx(0.040, abs=50e-6)
    if name == "flow":
        flow = ran.result.flows[0]
        assert flow.mss_bytes == 1428
        assert ran.result.goodput_bps == pytest.approx(100e6 * 1428 / 1514, rel=1e-3)
    if name == "udp":
        assert ran.udp.lost_datagrams == 0


def test_nobody_says_anything_over_ipv6_before_the_workload_does(run_trial: RunTrial) -> None:
    """No router is looked for, and no address is asked for: neighbours are known, and nobody has it twice."""
    topology = data_of("dual-stack") | {"ip": 6}
    ping = {"tool": "ping", "from": "client", "to": "server", "count": 2}
    ran = run_trial(topology=topology, workload=ping, capture=[{"at": "wan"}])
    kinds = icmp_kinds(ran.folder / "wan-wire0.pcap")
    assert kinds == {"Echo Request", "Echo Reply"}


def icmp_kinds(path: Path) -> set[str]:
    from scapy.layers.inet6 import IPv6
    from scapy.utils import PcapReader

    with PcapReader(str(path)) as frames:
        return {frame[IPv6].payload.name.removeprefix("ICMPv6 ") for frame in frames if IPv6 in frame}


def test_iperf3_agrees_with_a_capture_of_the_same_run_read_by_scapy(run_trial: RunTrial) -> None:
    """The scenario of the reproduction, with loss, so that something is sent again."""
    from testbed.spec.load import load_scenario

    data = trial_data(load_scenario(READY.parent / "scenarios" / "links-validation.yaml", quick=True).trials()[0])
    data["topology"]["links"]["left-port"]["loss"] = "1 in 1000"
    ran = run_trial(**{key: data[key] for key in ("topology", "workload", "capture", "nic")})
    theirs, again = payload_by_scapy(ran.folder / "right-eth0.pcap")
    ours = ran.result.captures["right-eth0.pcap"]
    assert (ours.packets, ours.payload_bytes, ours.again_packets) == (len(theirs), sum(theirs), again)
    assert ours.largest_bytes == max(theirs) == 1448
    # At most a window is on its way when iperf3 stops to count: 20 ms of 30 s.
    assert sum(theirs) - ours.again_bytes == pytest.approx(ran.result.flows[0].received_bytes, rel=1e-3)
    assert 0 < ran.result.stages[0].dropped_packets <= ran.result.flows[0].retransmits
    assert ran.result.verdict == "valid"


def payload_by_scapy(path: Path) -> tuple[list[int], int]:
    """The payload of each data packet of iperf3's stream, and how many begin where one began before."""
    from scapy.layers.inet import IP, TCP
    from scapy.utils import PcapReader

    sizes, begun, again = [], set(), 0
    with PcapReader(str(path)) as frames:
        for frame in frames:
            if TCP not in frame or frame[TCP].sport != 50_000:
                continue
            size = frame[IP].len - 4 * frame[IP].ihl - 4 * frame[TCP].dataofs
            if size > 0:
                sizes.append(size)
                again += frame[TCP].seq in begun
                begun.add(frame[TCP].seq)
    return sizes, again


def test_a_route_that_names_no_device_is_on_the_one_that_leads_to_its_router(run_trial: RunTrial) -> None:
    """The gate reads back which device the kernel took, and calls another one invalid."""
    topology = {
        "name": "net",
        "nodes": {
            "a": {"type": "host"},
            "r": {"type": "router"},
            "s": {"type": "router", "routes": [{"to": "10.0.0.0/24", "via": "10.0.1.1"}]},
            "b": {"type": "host"},
        },
        "links": {
            "up": {"ends": ["a", "r"]},
            "across": {"ends": ["r", "s"], "rate": "20 Mbit/s"},
            "down": {"ends": ["s", "b"]},
        },
    }
    ping = {"tool": "ping", "from": "a", "to": "b", "count": 3}
    words = ["ip", "-n", "tb-s", "route", "replace", "10.0.0.0/24", "via", "10.0.1.1", "dev", "eth1", "onlink"]
    elsewhere = adding("out=rtt-check.out", {"run": words}, later=2)
    ran = run_trial(topology=topology, workload=ping)
    assert ran.result.verdict == "valid", ran.result.warnings
    ran = run_trial(topology=topology, workload=ping, tamper=elsewhere)
    assert ran.result.verdict == "invalid"
    assert any("route 10.0.0.0/24 on: asked eth0, the kernel has eth1" in each for each in ran.result.warnings)


def test_routes_of_hosts_go_before_those_of_the_plan(run_trial: RunTrial) -> None:
    """Two routers to the same place: the host's own route takes the longer way, in both versions of IP. The far router
    sends packets back through the port by which they came, and does not tell the host of a shorter way.
    """
    far = {"ends": ["far", "server"], "rate": "100 Mbit/s", "rtt": "30 ms"}
    near = {"ends": ["near", "server"], "rate": "100 Mbit/s", "rtt": "10 ms"}
    for to, via, ip in (("10.0.1.0/24", "10.0.0.3", 4), ("fd54:42:0:1::/64", "fd54:42::3", 6)):
        topology = {
            "name": "net",
            "ip": ip,
            "nodes": {
                "client": {"type": "host", "routes": [{"to": to, "via": via}]},
                "switch": {"type": "switch"},
                "near": {"type": "router"},
                "far": {"type": "router"},
                "server": {"type": "host"},
            },
            "links": {
                "port": {"ends": ["client", "switch"]},
                "near-port": {"ends": ["near", "switch"]},
                "far-port": {"ends": ["far", "switch"]},
                "near-path": near,
                "far-path": far,
            },
        }
        ping = {"tool": "ping", "from": "client", "to": "server", "count": 3}
        ran = run_trial(topology=topology, workload=ping)
        # The far router then goes by the near one: the server's address is on the near path.
        names = [hop.link.name for hop in ran.made.plan.path]
        assert names == ["port", "far-port", "far-port", "near-port", "near-path"]
        assert ran.ping.received == 3
        assert ran.result.verdict == "valid", ran.result.warnings


@pytest.mark.parametrize("ip", [4, 6])
def test_a_host_learns_the_mtu_of_a_link_behind_a_router_and_the_trial_is_valid(run_trial: RunTrial, ip: int) -> None:
    """RFC 1191, RFC 8201: the first segments are too large for the link in the middle, and are sent again in parts."""
    large, small = {"rate": "40 Mbit/s", "mtu": 9000}, {"rate": "20 Mbit/s", "mtu": 1400, "rtt": "10 ms"}
    topology = {
        "name": "net",
        "nodes": {name: {"type": "host" if name in "ab" else "router"} for name in "abrq"},
        "links": {
            "la": {"ends": ["a", "r"], **large},
            "lb": {"ends": ["r", "q"], **small},
            "lc": {"ends": ["q", "b"], **large},
        },
    } | ({"ip": 6} if ip == 6 else {})
    ran = run_trial(topology=topology, workload={"duration": "2 s"})
    assert [finding.text for finding in ran.result.findings if finding.verdict != "valid"] == []
    facts = network.read(ran.trial, ran.made.plan, ran.folder).facts
    assert [value for (_, what), value in facts.items() if what.startswith("cached ")] == ["1400"]
    (flow,) = ran.result.flows
    assert flow.mss_bytes == 1400 - (40 if ip == 4 else 60) - 12
