"""Checks of the gate: did the hosts do what was asked, without holding the flows back? Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Set

from ...model.scenario import Trial
from ...plan.node.make import HOST_SYSCTLS
from ...plan.node.namespace import node_netns
from ..evidence.case import Case
from ..result import Finding, FlowResult, Verdict

NOTED_SHARE, LIMITED_SHARE = 0.01, 0.1
"""Shares of the time. Autotuning lags a growing flow by one or two round trips, which costs far less than this."""
HOSTS_SHOW = "the profile shows the hosts, not the path: look at rwnd and sndbuf in the samples"


def congestion(case: Case) -> Iterator[Finding]:
    if "congestion" not in case.trial.workload.reports:
        yield from _sampled_congestion(case)
        return
    flows = zip(case.trial.workload.asked_flows, case.evidence.outcome.flows, strict=False)
    for number, (asked, flow) in enumerate(flows, 1):
        if asked.congestion is not None and flow.congestion != asked.congestion:
            yield Finding(
                "congestion control",
                "invalid",
                f"flow {number} was asked to use {asked.congestion} and used {flow.congestion}",
                "the socket did not accept it",
            )


def _sampled_congestion(case: Case) -> Iterator[Finding]:
    """Of a tool that says nothing of its sockets, but of which the samples of its sender tell."""
    asked = set(case.trial.workload.controls)
    if not asked or case.trial.workload.control is not None:
        return
    netns = node_netns(case.trial.workload.source)
    seen = {each.congestion for each in case.evidence.tcp if each.netns == netns and each.congestion}
    wanted = " and ".join(sorted(asked))
    for other in sorted(seen - asked):
        yield Finding(
            "congestion control",
            "invalid",
            f"{case.trial.workload.source} was asked to use {wanted}, and one of its sockets used {other}",
            "the socket did not accept it",
        )


def window(case: Case) -> Iterator[Finding]:
    """The kernel doubles the size it is asked for, and silently refuses a size it does not allow."""
    if "window" not in case.trial.workload.reports:
        return
    flows = zip(case.trial.workload.asked_flows, case.evidence.outcome.flows, strict=False)
    for number, (asked, flow) in enumerate(flows, 1):
        window_bytes = asked.window_bytes
        if window_bytes is None:
            yield from _auto_window(number, flow, {key.replace("/", ".") for key, _ in case.trial.sysctls})
            if asked.congestion is not None:
                yield from _fixed_window(number, flow, case.trial)
            continue
        for name, seen in (("SO_SNDBUF", flow.sndbuf_bytes), ("SO_RCVBUF", flow.rcvbuf_bytes)):
            if seen != 2 * window_bytes:
                yield Finding(
                    "window",
                    "invalid",
                    f"flow {number} asked for a window of {window_bytes} bytes and {name} is "
                    f"{'not known' if seen is None else seen}, not twice that",
                    "the kernel does not allow this window",
                )


def _fixed_window(number: int, flow: FlowResult, trial: Trial) -> Iterator[Finding]:
    """Autotuning starts from the middle value of tcp_rmem. A program that sets a size turns it off."""
    bounds = {key.replace("/", "."): value for key, value in (*HOST_SYSCTLS, *trial.sysctls)}
    initial_bytes = int(bounds["net.ipv4.tcp_rmem"].split()[1])
    if flow.rcvbuf_bytes != initial_bytes:
        yield Finding(
            "window",
            "invalid",
            f"flow {number} was to have a window of auto, which starts from {initial_bytes} bytes, and SO_RCVBUF is "
            f"{'not known' if flow.rcvbuf_bytes is None else flow.rcvbuf_bytes}",
            "somebody gave the socket a size, or the hosts another tcp_rmem",
        )


def _auto_window(number: int, flow: FlowResult, set_: Set[str]) -> Iterator[Finding]:
    """Suspect, unless the scenario itself set the bounds of autotuning."""
    for share, what, bound in (
        (flow.rwnd_limited, "the receiver's window", "net.ipv4.tcp_rmem"),
        (flow.sndbuf_limited, "the sender's buffer", "net.ipv4.tcp_wmem"),
    ):
        if share is None or share <= NOTED_SHARE:
            continue
        held = f"{what} held flow {number} back for {share:.0%} of the time"
        if bound in set_:
            yield Finding("window", "valid", f"{held}, with the {bound} that the scenario sets", HOSTS_SHOW)
        else:
            verdict: Verdict = "suspect" if share > LIMITED_SHARE else "valid"
            yield Finding("window", verdict, f"{held}, though its window is auto", HOSTS_SHOW)
