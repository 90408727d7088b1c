"""Checks of the gate: what each connection agreed on when it began, by the options and sizes that its socket reports
all its life. Pure, no I/O.

The hosts' settings are read after the workload. A connection that began while they were others shows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....plan.node.namespace import node_netns
from ...evidence.case import Case
from ...observe.sample import TcpSample
from ...result import Finding
from ...subject.network import NETWORK, settings_of
from ...subject.observer import is_observed

ESTABLISHED = 1
OPTIONS = {"timestamps": "tcp_timestamps", "sack": "tcp_sack", "scaled_windows": "tcp_window_scaling"}
"""What both ends must have for a connection to have it, with its setting."""
HEADERS_BYTES, TIMES_BYTES = {4: 40, 6: 60}, 12
"""The headers of IP and TCP together without options, and what time stamps take of each segment."""
MAPPED = "::ffff:"
"""So begin the addresses of IPv4 at a socket that takes both versions."""
HINT = "a host had other settings when the connection began"


def agreed(case: Case) -> Iterator[Finding]:
    """The first fault of each host."""
    hosts = {node_netns(node): node for node in case.trial.workload.hosts if is_observed(case.plan, node)}
    facts = case.of(NETWORK).facts
    ends = [settings_of(facts, netns) for netns in hosts]
    told: dict[str, str] = {}
    judged = set[tuple[Any, ...]]()
    for each in case.evidence.tcp:
        said = each.netns, ":" in each.source, each.source.startswith(MAPPED), each.agreed, _sends_bytes(each)
        if each.netns in hosts and each.netns not in told and said not in judged and _is_whole(each):
            judged.add(said)
            what = next(_faults(case, each, ends), None)
            if what is not None:
                told[each.netns] = what
    for netns, what in told.items():
        yield Finding("sockets", "invalid", f"a connection of {hosts[netns]} {what}", HINT)


def _is_whole(each: TcpSample) -> bool:
    return bool(each.destination_port) and each.info.get("state") == ESTABLISHED


def _sends_bytes(each: TcpSample) -> int:
    return int(each.info.get("snd_mss_bytes") or 0)


def _faults(case: Case, each: TcpSample, ends: list[dict[str, str]]) -> Iterator[str]:
    if each.agreed is None:
        return
    for name, setting in OPTIONS.items():
        values = [end.get(setting) for end in ends]
        if None in values or len(ends) < 2:
            continue
        asked, seen = all(value != "0" for value in values), getattr(each.agreed, name)
        if asked != seen:
            yield f"has {setting} {'on' if seen else 'off'}, and its hosts have it {'on' if asked else 'off'}"
    yield from _sizes(case, each)


def _sizes(case: Case, each: TcpSample) -> Iterator[str]:
    """The largest segment follows from the MTU, where all links have one; a small window makes smaller ones."""
    assert each.agreed is not None, "BUG: a socket that says nothing"
    mtus = {link.mtu_bytes for link in case.trial.topology.links}
    is_six = ":" in each.source and not each.source.startswith(MAPPED)
    headers = HEADERS_BYTES[6 if is_six else 4]
    if len(mtus) != 1 or any(key.endswith(("tcp_mtu_probing", "min_adv_mss")) for key, _ in case.trial.sysctls):
        return
    (mtu_bytes,) = mtus
    largest = mtu_bytes - headers - (TIMES_BYTES if each.agreed.timestamps else 0)
    advertised, sends = each.agreed.advmss_bytes, _sends_bytes(each)
    if advertised not in (mtu_bytes - headers, largest):
        yield f"advertised segments of {advertised} bytes, and an MTU of {mtu_bytes} makes {mtu_bytes - headers}"
    is_small = any(flow.window_bytes is not None for flow in case.trial.workload.asked_flows) or case.trial.sysctls
    if sends > largest or (sends < largest and not is_small):
        yield f"sends segments of {sends} bytes, and an MTU of {mtu_bytes} makes {largest}"
