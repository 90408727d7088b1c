"""A submission's network, in a lab kernel in virtual time, with all that the rules have done in it. Runs a guest.

The same submission leaves the same bytes, however slow or busy the computer is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path

from ..codec.frozen import dataclass
from ..error import visible
from ..interactive import node_files
from ..interactive.build import PROGRAMS_BYTES, Build, build
from ..kernel import guest_file, lab
from ..kernel.guest import TrialError
from ..model.run_setting import LAB
from ..model.topology import Topology
from ..plan.node import frr, ruleset
from ..plan.step import Sleep, StartController, Step
from ..trial.evidence import remains
from ..trial.ready_kernel import ready_kernel
from ..trial.start.local_words import substituted
from ..trial.subject import openflow
from . import explanation, jail
from .file import Exercise
from .rule.common import Net, NotChecked
from .rule.convergence import Converges
from .rule.registry import Rule
from .submission import Submission

SEED = 1
OUTPUT_BYTES = 256 << 20
"""What all that a guest writes may take."""
WALL_S = 900.0
"""A computer that needs longer for the processor time of an exercise is of no use."""
LOST_CONTROLLER = "is_connected=true"
"""In the step that waits until a switch has found its controller."""
NFT_ERROR = re.compile(rf"{re.escape(ruleset.FOLDER)}/(\S+)\.nft:(\d+):[\d:-]* (Error: .*)")
"""What nft says of a ruleset, with the name of the router."""
NFT_INCLUDE = re.compile(rf"In file included from {re.escape(ruleset.FOLDER)}/(\S+)\.nft:(\d+):")
"""Where a ruleset includes another file of which nft says something, with the name of the router."""
NFT_FOREIGN = re.compile(r"(/\S+):\d+:[\d:-]* Error: ")
SAID = 1500
"""So many characters of what an app complained of are told."""


@dataclass(frozen=True)
class Stood:
    """What was found. `reasons` say of a rule, by its number, why nothing was asked; `ended` why the network ended
    before all was asked (None: it did not), `notes` what is worth reading anyway, `refused` what switches refused, with
    the switch of each sentence.
    """

    net: Net
    found: Mapping[str, str]
    reasons: Mapping[int, str]
    ended: str | None = None
    notes: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)


def stand(
    exercise: Exercise,
    submission: Submission,
    topology: Topology,
    rules: Sequence[Rule],
    folder: Path,
    cancelled: Callable[[], bool] = lambda: False,
) -> Stood:
    """Builds the network and carries out the rules in it; the files of the guest are in `folder`, which is empty and
    can be entered by us alone. Raises UserError for a topology that no kernel could build.
    """
    made = build(topology, LAB)
    net = Net(topology, made.plan)
    asked, reasons = _asked(exercise, rules, net)
    hosts, _ = node_files.files(topology, made.plan.book)["hosts"]
    (folder / "hosts").write_text(hosts)
    steps = (*map(frr.patient, map(_talking, made.steps)), *_scripts(exercise, submission, net), *asked)
    ended = _run(exercise, made, steps, folder, cancelled)
    if ended is not None and LOST_CONTROLLER in ended:
        ended = "\n".join(_not_started(folder)) or _lost(folder)
    ended = None if ended is None else _of_ruleset(ended, topology, submission)
    refused = explanation.refusals(openflow.errors(folder).values())
    return Stood(net, _outputs(folder), reasons, ended, tuple(_notes(folder, exercise.file.scripts)), refused)


def _talking(step: Step) -> Step:
    """A controller whose standard output does not go to the console."""
    return replace(step, out=f"{step.background}.log") if isinstance(step, StartController) else step


def _run(
    exercise: Exercise, made: Build, steps: Sequence[Step], folder: Path, cancelled: Callable[[], bool]
) -> str | None:
    """Why the guest ended before the last step; None if it did not."""
    ready = ready_kernel(LAB)
    assert ready.image is not None, "BUG: the lab kernel has no image"
    here, _ = substituted(made.topology, steps, ready.tools, is_lab=True)
    limits = exercise.file.limits
    try:
        lab.run(
            ready.image,
            tuple(jail.jailed(here)),
            folder,
            tools=ready.tools,
            seed=SEED,
            memory_bytes=made.memory_bytes - PROGRAMS_BYTES + limits.memory,
            wall_limit_s=WALL_S,
            cpu_limit_s=limits.cpu / 1e9,
            bytes_max=OUTPUT_BYTES,
            cancelled=cancelled,
        )
    except TrialError as error:
        return str(error)
    finally:
        remains.tidied(folder)
    return None


def _asked(exercise: Exercise, rules: Sequence[Rule], net: Net) -> tuple[list[Step], dict[int, str]]:
    """The steps of all rules, and why some have none."""
    steps: list[Step] = [Sleep(exercise.file.settle / 1e9), *jail.impostor_steps(net)]
    reasons: dict[int, str] = {}
    for number, action in enumerate(exercise.file.before):
        steps += action.steps(net, f"before-{number}")
    for number, rule in enumerate(rules):
        try:
            own: list[Step] = []
            for order, action in enumerate(rule.before):
                own += action.steps(net, f"rule-{number}-before-{order}")
            steps += [
                *own,
                *rule.kind.steps(net, f"rule-{number}"),
                *explanation.steps(net, rule.kind, f"rule-{number}"),
            ]
            for need in asked_again(rules, number):
                steps += need.kind.steps(net, again(number, need))
        except NotChecked as why:
            reasons[number] = str(why)
    return steps, reasons


def asked_again(rules: Sequence[Rule], number: int) -> tuple[Rule, ...]:
    """What a rule needs that holds in a network in which nothing works: it must hold after it, too, unless something
    was to happen to the network in between.
    """
    rule = rules[number]
    if not rule.kind.is_negative:
        return ()
    found = []
    for place, need in enumerate(rules[:number]):
        between = rules[place + 1 : number + 1]
        changes = any(each.before or isinstance(each.kind, Converges) for each in between)
        if need.name in rule.needs and not need.kind.is_negative and not changes:
            found.append(need)
    return tuple(found)


def again(number: int, need: Rule) -> str:
    """The beginning of the names of the files of a rule that is asked again after another one."""
    return f"rule-{number}-again-{need.name}"


def _scripts(exercise: Exercise, submission: Submission, net: Net) -> Iterator[Step]:
    """The student's scripts, one after the other, each in its node."""
    for node, name in exercise.file.scripts.items():
        if name in submission.files:
            where = net.plan.where(net.node(node))
            yield jail.script(submission.text(name), name, where, f"script-{node}.out")


