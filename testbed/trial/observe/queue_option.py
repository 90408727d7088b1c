"""What the kernel reports of the parameters of a queue, as numbers by the names that tc has for them. Pure, no I/O.

The numbers of attributes and the structures are those of linux/pkt_sched.h. What is neither here nor padding is told as
`attribute_N`, so that nothing is there unseen.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from . import netlink

PADDING = {"cake": (1, 12), "dualpi2": (16,), "fq": (6, 16, 17), "red": (2, 5, 6)}
"""Attributes that nobody can ask for: padding, cake's `raw`, the obsolete rate, priorities of bands and their weights
of fq, the table and the blocks of red."""

RED_PARMS, RED_MAX_P, RED_FLAGS = 1, 3, 4

NAMES: Mapping[str, Mapping[int, str]] = {
    "codel": {1: "target", 2: "limit", 3: "interval", 4: "ecn", 5: "ce_threshold"},
    "fq_codel": {
        **{1: "target", 2: "limit", 3: "interval", 4: "ecn", 5: "flows", 6: "quantum", 7: "ce_threshold"},
        **{8: "drop_batch", 9: "memory_limit", 10: "ce_threshold_selector", 11: "ce_threshold_mask"},
    },
    "pie": {
        **{1: "target", 2: "limit", 3: "tupdate", 4: "alpha", 5: "beta", 6: "ecn", 7: "bytemode"},
        8: "dq_rate_estimator",
    },
    "fq_pie": {
        **{1: "limit", 2: "flows", 3: "target", 4: "tupdate", 5: "alpha", 6: "beta", 7: "quantum", 8: "memory_limit"},
        **{9: "ecn_prob", 10: "ecn", 11: "bytemode", 12: "dq_rate_estimator"},
    },
    "cake": {
        **{2: "base_rate", 3: "diffserv", 4: "atm", 5: "isolation", 6: "overhead", 7: "rtt", 8: "target"},
        **{9: "autorate", 10: "limit", 11: "nat", 13: "wash", 14: "mpu", 15: "ingress", 16: "ack_filter"},
        **{17: "split_gso", 18: "fwmark"},
    },
    "dualpi2": {
        **{1: "limit", 2: "memlimit", 3: "target", 4: "tupdate", 5: "alpha", 6: "beta", 7: "step_thresh_packets"},
        **{8: "step_thresh", 9: "min_qlen_step", 10: "coupling_factor", 11: "drop_on_overload", 12: "drop_enqueue"},
        **{13: "classic_protection", 14: "any_ect", 15: "split_gso"},
    },
    "fq": {
        **{1: "limit", 2: "flow_limit", 3: "quantum", 4: "initial_quantum", 5: "pacing", 7: "maxrate", 8: "buckets"},
        **{9: "refill_delay", 10: "orphan_mask", 11: "low_rate_threshold", 12: "ce_threshold", 13: "timer_slack"},
        **{14: "horizon", 15: "horizon_drop", 18: "offload_horizon"},
    },
}
"""The attributes of each kind that has nothing but numbers in them."""

KINDS = frozenset({*NAMES, "red", "sfq"})


def decoded(kind: str, options: bytes) -> dict[str, int]:
    """Every number. Raises struct.error for options that are not whole."""
    if kind == "sfq":
        return _sfq(options)
    found = netlink.attributes(options)
    if kind == "red":
        return _red(found)
    names, padding = NAMES[kind], PADDING.get(kind, ())
    told = {names.get(n, f"attribute_{n}"): int.from_bytes(data, "little") for n, data in found.items()}
    return {name: number for name, number in told.items() if name not in {f"attribute_{n}" for n in padding}}


def _red(found: Mapping[int, bytes]) -> dict[str, int]:
    """struct tc_red_qopt, the probability in 2^-32, and the flags."""
    limit, low, high, weight, slope, cell = struct.unpack_from("=3I3B", found[RED_PARMS])
    (probability,) = struct.unpack("=I", found[RED_MAX_P])
    (flags,) = struct.unpack_from("=I", found[RED_FLAGS])
    numbers = {"limit": limit, "min": low, "max": high, "weight": weight, "slope": slope, "probability": probability}
    numbers["cell"] = cell
    other = found.keys() - {RED_PARMS, RED_MAX_P, RED_FLAGS, *PADDING["red"]}
    return {**numbers, "flags": flags, **{f"attribute_{n}": 1 for n in other}}


def _sfq(options: bytes) -> dict[str, int]:
    """struct tc_sfq_qopt_v1; `red` is whether any number of its RED is there."""
    quantum, perturb, limit, divisor, flows, depth, headdrop, *red = struct.unpack_from("=Ii5I3I4BI", options)
    numbers = {"quantum": quantum, "perturb": perturb, "limit": limit, "divisor": divisor, "flows": flows}
    return {**numbers, "depth": depth, "headdrop": headdrop, "red": int(any(red))}
