"""What `testbed cc` says of faults that a seed draws: `python -m benchmarks mutants [N] [SEED]`.

Draws faults of tcp_cubic.c and tcp_bbr.c in turn (benchmarks/mutation.py has the operators), builds each in the tree
that `testbed cc` keeps, and does with it what `testbed cc PATCH --quick` does, without its limit of 3 min: what else
this computer does must not decide what is found. Prints a table in Markdown: the change, what was said, the cells that
differ, and the time to the verdict. One that does not compile, or gives the base's program byte for byte, is drawn
again, which a row says. `--draw` only prints what is drawn; `--budget "10 min"` takes the suite of a plain `testbed cc`
in the place of --quick. Finished trials are in `-o` and do not run again.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from testbed.commands.candidate import broken, contender, smoke
from testbed.commands.candidate.contender import Pair
from testbed.commands.candidate.suite import Suite, chosen
from testbed.commands.measure.cc import QUICK
from testbed.commands.sequential.budget import Budget, budget_of
from testbed.compare.run import RunComparison
from testbed.error import UserError
from testbed.kernel.image.workbench import open_workbench

from .mutation import Mutant, drawn
from .rules import table

FILES = ("net/ipv4/tcp_cubic.c", "net/ipv4/tcp_bbr.c")
HEADS = ("where", "change", "verdict", "cells that differ", "decided", "wall", "CPU", "load")
CELLS_MAX = 3


@dataclass(frozen=True)
class Judged:
    """What was said of a candidate; `cells` are those that differ, `decided` of how many primary cells there is a
    verdict. The times are from before its build to the verdict.
    """

    verdict: str
    cells: tuple[str, ...] = ()
    decided: str = ""
    wall_s: float = 0.0
    cpu_s: float = 0.0
    load: float = 0.0

    @property
    def words(self) -> tuple[str, ...]:
        more = len(self.cells) - CELLS_MAX
        cells = "; ".join(self.cells[:CELLS_MAX]) + (f"; {more} more" if more > 0 else "")
        if not self.wall_s:
            return (self.verdict, *[""] * 5)
        return (self.verdict, cells, self.decided, f"{self.wall_s:.0f} s", f"{self.cpu_s:.0f} s", f"{self.load:.1f}")


def judged(what: str, output: Path, budget: Budget, files: Sequence[Path], jobs: int) -> Judged:
    """Builds it, and does what `testbed cc` does."""
    console = Console(stderr=True)
    began_s, cpu_s = time.monotonic(), _cpu_s()
    try:
        pair = contender.pair(what, None, None, lambda stage: None, jobs)
    except UserError as error:
        return Judged(f"does not compile ({str(error).splitlines()[0].rpartition(': ')[2]}); drawn again")
    if pair.is_same_code:
        return Judged("the same program, byte for byte; drawn again")
    suite = Suite(pair, tuple(files), output, budget, jobs, console, time.monotonic())
    with suite.alone():
        verdict, cells, decided = _carried_out(pair, suite)
    return Judged(verdict, cells, decided, time.monotonic() - began_s, _cpu_s() - cpu_s, os.getloadavg()[0])


def _carried_out(pair: Pair, suite: Suite) -> tuple[str, tuple[str, ...], str]:
    try:
        smoke.smoke(pair.candidate, pair.base.control, suite.candidate)
    except smoke.Broken as error:
        return "broken", (f"the first trial: {str(error).splitlines()[0]}",), ""
    found = suite.carry_out()
    if found is None:
        return "cannot tell", ("the budget was too small",), ""
    if broke := broken.found(broken.told(suite.base), broken.told(suite.candidate)):
        return "broken", tuple(broke)[:1], ""
    same, total = suite.identical()
    primary = [each for each in found.cells if found.is_primary(each.key)]
    decided = sum(each.verdict != "cannot tell" for each in primary)
    verdict = found.verdict + (f"; {same} of {total} pairs are the same, byte for byte" if same else "")
    return verdict, tuple(_cells(found)), f"{decided} of {len(primary)}"


def _cells(found: RunComparison) -> Iterator[str]:
    """Those that differ, primary ones first."""
    differ = [each for each in found.cells if each.verdict in ("worse", "better")]
    for each in sorted(differ, key=lambda each: (not found.is_primary(each.key), each.verdict == "better")):
        scenario, metric = each.key.scenario, each.key.metric
        params = ", ".join(text for _, text in each.key.params)
        yield f"`{scenario}`{f' ({params})' if params else ''}: {metric} {each.verdict}"
    yield from (f"`{gap.cell.scenario}`: lost trials or values" for gap in found.lost)


def _cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _where(mutant: Mutant) -> tuple[str, str]:
    before, after = (each.partition("/*")[0].strip().replace("|", "\\|") for each in (mutant.before, mutant.after))
    return f"`{Path(mutant.file).stem}` {mutant.line}", f"{mutant.operator}: `{before}` → `{after}`"


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks mutants")
    parser.add_argument("count", nargs="?", type=int, default=10, metavar="N")
    parser.add_argument("seed", nargs="?", type=int, default=1, metavar="SEED")
    parser.add_argument("--draw", action="store_true", help="only print what is drawn")
    parser.add_argument("--budget", help="a plain `testbed cc` with this budget, in the place of --quick")
    parser.add_argument("-o", "--output", type=Path, default=Path("results/mutants"))
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args(words)
    budget = replace(QUICK, wall_s=None) if asked.budget is None else budget_of([asked.budget])
    files = chosen((), (), is_quick=asked.budget is None, is_full=False)
    bench = open_workbench()
    source = drawn({name: bench.path(name).read_text() for name in FILES}, asked.seed)
    asked.output.mkdir(parents=True, exist_ok=True)
    if not asked.draw:
        began_s, cpu_s = time.monotonic(), _cpu_s()
        bench.base()
        print(f"the base: {time.monotonic() - began_s:.0f} s, {_cpu_s() - cpu_s:.0f} s of processor time", flush=True)
    made: list[tuple[str, ...]] = []
    count = 0
    while count < asked.count:
        mutant = next(source)
        if asked.draw:
            found = Judged("")
        else:
            patch = asked.output / f"mutant-{asked.seed}-{len(made) + 1}.patch"
            patch.write_text(mutant.patch)
            found = judged(str(patch), asked.output / "cc", budget, files, asked.jobs)
        count += not found.verdict.endswith("drawn again")
        made.append((*_where(mutant), *found.words))
        print(f"| {' | '.join(made[-1])} |", flush=True)
    print(f"\n{table(HEADS, made)}")
    return 0
