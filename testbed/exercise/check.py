"""Marks one submission: files, network, trials, rules. Writes to folders of its own, and runs guests."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import journal
from ..analysis.expectation.measured import Measured, of_rows
from ..cache_folder import private
from ..codec.frozen import dataclass
from ..error import MachineError, TestbedError, UserError
from ..kernel import confinement
from ..kernel.guest import TrialError
from ..model.topology import Topology
from ..spec.load import load_scenario, load_topology
from ..trial import run as runner
from ..trial.orders.sequence import orders
from ..trial.sample_row import socket_rows
from ..trial.strict_folder import remove_tree
from . import explanation, jail
from .file import ELSEWHERE_ALLOWED, Exercise, FileSet, is_elsewhere
from .mark import Mark, Verdict, marked
from .rule.answer import Answer
from .rule.common import Kind, Net, NotChecked
from .rule.measure import Measure
from .rule.registry import Rule
from .submission import Submission
from .submission_network import Stood, again, asked_again, stand
from .variant import shipped

TRIALS_MAX = 64
"""Of one scenario of an exercise."""


def run_trials(
    scenario: Path, names: Sequence[str], folder: Path, cpu_limit_s: float, cancelled: Callable[[], bool]
) -> list[Measured]:
    """Every trial of a scenario, with the metrics of these names. The trials are in `folder`; each has so much
    processor time.

    Raises UserError for what no kernel could run, TrialError if a trial fails.
    """
    found = load_scenario(scenario).trials()
    if len(found) > TRIALS_MAX:
        raise UserError(f"{scenario.name} has {len(found)} trials; allowed: up to {TRIALS_MAX} in an exercise")
    if any(trial.kernel.kind != "lab" for trial in found):
        raise UserError(f"{scenario.name} does not run in virtual time; allowed: kernel: lab")
    done = []
    for number, trial in enumerate(found):
        if any(node.controller is not None and not node.controller.is_ours for node in trial.topology.nodes):
            raise UserError(
                f"{scenario.name} has an app in a file, which could write its own numbers; allowed: our apps"
            )
        if trial.workload.is_users_code:
            raise UserError(f"{scenario.name} runs programs, which could write their own numbers; allowed: other tools")
        here = folder / f"{number:02d}"
        here.mkdir()
        rows: list[dict[str, Any]] = []
        result = runner.run(
            trial,
            orders(trial),
            here,
            cancelled=cancelled,
            cpu_limit_s=cpu_limit_s,
            keep=lambda folder, evidence, rows=rows: rows.extend(socket_rows(evidence)),  # type: ignore[misc]
        )
        done.append(of_rows(result, rows, trial, names))
    return done


SCRATCH = "exercises"
CONSOLE = " Its console ends:"
"""What follows differs from run to run."""


def mark(exercise: Exercise, submission: Submission, cancelled: Callable[[], bool] = lambda: False) -> Mark:
    """The mark of a submission. Raises MachineError for what this computer lacks; all else is the submission's."""
    rules = exercise.file.rules
    if submission.problems:
        verdicts = {rule.name: Verdict(submission.problems[0], is_checked=False) for rule in rules}
        return Mark(exercise.name, submission.name, marked(rules, verdicts), submission.problems)
    with _scratch() as scratch:
        given = _looked(exercise, submission, None, scratch / "given", cancelled)
        verdicts = _answered(rules, submission) | _measured(exercise, scratch / "given", cancelled) | given.verdicts
        notes = given.notes
        for number, variant in enumerate(shipped(exercise)):
            holding = [rule.name for rule in given.rules if _holds(verdicts[rule.name])]
            if not holding:
                break
            about = variant.about
            other = _looked(exercise, submission, variant, scratch / f"variant-{number}", cancelled)
            verdicts |= {each: _in_variant(about, other.verdicts[each]) for each in holding}
            notes += tuple(f"{about}: {each}" for each in other.notes if each not in given.notes)
        return Mark(exercise.name, submission.name, marked(rules, verdicts), given.problems, given.ended, notes)


@dataclass(frozen=True)
class _Looked:
    """What was found in one network: a verdict for each of `rules`, and what `Mark` has."""

    rules: tuple[Rule, ...]
    verdicts: dict[str, Verdict]
    problems: tuple[str, ...] = ()
    ended: str | None = None
    notes: tuple[str, ...] = ()


def _looked(
    exercise: Exercise, submission: Submission, variant: FileSet | None, folder: Path, cancelled: Callable[[], bool]
) -> _Looked:
    """In the network that is given, or in one of its variants; files are in `folder`, which is made."""
    rules = exercise.file.in_network
    work = folder / "work"
    work.mkdir(parents=True)
    _lay_out(exercise, submission, variant, work)
    if not rules:
        return _Looked(rules, {})
    try:
        stood = _stood(exercise, submission, list(rules), work, folder, cancelled)
    except UserError as error:
        problem = _plain(error, work)
        return _Looked(rules, {rule.name: Verdict(problem, is_checked=False) for rule in rules}, (problem,))
    ended = None if stood.ended is None else _without(stood.ended.partition(CONSOLE)[0], folder)
    notes = tuple(_without(each, folder) for each in stood.notes)
    return _Looked(rules, dict(_judged(exercise, list(rules), stood)), (), ended, notes)


def _holds(verdict: Verdict) -> bool:
    return verdict.is_checked and verdict.seen is None


def _in_variant(about: str, verdict: Verdict) -> Verdict:
    if verdict.seen is None:
        return verdict
    shown = tuple(replace(each, title=f"{each.title} ({about})") for each in verdict.shown)
    return replace(verdict, seen=f"in another network ({about}): {verdict.seen}", shown=shown)


