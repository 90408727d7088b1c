"""Mechanisms that could make transfers by window as Hartpence and Kwasinski (S4) print them.

`python -m benchmarks windows` prints what a model gives, and with names of mechanisms what their trials give, which run
if they are not in `results/windows`: {names}.
docs/internals/windows.md discusses them.

The model is of one flow whose window never grows. The line takes a segment after the other, a switch stores and
forwards each, and beside that a packet takes DELAY each way. A card interrupts at once, but not again before its
interval is over; data and ACKs are seen at interrupts only. The receiver acknowledges every second segment, and the
last one of a window. A segment that is not full leaves when nothing else is on its way (Nagle). The interval is fixed,
or as Intel's driver sets it.
"""

from __future__ import annotations

import argparse
import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console

from testbed.commands.measure.run import carry_out
from testbed.library import SCENARIOS
from testbed.spec.load import files_of, load_scenario
from testbed.sweep.store import Store
from testbed_reproductions.check import Part, Values, average, decide
from testbed_reproductions.measured import Measured
from testbed_reproductions.paper.links import (
    ABOVE_AT_4,
    BASELINE,
    BASELINE_IPERF3,
    BRIDGED,
    MACHINES,
    MB,
    MININET,
    SDN,
    WINDOWS,
    against,
    in_30_s,
    sdn_between,
    shape,
)

PRINTED = {
    BASELINE: (792, 1814, 1829, 2773),
    MACHINES: (991.9, 1700, 4059, 10_980),
    SDN: (447.7, 765.5, 1646, 4127),
    BRIDGED: (949.1, 952, 1321, 1768),
    MININET: (2054, 2244, 2980, 3284),
}
"""MB in 30 s by window, Tables III to V. All others are the baseline, whose numbers are means over three switches."""
RESULTS = Path("results/windows")

NS_A_BYTE, FRAME, GAP, LEAST = 8, 18, 20, 64
"""A Gigabit line; Ethernet's header and checksum, its preamble and gap, and the smallest frame."""
HEADERS, SEGMENT = 52, 1448
"""Of IP and TCP with timestamps, and what is left of 1500 bytes."""
SIMULATED_NS = 60_000_000

LOW, BULK = 1, 2
A_SECOND = {LOW: 20_000, BULK: 4_000}
"""Interrupts a second by class, of mode 3 of Intel's e1000 driver (Linux, drivers/net/ethernet/intel/e1000)."""


