"""The base and the candidate: what `testbed cc` compares. Builds kernels, and reads the user's files."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from ... import __version__
from ...error import UserError, one_of
from ...kernel.image import change as changes
from ...kernel.image import first_boot, workbench
from ...kernel.image.build import Report
from ...kernel.image.cache import KernelImage, find
from ...kernel.image.change import Change
from ...kernel.image.workbench import Built, Workbench
from ...model.run_setting import LAB, Kernel
from ...model.scenario import CONGESTION_SYSCTL
from ...model.workload.control import VM_WAY
from ...trial import software
from ...trial.subject.control_module import KERNELS_OWN

CUBIC = "cubic"
"""The base if nobody names another one; the control that stands in the suite's files for the one under test."""
SYSCTL = "sysctl:"
VARIANT = "variant:"
VARIANT_KEY = "workload.variant"
PROGRAM = ""
"""The control under test of two programs: none."""
PATCHES = (".patch", ".diff")
PARAM_EXAMPLE = "hystart_low_window=8,64"
PARAM, PARAM_VALUE = re.compile(r"[A-Za-z_]\w*"), re.compile(r"[\w.+-]+")
MODULE_SETTING = re.compile(r"sysctls\.module\.(\w+)\.(\w+)=.*")
AT_REGISTRATION: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "tcp_cubic": {
        "beta": ("beta_scale", "the Reno-friendly region"),
        "bic_scale": ("cube_rtt_scale and cube_factor", "the curve of the window"),
    }
}
"""By module and parameter: what Linux computes of it once, when the control registers, and what that decides
(net/ipv4/tcp_cubic.c).
"""
ALLOWED = (
    "a file tcp_NAME.c, a patch (.patch or .diff), a folder with Linux's source, the name of a congestion control "
    "(testbed kernel list), sysctl:KEY=VALUE, or variant:VALUE"
)


@dataclass(frozen=True)
class Contender:
    """One side: the `control` under test (or PROGRAM), on a kernel, with settings as `--set` takes them. `label` is for
    people.
    """

    label: str
    control: str
    kernel: Kernel
    image: KernelImage
    settings: tuple[str, ...] = ()

    def identity(self, base_control: str) -> str:
        """What decides its trials, beside a scenario, in which the control stands in the place of `base_control`."""
        parts = software.here()
        words = (self.image.key, self.control, base_control, *self.settings, __version__)
        told = "\n".join((*words, *(f"{key} {parts[key]}" for key in sorted(parts))))
        return hashlib.sha256(told.encode()).hexdigest()


@dataclass(frozen=True)
class Pair:
    """Both sides. `built` is the candidate's kernel if it is another one than the base's."""

    base: Contender
    candidate: Contender
    built: Built | None = None

    @property
    def is_of_programs(self) -> bool:
        """Whether programs are compared, and no control of the kernel."""
        return self.candidate.control == PROGRAM

    @property
    def is_same_code(self) -> bool:
        """Whether the two are the same, byte for byte."""
        is_alike = replace(self.base, label="", kernel=LAB, image=self.candidate.image) == replace(
            self.candidate, label="", kernel=LAB
        )
        return is_alike and self.built is not None and self.built.is_base_code

    @property
    def partial_parameters(self) -> tuple[str, ...]:
        """Notes on the parameters of the candidate's module, which are written after the control has registered."""
        found = [match.groups() for each in self.candidate.settings if (match := MODULE_SETTING.fullmatch(each))]
        known = [(module, name, AT_REGISTRATION.get(module, {}).get(name)) for module, name in found]
        notes = [
            f"{name} of {module} is used in part only: Linux computes {what[0]} when the control registers, which is "
            f"before the parameter is written, so that {what[1]} stays that of the value which is built in; a patch "
            "that builds it in changes all of it"
            for module, name, what in known
            if what is not None
        ]
        other = [name for module, name, what in known if what is None and not self._is_read_as_it_is(module)]
        if other:
            notes.append(
                f"{', '.join(other)}: parameters are written after the control has registered, so what it computes of "
                "them then keeps the value that is built in, and they may be used in part only"
            )
        return tuple(notes)

    def _is_read_as_it_is(self, module: str) -> bool:
        """Whether Linux's own module computes nothing of its other parameters when it registers."""
        return self.built is None and module.removeprefix("tcp_") in KERNELS_OWN

    @property
    def differences(self) -> tuple[str, ...]:
        """In what they differ, in words."""
        found = []
        if self.base.control != self.candidate.control:
            found.append(f"congestion control {self.base.control} → {self.candidate.control}")
        if self.built is not None:
            files = ", ".join(sorted(self.built.change.files))
            objects = ", ".join(self.built.objects) or "nothing that is compiled"
            found.append(f"kernel: {files}; compiled: {objects}")
        found += [each for each in self.candidate.settings if each not in self.base.settings]
        return tuple(found)


