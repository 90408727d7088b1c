"""`up` waits until the routers of a network have found one another, or says who is missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from interactive import Home

from testbed.commands.network.status import _type
from testbed.interactive.overview import await_routers, with_absent


class Routers:
    """Their clock moves only while somebody sleeps; the neighbour is there from `there_s` on."""

    def __init__(self, there_s: float) -> None:
        self.now_s, self.there_s = 0.0, there_s

    def look(self) -> tuple[str, ...]:
        return () if self.now_s >= self.there_s else ("r1: no OSPF neighbour 10.0.3.2 (r3)",)

    def sleep(self, span_s: float) -> None:
        self.now_s += span_s


@pytest.mark.parametrize(
    ("there_s", "limit_s", "waited_s", "is_there"), [(0, 9, 0, True), (4, 9, 4, True), (99, 9, 9, False)]
)
def test_it_waits_no_longer_than_needed_and_than_allowed(
    there_s: float, limit_s: float, waited_s: float, is_there: bool
) -> None:
    routers = Routers(there_s)
    missing = await_routers(routers.look, limit_s, lambda: routers.now_s, routers.sleep)
    assert (missing == ()) is is_there
    assert routers.now_s == waited_s


def test_an_interrupt_ends_the_wait_and_says_what_is_missing() -> None:
    def interrupted(span_s: float) -> None:
        raise KeyboardInterrupt

    assert await_routers(Routers(99).look, 60, lambda: 0.0, interrupted) == ("r1: no OSPF neighbour 10.0.3.2 (r3)",)


def test_a_neighbour_that_is_gone_is_still_counted() -> None:
    told = {"neighbours": {"ospf": {"10.0.4.2": True}, "bgp": {"10.0.9.9": True}}, "routes": 4, "missing": []}
    found = with_absent(told, {"ospf": [["10.0.2.2", "r2"], ["10.0.4.2", "r3"]]})
    assert found["neighbours"] == {"ospf": {"10.0.2.2": False, "10.0.4.2": True}, "bgp": {"10.0.9.9": True}}
    assert _type({"type": "router", "routing": found}).startswith("router, ospf 1 of 2")


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.nightly
def test_routers_know_their_neighbours_when_a_network_is_up(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    frr = "frr: {ospf: {hello: 1 s, dead: 20 s}, within: 120 s}"
    (tmp_path / "two.yaml").write_text(
        f"name: two\nnodes: {{a: {{type: host}}, r1: {{type: router, {frr}}}, r2: {{type: router, {frr}}}}}\n"
        "links: {l: {ends: [a, r1]}, m: {ends: [r1, r2]}}\n"
    )
    try:
        done = home.run("up", tmp_path / "two.yaml", "--kernel", "lab-realtime")
        assert done.returncode == 0, done.stderr.decode()
        assert "no OSPF neighbour" not in (done.stdout + done.stderr).decode()
        (network,) = json.loads(home.says("status", "--format", "json"))
        routers = {name: node["routing"] for name, node in network["nodes"].items() if "routing" in node}
        assert {name: each["missing"] for name, each in routers.items()} == {"r1": [], "r2": []}
        assert [*routers["r1"]["neighbours"]["ospf"].values()] == [True]
    finally:
        home.clean()
