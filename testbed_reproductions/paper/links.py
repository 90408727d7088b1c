"""Rows of Hartpence and Kwasinski, Performance Evaluation of Networks with Physical and Virtual Links. Pure, no I/O.

Transfers of 30 s by window over five kinds of links; MB are 2^20 bytes, as iperf 2 counts them.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from testbed.api import Claim, UdpResult, need, statistic

from ..check import Estimate, Holds, Part, Values, Within, above, alike, below, gain, minus
from ..check import estimate as mean_of
from ..measured import Measured, known
from ..row import Criterion, Judge, Judgement, Publication, Row

SOURCE = "physical-virtual-links-2015"
BASELINE, MACHINES, SDN, BRIDGED, MININET = (
    f"links-{kind}" for kind in ("baseline", "virtual", "sdn", "bridged", "mininet")
)
CLIENT_WINDOW = "links-client-window"
"""The baseline as `iperf -w` at the client makes it."""
BASELINE_IPERF3 = "links-baseline-iperf3"
"""For rows with machines: the tool must be the same at both."""
UDP, UDP_MACHINES, UDP_MININET = "links-udp", "links-udp-virtual", "links-udp-mininet"
MEMORY, VALIDATION = "links-memory", "links-validation"
MB = 2**20
WINDOWS = ("4 KiB", "8 KiB", "16 KiB", "64 KiB")
BELOW_AT_8 = {"4 KiB": "above", "8 KiB": "below", "16 KiB": "above", "64 KiB": "above"}
ABOVE_AT_4 = {"4 KiB": "above", "8 KiB": "below", "16 KiB": "below", "64 KiB": "below"}
ABOVE_AT_64 = {"4 KiB": "below", "8 KiB": "below", "16 KiB": "below", "64 KiB": "above"}
"""Against the baseline: virtual machines (Linux), bridged, SDN (Linux)."""
FALL = 0.01
"""Of a transfer: equal pairs of the tables are equal within this."""
MATTERS = 0.05
"""Of a transfer: what counts as no effect, or as equal, is smaller."""
AGREEMENT = 0.000645
"""Of a transfer: how far apart the publication's two numbers are, with half a unit of the last digit."""
JITTER_S, LOSS = 1e-3, 0.01
OURS = (
    "Linux hosts on a Linux bridge in place of two Windows 7 computers; each port delays packets by 35 µs, which "
    "we chose"
)
VIRTUAL, OPENFLOW, MINI = ("vm",), ("ovs", "controller"), ("engine: mininet",)


MACHINE = (
    "QEMU in virtual time in place of ESXi; processors of 1 GIPS without caches, and virtio in place of Intel's card, "
    "which we chose; what is outside of machines computes in no time"
)
SHORT = f"{MACHINE}; quick size: five repetitions of 1 s, and MB are the rate times 30 s"
HELD = (
    "for 125 µs (8000 interrupts a second, a documented setting of Intel's cards), which is not printed, and without "
    "which S4-T4 was not met, and K10 could not be told"
)
BEYOND = "by more than 1 %"
"""`FALL`, in words."""
BARE = (
    "no machine is around it, and its links delay nothing, so the delay of our baseline's ports decides the order; "
    "S4-T2's model with a round trip of 1.12 ms, fitted to Table II, has 761, 1724, 1738 and 2504 MB, and Mininet "
    "called alike 3393 at each window: with that input it would be met, but not S4-T4, as over 1.12 ms the baseline "
    "with iperf3 has 72 to 2012 MB, less than SDN at each window"
)
STILL = "the delay is constant, and nothing else is sent, so nothing here can cause jitter or loss"
SWITCHED = (
    "the controller is not known; ours is a learning switch; Open vSwitch takes no time, but what comes to it is held "
    f"{HELD}"
)
PHYSICAL = (
    "each port of the Gigabit switch delays packets by 35 µs, which we chose, as that of the baseline does; what comes "
    f"to the card of the machine's host is held {HELD}"
)


def transfers(measured: Measured) -> dict[str, Values]:
    """MB in 30 s for each window, one for each seed."""
    parts = {window: _with_window(measured, window) for window in WINDOWS}
    return {window: part.each_seed(in_30_s) for window, part in parts.items()}