def _outputs(folder: Path) -> dict[str, str]:
    """The texts that the guest left, each as far as it may be long."""
    found = {}
    for path in sorted(folder.iterdir()):
        if path.name.endswith((".out", ".err")):
            with suppress(OSError):
                found[path.name] = guest_file.beginning(path, guest_file.SAID_BYTES).decode(errors="replace")
    return found


def _notes(folder: Path, scripts: Mapping[str, str]) -> Iterator[str]:
    """What apps and scripts complained of: who, and how it ended; below that, what it said."""
    for name, said in openflow.errors(folder).items():
        own = explanation.REFUSED.sub("", said).strip()
        if "Traceback" in own or "Error" in own:
            yield _end(f"{name} said:\n{own}")
    outputs = _outputs(folder)
    for node, name in scripts.items():
        if (note := jail.complaint(name, node, outputs, f"script-{node}.out")) is not None:
            head, colon, text = note.partition(":\n")
            yield f"{head}{colon}{_end(text)}"


def _not_started(folder: Path) -> Iterator[str]:
    """Why apps did not start, in a line each."""
    for name, said in openflow.errors(folder).items():
        if found := openflow.NOT_STARTED.search(said):
            yield visible(f"{name.removeprefix('controller-')}: {found[0]}")


def _of_ruleset(ended: str, topology: Topology, submission: Submission) -> str:
    """Why nft refused a ruleset, first its first error, with the student's file and the line; what is no such reason as
    it is. Nothing of a file that the ruleset includes.
    """
    begins = [found.start() for each in (NFT_ERROR, NFT_INCLUDE) if (found := each.search(ended))]
    if not begins:
        return ended
    said: list[str] = []
    where, is_own = "", True
    for line in ended[min(begins) :].splitlines():
        if found := NFT_INCLUDE.match(line):
            where = f"{_ruleset_name(found[1], topology, submission)}:{found[2]}"
        elif NFT_ERROR.match(line):
            is_own = True
            said.append(NFT_ERROR.sub(lambda f: f"{_ruleset_name(f[1], topology, submission)}:{f[2]}: {f[3]}", line))
        elif NFT_FOREIGN.match(line):
            is_own = False
            said += {f"{where}: Error: what is included here is no ruleset"}.difference(said)
        elif is_own and not line.startswith(("In file included from", "                 from /")):
            said.append(line)
    return "\n".join(said)


def _ruleset_name(router: str, topology: Topology, submission: Submission) -> str:
    """The student's file with the ruleset of a router."""
    about = topology.node(router).router
    own = [name for name in submission.files if about is not None and submission.text(name) == about.nftables]
    return own[0] if own else f"{router}.nft"


def _lost(folder: Path) -> str:
    """That a switch did not find its controller, and what that printed last."""
    paths = sorted(each for end in ("err", "out", "log") for each in folder.glob(f"controller-*.{end}"))
    said = [text for path in paths if (text := guest_file.told(path, guest_file.STORY_BYTES).strip())]
    what = "a switch did not find its controller"
    return "\n".join((what, "it said:", _end("\n".join(said)))) if said else f"{what}, which said nothing"


def _end(text: str) -> str:
    text = "\n".join(visible(line) for line in text.strip().splitlines())
    return text if len(text) <= SAID else f"… {text[-SAID:]}"
