"""The report as one value: all that the page shows, as text and numbers that JSON can hold.

It reads the samples and the scripts of the trials, through `Traces`; everything else is worked out from a StoredRun.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from .. import __version__
from ..analysis import flow_sample, statistic
from ..analysis.expectation.verdict import seen_range
from ..analysis.limit import limit_sample, limited_by
from ..analysis.limit.limitation import WHAT, Limit, Limitation
from ..analysis.metric import METRICS
from ..analysis.series import Series, all_keys, rtt_key, varied_keys
from ..analysis.theory_curve import overlays
from ..compare import published
from ..model.expectation import in_words
from ..model.scenario import short_names
from ..sweep.shard import in_words as shards_in_words
from ..trial.folder import read_text
from ..trial.result import TrialResult
from ..units import counted
from . import headline, published_row, trust
from .caption import digest, repeat, subject
from .drawing import Drawing, drawings
from .signal import flow_names, inside, packed, rows, trace
from .stored_run import StoredRun
from .window_table import WindowTable, window_table

GRID = 40
"""So many round-trip times an overlay is drawn at."""


def curves(series: Sequence[Series], place: Mapping[str, int], limited: Mapping[str, Limit]) -> list[dict[str, Any]]:
    """One for each series, without any trial too. By the id of a trial, `place` is its number, and `limited` what
    limited it.
    """
    rtts = sorted({each.asked.rtt_s for one in series for each in one.trials})
    return [_curve(each, _grid(rtts), place, limited) for each in series]


def _grid(rtts: Sequence[float]) -> list[float]:
    """From the shortest RTT to the longest, in equal ratios; those above 0, at which overlays are defined."""
    known = [rtt for rtt in rtts if rtt > 0]
    if len(known) < 2:
        return list(known)
    return sorted({*known, *np.geomspace(known[0], known[-1], GRID).tolist()})


def _curve(
    each: Series, grid: Sequence[float], place: Mapping[str, int], limited: Mapping[str, Limit]
) -> dict[str, Any]:
    about = each.conditions
    return {
        "label": each.label,
        "params": dict(each.params),
        "points": _points(each, place, limited),
        "capacity": each.capacity_bps,
        "overlays": {
            found.kind: [[rtt, rate] for rtt, rate in zip(found.rtt_s, found.goodput_bps, strict=True)]
            for found in (overlays(about, grid) if about is not None and grid else ())
        },
        "flows": about.flows if about else None,
        "loss": about.loss if about else None,
        "coefficients": _coefficients(each),
        "stretches": [[part.from_rtt_s, part.to_rtt_s, part.bend] for part in each.stretches()],
        "left_out": len(each.left_out),
    }


def _points(each: Series, place: Mapping[str, int], limited: Mapping[str, Limit]) -> list[dict[str, Any]]:
    """At each RTT the mean, its 95 % t interval where repetitions differ, its trials, and what limited them."""
    profile = each.profile()
    if profile is None:
        return []
    points = []
    for rtt, mean, samples in zip(profile.rtt_s, profile.mean_bps, profile.samples_bps, strict=True):
        members = [trial for trial in each.trials if trial.asked.rtt_s == rtt]
        found = statistic.estimate(samples).interval()
        interval = None if found is None else statistic.above_zero(found)
        limits = [limited[trial.id] for trial in members]
        points.append(
            {
                "rtt": rtt,
                "mean": mean,
                "low": interval.low if interval else None,
                "high": interval.high if interval else None,
                "trials": [place[trial.id] for trial in members],
                "limits": {limit: limits.count(limit) for limit in dict.fromkeys(limits)},
            }
        )
    return points


def _coefficients(each: Series) -> dict[str, Any] | None:
    found = each.coefficients()
    if found is None:
        return None
    interval = found.c_uc_interval
    return {
        "c_uc": found.c_uc,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "c_u": found.c_u,
        "c_cc": found.c_cc,
    }


ROWS_MOST = 400_000
"""So many samples are in a page, a few MB; of more, a part is kept."""
STEPS = 16
"""The part is a whole number of sixteenths, so that it does not change with every trial of a run that goes on."""


@dataclass
class Traces:
    """The signals of trials, packed, their metrics, and what limited them. Signals are read once while the part to be
    kept stays the same, the others once.
    """

    _packed: dict[tuple[str, float], tuple[str, int, int]] = field(default_factory=dict)
    _rows: dict[str, int] = field(default_factory=dict)
    _metrics: dict[str, dict[str, float | None]] = field(default_factory=dict)
    _limits: dict[str, Limitation] = field(default_factory=dict)
    _parts: dict[str, tuple[float, ...]] = field(default_factory=dict)

    def limit(self, run: StoredRun, each: TrialResult) -> Limitation:
        """What limited a trial. Raises UserError for broken samples."""
        if each.id not in self._limits:
            trial = run.trials.get(each.id)
            times = limit_sample.times(run.folder(each.id), each, trial)
            self._limits[each.id] = limited_by.of_trial(each, trial, times)
        return self._limits[each.id]

    def metrics(self, run: StoredRun, each: TrialResult) -> dict[str, float | None]:
        """All metrics of a trial in base units. Raises UserError for broken samples."""
        if each.id not in self._metrics:
            self._metrics[each.id] = flow_sample.metrics(run.folder(each.id), each, [*METRICS])
        return self._metrics[each.id]

    def parts(self, run: StoredRun) -> dict[str, tuple[float, ...]]:
        """What the only trial of a cell brought in each part of it. Raises UserError for broken samples."""
        found = flow_sample.without_another_seed(run.results)
        self._parts |= {
            each.id: flow_sample.parts(run.folder(each.id), each) for each in found if each.id not in self._parts
        }
        return {each.id: self._parts[each.id] for each in found}

    def read(self, run: StoredRun) -> tuple[dict[int, str], float]:
        """By a trial's number, and the share of all samples that was kept. Raises UserError for a broken file."""
        for each in run.results:
            if each.id not in self._rows:
                self._rows[each.id] = rows(run.folder(each.id))
        total = sum(self._rows[each.id] for each in run.results) / 2  # both ends of a flow are sampled
        share = 1.0 if total <= ROWS_MOST else max(1, int(STEPS * ROWS_MOST / total)) / STEPS
        found, kept, samples = {}, 0, 0
        for number, each in enumerate(run.results):
            if self._rows[each.id]:
                key = (each.id, share)
                if key not in self._packed:
                    told = trace(inside(run.folder(each.id), each), share)
                    self._packed[key] = packed(told), told["kept"], told["samples"]
                found[number] = self._packed[key][0]
                kept, samples = kept + self._packed[key][1], samples + self._packed[key][2]
        return found, kept / samples if samples else 1.0