def pair(
    what: str, base: str | None, source: str | None, report: Report, jobs: int | None = None, *, is_swept: bool = False
) -> Pair:
    """Reads and builds what WHAT names; if it `is_swept`, both sides may be one control. Raises UserError for what is
    none, MachineError for what is missing.
    """
    path = Path(what).expanduser()
    if what.startswith(VARIANT):
        return _of_variant(what.removeprefix(VARIANT), base, source, report, jobs)
    if what.startswith(SYSCTL):
        return _of_sysctl(what.removeprefix(SYSCTL), base, source, report, jobs)
    if path.is_dir() and not (path / "Makefile").is_file():  # it may be called as a control is
        if "/" in what:
            raise UserError(f"{what}: this folder has no source of Linux (no Makefile); allowed: {ALLOWED}")
        return _of_control(what, base, source, report, is_swept, jobs)
    if path.is_dir() or path.suffix in (".c", *PATCHES):
        if not path.exists():
            raise UserError(f"{what}: there is no such file; allowed: {ALLOWED}")
        return _of_change(path, base, workbench.open_workbench(source, report), report, jobs)
    if what.endswith(".bpf.o"):
        raise UserError(
            f"{what}: the suite runs in lab kernels, and User-Mode Linux has no JIT for it; allowed: in a scenario of "
            f"yours congestion: {{bpf: FILE}} with {VM_WAY}; or {ALLOWED}"
        )
    if path.exists():
        raise UserError(f"{what}: what it is cannot be told from its name; allowed: {ALLOWED}")
    return _of_control(what, base, source, report, is_swept, jobs)


def swept(made: Pair, params: Sequence[str]) -> tuple[Pair, ...]:
    """The pair with each combination of values that the module of the candidate's control gets; `params` are
    NAME=VALUE,VALUE. Raises UserError for what is none.
    """
    choices: dict[str, list[tuple[str, str]]] = {}
    for written in params:
        name, equals, values = written.partition("=")
        if not (equals and PARAM.fullmatch(name) and all(map(PARAM_VALUE.fullmatch, values.split(",")))):
            allowed = f"such as --param {PARAM_EXAMPLE}"
            raise UserError(f"--param {written}: this is not NAME=VALUE,VALUE; allowed: {allowed}")
        choices.setdefault(name, []).extend((name, value) for value in values.split(","))
    return tuple(_with(made, chosen) for chosen in product(*choices.values())) if choices else (made,)


def _with(made: Pair, chosen: Sequence[tuple[str, str]]) -> Pair:
    side = made.candidate
    module = f"tcp_{side.control}" if made.built is None or not made.built.change.adds else made.built.change.label
    settings = tuple(f"sysctls.module.{module}.{name}={value}" for name, value in chosen)
    label = f"{side.label} {','.join(f'{name}={value}' for name, value in chosen)}"
    return replace(made, candidate=replace(side, label=label, settings=(*side.settings, *settings)))


