"""The first trial of a candidate: it must not oops or warn, hang, or open its window by less than two segments. Runs a
trial; the folder that it leaves says that it passed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ...error import TestbedError, UserError, visible
from ...kernel.guest import CONSOLE, TrialError
from ...kernel.oops import BAD, OOPS, WARNED, kinds
from ...model.scenario import Trial
from ...plan.step import Read, Run
from ...spec.load import load_scenario
from ...trial import run as runner
from ...trial import sample_table, strict_folder
from ...trial.folder import SAMPLES, partial
from ...trial.orders.sequence import orders
from ...trial.result import TrialResult
from .contender import Contender, Pair
from .under_test import under_test

FILE = Path(__file__).with_name("smoke.yaml")
FOLDER = ("smoke", "first-trial")
"""Names below the folder of the side. A scenario smoke.yaml has its run in the first, and does not use the other."""
TAINTED, MESSAGES = "tainted.txt", "messages.txt"
NOT_TAKEN = re.compile(r"(?:/proc/sys|/sys/module)/\S+ does not take [^\n]*")
"""A setting that the kernel refuses is wrong input, and no fault of the control."""
CWND_LEAST = 2
OPEN_STATES = (0, 1)
"""TCP_CA_Open and TCP_CA_Disorder. In the others the kernel itself sets the window, to one segment after a timeout."""
LINES = 20


class Broken(TestbedError):
    """The control under test breaks the kernel, or what every control must keep; `kinds` says how."""

    exit_code = 6

    def __init__(self, what: str, kinds: frozenset[str] = frozenset()) -> None:
        super().__init__(what)
        self.kinds = kinds


def of_both(pair: Pair, base: Path, candidate: Path) -> tuple[TrialResult | None, tuple[str, ...]]:
    """The candidate's first trial, and a note if the base breaks the same in its own. Raises Broken for what the base
    does not.
    """
    try:
        return smoke(pair.candidate, pair.base.control, candidate), ()
    except Broken as error:
        try:
            smoke(pair.base, pair.base.control, base)
        except Broken as of_base:
            if error.kinds <= of_base.kinds:
                return None, (f"first trial: the base does the same: {str(error).splitlines()[0]}",)
        raise


def smoke(side: Contender, base_control: str, folder: Path) -> TrialResult | None:
    """Runs the trial, unless it passed before; its result. Raises Broken, with what the kernel said."""
    if folder.joinpath(*FOLDER).is_dir():
        return None
    trial = _trial(side, base_control)
    made = orders(trial)
    looks = (
        Read("what the kernel says of itself", ((TAINTED, "/proc/sys/kernel/tainted"),)),
        Run(("dmesg",), title="the kernel's messages", out=MESSAGES, may_fail=True),
    )
    folder.mkdir(parents=True, exist_ok=True)
    with partial(folder) as fresh:
        try:
            done = runner.run(trial, replace(made, steps=(*made.steps, *looks)), fresh.path)
        except TrialError as error:
            if (refused := NOT_TAKEN.search(str(error))) is not None:
                said = f"{side.label}: {refused[0]}; allowed: what this kernel has, and lets somebody change"
                raise UserError(said) from None
            raise _failed(side, str(error), fresh.path) from None
        _check(side, done, fresh.path)
        strict_folder.make(folder, FOLDER[0])
        fresh.put(folder, *FOLDER)
    return done


def _trial(side: Contender, base_control: str) -> Trial:
    scenario = under_test(load_scenario(FILE, side.settings), side, base_control, 1)
    return scenario.trials()[0]


def _failed(side: Contender, said: str, folder: Path) -> Broken:
    console = _text(folder / CONSOLE)
    bad = next((number for number, line in enumerate(console.splitlines()) if BAD.search(line)), None)
    lines = console.splitlines()[max(0, (bad or 0) - 2) :][:LINES] if bad is not None else []
    what = "breaks the kernel" if lines else "does not survive its first trial"
    told = "\n".join(lines) if lines else said
    reason = frozenset({re.sub(r"\d+", "", said.partition("\n")[0])})
    return Broken(f"{side.control} {what}:\n{_shown(told)}", kinds(console) or reason)


def _check(side: Contender, done: TrialResult, folder: Path) -> None:
    """Raises Broken with the first finding, and the kinds of all."""
    found = [*_tainted(folder), *_unkept(side, done, folder)]
    if found:
        raise Broken(f"{side.control}: {found[0][0]}", frozenset(kind for _, of_one in found for kind in of_one))


def _tainted(folder: Path) -> Iterator[tuple[str, frozenset[str]]]:
    tainted = int(_text(folder / TAINTED).strip() or 0)
    if tainted & (OOPS | WARNED):
        what = "an oops" if tainted & OOPS else "a warning"
        said = _text(folder / MESSAGES)
        messages = said.splitlines()
        first = next((number for number, line in enumerate(messages) if BAD.search(line) or "cut here" in line), None)
        told = messages[first:][:LINES] if first is not None else ["(the kernel's messages could not be read)"]
        yield f"{what} in the kernel:\n{_shown(chr(10).join(told))}", kinds(said) | {what}


def _unkept(side: Contender, done: TrialResult, folder: Path) -> Iterator[tuple[str, frozenset[str]]]:
    """What every control must keep, and it did not."""
    rows = sample_table.rows(
        sample_table.opened(folder / SAMPLES), ("time_s", "congestion", "ca_state", "snd_cwnd")
    ).to_pylist()
    mine = [row for row in rows if row["congestion"] == side.control and row["snd_cwnd"] is not None]
    if not mine:
        yield "no socket of the first trial ran it", frozenset({"no socket"})
    if small := [row for row in mine if row["ca_state"] in OPEN_STATES and row["snd_cwnd"] < CWND_LEAST]:
        yield (
            f"the congestion window is {small[0]['snd_cwnd']} segments {small[0]['time_s']:.2f} s "
            f"after the start, in {len(small)} of {len(mine)} samples outside recovery; allowed: {CWND_LEAST} or more",
            frozenset({"window"}),
        )
    if not done.goodput_bps:
        yield "the first trial has no goodput", frozenset({"no goodput"})


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _shown(text: str) -> str:
    return "\n".join(visible(line) for line in text.splitlines())
