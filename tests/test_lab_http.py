"""Downloads in the lab kernel: what round trips and rates say of an object's time, and of a cache's."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pyarrow.parquet as pq
import pytest
from trials import Ran

from testbed.trial.folder import same_files
from testbed.trial.workload.http import Download

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif(shutil.which("nginx", path="/usr/sbin:/usr/bin") is None, reason="nginx is not installed"),
]

RunTrial = Callable[..., Ran]

FRAME_BYTES, PAYLOAD_BYTES = 1514, 1448
SLACK_S = 0.3e-3
"""What the clocks that curl and nginx read cost, 256 ns each, with two small frames at 100 Mbit/s or more."""

CLOCKS_S = 5e-6
"""A few of these clocks, and the microseconds that curl prints."""

STAR = {
    "name": "net",
    "nodes": {**{name: {"type": "host"} for name in ("origin", "edge", "client")}, "r": {"type": "router"}},
    "links": {
        "access": {"ends": ["client", "r"], "rate": "100 Mbit/s", "rtt": "10 ms"},
        "near": {"ends": ["edge", "r"], "rate": "1 Gbit/s", "rtt": "2 ms"},
        "far": {"ends": ["origin", "r"], "rate": "1 Gbit/s", "rtt": "150 ms"},
    },
}


def http(**changes: Any) -> dict[str, Any]:
    return {"tool": "http", "sizes": "1 B", **changes}


def downloads(ran: Ran) -> tuple[Download, ...]:
    return ran.http.downloads


@pytest.mark.parametrize("nic", ["offload", "plain"])
@pytest.mark.parametrize("rtt_ms", [2, 50, 200])
def test_a_tiny_object_takes_two_round_trips(run_trial: RunTrial, rtt_ms: int, nic: str) -> None:
    ran = run_trial(path={"rtt": f"{rtt_ms} ms"}, workload=http(downloads=3), nic=nic)
    for each in downloads(ran):
        assert each.connect_s == pytest.approx(rtt_ms / 1000, abs=SLACK_S)
        assert each.elapsed_s == pytest.approx(2 * rtt_ms / 1000, abs=SLACK_S)
    assert ran.result.verdict == "valid"


def test_a_connection_that_is_kept_costs_its_round_trip_once(run_trial: RunTrial) -> None:
    ran = run_trial(path={"rtt": "50 ms"}, workload=http(downloads=3, keepalive=True))
    elapsed_s = [each.elapsed_s for each in downloads(ran)]
    assert elapsed_s == pytest.approx([0.1, 0.05, 0.05], abs=SLACK_S)
    assert [each.connect_s is None for each in downloads(ran)] == [False, True, True]


def test_goodput_grows_with_the_size_of_the_object(run_trial: RunTrial) -> None:
    sizes = ["1 B", "1 KiB", "64 KiB", "1 MiB", "16 MiB"]
    ran = run_trial(path={"rate": "1 Gbit/s", "rtt": "50 ms"}, workload=http(sizes=sizes, downloads=2, pause="1 s"))
    rates = [each.goodput_bps_mean for each in ran.http.objects]
    assert all(small < large for small, large in pairwise(rates))
    assert len(rates) == 5
    total_bytes = sum(each.object_bytes for each in downloads(ran))
    elapsed_s = sum(each.elapsed_s for each in downloads(ran))
    assert ran.result.goodput_bps == pytest.approx(total_bytes * 8 / elapsed_s)
    assert ran.result.workload_s == pytest.approx(elapsed_s + 9, abs=0.01)


def test_as_many_downloads_as_fill_the_link_take_as_long_as_their_bytes(run_trial: RunTrial) -> None:
    ran = run_trial(
        path={"rate": "1 Gbit/s", "rtt": "10 ms"}, workload=http(sizes="10 MB", concurrency=32), samples="none"
    )
    line_bps = 1e9 * PAYLOAD_BYTES / FRAME_BYTES
    least_s = 32 * 8e7 / line_bps
    # A download whose last segments the full buffer refused waits for a timeout of 200 ms, and for one of twice that.
    most_s = least_s + 0.2 + 0.4
    assert line_bps * least_s / most_s < ran.result.goodput_bps < line_bps
    assert least_s < max(each.elapsed_s for each in downloads(ran)) < most_s
    assert len(downloads(ran)) == len(ran.result.flows) == 32


def test_what_a_cache_has_takes_two_round_trips_to_the_cache(run_trial: RunTrial) -> None:
    workload = {"from": "origin", "to": "client", "cache": "edge", **http(downloads=2)}
    ran = run_trial(topology=STAR, workload=workload)
    first, second = downloads(ran)
    assert (first.cache, second.cache) == ("MISS", "HIT")
    assert second.elapsed_s == pytest.approx(2 * 0.012, abs=SLACK_S)
    assert first.elapsed_s == pytest.approx(2 * 0.012 + 2 * 0.152, abs=2 * SLACK_S)
    assert ran.result.asked.rtt_s == 0.012
    assert ran.result.seen.rtt_s == pytest.approx(0.012, abs=10e-6)
    assert ran.result.verdict == "valid"


def test_a_warm_cache_has_everything(run_trial: RunTrial) -> None:
    workload = {"from": "origin", "to": "client", "cache": "edge", "warm": True, **http(sizes=["1 B", "1 MB"])}
    found = run_trial(topology=STAR, workload=workload).http
    assert (found.cache_hits, found.cache_misses) == (2, 0)


def test_an_origin_farther_away_than_asked_is_found(run_trial: RunTrial) -> None:
    def nearer(steps: Any) -> Any:
        text = "root handle 1: netem limit 2147483647 delay 75000us"
        found = [each for each in steps if text in each.get("stdin", "")]
        assert found
        return tuple(
            {**each, "stdin": each["stdin"].replace(text, text.replace("75000us", "65000us"))}
            if each in found
            else each
            for each in steps
        )

    workload = {"from": "origin", "to": "client", "cache": "edge", **http()}
    ran = run_trial(topology=STAR, workload=workload, tamper=nearer)
    assert ran.result.verdict == "invalid"
    assert any("between cache and origin asked 152 ms" in text for text in ran.result.warnings)


STEADY = {"rate": "20 Mbit/s", "rtt": "40 ms", "buffer": "2 bdp"}
SIZES = ["1 B", "200 kB", "4 MB"]
COUNTS = ("data_packets", "dropped_packets", "queue_drops", "random_drops", "max_backlog_packets")
SLOWER = {"at": "500 ms", "rate": "2 Mbit/s"}, {"at": "1500 ms", "rate": "80 Mbit/s"}


@pytest.mark.parametrize(
    "asked",
    [
        {"path": STEADY, "workload": http(sizes=SIZES, downloads=2)},
        {"path": STEADY, "workload": http(sizes=SIZES, downloads=2), "nic": "plain"},
        {"path": {**STEADY, "loss": "1 in 400"}, "workload": http(sizes=SIZES, downloads=2)},
        {"path": {**STEADY, "loss": "1 in 400"}, "workload": http(sizes=SIZES, downloads=2), "nic": "plain"},
        {"path": {"rate": "20 Mbit/s", "rtt": "20 ms", "schedule": [*SLOWER]}, "workload": http(sizes="4 MB")},
        {"path": {"rate": "100 Mbit/s", "rtt": "20 ms"}, "workload": http(sizes="3 MB", concurrency=4)},
        {"path": {"rate": "1 Gbit/s", "rtt": "10 ms"}, "workload": http(sizes="100 MiB")},
    ],
    ids=["steady", "plain", "lossy", "lossy-plain", "changes", "four", "fast"],
)
def test_a_client_that_reads_whole_changes_nothing_but_the_cost(run_trial: RunTrial, asked: dict[str, Any]) -> None:
    """Beside the same trial with curl alone: connects, first bytes, downloads, and the packets on the path."""

    def alone(steps: Any) -> Any:
        text = "LD_PRELOAD=/run/tools/whole.so "
        assert any(text in each.get("stdin", "") for each in steps)
        return tuple({**each, "stdin": each["stdin"].replace(text, "")} if "stdin" in each else each for each in steps)

    whole, before = run_trial(**asked), run_trial(**asked, tamper=alone)
    for one, other in zip(downloads(whole), downloads(before), strict=True):
        assert (one.object_bytes, one.number) == (other.object_bytes, other.number)
        assert one.connect_s == pytest.approx(other.connect_s, abs=CLOCKS_S)
        assert one.first_byte_s == pytest.approx(other.first_byte_s, abs=CLOCKS_S)
        assert one.elapsed_s == pytest.approx(other.elapsed_s, abs=CLOCKS_S)
    for here, there in zip(whole.result.stages, before.result.stages, strict=True):
        assert [getattr(here, name) for name in COUNTS] == [getattr(there, name) for name in COUNTS]
    assert whole.result.verdict == before.result.verdict == "valid"


def test_a_schedule_changes_the_downloads_while_they_run(run_trial: RunTrial) -> None:
    path = {"rate": "10 Mbit/s", "schedule": [{"at": "1 s", "rate": "1 Mbit/s"}]}
    ran = run_trial(path=path, workload=http(sizes="100 kB", downloads=12))
    elapsed = [each.elapsed_s for each in downloads(ran)]
    assert max(elapsed[:8]) < 0.12
    assert min(elapsed[10:]) > 0.8
    assert ran.findings == {}


def test_the_servers_send_with_the_congestion_control_that_was_asked(run_trial: RunTrial) -> None:
    for name in ("bbr", "htcp"):
        ran = run_trial(workload=http(sizes="2 MB", congestion=name))
        rows = pq.read_table(ran.folder / "samples.parquet").to_pylist()
        assert {row["congestion"] for row in rows if row["source_port"] == 80} == {name}


def test_the_same_seed_downloads_the_same_bytes(run_trial: RunTrial) -> None:
    workload = {"from": "origin", "to": "client", "cache": "edge", **http(sizes=["1 kB", "300 kB"], concurrency=4)}
    first, again = (run_trial(topology=STAR, workload=workload) for _ in range(2))
    assert same_files(first.folder, again.folder) == ()


def test_a_link_behind_a_cache_carries_what_comes_to_the_cache(run_trial: RunTrial) -> None:
    """While the cache fetches an object, packets may wait at the access link, whose rate is only a little higher."""
    rates = {"far": {"rate": "15.7 Mbit/s", "rtt": "130 ms"}, "access": {"rate": "17.9 Mbit/s", "rtt": "14 ms"}}
    links = {name: {**link, **rates.get(name, {})} for name, link in STAR["links"].items()}
    workload = http(**{"from": "origin", "to": "client", "cache": "edge"}, warm=True, sizes="16 MiB")
    ran = run_trial(topology={**STAR, "links": links}, workload=workload, samples={"interval": "200 ms"})
    assert ran.result.verdict == "valid", ran.result.findings
