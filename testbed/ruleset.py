"""The emulator's nftables rules: frames are passed on, data packets counted and dropped 1 in X. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .command import Command
from .impairment import PeriodicLoss
from .stage import Emulator

LONGEST_ACK_BYTES = 100
"""An IPv6 header of 40 bytes and a TCP header of 60. A longer TCP packet carries data."""

CONTROL_PORT, DATA_PORTS = 5201, (50_000, 50_127)
"""iperf3's control connection goes to this port like its data, but its data comes from client ports in this range."""

GREETING_BYTES = 52
"""iperf3 opens a UDP stream with a datagram of 4 bytes each way and fails without it: 48 more for IPv6 and UDP."""


def commands(emulator: Emulator, exempt_control: bool) -> Iterator[Command]:
    """Frames go from end to wire and from wire to end; on leaving the wire data packets are counted, and dropped."""

    def nft(*words: str) -> Command:
        return Command("nft", words, emulator.netns)

    table = ("netdev", "testbed")
    yield Command("nft", ("add", "table", *table), emulator.netns, ("delete", "table", *table))
    for stage in emulator.stages:
        yield nft("add", "counter", *table, stage.data_counter)
        yield nft("add", "counter", *table, stage.drop_counter)
        yield nft("add", "counter", *table, stage.oversize_counter)
    for end, wire in (("end0", "wire0"), ("end1", "wire1")):
        yield _chain(nft, table, end)
        yield nft("add", "rule", *table, f"from-{end}", "fwd", "to", f'"{wire}"')
    for stage in emulator.stages:
        data = f"data-{stage.way}"
        yield nft("add", "chain", *table, data)
        yield nft("add", "rule", *table, data, "counter", "name", f'"{stage.data_counter}"')
        too_long = ("meta", "length", ">", str(emulator.mtu_bytes))
        yield nft("add", "rule", *table, data, *too_long, "counter", "name", f'"{stage.oversize_counter}"')
        if isinstance(stage.loss, PeriodicLoss):
            every = stage.loss.every
            when = ("numgen", "inc", "mod", str(every), "==", str(every - 1 - stage.phase))
            yield nft("add", "rule", *table, data, *when, "counter", "name", f'"{stage.drop_counter}"', "drop")
        yield _chain(nft, table, stage.loss_device)
        rule = ("add", "rule", *table, f"from-{stage.loss_device}")
        if exempt_control:
            for control in _control_connection():
                yield nft(*rule, *control, "fwd", "to", f'"{stage.rate_device}"')
        yield nft(*rule, "meta", "l4proto", "tcp", "meta", "length", ">", str(LONGEST_ACK_BYTES), "jump", data)
        yield nft(*rule, "meta", "l4proto", "udp", "jump", data)
        yield nft(*rule, "fwd", "to", f'"{stage.rate_device}"')


def _chain(nft: Callable[..., Command], table: tuple[str, ...], device: str) -> Command:
    hook = ("{", "type", "filter", "hook", "ingress", "device", f'"{device}"', "priority", "0", ";", "}")
    return nft("add", "chain", *table, f"from-{device}", *hook)


def _control_connection() -> Iterator[tuple[str, ...]]:
    low, high = DATA_PORTS
    for server, client in (("dport", "sport"), ("sport", "dport")):
        yield ("tcp", server, str(CONTROL_PORT), "tcp", client, "!=", f"{low}-{high}")
    yield ("meta", "l4proto", "udp", "meta", "length", "<=", str(GREETING_BYTES))
