"""What a figure can be asked for beyond its kind. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...analysis.series import rtt_key, varied_keys
from ...codec.frozen import dataclass
from ...error import UserError, one_of
from ...trial.result import TrialResult
from ..stored_run import StoredRun

FEW = 4


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
    """The trial that was named, by its id or by parts of it ("rtt=91ms,flows=10", or only "91ms,10"); else the first.

    Raises UserError if it is none, or not one.
    """
    if options.trial is None:
        return run.usable[0] if run.usable else run.results[0]
    found = [each for each in run.results if each.id == options.trial] or _with(run, options.trial)
    if len(found) != 1:
        what = f"{len(found)} trials are {options.trial!r}" if found else f"no trial is {options.trial!r}"
        allowed = [each.id for each in found or run.results]
        more = f", … ({len(allowed)} in all)" if len(allowed) > FEW else ""
        raise UserError(f"{what}; allowed: {', '.join(allowed[:FEW])}{more}")
    return found[0]


def part(run: StoredRun, options: Options) -> StoredRun:
    """The trials of `where`, all of them without it. Raises UserError if there are none."""
    if options.where is None:
        return run
    found = _with(run, options.where)
    if not found:
        some = ", ".join(word for word in run.results[0].id.split(",") if not word.startswith("seed="))
        raise UserError(f"no trial is {options.where!r}; allowed: words of trials, such as {some}")
    ids = [each.id for each in found]
    trials = {id: run.trials[id] for id in ids if id in run.trials}
    return replace(run, results=tuple(found), trials=trials, ids=tuple(ids))


def _with(run: StoredRun, words: str) -> list[TrialResult]:
    """The trials that have all of these words."""
    wanted = {word.replace(" ", "") for word in words.split(",")}
    return [each for each in run.results if wanted <= _parts(each.id) | _values(each)]


def _values(each: TrialResult) -> set[str]:
    """Its parameters as they are shown, which ids spell otherwise: "loss=random0.1%"."""
    own = [(key.rsplit(".", 1)[-1], value.replace(" ", "")) for key, value in each.params.items()]
    return {*(f"{key}={value}" for key, value in own), *(value for _, value in own)}


def _parts(id: str) -> set[str]:
    """The parts of an id, and their values alone: "flows=10" and "10"."""
    parts = id.split(",")
    return {*parts, *(value for _, equals, value in (part.partition("=") for part in parts) if equals)}


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
    found = [key for key in keys if key == wanted or key.rsplit(".", 1)[-1] == wanted]
    if len(found) != 1:
        raise UserError(f"no parameter {wanted!r} varies in this run; allowed: {one_of([*keys], wanted)}")
    return found[0]