def _with_window(measured: Measured, window: str) -> Measured:
    """Programs have it among their words."""
    if measured.scenario == CLIENT_WINDOW:
        return measured.only(variant=f"{window.removesuffix(' KiB')}K")
    return measured.only(window=window)


def in_30_s(part: Measured) -> float:
    """MB at the mean rate."""
    return part.mean_bps * 30 / 8 / MB


def in_words(by_window: Mapping[str, Values]) -> str:
    """Mean and population sd, as the publication prints them."""
    found = {window: [value for value in values if value is not None] for window, values in by_window.items()}
    cells = (
        f"{window.removesuffix(' KiB')}K {statistic.mean(mb):.4g} ({statistic.population_sd(mb):.2g})"
        if mb
        else f"{window.removesuffix(' KiB')}K –"
        for window, mb in found.items()
    )
    return "/".join(cells) + " MB"


def rises_and_is_flat(runs: Mapping[str, Measured]) -> Judgement:
    """S4-T2: more at 8 than at 4 KiB, as much at 16 KiB, and more at 64 KiB."""
    mb = transfers(runs[CLIENT_WINDOW])
    return Judgement(in_words(mb), shape(mb))


def shape(mb: Mapping[str, Values]) -> tuple[Part, ...]:
    """That of Table II, for transfers by window."""
    return (
        above("more at 8 than at 4 KiB", minus(mb["8 KiB"], mb["4 KiB"])),
        alike("as much at 16 as at 8 KiB", mb["16 KiB"], mb["8 KiB"], MATTERS),
        above("more at 64 than at 16 KiB", minus(mb["64 KiB"], mb["16 KiB"])),
    )


def grow_with_window(runs: Mapping[str, Measured]) -> Judgement:
    """K8 on every kind of link that was run."""
    by_kind = {name: transfers(measured) for name, measured in runs.items()}
    parts = [
        Within(f"{name} does not fall from {less} to {more}", _change(by_window[less], by_window[more]), low=-FALL)
        for name, by_window in by_kind.items()
        for less, more in pairwise(WINDOWS)
    ]
    ours = "; ".join(f"{name}: {in_words(by_window)}" for name, by_window in by_kind.items())
    return Judgement(ours, tuple(parts))


def _change(base: Values, other: Values) -> Estimate | None:
    return mean_of((1, gain(other, base)))


def against(scenario: str, other: str, orders: Mapping[str, str]) -> Judge:
    """Transfers are above or below those on another kind of link by more than `FALL`, by window."""
    orient = {"above": (above, FALL), "below": (below, -FALL)}  # the share by which they are more

    def judge(runs: Mapping[str, Measured]) -> Judgement:
        ours, theirs = transfers(runs[scenario]), transfers(runs[other])
        parts = []
        for window, order in orders.items():
            beyond, share = orient[order]
            says = f"{scenario} is {order} {other} at {window}, as a share"
            parts.append(beyond(says, _change(theirs[window], ours[window]), share))
        return Judgement(f"{scenario}: {in_words(ours)}; {other}: {in_words(theirs)}", tuple(parts))

    return judge


SDN_BELOW_MACHINES = against(SDN, MACHINES, dict.fromkeys(WINDOWS, "below"))
SDN_ABOVE_AT_64 = against(SDN, BASELINE_IPERF3, ABOVE_AT_64)


def sdn_between(runs: Mapping[str, Measured]) -> Judgement:
    """S4-T4: below virtual machines at all windows, and above the baseline at the largest only."""
    machines, baseline = SDN_BELOW_MACHINES(runs), SDN_ABOVE_AT_64(runs)
    ours = f"{machines.ours}; {BASELINE_IPERF3}: {in_words(transfers(runs[BASELINE_IPERF3]))}"
    return Judgement(ours, (*machines.parts, *baseline.parts))


