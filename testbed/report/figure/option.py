"""What a figure can be asked for beyond its kind. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...analysis.series import rtt_key, varied_keys
from ...codec.frozen import dataclass
from ...error import UserError, one_of
from ...trial.result import TrialResult
from ..stored_run import StoredRun
from .choice import chosen, named, shortened


@dataclass(frozen=True)
class Options:
    """None leaves the choice to the figure: the first trial, the first two axes, goodput."""

    trial: str | None = None
    x: str | None = None
    y: str | None = None
    metric: str | None = None
    where: str | None = None

    @property
    def words(self) -> list[str]:
        """As they are typed."""
        pairs = (("--trial", self.trial), ("--x", self.x), ("--y", self.y), ("--metric", self.metric),
                 ("--where", self.where))  # fmt: skip
        return [word for name, value in pairs if value is not None for word in (name, value)]


def chosen_trial(run: StoredRun, options: Options) -> TrialResult:
    """The trial that was named, by its id or by values of it ("rtt=91ms,flows=10", or only "91ms,10"); else the first.

    Raises UserError if it is none, or not one.
    """
    if options.trial is None:
        return run.usable[0] if run.usable else run.results[0]
    found = chosen(run.results, options.trial)
    if len(found) > 1:
        allowed = shortened([each.id for each in found])
        raise UserError(f"{len(found)} trials are {options.trial!r}; allowed: {allowed}")
    return found[0]


def part(run: StoredRun, options: Options) -> StoredRun:
    """The trials of `where`, all of them without it. Raises UserError if there are none."""
    if options.where is None:
        return run
    found = chosen(run.results, options.where)
    ids = [each.id for each in found]
    trials = {id: run.trials[id] for id in ids if id in run.trials}
    return replace(run, results=tuple(found), trials=trials, ids=tuple(ids))


def chosen_axes(run: StoredRun, options: Options) -> tuple[str, str | None]:
    """Two parameters; None for the second where only one varies. Raises UserError."""
    keys = varied_keys(run.usable)
    if not keys:
        raise UserError("no parameter has two values, so there are no axes to draw; allowed: a sweep")
    y = _key(options.y, keys)
    rtt = rtt_key(run.usable)
    usual = [key for key in (rtt, *keys) if key in keys and key != y]
    x = _key(options.x, keys) or next(iter(usual), keys[-1])
    y = y or next((key for key in keys if key != x), None)
    if x == y:
        raise UserError(f"--x and --y are both {x}; allowed: two parameters of {', '.join(keys)}")
    return x, y


def _key(wanted: str | None, keys: Sequence[str]) -> str | None:
    if wanted is None:
        return None
    found = named(wanted, keys)
    if len(found) != 1:
        raise UserError(f"no parameter {wanted!r} varies in this run; allowed: {one_of([*keys], wanted)}")
    return found[0]
