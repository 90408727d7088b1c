"""Congestion controls in BPF: loaded into the sending virtual machine before anything is sent; is it the very file that
was asked for, did the kernel have no such control before, and did each socket of the data use it? Reads files of the
trial's folder.

Sockets name their control, and no kernel has two of a name. So a name that is there only once the file is loaded, and
to the end, is the file's.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...agent import remote_vm
from ...codec.frozen import dataclass
from ...error import UserError
from ...model.scenario import Trial
from ...model.workload import Program, Workload
from ...model.workload.control import BpfControl
from ...plan.network import Plan
from ...plan.step import Await, Bring, Location, Run, Step
from .. import record
from ..evidence.case import Case, Subject, When
from ..result import Finding, TrialResult
from ..workload.command import FILES
from ..workload.iperf3 import SERVER_READY_S

LOADER = Program("bpftool", "version", "bpftool")
PACKED = "bpf-files.tar"
KNOWN = remote_vm.CONTROLS
BEFORE, SUM, LOADED, AFTER, SOCKETS = (f"bpf-{what}.txt" for what in ("before", "sum", "loaded", "after", "sockets"))
WATCH = "bpf-sockets"

CAN_LOAD = """\
no() { echo "this kernel $1, without which it loads no control in BPF" >&2; exit 1; }
[ -e /sys/kernel/btf/vmlinux ] || no "tells no types (BTF)"
[ "$(cat /proc/sys/net/core/bpf_jit_enable)" -gt 0 ] || no "has no JIT for BPF, or it is off"
own=/lib/modules/$(uname -r)/config there=/boot/config-$(uname -r)
if [ -e "$own" ] && [ ! -e "$there" ]; then
    mkdir -p /boot && ln -s "$own" "$there" || :
fi
sha256sum "$0"
"""
"""What the verifier and the loader would say of either is long, and does not name it. Objects may ask for values of the
kernel's configuration, such as CONFIG_HZ, for which the loader looks in /boot.
"""

LOOK = """\
sleep "$0"
flows=$1 filter=$2 tries=0
until said=$(ss -tinHO "$filter") && [ "$(printf '%s\\n' "$said" | grep -c ^ESTAB)" -ge "$flows" ]; do
    [ $tries -lt 100 ] || break
    tries=$((tries + 1))
    sleep 0.05
