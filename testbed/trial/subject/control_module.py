"""Parameters of the modules of congestion controls, which change what a control does, for every socket: were they those
of the kernel? Reads files of the trial's folder.

Those of the default lab kernel are Linux's own, which one look after the workload shows. A kernel with a name may have
others, so there is a look before the workload, too. It moves lab time by some reads of files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path

from ...codec.frozen import dataclass
from ...model.scenario import Trial
from ...plan.network import Plan
from ...plan.node.namespace import Sysctls
from ..evidence.case import Case, Subject
from ..result import Finding

KERNELS_OWN: Mapping[str, Mapping[str, str]] = {
    "bic": {
        **{"beta": "819", "fast_convergence": "1", "initial_ssthresh": "0", "low_window": "14", "max_increment": "16"},
        "smooth_part": "20",
    },
    "cubic": {
        **{"beta": "717", "bic_scale": "41", "fast_convergence": "1", "hystart": "1", "hystart_ack_delta_us": "2000"},
        **{"hystart_detect": "3", "hystart_low_window": "16", "initial_ssthresh": "0", "tcp_friendliness": "1"},
    },
    "dctcp": {"dctcp_alpha_on_init": "1024", "dctcp_shift_g": "4"},
    "htcp": {"use_bandwidth_switch": "1", "use_rtt_scaling": "1"},
    "hybla": {"rtt0": "25"},
    "vegas": {"alpha": "2", "beta": "4", "gamma": "1"},
}
"""The values with which Linux starts, of the controls whose modules have parameters; in net/ipv4/tcp_*.c."""
WHEN = ("before", "after")


@dataclass(frozen=True)
class ControlModules:
    """By control, its parameters before the workload and after it; empty where none are read."""

    before: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    after: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def controls(trial: Trial) -> tuple[str, ...]:
    """Those whose parameters are read. Other kernels than ours need not have the module yet."""
    return () if trial.kernel.kind == "host" else tuple(sorted(trial.controls & KERNELS_OWN.keys()))


def times(trial: Trial) -> tuple[str, ...]:
    """When they are read."""
    return WHEN[1:] if trial.kernel.name is None else WHEN


def files(trial: Trial, when: str) -> dict[str, str]:
    """What reads them, for a step that reads other files at the same time anyway."""
    asked = controls(trial) if when in times(trial) else ()
    return {_file(control, when): f"/sys/module/tcp_{control}/parameters" for control in asked}


def _file(control: str, when: str) -> str:
    return f"module-{control}-{when}.txt"


def asked(sysctls: Sysctls, control: str) -> dict[str, str]:
    """The parameters of a control that a trial sets, as sysctls such as module.tcp_cubic.beta."""
    found = (name.replace("/", ".").split(".") for name, _ in sysctls)
    values = ((words, value) for words, (_, value) in zip(found, sysctls, strict=True))
    return {words[2]: value for words, value in values if len(words) == 3 and words[:2] == ["module", f"tcp_{control}"]}


def _of_hosts(trial: Trial, plan: Plan) -> tuple[str, ...]:
    """The controls whose parameters are read; none if all hosts of the workload have kernels of their own."""
    return () if all(node in plan.remote for node in trial.workload.hosts) else controls(trial)


def read(trial: Trial, plan: Plan, folder: Path) -> ControlModules:
    """What a file lacks is missing here, too."""
    asked = {when: _of_hosts(trial, plan) if when in times(trial) else () for when in WHEN}
    told = ({one: _parameters(folder / _file(one, when)) for one in asked[when]} for when in WHEN)
    return ControlModules(*told)


def _parameters(path: Path) -> dict[str, str]:
    lines = path.read_text().splitlines() if path.exists() else ()
    return {name: value for name, _, value in (line.partition(": ") for line in lines)}


def missing(case: Case, seen: ControlModules) -> Iterator[str]:
    for control in _of_hosts(case.trial, case.plan):
        for when, told in zip(WHEN, (seen.before, seen.after), strict=True):
            if when in times(case.trial) and not told.get(control):
                yield f"the parameters of {control} {when} the workload"


def check(case: Case, seen: ControlModules) -> Iterator[Finding]:
    """They are as the trial asked, and else stayed as they were; those of the default lab kernel are Linux's own."""
    for control, told in ((name, told) for name, told in seen.after.items() if told):
        own = KERNELS_OWN[control] if case.trial.kernel.name is None else seen.before.get(control, {})
        own = {**own, **asked(case.trial.sysctls, control)}
        wrong = [name for name in sorted(own.keys() | told.keys()) if own.get(name) != told.get(name)]
        if wrong:
            values = ", ".join(f"{name} {told.get(name, 'none')}, not {own.get(name, 'none')}" for name in wrong)
            what = f"the parameters of {control} after the workload: {values}"
            yield Finding("congestion control", "invalid", what, "somebody changed how the control works")


CONTROL_MODULES = Subject(name="control_modules", kind=ControlModules, read=read, missing=missing, checks=(check,))
