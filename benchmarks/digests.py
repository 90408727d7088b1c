"""Whether two checkouts measure the same, byte for byte: `python -m benchmarks digests [--against OTHER] [SCENARIO …]`.

The scenarios in `benchmarks/digests/` cover all workloads, background traffic, engines, impairments and node types that
run in the lab kernel, in trials of a few seconds. This runs them by `testbed run`, and prints for each trial a SHA-256
over the files in its folder that repeat. A line `(run)` is for the run's list of trials and its tables.

    python -m benchmarks digests -o /tmp/before                  # measure, and keep the results
    python -m benchmarks digests --against /tmp/before           # measure, and compare with what was kept
    python -m benchmarks digests --against ../older-checkout     # measure both checkouts, and compare
    python -m benchmarks digests --against ../older-checkout loss jitter

With --against there is a line for each trial: `same`, or `DIFFERS` with the files, keys and columns. Differences that
are meant are told with --but, such as `--but 'result.json:findings[].text'`, and stand in the line. The other
checkout is used by its command line alone, so its modules may have any names. All must run on one computer with one
lab kernel.

A controller is a Python process, and the files that it reads while it starts move its clock by multiples of 256 ns.
So trials with controllers differ once a package of its Python was changed (even the CA certificates of certifi), or
one of its modules was renamed or added. Kept results are no measure for them then: measure both checkouts. To show
that a rename is all that changed, compare with the older checkout in which only that name is changed.

The exit code is 1 if anything differs, if a trial is missing, failed or invalid on either side, or if a scenario has no
trials; 2 for wrong options.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Container, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

from .difference import Results, differences, told

SCENARIOS = Path(__file__).with_name("digests")
CHECKOUT = Path(__file__).resolve().parents[1]
RECORD = "digests.json"
FINE = frozenset({"valid", "suspect", "done"})
"""States that count as measured. A suspect trial repeats as well as a valid one."""


@dataclass(frozen=True)
class Line:
    """What is said of one trial, and whether it passes."""

    passes: bool
    text: str


@dataclass(frozen=True)
class Side:
    """Results, and the Python that measures them; None if they are there already."""

    results: Results
    python: str | None

    def measure(self, scenario: str, file: Path, jobs: int) -> Iterator[Line]:
        """Runs a scenario with the checkout's testbed. Its output is kept in SCENARIO.log; a line if it failed."""
        if self.python is None:
            return
        folder = self.results.folder / scenario
        words = ("-m", "testbed", "run", str(file), "-o", str(folder), "--jobs", str(jobs), *self._permission)
        done = _python(self.python, words, self.results.checkout)
        folder.with_suffix(".log").write_text(done.stdout)
        if done.returncode:
            last = (done.stdout.splitlines() or ["(nothing)"])[-1]
            yield Line(False, f"{'FAILED':14}{scenario} in {folder} with exit code {done.returncode}: {last}")

    @cached_property
    def _permission(self) -> tuple[str, ...]:
        """Scenarios name files elsewhere in this checkout; an older testbed reads them without being told."""
        assert self.python is not None, "BUG: results that are there already are not measured"
        known = _python(self.python, ("-m", "testbed", "run", "--help"), self.results.checkout).stdout
        return ("--allow-file", str(CHECKOUT)) if "--allow-file" in known else ()

    def record(self, scenarios: Sequence[str]) -> None:
        """Writes the digests next to the results."""
        found = {
            f"{scenario}/{id}": {"state": self.results.state(scenario, id), "sha256": self.results.digest(scenario, id)}
            for scenario in scenarios
            for id in self.results.ids(scenario)
        }
        about = {
            "checkout": str(self.results.checkout),
            "commit": _commit(self.results.checkout),
            "python": self.python,
        }
        (self.results.folder / RECORD).write_text(json.dumps({**about, "digests": found}, indent=1) + "\n")


def main(words: Sequence[str]) -> int:
    known = {path.stem: path for path in sorted(SCENARIOS.glob("*.yaml"))}
    parser = _parser(known)
    options = parser.parse_args(words)
    unknown = sorted(set(options.only) - set(known))
    if unknown:
        parser.error(f"there is no scenario {', '.join(unknown)}; allowed: {', '.join(known)}")
    scenarios = options.only or list(known)
    with ExitStack() as stack:
        folder = options.output or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="digests-")))
        try:
            sides = [_measured_side(options.checkout, sys.executable, folder)]
            if options.against is not None:
                sides.append(_other_side(options.against, options.python, folder / "against"))
        except (OSError, ValueError) as error:
            parser.error(str(error))
        return _run(sides, {name: known[name] for name in scenarios}, options.jobs, options.but)