@contextmanager
def _scratch() -> Iterator[Path]:
    """A folder that only this user can enter, which vanishes."""
    with journal.folder_noted(private(SCRATCH) / journal.unique("check"), remove_tree) as path:
        yield path


def _lay_out(exercise: Exercise, submission: Submission, variant: FileSet | None, work: Path) -> None:
    for name in exercise.given:
        if variant is not None and name in variant.files:
            (work / name).write_bytes(variant.files[name])
        else:
            shutil.copyfile(exercise.folder / name, work / name)
    for name, data in submission.files.items():
        (work / name).write_bytes(data)


def _stood(
    exercise: Exercise,
    submission: Submission,
    rules: list[Rule],
    work: Path,
    scratch: Path,
    cancelled: Callable[[], bool],
) -> Stood:
    assert exercise.file.topology is not None, "BUG: rules about a network, and none"
    if not confinement.method().holds:
        raise MachineError("nothing confines guests on this computer, and a submission runs in one", "testbed doctor")
    topology: Topology = load_topology(work / exercise.file.topology)
    for node in topology.nodes:
        if is_elsewhere(node.type):
            raise UserError(f"{node.name!r} is a {node.kind.noun}; allowed: {ELSEWHERE_ALLOWED}")
    folder = scratch / "trial"
    folder.mkdir(mode=0o700)
    return stand(exercise, submission, topology, rules, folder, cancelled)


def _judged(exercise: Exercise, rules: list[Rule], stood: Stood) -> Iterator[tuple[str, Verdict]]:
    for number, rule in enumerate(rules):
        why = stood.reasons.get(number)
        try:
            if why is not None:
                raise NotChecked(why)
            jail.refuse_impostors(stood.net, stood.found)
            _prepared(exercise, rule, number, stood)
            seen = _judge(rule.kind, stood.net, f"rule-{number}", stood.found)
            if seen is None:
                _still(rules, number, stood)
            blocks = (
                ()
                if seen is None
                else explanation.shown(stood.net, rule.kind, f"rule-{number}", stood.found, stood.refused)
            )
            yield rule.name, Verdict(seen, shown=tuple(blocks))
        except NotChecked as error:
            ended = "" if stood.ended is None else f" ({_first_line(stood.ended)})"
            yield rule.name, Verdict(f"{error}{ended}", is_checked=False)


def _first_line(ended: str) -> str:
    return ended.partition(CONSOLE)[0].splitlines()[0]


def _still(rules: list[Rule], number: int, stood: Stood) -> None:
    """Raises NotChecked if a rule that another one needs held before it, and not after it."""
    for need in asked_again(rules, number):
        seen = _judge(need.kind, stood.net, again(number, need), stood.found)
        if seen is not None:
            raise NotChecked(f"it held when {need.name} no longer did: {seen}")


def _judge(kind: Kind, net: Net, name: str, found: Mapping[str, str]) -> str | None:
    try:
        return kind.judge(net, name, found)
    except (ValueError, LookupError, TypeError, ArithmeticError) as error:  # of outputs that nobody foresaw
        raise NotChecked(f"{type(error).__name__}: {error}") from None


def _prepared(exercise: Exercise, rule: Rule, number: int, stood: Stood) -> None:
    """Raises NotChecked if what had to happen before a rule did not."""
    done = [(f"before-{order}", action) for order, action in enumerate(exercise.file.before)]
    done += [(f"rule-{number}-before-{order}", action) for order, action in enumerate(rule.before)]
    for name, action in done:
        why = action.went_wrong(stood.found, name)
        if why is not None:
            raise NotChecked(why)


def _answered(rules: tuple[Rule, ...], submission: Submission) -> dict[str, Verdict]:
    texts = {name: submission.text(name) for name in submission.files}
    found = {}
    for rule in rules:
        if isinstance(rule.kind, Answer):
            try:
                found[rule.name] = Verdict(rule.kind.judged(texts))
            except NotChecked as error:
                found[rule.name] = Verdict(str(error), is_checked=False)
    return found


def _measured(exercise: Exercise, scratch: Path, cancelled: Callable[[], bool]) -> dict[str, Verdict]:
    asked: dict[str, list[tuple[Rule, Measure]]] = {}
    for rule in exercise.file.rules:
        if isinstance(rule.kind, Measure):
            asked.setdefault(rule.kind.scenario, []).append((rule, rule.kind))
    found: dict[str, Verdict] = {}
    work = scratch / "work"
    for number, (scenario, those) in enumerate(asked.items()):
        folder = scratch / f"trials-{number}"
        folder.mkdir(mode=0o700)
        try:
            names = tuple(dict.fromkeys(kind.metric for _, kind in those))
            done = run_trials(work / scenario, names, folder, exercise.file.limits.cpu / 1e9, cancelled)
        except (UserError, TrialError) as error:
            found |= {rule.name: Verdict(_plain(error, work), is_checked=False) for rule, _ in those}
            continue
        found |= {rule.name: _of_trials(kind, done) for rule, kind in those}
    return found


def _of_trials(kind: Measure, done: list[Measured]) -> Verdict:
    try:
        return Verdict(kind.judge_trials(done))
    except NotChecked as error:
        return Verdict(str(error), is_checked=False)


def _plain(error: TestbedError, work: Path) -> str:
    return _without(str(error), work)


def _without(text: str, folder: Path) -> str:
    """A message without the name of a folder that is another one every time."""
    return text.replace(f"{folder}/", "").replace(str(folder), ".")
