"""FRR in the lab kernel: when OSPF finds another way is known to the millisecond from what passed on the wire."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from trials import Ran, Steps, adding

from testbed.kernel.guest import TrialError
from testbed.trial.folder import same_files

pytestmark = pytest.mark.lab

RunTrial = Callable[..., Ran]
READY = Path(__file__).parents[1] / "topologies" / "ospf-triangle.yaml"
OSPF, HELLO = 89, 1
DEAD_S, DOWN_S = 4, 3
ZEBRA_S = 0.010
"""zebra collects routes for 10 ms before it works on them (ZEBRA_RIB_PROCESS_HOLD_TIME in zebra/zebra_router.h)."""
PING = {"tool": "ping", "from": "a", "to": "b", "count": 400, "interval": "20 ms"}


def triangle(*, spf: str = "0 ms", **nodes: Any) -> dict[str, Any]:
    """The link r1-r2 fails after 3 s."""
    data = dict(yaml.safe_load(READY.read_text()))
    for name in ("r1", "r2", "r3"):
        data["nodes"][name]["frr"]["ospf"]["spf"] = [spf, "1 s", "5 s"]
    data["links"]["r1-r2"]["schedule"] = [{"at": f"{DOWN_S} s", "down": True}]
    data["nodes"].update(nodes)
    return data


def hellos(path: Path, source: str) -> Iterator[float]:
    """When Hellos of a router passed (RFC 2328, appendix A.3.2), in s of the wall clock."""
    data, at = path.read_bytes(), 24
    unit_s = {0xA1B2C3D4: 1e-6, 0xA1B23C4D: 1e-9}[struct.unpack_from("=I", data)[0]]
    while at + 16 <= len(data):
        seconds, fraction, kept, _ = struct.unpack_from("=IIII", data, at)
        frame = data[at + 16 : at + 16 + kept]
        at += 16 + kept
        ip = frame[14:]
        is_hello = frame[12:14] == b"\x08\x00" and ip[9] == OSPF and ip[(ip[0] & 15) * 4 + 1] == HELLO
        if is_hello and ".".join(map(str, ip[12:16])) == source:
            yield seconds + fraction * unit_s


@pytest.mark.parametrize("spf_ms", [0, 300])
def test_routes_change_a_dead_interval_after_the_last_hello_and_a_calculation_later(
    run_trial: RunTrial, spf_ms: int
) -> None:
    """RFC 2328, 9.5 and 10.3: without a Hello for RouterDeadInterval the neighbour is down; FRR's `timers throttle spf`
    delays the calculation, and zebra its work. The clocks of a lab kernel begin at 0 together. Another route may change
    earlier: a router tells of a link up to 5 s after it told of another (MinLSInterval), and a trial waits for
    neighbours and networks, not for the shortest way to each.
    """
    ran = run_trial(topology=triangle(spf=f"{spf_ms} ms"), workload=PING, capture=[{"at": "r1-r2"}])
    assert ran.result.verdict == "valid", ran.result.warnings
    start_s = json.loads((ran.folder / "timeline.jsonl").read_text().splitlines()[0])["start_ns"] / 1e9
    changed = {}
    for router, neighbour, end, beyond in (
        ("r1", "10.0.2.2", "end0", "10.0.1.0/24"),
        ("r2", "10.0.2.1", "end1", "10.0.0.0/24"),
    ):
        came = [at - start_s for at in hellos(ran.folder / f"r1-r2-{end}.pcap", neighbour)]
        last = max(at for at in came if at < DOWN_S)
        changes = ran.result.routers[router].changes
        (changed[router],) = (each.time_s for each in changes if each.what.split()[0] == beyond)
        assert changed[router] == pytest.approx(last + DEAD_S + spf_ms / 1e3 + ZEBRA_S, abs=1e-3)
    outage_s = max(changed.values()) - DOWN_S
    # A ping is lost while the link is down and not both routers know. Without replies ping waits 20 to 21 ms.
    lost = ran.ping.sent - ran.ping.received
    assert 0.020 * (lost - 1) <= outage_s <= 0.021 * (lost + 1)


def test_the_same_seed_gives_the_same_bytes(run_trial: RunTrial) -> None:
    one, other = (run_trial(topology=triangle(), workload=PING) for _ in range(2))
    assert same_files(one.folder, other.folder) == ()


def kill(pid_file: str) -> Callable[[Steps], Steps]:
    """Before the workload begins."""
    return adding("out=rtt-check.out", {"run": ["sh", "-c", f"kill -9 $(cat {pid_file})"]})


@pytest.mark.parametrize("daemon", ["zebra", "ospfd"])
def test_a_daemon_that_dies_is_found(run_trial: RunTrial, daemon: str) -> None:
    ran = run_trial(topology=triangle(), workload=PING, tamper=kill(f"/run/frr/r3/{daemon}.pid"))
    assert ran.result.verdict == "invalid"
    assert any(f"{daemon} of r3 did not run" in warning for warning in ran.result.warnings)


def test_a_trial_that_waits_in_vain_says_for_whom(run_trial: RunTrial) -> None:
    slow = {"type": "router", "frr": {"ospf": {}, "within": "3 s"}}  # the second Hello comes after 10 s
    with pytest.raises(TrialError, match=r"after 3 s: .*no OSPF neighbour"):
        run_trial(topology=triangle(r1=slow, r2=slow, r3=slow), workload=PING)


def test_a_trial_that_is_not_to_wait_begins_at_once(run_trial: RunTrial) -> None:
    data = triangle()
    for name in ("r1", "r2", "r3"):
        data["nodes"][name]["frr"]["within"] = "none"
    ran = run_trial(topology=data, workload=PING)
    assert ran.result.routers["r1"].waited_s is None