def _of_change(path: Path, base: str | None, bench: Workbench, report: Report, jobs: int | None) -> Pair:
    plain = bench.base(report, jobs)
    controls = first_boot.features(plain.image.path).congestion_controls
    control = _control(base, controls, CUBIC)
    made = _read(path, bench, controls)
    if not made.files:
        raise UserError(f"{path}: it does not differ from {bench.title}; allowed: a tree with a change")
    built = bench.build(made, report, jobs)
    if not made.adds:
        control = _control(base, controls, made.control or CUBIC)
    mine = made.control if made.adds and made.control else control
    first = Contender(control, control, _named(plain.image), plain.image)
    second = Contender(made.label, mine, _named(built.image), built.image)
    return Pair(first, second, built)


def _read(path: Path, bench: Workbench, controls: Sequence[str]) -> Change:
    """The change against the source, in which another build may have a change of its own at this time."""
    with bench.steady():
        if path.is_dir():
            return changes.of_tree(path.resolve(), bench)
        if path.suffix == ".c":
            return changes.of_file(path, bench, tuple(controls))
        return changes.of_patch(path, bench)


def _of_control(
    what: str, base: str | None, source: str | None, report: Report, is_swept: bool, jobs: int | None
) -> Pair:
    image, kernel = _plain(source, report, jobs)
    controls = first_boot.features(image.path).congestion_controls
    if what not in controls:
        raise UserError(
            f"{what}: the lab kernel {image.name} has no such congestion control, and there is no such file; allowed: "
            f"{one_of(controls, what)}; or {ALLOWED}"
        )
    first = _control(base, controls, what if is_swept else CUBIC)
    if first == what and not is_swept:
        raise UserError(f"{what} is the base, too; allowed: --base with another one than the candidate")
    return Pair(Contender(first, first, kernel, image), Contender(what, what, kernel, image))


def _of_sysctl(written: str, base: str | None, source: str | None, report: Report, jobs: int | None) -> Pair:
    key, equals, value = written.partition("=")
    if not (equals and key and value):
        raise UserError(f"{SYSCTL}{written}: this is not KEY=VALUE; allowed: such as sysctl:net.ipv4.tcp_sack=0")
    if key == CONGESTION_SYSCTL:
        raise UserError(
            f"{SYSCTL}{written}: flows of the suite name their congestion control, so this would not change theirs; "
            f"allowed: testbed cc {value}"
        )
    image, kernel = _plain(source, report, jobs)
    control = _control(base, first_boot.features(image.path).congestion_controls, CUBIC)
    first = Contender(control, control, kernel, image)
    return Pair(first, replace(first, label=f"{key}={value}", settings=(f"sysctls.{key}={value}",)))


def _of_variant(value: str, base: str | None, source: str | None, report: Report, jobs: int | None) -> Pair:
    if not value or base is None or value == base:
        what = f"{VARIANT}{value}: two values of a program's {{variant}} are compared"
        raise UserError(f"{what}; allowed: {VARIANT}VALUE --base ANOTHER --scenario FILE")
    image, kernel = _plain(source, report, jobs)
    first, second = (
        Contender(each, PROGRAM, kernel, image, (f"{VARIANT_KEY}={json.dumps(each)}",)) for each in (base, value)
    )
    return Pair(first, second)


def _plain(source: str | None, report: Report, jobs: int | None) -> tuple[KernelImage, Kernel]:
    """The kernel without a change: the default one, or that of a source."""
    if source is None:
        return find(None), LAB
    image = workbench.open_workbench(source, report).base(report, jobs).image
    return image, _named(image)


def _control(base: str | None, controls: Sequence[str], usual: str) -> str:
    wanted = base or usual
    if wanted not in controls:
        raise UserError(
            f"--base {wanted}: the kernel has no such congestion control; allowed: {one_of(controls, wanted)}"
        )
    return wanted


def _named(image: KernelImage) -> Kernel:
    return Kernel("lab", image.name)