def memory_does_not_matter(runs: Mapping[str, Measured]) -> Judgement:
    """K12: twice the memory changes each transfer by less than 5 %."""
    small, large = transfers(runs[MACHINES]), transfers(runs[MEMORY])
    changes = {window: _change(small[window], large[window]) for window in WINDOWS}
    parts = tuple(
        Within(f"twice the memory at {window}", change, -MATTERS, MATTERS, is_strict=True)
        for window, change in changes.items()
    )
    words = "/".join(
        f"{window.removesuffix(' KiB')}K " + (f"{change.mean:+.1%}" if change else "–")
        for window, change in changes.items()
    )
    return Judgement(f"changes by {words}", parts)


def quiet_udp(runs: Mapping[str, Measured]) -> Judgement:
    """K13: jitter below 1 ms and loss below 1 % in every run, on every kind of link that was run."""
    parts: list[Part] = []
    words = []
    for name, measured in runs.items():
        udp = [need(UdpResult, result.measured) for result in measured.results]
        jitters_s = [each.jitter_s for each in udp]
        jitter_s = None if None in jitters_s else max(map(known, jitters_s), default=None)
        losses = [each.lost_datagrams / each.sent_datagrams if each.sent_datagrams else None for each in udp]
        loss = None if None in losses else max(map(known, losses), default=None)
        parts.append(Holds(f"jitter on {name}", None if jitter_s is None else jitter_s < JITTER_S))
        parts.append(Holds(f"loss on {name}", None if loss is None else loss < LOSS))
        words.append(
            f"{name}: jitter {'–' if jitter_s is None else f'{jitter_s * 1e3:.3g}'} ms, "
            f"loss {'–' if loss is None else f'{loss:.2%}'}"
        )
    return Judgement("; ".join(words), tuple(parts))


def tool_agrees_with_capture(runs: Mapping[str, Measured]) -> Judgement:
    """S4-TV: the bytes that the tool reports, and those in a capture at the receiver without duplicates."""
    apart, words = [], []
    for result in runs[VALIDATION].results:
        (wire,), tool_bytes = map(known, result.captures.values()), known(result.received_bytes)
        wire_bytes = wire.payload_bytes - wire.again_bytes
        apart.append(abs(wire_bytes / tool_bytes - 1))
        tool_mbit, wire_mbit = (octets * 8 / 30 / 1e6 for octets in (tool_bytes, wire_bytes))
        words.append(
            f"{tool_mbit:.3f} and {wire_mbit:.3f} Mbit/s, {apart[-1]:.3%} apart; {wire.packets} frames of up to "
            f"{wire.largest_bytes} bytes, {wire.again_packets} of them duplicates"
        )
    part = Holds("at most 0.064 % apart", max(apart) <= AGREEMENT if apart else None)
    return Judgement("; ".join(dict.fromkeys(words)), (part,))


def _row(
    id: str,
    where: str,
    what: str,
    expected: str,
    judge: Judge,
    *scenarios: str,
    claim: Claim = "shape",
    limits: str = OURS,
    needs: tuple[str, ...] = (),
    facts: tuple[str, ...] = (),
    criterion: Criterion,
) -> Row:
    return Row(id, SOURCE, where, what, expected, claim, limits, facts, scenarios, judge, needs, criterion)


_data = Publication(SOURCE).data

