"""The files that come out: a topology with the provenance of each number, scenarios, and a profile. Pure, no I/O."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .. import units
from ..analysis import statistic
from .fit.path import WAYS, PathFit
from .fit.steady import Group
from .link import LinkFit, in_unit
from .measurement import Ask

PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ./%_-]*")
WIDTH = 116
SERVER = "{at: server, run: [iperf3, --server], ready: {tcp: 5201}}"
CLIENT = '{at: client, env: {SERVER: "{server.address}"}, run: [sh, -c, "exec {variant}"]}'
PING_KEYS = ("workload.count", "workload.interval", "workload.size")
PING_LEAST_NS, PING_BYTES = 10_000_000, 56
KEY_OF = {"bucket_rate": "shaper", "bucket_burst": "shaper", "bucket_refill": "shaper"}
CONTROLS, FLOWS, WINDOWS = ("cubic", "bbr"), (1, 4, 8), ("auto", "1 MiB")
REPETITIONS = 3


def topology(link: LinkFit, name: str = "calibrated") -> str:
    """The YAML of the rebuilt path; a comment above each key says where it is from."""
    lines = [
        f"# A path calibrated from measurements by `testbed calibrate`. {_CLAIM}",
        f"name: {name}",
        "nodes: {client: {type: host}, server: {type: host}}",
        "links:",
        "  path:",
        "    ends: [client, server]",
    ]
    keys = link.keys()
    for key, value in keys.items():
        for words in _provenance(link, key):
            lines += _comment(words)
        lines.append(f"    {key}: {flow(value)}")
    for name, why in link.lacks.items():
        if name.partition(".")[0] not in keys:
            default = " (the testbed's own: 1 bdp)" if name.startswith("buffer") else ""
            lines += _comment(f"{name.replace('.', ', ')}: not identifiable{default}: {why}")
    return "\n".join(lines) + "\n"


_CLAIM = "The claim is calibrated, not reproduced."


def _provenance(link: LinkFit, key: str) -> Iterable[str]:
    if key in link.asked:
        yield f"{key}: set by you"
        return
    if key == "trace":
        yield "trace: the file that was given, played again"
    if key == "mtu":
        yield "mtu: of the segments in the files, with the headers of IPv4 and TCP"
    for name, chosen in link.numbers.items():
        word, _, way = name.partition(".")
        if KEY_OF.get(word, word) == key and not (key == "loss" and not chosen.value and len(WAYS) > 2):
            yield f"{name.replace('.', ', ') if way else name}: {chosen.why}"


def _comment(words: str) -> list[str]:
    safe = "".join(each if each.isprintable() else "?" for each in words)
    return textwrap.wrap(safe, WIDTH, initial_indent="    # ", subsequent_indent="    #   ")


def flow(value: Any) -> str:
    """A value in YAML's flow style."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    text = str(value)
    return text if PLAIN.fullmatch(text) else json.dumps(text)


def scenario(asks: Sequence[Ask], repetitions: int, seed: int, name: str = "calibrated") -> str:
    """Makes each measurement again, with the same tool and words."""
    rows = []
    for ask in asks:
        ends = ["server", "client"] if ask.reverse else ["client", "server"]
        rows.append(f"    - [{', '.join([json.dumps(' '.join(ask.words())), *ends])}]")
    return "\n".join(
        [
            "# Makes each measurement again, with the same tool, flows, duration, window and congestion control.",
            f"name: {name}",
            "topology: topology.yaml",
            "workload:",
            "  tool: command",
            "  from: client",
            "  to: server",
            f"  server: {SERVER}",
            f"  client: {CLIENT}",
            "sweep:",
            "  workload.variant+workload.from+workload.to:",
            *dict.fromkeys(rows),
            f"repetitions: {repetitions}",
            f"seed: {seed}",
            "",
        ]
    )


def pings(asks: Sequence[Ask], repetitions: int, seed: int, name: str = "calibrated-pings") -> str:
    """Makes the pings without load again."""
    rows = list(dict.fromkeys(f"    - {flow(ping_values(ask))}" for ask in asks))
    return "\n".join(
        [
            "# Makes the pings without load again.",
            f"name: {name}",
            "topology: topology.yaml",
            "workload: {tool: ping, from: client, to: server}",
            "sweep:",
            f"  {'+'.join(PING_KEYS)}:",
            *rows,
            f"repetitions: {repetitions}",
            f"seed: {seed}",
            "",
        ]
    )


def ping_values(ask: Ask) -> tuple[str, str, str]:
    """What the axes of the pings have for it, in the order of PING_KEYS."""
    interval_ns = max(PING_LEAST_NS, round(ask.interval_s * 1e3) * 1_000_000)
    return str(ask.count), units.format_time(interval_ns), str(ask.length_bytes or PING_BYTES)


def what_if() -> str:
    """Controls, flows, windows and ECN over the rebuilt path."""
    return "\n".join(
        [
            "# What other congestion controls, flows, windows and ECN would bring on the calibrated path.",
            "# ECN needs a queue that marks; add one to a sweep: path.queue: [fifo, {type: codel, ecn: true}].",
            "name: what-if",
            "topology: topology.yaml",
            "workload: {tool: flow, from: client, to: server, duration: 20 s, leave_out: 5 s}",
            "sweep:",
            f"  congestion: {flow(CONTROLS)}",
            f"  flows: {flow(FLOWS)}",
            f"  window: {flow(WINDOWS)}",
            "  sysctls.net.ipv4.tcp_ecn: [0, 1]",
            f"repetitions: {REPETITIONS}",
            "",
        ]
    )


def profile(groups: Sequence[Group], fit: PathFit) -> str | None:
    """The measured goodput as a published profile; None without a round-trip time or a transfer."""
    rtt = fit.of("rtt").value
    if rtt is None or not groups:
        return None
    lines = [
        "name: measured",
        "about: A measured path, as given to testbed calibrate.",
        "citation: {authors: [you], title: Measurements of a path}",
        "series:",
    ]
    names: set[str] = set()
    for group in groups:
        if group.ask is None or group.ask.protocol != "tcp":
            continue
        ask = group.ask
        control = ask.congestion or "unknown"
        name = f"{group.way}-{ask.flows}-flows-{control}{f'-{ask.window_bytes}' if ask.window_bytes else ''}"
        while name in names:
            name += "-again"
        names.add(name)
        of = {"flows": ask.flows, "duration": f"{ask.duration_s:g} s", "direction": group.way}
        of |= {"congestion": control} if ask.congestion else {}
        of |= {"window": f"{ask.window_bytes} B"} if ask.window_bytes else {"window": "auto"}
        values = [each.goodput_bps for each in group.transfers]
        point: dict[str, Any] = {"at": in_unit(rtt, "s", 6), "value": in_unit(statistic.mean(values), "bit/s", 6)}
        if len(values) > 1:
            point |= {"sd": in_unit(statistic.sample_sd(values), "bit/s"), "runs": len(values)}
        else:
            point |= {"runs": 1, "note": "one run: noise unknown"}
        lines += [
            f"  {name}:",
            f"    what: Goodput of {ask.said()}",
            f"    of: {flow(of)}",
            "    over: rtt",
            "    certainty: exact",
            "    claim: calibrated",
            f"    where: {json.dumps(', '.join(group.files))}",
            f"    points: [{flow(point)}]",
        ]
    return "\n".join(lines) + "\n" if names else None
