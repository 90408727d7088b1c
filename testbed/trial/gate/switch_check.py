"""Checks of the gate: did Open vSwitch and its controllers do what they were asked? Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...model.openflow import VERSIONS
from ...plan.node.control_channel import Channel
from ..evidence.case import Case
from ..orders.openflow_dump import ControllerEvidence, SwitchEvidence
from ..stored_result import Finding

SHOWN = 3
"""At most so many errors of a controller become findings; its events have all of them."""


def datapath(case: Case) -> Iterator[Finding]:
    """Checks that each switch used the datapath that was asked, and that no packet for ovs-vswitchd was lost."""
    asked = dict(case.plan.datapaths)
    for each in case.evidence.openflow.switches:
        if each.datapath != asked[each.name]:
            yield Finding(
                "datapath",
                "invalid",
                f"{each.name} was asked to use the datapath {asked[each.name]} and used {each.datapath}",
                "the kernel has no Open vSwitch: use datapath: user",
            )
        if each.lost:
            yield Finding(
                "upcalls",
                "suspect",
                f"{each.name} lost {each.lost} packets between its datapath and ovs-vswitchd",
                "the datapath had no flow for them: use a lower rate of new flows, or set up flows beforehand",
            )


def controllers(case: Case) -> Iterator[Finding]:
    found = {each.name: each for each in case.evidence.openflow.controllers}
    switches = {each.name: each for each in case.evidence.openflow.switches}
    for channel in case.plan.channels:
        yield from _app(channel, found[channel.name])
        yield from _versions(channel, switches)
        seen = [switches[name].is_connected for name in channel.switches]
        lost = [name for name, was in zip(channel.switches, seen, strict=True) if was != (True, True)]
        is_gone = not found[channel.name].runs or any(was is not None and not was[1] for was in seen)
        if not lost and not is_gone:
            continue
        is_asked = _is_as_asked(channel, found[channel.name], seen)
        names = ", ".join(lost or channel.switches) or "any switch"
        yield Finding(
            "controller",
            "valid" if is_asked else "suspect",
            f"{channel.name} {'was gone' if is_gone else 'came late'} for {names}" + (", as asked" if is_asked else ""),
            "meanwhile the fail_mode of the switches decides on new packets"
            if is_asked
            else "the process ended, or its channel loses too many packets: look at its events",
        )


def _is_as_asked(channel: Channel, found: ControllerEvidence, seen: list[tuple[bool, bool] | None]) -> bool:
    """Whether a controller that starts late or is killed was there before the workload, and after it, as it should."""
    controller = channel.controller
    wanted = (controller.start_ns is None, controller.stop_ns is None)
    if not found.runs >= wanted[1]:
        return False
    return all(was is not None and was[0] >= wanted[0] and was[1] >= wanted[1] for was in seen)


def _versions(channel: Channel, switches: Mapping[str, SwitchEvidence]) -> Iterator[Finding]:
    """A switch that offers others might speak another one with its controller."""
    asked = tuple(VERSIONS[each] for each in channel.controller.versions)
    for name in channel.switches if asked else ():
        offered = switches[name].protocols or ()
        if sorted(offered) != sorted(asked):
            yield Finding(
                "controller",
                "invalid",
                f"{name} was asked to offer {', '.join(asked)} and offered {', '.join(offered) or 'nothing'}",
                "something changed the protocols of its bridge",
            )


def _app(channel: Channel, seen: ControllerEvidence) -> Iterator[Finding]:
    app = channel.controller.app
    for text in seen.texts("exception")[:SHOWN]:
        yield Finding(
            "controller",
            "invalid",
            f"{channel.name} ({app}) had an exception: {text.strip()}",
            "the app did not do its work: fix it",
        )
    for text in seen.texts("error", "refused")[:SHOWN]:
        yield Finding(
            "controller",
            "suspect",
            f"{channel.name} ({app}) had an error: {text.strip()}",
            "a rule of the app may be missing in a switch",
        )
