"""The numbers that publications print, as results of their scenarios: for each row, runs that have what it prints.

Where a figure hides a number, the results have exactly the printed property, and nothing else is meant by them. Every
run has three seeds, which differ by 0.01 % where seeds would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

from results import plain
from testbed.trial.result import TrialResult
from testbed.units import parse_one_in
from testbed_reproductions.measured import Measured

Runs: TypeAlias = Mapping[str, Measured]
Share: TypeAlias = Callable[[str, str, int, int], float]
SEEDS = (1, 2, 3)
LINE = 0.956407
"""The goodput of a full link over its rate: 1448 of 1514 bytes."""


def result(params: Mapping[str, str], bps: float | None, seed: int = 1, **data: Any) -> TrialResult:
    rtt_s = data.pop("rtt_s", 0.01)
    asked = {"rtt_s": rtt_s, "rate_bps": data.pop("rate_bps", 1e9)}
    seen = {"rtt_s": rtt_s, "rtt_max_s": rtt_s} | data.pop("seen", {})
    return plain(params=dict(params), goodput_bps=bps, seed=seed, asked=asked, seen=seen, **data)


def wobble(seed: int) -> float:
    return 1 + (seed - 2) * 1e-4


def runs(scenario: str, results: Iterable[TrialResult]) -> dict[str, Measured]:
    return {scenario: Measured.of(scenario, "quick", tuple(results))}


def together(*parts: Runs) -> dict[str, Measured]:
    return {name: measured for part in parts for name, measured in part.items()}


# Phanekham et al.: shares of 10 Gbit/s

RATE_BPS = 10e9
RTTS_MS = (1, 22, 91, 183, 376)
LOSSES = ("none", "1 in 1000000", "1 in 100000", "1 in 10000", "1 in 500")
FAR = {1: 0.1407, 2: 0.38, 5: 0.39, 10: 0.3923}
"""At 376 ms without loss: 1.407 and 3.923 Gbit/s of 10 are printed; 5 like 10."""
BEND = {"none": 0.5, "1 in 1000000": 0.5, "1 in 100000": 1.5, "1 in 10000": 4.0, "1 in 500": 90.0}
"""From concave to convex."""
LEFT = {"none": 1.0, "1 in 1000000": 0.95, "1 in 100000": 0.3, "1 in 10000": 0.1, "1 in 500": 0.01}


def emulated(loss: str, control: str, flows: int, rtt_ms: int) -> float:
    """Full at 1 ms; falls to what is printed at 376 ms; BBR hardly sees the loss, and HTCP differs from 1e-5 on."""
    if control == "bbr":
        loss = "none"
    far, x = FAR[flows] * LEFT[loss], (rtt_ms - 1) / 375
    bend = BEND[loss] * (2.2 if flows == 1 else 1.0)
    share = far + (1 - far) * (1 - x) ** bend
    is_apart = control == "htcp" and loss != "none" and parse_one_in(loss) <= 100_000
    return share * (0.8 if is_apart else 1.0)


@cache
def profile(share: Share = emulated, rate_bps: float = RATE_BPS, off_s: float = 0.0, missed: int = 0) -> Runs:
    """Both scenarios; `share` is of the line rate."""
    found: dict[str, list[TrialResult]] = {"throughput-profile": [], "throughput-profile-loss": []}
    for loss in LOSSES:
        name = "throughput-profile" if loss == "none" else "throughput-profile-loss"
        controls = ("cubic", "htcp", "bbr", "scalable") if loss == "none" else ("cubic", "htcp", "bbr")
        for control in controls:
            for flows in (1, 2, 5, 10):
                for rtt_ms in RTTS_MS:
                    for seed in SEEDS:
                        level = share(loss, control, flows, rtt_ms)
                        drops = {"expected_drops": 3, "dropped_packets": 3 - missed}
                        found[name].append(
                            result(
                                {
                                    "path.loss": loss,
                                    "congestion": control,
                                    "flows": str(flows),
                                    "path.rtt": f"{rtt_ms} ms",
                                },
                                None if level is None else rate_bps * LINE * level * wobble(seed),
                                seed,
                                rtt_s=rtt_ms / 1e3,
                                rate_bps=rate_bps,
                                seen={"rtt_s": rtt_ms / 1e3 + off_s},
                                stages=[drops] if loss != "none" else [],
                            )
                        )
    return {name: Measured.of(name, "quick", each) for name, each in found.items()}


ENDS = {
    ("cubic", 1): (0.42, 1.9), ("htcp", 1): (0.40, 1.9), ("bbr", 1): (0.45, 2.0),
    ("cubic", 10): (0.80, 0.7), ("htcp", 10): (0.70, 0.6), ("bbr", 10): (0.70, 0.09),
}  # fmt: skip
"""At the longest RTT: just above 4 with 1 flow of CUBIC; 8, 7, 7 with 10 flows. And the bend."""


def in_the_cloud(control: str, flows: int, rtt_ms: int) -> float:
    end, bend = ENDS[control, flows]
    return end + (1 - end) * (1 - (rtt_ms - 1) / 339) ** bend


@cache
def cloud(share: Callable[[str, int, int], float] = in_the_cloud, spread: float = 0.01) -> Runs:
    results = [
        result({"congestion": control, "flows": str(flows), "path.rtt": f"{rtt_ms} ms"},
               RATE_BPS * LINE * share(control, flows, rtt_ms) * (1 + (seed - 2) * spread), seed,
               rtt_s=rtt_ms / 1e3, rate_bps=RATE_BPS)
        for control in ("cubic", "htcp", "bbr") for flows in (1, 10) for rtt_ms in (1, 80, 160, 340) for seed in SEEDS
    ]  # fmt: skip
    return runs("noisy-profile", results)


def outlier(busy_bps: float = 7.96e9, idle_bps: float = 9.72e9) -> Runs:
    return runs("equal-rtt-outlier", [
        result({"workload.to": to}, bps * wobble(seed), seed, rate_bps=RATE_BPS)
        for to, bps in (("busy", busy_bps), ("idle", idle_bps)) for seed in SEEDS
    ])  # fmt: skip


def buffers(*shares: float) -> Runs:
    """Shares of buffer / RTT at 376 ms."""
    found = []
    for size, share in zip((125_000_000, 250_000_000, 500_000_000), shares or (0.9, 0.9, 0.9), strict=True):
        for seed in SEEDS:
            rmem = f"4096 131072 {size}"
            bps = 8 * size / 0.376 * share * wobble(seed)
            found.append(result({"sysctls.net.ipv4.tcp_rmem": rmem}, bps, seed, rtt_s=0.376, rate_bps=RATE_BPS))
    return runs("buffer-ceiling", found)


# Hartpence and Kwasinski: MB of 2^20 bytes in 30 s

WINDOWS = ("4 KiB", "8 KiB", "16 KiB", "64 KiB")
BASELINE = (792.0, 1814.0, 1829.0, 2773.0)
VIRTUAL = (991.9, 1700.0, 4059.0, 10980.0)
VIRTUAL_2GB = (994.0, 1779.0, 4101.0, 10800.0)
SDN = (447.7, 765.5, 1646.0, 4127.0)
BRIDGED = (949.1, 952.0, 1321.0, 1768.0)
MININET = (2054.0, 2244.0, 2980.0, 3284.0)


def transfers(scenario: str, mb: Sequence[float], spread: float = 1e-4, **params: str) -> list[TrialResult]:
    is_client = scenario == "links-client-window"
    axes = [{"workload.variant": f"{each.split()[0]}K"} if is_client else {"window": each} for each in WINDOWS]
    return [
        result({**params, **axis}, each * 2**20 * 8 / 30 * (1 + (seed - 2) * spread), seed)
        for axis, each in zip(axes, mb, strict=True) for seed in SEEDS
    ]  # fmt: skip


def links(scenario: str, mb: Sequence[float]) -> Runs:
    return runs(scenario, transfers(scenario, mb))


def switched(sdn: Sequence[float] = SDN, machines: Sequence[float] = VIRTUAL) -> Runs:
    return together(links("links-sdn", sdn), links("links-virtual", machines))


def memory(small: Sequence[float] = VIRTUAL, large: Sequence[float] = VIRTUAL_2GB, spread: float = 1e-4) -> Runs:
    kinds = (("links-virtual", small, spread), ("links-memory", large, -spread))
    return together(*(runs(name, transfers(name, mb, by)) for name, mb, by in kinds))


def datagrams(scenario: str, jitter_s: float | None = 0.0009, lost: int = 9, sent: int = 1000) -> Runs:
    udp = {"udp": {"jitter_s": jitter_s, "lost_datagrams": lost, "sent_datagrams": sent}}
    return runs(scenario, [result({}, 1e6, seed, measured=udp) for seed in SEEDS])


def validation(wire_bytes: int = 34927 * 1460, tool_bytes: int = 50_960_794) -> Runs:
    """48.6 MB by iperf, 13.589 Mbit/s; 34927 frames of 1460 bytes."""
    wire = {"packets": 34927, "payload_bytes": wire_bytes, "again_packets": 0, "again_bytes": 0, "largest_bytes": 1460}
    return runs("links-validation", [
        result({}, 13.6e6, seed, flows=[{"received_bytes": tool_bytes}], captures={"right-eth0.pcap": wire})
        for seed in SEEDS
    ])  # fmt: skip
