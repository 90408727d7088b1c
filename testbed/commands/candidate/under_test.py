"""A scenario in which the control under test stands in the place of CUBIC, in every cell: in coexistence, background
and defaults, too. Pure, no I/O.

The suite's files are written for CUBIC. If another control is the base, the two change places, so that the base never
meets itself where it should meet another. What is varied is called `tested` on both sides: so their trials are pairs,
and no stored parameter names a control that did not run.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...model.background import Backgrounds, Constant
from ...model.run_setting import LAB
from ...model.scenario import CONGESTION_SYSCTL, Axis, Cell, Params, Scenario
from ...model.workload.command import CommandWorkload
from .contender import CUBIC, PROGRAM, VARIANT_KEY, Contender

TESTED = "tested"
"""What parameters call the control under test."""
CONTROL_KEY = re.compile(r"(^|\.)(congestion|tcp_congestion_control)$")
PLACE = "{variant}"
WORD = re.compile(r"[a-z][a-z0-9_]*")

Rename = Callable[[str], str]


def under_test(scenario: Scenario, side: Contender, base_control: str, repetitions: int) -> Scenario:
    """The scenario with so many repetitions. Cells in which the control under test does not take part are left out if
    they would not differ; then there may be none.
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
        expect=(),
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
    """Whether the control under test takes part."""
    background = {each.congestion for _, each in cell.background if not isinstance(each, Constant)}
    default = {value for name, value in (*scenario.sysctls, *cell.sysctls) if name == CONGESTION_SYSCTL}
    return CUBIC in {*cell.workload.controls, *background, *default}


def _cell(cell: Cell, side: Contender, here: Rename, told: Rename) -> Cell:
    workload: Any = cell.workload
    if isinstance(congestion := getattr(workload, "congestion", None), tuple):
        workload = replace(workload, congestion=tuple(map(here, congestion)))
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


def _text(key: str, text: str, told: Rename) -> str:
    return WORD.sub(lambda word: told(word[0]), text) if CONTROL_KEY.search(key) else text


def _sysctls(sysctls: tuple[tuple[str, str], ...], here: Rename) -> tuple[tuple[str, str], ...]:
    return tuple((name, here(value) if name == CONGESTION_SYSCTL else value) for name, value in sysctls)


def _background(background: Backgrounds, here: Rename) -> Backgrounds:
    return tuple(
        (name, each if isinstance(each, Constant) else replace(each, congestion=here(each.congestion)))
        for name, each in background
    )
