"""What people name on the command line, with a sentence on each: scenarios, topologies, published profiles, kernels,
running networks and their nodes, metrics that programs say. Reads files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from .. import library
from ..codec.frozen import dataclass
from ..error import UserError

if TYPE_CHECKING:
    from ..kernel.image.cache import KernelImage
    from ..kernel.vm.kernel_cache import VmKernel
    from ..model.workload import Workload

SENTENCE = re.compile(r"(.+?)\.(?=\s+[^a-z\s]|\s*$)", re.DOTALL)
LITTLE = frozenset(
    ("a", "an", "and", "at", "between", "by", "from", "in", "is", "it", "its", "of", "on", "or", "over", "than",
     "that", "the", "through", "to", "under", "what", "where", "which", "with")
)  # fmt: skip
"""Words at which no text ends."""
COMPARE, REPRODUCE = "compare", "reproduce"
JUDGED = re.compile(r"^ +(over: (rtt|window|flows|loss)|metric: .+)$", re.MULTILINE)
"""In a profile of ours: `compare.published.comparable` reads it whole, which takes what computes."""
DESCRIBED = re.compile(r"^(?:description|about):", re.MULTILINE)


@dataclass(frozen=True)
class Known:
    """`description` is one sentence without its full stop; empty if there is none. `judge` is the command that judges
    runs by a profile; empty for the others.
    """

    kind: str
    name: str
    description: str
    path: Path
    judge: str = ""


def scenarios() -> tuple[Known, ...]:
    return tuple(_of_files("scenario", library.SCENARIOS))


def topologies() -> tuple[Known, ...]:
    return tuple(_of_files("topology", library.TOPOLOGIES))


def profiles() -> tuple[Known, ...]:
    def judge(path: Path) -> str:
        return COMPARE if JUDGED.search(path.read_text(encoding="utf-8")) else REPRODUCE

    return tuple(replace(each, judge=judge(each.path)) for each in _of_files("profile", library.PROFILES))


def compared_profiles() -> tuple[Known, ...]:
    return tuple(each for each in profiles() if each.judge == COMPARE)


def kernels() -> tuple[Known, ...]:
    """Those of this user, for the lab and for virtual machines."""
    from ..kernel.image import cache, feature
    from ..kernel.vm import kernel_cache

    def described(use: str, each: KernelImage | VmKernel) -> Known:
        found = feature.read(each.folder)
        controls = f"; {len(found.congestion_controls)} congestion controls" if found else ""
        text = f"{use}, Linux {each.release}{', the default' if each.default else ''}{controls}"
        return Known("kernel", each.name, text, each.folder)

    return (
        *(described("lab", each) for each in cache.installed()),
        *(described("virtual machines", each) for each in kernel_cache.installed()),
    )


def congestion_controls() -> tuple[str, ...]:
    """The names that any kernel of this user has, by its own account; asks none that was not asked yet."""
    from ..kernel.image import cache, feature
    from ..kernel.vm import kernel_cache

    folders = [each.folder for each in cache.installed()] + [each.folder for each in kernel_cache.installed()]
    found = [feature.read(folder) for folder in folders]
    return tuple(sorted({name for each in found if each is not None for name in each.congestion_controls}))


def networks() -> dict[str, tuple[str, ...]]:
    """The running networks of this user and their nodes."""
    from ..interactive.running_network import networks

    return {each.name: each.nodes for each in networks() if each.is_ready}


def links() -> dict[str, tuple[str, ...]]:
    """The running networks of this user and their links."""
    from ..interactive.running_network import networks

    return {
        each.name: tuple(link["name"] for link in each.about.get("links", ())) for each in networks() if each.is_ready
    }


KINDS: dict[str, Callable[[], tuple[Known, ...]]] = {
    "scenarios": scenarios,
    "topologies": topologies,
    "profiles": profiles,
    "kernels": kernels,
}


def _of_files(kind: str, folder: Path) -> Iterable[Known]:
    for name in library.names(folder):
        path = folder / f"{name}.yaml"
        yield Known(kind, name, _description(path.read_text(encoding="utf-8")), path)


def _description(text: str) -> str:
    """The first sentence of what a file says of itself: its description, or else the comment that it begins with."""
    said = _said(text) if DESCRIBED.search(text) else ""
    if not said:
        lines = text.splitlines()
        end = next((at for at, line in enumerate(lines) if not line.startswith("#")), len(lines))
        said = " ".join(line.lstrip("# ") for line in lines[:end])
    said = " ".join(said.split())
    sentence = SENTENCE.match(said)
    return sentence[1] if sentence else said


def _said(text: str) -> str:
    import yaml  # only here: a command that lists nothing need not pay for it

    try:
        data = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError:
        return ""
    return str(data.get("description") or data.get("about") or "") if isinstance(data, dict) else ""


def shortened(text: str, width: int | None) -> str:
    """At most so long: cut at the end of a clause, or else of a word, with an ellipsis."""
    if width is None or len(text) <= width:
        return text
    room = text[: max(width - 1, 1)]
    clause = max(room.rfind(mark) for mark in (", ", ": ", "; "))
    end = clause if clause > width // 2 else room.rfind(" ")
    words = room[: end if end > 0 else len(room)].split(" ")
    while len(words) > 1 and words[-1] in LITTLE:
        words.pop()
    return f"{' '.join(words).rstrip(' ,:;')} …"[:width]


def axes(scenario: Path) -> tuple[str, ...]:
    """The keys of a scenario's sweep; none if it cannot be read."""
    import yaml

    from ..spec.syntax import input_file
    from ..spec.syntax.document import Broken, tree

    try:
        text = input_file.read_text(library.spec_file(scenario), input_file.SPEC_BYTES)
        tree(text)
        data = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (OSError, ValueError, Broken, yaml.YAMLError):
        return ()
    sweep = data.get("sweep") if isinstance(data, dict) else None
    return tuple(map(str, sweep)) if isinstance(sweep, dict) else ()


def learn_metrics(folders: Iterable[Path]) -> tuple[str, ...]:
    """The names of the metrics that the programs of runs say, of all runs in the folders, which are known from now on.
    What cannot be read says so when it is shown. Raises UserError for a name that means different things in two runs.
    """
    from ..sweep.run_file import suite

    roots: list[Path] = []
    for folder in folders:
        with suppress(UserError):
            roots += suite(folder)
    found = {str(root): workload for root in roots if (workload := _of_programs(root)) is not None}
    if not found:
        return ()
    from ..analysis import program_metric  # takes a second to import

    return program_metric.learn_all(found)


def _of_programs(folder: Path) -> Workload | None:
    """The workload of a run whose trials run programs, of the first trial that can be read."""
    from ..trial.folder import TRIAL, read_json, read_trial

    for home in sorted((folder / "trials").glob("*")):
        with suppress(UserError, OSError, LookupError, TypeError):
            tool = read_json(home / TRIAL)["workload"]["tool"]
            return read_trial(home).workload if tool == "command" else None
    return None
