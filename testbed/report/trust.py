"""Whether a run can be trusted: verdicts with their reasons, asked against seen, and what it ran with. Pure, no I/O.

What the page shows of it is text and numbers in base units; absent is None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..trial import software
from ..trial.provenance import parts_of
from ..trial.result import StageResult, TrialResult
from ..trial.subject import bpf
from ..units import counted

SHORT_LIST = 4
VERDICTS = ("valid", "suspect", "invalid")


def counts(results: Sequence[TrialResult]) -> dict[str, int]:
    """How many trials have each verdict, those of which there is none included."""
    found: Counter[str] = Counter(each.verdict for each in results)
    return {verdict: found[verdict] for verdict in VERDICTS}


def findings(result: TrialResult) -> list[list[str]]:
    """Check, verdict, text and hint of each finding of the gate."""
    return [[each.check, each.verdict, each.text, each.hint] for each in result.findings]


def asked_and_seen(result: TrialResult) -> dict[str, Any]:
    """Of the path: RTT, rate, drops and queue as asked, and as they were seen. The queue is of the fullest buffer;
    drops are those on the way there and back.
    """
    asked, seen = result.asked, result.seen
    return {
        "rtt": [asked.rtt_s, seen.rtt_s],
        "rate": [asked.rate_bps, seen.rate_bps],
        "drops": list(result.periodic_drops),
        "queue": _fullest(result.stages),
        "queue_drops": seen.queue_drops,
        "random_drops": result.random_drops,
        "aqm_drops": seen.aqm_drops,
        "marks": seen.marks,
        "filtered_acks": seen.filtered_acks,
        "policed": result.policed_packets,
    }


def _fullest(stages: Sequence[StageResult]) -> list[int | str | None]:
    """The size asked for, with its unit, and the most packets that waited; of the buffer with the most."""
    known = [(stage.max_backlog_packets, stage) for stage in stages if stage.max_backlog_packets is not None]
    if not known:
        return [None, None, None]
    most, fullest = max(known, key=lambda pair: pair[0])
    return [fullest.buffer, fullest.buffer_unit, most]


def measured(result: TrialResult) -> dict[str, Any]:
    """What its tool measured besides goodput, flat: "ping.rtt_mean_s". Long lists are left out."""
    return dict(_flat("", result.measured))


def _flat(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _flat(f"{name}.{key}" if name else str(key), each)
    elif isinstance(value, list):
        if len(value) <= SHORT_LIST:
            for number, each in enumerate(value, 1):
                yield from _flat(f"{name}.{number}", each)
    elif value is not None:
        yield name, value


def agreement(results: Sequence[TrialResult]) -> list[str]:
    """How far what was seen is from what was asked, over all trials, in a sentence for each quantity."""
    sentences = []
    apart = [each.rtt_off_s for each in results if each.rtt_off_s is not None]
    if apart:
        sentences.append(f"RTT: observed in {counted(len(apart), 'trial')}, off by at most {max(apart) * 1e6:.3g} µs")
    rates = [(each.asked.rate_bps, each.seen.rate_bps) for each in results]
    shares = [seen / asked for asked, seen in rates if asked and seen is not None]
    if shares:
        sentences.append(
            f"rate: the busiest interval carried {min(shares):.2%} to {max(shares):.2%} of what was asked "
            f"({counted(len(shares), 'trial')})"
        )
    exact = [asked == seen for asked, seen in (each.periodic_drops for each in results) if asked]
    if exact:
        sentences.append(
            f"periodic loss: exactly the number of packets asked for in {sum(exact)} of {counted(len(exact), 'trial')}"
        )
    random = [each.random_loss for result in results for each in result.stages]
    told = [(each, each.low, each.high) for each in random if each and each.low is not None and each.high is not None]
    if told:
        fits = sum(low <= each.asked <= high for each, low, high in told)
        widest, low, high = max(told, key=lambda each: each[2] - each[1])
        sentences.append(
            f"random loss: {fits} of {len(told)} shares asked are within the 95 % interval of the drops; the widest is "
            f"{low:.2g} to {high:.2g} of {widest.packets} packets, where {widest.asked:.2g} was asked"
        )
    queue = [each.seen.queue_drops for each in results]
    full = [count for count in queue if count]
    if any(count is not None for count in queue):
        sentences.append(
            f"queues: full in {counted(len(full), 'trial')}, which dropped {counted(sum(full), 'packet')} there"
        )
    for name, lost in (
        ("random loss", [each.random_drops for each in results]),
        ("policies and caps of each flow", [each.policed_packets for each in results]),
        ("queues that signal congestion", [each.seen.aqm_drops for each in results]),
        ("filters of ACKs", [each.seen.filtered_acks for each in results]),
    ):
        hit = [count for count in lost if count]
        if hit:
            sentences.append(f"{name}: dropped {counted(sum(hit), 'packet')} in {counted(len(hit), 'trial')}")
    marked = [each.seen.marks for each in results if each.seen.marks]
    if marked:
        sentences.append(
            f"queues that signal congestion: marked {counted(sum(marked), 'packet')} in {counted(len(marked), 'trial')}"
        )
    return sentences


def provenance(about: Mapping[str, Any], result: TrialResult, settings: Mapping[str, Any]) -> list[list[str]]:
    """Name and value of what a trial ran with; the same for trials that ran alike."""
    built = about.get("kernel") or {}
    versions: Mapping[str, str] = about.get("versions") or {}
    rows: list[tuple[str, Any]] = [
        ("kernel", f"{result.kernel} {result.kernel_release}"),
        ("kernel image", built.get("name")),
        ("kernel configuration", built.get("config_hash")),
        ("kernel key", built.get("key")),
        ("testbed", about.get("testbed")),
        ("programs", about.get("programs")),
        *versions.items(),
        ("all that decides the bytes", (about.get("software") or {}).get("digest")),
        (software.CHANGED, parts_of(about).get(software.CHANGED)),
        ("control in BPF", bpf.told(result)),
        ("pacing", result.pacing),
        ("sysctls", "; ".join(f"{key} = {value}" for key, value in (settings.get("sysctls") or {}).items())),
    ]
    return [[name, str(value)] for name, value in rows if value]
