"""What a topology in Python says is a mistake with its line, or a network: of whatever type its values are, whatever it
prints, and whatever its process says.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from testbed.error import SpecError, ValueRefused
from testbed.spec import mininet_import
from testbed.spec.load import load_topology
from testbed.spec.topology.mininet import MininetTopologyFile, nodes_and_links

NAN, ENDLESS, DEEP = float("nan"), float("inf"), "[" * 100_000
OF_A_LINK: tuple[dict[str, Any], ...] = (
    *({"bw": value} for value in ("fast", NAN, ENDLESS, [1], 10**400, {"x": 1})),
    *({"delay": value} for value in ("..ms", "1.2.3ms", "9" * 400 + "ms", {"x": 1}, [1])),
    *({"bw": 1, "max_queue_size": value} for value in ("x", NAN, ENDLESS, [1])),
    *({"loss": value} for value in ("x", [[1]], {"x": 1})),
    *({side: value} for side in ("params1", "params2") for value in (5, [1, 2], {"bw": "x"})),
)
OF_A_HOST: tuple[dict[str, Any], ...] = ({"ip": 5}, {"ip": ["x"]}, {"mac": 7}, {"mac": {"x": 1}})
FILE = MininetTopologyFile("theirs.py", "Small")


def built(host: dict[str, Any], link: dict[str, Any]) -> dict[str, Any]:
    hosts = [{"name": name, "is_switch": False, "class": None, "options": host} for name in ("a", "b")]
    return {"nodes": hosts, "links": [{"ends": ["a", "b"], "ports": [0, 0], "class": "TCLink", "options": link}]}


@pytest.mark.parametrize("link", OF_A_LINK, ids=lambda each: ascii(each)[:60])
def test_a_value_of_a_link_that_nobody_can_follow_is_refused(link: dict[str, Any]) -> None:
    with pytest.raises(ValueRefused, match=r"the link a-b has the|is not a time for tc"):
        nodes_and_links(built({}, link), FILE)


@pytest.mark.parametrize("host", OF_A_HOST, ids=str)
def test_an_address_of_a_host_is_text(host: dict[str, Any]) -> None:
    with pytest.raises(ValueRefused, match="a has the"):
        nodes_and_links(built(host, {}), FILE)


def test_what_can_be_followed_is() -> None:
    found = nodes_and_links(built({"ip": "10.0.0.1"}, {"bw": "10", "delay": 5, "loss": "1"}), FILE)
    assert found["links"]["a-b"]["rate"] == "10000000 bit/s"


def test_no_link_takes_the_place_of_another_with_a_like_name() -> None:
    """Names are cut to 32 letters, `_` becomes `-`, and the name of a node is taken."""
    far, near = "workstations-of-the-first-floor", "switch-of-the-first-floor"
    names = (f"{far}1", f"{far}2", near, "a_b", "a", "b_c", "c", "b")
    nodes = [{"name": name, "is_switch": name == near, "class": None, "options": {}} for name in names]
    pairs = [(f"{far}1", near), (f"{far}2", near), ("a_b", "c"), ("a", "b_c"), ("a", "b")]
    links = [{"ends": [*ends], "ports": [0, at], "class": None, "options": {}} for at, ends in enumerate(pairs, 1)]
    found = nodes_and_links({"nodes": nodes, "links": links}, FILE)["links"]
    assert [tuple(link["ends"]) for link in found.values()] == [
        tuple(end.replace("_", "-") for end in ends) for ends in pairs
    ]
    assert [*found] == [f"{far[:-1]}-2", f"{far[:-1]}-3", "a-b-c", "a-b-c-2", "a-b-2"]


@pytest.mark.parametrize(
    ("names", "dpids"),
    [
        (("s1", "s2"), (None, None)),  # which they have by their positions
        (("s3", "s10"), ("3", "10")),
        (("S_3", "s4-1"), ("3", "4")),
        (("s1", "edge1"), (None, None)),
        (("s3", "core"), (None, None)),
        (("s0", "s4"), (None, None)),
        (("s" + "9" * 30, "s4"), (None, None)),
    ],
)
def test_a_switch_has_the_number_in_its_name_as_in_mininet(
    names: tuple[str, str], dpids: tuple[str | None, str | None]
) -> None:
    nodes = [{"name": name, "is_switch": True, "class": None, "options": {}} for name in names]
    found = nodes_and_links({"nodes": nodes, "links": []}, FILE)["nodes"]
    assert tuple(node.get("dpid") for node in found.values() if node["type"] == "ovs") == dpids


def test_a_number_that_a_switch_is_given_stays() -> None:
    nodes = [{"name": "s2", "is_switch": True, "class": None, "options": {"dpid": "ff"}}]
    assert nodes_and_links({"nodes": nodes, "links": []}, FILE)["nodes"]["s2"]["dpid"] == "255"


@pytest.mark.parametrize("side", ["params1", "params2"])
def test_an_option_of_one_end_is_followed_or_refused(side: str) -> None:
    with pytest.raises(ValueRefused, match=f"the link a-b: {side} has the option 'ip'"):
        nodes_and_links(built({}, {side: {"ip": "10.0.1.1/24"}}), FILE)


GOOD = built({}, {})
FORGED: dict[str, Any] = {
    "nothing": "",
    "no JSON": "x",
    "deep": DEEP,
    "a list": [],
    "a number": 5,
    "nothing in it": {},
    "nodes": GOOD | {"nodes": 5},
    "a node": GOOD | {"nodes": ["a", "b"]},
    "a name": GOOD | {"nodes": [{**GOOD["nodes"][0], "name": ["a"]}]},
    "a kind": GOOD | {"nodes": [{**GOOD["nodes"][0], "is_switch": "yes"}]},
    "a class": GOOD | {"nodes": [{**each, "class": ["x"]} for each in GOOD["nodes"]]},
    "options": GOOD | {"nodes": [{**each, "options": 5} for each in GOOD["nodes"]]},
    "links": GOOD | {"links": {"a": "b"}},
    "one end": GOOD | {"links": [{**GOOD["links"][0], "ends": ["a"]}]},
    "ends": GOOD | {"links": [{**GOOD["links"][0], "ends": [1, 2]}]},
    "ports": GOOD | {"links": [{**GOOD["links"][0], "ports": [1, "2"]}]},
    "an end that is no node": GOOD | {"links": [{**GOOD["links"][0], "ends": ["a", "c"]}]},
    "a name twice": GOOD | {"nodes": [*GOOD["nodes"], GOOD["nodes"][0]]},
    "an error": {"error": 5, "line": 1},
    "a line": {"error": "x", "line": "one"},
    "what is allowed": {"error": "x", "line": 1, "allowed": ["y"]},
}


@pytest.mark.parametrize("what", FORGED)
def test_what_the_process_says_is_checked(what: str) -> None:
    said = FORGED[what] if isinstance(FORGED[what], str) else json.dumps(FORGED[what])
    with pytest.raises(SpecError, match=r"theirs\.py: (it does not say|its links and nodes)"):
        mininet_import._checked("theirs.py", said.encode())


def test_what_the_process_says_is_taken_if_it_is_as_it_should_be() -> None:
    assert mininet_import._checked("theirs.py", json.dumps(GOOD).encode()) == GOOD
    with pytest.raises(SpecError, match=r"theirs\.py:7: too bad; allowed: better"):
        mininet_import._checked("theirs.py", b'{"error": "too bad", "line": 7, "allowed": "better"}')


TOO_MUCH = {
    "output": "print('x' * (100 << 20))",
    "errors": "[sys.stderr.write('x' * (1 << 20)) for _ in range(100)]",
    "memory": "x = [bytearray(1 << 20) for _ in range(3000)]",
}


@pytest.mark.skipif(mininet_import.missing() is not None, reason="there is no Mininet")
@pytest.mark.parametrize("what", TOO_MUCH)
def test_the_process_of_a_topology_takes_no_more_than_its_share(what: str, tmp_path: Path) -> None:
    (tmp_path / "theirs.py").write_text(
        f"import sys\nfrom mininet.topo import Topo\nclass Small(Topo):\n  def build(self):\n    {TOO_MUCH[what]}\n"
        "    self.addLink(self.addHost('a'), self.addHost('b'))\n"
    )
    with pytest.raises(SpecError, match=r"File too large|MemoryError"):
        load_topology(tmp_path / "theirs.py")
