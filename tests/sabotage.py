"""The sabotage list, made from the steps of plans: every parameter that a plan sets is left out, halved and doubled,
and what nobody asked for is added. `python tests/sabotage.py` carries the list out and counts what the gate catches.

To count what the gate of another checkout catches of the same list: `PYTHONPATH=CHECKOUT python tests/sabotage.py`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trials import Steps, adding, make_trial, steps_data, tampered

from testbed.trial import run as runner
from testbed.trial.orders.sequence import orders

Step = dict[str, Any]

EMULATOR = "tb-path.emulator"


def _two(**link: Any) -> dict[str, Any]:
    path = {"ends": ["a", "b"], "rate": "100 Mbit/s", "rtt": "10 ms", "buffer": "1 bdp", **link}
    return {"nodes": {"a": {"type": "host"}, "b": {"type": "host"}}, "links": {"path": path}}


LANES = {
    "nodes": {
        "a": {"type": "host"},
        "s": {"type": "switch", "vlans": {"in": 10, "up": [10, 20]}},
        "r": {"type": "router"},
        "b": {"type": "host"},
    },
    "links": {
        "in": {"ends": ["a", "s"]},
        "up": {"ends": ["s", "r"]},
        "path": {"ends": ["r", "b"], "rate": "100 Mbit/s", "rtt": "10 ms"},
    },
}
ROUTED = {
    "ip": "both",
    "nodes": {name: {"type": kind} for name, kind in (("a", "host"), ("s", "switch"), ("r", "router"), ("b", "host"))},
    "links": {
        "in": {"ends": ["a", "s"]},
        "up": {"ends": ["s", "r"]},
        "path": {"ends": ["r", "b"], "rate": "100 Mbit/s", "rtt": "10 ms"},
    },
}
SDN = {
    "nodes": {"a": {"type": "host"}, "s": {"type": "ovs"}, "b": {"type": "host"}},
    "links": {"in": {"ends": ["a", "s"]}, "path": {"ends": ["s", "b"], "rate": "100 Mbit/s", "rtt": "10 ms"}},
}
MININET = {
    "engine": "mininet",
    "nodes": {"a": {"type": "host"}, "s": {"type": "switch"}, "b": {"type": "host"}},
    "links": {
        "in": {"ends": ["a", "s"]},
        "path": {"ends": ["s", "b"], "rate": "50 Mbit/s", "delay": "5 ms", "buffer": None},
    },
}
ECN = _two(queue={"forward": {"type": "red", "ecn": True}, "backward": "sfq"}, buffer="100 packets")
for _node in ECN["nodes"].values():
    _node["ecn"] = "on"
CHAIN = {"p": "1 %", "r": "20 %", "loss_bad": "90 %", "loss_good": "0.1 %"}
UDP = {"tool": "udp", "rate": "40 Mbit/s", "duration": "1 s"}
IPERF3 = {"tool": "iperf3", "duration": "1 s", "window": "100 kB"}
SLOW = "10 Mbit/s"
TRACES = {
    "forward": {"file": "lines.trace", "opportunities": "ms " + "1x3 2x4 " * 33 + "2"},
    "backward": {"file": "table.csv", "opportunities": "ns 50000000:24000000 50000000:6000000"},
}
WEB = {
    "at": "b",
    "run": ["python3", "-m", "http.server", "80", "--directory", "/etc"],
    "ready": {"tcp": 80},
    "stop": "INT",
}
CURL = {
    "at": "a",
    "run": ["curl", "-s", "-S", "-o", "{out}/got", "-w", "took %{time_total} s", "http://{server.address}/services"],
    "runs": 2,
    "start": "100 ms",
    "pause": "50 ms",
}
COMMAND = {
    "tool": "command",
    "from": "b",
    "to": "a",
    "server": WEB,
    "client": CURL,
    "measure": {"took": {"output": "took ([0-9.]+) s", "unit": "s", "better": "less"}},
    "collect": ["out/got"],
}

PLANS: dict[str, dict[str, Any]] = {
    "plain": {"path": {"loss": {"every": 100, "phase": 7}, "buffer": "40 packets"}, "nic": "plain"},
    "random": {"path": {"loss": {"random": "1 %"}, "jitter": {"sd": "100 us", "distribution": "normal"}}},
    "few": {"path": {"loss": {"random": "0.1 %"}}, "workload": {"bytes": "2 MB", "flows": 2}},
    "chain": {"path": {"loss": {"gilbert-elliott": CHAIN}}},
    "policy": {"path": {"policy": {"after": "500 kB", "rate": "20 Mbit/s"}}, "workload": UDP},
    "schedule": {
        "path": {
            "schedule": [
                {"at": "300 ms", "rate": "20 Mbit/s"},
                {"at": "600 ms", "rtt": "6 ms", "loss": "1 in 50"},
                {"at": "900 ms", "buffer": "50 kB"},
            ]
        },
        "workload": {"duration": "1500 ms", "flows": 2},
        "samples": {"interval": "20 ms"},
    },
    "window": {"workload": {"window": "100 kB"}, "sysctls": {"net.ipv4.tcp_sack": 0, "net.ipv4.tcp_reordering": 6}},
    "iperf3": {"workload": IPERF3},
    "iperf3-udp": {"workload": {**IPERF3, "protocol": "udp", "rate": "20 Mbit/s", "length": "1000 B"}},
    "ping": {"workload": {"tool": "ping", "count": 5}},
    "http": {"workload": {"tool": "http", "sizes": ["100 kB"], "downloads": 3}},
    "lanes": {"topology": {"name": "net", **LANES}},
    "routed": {"topology": {"name": "net", **ROUTED}},
    "sdn": {"topology": {"name": "net", **SDN}},
    "mininet": {"topology": {"name": "net", **MININET}},
    "codel": {"path": {"queue": {"forward": {"type": "codel", "ce_threshold": "2 ms"}, "backward": "fq_codel"}}},
    "pie": {
        "path": {"queue": {"forward": {"type": "fq_pie", "ecn": True}, "backward": "pie"}, "buffer": "100 packets"}
    },
    "cake": {"path": {"queue": {"forward": "cake", "backward": "dualpi2"}, "buffer": "10000 packets"}},
    "red": {"topology": {"name": "net", **ECN}},
    "fq": {"path": {"queue": {"forward": "fq", "backward": {"type": "dualpi2", "any_ect": True}}}, "nic": "plain"},
    "shaper": {
        "path": {
            "rate": None,
            "buffer": "40 packets",
            "shaper": {"rate": "40 Mbit/s", "burst": "8 Mbit", "refill": SLOW},
        }
    },
    "policer": {"path": {"policer": {"rate": "20 Mbit/s", "burst": "64 KiB"}}, "workload": UDP},
    "per-flow": {"path": {"per_flow": "20 Mbit/s"}, "workload": {"flows": 3}},
    "policed-flows": {
        "path": {"per_flow": {"rate": "10 Mbit/s", "burst": "64 KiB", "police": True}},
        "workload": {**UDP, "flows": 2},
    },
    "wander": {"path": {"wander": {"sd": "1 ms", "correlation": "300 ms", "step": "200 ms"}}},
    "trace": {"path": {"rate": None, "trace": TRACES, "buffer": "50 packets"}},
    "down": {"path": {"down": {"from": "310 ms", "for": "100 ms"}, "buffer": "40 packets"}},
    "by-hand": {"path": {"down": "by hand"}},
    "duplicate": {"path": {"duplicate": {"forward": {"every": 50, "phase": 7}, "backward": {"random": "2 %"}}}},
    "corrupt": {"path": {"corrupt": {"forward": {"random": "2 %"}, "backward": {"random": "2 %"}}}, "nic": "plain"},
    "damaged": {"path": {"corrupt": "1 in 50"}, "workload": UDP},
    "reorder": {
        "path": {"reorder": {"forward": {"every": 40, "by": "3 packets"}, "backward": {"random": "2 %", "by": "2 ms"}}}
    },
    "acks": {"path": {"ack_loss": "1 in 10"}},
    "some-acks": {"path": {"ack_loss": {"random": "5 %"}}},
    "bursts": {"path": {"aggregate": {"forward": {"time": "4 ms", "bytes": "10 kB"}}}},
    "fault-schedule": {
        "path": {
            "schedule": [
                {"at": "300 ms", "duplicate": {"forward": "1 in 20"}},
                {"at": "500 ms", "for": "50 ms", "down": True},
                {"at": "700 ms", "reorder": {"forward": {"every": 20, "by": "2 ms"}}},
            ]
        },
        "workload": UDP,
        "samples": {"interval": "20 ms"},
    },
    "command": {"workload": COMMAND},
    "paced": {"workload": {"flows": 2, "rate": "5 Mbit/s", "writes": {"size": "20 kB", "every": "50 ms"}}},
    "arrivals": {"workload": {"arrivals": {"poisson": "50 /s"}, "size": "20 kB", "drain": "2 s", "rate": "40 Mbit/s"}},
    "requests": {
        "workload": {
            "arrivals": {"poisson": "50 /s"},
            "size": "20 kB",
            "drain": "2 s",
            "requests": {"size": "1 kB", "connections": 2},
        }
    },
    "background": {"background": {"noise": {"pattern": "constant", "from": "a", "to": "b", "rate": "10 Mbit/s"}}},
}
"""Short trials that cover impairments, nodes, engines and workloads, by name."""


@dataclass(frozen=True)
class Sabotage:
    """`what` is done (nothing, half, double, other, added) to which parameter of which plan."""

    plan: str
    what: str
    where: str
    tamper: Callable[[Steps], Steps]

    @property
    def name(self) -> str:
        return f"{self.plan}: {self.what}: {self.where}"


def sabotages() -> tuple[Sabotage, ...]:
    """The whole list; a parameter that several plans set in the same way is in it once."""
    found: dict[tuple[str, str], Sabotage] = {}
    for plan, changes in PLANS.items():
        steps = steps_data(orders(make_trial(**changes)).steps)
        for each in (*_of_steps(plan, steps), *(_added(plan) if plan in ADDED_TO else ())):
            found.setdefault((each.what, _kind(each.where)), each)
    return tuple(found.values())


def caught(sabotage: Sabotage, folder: Path) -> str:
    """What the gate says: a verdict, or "failed" if the trial did not come to its end."""
    trial, end_s = make_trial(**PLANS[sabotage.plan]), time.monotonic() + LONGEST_S
    made = tampered(orders(trial), sabotage.tamper)
    try:
        return runner.run(trial, made, folder, cancelled=lambda: time.monotonic() > end_s).verdict
    except Exception:  # whatever it is, nobody takes it for a valid trial
        return "failed"


READING = {"observe", "counters", "rules", "netstat", "CPU", "set-up", "flows", "ports", "datapath", "version"}
"""Titles of steps that set nothing."""


def _of_steps(plan: str, steps: Steps) -> Iterator[Sabotage]:
    for number, step in enumerate(steps):
        if step.get("title") in READING or "controller" in step.get("title", ""):
            continue
        if str(step.get("out", "")).startswith("rtt-"):
            continue
        place = f"{step.get('netns') or ''}".removeprefix("tb-")
        for what, where, other in _of_step(step):
            yield Sabotage(plan, what, f"{place} {where}".strip(), _instead(number, other))


def _instead(number: int, other: Step | None) -> Callable[[Steps], Steps]:
    """Another step in the place of one; none with None."""
    return lambda steps: (*steps[:number], *([] if other is None else [other]), *steps[number + 1 :])


Change = tuple[str, str, Step | None]
"""What is done, to what, and the step that comes of it."""


def _of_step(step: Step) -> Iterator[Change]:
    if "stdin" in step and step.get("title") in (None, "schedule of flows"):
        lines = step["stdin"].splitlines()
        tool = " ".join(word for word in step["run"] if not word.startswith("-") and not word.startswith("tb-"))
        netns = "".join(word.removeprefix("tb-") + " " for word in step["run"] if word.startswith("tb-"))
        for number, line in enumerate(lines[: 1 if "title" in step else None]):
            for what, changed in (("nothing", None), *_changed(line)):
                rest = _replaced(lines, number, changed)
                text = "".join(f"{each}\n" for each in rest)
                yield what, f"{netns}{tool} {_told(line, changed)}", {**step, "stdin": text}
    elif "run" in step:
        if not step.get("background"):
            yield "nothing", " ".join(step["run"])[:90], None
        for number, word in enumerate(step["run"]):
            for what, changed in _changed(word):
                words = [*step["run"][:number], changed, *step["run"][number + 1 :]]
                yield what, f"{' '.join(step['run'])[:90]} [{number}]", {**step, "run": words}
    elif "write" in step:
        for number, (path, value) in enumerate(step["write"]):
            for what, changed in (("nothing", None), *_changed(value)):
                rest = _replaced(step["write"], number, None if changed is None else [path, changed])
                yield what, f"{path} {_told(value, changed)}", {**step, "write": rest} if rest else None
    elif "timeline" in step:
        for number, moment in enumerate(step["timeline"]):
            for what, other in (("nothing", None), *_of_moment(moment)):
                moments = _replaced(step["timeline"], number, None if other is None else other[1])
                where = f"moment {number}" if other is None else f"moment {number} {other[0]}"
                yield what, where, {**step, "timeline": moments}


def _replaced(items: list[Any], number: int, other: Any) -> list[Any]:
    """With another item in the place of one; without it for None."""
    return [*items[:number], *([] if other is None else [other]), *items[number + 1 :]]


def _of_moment(moment: Step) -> Iterator[tuple[str, tuple[str, Step]]]:
    for what, at_ns in (("half", moment["at_ns"] // 2), ("double", moment["at_ns"] * 2)):
        yield what, ("time", {**moment, "at_ns": at_ns})
    for number, step in enumerate(moment["steps"]):
        for what, where, other in _of_step(step):
            steps = _replaced(moment["steps"], number, other)
            yield what, (where, {**moment, "steps": steps})


NUMBER = re.compile(r"(?<![\w.:/-])(\d+(?:\.\d+)?)(?=(?:bit|us|%|:|/second)?(?:[\s:]|$))")
MAC = re.compile(r"\b(02:54:4\d:\w\w:\w\w:)(\w\w)\b")
IP = re.compile(r"(?<![\w.])(\d+\.\d+\.\d+\.)(\d+)\b")
CONTROL = re.compile(r"\bcubic\b")
OTHER_WORDS = {
    **{"noecn": "ecn", "nobytemode": "bytemode", "no_dq_rate_estimator": "dq_rate_estimator", "nopacing": "pacing"},
    **{"nonat": "nat", "nowash": "wash", "no-ack-filter": "ack-filter", "diffserv3": "diffserv4"},
    **{"triple-isolate": "flows", "drop_on_overload": "overflow", "drop_dequeue": "drop_enqueue"},
    **{"l4s_ect": "any_ect", "any_ect": "l4s_ect", "split_gso": "no_split_gso"},
}
"""Words of queues, each with the other choice."""
QUEUE = re.compile(r"(?<=handle 3: )(?!b?p?fifo)(\w+)(?: .*?)? (?:limit|memlimit) (\d+).*$")
"""A queue that signals congestion, and its limit: a fifo takes its place."""
RUNS = re.compile(r"(?<=runs )([^, ]+),([^, ]+)")
"""The first two runs of a trace, which change places."""
SWITCHED = re.compile(r"\b(?:(on)|(off))\b")


def _changed(text: str) -> Iterator[tuple[str, str]]:
    """The text with each of its numbers halved and doubled, and with other addresses and switches."""
    spans = [each.span() for each in MAC.finditer(text)]
    for found in NUMBER.finditer(text):
        if any(begin <= found.start() < end for begin, end in spans):
            continue
        if text[: found.start()].endswith(("handle ", "parent ")):
            continue
        value = found[1]
        for what, factor in (("half", 0.5), ("double", 2.0)):
            number = float(value) * factor
            other = "1" if not float(value) else f"{number:.10g}" if "." in value else str(int(number))
            if other != value and not (other == "1" and what == "half" and not float(value)):
                yield what, f"{text[: found.start()]}{other}{text[found.end() :]}"
    for found in MAC.finditer(text):
        yield "other", f"{text[: found.start()]}{found[1]}{int(found[2], 16) ^ 0x40:02x}{text[found.end() :]}"
    for found in IP.finditer(text):
        yield "other", f"{text[: found.start()]}{found[1]}{int(found[2]) ^ 64}{text[found.end() :]}"
    for found in CONTROL.finditer(text):
        yield "other", f"{text[: found.start()]}reno{text[found.end() :]}"
    for word in (each for each in OTHER_WORDS if each in text.split()):
        yield "other", " ".join(OTHER_WORDS[each] if each == word else each for each in text.split())
    for found in QUEUE.finditer(text):
        yield "other", f"{text[: found.start()]}pfifo limit {found[2]}"
    for found in RUNS.finditer(text):
        yield "other", f"{text[: found.start()]}{found[2]},{found[1]}{text[found.end() :]}"
    for found in SWITCHED.finditer(text):
        yield "other", f"{text[: found.start()]}{'off' if found[1] else 'on'}{text[found.end() :]}"


def _told(old: str, new: str | None) -> str:
    """The line, and what stands in the place of its changed word."""
    if new is None:
        return old
    pairs = [(a, b) for a, b in zip(old.split(), new.split(), strict=False) if a != b]
    return f"{old} ({' '.join(f'{a} → {b}' for a, b in pairs)})"


def _kind(where: str) -> str:
    """What is the same of a parameter in several plans and places: without addresses and the numbers of devices."""
    where = re.sub(r"\b(?:\w\w:){5}\w\w\b", "MAC", where)
    where = re.sub(r"\b\d+\.\d+\.\d+\.\d+\b|\b\w{4}:\w{2}:[\w:]*", "IP", where)
    where = re.sub(r"\b(eth|end|wire)\d\b", r"\1", where)
    where = re.sub(r"^(a|b)\b", "host", where)
    where = re.sub(r"\bip6? length (?!52 tcp doff 8)\d+ tcp doff \d+ (.*?)( \(\d.*)?$", r"headers \1", where)
    return re.sub(r"forward|backward", "way", where)


LONGEST_S = 60
"""A trial that takes longer on the wall clock is given up, as its user would do."""

ADDED_TO = ("plain", "routed")


def inside(netns: str, *words: str) -> Step:
    return {"run": list(words), "netns": netns}


def _tc(netns: str, device: str, *words: str, verb: str = "add") -> Step:
    return inside(netns, "tc", "qdisc", verb, "dev", device, *words)


def _set(path: str, value: str, netns: str = "tb-a") -> Step:
    return {"write": [[f"/proc/sys/net/{path}", value]], "netns": netns}


NETEM = ("root", "handle", "1:", "netem", "limit", "2147483647", "delay", "5000us")
TBF = ("root", "handle", "2:", "tbf", "rate", "100000000bit", "limit", "1514")
QUEUES = (("fq",), ("netem", "delay", "1us"), ("netem", "loss", "0.001%"), ("pfifo", "limit", "2000"))
FILTER = "filter add dev eth0 ingress matchall action police rate 200mbit burst 1mb drop"
DROP = "numgen random mod 10000 1 drop"
GRO = "ethtool -k eth0 | grep -q 'generic-receive-offload: on' && s=off || s=on; ethtool -K eth0 gro $s"
ADDED: dict[str, tuple[Step, ...]] = {
    **{
        f"netem {' '.join(words)}": (_tc(EMULATOR, "wire0", *NETEM, *words, verb="change"),)
        for words in (
            ("10us",),
            ("loss", "0.01%"),
            ("loss", "gemodel", "0.1%", "50%"),
            ("loss", "state", "0.1%"),
            ("duplicate", "0.1%"),
            ("corrupt", "0.01%"),
            ("reorder", "1%", "gap", "50"),
            ("slot", "100us"),
            ("rate", "9gbit"),
            ("ecn", "loss", "0.01%"),
        )
    },
    "a limit of netem": (_tc(EMULATOR, "wire0", *NETEM[:5], "100000", "delay", "5000us", verb="change"),),
    "a bucket": (_tc(EMULATOR, "end0", *TBF, "burst", "20000", verb="change"),),
    "an overhead of the rate": (_tc(EMULATOR, "end0", *TBF, "burst", "2271", "overhead", "4", verb="change"),),
    **{
        f"a queue {kind} at {device} of {netns}": (_tc(netns, device, "root", kind, *words),)
        for netns, device in (("tb-a", "eth0"), ("tb-b", "eth0"))
        for kind, *words in QUEUES
    },
    "a queue behind the data": (_tc(EMULATOR, "wire1", "parent", "1:1", "pfifo", "limit", "100000"),),
    "a policer": (
        _tc("tb-b", "eth0", "clsact"),
        inside("tb-b", "tc", *FILTER.split()),
    ),
    "a rule that drops acknowledgements": (
        inside(EMULATOR, "nft", f"insert rule netdev testbed from-wire0 meta l4proto tcp {DROP}"),
    ),
    "a rule that drops nothing yet": (
        inside(EMULATOR, "nft", "insert rule netdev testbed from-wire1 meta length 77 drop"),
    ),
    "a firewall on a host": (
        inside("tb-b", "nft", "add table inet own; add chain inet own i { type filter hook input priority 0; }; "
               f"add rule inet own i {DROP}"),
    ),
    **{
        f"{key} = {value}": (_set(f"ipv4/{key}", value),)
        for key, value in (
            ("tcp_sack", "0"),
            ("tcp_timestamps", "0"),
            ("tcp_window_scaling", "0"),
            ("tcp_ecn", "1"),
            ("tcp_slow_start_after_idle", "0"),
            ("tcp_limit_output_bytes", "65536"),
            ("tcp_mtu_probing", "2"),
            ("tcp_recovery", "0"),
            ("tcp_early_retrans", "0"),
            ("tcp_frto", "0"),
            ("tcp_min_tso_segs", "8"),
            ("tcp_notsent_lowat", "16384"),
            ("tcp_pacing_ss_ratio", "120"),
            ("tcp_tso_win_divisor", "10"),
            ("tcp_app_win", "4"),
            ("tcp_adv_win_scale", "2"),
            ("tcp_max_reordering", "10"),
            ("ip_no_pmtu_disc", "1"),
            ("ip_default_ttl", "32"),
        )
    },
    "tcp_rmem of the receiver": (_set("ipv4/tcp_rmem", "4096 131072 1000000", "tb-b"),),
    "tcp_mem": ({"write": [["/proc/sys/net/ipv4/tcp_mem", "100000 200000 300000"]]},),
    "netdev_max_backlog": ({"write": [["/proc/sys/net/core/netdev_max_backlog", "1000"]]},),
    "a route with a window": (inside("tb-a", "ip", "route", "add", "10.99.0.0/16", "dev", "eth0", "window", "20000"),),
    "another address": (inside("tb-a", "ip", "address", "add", "10.77.0.1/24", "dev", "eth0"),),
    "another neighbour": (
        inside("tb-a", "ip", "neighbour", "add", "10.0.0.200", "lladdr", "02:54:42:00:00:77", "dev", "eth0", "nud",
               "permanent"),
    ),
    "an initial window": (
        inside("tb-a", "sh", "-c", "set -- $(ip route | grep -v default | head -1); net=$1; "
               "ip route change $net dev eth0 proto kernel scope link initcwnd 40"),
    ),
    "a smaller MTU": (inside("tb-a", "ip", "link", "set", "eth0", "mtu", "1400"),),
    "a shorter queue": (inside("tb-a", "ip", "link", "set", "eth0", "txqueuelen", "10"),),
    "smaller superpackets": (inside("tb-b", "ip", "link", "set", "dev", "eth0", "gso_max_size", "30000"),),
    "fewer segments": (inside("tb-b", "ip", "link", "set", "dev", "eth0", "gso_max_segs", "10"),),
    "TSO on": (inside("tb-b", "ethtool", "-K", "eth0", "tso", "on"),),
    "GRO the other way": (inside("tb-b", "sh", "-c", GRO),),
    "a switch that learns a spanning tree": (
        inside("tb-s", "ip", "link", "set", "br0", "type", "bridge", "stp_state", "1"),
    ),
    "a forwarding host": (_set("ipv4/ip_forward", "1"),),
}  # fmt: skip
"""What nobody asked for, done after the plan."""


def _added(plan: str) -> Iterator[Sabotage]:
    names = set(orders(make_trial(**PLANS[plan])).plan.book._by_node)
    for name, steps in ADDED.items():
        if any((step.get("netns") or "tb-a") in (EMULATOR, *(f"tb-{node}" for node in names)) for step in steps):
            yield Sabotage(plan, "added", name, adding("title=observe", *steps))


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--plan", help="only those of one plan")
    options.add_argument("--part", default="1/1", help="such as 2/3: the second of three parts")
    options.add_argument("--output", type=Path, help="a file for a line of JSON for each")
    given = options.parse_args()
    part, parts = map(int, given.part.split("/"))
    chosen = [each for each in sabotages() if given.plan in (None, each.plan)][part - 1 :: parts]
    counts: Counter[tuple[str, bool]] = Counter()
    output = given.output.open("w") if given.output else None
    for each in chosen:
        with tempfile.TemporaryDirectory() as folder:
            said = caught(each, Path(folder))
        counts[each.what, said != "valid"] += 1
        if said == "valid":
            print(f"not caught  {each.name}", flush=True)
        if output:
            output.write(json.dumps({"name": each.name, "said": said}) + "\n")
            output.flush()
    for what in ("nothing", "half", "double", "other", "added"):
        print(f"{what:8} {counts[what, True]:5} of {counts[what, True] + counts[what, False]:5}")
    total = sum(count for (_, is_caught), count in counts.items() if is_caught)
    print(f"{'all':8} {total:5} of {sum(counts.values()):5}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
