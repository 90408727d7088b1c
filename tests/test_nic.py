"""Real NICs: attached to a switch, reached by what is behind them, and given back as they were. Played by veths."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from interactive import Computer, Home, computer
from leftover import outlive

from testbed.plan.node.real_nic import Before, Now, Wanted, attach, in_use, undo

WANTED = Wanted("eth1", 1500)
BEFORE = Before(index=3, up=False, promiscuous=False, mtu_bytes=1400, lro=True, no_ipv6="0")
ATTACHED = Before(index=3, up=True, promiscuous=True, mtu_bytes=1500, lro=False, no_ipv6="1")
FREE: dict[str, Any] = {
    "link": {"ifname": "eth1", "flags": ["BROADCAST", "UP"]},
    "addresses": [{"family": "inet6", "local": "fe80::1", "prefixlen": 64, "scope": "link"}],
    "routes": [{"dst": "fe80::/64"}],
    "above": [],
    "wireless": False,
    "ssh": "",
}
ADDRESS = {"family": "inet", "local": "192.0.2.2", "prefixlen": 24, "scope": "global"}


def test_a_nic_with_nothing_but_what_the_kernel_gave_it_is_free() -> None:
    assert in_use("eth1", FREE) is None


@pytest.mark.parametrize(
    ("change", "reason", "fix"),
    [
        ({"addresses": [ADDRESS]}, "eth1 has the address 192.0.2.2/24", "sudo ip address del 192.0.2.2/24 dev eth1"),
        ({"routes": [{"dst": "default"}]}, "eth1 carries the default route of this computer", "another NIC"),
        ({"routes": [{"dst": "10.9.0.0/16"}]}, "the route to 10.9.0.0/16 goes through eth1", "sudo ip route del"),
        ({"link": {**FREE["link"], "master": "br0"}}, "eth1 is a port of br0", "sudo ip link set eth1 nomaster"),
        ({"above": ["eth1.5"]}, "eth1 carries eth1.5", "sudo ip link del eth1.5"),
        ({"wireless": True}, "eth1 is a wireless NIC", "a wired NIC"),
        ({"link": {"flags": ["LOOPBACK"]}}, "eth1 is the loopback device", "a real NIC"),
        (
            {"addresses": [ADDRESS], "ssh": "198.51.100.7 50000 192.0.2.2 22", "routes": [{"dst": "default"}]},
            "eth1 carries your SSH connection (from 198.51.100.7)",
            "another NIC",
        ),
    ],
)
def test_a_nic_in_use_is_refused_with_the_reason_and_what_to_do(change: dict[str, Any], reason: str, fix: str) -> None:
    found = in_use("eth1", {**FREE, **change})
    assert found is not None
    assert found[0].startswith(reason)
    assert found[1].startswith(fix)


def test_what_was_changed_is_put_back_and_nothing_else() -> None:
    everything = Now(ATTACHED, outer=True, inner=False, table=True, others=False)
    assert list(undo(WANTED, BEFORE, everything)) == [
        ("ip", "link", "set", "eth1", "down"),
        ("ip", "link", "set", "eth1", "promisc", "off"),
        ("ip", "link", "set", "eth1", "mtu", "1400"),
        ("ethtool", "-K", "eth1", "lro", "on"),
        ("write", "/proc/sys/net/ipv6/conf/eth1/disable_ipv6", "0"),
        ("nft", "delete", "table", "netdev", "testbed-eth1"),
        ("ip", "link", "del", "tbo-eth1"),
    ]
    assert list(undo(WANTED, ATTACHED, everything)) == [
        ("nft", "delete", "table", "netdev", "testbed-eth1"),
        ("ip", "link", "del", "tbo-eth1"),
    ]
    assert list(undo(WANTED, BEFORE, Now(BEFORE, outer=False, inner=False, table=False, others=False))) == []


def test_a_nic_that_somebody_else_uses_by_now_stays_up_and_another_of_its_name_is_left_alone() -> None:
    used = Now(ATTACHED, outer=False, inner=False, table=False, others=True)
    assert ("ip", "link", "set", "eth1", "down") not in list(undo(WANTED, BEFORE, used))
    other = Now(replace(ATTACHED, index=9), outer=False, inner=False, table=False, others=False)
    assert list(undo(WANTED, BEFORE, other)) == []


def test_only_a_nic_that_is_down_has_its_ipv6_switched_off() -> None:
    def writes(before: Before) -> list[str]:
        return [words[1].split("/")[-2] for words in attach(WANTED, before) if words[0] == "write"]

    assert writes(BEFORE) == ["tbo-eth1", "tbi-eth1", "eth1"]
    assert writes(replace(BEFORE, up=True)) == ["tbo-eth1", "tbi-eth1"]


def test_devices_of_ours_have_names_that_a_kernel_takes() -> None:
    for nic in ("eth1", "enxaabbccddeeff", "wlp0s20f3"):
        wanted = Wanted(nic, 1500)
        assert len({wanted.outer, wanted.inner}) == 2
        assert max(len(wanted.outer), len(wanted.inner)) <= 15


root = [pytest.mark.root, pytest.mark.skipif(os.geteuid() != 0, reason="needs root")]


@pytest.fixture(params=[False, True], ids=["down", "up"])
def pc(request: pytest.FixtureRequest) -> Iterator[Computer]:
    with computer(up=request.param) as made:
        yield made


@pytest.fixture
def home(pc: Computer, tmp_path: Path) -> Iterator[Home]:
    made = Home.at(tmp_path, pc.inside)
    yield made
    made.clean()


class TestAttached:
    pytestmark = root

    def test_what_is_behind_the_nic_is_reached_and_the_nic_is_given_back_as_it_was(
        self, pc: Computer, home: Home
    ) -> None:
        before = pc.state()
        home.says("up", home.topology("net", pc.nic), "--kernel", "host")
        for node in ("a", "b"):
            assert "1 received" in home.says("exec", node, "--", "ping", "-c", "1", "-W", "60", "10.0.0.99")
        seen = subprocess.run(
            ("ip", "netns", "exec", pc.world, "ping", "-c", "1", "-W", "60", "10.0.0.2"), capture_output=True, text=True
        )
        assert "1 received" in seen.stdout
        assert pc.state() != before
        home.says("down")
        assert pc.state() == before
        assert home.left() == []

    def test_a_nic_is_attached_to_one_network_at_a_time(self, pc: Computer, home: Home) -> None:
        home.says("up", home.topology("net", pc.nic), "--kernel", "host")
        refused = home.run("up", home.topology("other", pc.nic), "--kernel", "host")
        assert refused.returncode == 3
        assert b"node s: the NIC nic1 is attached to the network net; to fix it" in refused.stderr
        assert "PROMISC" in pc.ip("link", "show", pc.nic)
        assert [each["name"] for each in json.loads(home.says("status", "--format", "json"))] == ["net"]

    def test_a_nic_in_use_or_missing_is_refused_before_anything_is_touched(self, pc: Computer, home: Home) -> None:
        pc.ip("address", "add", "192.0.2.9/24", "dev", pc.nic)
        before = pc.state()
        refused = home.run("up", home.topology("net", pc.nic), "--kernel", "host")
        assert refused.returncode == 3
        what = "testbed: node s: the NIC nic1 is in use: nic1 has the address 192.0.2.9/24; to fix it, type: sudo ip"
        assert refused.stderr.decode().startswith(what)
        missing = home.run("up", home.topology("net", "eth9"), "--kernel", "host")
        assert missing.returncode == 2
        assert "node s: this computer has no network interface 'eth9'; allowed: nic1" in missing.stderr.decode()
        assert pc.state() == before
        assert home.left() == []

    def test_a_killed_keeper_leaves_a_nic_that_clean_gives_back(self, pc: Computer, home: Home) -> None:
        before = pc.state()
        home.says("up", home.topology("net", pc.nic), "--kernel", "host")
        (entry,) = (home.cache / "journal").glob("network-*")
        keeper = json.loads(entry.read_text().splitlines()[-1])["about"]["keeper"]["pid"]
        os.kill(keeper, 9)
        assert outlive([keeper]) == []
        again = home.run("up", home.topology("other", pc.nic), "--kernel", "host")
        assert (
            "was left attached by the network net, which was killed; to fix it, type: testbed clean"
            in again.stderr.decode()
        )
        would = home.says("clean", "--dry-run")
        assert "would remove: attachment of NIC nic1 to the network net" in would
        assert pc.state() != before
        # A process that goes with its keeper may still be there when it is looked for, and gone when it is removed.
        removed, foretold = (
            [line for line in said.splitlines() if "process" not in line]
            for said in (home.says("clean"), would.replace("would remove", "removed"))
        )
        assert removed == foretold
        assert pc.state() == before
        assert home.left() == []
        assert home.says("clean") == "nothing is left behind\n"
