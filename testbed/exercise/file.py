"""The format of exercises: exercise.yaml and the folder that it is in. Reads files of that folder.

exercise.yaml     what this module describes
handout.md        what the student reads
starter/          the files that the student edits, as they are at first
solution/         the same files, right
variants/NAME/    given files as they are in a network like the given one: the rules must hold in it, too
wrong/NAME/       files of typical wrong submissions, in place of those of the solution; `wrong` in exercise.yaml
says which rules they fail
…                 anything else that the student gets and cannot change: a topology, a scenario, a table
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, PlainValidator, TypeAdapter, WithJsonSchema

from ..error import SpecError, UserError, one_of
from ..model.node.type import NODE_TYPES
from ..spec.syntax import input_file
from ..spec.syntax.document import Document, Fault, Position, mapping, parse
from ..spec.syntax.field import Lines, Name, Size, Span, Text
from ..spec.syntax.file_model import FileModel, check
from ..spec.syntax.scalar import word
from .rule.action import Action
from .rule.answer import Answer
from .rule.measure import Measure
from .rule.registry import Rule, RuleFile

EXERCISE, HANDOUT, STARTER, SOLUTION, WRONG = "exercise.yaml", "handout.md", "starter", "solution", "wrong"
VARIANTS = "variants"
OWN = (EXERCISE, HANDOUT, STARTER, SOLUTION, WRONG, VARIANTS)
"""What is not copied to the student, or only in other ways."""
FILES_MAX, FILE_BYTES = 32, 64 << 10
FILE_NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}"
FILE_NAME_ALLOWED = "letters, digits, '.', '_' and '-', without folders"
CPU_NS, MEMORY_BYTES = 30 * 10**9, 512 << 20

FileName = Annotated[
    str,
    PlainValidator(word(FILE_NAME, "the name of a file", FILE_NAME_ALLOWED)),
    WithJsonSchema({"type": "string", "pattern": f"^{FILE_NAME}$"}),
]


class StudentFile(FileModel):
    """A file that the student edits."""

    about: Text = ""
    bytes: Size = Field(FILE_BYTES, description="How large it may be.")
    may_change: Annotated[list[Text], Field(min_length=1)] | None = Field(
        None,
        alias="may-change",
        description="The keys of a YAML file that may differ from the starter's; default: all.",
    )


class WrongFile(FileModel):
    """A typical wrong submission."""

    fails: Annotated[list[Name], Field(min_length=1)]
    why: Text


class LimitsFile(FileModel):
    """What checking one submission may take."""

    cpu: Span = Field(CPU_NS, description="Processor time of the lab kernel with all that runs in it.")
    memory: Size = Field(
        MEMORY_BYTES, description="What programs in the lab kernel get, besides what the network needs."
    )


class ExerciseFile(FileModel):
    """exercise.yaml."""

    title: Text
    goal: Lines
    time: Span
    mistakes: Lines = Field("", description="For the teacher: what students usually get wrong.")
    topology: FileName | None = Field(None, description="The network that the rules are checked in.")
    files: Annotated[dict[FileName, StudentFile], Field(min_length=1, max_length=FILES_MAX)]
    scripts: dict[Name, FileName] = Field(
        {}, description="Shell scripts of the student that set up a node, by node; they may change its network only."
    )
    settle: Span = Field(3_000_000_000, description="The lab time before the first rule.")
    before: list[Action] = Field([], description="What happens in the network before the first rule.")
    expect: Annotated[list[RuleFile], Field(min_length=1)]  # type: ignore[valid-type]
    hints: list[Lines] = Field([], description="What helps, one after the other.")
    wrong: dict[Name, WrongFile] = Field({}, description="Typical wrong submissions, by their folder in wrong/.")
    variants: dict[Name, Text] = Field(
        {}, description="Networks like the one that is given, in which the rules must hold, too: what differs."
    )
    limits: LimitsFile = LimitsFile.model_construct(cpu=CPU_NS, memory=MEMORY_BYTES)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """In their order."""
        return tuple(self.expect)

    @property
    def points(self) -> int:
        """The full mark."""
        return sum(rule.points for rule in self.rules)

    def faults(self) -> Iterator[Fault]:
        """What is wrong between its keys."""
        known: list[str] = []
        for number, rule in enumerate(self.rules):
            yield from (fault.under("expect", number) for fault in rule.faults())
            if rule.name in known:
                yield Fault(("expect", number, "name"), f"two rules have the name {rule.name!r}", "each name once")
            for need in rule.needs:
                if need not in known:
                    what = f"no rule before this one has the name {need!r}"
                    yield Fault(("expect", number, "needs"), what, one_of(known, need, "a rule before it"), named=True)
            known.append(rule.name)
            yield from (fault.under("expect", number) for fault in self._place_faults(rule))
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
class Exercise:
    """An exercise, with the folder that it is in."""

    name: str
    folder: Path
    file: ExerciseFile

    @property
    def given(self) -> tuple[str, ...]:
        """The files of the folder that every student gets, and cannot change."""
        names = sorted(each.name for each in self.folder.iterdir() if each.is_file() and each.name not in OWN)
        return tuple(name for name in names if name not in self.file.files and not name.startswith("."))

    def wrongs(self) -> tuple[str, ...]:
        """The names of the wrong submissions."""
        return tuple(self.file.wrong)


def load(folder: Path) -> Exercise:
    """Raises SpecError with all that is wrong with exercise.yaml, UserError for a folder without one."""
    path = folder / EXERCISE
    if not path.is_file():
        raise UserError(f"{folder} is no exercise: it has no {EXERCISE}; allowed: testbed exercise list")
    try:
        document = parse(input_file.read_text(path, input_file.SPEC_BYTES), Position(os.fspath(path), 1))
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}; allowed: a file in UTF-8") from None
    found, faults = check(TypeAdapter(ExerciseFile), document.data)
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
    whole = folder.resolve()
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() and not path.resolve().is_relative_to(whole):
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
    for name, file in found.files.items():
        if not (folder / SOLUTION / name).is_file():
            yield Fault(("files", name), f"there is no {SOLUTION}/{name}", "a solution", named=True)
        if file.may_change and not (folder / STARTER / name).is_file():
            yield Fault(("files", name), f"there is no {STARTER}/{name} to compare with", "a starter", named=True)
    for name in found.variants:
        own = sorted(each.name for each in (folder / VARIANTS / name).glob("*"))
        if not own:
            yield Fault(("variants", name), f"there is no file in {VARIANTS}/{name}", f"files of {folder}", named=True)
        for each in own:
            if each in found.files or each in OWN or not (folder / each).is_file():
                what = f"{VARIANTS}/{name}/{each} stands for no file that is given"
                yield Fault(("variants", name), what, "the name of a given file", named=True)
    for name in found.wrong:
        if not (folder / WRONG / name).is_dir():
            yield Fault(("wrong", name), f"there is no folder {WRONG}/{name}", f"a folder in {folder}", named=True)
