"""A scenario in which the control under test stands in the place of CUBIC, in every cell: in coexistence, background
and defaults, too. Pure, no I/O.

The suite's files are written for CUBIC. If another control is the base, the two change places, so that the base never
meets itself where it should meet another. In a list of an axis, which has a control for each flow, only the first CUBIC
is the one under test: further ones are incumbents, and stay. What is varied is called `tested` on both sides: so their
trials are pairs, and no stored parameter names a control that did not run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ...model.background import Backgrounds, Constant
from ...model.expectation import Choice, Expectation, chosen
from ...model.run_setting import LAB
from ...model.scenario import CONGESTION_SYSCTL, Axis, Cell, Params, Scenario
from ...model.workload.command import CommandWorkload
from ...spec.congestion import names_control
from .contender import CUBIC, PROGRAM, VARIANT_KEY, Contender

TESTED = "tested"
"""What parameters call the control under test."""
PLACE = "{variant}"
LIST = " + "
"""Between the members of a list, in a parameter."""
WORD = re.compile(r"[a-z][a-z0-9_]*")

Rename = Callable[[str], str]


def under_test(scenario: Scenario, side: Contender, base_control: str, repetitions: int) -> Scenario:
    """The scenario with so many repetitions. Cells in which the control under test does not take part are left out,
    unless a rule divides by them; then there may be none.
    """
    if side.control == PROGRAM:
        return _program(scenario, side, repetitions)
    here, told = _names(side.control, base_control), _names(TESTED, base_control)
    cells = tuple(_cell(cell, side, here, told) for cell in scenario.cells if _has(cell, scenario))
    axes = tuple(Axis(axis.key, tuple(_text(axis.key, each, told) for each in axis.values)) for axis in scenario.axes)
    return replace(
        scenario,
        cells=cells,
        axes=axes,
        sysctls=_sysctls(scenario.sysctls, here),
        repetitions=repetitions,
        until=None,
        expect=tuple(_rule(each, told) for each in scenario.expect),
    )


def _program(scenario: Scenario, side: Contender, repetitions: int) -> Scenario:
    """The cells in which a program has {variant} in its words. It is no parameter, so that trials pair."""
    cells = tuple(
        replace(
            cell,
            params=tuple(each for each in cell.params if each[0] != VARIANT_KEY),
            kernel=side.kernel if cell.kernel == LAB else cell.kernel,
        )
        for cell in scenario.cells
        if isinstance(cell.workload, CommandWorkload)
        and any(PLACE in word for each in cell.workload.started for word in each.run)
    )
    axes = tuple(axis for axis in scenario.axes if axis.key != VARIANT_KEY)
    return replace(scenario, cells=cells, axes=axes, repetitions=repetitions, until=None, expect=())


def _names(tested: str, base_control: str) -> Rename:
    """What a control that a file names is called here."""
    names = {base_control: CUBIC, CUBIC: tested}
    return lambda name: names.get(name, name)


def _has(cell: Cell, scenario: Scenario) -> bool:
    """Whether the control under test takes part, or a rule compares with what is there without it."""
    params = dict(cell.params)
    if any(each.over is not None and chosen({**each.where, **each.over}, params) for each in scenario.expect):
        return True
    background = {each.congestion for _, each in cell.background if not isinstance(each, Constant)}
    default = {value for name, value in (*scenario.sysctls, *cell.sysctls) if name == CONGESTION_SYSCTL}
    return CUBIC in {*cell.workload.controls, *background, *default}


def _cell(cell: Cell, side: Contender, here: Rename, told: Rename) -> Cell:
    workload: Any = cell.workload
    if isinstance(congestion := getattr(workload, "congestion", None), tuple):
        is_list = any(LIST in text for key, text in cell.params if names_control(key))
        controls = _listed(congestion, here) if is_list else tuple(map(here, congestion))
        workload = replace(workload, congestion=controls)
    elif isinstance(congestion, str):
        workload = replace(workload, congestion=here(congestion))
    return replace(
        cell,
        params=_params(cell.params, told),
        workload=workload,
        kernel=side.kernel if cell.kernel == LAB else cell.kernel,
        sysctls=_sysctls(cell.sysctls, here),
        background=_background(cell.background, here),
    )


def _params(params: Params, told: Rename) -> Params:
    return tuple((key, _text(key, text, told)) for key, text in params)


def _listed(controls: Sequence[str], rename: Rename) -> tuple[str, ...]:
    """Renamed, but for all CUBICs behind the first one."""
    first = controls.index(CUBIC) if CUBIC in controls else -1
    return tuple(name if name == CUBIC and at != first else rename(name) for at, name in enumerate(controls))


def _text(key: str, text: str, told: Rename) -> str:
    if not names_control(key):
        return text
    renamed = iter(_listed(WORD.findall(text), told))
    return WORD.sub(lambda word: next(renamed), text)


def _rule(rule: Expectation, told: Rename) -> Expectation:
    over = None if rule.over is None else _choice(rule.over, told)
    return replace(rule, where=_choice(rule.where, told), over=over)


def _choice(choice: Choice, told: Rename) -> Choice:
    return {key: tuple(_text(key, each, told) for each in texts) for key, texts in choice.items()}


def _sysctls(sysctls: tuple[tuple[str, str], ...], here: Rename) -> tuple[tuple[str, str], ...]:
    return tuple((name, here(value) if name == CONGESTION_SYSCTL else value) for name, value in sysctls)


def _background(background: Backgrounds, here: Rename) -> Backgrounds:
    return tuple(
        (name, each if isinstance(each, Constant) else replace(each, congestion=here(each.congestion)))
        for name, each in background
    )
