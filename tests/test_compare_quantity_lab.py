"""Published numbers other than throughput over RTT, against real trials: what agrees, and what differs."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from comparing import Compare, exit_code

from testbed.compare.published import find

pytestmark = [pytest.mark.lab, pytest.mark.slow]

LOSS = """
name: loss
topology:
  name: net
  nodes: {a: {type: host}, b: {type: host}}
  links: {path: {ends: [a, b], rate: 1 Gbit/s, rtt: 100 ms, loss: 1 in 1000, buffer: 1 bdp}}
workload: {tool: flow, from: a, to: b, duration: 200 s, leave_out: 60 s}
sweep: {congestion: [reno, cubic], path.loss: [1 in 10000]}
samples: {interval: 1 s}
"""

WINDOW = """
name: window
topology:
  name: net
  nodes: {a: {type: host}, b: {type: host}}
  links: {path: {ends: [a, b], rate: 1 Gbit/s, rtt: 1 ms}}
workload: {tool: flow, from: a, to: b, duration: 30 s}
sweep: {window: [4 KiB, 64 KiB]}
samples: {interval: 1 s}
"""

OBJECT = """
name: object
topology:
  name: net
  nodes: {store: {type: host}, home: {type: host}}
  links: {path: {ends: [store, home], rate: 47.2 Mbit/s, rtt: 40 ms, jitter: 100 us, buffer: 1 bdp}}
workload: {tool: http, from: store, to: home, sizes: [1 MiB, 100 MiB], downloads: 1}
samples: {interval: 1 s}
repetitions: 3
"""

PING = """
name: ping
topology:
  name: net
  nodes: {a: {type: host}, b: {type: host}}
  links: {path: {ends: [a, b], rate: 1 Gbit/s, rtt: 201 ms}}
workload: {tool: ping, from: a, to: b, count: 20}
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for name, text in (("loss", LOSS), ("window", WINDOW), ("object", OBJECT), ("ping", PING)):
        (folder / f"{name}.yaml").write_text(text)
        assert exit_code("run", folder / f"{name}.yaml", "-o", folder / name) == 0
    return folder


def verdicts(said: str) -> dict[str, str]:
    return {each["published"]: each["verdict"] for each in json.loads(said)["series"]}


def test_reno_has_the_window_of_the_rfc_and_linux_cubic_a_larger_one(compare: Compare, runs: Path) -> None:
    """214 segments, where the RFC's average is 187."""
    said = compare(runs / "loss", "rfc9438", "--format", "json", "--common-rtts")
    assert verdicts(said.out) == {"reno-100ms at 1.0e-04 ratio": "agree", "cubic-100ms at 1.0e-04 ratio": "differ"}
    assert compare(runs / "loss", "rfc9438#reno-100ms").code == 5  # the other losses are missing


def test_a_window_over_another_rtt_carries_another_transfer(compare: Compare, runs: Path) -> None:
    """4 KiB in 1 ms are at most 33 Mbit/s, where 216 are published."""
    said = compare(runs / "window", "physical-virtual-links-2015#physical-cisco", "--format", "json", "--common-rtts")
    assert said.code == 1
    assert verdicts(said.out)["physical-cisco at 4 KiB"] == "differ"


def test_downloads_of_an_object_store_agree_where_the_link_was_made_for_it(compare: Compare, runs: Path) -> None:
    assert compare(runs / "object", "s3-cloudfront-2016#goodput-us-from-us").code == 0
    assert compare(runs / "object", "s3-cloudfront-2016#goodput-us").code == 1
    assert compare(runs / "object", "amazon-azure-2015#rtt-eu-ap-amazon").code == 2


def test_pings_agree_with_the_rtt_of_their_own_pair_only(compare: Compare, runs: Path) -> None:
    assert compare(runs / "ping", "amazon-azure-2015#rtt-eu-ap-amazon").code == 0
    assert compare(runs / "ping", "amazon-azure-2015#rtt-eu-ap-azure").code == 1


@pytest.mark.parametrize("name", ["loss", "window", "object"])
def test_a_run_as_a_profile_is_over_what_it_sweeps(compare: Compare, runs: Path, name: str, tmp_path: Path) -> None:
    out = tmp_path / "own.yaml"
    with out.open("w") as file, contextlib.redirect_stdout(file):
        assert exit_code("results", runs / name, "--format", "profile") == 0
    profile, _ = find(str(out))
    over = {each.over for each in profile.series.values()}
    assert over == {"loss": {"rtt"}, "window": {"window"}, "object": {"rtt", "size"}}[name]
    assert compare(runs / name, out).code != 1