def view(
    run: StoredRun,
    traces: Traces | None = None,
    profiles: Sequence[tuple[published.PublishedProfile, str | None]] = (),
) -> dict[str, Any]:
    """All of a run's report. Raises UserError for files of trials that are damaged.

    `profiles` are compared beside those that come with the testbed, each with the one series of it (None: all);
    UserError if one of them cannot be.
    """
    results = run.results
    place = {each.id: number for number, each in enumerate(results)}
    split = run.series
    given = {profile.name for profile, _ in profiles}
    known = [published.find(name)[0] for name in published.names() if name not in given]
    windows = window_table(run.usable)
    traces = traces or Traces()
    found, share = traces.read(run)
    ran_with = _RanWith(run)
    of_series = {each.id: number for number, one in enumerate(split) for each in one.trials}
    limited = {each.id: traces.limit(run, each) for each in results}
    trials = [
        _trial(each, of_series.get(each.id), ran_with)
        | {"metrics": traces.metrics(run, each), "limit": asdict(limited[each.id]), "flows": _flows(each)}
        for each in results
    ]
    lost = [f"{run.missing} of {len(run.ids)} trials are missing"] if run.missing else []
    compared, not_compared = published_row.comparisons(
        split, known, profiles, lost, traces.parts(run), lambda each, name: traces.metrics(run, each)[name]
    )
    known = [*(profile for profile, _ in profiles), *known]
    return {
        "run": _run(run),
        "verdict": headline.verdict(run),
        "about": [subject(run)] if results else [],
        "headline": headline.sentences(results, {id: found.limit for id, found in limited.items()}),
        "notes": _notes(run, share),
        "same": _same(results),
        "keys": _keys(results, run),
        "networks": [_network(each) for each in drawings(run)],
        "counts": trust.counts(results),
        "rules": [
            {
                "name": each.rule.name,
                "metric": each.rule.measured,
                "where": in_words(each.rule.where).removeprefix("where "),
                "asked": each.rule.wanted,
                "range": seen_range(each),
                "trials": each.trials,
                "outcome": each.outcome,
                "why": "; ".join(filter(None, (each.seen, each.rule.message))) if each.seen else "",
            }
            for each in run.rules
        ],
        "agreement": trust.agreement(results),
        "provenance": ran_with.rows,
        "limits": WHAT,
        "metrics": [
            {"name": each.name, "title": each.title, "what": each.what, "scale": each.scale}
            for each in METRICS.values()
        ],
        "trials": trials,
        "series": curves(split, place, {id: found.limit for id, found in limited.items()}),
        "windows": _windows(windows),
        "published": published_row.curves(known),
        "comparison": compared,
        "not_compared": not_compared if run.usable else [],
        "window_comparison": published_row.window_rows(windows, known) if windows else None,
        "inside": found,
        "scripts": packed(_scripts(run)),
    }


def _run(run: StoredRun) -> dict[str, Any]:
    return {
        "name": run.name,
        "path": str(run.path),
        "testbed": __version__,
        "digest": digest(run),
        "trials": len(run.ids),
        "done": len(run.results),
        "failed": [[id, reason] for id, reason in run.failures.items()],
        "repeat": repeat(run),
    }


