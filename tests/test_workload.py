"""The workloads http and udp: what they make the hosts do, and what their output files say. No kernel needed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from trials import make_trial, steps_data

from testbed import package
from testbed.error import MachineError, SpecError, UserError
from testbed.kernel.guest import TrialError
from testbed.model.workload import AskedFlow, FlowWorkload, HttpWorkload, UdpWorkload
from testbed.spec.load import load_scenario
from testbed.trial import readiness, ready_kernel
from testbed.trial.measured import need
from testbed.trial.orders.sequence import orders
from testbed.trial.workload import http, udp
from testbed.trial.workload.http import HttpResult
from testbed.trial.workload.udp import UdpResult

SIZES = (1, 1024, 1 << 20)
HTTP = HttpWorkload("a", "b", SIZES, downloads=4)
STAR = {
    "name": "net",
    "nodes": {**{name: {"type": "host"} for name in ("origin", "edge", "client")}, "r": {"type": "router"}},
    "links": {
        "access": {"ends": ["client", "r"], "rate": "100 Mbit/s", "rtt": "10 ms"},
        "near": {"ends": ["edge", "r"], "rate": "10 Gbit/s", "rtt": "2 ms"},
        "far": {"ends": ["origin", "r"], "rate": "1 Gbit/s", "rtt": "150 ms", "loss": "1 in 1000"},
    },
}
CACHED = {"tool": "http", "from": "origin", "to": "client", "cache": "edge", "sizes": ["1 kB", "1 MB"]}


def line(
    number: int, size: int, *, code: int = 0, status: int = 200, got: int | None = None, total: str = "0.5"
) -> str:
    return f"http://10.0.0.1:80/{size}?n={number} {code} {status} 1 {size if got is None else got} 0.1 0.2 {total} \n"


def write(folder: Path, text: str, log: str = "") -> None:
    (folder / http.OUTPUT).write_text(text)
    (folder / http.CACHE_LOG).write_text(log)
    step = {"begin_ns": 5, "end_ns": 10, "step": {"title": http.TITLE, "out": http.OUTPUT}}
    (folder / "log.jsonl").write_text(json.dumps({"step": {"sleep": 1}}) + "\n" + json.dumps(step) + "\n")


def test_every_object_is_downloaded_once_in_each_cycle_in_a_drawn_order() -> None:
    found = http.rounds(HTTP, 1)
    cycles = [found[i : i + 3] for i in range(0, 12, 3)]
    assert all(sorted(cycle) == list(SIZES) for cycle in cycles)
    assert found == http.rounds(HTTP, 1)
    assert len({http.rounds(HTTP, seed) for seed in range(5)}) > 1


def test_each_download_is_a_client_of_its_own_unless_it_keeps_its_connection() -> None:
    def clients(**changes: Any) -> list[str]:
        workload = {"tool": "http", "sizes": ["1 kB", "1 MB"], "downloads": 3, **changes}
        script = next(
            step["stdin"]
            for step in steps_data(orders(make_trial(workload=workload)).steps)
            if step.get("out") == "http.out"
        )
        return [line for line in script.splitlines() if " curl " in line]

    assert len(clients()) == 6
    assert all(text.endswith(" &") for text in clients(concurrency=4))
    assert len(clients(concurrency=4)) == 24
    (kept,) = clients(keepalive=True)
    assert kept.count("http://") == 6
    asked = [word for text in clients(concurrency=4) for word in text.split() if word.startswith("'http://")]
    assert len({word.rpartition("=")[2] for word in asked}) == 24  # each request has a number of its own


def test_every_step_of_a_server_is_undone() -> None:
    steps = steps_data(orders(make_trial(topology=STAR, workload=CACHED)).steps)
    started = [step["background"] for step in steps if str(step.get("background", "")).startswith("nginx-")]
    stopped = [step["stop"] for step in steps if str(step.get("stop", "")).startswith("nginx-")]
    assert started == ["nginx-origin", "nginx-edge"]
    assert stopped == started[::-1]


def test_nothing_is_written_outside_of_the_trial_and_its_tmpfs() -> None:
    steps = steps_data(orders(make_trial(topology=STAR, workload=CACHED)).steps)
    for step in steps:
        if str(step.get("out", "")).endswith(".conf"):
            paths = [word.rstrip(";") for word in step["stdin"].split() if word.startswith("/") and word != "/"]
            assert paths
            assert all(path.startswith(("/run/http/", "/run/trial/")) for path in paths)


def test_the_round_trip_time_of_a_cached_workload_is_that_to_the_cache() -> None:
    made = orders(make_trial(topology=STAR, workload=CACHED))
    assert made.plan.rtt_ns == 12_000_000
    assert made.plan.upstream is not None
    assert made.plan.upstream.rtt_ns == 152_000_000
    assert made.plan.rate_bps == 100_000_000  # what no download can exceed, wherever the object lay
    checks = [step for step in steps_data(made.steps) if step.get("title") == "ping"]
    assert [step["netns"] for step in checks] == ["tb-edge", "tb-origin"]


def test_a_link_that_data_crosses_both_ways_counts_as_its_way() -> None:
    plan = orders(make_trial(topology=STAR, workload=CACHED)).plan
    data = [(emulator.link, way) for emulator, way in plan.emulators_passed(is_data=True)]
    answers = [(emulator.link, way) for emulator, way in plan.emulators_passed(is_data=False)]
    assert data == [("near", "forward"), ("access", "backward"), ("far", "forward"), ("near", "backward")]
    assert answers == [("access", "forward"), ("far", "backward")]
    assert plan.emulator("far").forward.loss is not None  # type: ignore[union-attr]


def test_a_cache_is_kept_in_the_guests_memory() -> None:
    def memory(**changes: Any) -> int:
        big = {**CACHED, "sizes": "1 GB", **changes}
        return orders(make_trial(topology=STAR, workload=big)).memory_bytes

    without = {key: value for key, value in CACHED.items() if key != "cache"}
    plain = orders(make_trial(topology=STAR, workload={**without, "sizes": "1 GB"})).memory_bytes
    assert plain < 512 << 20  # the objects themselves are sparse files
    assert memory() - plain > 2 * 2 * 10**9
    assert memory(concurrency=4) - memory() > 2 * 3 * 10**9  # who misses together fetches together
    assert memory(concurrency=4, warm=True) - memory(warm=True) < 512 << 20


def test_goodput_of_downloads_one_after_the_other_leaves_pauses_out(tmp_path: Path) -> None:
    write(tmp_path, f"begin 0\n{line(0, 1000)}end 500000000\nbegin 9000000000\n{line(1, 3000)}end 9500000000\n")
    found = http.read(HttpWorkload("a", "b", (1000, 3000)), tmp_path)
    assert found.goodput_bps == 4000 * 8
    assert (found.begin_ns, found.steady_ns, found.end_ns) == (5, None, 10)
    assert [each.goodput_bps for each in need(HttpResult, found.measured).downloads] == [16_000, 48_000]


def test_goodput_of_downloads_at_once_is_over_the_time_that_all_of_them_took(tmp_path: Path) -> None:
    rest = f"{line(1, 1000, total='1.9')}{line(0, 1000, total='0.9')}"
    write(tmp_path, f"begin 0\n{rest}end 2000000000\n")
    found = http.read(HttpWorkload("a", "b", (1000,), concurrency=2), tmp_path)
    assert found.goodput_bps == 2000 * 8 / 2
    assert [flow.goodput_bps for flow in found.flows] == pytest.approx([8000 / 0.9, 8000 / 1.9])


def test_hits_and_misses_are_what_the_cache_logged(tmp_path: Path) -> None:
    log = "1000000 MISS 200 1000\n0 HIT 200 1000\n1 MISS 200 1000\n"
    write(tmp_path, f"begin 0\n{line(0, 1000)}{line(1, 1000)}end 1\n", log)
    told = http.read(HttpWorkload("a", "b", (1000,), concurrency=2, cache="c"), tmp_path)
    found = need(HttpResult, told.measured)
    assert [each.cache for each in found.downloads] == ["HIT", "MISS"]
    assert (found.cache_hits, found.cache_misses) == (1, 1)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (line(0, 1000, code=7, status=0, got=0), "curl .*: exit status 7"),
        (line(0, 1000, status=404), "the server answered 404"),
        (line(0, 1000, got=999), "999 bytes came, the object has 1000"),
        ("sh: curl: not found\n", "no download"),
        ("", "tells of 0 downloads, asked were 1"),
    ],
)
def test_a_download_that_did_not_bring_the_object_is_no_result(tmp_path: Path, text: str, says: str) -> None:
    write(tmp_path, f"begin 0\n{text}end 1\n")
    with pytest.raises(TrialError, match=says):
        http.read(HttpWorkload("a", "b", (1000,)), tmp_path)


def test_a_machine_without_nginx_is_told_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    trial = make_trial(workload={"tool": "http", "sizes": "1 kB"})
    monkeypatch.setattr(readiness, "ready_kernel", lambda kernel: ready_kernel.ReadyKernel(kernel, None, object()))  # type: ignore[arg-type]
    for which in ("which", "which_in_guest"):
        monkeypatch.setattr(package, which, lambda program: None if program == "nginx" else f"/bin/{program}")
    with pytest.raises(MachineError, match=r"'nginx' is missing.*apt-get install -y nginx-light"):
        readiness.check(trial, orders(trial))


def test_who_takes_part_and_what_is_asked_of_the_kernel() -> None:
    cached = HttpWorkload("a", "b", SIZES, cache="c", congestion="bbr")
    assert cached.pairs == (("a", "c"), ("c", "b"))
    assert HTTP.pairs == (("a", "b"),)
    assert cached.controls == ("bbr",)
    assert UdpWorkload("a", "b", 1, 1).controls == ()


@pytest.mark.parametrize(
    ("rate_bps", "length_bytes", "expected"),
    [(10**6, 1400, 1), (112 * 10**6, 1400, 1), (112 * 10**6 + 1, 1400, 2), (850 * 10**6, 1448, 8)],
)
def test_datagrams_are_sent_one_by_one_up_to_ten_thousand_in_a_second(
    rate_bps: int, length_bytes: int, expected: int
) -> None:
    assert udp.burst(rate_bps, length_bytes) == expected


def test_a_datagram_that_would_be_cut_into_fragments_is_refused() -> None:
    workload = {"tool": "udp", "rate": "1 Mbit/s", "duration": "1 s"}
    orders(make_trial(workload={**workload, "length": "1472 B"}))
    with pytest.raises(UserError, match=r"datagrams of 1473 bytes do not fit .*; allowed: up to 1472 bytes"):
        orders(make_trial(workload={**workload, "length": "1473 B"}))


FLOW_LINE = "flow 0 6001 100 98 1 3 0 1000 9700 5000000 980000000 20000000 5000000 {last} 40\n"


def udp_output(last: int) -> str:
    seconds = "second 0 0 60 1 58\nsecond 0 1 40 1 40\n"
    return "start 1000000000\nend 3000000000\n" + FLOW_LINE.format(last=last) + seconds


def test_what_udp_says_is_what_the_result_says(tmp_path: Path) -> None:
    (tmp_path / udp.OUTPUT).write_text(udp_output(last=1_900_000_000))
    found = udp.read(UdpWorkload("a", "b", 500_000, 2 * 10**9, 1000), tmp_path)
    assert found.goodput_bps == 98 * 8000 / 2  # the path was idle at the end: over the time of sending
    measured = need(UdpResult, found.measured)
    assert measured.loss == 0.02
    assert (measured.lost_datagrams, measured.duplicates, measured.out_of_order_datagrams) == (2, 1, 3)
    assert measured.jitter_s == 1e-6
    assert measured.jitter_mean_s == pytest.approx(100e-9)  # 97 steps
    assert measured.delay_mean_s == 0.01
    assert [each.lost_datagrams for each in measured.series] == [1, 1]
    assert [each.goodput_bps for each in measured.series] == [58 * 8000, 40 * 8000]


def test_a_queue_that_empties_after_the_sender_does_not_make_the_path_faster(tmp_path: Path) -> None:
    (tmp_path / udp.OUTPUT).write_text(udp_output(last=4_005_000_000))
    found = udp.read(UdpWorkload("a", "b", 500_000, 2 * 10**9, 1000), tmp_path)
    assert found.goodput_bps == 97 * 8000 / 4


@pytest.mark.parametrize("text", ["", "start 1\n", "start 1\nend 2\n", "start 1\nend 2\nflow 0 6001 5\n"])
def test_half_of_an_output_is_no_result(tmp_path: Path, text: str) -> None:
    (tmp_path / udp.OUTPUT).write_text(text)
    with pytest.raises(TrialError):
        udp.read(UdpWorkload("a", "b", 1, 1), tmp_path)


def test_the_last_group_of_datagrams_takes_its_time_too() -> None:
    """Two of 1250 bytes at 10 kbit/s take two seconds, though the second is sent after one."""
    lines = ["start 0", "end 1000000000", "flow 0 6001 2 1 0 0 0 0 0 5 5 5 5 5 0", "second 0 0 1 0 1"]
    told = udp.parse("\n".join(lines), 1250)
    assert told.goodput_bps(told.flows[0], 10_000) == 5_000


def test_a_cache_does_not_make_one_host_both_ends(tmp_path: Path) -> None:
    (tmp_path / "loop.yaml").write_text(
        "name: loop\n"
        "topology:\n"
        "  name: net\n"
        "  nodes: {a: {type: host}, e: {type: host}}\n"
        "  links: {l: {ends: [a, e], rate: 10 Mbit/s}}\n"
        "workload: {tool: http, from: a, cache: e, to: a, sizes: 1 KiB}\n"
    )
    with pytest.raises(SpecError, match=r"loop\.yaml:6: to: from and to are both 'a'"):
        load_scenario(tmp_path / "loop.yaml")


def test_one_entry_stands_for_all_flows() -> None:
    four = FlowWorkload("a", "b", 10**9, flows=4, window_bytes=(1000,))
    assert four.asked_flows == (AskedFlow("cubic", 1000),) * 4
    assert four.start_ns == (0,) * 4
    with pytest.raises(ValueError, match="congestion has 3 entries for 4 flows"):
        FlowWorkload("a", "b", 10**9, flows=4, congestion=("bbr",) * 3)
