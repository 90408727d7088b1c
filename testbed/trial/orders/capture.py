"""The captures of a trial: where tcpdump listens, and the steps that run it. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.run_setting import Capture
from ...model.scenario import Trial
from ...plan.network import Plan
from ...plan.node.namespace import node_netns
from ...plan.step import Run, Sleep
from .file_name import (
    capture_file,
)

CAPTURE_BUFFER_BYTES = 16 << 20
"""The buffer, in the guest's memory, for packets of one captured device that tcpdump has not read yet."""


CAPTURE_RETIRES_S = 2
"""Packets reach tcpdump up to a second after the device saw them; at its end, it writes only what has reached it."""


def capture_errors(trial: Trial, planned: Plan) -> tuple[str, ...]:
    """The files in which the captures report what they missed."""
    return tuple(f"{capture_name(n)}.err" for n, _ in enumerate(capture_points(trial, planned)))


def captured_devices(trial: Trial, planned: Plan) -> tuple[tuple[str, str], ...]:
    """The place and the device of each capture: no two have both in common."""
    return tuple((place, device) for _, place, _, device in capture_points(trial, planned))


def capture_points(trial: Trial, planned: Plan) -> Iterator[tuple[Capture, str, str, str]]:
    """(capture, place, namespace, device): every port of a node; the devices of a link's emulator, or the two ends of
    the plain link, whose places are LINK.NODE: both devices may be called eth0.
    """
    for capture in trial.captures:
        emulator = planned.emulator(capture.at)
        if emulator is not None:
            for device in ("end0", "wire0", "wire1", "end1"):
                yield capture, capture.at, emulator.netns, device
            continue
        for port in planned.book.ports:
            if capture.at in (port.node, port.link):
                place = port.node if capture.at == port.node else f"{port.link}.{port.node}"
                yield capture, place, node_netns(port.node), port.device


def capture_name(number: int) -> str:
    return f"capture-{number}"


def captures(trial: Trial, planned: Plan) -> Iterator[Run | Sleep]:
    for number, (capture, place, netns, device) in enumerate(capture_points(trial, planned)):
        words = (
            "tcpdump",
            "-i",
            device,
            "-s",
            str(capture.snaplen_bytes),
            "-B",
            str(CAPTURE_BUFFER_BYTES >> 10),
            "-w",
            "-",  # tcpdump would give its own file to root, who is nobody in a guest of an ordinary user
            "--relinquish-privileges=root",
        )
        file, name = capture_file(place, device), capture_name(number)
        yield Run(words, "capture", planned.where_in(netns), out=file, background=name)
    if trial.captures:
        yield Sleep(1)
