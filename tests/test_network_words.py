"""What commands of running networks refuse, where there is nothing that they could allow."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from testbed import journal
from testbed.commands.network import status
from testbed.commands.network.logs import logs
from testbed.commands.text_table import TIED
from testbed.error import UserError, one_of
from testbed.interactive import link_change, overview, reachability, reload
from testbed.interactive.running_network import RunningNetwork, choose
from testbed.spec.load import load_topology

ALONE = "name: alone\nnodes: {a: {type: host}, b: {type: host}}\nlinks: {l: {ends: [a, b]}}\n"


@pytest.fixture
def network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningNetwork]:
    """Hosts with a plain link: no controller, no log, no emulator, and here no address."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    nodes = {name: {"type": "host", "where": {}, "ports": {}} for name in "ab"}
    (tmp_path / "t.yaml").write_text(ALONE)
    (tmp_path / "topology.json").write_text(json.dumps(link_change.TopologyFile.of(load(tmp_path)).written()))
    about = {"nodes": nodes, "links": [{"name": "l"}], "kernel": "lab"}
    (tmp_path / "network.json").write_text(json.dumps(about))
    with journal.noted("network", "alone", folder=str(tmp_path), since="2026-01-01T00:00:00+00:00"):
        yield choose(None)


def load(folder: Path) -> object:
    return load_topology(folder / "t.yaml")


def test_no_word_is_none_and_not_an_empty_text() -> None:
    assert one_of((), "a") == "none"
    assert one_of([], "a", "none of it") == "none of it"
    assert one_of(["ab", "c"], "a") == "ab, c (did you mean 'ab'?)"


def test_one_packet_is_not_many() -> None:
    ends = [{"node": name, "device": "eth0"} for name in "ab"]
    seen = {way: {"packets": count, "bytes": 60 * count} for way, count in (("forward", 1), ("backward", 2))}
    *_, passed = status._link({"name": "l", "ends": ends, "asked": {}, "seen": seen})
    assert passed.replace(TIED, " ") == "→ 1 packet 60 B, ← 2 packets 120 B"


def test_what_is_allowed_is_never_left_empty(network: RunningNetwork, tmp_path: Path) -> None:
    said = []
    for refuse in (
        lambda: logs("a", follow=False, name=None),
        lambda: reload.reload(network, load_topology(tmp_path / "t.yaml"), "a"),
        lambda: reachability.address(network, "b"),
        lambda: link_change.pull(network, "m", down=True),
    ):
        with pytest.raises(UserError) as refused:
            refuse()
        said.append(str(refused.value).partition("; allowed: ")[2])
    assert said == [
        "none, it has no controller, no ovs, no router with routing and no server",
        "none, it has no controllers",
        "none, no node of it has one",
        "l",
    ]


@pytest.fixture
def switched(network: RunningNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines of nft that are carried out, for a link with `down: by hand`."""
    (tmp_path / "t.yaml").write_text(ALONE.replace("[a, b]", "[a, b], rtt: 10 ms, down: by hand"))
    (tmp_path / "topology.json").write_text(json.dumps(link_change.TopologyFile.of(load(tmp_path)).written()))
    about = {**network.about, "links": [{"name": "l", "asked": {"down": "by hand", "rtt": "10 ms"}}]}
    (tmp_path / "network.json").write_text(json.dumps(about))
    done: list[str] = []
    monkeypatch.setattr(
        link_change.connection,
        "carry_out",
        lambda network, steps: done.extend(each["stdin"] for each in steps if "stdin" in each),
    )
    return done


def test_a_link_that_can_be_cut_by_hand_is_cut_and_counted(switched: list[str]) -> None:
    link_change.pull(choose(None), "l", down=True)
    assert len(switched) == 1
    assert "cut-forward" in switched[0]
    assert "mark set 32" in switched[0]
    assert choose(None).about["links"][0]["asked"]["down"] == "now"
    link_change.pull(choose(None), "l", down=True)
    assert len(switched) == 1  # it is down, and what came before is counted only once
    link_change.pull(choose(None), "l", down=False)
    assert "mark set 48" in switched[1]
    assert choose(None).about["links"][0]["asked"]["down"] == "by hand"
    link_change.pull(choose(None), "l", down=False)
    assert len(switched) == 2  # another number would lose what is in the link


def test_a_link_that_is_cut_stays_so_when_its_values_change(
    switched: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_change, "dropped", lambda network, link: {})
    monkeypatch.setattr(link_change, "substituted", lambda topology, steps, tools, is_lab: (steps, ()))
    link_change.pull(choose(None), "l", down=True)
    cut = switched[-1]
    assert link_change.change(choose(None), "l", ["rtt=20ms"]) == {"rtt": "20 ms", "down": "now"}
    assert switched[-1] == cut  # the emulator that was set up anew counts from 1
    link_change.pull(choose(None), "l", down=False)
    assert "mark set 48" in switched[-1]
    assert link_change.change(choose(None), "l", ["rtt=30ms"]) == {"rtt": "30 ms", "down": "by hand"}


@pytest.mark.parametrize(
    ("log", "has_raised"),
    [
        ("=== started 2026-01-01\n07:00:00.000 Traceback (most recent call last):\n", True),
        ("Traceback (most recent call last):\n=== started 2026-01-01\nfine\n", False),
        ("", False),
    ],
)
def test_an_app_that_had_an_exception_since_it_started_is_named(
    network: RunningNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: str, has_raised: bool
) -> None:
    (tmp_path / "network.json").write_text(json.dumps({**network.about, "nodes": {"c0": {"type": "controller"}}}))
    (tmp_path / "c0.err").write_text(log)
    monkeypatch.setattr(overview.node_files, "logs", lambda type, name, **about: (str(tmp_path / f"{name}.err"),))
    monkeypatch.setattr(overview, "run", lambda network, where, words: (0, subprocess.check_output(words), b""))
    assert overview.raised(choose(None)) == (("c0",) if has_raised else ())


def test_a_link_of_mininet_is_not_said_to_lack_a_rate(network: RunningNetwork, tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text(ALONE.replace("[a, b]", "[a, b], rate: 10 Mbit/s") + "engine: mininet\n")
    (tmp_path / "topology.json").write_text(json.dumps(link_change.TopologyFile.of(load(tmp_path)).written()))
    with pytest.raises(UserError, match="allowed: none by hand; more with 'engine: netns' in the topology file"):
        link_change.pull(network, "l", down=True)
