"""What `testbed cc --param` says of parameters that a module uses in part only."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from testbed.commands.candidate import contender
from testbed.commands.candidate.contender import Contender, Pair
from testbed.commands.measure import cc
from testbed.kernel.image.cache import KernelImage
from testbed.model.run_setting import LAB

IMAGE = KernelImage("mine", Path("/nowhere/linux"), "7.3.4", "", False, "", "key")


class Change:
    """Stands for a change to Linux: `adds` a control, or changes one."""

    def __init__(self, adds: bool, label: str) -> None:
        self.adds, self.label, self.files = adds, label, {"net/ipv4/x.c": b""}


class Built:
    objects = ("net/ipv4/x.o",)

    def __init__(self, adds: bool, label: str) -> None:
        self.change = Change(adds, label)


def notes(control: str, param: str, built: Any = None) -> tuple[str, ...]:
    pair = Pair(Contender("cubic", "cubic", LAB, IMAGE), Contender(control, control, LAB, IMAGE), built)
    (made,) = contender.swept(pair, [param])
    return made.partial_parameters


@pytest.mark.parametrize(
    ("param", "computed"),
    [("beta=666", "computes beta_scale"), ("bic_scale=42", "computes cube_rtt_scale and cube_factor")],
)
def test_what_linux_computes_of_a_parameter_of_cubic_when_it_registers_is_named(param: str, computed: str) -> None:
    for built in (None, Built(adds=False, label="my")):
        (note,) = notes("cubic", param, built)
        assert note.startswith(f"{param.partition('=')[0]} of tcp_cubic is used in part only: Linux {computed}")


def test_a_parameter_that_linux_reads_when_it_uses_it_needs_no_note() -> None:
    assert notes("cubic", contender.PARAM_EXAMPLE.partition(",")[0]) == ()
    assert notes("vegas", "beta=5") == ()
    assert Pair(*(Contender("cubic", "cubic", LAB, IMAGE),) * 2).partial_parameters == ()


@pytest.mark.parametrize(("control", "adds"), [("foo", True), ("cubic", False)])
def test_of_code_that_nobody_has_looked_at_a_note_says_that_it_may_be_so(control: str, adds: bool) -> None:
    (note,) = notes(control, "gain=3", Built(adds, "tcp_foo"))
    assert note.startswith("gain: parameters are written after the control has registered")


def test_the_notes_are_those_of_the_verdict() -> None:
    class Suite:
        pair = contender.swept(Pair(*(Contender("cubic", "cubic", LAB, IMAGE),) * 2), ["beta=666"])[0]

        def identical(self) -> tuple[int, int]:
            return 0, 3

    made: Any = Suite()
    assert [each for each in cc._notes(made) if "beta_scale" in each]


def test_in_what_the_sides_differ_is_broken_between_words_on_a_terminal() -> None:
    pair = Pair(*(Contender(name, name, LAB, IMAGE) for name in ("cubic", "foo")), Built(adds=True, label="tcp_foo"))
    pair.built.change.files = {f"net/ipv4/{name}": b"" for name in ("Kconfig", "Makefile", "tcp_foo.c", "tcp_bar.c")}
    for is_terminal in (True, False):
        console = Console(file=io.StringIO(), width=80, force_terminal=is_terminal)
        cc._tell_differences(pair, console)
        lines = console.file.getvalue().splitlines()
        assert (max(map(len, lines)) <= 80, len(lines)) == ((True, 3) if is_terminal else (False, 2))
        assert " ".join(" ".join(lines).split()).endswith("tcp_foo.c; compiled: net/ipv4/x.o")


def test_values_of_one_parameter_are_those_of_all_its_options() -> None:
    """The last option replaced the others, and its value was judged in their names."""
    pair = Pair(*(Contender(name, name, LAB, IMAGE) for name in ("cubic", "foo")))
    swept = contender.swept(pair, ("beta=8", "hystart=1", "beta=64,65"))
    values = [tuple(each.rpartition(".")[2] for each in one.candidate.settings) for one in swept]
    assert values == [(f"beta={beta}", "hystart=1") for beta in (8, 64, 65)]
