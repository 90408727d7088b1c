"""Networks that overlap, and routes that take the place of others: what a node can reach, and what it cannot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from testbed.error import SpecError, UserError
from testbed.model.address import address_book
from testbed.model.data_path import data_path_between
from testbed.model.topology import Topology
from testbed.spec.load import load_topology


def topology(tmp_path: Path, links: dict[str, dict[str, str]], **keys: Any) -> Topology:
    """Each link joins the nodes that it gives addresses to; r… are routers, all others hosts. `keys` are of nodes."""
    names = dict.fromkeys(name for ends in links.values() for name in ends)
    nodes = {name: {"type": "router" if name.startswith("r") else "host", **keys.get(name, {})} for name in names}
    data = {
        "name": "net",
        "nodes": nodes,
        "links": {
            name: {"ends": list(ends), "addresses": {node: ip for node, ip in ends.items() if ip}}
            for name, ends in links.items()
        },
    }
    path = tmp_path / "net.yaml"
    path.write_text(json.dumps(data))
    return load_topology(path)


def refused(tmp_path: Path, links: dict[str, dict[str, str]], **keys: Any) -> str:
    with pytest.raises(SpecError) as error:
        topology(tmp_path, links, **keys)
    return str(error.value)


LEFT, RIGHT = {"a": "10.0.0.10/24", "r": "10.0.0.1/24"}, {"b": "10.0.0.20/24", "r": "10.0.0.2/24"}


def test_one_network_on_both_sides_of_a_router_is_refused(tmp_path: Path) -> None:
    said = refused(tmp_path, {"left": LEFT, "right": RIGHT})
    assert "'r' cannot reach 10.0.0.20 of 'b' over 'right': it has 10.0.0.0/24 over 'left'" in said
    host_route = {"routes": [{"to": "10.0.0.20/32", "via": "10.0.0.20"}]}
    topology(tmp_path, {"left": LEFT, "right": RIGHT}, r=host_route)


def test_a_host_in_the_shadow_of_a_longer_prefix_is_refused_and_others_are_reached(tmp_path: Path) -> None:
    wide = {"a": "10.0.1.77/16", "r": "10.0.0.1/16"}
    narrow = {"b": "10.0.1.20/24", "r": "10.0.1.1/24"}
    beyond = {"c": "192.168.0.2/24", "r": "192.168.0.1/24"}
    said = refused(tmp_path, {"wide": wide, "narrow": narrow})
    assert "'r' cannot reach 10.0.1.77 of 'a' over 'wide': it has 10.0.1.0/24 over 'narrow'" in said
    made = topology(tmp_path, {"wide": {**wide, "a": "10.0.9.77/16"}, "narrow": narrow, "beyond": beyond})
    for host, link in (("a", "wide"), ("b", "narrow")):
        assert [hop.link.name for hop in data_path_between(made, address_book(made), "c", host).path][1] == link


def test_a_network_in_two_directions_is_refused_unless_one_hides_it_or_a_route_decides(tmp_path: Path) -> None:
    links = {
        "left": {"a": "10.0.0.10/24", "r1": "10.0.0.1/24"},
        "right": {"b": "10.0.0.20/24", "r2": "10.0.0.2/24"},
        "to-left": {"r1": "", "r3": ""},
        "to-right": {"r2": "", "r3": ""},
    }
    assert "10.0.0.0/24 is on the links 'left' and 'right', and 'r1' finds one of the two" in refused(tmp_path, links)
    hidden = {"r1": {"nat": {"out": "to-left"}}, "r2": {"nat": {"out": "to-right"}}}
    topology(tmp_path, links, **hidden)


def test_addresses_of_a_link_alone_overlap_nothing(tmp_path: Path) -> None:
    left = {"a": "fe80::a/64", "r": "fe80::1/64"}
    assert topology(tmp_path, {"left": left, "right": {"b": "fe80::b/64", "r": "fe80::2/64"}})


def test_hosts_may_take_a_network_for_theirs_that_a_router_divides(tmp_path: Path) -> None:
    """A router that answers for others (proxy ARP) makes such a network work."""
    halves = {
        "left": {"a": "10.0.1.10/16", "r": "10.0.1.1/24"},
        "right": {"b": "10.0.2.10/16", "r": "10.0.2.1/24"},
    }
    assert topology(tmp_path, halves)


def test_routes_of_the_user_come_before_connected_networks(tmp_path: Path) -> None:
    links = {"left": {"a": "10.0.0.1/24", "r1": "10.0.0.2/24"}, "mid": {"r1": "10.0.1.1/24", "r2": "10.0.1.2/24"}}
    links["right"] = {"r2": "10.0.2.1/24", "b": "10.0.2.2/24"}
    for to in ("10.0.0.0/24", "10.0.0.1/32"):
        made = topology(tmp_path, links, r1={"routes": [{"to": to, "via": "10.0.1.2"}]})
        with pytest.raises(UserError, match=r"packets for 10\.0\.0\.1 go round in a ring"):
            data_path_between(made, address_book(made), "a", "b")


def test_a_route_needs_a_neighbour_of_its_version_of_ip(tmp_path: Path) -> None:
    links = {"left": {"a": "fd00:1::1/64", "r1": "fd00:1::2/64"}, "mid": {"r1": "10.0.1.1/24", "r2": "10.0.1.2/24"}}
    links["right"] = {"r2": "fd00:2::1/64", "b": "fd00:2::2/64"}
    made = topology(tmp_path, links)
    with pytest.raises(UserError, match="r1 has no way to fd00:2::2"):
        data_path_between(made, address_book(made), "a", "b")


def test_two_routes_to_one_network_are_refused(tmp_path: Path) -> None:
    both = [{"to": "default", "via": "10.0.0.10"}, {"to": "0.0.0.0/0", "via": "10.0.0.10"}]
    assert "a route to 0.0.0.0/0 is in this list already" in refused(tmp_path, {"left": LEFT}, r={"routes": both})
