"""A run as a profile that other runs can be held against, in the format of published profiles. Pure, no I/O."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from ..analysis.profile import ThroughputProfile
from ..analysis.series import Series
from ..analysis.statistic import sample_sd
from ..error import UserError
from ..units import counted, format_rate, format_time
from .condition import KINDS

NOT_IN_A_NAME = re.compile(r"[^a-z0-9]+")
LONGEST = 32
"""So many letters a name has at most."""
BY_THE_SERIES = "rate"
"""The condition that a series states as its capacity."""


def text(name: str, series: Sequence[Series], about: str, source: str) -> str:
    """The file, in YAML. `about` says what the run was, `source` who measured. Raises UserError for a run without any
    throughput.
    """
    found = [(each, profile) for each in series if (profile := each.profile()) is not None]
    if not found:
        raise UserError(f"{name} has no valid or suspect trial with a goodput; allowed: a run with one")
    names = _names([each.label for each, _ in found])
    lines = [
        f"name: {_slug(name)}",
        f"about: {_quoted(about)}",
        f"citation: {{authors: [{_quoted(source)}], title: {_quoted(f'Run {name}')}}}",
        "series:",
    ]
    for key, (each, profile) in zip(names, found, strict=True):
        lines += [f"  {key}:", *(f"    {line}" for line in _series(each, profile, name))]
    return "\n".join(lines) + "\n"


def _series(series: Series, profile: ThroughputProfile, name: str) -> Iterator[str]:
    yield f"what: {_quoted(f'Mean goodput, {series.label}')}"
    stated = ", ".join(f"{key}: {_quoted(words)}" for key, words in _conditions(series).items())
    yield f"of: {{{stated}}}"
    yield "over: rtt"
    yield "certainty: exact"
    if series.capacity_bps is not None:
        yield f"capacity: {format_rate(round(series.capacity_bps))}"
    yield "claim: reproduced"
    yield f"where: {_quoted(f'run {name}')}"
    doubts = {"suspect": len(series.suspect), "invalid and left out": len(series.left_out)}
    if any(doubts.values()):
        said = (f"{counted(count, 'trial')} {words}" for words, count in doubts.items() if count)
        yield f"note: {_quoted('; '.join(said))}"
    yield "points:"
    for rtt, mean, samples in zip(profile.rtt_s, profile.mean_bps, profile.samples_bps, strict=True):
        spread = f", sd: {_mbit(sample_sd(samples))}" if len(samples) > 1 else ""
        at = format_time(round(rtt * 1e9))
        yield f"  - {{at: {at}, value: {_mbit(mean)}{spread}, runs: {len(samples)}}}"


def _conditions(series: Series) -> dict[str, str]:
    """Those that are one for all trials."""
    found = {}
    for name, kind in KINDS.items():
        values = {kind.ours(each) for each in series.all_conditions}
        value = values.pop() if len(values) == 1 else None
        if value is not None and name != BY_THE_SERIES and kind.can_be_read(kind.words(value)):
            found[name] = kind.words(value)
    return found


def _mbit(rate_bps: float) -> str:
    return f"{rate_bps / 1e6:.6f} Mbit/s"


def _names(labels: Sequence[str]) -> list[str]:
    """One for each label, all different."""
    found: list[str] = []
    for label in labels:
        name, number = _slug(label), 2
        while name in found:
            name, number = f"{_slug(label)[: LONGEST - 5]}-{number}", number + 1
        found.append(name)
    return found


def _slug(words: str) -> str:
    return NOT_IN_A_NAME.sub("-", words.lower())[:LONGEST].strip("-") or "all"


def _quoted(words: str) -> str:
    """JSON's strings are YAML's."""
    return json.dumps(words, ensure_ascii=False)
