"""An audit of the results that the project keeps: a random share of their trials runs again, and every number that is
kept of them must come out again. Reads the kept tables, runs trials in a folder of its own, writes `audit.json` beside
the tables.

What a result has in addition since it was kept is not compared. Numbers that differ with another lab kernel than the
one that gave them, or on another kind of processor, say nothing about either: the C library has other functions for
another processor, and programs read the clock more or less often. Nor do those of a trial during which files of its
computer changed, as they do when somebody installs a package.
"""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from testbed.api import Repeat, Store, UserError, audit, audit_sample, counted, software, write_named

FILE = "audit.json"
RESULT, PROVENANCE = "result.json", "provenance.json"
ELSEWHERE = "another lab kernel or kind of processor, or while files of the computer changed"
SHOWN = 3
"""So many trials are named in words; JSON has all."""


@dataclass(frozen=True)
class Again:
    """One audit. `kept` trials were there in `scenarios`, `trials` were drawn. A number of those in `different`
    differs, one of those in `elsewhere` with another lab kernel, on another kind of processor, or while files changed;
    those in `lost` did not end. Numbers of `elsewhere` differ by `most` of their values, as a part; None if more than
    numbers differ.
    """

    date: str
    seed: int
    scenarios: int
    kept: int
    trials: int
    different: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    most: float | None = None

    @property
    def verdict(self) -> Literal["same", "different", "cannot tell"]:
        """`same` only if there is a sample, and every number of it came out again."""
        if self.different:
            return "different"
        return "cannot tell" if self.elsewhere or self.lost or not self.trials else "same"

    def in_words(self) -> str:
        same = self.trials - len(self.different) - len(self.elsewhere) - len(self.lost)
        drawn = counted(self.trials, "trial")
        said = [f"{same} of {drawn}, drawn at random from {self.kept}, gave the same numbers again"]
        if self.elsewhere:
            said.append(f"{len(self.elsewhere)} gave others with {ELSEWHERE}, by {self._by}")
        for names, what in (self.different, "gave others"), (self.lost, "did not end"):
            if names:
                said.append(f"{len(names)} {what}: {_some(names)}")
        return f"Audit of {self.date}: {'; '.join(said)}."

    @property
    def _by(self) -> str:
        return (
            f"more than numbers: {_some(self.elsewhere)}" if self.most is None else f"{100 * self.most:.2g} % at most"
        )


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{', '.join(names[:SHOWN])}{more}"


def repeated(folder: Path, names: Sequence[str], share: float, seed: int, repeat: Repeat) -> Again:
    """Repeats a share (0 to 1, at least one trial) of what is kept of these scenarios in a folder of unpacked runs."""
    stores = {name: Store(folder / name).open() for name in names if Store(folder / name).exists}
    kept = [
        f"{name}/{id}" for name, store in stores.items() for id in store.ids if (store.path / "trials" / id).exists()
    ]
    if not kept:
        raise UserError("nothing is kept of these rows; allowed: rows with results in testbed_reproductions/data")
    chosen = audit_sample(kept, math.ceil(share * len(kept)), seed)
    found = []
    parts: list[float] = []
    for name, store in stores.items():
        ids = [each.partition("/")[2] for each in chosen if each.partition("/")[0] == name]
        if ids:
            found += [
                (f"{name}/{each.id}", each)
                for each in audit(store, ids, seed, repeat, partial(differing, parts=parts)).trials
            ]
    seen = {id for id, _ in found}
    left_out = [f"{id} (it ran in real time)" for id in chosen if id not in seen]
    return Again(
        datetime.datetime.now(datetime.UTC).date().isoformat(),
        seed,
        len(stores),
        len(kept),
        len(chosen),
        tuple(f"{id} ({', '.join(each.files[:3])})" for id, each in found if each.files and each.files[0] != ELSEWHERE),
        tuple(f"{id} ({', '.join(each.files[1:4])})" for id, each in found if each.files[:1] == (ELSEWHERE,)),
        (*(f"{id} ({each.why})" for id, each in found if each.outcome == "not repeated"), *left_out),
        max(parts) if parts and not math.isinf(max(parts)) else None,
    )


def differing(first: Path, second: Path, parts: list[float] | None = None) -> tuple[str, ...]:
    """The paths of numbers and words of the first trial's result that the second one's does not have, or has otherwise,
    numbers with the part by which they differ, and the largest first; before them `ELSEWHERE`, if the trials ran with
    two lab kernels, on two kinds of processors, or one of them while files changed: then the largest part is added to
    `parts`.
    """
    one, other = (json.loads((folder / RESULT).read_text()) for folder in (first, second))
    found = sorted(_differing(one, other, ""), key=lambda each: -each[1])
    paths = tuple(path if math.isinf(part) else f"{path} by {100 * part:.3g} %" for path, part in found)
    (*before, was_disturbed), (*now, is_disturbed) = _software(first), _software(second)
    is_other = any(then != after and None not in (then, after) for then, after in zip(before, now, strict=True))
    if not paths or not (is_other or was_disturbed or is_disturbed):
        return paths
    if parts is not None:
        parts.append(found[0][1])
    return (ELSEWHERE, *paths)


def _software(folder: Path) -> tuple[str | None, str | None, bool]:
    """The key of the lab kernel of a trial, and the kind of its processor, None for what is not known; whether files of
    the computer changed while it ran.
    """
    path = folder / PROVENANCE
    noted = json.loads(path.read_text()) if path.exists() else {}
    parts = (noted.get("software") or {}).get("parts") or {}
    processor = parts.get("processor")
    is_known = processor != software.UNKNOWN
    return (noted.get("kernel") or {}).get("key"), processor if is_known else None, software.CHANGED in parts


def _differing(one: Any, other: Any, at: str) -> Iterator[tuple[str, float]]:
    """Paths, and the part by which a number differs; infinity for what is no number, or was 0."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key, value in one.items():
            below = f"{at}.{key}" if at else key
            yield from _differing(value, other[key], below) if key in other else [(below, math.inf)]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, (value, now) in enumerate(zip(one, other, strict=True)):
            yield from _differing(value, now, f"{at}[{number}]")
    elif one != other or type(one) is not type(other):
        are_numbers = {type(one), type(other)} <= {int, float} and one
        yield at, abs(other / one - 1) if are_numbers else math.inf


def stored(kept: Path) -> list[Again]:
    """The audits of a size, the last one last. Raises UserError for a file that is damaged."""
    path = kept / FILE
    if not path.exists():
        return []
    try:
        return [_read(each) for each in json.loads(path.read_text())]
    except (ValueError, TypeError, KeyError) as error:
        raise UserError(f"{path} is damaged: {error}; allowed: what `testbed reproduce --audit` wrote") from None


def forget(kept: Path) -> None:
    """Removes the audits of a size, if there are any."""
    (kept / FILE).unlink(missing_ok=True)


def _read(data: dict[str, Any]) -> Again:
    lists: dict[str, Any] = {name: tuple(value) for name, value in data.items() if isinstance(value, list)}
    return Again(**(data | lists))


def store(kept: Path, found: Again) -> None:
    """Adds an audit."""
    audits = [asdict(each) for each in (*stored(kept), found)]
    write_named(kept / FILE, json.dumps(audits, indent=1, ensure_ascii=False) + "\n")