ROWS: tuple[Row, ...] = (
    _data("S4-T1", "Table I", "17 scenarios in 5 groups", "5 groups",
          "half of them use Windows; the rest are the rows below", "scenarios"),
    _data("S4-F1", "Fig. 1", "The SDN testbed", "a drawing", "the drawing is garbled in the text that we have"),
    _row("S4-T2", "Table II", "Baseline: two computers on one Gigabit switch",
         "4K 772.6 to 814.9, 8K 1798 to 1824, 16K 1820 to 1835, 64K 2725 to 2800 MB for three switches",
         rises_and_is_flat, CLIENT_WINDOW, facts=("physical-cisco", "physical-juniper", "physical-d-link"),
         limits=f"{OURS}; no real switches, so the three vendors have one result; iperf 2.1.8 with the window at the "
                "client only and writes of 8 KiB, as how the publication called it is not printed: of the ways "
                "that were tried this one has the shape; the card's superpackets overflow the port's queue, and "
                "without them it is not met; the sizes are not the printed ones: a round trip of 1.12 ms, fitted to "
                "them, brings all four within 10 %",
         criterion=Criterion("more at 8 than at 4 KiB, at 16 within 5 % of 8 KiB, more at 64 than at 16 KiB",
                             "Table II: 792, 1814, 1829, 2773 MB on the mean")),
    _row("S4-T3", "Table III", "Two Linux virtual machines on one host",
         "4K 991.9/994, 8K 1700/1779, 16K 4059/4101, 64K 10980/10800 MB with 1/2 GB; above the baseline but at 8K",
         against(MACHINES, BASELINE_IPERF3, BELOW_AT_8), MACHINES, BASELINE_IPERF3, needs=VIRTUAL,
         facts=("virtual-linux-1gb", "virtual-linux-2gb"), limits=f"no Windows XP; {SHORT}",
         criterion=Criterion(f"above the baseline at 4, 16 and 64 KiB, below it at 8 KiB, {BEYOND}",
                             "Tables III and V, orders as printed")),
    _row("S4-T4", "Table IV", "Two switches joined by Open vSwitch with a controller",
         "Linux 447.7/765.5/1646/4127 MB: below the virtual machines, above the baseline at 64K",
         sdn_between, SDN, MACHINES, BASELINE_IPERF3, needs=(*VIRTUAL, *OPENFLOW), facts=("sdn-linux",),
         claim="calibrated",
         limits=f"{SWITCHED}; {SHORT}",
         criterion=Criterion("below virtual machines at every window; below the baseline at 4, 8 and 16 KiB, above "
                             f"it at 64 KiB, {BEYOND}",
                             "Tables III to V, orders as printed")),
    _row("S4-T5-BR", "Table V", "Bridged: virtual switch to physical switch", "949.1/952/1321/1768 MB",
         against(BRIDGED, BASELINE_IPERF3, ABOVE_AT_4), BRIDGED, BASELINE_IPERF3, needs=VIRTUAL, facts=("bridged",),
         limits=f"{PHYSICAL}; {SHORT}",
         criterion=Criterion(f"above the baseline at 4 KiB, below it at 8, 16 and 64 KiB, {BEYOND}",
                             "Table V, orders as printed")),
    _row("S4-T5-MN", "Table V", "Mininet in a virtual machine", "2054/2244/2980/3284 MB",
         against(MININET, BASELINE, dict.fromkeys(WINDOWS, "above")),
         MININET, BASELINE, needs=MINI, facts=("mininet",), limits=f"the version of Mininet is not known; {BARE}",
         criterion=Criterion(f"above the baseline at every window, {BEYOND}", "Table V, orders as printed")),
    _data("S4-T6", "Table VI", "Means by class", "baseline 805.2/1527.7/1639.3/2515.8 MB, …",
          "its baseline contradicts Table V", "class-physical"),
    _data("S4-F6", "Fig. 6", "Operating system and memory on one switch", "Linux below Windows until 64K",
          "shown in a figure only, and Windows cannot be run"),
    _row("S4-E2", "II.A.2", "UDP jitter and loss", "below 1 ms and 1 %", quiet_udp, UDP,
         claim="calibrated",
         facts=("jitter", "udp-loss"), limits=f"the rate is not printed; ours are 10 and 100 Mbit/s; {STILL}",
         criterion=Criterion("jitter below 1 ms and loss below 1 % in every run", "II.A.2, bounds as printed")),
    _row("S4-E3", "Table III", "Memory of a virtual machine", "no effect: at most 4.65 %",
         memory_does_not_matter, MACHINES, MEMORY, needs=VIRTUAL, facts=("memory-does-not-matter",),
         limits=f"virtual machines of 1 and 2 GB; {SHORT}",
         criterion=Criterion("twice the memory changes each transfer by less than 5 %", "Table III: 4.65 % at most")),
    _data("S4-E4", "Table II", "Spread between vendors", "standard deviations by switch", "no real switches"),
    _data("S4-E5", "II.A", "Traffic of an idle switch", "STP, discovery and DHCP of two vendors",
          "a Linux bridge does not send the vendors' protocols"),
    _row("S4-TV", "III.E", "iperf against a capture of the same run", "13.589 and 13.598 Mbit/s, 0.064 % apart",
         tool_agrees_with_capture, VALIDATION, claim="reproduced", facts=("check-computed", "check-frames"),
         limits="iperf3 in place of iperf 2; segments of 1448 bytes, as Linux uses TCP timestamps; we chose window and "
                "RTT",
         criterion=Criterion("at most 0.064 % apart", "III.E, derived from 13.589 and 13.598 Mbit/s")),
    _row("K8", "Table II", "Transfer over window", "does not fall as the window grows",
         grow_with_window, BASELINE, facts=("grows-with-window",),
         limits=f"{OURS}; the window is at both ends, so 16 KiB have twice what 8 KiB have, where S4-T2 has them alike",
         criterion=Criterion("no step to a larger window lowers the transfer by more than 1 %",
                             "Table II: equal pairs are equal within 1 %")),
    _row("K8-VM", "Tables III to V", "Transfer over window with virtual machines", "does not fall as the window grows",
         grow_with_window, MACHINES, SDN, BRIDGED, facts=("grows-with-window",), needs=(*VIRTUAL, *OPENFLOW),
         limits=SHORT,
         criterion=Criterion("no step to a larger window lowers the transfer by more than 1 %, between virtual "
                             "machines, through Open vSwitch and bridged",
                             "Tables III to V")),
    _row("K9", "Table V", "Mininet against the baseline", "above at all windows",
         against(MININET, BASELINE, dict.fromkeys(WINDOWS, "above")), MININET,
         BASELINE, needs=MINI, facts=("mininet-above-physical",), limits=f"{OURS}; {BARE}",
         criterion=Criterion("as S4-T5-MN", "Table V", "S4-T5-MN")),
    _row("K10", "Tables III, IV", "SDN against virtual machines", "below at all windows",
         SDN_BELOW_MACHINES, SDN, MACHINES, needs=(*VIRTUAL, *OPENFLOW), facts=("sdn-below-virtual",),
         claim="calibrated", limits=f"{SWITCHED}; {SHORT}",
         criterion=Criterion(f"below virtual machines at every window, {BEYOND}", "Tables III, IV", "S4-T4")),
    _row("K11", "Table V", "Bridged against the baseline", "below from 8K on",
         against(BRIDGED, BASELINE_IPERF3, dict.fromkeys(WINDOWS[1:], "below")), BRIDGED, BASELINE_IPERF3,
         needs=VIRTUAL, claim="calibrated", facts=("bridged-below-physical",), limits=f"{PHYSICAL}; {SHORT}",
         criterion=Criterion(f"below the baseline at 8, 16 and 64 KiB, {BEYOND}", "Table V", "S4-T5-BR")),
    _row("K12", "Table III", "Twice the memory", "less than 5 %",
         memory_does_not_matter, MACHINES, MEMORY, needs=VIRTUAL, facts=("memory-does-not-matter",), limits=SHORT,
         criterion=Criterion("as S4-E3", "Table III", "S4-E3")),
    _row("K13", "II.A.2", "UDP on the baseline", "jitter below 1 ms, loss below 1 %",
         quiet_udp, UDP, claim="calibrated", facts=("udp-clean",), limits=STILL,
         criterion=Criterion("as S4-E2", "II.A.2", "S4-E2")),
    _row("K13-VM", "II.A.2", "UDP between virtual machines", "jitter below 1 ms, loss below 1 %",
         quiet_udp, UDP_MACHINES, facts=("udp-clean",), needs=VIRTUAL,
         limits=f"at 1 and 10 Mbit/s, for 2 s in the quick size; {MACHINE}",
         criterion=Criterion("jitter below 1 ms and loss below 1 % in every run", "II.A.2, bounds as printed")),
    _row("K13-MN", "II.A.2", "UDP in Mininet", "jitter below 1 ms, loss below 1 %",
         quiet_udp, UDP_MININET, facts=("udp-clean",), needs=MINI,
         claim="calibrated", limits=f"at 10 and 100 Mbit/s over TCLinks of 1 Gbit/s; {STILL}",
         criterion=Criterion("jitter below 1 ms and loss below 1 % in every run", "II.A.2, bounds as printed")),
)  # fmt: skip
