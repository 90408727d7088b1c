"""The emulator's nftables rules: they pass on frames, count data packets, drop 1 in X and police volumes.

Pure, no I/O.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...model.workload import ControlConnection
from ..command import Command
from ..linux import Hook, Table
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
    yield nft.add()
    for stage in emulator.stages:
        yield from _counters(nft, stage, 0)
        yield nft.counter(stage.oversize_counter)
    for stage in emulator.stages:
        yield from fault_rules.chains(nft, stage)
        yield from fault_rules.devices(nft, stage, partial(_chain, nft))
    for end, wire, stage in (("end0", "wire0", emulator.forward), ("end1", "wire1", emulator.backward)):
        yield _chain(nft, end)
        yield from (nft.rule(f"from-{end}", *words) for words in fault_rules.entering(stage))
        yield nft.rule(f"from-{end}", "fwd", "to", f'"{wire}"')
    for stage in emulator.stages:
        data = f"data-{stage.way}"
        yield nft.chain(data)
        yield from _data_rules(nft, emulator, stage, stage.start)
        for name, rules in _chains(stage):
            yield from (nft.counter(counter) for counter in rules.counters)
            yield nft.chain(name)
            yield from (nft.rule(name, *rule) for rule in rules.rules)
        yield _chain(nft, stage.loss_device)
        chain, behind = f"from-{stage.loss_device}", fault.behind_losses(stage)
        yield from (nft.rule(chain, *words) for words in fault_rules.before_losses(stage))
        for words in () if control is None else _of_control(control):
            yield nft.rule(chain, *words, "fwd", "to", f'"{behind}"')
        yield from (nft.rule(chain, *which, "jump", data) for which in DATA)
        for name, _ in _chains(stage):
            yield nft.rule(chain, "jump", name)
        yield from (nft.rule(chain, *words) for words in fault_rules.behind_losses(stage))
        yield nft.rule(chain, "fwd", "to", f'"{behind}"')


def change(emulator: Emulator, stage: Stage, before: State, state: State) -> Iterator[Command]:
    """Sets another loss or other faults, with their own counters. In one transaction, so that no packet meets a mix of
    old and new.
    """
    nft = _nft(emulator)
    yield from fault_rules.change(nft, stage, before, state)
    if state.generation == before.generation:
        return
    yield from _counters(nft, stage, state.generation)
    yield nft.flush(f"data-{stage.way}")
    yield from _data_rules(nft, emulator, stage, state)


def switch(emulator: Emulator, number: int, *, is_down: bool) -> Iterator[Command]:
    """Takes a link that can go down (`down: by hand`) down or up again; `number` is another each time, from 1 on."""
    for stage in emulator.stages:
        if fault.ever(stage, "down"):
            yield from fault_rules.switch(_nft(emulator), stage, number, is_down=is_down)


def _nft(emulator: Emulator) -> Table:
    return Table(*TABLE, emulator.netns)


def _counters(nft: Table, stage: Stage, generation: int) -> Iterator[Command]:
    yield nft.counter(stage.data_counter(generation))
    yield nft.counter(stage.drop_counter(generation))


def _data_rules(nft: Table, emulator: Emulator, stage: Stage, state: State) -> Iterator[Command]:
    chain = f"data-{stage.way}"
    yield nft.rule(chain, "counter", "name", f'"{stage.data_counter(state.generation)}"')
    too_long = ("meta", "length", ">", str(SUPERPACKET_BYTES if stage.cuts_late else emulator.mtu_bytes))
    yield nft.rule(chain, *too_long, "counter", "name", f'"{stage.oversize_counter}"')
    for when in filter(None, (row.drop(state) for row in makings())):
        yield nft.rule(chain, *when, "counter", "name", f'"{stage.drop_counter(state.generation)}"', "drop")


def _chains(stage: Stage) -> Iterator[tuple[str, Chain]]:
    """The rules of impairments for every packet of a direction, each in a chain with the impairment's name."""
    for key, row in MAKINGS.items():
        chain = row.chain(stage)
        if chain is not None:
            yield f"{key}-{stage.way}", chain


def _chain(nft: Table, device: str) -> Command:
    return nft.chain(f"from-{device}", Hook("filter", "ingress", 0, device))


def _of_control(control: ControlConnection) -> Iterator[tuple[str, ...]]:
    low, high = control.data_ports
    for server, client in (("dport", "sport"), ("sport", "dport")):
        yield ("tcp", server, str(control.port), "tcp", client, "!=", f"{low}-{high}")
    yield ("meta", "l4proto", "udp", "meta", "length", "<=", str(control.greeting_bytes))
