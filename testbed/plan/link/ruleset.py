"""The emulator's nftables rules: they pass on frames, count data packets, drop 1 in X and police volumes.

Pure, no I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ...model.workload import ControlConnection
from ..command import Command
from . import fault, fault_rules
from .fault_rules import DATA, TABLE
from .impairment import MAKINGS, Chain, makings
from .stage import Emulator, Stage, State

SUPERPACKET_BYTES = 65535
"""What no superpacket exceeds that a token bucket holds."""


def commands(emulator: Emulator, control: ControlConnection | None) -> Iterator[Command]:
    """Passes frames from end to wire and from wire to end. Data packets that leave the wire are counted and dropped,
    except those of `control`.
    """
    nft = _nft(emulator)
    yield Command("nft", ("add", "table", *TABLE), emulator.netns, ("delete", "table", *TABLE))
    for stage in emulator.stages:
        yield from _counters(nft, stage, 0)
        yield nft("add", "counter", *TABLE, stage.oversize_counter)
    for stage in emulator.stages:
        yield from fault_rules.chains(nft, stage)
        yield from fault_rules.devices(nft, stage, partial(_chain, nft))
    for end, wire, stage in (("end0", "wire0", emulator.forward), ("end1", "wire1", emulator.backward)):
        yield _chain(nft, end)
        yield from (nft("add", "rule", *TABLE, f"from-{end}", *words) for words in fault_rules.entering(stage))
        yield nft("add", "rule", *TABLE, f"from-{end}", "fwd", "to", f'"{wire}"')
    for stage in emulator.stages:
        data = f"data-{stage.way}"
        yield nft("add", "chain", *TABLE, data)
        yield from _data_rules(nft, emulator, stage, stage.start)
        for name, chain in _chains(stage):
            yield from (nft("add", "counter", *TABLE, counter) for counter in chain.counters)
            yield nft("add", "chain", *TABLE, name)
            yield from (nft("add", "rule", *TABLE, name, *rule) for rule in chain.rules)
        yield _chain(nft, stage.loss_device)
        rule, behind = ("add", "rule", *TABLE, f"from-{stage.loss_device}"), fault.behind_losses(stage)
        yield from (nft(*rule, *words) for words in fault_rules.before_losses(stage))
        for words in () if control is None else _of_control(control):
            yield nft(*rule, *words, "fwd", "to", f'"{behind}"')
        yield from (nft(*rule, *which, "jump", data) for which in DATA)
        for name, _ in _chains(stage):
            yield nft(*rule, "jump", name)
        yield from (nft(*rule, *words) for words in fault_rules.behind_losses(stage))
        yield nft(*rule, "fwd", "to", f'"{behind}"')


def change(emulator: Emulator, stage: Stage, before: State, state: State) -> Iterator[Command]:
    """Sets another loss or other faults, with their own counters. In one transaction, so that no packet meets a mix of
    old and new.
    """
    nft = _nft(emulator)
    yield from fault_rules.change(nft, stage, before, state)
    if state.generation == before.generation:
        return
    yield from _counters(nft, stage, state.generation)
    yield nft("flush", "chain", *TABLE, f"data-{stage.way}")
    yield from _data_rules(nft, emulator, stage, state)


def switch(emulator: Emulator, number: int, *, is_down: bool) -> Iterator[Command]:
    """Takes a link that can go down (`down: by hand`) down or up again; `number` is another each time, from 1 on."""
    for stage in emulator.stages:
        if fault.ever(stage, "down"):
            yield from fault_rules.switch(_nft(emulator), stage, number, is_down=is_down)


def _nft(emulator: Emulator) -> Callable[..., Command]:
    return lambda *words: Command("nft", words, emulator.netns)


def _counters(nft: Callable[..., Command], stage: Stage, generation: int) -> Iterator[Command]:
    yield nft("add", "counter", *TABLE, stage.data_counter(generation))
    yield nft("add", "counter", *TABLE, stage.drop_counter(generation))


def _data_rules(nft: Callable[..., Command], emulator: Emulator, stage: Stage, state: State) -> Iterator[Command]:
    rule = ("add", "rule", *TABLE, f"data-{stage.way}")
    yield nft(*rule, "counter", "name", f'"{stage.data_counter(state.generation)}"')
    too_long = ("meta", "length", ">", str(SUPERPACKET_BYTES if stage.cuts_late else emulator.mtu_bytes))
    yield nft(*rule, *too_long, "counter", "name", f'"{stage.oversize_counter}"')
    for when in filter(None, (row.drop(state) for row in makings())):
        yield nft(*rule, *when, "counter", "name", f'"{stage.drop_counter(state.generation)}"', "drop")


def _chains(stage: Stage) -> Iterator[tuple[str, Chain]]:
    """The rules of impairments for every packet of a direction, each in a chain with the impairment's name."""
    for key, row in MAKINGS.items():
        chain = row.chain(stage)
        if chain is not None:
            yield f"{key}-{stage.way}", chain


def _chain(nft: Callable[..., Command], device: str) -> Command:
    hook = ("{", "type", "filter", "hook", "ingress", "device", f'"{device}"', "priority", "0", ";", "}")
    return nft("add", "chain", *TABLE, f"from-{device}", *hook)


def _of_control(control: ControlConnection) -> Iterator[tuple[str, ...]]:
    low, high = control.data_ports
    for server, client in (("dport", "sport"), ("sport", "dport")):
        yield ("tcp", server, str(control.port), "tcp", client, "!=", f"{low}-{high}")
    yield ("meta", "l4proto", "udp", "meta", "length", "<=", str(control.greeting_bytes))
