"""Networks that nobody tampers with, drawn by a seed: the gate must call none of them invalid."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

SEED, COUNT = 13, 30


def sane(seed: int = SEED, count: int = COUNT) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names with the changes of `make_trial`."""
    draw = random.Random(seed)
    for number in range(count):
        tool, path = draw.choice(sorted(_TOOLS)), _path(draw)
        changes: dict[str, Any] = {"path": path, "workload": _TOOLS[tool](draw)}
        if tool == "flow" and draw.random() < 0.3:
            changes["background"] = {"noise": draw.choice(_BACKGROUNDS)}
        if draw.random() < 0.3 or path.get("queue") == {"forward": "fq"}:
            changes["nic"] = "plain"
        yield f"{number}-{tool}", changes


def _path(draw: random.Random) -> dict[str, Any]:
    rate, rtt = draw.choice((5, 10, 20, 50, 100)), draw.choice((2, 5, 10, 20, 50, 80))
    path: dict[str, Any] = {"rate": f"{rate} Mbit/s", "rtt": f"{rtt} ms"}
    path["buffer"] = draw.choice(
        ("0.5 bdp", "1 bdp", "2 bdp", "4 bdp", "20 packets", "50 packets", "1000 packets", "60 kB")
    )
    path |= draw.choice(
        (
            {},
            {},
            {"loss": {"random": draw.choice(("0.1 %", "0.5 %", "1 %", "3 %"))}},
            {"loss": {"gilbert-elliott": {"p": "1 %", "r": "20 %"}}},
            {"loss": f"1 in {draw.choice((50, 200, 1000))}"},
            {"jitter": {"sd": "100 us", "distribution": "normal"}},
            {"jitter": "1 ms"},
            {"reorder": {"forward": {"random": "1 %", "by": "2 ms"}}},
            {"duplicate": {"forward": {"random": "1 %"}}},
            {"ack_loss": {"random": "5 %"}},
            {
                "schedule": [
                    {"at": "500 ms", "rate": f"{max(2, rate // 2)} Mbit/s"},
                    {"at": "1 s", "rtt": f"{rtt * 2} ms"},
                ]
            },
            {"down": {"from": "600 ms", "for": "100 ms"}},
            {"policer": {"rate": f"{max(2, rate // 2)} Mbit/s", "burst": "64 KiB"}},
            {"per_flow": f"{max(1, rate // 3)} Mbit/s"},
            {"per_flow": {"rate": f"{max(1, rate // 3)} Mbit/s", "burst": "64 KiB", "police": True}},
            {"wander": {"sd": f"{rtt * 200} us", "correlation": "500 ms", "step": "100 ms"}},
        )
    )
    if draw.random() < 0.35:
        kind = draw.choice(("codel", "fq_codel", "pie", "fq_pie", "cake", "red", "sfq", "fq", "dualpi2"))
        path |= {"queue": {"forward": kind}, "buffer": "10000 packets" if kind == "cake" else "200 packets"}
    elif draw.random() < 0.15:
        path |= {
            "rate": None,
            "buffer": "100 packets",
            "trace": {"file": "t", "opportunities": "ms " + "1x3 2x4 " * 33 + "2"},
        }
        path.pop("schedule", None)
    elif draw.random() < 0.15:
        path |= {"rate": None, "buffer": "60 packets"}
        path |= {"shaper": {"rate": "40 Mbit/s", "burst": "4 Mbit", "refill": "10 Mbit/s"}}
        path.pop("schedule", None)
    return path


def _flow(draw: random.Random) -> dict[str, Any]:
    flows = draw.choice((1, 1, 2, 4, 10))
    asked: dict[str, Any] = {
        "flows": flows,
        "duration": "2 s",
        "congestion": draw.choice(("cubic", "reno", "bbr", "vegas")),
    }
    return asked | draw.choice(({}, {}, {}, {"window": "100 kB"}, {"rate": "2 Mbit/s"}))


def _datagrams(draw: random.Random) -> dict[str, Any]:
    length = draw.choice(("1400 B", "200 B"))
    return {"tool": "udp", "rate": f"{draw.choice((1, 8, 30))} Mbit/s", "duration": "2 s", "length": length}


def _iperf3(draw: random.Random) -> dict[str, Any]:
    return {"tool": "iperf3", "duration": "2 s", "flows": draw.choice((1, 3))}


def _arrivals(draw: random.Random) -> dict[str, Any]:
    return {"arrivals": {"poisson": "20 /s"}, "size": draw.choice(("5 kB", "50 kB")), "duration": "2 s"}


_TOOLS = {"arrivals": _arrivals, "flow": _flow, "flow-again": _flow, "iperf3": _iperf3, "udp": _datagrams}
_BACKGROUNDS = (
    {"pattern": "constant", "from": "a", "to": "b", "rate": "1 Mbit/s"},
    {"pattern": "constant", "from": "b", "to": "a", "rate": "1 Mbit/s", "lead": "500 ms"},
    {"pattern": "on-off", "from": "a", "to": "b", "busy": "500 ms", "idle": "200 ms"},
    {"pattern": "heavy-tailed", "from": "b", "to": "a", "arrivals": "20 /s", "size": {"mean": "20 kB", "shape": "1.3"}},
)
