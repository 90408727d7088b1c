"""The seeds of scenarios that get more until the rows are decided. Reads and writes a file beside the results.

A row is judged with each number of seeds, at a look. Its error at all looks together is that of a row that is judged
once, as each look has an equal share of it (Bonferroni over the looks). So each look that decides may be believed, and
the last one of them counts: seeds that a scenario gets for another row do not make a decided row undecided.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from testbed.api import UserError, write_named

FIRST = 4
"""Seeds at the first look, unless the scenario asks for fewer: with two, Student's t decides next to nothing."""
MOST = 20
"""Seeds of a scenario, if the publication has no more repetitions."""
FILE = "looks.json"


def sizes(asked: int, full: int, *, has_run: bool = False) -> tuple[int, ...]:
    """The numbers of seeds at which rows are judged: as many as the scenario asks for, at most 4; then twice as many
    each time, up to the publication's own number `full`, or 20 if that is more. One that `has_run` was judged with all
    that it asks for, which is the first look.
    """
    found = [asked if has_run else min(asked, FIRST)]
    while found[-1] < max(full, MOST):
        found.append(min(2 * found[-1], max(full, MOST)))
    return tuple(found)


@dataclass(frozen=True)
class Looks:
    """By scenario, the numbers of seeds at which rows are judged, and the number that it has now."""

    sizes: Mapping[str, tuple[int, ...]]
    seeds: Mapping[str, int] = field(default_factory=dict)

    def number(self, names: Iterable[str]) -> int:
        """How often a row of these scenarios is judged at most: once, and again each time that one of them gets more
        seeds, be it for another row.
        """
        return 1 + sum(len(self.sizes[name]) - 1 for name in names if name in self.sizes)

    def so_far(self, names: Iterable[str]) -> list[dict[str, int]]:
        """The seeds of these scenarios at each look of a row until now, the present one last; a scenario that is not
        named has all that it asks for. Only the present look if several got more seeds: in which order is not noted.
        """
        present = {name: self.seeds[name] for name in names if name in self.sizes}
        grown = [name for name, seeds in present.items() if seeds > self.sizes[name][0]]
        if len(grown) != 1:
            return [present]
        return [present | {grown[0]: size} for size in self.sizes[grown[0]] if size <= present[grown[0]]]

    def of(self, name: str, asked: int) -> int:
        """The seeds that a scenario has which asks for so many."""
        return self.seeds.get(name, asked)

    def begun(self, wanted: Mapping[str, tuple[int, ...]]) -> Looks:
        """With these scenarios, too. One that has begun keeps the numbers with which it began."""
        new = {name: each for name, each in wanted.items() if name not in self.sizes}
        seeds = {name: each[0] for name, each in new.items()}
        return replace(self, sizes={**self.sizes, **new}, seeds={**self.seeds, **seeds})

    def replaced(self, names: Iterable[str], other: Looks) -> Looks:
        """With these scenarios as `other` has them, or not at all, and the rest as it is."""
        sizes, seeds = dict(self.sizes), dict(self.seeds)
        for name in names:
            sizes.pop(name, None)
            seeds.pop(name, None)
            if name in other.sizes:
                sizes[name], seeds[name] = other.sizes[name], other.seeds[name]
        return Looks(sizes, seeds)

    def grown(self, names: Iterable[str]) -> Looks:
        """With the next number of seeds for each of these scenarios; the same where it has all."""
        later = {name: next((n for n in self.sizes[name] if n > self.seeds[name]), self.seeds[name]) for name in names}
        return replace(self, seeds={**self.seeds, **later})


def read(folder: Path) -> Looks:
    """Those of a results folder; none if it has no such file. Raises UserError for a file that is damaged."""
    path = folder / FILE
    if not path.exists():
        return Looks({})
    try:
        found = json.loads(path.read_text())
        looks = Looks({name: tuple(each["sizes"]) for name, each in found.items()},
                      {name: each["seeds"] for name, each in found.items()})  # fmt: skip
        is_whole = all(
            seeds in looks.sizes[name]
            and all(type(size) is int for size in looks.sizes[name])
            and all(size < later for size, later in pairwise((0, *looks.sizes[name])))
            for name, seeds in looks.seeds.items()
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        is_whole = False
    if not is_whole:
        raise UserError(f"{path} is damaged; allowed: what `testbed reproduce --until-decided` wrote, or no such file")
    return looks


def write(folder: Path, looks: Looks, names: Iterable[str]) -> None:
    """What is said of these scenarios; of others, which another command may have given more seeds, nothing changes.

    Raises UserError for a file that is damaged or cannot be written.
    """
    looks = read(folder).replaced(names, looks)
    found = {name: {"sizes": list(each), "seeds": looks.seeds[name]} for name, each in looks.sizes.items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_named(folder / FILE, json.dumps(found, indent=1) + "\n")
    except OSError as error:
        raise UserError(f"{folder / FILE} cannot be written: {error.strerror}; allowed: --results DIR") from None


def carry(source: Path, folder: Path, names: Iterable[str]) -> None:
    """Makes what is said of these scenarios beside the results in `source` what is said of them in `folder`.

    Raises UserError for a file that is damaged or cannot be written.
    """
    there, here = read(folder), read(source)
    if there.replaced(names, here) != there:
        write(folder, here, names)
