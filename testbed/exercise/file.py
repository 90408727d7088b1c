"""The format of exercises: exercise.yaml and the folder that it is in. Reads files of that folder.

exercise.yaml     what this module describes
handout.md        what the student reads
starter/          the files that the student edits, as they are at first
solution/         the same files, right; without this folder and wrong/, it is the copy for students
variants/NAME/    given files as they are in a network like the given one: the rules must hold in it, too
wrong/NAME/       files of typical wrong submissions, in place of those of the solution; `wrong` in exercise.yaml
says which rules they fail
…                 anything else that the student gets and cannot change: a topology, a scenario, a table
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..codec.fault import Fault
from ..codec.frozen import dataclass
from ..codec.keyed import Keyed, check, key, named
from ..codec.kind import LINES, NAME, SIZE, SPAN, TEXT, listed, record, table
from ..error import SpecError, UserError, one_of
from ..model.node.type import NODE_TYPES
from ..spec.scenario.expect import name_faults
from ..spec.syntax import input_file
from ..spec.syntax.document import Document, Position, mapping, parse
from .draw import FILE_NAME, DrawFile
from .rule.action import Action
from .rule.answer import Answer
from .rule.measure import Measure
from .rule.registry import Rule, RuleFile

EXERCISE, HANDOUT, STARTER, SOLUTION, WRONG = "exercise.yaml", "handout.md", "starter", "solution", "wrong"
VARIANTS = "variants"
OWN = (EXERCISE, HANDOUT, STARTER, SOLUTION, WRONG, VARIANTS)
"""What is not copied to the student, or only in other ways."""
FILES_MAX, FILE_BYTES = 32, 64 << 10
CPU_NS, MEMORY_BYTES = 30 * 10**9, 512 << 20


@named
class StudentFile(Keyed):
    """A file that the student edits."""

    about: str = key("about", TEXT, default="")
    bytes: int = key("bytes", SIZE, "How large it may be.", default=FILE_BYTES)
    may_change: tuple[str, ...] | None = key(
        "may-change",
        listed(TEXT, 1),
        "The keys of a YAML file that may differ from the starter's; default: all.",
        default=None,
    )


@named
class WrongFile(Keyed):
    """A typical wrong submission."""

    fails: tuple[str, ...] = key("fails", listed(NAME, 1))
    why: str = key("why", TEXT)


@named
class LimitsFile(Keyed):
    """What checking one submission may take."""

    cpu: int = key("cpu", SPAN, "Processor time of the lab kernel with all that runs in it.", default=CPU_NS)
    memory: int = key(
        "memory", SIZE, "What programs in the lab kernel get, besides what the network needs.", default=MEMORY_BYTES
    )


@named
class ExerciseFile(Keyed):
    """exercise.yaml."""

    title: str = key("title", TEXT)
    goal: str = key("goal", LINES)
    time: int = key("time", SPAN)
    mistakes: str = key("mistakes", LINES, "For the teacher: what students usually get wrong.", default="")
    topology: str | None = key("topology", FILE_NAME, "The network that the rules are checked in.", default=None)
    files: Mapping[str, StudentFile] = key("files", table(FILE_NAME, record(StudentFile), 1, FILES_MAX))
    scripts: Mapping[str, str] = key(
        "scripts",
        table(NAME, FILE_NAME),
        "Shell scripts of the student that set up a node, by node; they may change its network only.",
        default={},
    )
    settle: int = key("settle", SPAN, "The lab time before the first rule.", default=3_000_000_000)
    before: tuple[Action, ...] = key(
        "before", listed(record(Action)), "What happens in the network before the first rule.", default=()
    )
    expect: tuple[Rule, ...] = key("expect", listed(record(RuleFile), 1))
    hints: tuple[str, ...] = key("hints", listed(LINES), "What helps, one after the other.", default=())
    wrong: Mapping[str, WrongFile] = key(
        "wrong", table(NAME, record(WrongFile)), "Typical wrong submissions, by their folder in wrong/.", default={}
    )
    variants: Mapping[str, str] = key(
        "variants",
        table(NAME, TEXT),
        "Networks like the one that is given, in which the rules must hold, too: what differs.",
        default={},
    )
    draw: DrawFile | None = key(
        "draw", record(DrawFile), "What a teacher's secret may draw: a network that no student has seen.", default=None
    )
    limits: LimitsFile = key("limits", record(LimitsFile), default=LimitsFile())

    @property
    def rules(self) -> tuple[Rule, ...]:
        """In their order."""
        return tuple(self.expect)

    @property
    def in_network(self) -> tuple[Rule, ...]:
        """Those that are checked in the network, and in its variants."""
        return tuple(rule for rule in self.rules if not isinstance(rule.kind, Answer | Measure))

    @property
    def points(self) -> int:
        """The full mark."""
        return sum(rule.points for rule in self.rules)

    def faults(self) -> Iterator[Fault]:
        """What is wrong between its keys."""
        known: list[str] = []
        for number, rule in enumerate(self.rules):
            own = (*rule.faults(), *name_faults(rule.name, rule.needs, known), *self._place_faults(rule))
            yield from (fault.under("expect", number) for fault in own)
            known.append(rule.name)
        for number, action in enumerate(self.before):
            yield from (fault.under("before", number) for fault in action.faults())
        for name, wrong in self.wrong.items():
            for fails in wrong.fails:
                if fails not in known:
                    yield Fault(
                        ("wrong", name, "fails"), f"there is no rule {fails!r}", one_of(known, fails), named=True
                    )
        for node, script in self.scripts.items():
            if script not in self.files:
                what = f"the student does not edit {script!r}"
                yield Fault(("scripts", node), what, one_of(tuple(self.files), script), named=True)

    def _place_faults(self, rule: Rule) -> Iterator[Fault]:
        if len(rule.kinds) != 1:
            return
        if isinstance(rule.kind, Answer):
            if rule.kind.file not in self.files:
                what = f"the student does not edit {rule.kind.file!r}"
                yield Fault((rule.kinds[0], "file"), what, one_of(tuple(self.files), rule.kind.file), named=True)
        elif not isinstance(rule.kind, Measure) and self.topology is None:
            yield Fault((rule.kinds[0],), "this rule needs a network", "a topology in exercise.yaml", named=True)


@dataclass(frozen=True)
class FileSet:
    """Given files as they are in another network, by name; `about` says what differs."""

    about: str
    files: Mapping[str, bytes]


@dataclass(frozen=True)
class Exercise:
    """An exercise, with the folder that it is in. `secret` are networks that only one marking has."""

    name: str
    folder: Path
    file: ExerciseFile
    secret: tuple[FileSet, ...] = ()

    @property
    def given(self) -> tuple[str, ...]:
        """The files of the folder that every student gets, and cannot change."""
        names = sorted(each.name for each in self.folder.iterdir() if each.is_file() and each.name not in OWN)
        return tuple(name for name in names if name not in self.file.files and not name.startswith("."))

    def wrongs(self) -> tuple[str, ...]:
        """The names of the wrong submissions."""
        return tuple(self.file.wrong)

    @property
    def is_for_students(self) -> bool:
        """Whether it has no solution, as in the copy that students get."""
        return not (self.folder / SOLUTION).is_dir()


def load(folder: Path) -> Exercise:
    """Raises SpecError with all that is wrong with exercise.yaml, UserError for a folder without one."""
    path = folder / EXERCISE
    if not path.is_file():
        raise UserError(f"{folder} is no exercise: it has no {EXERCISE}; allowed: testbed exercise list")
    try:
        document = parse(input_file.read_text(path, input_file.SPEC_BYTES), Position(os.fspath(path), 1))
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}; allowed: a file in UTF-8") from None
    found, faults = check(ExerciseFile, document.data)
    if found is not None:
        faults += [*found.faults(), *_missing(found, folder), *_links(folder)]
    if found is None or faults or document.faults:
        raise SpecError(_problems(document, faults))
    return Exercise(folder.resolve().name, folder, found)


def _problems(document: Document, faults: list[Fault]) -> list:  # type: ignore[type-arg]
    return document.problems(faults)


def is_elsewhere(type: str) -> bool:
    """Whether nodes of this type are not in the one kernel in which rules are checked."""
    return type in NODE_TYPES and NODE_TYPES[type].has_own_kernel


ELSEWHERE_ALLOWED = "hosts, routers, switches and controllers: rules are checked in one lab kernel"


def _nodes_elsewhere(topology: Path) -> Iterator[Fault]:
    """Virtual machines and real computers of a topology that is given."""
    try:
        data = parse(input_file.read_text(topology, input_file.SPEC_BYTES), Position(os.fspath(topology), 1)).data
    except (OSError, UserError):
        return  # which is said when it is used
    for name, node in mapping(mapping(data).get("nodes")).items():
        type = str(mapping(node).get("type"))
        if is_elsewhere(type):
            what = f"{name!r} of {topology.name} is a {NODE_TYPES[type].noun}"
            yield Fault((), what, ELSEWHERE_ALLOWED, named=True)


def _links(folder: Path) -> Iterator[Fault]:
    """Links out of the folder: students would get what they lead to, and submissions could print it."""
    whole = os.path.realpath(folder)
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(whole):
            what = f"{str(path.relative_to(folder))!r} is a link that leads out of the exercise"
            yield Fault((), what, "files of its own, and links to them")


def _missing(found: ExerciseFile, folder: Path) -> Iterator[Fault]:
    """The files that it names and that are not there."""

    def has(name: str) -> bool:
        return name in found.files or (folder / name).is_file()

    if found.topology is not None and not has(found.topology):
        yield Fault(("topology",), f"there is no file {found.topology!r}", f"a file in {folder}", named=True)
    elif found.topology is not None and found.topology not in found.files:
        yield from (fault.under("topology") for fault in _nodes_elsewhere(folder / found.topology))
    for number, rule in enumerate(found.rules):
        if len(rule.kinds) == 1 and isinstance(rule.kind, Measure) and not has(rule.kind.scenario):
            what = f"there is no file {rule.kind.scenario!r}"
            yield Fault(("expect", number, rule.kinds[0], "scenario"), what, f"a file in {folder}", named=True)
    is_whole = (folder / SOLUTION).is_dir()
    for number, rule in enumerate(found.rules if is_whole else ()):
        if len(rule.kinds) == 1 and isinstance(rule.kind, Answer) and rule.kind.is_ is None:
            yield Fault(("expect", number, "answer"), "the key 'is' is missing", "is: ANSWER", named=True)
    for name, file in found.files.items():
        if is_whole and not (folder / SOLUTION / name).is_file():
            yield Fault(("files", name), f"there is no {SOLUTION}/{name}", "a solution", named=True)
        if file.may_change and not (folder / STARTER / name).is_file():
            yield Fault(("files", name), f"there is no {STARTER}/{name} to compare with", "a starter", named=True)
    yield from _draw_faults(found, folder)
    for name in found.variants:
        own = sorted(each.name for each in (folder / VARIANTS / name).glob("*"))
        if not own:
            yield Fault(("variants", name), f"there is no file in {VARIANTS}/{name}", f"files of {folder}", named=True)
        for each in own:
            if each in found.files or each in OWN or not (folder / each).is_file():
                what = f"{VARIANTS}/{name}/{each} stands for no file that is given"
                yield Fault(("variants", name), what, "the name of a given file", named=True)
    for name in found.wrong if is_whole else ():
        if not (folder / WRONG / name).is_dir():
            yield Fault(("wrong", name), f"there is no folder {WRONG}/{name}", f"a folder in {folder}", named=True)


def _draw_faults(found: ExerciseFile, folder: Path) -> Iterator[Fault]:
    """What a secret cannot draw."""
    draw = found.draw
    if draw is None:
        return
    if found.topology is None or found.topology in found.files:
        yield Fault(("draw",), "there is no given topology to draw", "a topology that is no file of the student's")
        return
    for name in draw.files:
        if name in found.files or name in (*OWN, found.topology) or not (folder / name).is_file():
            what = f"{name!r} stands for no table that is given"
            yield Fault(("draw", "files", name), what, "the name of a given file", named=True)
    try:
        data = parse(input_file.read_text(folder / found.topology, input_file.SPEC_BYTES), Position("", 1)).data
    except (OSError, UserError):
        return  # which is said when it is used
    nodes = mapping(mapping(data).get("nodes"))
    for key_, names in (("addresses", draw.addresses), ("macs", draw.macs)):
        for number, name in enumerate(names):
            if name not in nodes:
                what = f"the network has no node {name!r}"
                yield Fault(("draw", key_, number), what, one_of(tuple(nodes), name), named=True)