@dataclass
class Card:
    """When a card may interrupt again: `fixed_ns` after the last time, or as the driver says, `least_ns` or later."""

    fixed_ns: int | None = None
    least_ns: int = 0
    classes: list[int] = field(default_factory=lambda: [LOW, LOW])
    a_second: int = A_SECOND[LOW]

    @property
    def interval_ns(self) -> int:
        return max(self.least_ns, 10**9 // self.a_second) if self.fixed_ns is None else self.fixed_ns

    def saw(self, received: Sequence[int], sent: Sequence[int]) -> None:
        """The driver's `e1000_set_itr`, after an interrupt that brought frames of these sizes."""
        self.classes = [self._class(*each) for each in zip(self.classes, (received, sent), strict=True)]
        new = A_SECOND[max(self.classes)]
        self.a_second = min(self.a_second + new // 4, new) if new > self.a_second else new

    @staticmethod
    def _class(before: int, sizes: Sequence[int]) -> int:
        """`e1000_update_itr` for frames of Ethernet, without the class that mode 3 does not use."""
        if not sizes:
            return before
        total = sum(sizes)
        if before == LOW:
            is_bulk = total / len(sizes) > 1200 or len(sizes) < 10 if total > 10_000 else total / len(sizes) > 2000
            return BULK if is_bulk else LOW
        return LOW if total < 6000 or (total > 25_000 and len(sizes) > 35) else BULK


def transfer_mb(window: int, sender: Card, receiver: Card, delay_ns: int) -> float:
    """MB in 30 s by the model."""
    events: list[tuple[int, int, str, int]] = []
    acked = sent = free_ns = received = alone = 0
    data: list[int] = []
    acks: list[int] = []
    left: list[int] = []
    last_ns = {"data": -(10**9), "acks": -(10**9)}

    def at(time_ns: int, what: str, value: int = 0) -> None:
        heapq.heappush(events, (time_ns, len(events), what, value))

    def interrupt(now_ns: int, what: str, card: Card) -> None:
        at(max(now_ns, last_ns[what] + card.interval_ns), what)

    def send(now_ns: int) -> None:
        nonlocal sent, free_ns
        while (size := min(SEGMENT, window - sent + acked)) == SEGMENT or (size > 0 and sent == acked):
            wire_ns = NS_A_BYTE * (max(LEAST, size + HEADERS + FRAME) + GAP)
            free_ns = max(free_ns, now_ns) + wire_ns
            at(free_ns + wire_ns + delay_ns, "segment", size)
            sent += size
            left.append(size + HEADERS + FRAME)

    send(0)
    now_ns = 0
    while events and now_ns < SIMULATED_NS:
        now_ns, _, what, value = heapq.heappop(events)
        if what == "segment":
            data.append(value)
            if len(data) == 1:
                interrupt(now_ns, "data", receiver)
        elif what == "ack":
            acks.append(value)
            if len(acks) == 1:
                interrupt(now_ns, "acks", sender)
        elif what == "data":
            last_ns[what] = now_ns
            for size in data:
                received, alone = received + size, alone + 1
                if alone == 2 or received == sent:
                    at(now_ns + 2 * NS_A_BYTE * (LEAST + GAP) + delay_ns, "ack", received)
                    alone = 0
            receiver.saw([size + HEADERS + FRAME for size in data], ())
            data.clear()
        else:
            last_ns[what] = now_ns
            acked = max(acks)
            sender.saw([LEAST] * len(acks), left)
            acks.clear()
            left.clear()
            send(now_ns)
    return acked / now_ns * 1e9 * 30 / MB


MODELS: tuple[tuple[str, Callable[[], Card]], ...] = (
    ("8000 a second", lambda: Card(fixed_ns=125_000)),
    ("20000 a second", lambda: Card(fixed_ns=50_000)),
    ("4000 a second", lambda: Card(fixed_ns=250_000)),
    ("by the driver", Card),
    ("by the driver, 128 us at least", lambda: Card(least_ns=128_000)),
)
DELAYS_US = (6, 10, 15, 18, 20, 22, 25, 35)

PORTS = tuple(f"{port}-port.delay={{forward: 15 us, backward: 3 us}}" for port in ("left", "right"))
FEW = "repetitions=2"
NO_WAIT = ("left-uplink.aggregate=none", "right-uplink.aggregate=none")


def _moderated(time: str) -> tuple[str, ...]:
    waits = (("right", "forward"), ("left", "backward"))
    return (*PORTS, *(f"{port}-port.aggregate={{{way}: {{time: {time}}}}}" for port, way in waits))


Judge = Callable[[Mapping[str, Measured]], Sequence[Part]]
"""The parts of a row's criterion, from the results of a mechanism by the name of its scenario."""


@dataclass(frozen=True)
class Trials:
    """What runs: a scenario, changed, and what it is judged by, with the results of other mechanisms in `beside`.

    `written` is what `links-writes` calls its variants, with a window where {w} stands. Their shape is judged, unless
    they are `of` other links than the baseline's.
    """

    scenario: str
    settings: tuple[str, ...] = ()
    judge: Judge | None = None
    beside: tuple[str, ...] = ()
    written: str = ""
    of: str = ""


def _shape(runs: Mapping[str, Measured]) -> Sequence[Part]:
    (measured,) = runs.values()
    return shape(by_window(measured))


CLIENT = "C={w} S= L=8K"


def _written(variant: str) -> Trials:
    return Trials("links-writes", written=variant)


def _at_client(*settings: str, variant: str = CLIENT) -> Trials:
    variants = ", ".join(_with(variant, window) for window in WINDOWS)
    return Trials("links-writes", (f"workload.variant=[{variants}]", *settings), written=variant)


def _far(rtt: str) -> Trials:
    return _at_client(*_ports(rtt))


def _ports(rtt: str) -> Iterator[str]:
    return (f"{port}-port.rtt={rtt}" for port in ("left", "right"))


def _with(variant: str, window: str) -> str:
    return variant.replace("{w}", f"{window.removesuffix(' KiB')}K")


def _sdn(*settings: str) -> Trials:
    return Trials(SDN, (FEW, *settings), lambda runs: sdn_between(runs).parts, ("machines", "baseline"))


def _bridged(*settings: str) -> Trials:
    judge = against(BRIDGED, BASELINE_IPERF3, ABOVE_AT_4)
    return Trials(BRIDGED, (FEW, *settings), lambda runs: judge(runs).parts, ("baseline",))


TRIALS: Mapping[str, Trials] = {
    "delay": Trials(BASELINE, PORTS, _shape),
    "fixed-125": Trials(BASELINE, _moderated("125 us"), _shape),
    "fixed-50": Trials(BASELINE, _moderated("50 us"), _shape),
    "driver": Trials("links-cards", (FEW,), _shape),
    "writes-both": _written("C={w} S={w} L=8K"),
    "writes-client": _written(CLIENT),
    "writes-client-34": _far("34 us"),
    "writes-client-140": _far("140 us"),
    "writes-client-280": _far("280 us"),
    "writes-client-560": _far("560 us"),
    "writes-client-128": _at_client(variant="C={w} S= L=128K"),
    "writes-client-plain": _at_client("nic=plain"),
    "mininet-client": replace(_at_client("topology=../topologies/mininet.yaml"), of=MININET),
    "writes-server": _written("C= S={w} L=8K"),
    "writes-both-128": _written("C={w} S={w} L=128K"),
    "baseline": Trials(BASELINE_IPERF3, (FEW,)),
    "baseline-560": Trials(BASELINE_IPERF3, (FEW, *_ports("560 us"))),
    "machines": Trials(MACHINES, (FEW,)),
    "sdn-wait": _sdn(),
    "sdn-packet-0.53": _sdn(*NO_WAIT, "right-uplink.rate=22.9 Gbit/s"),
    "sdn-packet-10": _sdn(*NO_WAIT, "right-uplink.rate=1.21 Gbit/s"),
    "bridged-wait": _bridged(),
    "bridged-card": _bridged("uplink.aggregate=none", "left.model=e1000"),
}


def run(name: str) -> Measured:
    """What is not there runs, one trial at a time."""
    asked = TRIALS[name]
    path = SCENARIOS / f"{asked.scenario}.yaml"
    store = Store(RESULTS / (name if asked.settings or not asked.written else asked.scenario))
    scenario = load_scenario(path, asked.settings, quick=True)
    carry_out(scenario, store, files_of(path, asked.settings, quick=True), 1, Console(stderr=True))
    return Measured.of(asked.scenario, "quick", store.results())


def by_window(measured: Measured, written: str = "") -> dict[str, Values]:
    """MB in 30 s, one for each seed."""
    parts = {
        window: measured.only(variant=_with(written, window)) if written else measured.only(window=window)
        for window in WINDOWS
    }
    return {window: part.each_seed(in_30_s) for window, part in parts.items()}


def line(name: str, mb: Mapping[str, float], scenario: str = BASELINE) -> str:
    printed = PRINTED.get(scenario, PRINTED[BASELINE])
    cells = (f"{mb[window]:7.0f} {mb[window] / says - 1:+5.0%}" for window, says in zip(WINDOWS, printed, strict=True))
    return f"{name:38}{''.join(cells)}  16/8 {mb['16 KiB'] / mb['8 KiB'] - 1:+6.1%}"


def modelled() -> Iterator[str]:
    sizes = {window: int(window.removesuffix(" KiB")) * 1024 for window in WINDOWS}
    for name, card in MODELS:
        for delay_us in DELAYS_US:
            mb = {window: transfer_mb(size, card(), card(), delay_us * 1000) for window, size in sizes.items()}
            yield line(f"{name}, {delay_us} us", mb)


def measured(name: str) -> Iterator[str]:
    asked, found = TRIALS[name], run(name)
    mb = by_window(found, asked.written)
    yield line(name, {window: average(values) for window, values in mb.items()}, asked.of or asked.scenario)
    if found.cautions:
        yield f"  {found.cautions}"
    if asked.written and not asked.of:
        decisions = decide(shape(mb))
    elif asked.judge is None:
        return
    else:
        runs = {found.scenario: found} | {each.scenario: each for each in map(run, asked.beside)}
        decisions = decide(asked.judge(runs))
    yield from (f"  {each.verdict:12}{each}" for each in decisions)


def main(words: Sequence[str]) -> int:
    about = str(__doc__).format(names=", ".join(TRIALS))
    parser = argparse.ArgumentParser(
        description=about, prog="python -m benchmarks windows", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="a mechanism; without one, the model")
    names = parser.parse_args(words).names
    unknown = sorted(set(names) - set(TRIALS))
    if unknown:
        parser.error(f"there is no mechanism {', '.join(unknown)}; allowed: {', '.join(TRIALS)}")
    print(f"{'MB in 30 s, and beside what is printed':38}" + "".join(f"{window:>13}" for window in WINDOWS))
    for text in modelled() if not names else (text for name in names for text in measured(name)):
        print(text, flush=True)
    return 0