def _notes(run: StoredRun, share: float) -> list[str]:
    """What a reader must know first."""
    notes = []
    missing = run.missing
    if not run.results:
        notes.append("No trial has finished yet: `testbed run` continues where it stopped.")
    elif missing:
        more = " With adaptive repetitions there may be more." if run.has_until else ""
        what = f"This is {shards_in_words(run.shards)} of its scenario" if run.shards else "This run is not finished"
        notes.append(f"{what}: {missing} of {len(run.ids)} trials are missing.{more}")
    if run.audit is not None:
        notes.append(run.audit.in_words())
    if run.failures:
        notes.append(f"{counted(len(run.failures), 'trial')} failed; the section Trust gives the reasons.")
    if not run.usable and any(each.verdict == "invalid" for each in run.results):
        notes.append(
            "No trial has a goodput that can be used, so there is no profile. "
            "The section Trust says whether something is wrong."
        )
    unread = len(run.results) - len(run.trials)
    if unread:
        notes.append(f"Specifications of trials that another version wrote are left out: {unread}.")
    if share < 1:
        notes.append(
            f"A page cannot hold all samples: it shows about {share:.0%} of them, with the smallest and the "
            "largest of each interval; samples.parquet of each trial has all of them."
        )
    return notes


def _keys(results: Sequence[TrialResult], run: StoredRun) -> list[dict[str, Any]]:
    """The parameters that vary, with their values in the order of the scenario. `is_apart` set series apart."""
    keys, rtt = varied_keys(results), rtt_key(results)
    apart = {key for one in run.series for key, _ in one.params}
    names = short_names(all_keys(results))
    return [
        {
            "key": key,
            "name": names[key],
            "values": list(dict.fromkeys(each.params.get(key, "") for each in results)),
            "is_rtt": key == rtt,
            "is_apart": key in apart,
        }
        for key in keys
    ]


def _same(results: Sequence[TrialResult]) -> list[list[str]]:
    """Name and value of the parameters that all trials have in common, and the seed if they do."""
    varied = varied_keys(results)
    first = dict(results[0].params) if len(results) > 1 else {}
    seeds = {each.seed for each in results}
    names = short_names(all_keys(results))
    same = [[names[key], value] for key, value in first.items() if key not in varied]
    return same + ([["seed", str(min(seeds))]] if len(results) > 1 and len(seeds) == 1 else [])


class _RanWith:
    """What trials ran with, each combination once."""

    def __init__(self, run: StoredRun) -> None:
        self._run = run
        self._numbers: dict[str, int] = {}
        self.rows: list[list[list[str]]] = []

    def number(self, each: TrialResult) -> int:
        about = self._run.provenance(each.id)
        found = trust.provenance(about, each, self._run.settings[each.id])
        key = repr(found)
        if key not in self._numbers:
            self._numbers[key] = len(self.rows)
            self.rows.append(found)
        return self._numbers[key]


def _trial(each: TrialResult, of_series: int | None, ran_with: _RanWith) -> dict[str, Any]:
    return {
        "id": each.id,
        "params": dict(each.params),
        "seed": each.seed,
        "verdict": each.verdict,
        "goodput": each.goodput_bps,
        "series": of_series,
        "findings": trust.findings(each),
        **trust.asked_and_seen(each),
        "measured": trust.measured(each),
        "lab_s": each.lab_s,
        "wall_s": each.wall_s,
        "ran_with": ran_with.number(each),
    }


def _flows(each: TrialResult) -> list[dict[str, Any]]:
    """Of a trial with several flows, each with its goodput, and its share of that of all; none without goodputs."""
    rates = [flow.goodput_bps for flow in each.flows if flow.goodput_bps is not None]
    if len(rates) < 2 or len(rates) < len(each.flows):
        return []
    shares = each.shares or (None,) * len(rates)
    return [
        {"name": name, "goodput": rate, "share": share}
        for name, rate, share in zip(flow_names(each), rates, shares, strict=True)
    ]


def _network(each: Drawing) -> dict[str, Any]:
    drawing = asdict(each)
    for line, shown in zip(drawing["lines"], each.lines, strict=True):
        line["facts"] = [[fact.name, fact.text] for fact in shown.facts]
        line["drawn"] = [[fact.name, fact.text] for fact in shown.drawn]
    return drawing


def _windows(table: WindowTable | None) -> dict[str, Any] | None:
    return None if table is None else asdict(table)


def _scripts(run: StoredRun) -> Mapping[str, Any]:
    """The plan of each trial as numbers of lines: scripts of a run differ in a few."""
    lines: dict[str, int] = {}
    plans = []
    for each in run.results:
        file = run.folder(each.id) / "plan.sh"
        text = read_text(file).splitlines() if file.exists() else []
        plans.append([lines.setdefault(line, len(lines)) for line in text])
    return {"lines": list(lines), "plans": plans}