def _run(sides: Sequence[Side], scenarios: dict[str, Path], jobs: int, but: Sequence[str]) -> int:
    lines: list[Line] = []
    for name, file in scenarios.items():
        runs = chain.from_iterable(side.measure(name, file, jobs) for side in sides)
        for line in chain(runs, report([side.results for side in sides], name, but)):
            print(line.text, flush=True)
            lines.append(line)
    for side in sides:
        if side.python is not None:
            side.record(list(scenarios))
    passed = sum(line.passes for line in lines)
    print(f"{passed} of {len(lines)} {'measured' if len(sides) == 1 else 'the same'}")
    return 0 if lines and passed == len(lines) else 1


def report(sides: Sequence[Results], scenario: str, but: Container[str] = ()) -> Iterator[Line]:
    """A line for each trial that one side or another has or should have."""
    for id in dict.fromkeys(id for side in sides for id in side.ids(scenario)):
        states = [side.state(scenario, id) for side in sides]
        name = f"{scenario}/{id}"
        bad = [f"{state} in {side.folder}" for state, side in zip(states, sides, strict=True) if state not in FINE]
        if bad:
            yield Line(False, f"{'NOT MEASURED':14}{name}: {', '.join(bad)}")
        elif len(sides) == 1:
            yield Line(True, f"{sides[0].digest(scenario, id)}  {states[0]:9}{name}")
        else:
            yield _compared(name, differences(*(side.contents(scenario, id) for side in sides)), but)


def _compared(name: str, found: dict[str, list[str]], but: Container[str]) -> Line:
    """`but` are differences that do not count: FILE:KEY, or FILE for one that has no keys."""
    left = {file: [key for key in keys if f"{file}:{key}" not in but] for file, keys in found.items()}
    counts = {file: keys for file, keys in left.items() if keys or (not found[file] and file not in but)}
    if counts:
        return Line(False, f"{'DIFFERS':14}{name}: {told(counts)}")
    return Line(True, f"{'same':14}{name}" + (f" but for {told(found)}" if found else ""))


def _parser(known: dict[str, Path]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks digests", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("only", nargs="*", metavar="SCENARIO", help=f"all if left out: {', '.join(known)}")
    parser.add_argument("--checkout", type=Path, default=CHECKOUT, help="whose testbed to measure (this one)")
    parser.add_argument("--against", type=Path, metavar="OTHER", help="a checkout, or a folder that -o has written")
    parser.add_argument("--python", default=sys.executable, help="the Python of the other checkout (this one)")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="keep the results in this new folder")
    parser.add_argument(
        "--but", action="append", default=[], metavar="FILE:KEY", help="a difference that is meant, as DIFFERS tells it"
    )
    parser.add_argument("--jobs", type=int, default=1, help="trials side by side (1); changes no digest")
    return parser


def _measured_side(checkout: Path, python: str, folder: Path) -> Side:
    """Results to be measured now. Raises ValueError for a folder that has some, or for no checkout."""
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"{folder} is not empty; allowed: a new folder, for old results would pass for new ones")
    checkout = checkout.resolve()
    found = _python(python, ("-c", "import testbed; print(testbed.__file__)"), checkout).stdout
    if not found.startswith(f"{checkout}/"):
        raise ValueError(f"{checkout} is no checkout whose testbed {python} can import: {found}")
    folder.mkdir(parents=True, exist_ok=True)
    return Side(Results(folder.resolve(), checkout), python)


def _other_side(other: Path, python: str, folder: Path) -> Side:
    """Results that are kept in `other`, or are to be measured with it."""
    record = other / RECORD
    if record.exists():
        return Side(Results(other.resolve(), Path(json.loads(record.read_text())["checkout"])), None)
    return _measured_side(other, python, folder)


def _python(python: str, words: Sequence[str], checkout: Path) -> subprocess.CompletedProcess[str]:
    """Has a Python import the checkout's testbed; errors are in its output."""
    return subprocess.run(
        [python, *words],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def _commit(checkout: Path) -> str | None:
    words = ["git", "-C", str(checkout), "describe", "--always", "--dirty", "--abbrev=40"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout.strip() or None
