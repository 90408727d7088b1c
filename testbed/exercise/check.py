"""Marks one submission: files, network, trials, rules. Writes to folders of its own, and runs guests."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ..cache_folder import private
from ..error import TestbedError, UserError
from ..kernel import confinement
from ..kernel.guest import TrialError
from ..model.topology import Topology
from ..spec.load import load_topology
from ..trial.strict_folder import remove_tree
from . import impostor, measurement
from .file import Exercise
from .mark import Mark, Verdict, marked
from .rule.answer import Answer
from .rule.common import Kind, Net, NotChecked
from .rule.measure import Measure, Trial
from .rule.registry import Rule
from .stand import Stood, stand
from .submission import Submission

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
        work = scratch / "work"
        work.mkdir()
        _lay_out(exercise, submission, work)
        verdicts = _answered(rules, submission) | _measured(exercise, work, scratch, cancelled)
        standing = [rule for rule in rules if not isinstance(rule.kind, Answer | Measure)]
        stood: Stood | None = None
        ended: str | None = None
        problems: tuple[str, ...] = ()
        notes: tuple[str, ...] = ()
        if standing:
            try:
                stood = _stood(exercise, submission, standing, work, scratch, cancelled)
            except UserError as error:
                problems = (_plain(error, work),)
                verdicts |= {rule.name: Verdict(problems[0], is_checked=False) for rule in standing}
        if stood is not None:
            ended = None if stood.ended is None else _without(stood.ended.partition(CONSOLE)[0], scratch)
            notes = tuple(_without(each, scratch) for each in stood.notes)
            verdicts |= dict(_judged(exercise, standing, stood))
        return Mark(exercise.name, submission.name, marked(rules, verdicts), problems, ended, notes)


@contextmanager
def _scratch() -> Iterator[Path]:
    """A folder that only this user can enter, which vanishes."""
    path = Path(tempfile.mkdtemp(prefix="check-", dir=private(SCRATCH)))
    try:
        yield path
    finally:
        remove_tree(path)


def _lay_out(exercise: Exercise, submission: Submission, work: Path) -> None:
    for name in exercise.given:
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
        raise UserError("nothing confines guests on this computer (testbed doctor), and a submission runs in one")
    topology: Topology = load_topology(work / exercise.file.topology)
    folder = scratch / "trial"
    folder.mkdir(mode=0o700)
    return stand(exercise, submission, topology, rules, folder, cancelled)


def _judged(exercise: Exercise, rules: list[Rule], stood: Stood) -> Iterator[tuple[str, Verdict]]:
    for number, rule in enumerate(rules):
        why = stood.reasons.get(number)
        try:
            if why is not None:
                raise NotChecked(why)
            impostor.refuse(stood.net, stood.found)
            _prepared(exercise, rule, number, stood)
            yield rule.name, Verdict(_judge(rule.kind, stood.net, f"rule-{number}", stood.found))
        except NotChecked as error:
            ended = "" if stood.ended is None else f" ({stood.ended.partition(CONSOLE)[0].splitlines()[0]})"
            yield rule.name, Verdict(f"{error}{ended}", is_checked=False)


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


def _measured(exercise: Exercise, work: Path, scratch: Path, cancelled: Callable[[], bool]) -> dict[str, Verdict]:
    asked: dict[str, list[tuple[Rule, Measure]]] = {}
    for rule in exercise.file.rules:
        if isinstance(rule.kind, Measure):
            asked.setdefault(rule.kind.scenario, []).append((rule, rule.kind))
    found: dict[str, Verdict] = {}
    for number, (scenario, those) in enumerate(asked.items()):
        folder = scratch / f"trials-{number}"
        folder.mkdir(mode=0o700)
        try:
            names = tuple(dict.fromkeys(kind.metric for _, kind in those))
            done = measurement.trials(work / scenario, names, folder, exercise.file.limits.cpu / 1e9, cancelled)
        except (UserError, TrialError) as error:
            found |= {rule.name: Verdict(_plain(error, work), is_checked=False) for rule, _ in those}
            continue
        found |= {rule.name: _of_trials(kind, done) for rule, kind in those}
    return found


def _of_trials(kind: Measure, done: list[Trial]) -> Verdict:
    try:
        return Verdict(kind.judge_trials(done))
    except NotChecked as error:
        return Verdict(str(error), is_checked=False)


def _plain(error: TestbedError, work: Path) -> str:
    return _without(str(error), work)


def _without(text: str, folder: Path) -> str:
    """A message without the name of a folder that is another one every time."""
    return text.replace(f"{folder}/", "").replace(str(folder), ".")