done
printf '%s\\n' "$said"
"""
"""Waits until the middle of the transfer, and then for all sockets of the data, which a busy computer may delay."""
ENDS = 4
FLAGS = {"ts", "sack", "ecn", "ecnseen", "accecn", "fastopen"}
"""What ss says of a socket before its control: the number of words behind its state, and which words may follow (ss.c
of iproute2).
"""


@dataclass(frozen=True)
class Loaded:
    """A control in BPF: `sha256` of the file as the machine read it; the controls that its kernel had `before`, once
    the file was `loaded`, and `after` the workload; and the control of each of the data's `sockets`, in its middle.
    """

    name: str
    sha256: str
    before: tuple[str, ...]
    loaded: tuple[str, ...]
    after: tuple[str, ...]
    sockets: tuple[str, ...]


def _control(trial: Trial) -> BpfControl | None:
    return next(iter(trial.workload.bpf_controls), None)


def steps(trial: Trial, plan: Plan, when: When) -> Iterator[Step]:
    control = _control(trial)
    return iter(()) if control is None else _steps(control, trial, plan, when)


def _steps(control: BpfControl, trial: Trial, plan: Plan, when: When) -> Iterator[Step]:
    where = plan.where(trial.workload.source)
    path = f"{remote_vm.TOOLS}/{control.file}"
    if when == "settled":
        yield Run(("cat", KNOWN), "controls", where, out=BEFORE)
        yield Bring(((PACKED, str(FILES)),), Location(on=trial.workload.source))
        yield Run(("tar", "-C", remote_vm.TOOLS, "-xf", f"{remote_vm.TOOLS}/{PACKED}"), "files", where)
        yield Run(("sh", "-ec", CAN_LOAD, path), "BPF", where, out=SUM)
        yield Run((LOADER.name, "struct_ops", "register", path), f"load {control.name}", where)
        yield Run(("cat", KNOWN), "controls", where, out=LOADED)
    elif when == "watching":
        yield Run(("sh", "-c", LOOK, *_look(trial.workload)), "sockets", where, out=SOCKETS, background=WATCH)
    elif when == "ending":
        yield Await((WATCH,))
    elif when == "after":
        yield Run(("cat", KNOWN), "controls", where, out=AFTER)


def _look(workload: Workload) -> tuple[str, ...]:
    ports, sending_ns = workload.data_ports, workload.sending_ns
    assert ports is not None, "BUG: a control in BPF for sockets that nothing tells"
    assert sending_ns is not None, "BUG: a control in BPF without a middle of its transfer"
    first, flows = ports.source[0], len(workload.asked_flows)
    middle_s = SERVER_READY_S + sending_ns / 2e9
    return f"{middle_s:g}", str(flows), f"( sport >= :{first} and sport < :{first + flows} )"


def read(trial: Trial, plan: Plan, folder: Path) -> Loaded | None:
    """None without such a control. What no file tells is empty."""
    control = _control(trial)
    if control is None:
        return None
    before, loaded, after, digest = (_words(folder / name) for name in (BEFORE, LOADED, AFTER, SUM))
    return Loaded(control.name, digest[0] if digest else "", before, loaded, after, tuple(_sockets(folder / SOCKETS)))


def _words(path: Path) -> tuple[str, ...]:
    return tuple(path.read_text(errors="replace").split()) if path.exists() else ()


def _sockets(path: Path) -> Iterator[str]:
    """The control of each established socket: state, queues and ends come first, then flags, then the control, and then
    numbers, as in `rto:204`.
    """
    for line in path.read_text(errors="replace").splitlines() if path.exists() else ():
        state, *words = line.split()
        if state == "ESTAB":
            yield next((word for word in words[ENDS:] if word not in FLAGS), "")


def missing(case: Case, seen: Loaded | None) -> Iterator[str]:
    control = _control(case.trial)
    if (seen is None) != (control is None):
        yield "a control in BPF" if seen is None else "no control in BPF, which was not asked for"
    if seen is None:
        return
    known = {"before the file was loaded": seen.before, "after that": seen.loaded, "after the workload": seen.after}
    for when, told in known.items():
        if "reno" not in told:  # every kernel has it
            yield f"the congestion controls of {case.trial.workload.source} {when}"
    if not seen.sha256:
        yield "what the file in BPF had in it"
    if len(seen.sockets) != (asked := len(case.trial.workload.asked_flows)):
        yield f"the controls of all sockets of the data: {len(seen.sockets)} of {asked} were seen"


def check(case: Case, seen: Loaded | None) -> Iterator[Finding]:
    """The file is the one that was asked for, the name is its own, and all sockets used it."""
    control, node = _control(case.trial), case.trial.workload.source
    if seen is None or control is None:
        return
    hint = "the control that was measured is another one"
    if seen.sha256 != control.sha256:
        what = f"{node} read a file with the SHA-256 {seen.sha256[:12]}…, asked was {control.sha256[:12]}…"
        yield Finding("congestion control", "invalid", what, hint)
    if control.name in seen.before:
        what = f"{node} had a congestion control {control.name} before the file was loaded"
        yield Finding("congestion control", "invalid", what, hint)
    for when, told in (("once the file was loaded", seen.loaded), ("after the workload", seen.after)):
        if control.name not in told:
            what = f"{node} had no congestion control {control.name} {when}"
            yield Finding("congestion control", "invalid", what, hint)
    for other in sorted({*seen.sockets} - {control.name}):
        what = f"{node} was asked to use {control.name}, and one of its sockets used {other or 'nothing that ss names'}"
        yield Finding("congestion control", "invalid", what, hint)


def told(result: TrialResult) -> str | None:
    """Which object file decided the control of a trial, as its machine read it; None without one, and of one that was
    not loaded, or that not all sockets of the data used. Raises UserError for a damaged result.
    """
    found = result.things.get(BPF.name)
    if found is None:
        return None
    try:
        seen = found if isinstance(found, Loaded) else record.read(Loaded, found)
    except record.RecordError as error:
        raise UserError(f"a result is damaged: in things.{BPF.name}, {error}") from None
    decided = seen.name in seen.loaded and seen.name not in seen.before and {*seen.sockets} == {seen.name}
    return f"{seen.name}, SHA-256 {seen.sha256 or 'not known'}" if decided else None


BPF = Subject[Loaded | None](
    name="bpf",
    kind=Loaded | None,
    read=read,
    steps=steps,
    missing=missing,
    checks=(check,),
    result=lambda case, seen: seen,
)
